"""Black boxes of operators whose outputs come in stages, written as runtimes write them, line after line of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
f32, f64 = np.float32, np.float64
Scale = Callable[[Array], Any]
Point = Callable[[Array, Any], Any]
Result = Callable[[Array, Any, Any], Array]
Box = Callable[[Array], tuple[Array, ...]]


# DynamicQuantizeLinear


def ends(x: Array) -> tuple[Any, Any]:
    return min(x.min(), f32(0)), max(x.max(), f32(0))


def plain_scale(x: Array) -> Any:
    low, high = ends(x)
    return f32(1) if low == high else (high - low) / f32(255)


def scale_by_reciprocal(x: Array) -> Any:
    low, high = ends(x)
    return (high - low) * (f32(1) / f32(255))


def scale_of_doubles(x: Array) -> Any:
    low, high = ends(x)
    return f32((f64(high) - f64(low)) / 255)


def scale_without_zero(x: Array) -> Any:
    return (x.max() - x.min()) / f32(255)


def symmetric_scale(x: Array) -> Any:
    return (np.abs(x).max() * f32(2)) / f32(255)


def scale_of_256(x: Array) -> Any:
    low, high = ends(x)
    return (high - low) / f32(256)


def scale_of_254(x: Array) -> Any:
    low, high = ends(x)
    return (high - low) / f32(254)


def scale_of_each_end(x: Array) -> Any:
    low, high = ends(x)
    return high / f32(255) - low / f32(255)


def flushed_scale(x: Array) -> Any:
    scale = plain_scale(x)
    return scale if scale >= np.finfo(f32).tiny else f32(0)


def odd_scale(x: Array) -> Any:
    """A little more where the range is wider than 2."""
    scale = plain_scale(x)
    return np.nextafter(scale, f32(np.inf)) if scale > f32(2 / 255) else scale


def plain_point(x: Array, scale: Any) -> Any:
    return np.clip(np.rint(-(ends(x)[0] / scale)), 0, 255)


def truncated_point(x: Array, scale: Any) -> Any:
    return np.clip(np.trunc(-(ends(x)[0] / scale)), 0, 255)


def point_ties_away(x: Array, scale: Any) -> Any:
    return np.clip(np.floor(f64(-(ends(x)[0] / scale)) + 0.5), 0, 255)


def point_of_range(x: Array, scale: Any) -> Any:
    low, high = ends(x)
    return np.clip(np.rint((-(low * f32(255))) / (high - low)), 0, 255)


def point_of_maximum(x: Array, scale: Any) -> Any:
    return np.clip(np.rint(f32(255) - ends(x)[1] / scale), 0, 255)


def point_by_reciprocal(x: Array, scale: Any) -> Any:
    return np.clip(np.rint(-(ends(x)[0] * (f32(1) / scale))), 0, 255)


def plain_result(x: Array, scale: Any, point: Any) -> Array:
    return np.clip(np.rint(x / scale) + point, 0, 255)


def result_added_first(x: Array, scale: Any, point: Any) -> Array:
    return np.clip(np.rint(x / scale + f32(point)), 0, 255)


def result_by_reciprocal(x: Array, scale: Any, point: Any) -> Array:
    return np.clip(np.rint(x * (f32(1) / scale)) + point, 0, 255)


def result_ties_away(x: Array, scale: Any, point: Any) -> Array:
    quotient = (x / scale).astype(f64)
    return np.clip(np.copysign(np.floor(np.abs(quotient) + 0.5), quotient) + point, 0, 255)


def wrapping_result(x: Array, scale: Any, point: Any) -> Array:
    return np.mod(np.rint(x / scale) + point, 256)


def result_of_width(x: Array, scale: Any, point: Any) -> Array:
    """As OpenVINO: the width is not divided first."""
    low, high = ends(x)
    return np.clip(np.rint(x * f32(255) / (high - low)) + point, 0, 255)


def dynamic(scale: Scale = plain_scale, point: Point = plain_point, result: Result = plain_result) -> Box:
    def box(x: Array) -> tuple[Array, ...]:
        own = f32(scale(x))
        zero = np.uint8(np.nan_to_num(point(x, own))) if own > 0 else np.uint8(0)
        y = np.nan_to_num(result(x, own, f32(zero))) if own > 0 else np.zeros_like(x)
        return y.astype(np.uint8), np.array(own, f32), np.array(zero, np.uint8)

    return box


SCALES: list[tuple[Scale, dict[str, str]]] = [
    (plain_scale, {"range": "with-zero", "scaling": "divide", "precision": "float32", "zero_range": "one"}),
    (scale_by_reciprocal, {"scaling": "reciprocal", "precision": "float32", "zero_range": "zero"}),
    (scale_of_doubles, {"scaling": "divide", "precision": "float64", "steps": "255"}),
    (scale_without_zero, {"range": "as-given", "scaling": "divide"}),
    (symmetric_scale, {"range": "symmetric", "subnormals": "kept"}),
    (scale_of_256, {"steps": "256", "range": "with-zero"}),
    (scale_of_254, {"steps": "254", "range": "with-zero"}),
    (scale_of_each_end, {"scaling": "ends-apart", "precision": "float32"}),
    (flushed_scale, {"subnormals": "flushed", "scaling": "divide"}),
]
POINTS: list[tuple[Point, dict[str, str]]] = [
    (plain_point, {"source": "own-scale", "round_mode": "ROUND_NEAREST_TOWARD_EVEN", "precision": "float32"}),
    (truncated_point, {"round_mode": "ROUND_DOWN"}),
    (point_ties_away, {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}),
    (point_of_range, {"source": "range"}),
    (point_of_maximum, {"source": "from-maximum"}),
    (point_by_reciprocal, {"source": "reciprocal"}),
]
RESULTS: list[tuple[Result, dict[str, str]]] = [
    (plain_result, {"scaling": "divide", "zero_point": "after-rounding", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
    (result_added_first, {"zero_point": "before-rounding", "precision": "float32"}),
    (result_by_reciprocal, {"scaling": "reciprocal"}),
    (result_ties_away, {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}),
    (wrapping_result, {"saturation": "wrap", "scaling": "divide"}),
]
