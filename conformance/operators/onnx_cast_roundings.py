"""Wrong roundings of a cast: from a position among a type's values, in units of their distance, to a whole number."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.operators.onnx_cast_steps import Change
from tiebreak.golden.problem import Array


def away(position: Array) -> Array:
    """No half is added: that sum might be rounded."""
    size = np.abs(position)
    return np.asarray(np.copysign(np.floor(size) + (size - np.floor(size) >= 0.5), position))


def inward(position: Array) -> Array:
    return np.copysign(np.ceil(np.abs(position) - 0.5), position)


def outward(position: Array) -> Array:
    return np.copysign(np.ceil(np.abs(position)), position)


def ties_up(position: Array) -> Array:
    return np.where(position < 0, inward(position), away(position))


def ties_down(position: Array) -> Array:
    return np.where(position < 0, away(position), inward(position))


def ties_to_odd(position: Array) -> Array:
    even = np.rint(position)
    is_tie = (np.abs(position - np.trunc(position)) == 0.5) & np.isfinite(position)
    return np.where(is_tie, 2 * position - even, even)


def lowest_bit_lost(position: Array) -> Array:
    return np.trunc(np.rint(position) / 2) * 2


STEPS: tuple[tuple[str, Change], ...] = (
    ("cuts-off", np.trunc),
    ("ties-away-to-type", away),
    ("ties-toward-zero-to-type", inward),
    ("ties-up-to-type", ties_up),
    ("ties-down-to-type", ties_down),
    ("ties-odd-to-type", ties_to_odd),
    ("away-to-type", outward),
    ("down-to-type", np.floor),
    ("up-to-type", np.ceil),
    ("lowest-bit-lost", lowest_bit_lost),
)
