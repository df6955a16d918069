"""Conversions between codes and doubles, for the kernels: NumPy's and ml_dtypes' own, all of them exact."""

from __future__ import annotations

import numpy as np

from tiebreak.golden.elements import FloatType, IntegerType, numpy_dtype
from tiebreak.golden.problem import Array

MODE_NUMBERS = {  # the numbers that integral.pxd gives the modes
    "ROUND_NEAREST_TOWARD_EVEN": 0,
    "ROUND_NEAREST_TOWARD_INFINITY": 1,
    "ROUND_NEAREST_TOWARD_ZERO": 2,
    "ROUND_NEAREST_UPWARD": 3,
    "ROUND_NEAREST_DOWNWARD": 4,
    "ROUND_TOWARD_INFINITY": 5,
    "ROUND_TOWARD_ZERO": 6,
    "ROUND_UP": 7,
    "ROUND_DOWN": 8,
}
LARGEST_SMALL = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
    "float6_e3m2fn": 28.0,
    "float6_e2m3fn": 7.5,
    "float4_e2m1fn": 6.0,
}
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def doubles(codes: Array, kind: FloatType | IntegerType) -> Array:
    """The values of an operand's codes as contiguous float64; every type's values are doubles."""
    if isinstance(kind, IntegerType):
        return codes.astype(np.float64)
    stored = codes.astype(f"uint{max(8, kind.bits)}", copy=False).view(numpy_dtype(kind.name))
    with np.errstate(invalid="ignore"):
        return np.ascontiguousarray(stored.astype(np.float64))


def format_of(kind: FloatType) -> tuple[int, int, float]:
    """(precision, emin, largest) of one of the four real types."""
    return kind.precision, kind.emin, LARGEST.get(kind.name, np.finfo(np.float64).max)


def real_codes(values: Array, kind: FloatType) -> Array:
    """The codes (int64) of doubles that `kind` holds exactly, of infinities and of NaN (one pattern for all)."""
    assert kind.nan_bits is not None
    narrow = np.ascontiguousarray(values.astype(numpy_dtype(kind.name)))
    codes = narrow.view(f"uint{kind.bits}").astype(np.uint64).view(np.int64)
    return np.where(np.isnan(values), kind.nan_bits, codes)
