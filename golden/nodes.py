"""Nodes and cases: what a backend compiles, and what it is then run on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators import get_operator

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class TensorType:
    """The name and element type (a NumPy or ml_dtypes dtype) of one input or output; shapes are free."""

    name: str
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Node:
    """An operator with its attributes and input and output types, in the spec's order."""

    operator: str
    attributes: Mapping[str, Any]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]

    @cached_property
    def key(self) -> str:
        """A canonical JSON text: equal for equal nodes, and enough to build the node again."""
        return json.dumps(
            {
                "operator": self.operator,
                "attributes": dict(self.attributes),
                "inputs": [[t.name, t.dtype.name] for t in self.inputs],
                "outputs": [[t.name, t.dtype.name] for t in self.outputs],
            },
            sort_keys=True,
        )

    @cached_property
    def real(self) -> FloatType:
        return FLOAT_TYPES[self.inputs[0].dtype.name]

    @cached_property
    def quantized(self) -> IntegerType:
        return INTEGER_TYPES[self.outputs[0].dtype.name]

    @cached_property
    def round_mode(self) -> str:
        return get_operator(self.operator).round_mode(self.attributes)


def node_from_key(key: str) -> Node:
    """The node that `Node.key` wrote."""
    data = json.loads(key)
    attributes = {k: tuple(v) if isinstance(v, list) else v for k, v in data["attributes"].items()}
    inputs, outputs = (
        tuple(TensorType(name, numpy_dtype(dtype)) for name, dtype in data[side]) for side in ("inputs", "outputs")
    )
    return Node(data["operator"], MappingProxyType(attributes), inputs, outputs)


def make_node(
    operator: str,
    *,
    real: str,
    quantized: str,
    attributes: Mapping[str, Any] | None = None,
    form: int = 0,
    zero_point: bool = True,
) -> Node:
    """A validated node. `form` picks the document's input names; `zero_point=False` leaves the optional input off.

    Raises InvalidInput for an unknown operator, type, attribute or attribute value.
    """
    spec = get_operator(operator)
    check_choice(spec.id, "input type", real, spec.real_types)
    check_choice(spec.id, "output type", quantized, spec.quantized_types)
    given = dict(attributes or {})
    if any(attribute.name == "type" for attribute in spec.attributes):
        given.setdefault("type", quantized)
    parsed = spec.parse_attributes(given)
    names = spec.forms[form]
    if not zero_point and (not spec.zero_point_optional or quantized != "uint8"):
        raise InvalidInput(f"{spec.id}: {names[2]} can't be left off for {quantized}")
    dtypes = (numpy_dtype(real), numpy_dtype(real), numpy_dtype(quantized))
    inputs = tuple(TensorType(name, dtype) for name, dtype in zip(names, dtypes, strict=True))
    output = TensorType(spec.output, numpy_dtype(quantized))
    return Node(operator, MappingProxyType(parsed), inputs if zero_point else inputs[:2], (output,))


def check_choice(operator: str, what: str, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        raise InvalidInput(f"{operator}: {what} {name!r} is not one of {', '.join(allowed)}")


@dataclass(frozen=True)
class Case:
    """A node with concrete inputs, bit-exact; `origin` is vector, generated or typed."""

    id: str
    node: Node
    inputs: tuple[Array, ...]
    origin: str = "typed"
    flags: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    expected: Expected | None = field(default=None, compare=False)

    @property
    def size(self) -> int:
        return int(self.inputs[0].size)


@dataclass(frozen=True)
class Expected:
    """A golden vector's stored results, flat: int64 values and uint8 states (see quantization.py), for both truths."""

    exact: Array
    exact_state: Array
    working: Array
    working_state: Array
