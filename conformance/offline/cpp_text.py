"""C++ literals of tensors' elements, all of them exact: floats in hexadecimal, the narrow ones by their bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent, wrap

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array, codes_of

FLOATS = {"float32": ("float", "f"), "float64": ("double", "")}
WIDTH = 110


def type_name(name: str, narrow: Mapping[str, str]) -> str:
    """The C++ type of elements; `narrow` names those that the standard lacks. Unsupported for others."""
    if name in FLOATS:
        return FLOATS[name][0]
    if name in narrow:
        return narrow[name]
    if name in INTEGER_TYPES and INTEGER_TYPES[name].bits >= 8:
        return f"{name}_t"
    raise Unsupported(f"a tensor of {name} has no form in this layout")


def elements(array: Array, narrow: Mapping[str, str], from_bits: str) -> str:
    """The elements in braces; `from_bits` makes a narrow float, as a format of its `type` and `bits`."""
    name, codes = array.dtype.name, codes_of(array).reshape(-1).tolist()
    if name in narrow:
        return braces(from_bits.format(type=narrow[name], bits=f"0x{code:x}") for code in codes)
    if name in FLOATS:
        with np.errstate(invalid="ignore"):  # which NumPy says of a signalling NaN
            values = array.astype(np.float64).reshape(-1).tolist()
        return braces(float_literal(value, *FLOATS[name]) for value in values)
    return braces(integer_literal(code, name) for code in codes)


def braces(words: Iterator[str]) -> str:
    text = ", ".join(words)
    if len(text) <= WIDTH - 40:
        return f"{{{text}}}"
    return "{\n" + indent("\n".join(wrap(text, WIDTH, break_long_words=False)), " " * 4) + "}"


def float_literal(value: float, kind: str, suffix: str) -> str:
    if math.isnan(value):
        return f"std::numeric_limits<{kind}>::quiet_NaN()"
    if math.isinf(value):
        return f"{'-' * (value < 0)}std::numeric_limits<{kind}>::infinity()"
    if value.is_integer() and abs(value) < 1e6:
        return f"{value:.1f}{suffix}"  # with a sign, be it zero's
    return f"{value.hex()}{suffix}"


def integer_literal(value: int, name: str) -> str:
    kind = INTEGER_TYPES[name]
    if kind.signed and kind.bits == 32 and value == kind.lowest:
        return "INT32_MIN"  # which no literal is
    return f"{value}{'' if kind.signed else 'u'}"


def shape_text(shape: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, shape))}}}"
