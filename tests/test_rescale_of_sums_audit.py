"""Audits of tosa.RESCALE from 48 bits: right boxes are named, ones that have too few bits are told from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited

from tiebreak.conformance.audit.operators import audited_node

Array = np.ndarray[Any, np.dtype[Any]]
Scale = Callable[[Array, int, int], Array]  # of the input, the multiplier and the shift


def exact(x: Array, multiplier: int, shift: int) -> Array:
    return (x * multiplier + (np.int64(1) << (shift - 1))) >> shift


def away(x: Array, multiplier: int, shift: int) -> Array:
    return np.sign(x) * exact(np.abs(x), multiplier, shift)


def in_float64(x: Array, multiplier: int, shift: int) -> Array:
    return np.rint(x.astype(np.float64) * (multiplier * 2.0**-shift)).astype(np.int64)


def in_float32(x: Array, multiplier: int, shift: int) -> Array:
    return np.rint(x.astype(np.float32) * np.float32(multiplier * 2.0**-shift)).astype(np.int64)


def of_32_bits(x: Array, multiplier: int, shift: int) -> Array:
    return exact(x.astype(np.int32).astype(np.int64), multiplier, shift)


def semantics_of(scale: Scale, target: str) -> dict[str, Any]:
    ends = np.iinfo(target)

    def box(x: Array, multiplier: Array, shift: Array, input_zp: Array, output_zp: Array) -> Array:
        total = scale(x - input_zp, int(multiplier[0]), int(shift[0])) + output_zp.astype(np.int64)
        return np.clip(total, ends.min, ends.max).astype(target)

    return dict(audited(box, audited_node("tosa.RESCALE", {"scale32": False}, "int48", target, 0)).semantics())


@pytest.mark.few(4)
@pytest.mark.parametrize("target", ["int8", "int16", "int32"])
@pytest.mark.parametrize(
    ("scale", "position", "mode"),
    [
        (exact, "once", "ROUND_NEAREST_UPWARD"),
        (away, "once", "ROUND_NEAREST_TOWARD_INFINITY"),
        (in_float64, "float64", "ROUND_NEAREST_TOWARD_EVEN"),
        (in_float32, "float32", "ROUND_NEAREST_TOWARD_EVEN"),
    ],
)
def test_sums_of_48_bits_are_named(scale: Scale, position: str, mode: str, target: str) -> None:
    found = semantics_of(scale, target)
    assert (found.get("position"), found.get("round_mode")) == (position, mode), found
    assert found["saturation"] == "saturate" and found["zero_point"] == "after-rounding"


def test_low_bits_of_a_sum_are_in_no_table() -> None:
    assert semantics_of(of_32_bits, "int16") == {}
