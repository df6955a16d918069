"""Float 8 and float 4: how a quotient becomes one, and how one is read."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import Array, converted, in_type

OTHER = {
    "float8_e4m3fn": ml_dtypes.float8_e4m3fnuz,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2,
}


def encoded(values: Array, out: np.dtype[Any], saturate: bool, how: How) -> Array:
    """Quotients in a small float type, by the tables of ONNX's Cast, or as the defect of this step has it."""
    defect, highest = how.get("small", ""), float(ml_dtypes.finfo(out).max)
    saturate = {"saturate-ignored": False, "always-saturates": True}.get(defect, saturate)
    if defect == "small-through-float16":
        values = in_type("float16")(values)
    highest = {"small-max-240": min(240.0, highest), "small-max-448": highest / 2}.get(defect, highest)
    found = with_specials(nearest(values, out, defect), values, highest, saturate or is_float4(out), defect)
    return changed(found, values, out, defect)


def is_float4(out: np.dtype[Any]) -> bool:
    return out.name.startswith("float4")


def nearest(values: Array, out: np.dtype[Any], defect: str) -> Array:
    """The values on the grid of the type, which goes on beyond its highest value."""
    info = ml_dtypes.finfo(out)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.floor(np.log2(np.abs(values))), float(np.log2(float(info.smallest_normal))))
        exponent = np.where(np.isfinite(exponent), exponent, 0.0)
    unit = np.exp2(exponent - info.nmant)
    position = values / unit
    if defect == "small-cut-off":
        return np.trunc(position) * unit
    if defect == "small-ties-away":
        return np.copysign(np.floor(np.abs(position) + 0.5), position) * unit
    if defect == "small-step-bits":
        return np.trunc(np.rint(position) / 2) * 2 * unit
    return np.rint(position) * unit


def with_specials(found: Array, values: Array, highest: float, saturate: bool, defect: str) -> Array:
    beyond = np.abs(found) > highest
    if defect == "small-overflow-early":
        beyond |= np.abs(values) > highest
        return np.where(beyond, np.copysign(np.inf, values), found)
    if not saturate:
        return np.where(beyond, np.copysign(np.inf, values), found)
    if defect == "small-infinity-kept":
        beyond &= np.isfinite(values)
    return np.where(beyond, np.copysign(highest, values), found)


def changed(found: Array, values: Array, out: np.dtype[Any], defect: str) -> Array:
    """The values in the type, after the defects that concern single values."""
    info = ml_dtypes.finfo(out)
    if defect == "small-flush":
        found = np.where(np.abs(found) < float(info.smallest_normal), 0.0, found)
    replaced = {"small-nan-to-zero": 0.0, "small-nan-to-highest": float(info.max)}.get(defect)
    if replaced is not None:
        found = np.where(np.isnan(values), replaced, found)
    return converted(found, out)


def read(values: Array, how: How) -> Array:
    """Small floats as float64, or as the defect of this step has it."""
    defect = how.get("operand", "")
    if defect == "small-as-other":
        values = values.view(OTHER[values.dtype.name])
    found = values.astype(np.float64)
    if defect == "small-x-flush":
        found = np.where(np.abs(found) < float(ml_dtypes.finfo(values.dtype).smallest_normal), 0.0, found)
    return np.nan_to_num(found, nan=0.0) if defect == "small-x-nan-to-zero" else found
