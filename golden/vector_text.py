"""Tensors and results as the text of vector files, in both directions.

The text is flat: floats as hexadecimal bit patterns beside readable decimals, integers as decimals. `?` marks an
unspecified result. In a real output a lone `0` means that either zero is right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.elements import FloatType, IntegerType, decimal, element_type
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO, Array, Problem, array_of, codes_of, kind_of


def tensor_entry(name: str, array: Array) -> dict[str, Any]:
    kind, codes = kind_of(array), codes_of(array).reshape(-1).tolist()
    start: dict[str, Any] = {"name": name, "type": kind.name, "shape": list(array.shape)}
    if not isinstance(kind, FloatType):
        return start | {"values": " ".join(map(str, codes))}
    bits = " ".join(f"{code:0{max(2, kind.bits // 4)}x}" for code in codes)
    return start | {"bits": bits, "decimal": " ".join(decimal(code, kind) for code in codes)}


def parse_tensor(tensor: Mapping[str, Any]) -> Array:
    """An input tensor. Raises an error unless its elements fit its shape and type."""
    kind = element_type(tensor["type"])
    if isinstance(kind, FloatType):
        codes = np.frombuffer(bytes.fromhex(tensor["bits"]), dtype=f">u{max(8, kind.bits) // 8}")
    else:
        codes = np.array(tensor["values"].split(), dtype=np.int64)
    return array_of(kind.name, tuple(tensor["shape"]), codes, tensor["name"])


def token(problem: Problem, code: int, state: int) -> str:
    """The text of one result: an integer, a real's bits in full width, or a lone 0 if either zero is right."""
    if not isinstance(problem.result, FloatType):
        return str(code)
    if state == ZERO:
        return "0"
    assert state in (IN_RANGE, OUT_OF_RANGE)
    width = problem.result.bits
    return f"{code & ((1 << width) - 1):0{max(2, width // 4)}x}"  # two digits or more, unlike the lone 0


def parse_output(id: str, text: str, problem: Problem) -> tuple[Array, Array]:
    """Codes (int64) and states (uint8) of one output, flat."""
    tokens, size = text.split(), math.prod(problem.shape)
    if len(tokens) != size:
        raise ValueError(f"{id}: {len(tokens)} results for {size} elements")
    if isinstance(problem.result, IntegerType):
        codes = np.array([0 if token == "?" else int(token) for token in tokens], np.int64)
        states = [UNDEFINED if token == "?" else IN_RANGE for token in tokens]
    else:
        words = [0 if token == "?" else int(token, 16) for token in tokens]
        codes = np.array(words, np.uint64).view(np.int64)
        states = [{"?": UNDEFINED, "0": ZERO}.get(token, IN_RANGE) for token in tokens]
    return codes, np.array(states, np.uint8)
