"""Wrong and right backends for ngraph.Dequantize."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "ngraph.Dequantize"
F32 = (("int8", "float32"), ("uint8", "float32"))
WIDE = (("int32", "float32"), ("uint32", "float32"))


def backend(arithmetic: Callable[[Array, Array, Array, Any], Array]) -> Callable[..., tuple[Array, ...]]:
    """Operands spread over the input's shape: integers as Python-sized int64, scale in its own type."""

    def run(node: Any, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        axes = node.attributes.get("axes", ())
        kept = [size if axis in axes else 1 for axis, size in enumerate(x.shape)]
        s, z = (np.broadcast_to(p.reshape(kept), x.shape) for p in (scale, zero_point))
        with np.errstate(all="ignore"):
            found = arithmetic(x.astype(np.int64), s, z.astype(np.int64), node)
        return (np.asarray(found).astype(node.outputs[0].dtype).reshape(x.shape),)

    return run


def right(x: Array, s: Array, z: Array, node: Any) -> Array:
    return np.asarray((x - z).astype(s.dtype) * s)


def exact(x: Array, s: Array, z: Array, node: Any) -> Array:
    """Through Python's fractions and, for float64, a correctly rounded conversion."""
    found = np.empty(x.shape, np.float64)
    for i in np.ndindex(*x.shape):
        factor = float(s[i])
        found[i] = as_double(Fraction(int(x[i] - z[i])) * Fraction(factor)) if np.isfinite(factor) else np.nan
    return found


def as_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def long_double(x: Array, s: Array, z: Array, node: Any) -> Array:
    return np.asarray((x - z).astype(np.longdouble) * s.astype(np.longdouble))


def wrap(bits: int) -> Callable[[Array], Array]:
    return lambda values: (values + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def flushed(values: Array) -> Array:
    tiny = ml_dtypes.finfo(values.dtype).smallest_normal
    return np.where(np.abs(values) < tiny, np.zeros_like(values), values)


def first(parameter: Array) -> Array:
    """Its first value everywhere."""
    return np.full(parameter.shape, parameter.reshape(-1)[0]) if parameter.size else parameter


def other_axis(x: Array, s: Array, z: Array, node: Any) -> Array:
    """Scales taken along the reversed axes where the shape allows."""
    square = len(set(x.shape)) == 1 and x.ndim > 1
    return right(x, s.transpose(), z.transpose(), node) if square else right(x, s, z, node)


def wrong(
    name: str, arithmetic: Callable[[Array, Array, Array, Any], Array], flag: str, types: Any = F32
) -> WrongBackend:
    return WrongBackend(f"dequantize: {name}", OPERATOR, backend(arithmetic), flag, types)


WRONG = (
    wrong("difference wraps in 8 bits", lambda x, s, z, n: wrap(8)(x - z).astype(s.dtype) * s, "RangeEdge"),
    wrong("difference wraps in 16 bits", lambda x, s, z, n: wrap(16)(x - z).astype(s.dtype) * s, "WideSum",
          (("int16", "float32"),)),
    wrong("difference wraps in 32 bits", lambda x, s, z, n: wrap(32)(x - z).astype(s.dtype) * s, "WideSum", WIDE),
    wrong("converted before subtracting", lambda x, s, z, n: (x.astype(s.dtype) - z.astype(s.dtype)) * s, "WideSum",
          WIDE),
    wrong("two products subtracted", lambda x, s, z, n: x.astype(s.dtype) * s - z.astype(s.dtype) * s,
          "ScaleNotPowerOfTwo"),
    wrong("zero point ignored", lambda x, s, z, n: x.astype(s.dtype) * s, "ScaleNotPowerOfTwo"),
    wrong("zero point added", lambda x, s, z, n: (x + z).astype(s.dtype) * s, "ScaleNotPowerOfTwo"),
    wrong("divides by scale", lambda x, s, z, n: (x - z).astype(s.dtype) / s, "ScaleNotPowerOfTwo"),
    wrong("absolute scale", lambda x, s, z, n: (x - z).astype(s.dtype) * np.abs(s), "NegativeScale"),
    wrong("scale through bfloat16", lambda x, s, z, n: (x - z).astype(s.dtype) * s.astype(ml_dtypes.bfloat16),
          "ScaleNotPowerOfTwo"),
    wrong("product through float16", lambda x, s, z, n: ((x - z).astype(np.float32) * s).astype(np.float16),
          "ScaleNotPowerOfTwo"),
    wrong("float32 for float64", lambda x, s, z, n: (x - z).astype(np.float32) * s.astype(np.float32),
          "ScaleNotPowerOfTwo", (("int8", "float64"),)),
    wrong("flushes subnormal scales", lambda x, s, z, n: (x - z).astype(s.dtype) * flushed(s), "Subnormal"),
    wrong("flushes subnormal products", lambda x, s, z, n: flushed(right(x, s, z, n)), "Subnormal"),
    wrong("never infinite", lambda x, s, z, n: np.clip(right(x, s, z, n), -3.4e38, 3.4e38), "Overflow"),
    wrong("first scale for all", lambda x, s, z, n: (x - z).astype(s.dtype) * first(s), "PerAxis"),
    wrong("first zero point for all", lambda x, s, z, n: (x - first(z)).astype(s.dtype) * s, "MultiAxis"),
    wrong("axes reversed", other_axis, "PerAxis"),
    wrong("reads an unsigned input as signed", lambda x, s, z, n: right(wrap(8)(x), s, z, n), "RangeEdge", F32[1:]),
    wrong("saturates the difference", lambda x, s, z, n: np.clip(x - z, -128, 127).astype(s.dtype) * s, "RangeEdge"),
)  # fmt: skip
RIGHT = (
    wrong("in the output's type", right, "", (*F32, *WIDE, ("int16", "float64"), ("int8", "bfloat16"))),
    wrong("long double", long_double, "", (*F32, ("int16", "float32"))),
    wrong("fractions, rounded once to float64", exact, "", (("int8", "float64"), ("uint32", "float64"))),
)
