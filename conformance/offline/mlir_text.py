"""MLIR's text of types and constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array, codes_of, kind_of

FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def element_type(name: str, integers: str = "i") -> str:
    """An element type; `integers` is what an integer type begins with: i has no sign, si and ui have."""
    if name not in ELEMENT_TYPES:
        raise Unsupported("a tensor of 48 bits has no form in this layout")
    element = ELEMENT_TYPES[name]
    if not isinstance(element, FloatType):
        return f"{integers}{element.bits}"
    if name not in FLOATS:
        raise Unsupported(f"a tensor of {name} has no form in this layout")
    return FLOATS[name]


def tensor_type(array: Array) -> str:
    """The type of a tensor with this shape; its integers have no sign."""
    return f"tensor<{''.join(f'{size}x' for size in array.shape)}{element_type(array.dtype.name)}>"


def dense(array: Array) -> str:
    """The elements of a constant: integers in decimals, floats as their bits in hexadecimal."""
    kind = kind_of(array)
    codes = codes_of(array).reshape(-1).tolist()
    digits = kind.bits // 4
    words = [f"0x{code:0{digits}X}" if isinstance(kind, FloatType) else str(code) for code in codes]
    return f"dense<{nested(np.array(words, object).reshape(array.shape)) if words else ''}>"


def nested(words: Array) -> str:
    if words.ndim == 0:
        return str(words[()])
    return f"[{', '.join(parts(words))}]"


def parts(words: Array) -> Iterator[str]:
    return (nested(np.asarray(part, object)) for part in words)
