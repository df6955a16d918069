"""Whether semantics that no input of a search told apart are the same, as far as it can be shown.

Types of 16 bits are simply gone through. With one ordinary scale and a clamp, codes never fall as a finite x grows; so
two semantics are the same for every x if they begin to give each code of the range at the same x, which bisection over
the bit patterns finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.model import Arithmetic, Probe, Semantics
from tiebreak.golden.problem import Array

MOST_LEFT = 24  # semantics
SETTINGS = 24  # of the inputs after the first
FEWER = 8  # of them, over how many are left, where there are more than 256 codes to look at in each
MOST_CODES = 1 << 16


def how_equal(inference: Inference) -> list[str]:
    """Sentences on how those that are left were shown to be the same; empty if only one is."""
    left, arithmetic = inference.alive, inference.arithmetic
    if len(left) < 2:
        return []
    told = [f"no input of {inference.inputs_tried} that were asked and {inference.searched} more tells them apart"]
    shown = equal_in(arithmetic, left, [probe for probe, _ in inference.answered]) if len(left) <= MOST_LEFT else ""
    return [*told, shown] if shown else told


def equal_in(arithmetic: Arithmetic, left: Sequence[Semantics], probes: Sequence[Probe]) -> str:
    """How semantics were shown to be the same for every finite x, with the first probes' other inputs; else empty."""
    settings = [Probe(probe.x[:0], probe.others) for probe in probes[:SETTINGS]]
    if not settings:
        return ""
    if arithmetic.node.real.bits == 16:
        every = in_all(arithmetic, settings)
        return every if all(same_everywhere(arithmetic, left, one) for one in settings) else ""
    codes = arithmetic.rising_codes(left)
    if not 0 < len(codes) <= MOST_CODES or arithmetic.node.real.bits > 32:
        return ""
    settings = settings if len(codes) <= 256 else settings[: max(1, FEWER // len(left))]
    same = all(same_beginnings(arithmetic, left, one, codes) for one in settings)
    if not same:
        return ""
    return f"{in_all(arithmetic, settings)}: bisection finds each code to begin at the same one"


def in_all(arithmetic: Arithmetic, settings: Sequence[Probe]) -> str:
    return f"every finite {arithmetic.node.input_type} gives the same in {len(settings)} settings of the other inputs"


def same_everywhere(arithmetic: Arithmetic, left: Sequence[Semantics], setting: Probe) -> bool:
    real = arithmetic.node.real
    words = np.arange(1 << real.bits, dtype=np.uint64).astype(f"uint{real.bits}")
    x = words.view(arithmetic.node.inputs[0].dtype)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        probe = Probe(x[np.isfinite(x.astype(np.float64))], setting.others)
    first, *others = arithmetic.predict(probe, left)
    return all(np.array_equal(first, other) for other in others)


def same_beginnings(arithmetic: Arithmetic, left: Sequence[Semantics], setting: Probe, codes: Sequence[int]) -> bool:
    wanted = np.asarray(codes, np.int64)
    first, *others = (beginnings(arithmetic, one, setting, wanted) for one in left)
    return all(np.array_equal(first, other) for other in others)


def beginnings(arithmetic: Arithmetic, semantics: Semantics, setting: Probe, codes: Array) -> Array:
    """For each code the ordinal of the least finite x that gives it or a higher one; one beyond all if none does."""
    most = arithmetic.node.real.infinity_bits - 1
    low, high = np.full(codes.size, -most, np.int64), np.full(codes.size, most + 1, np.int64)
    while (low < high).any():
        middle = (low + high) >> 1
        x = from_ordinals(np.minimum(middle, most), arithmetic)
        (got,) = arithmetic.predict(Probe(x, setting.others), [semantics])
        reached = (got >= codes) & (low < high)
        high = np.where(reached, middle, high)
        low = np.where(reached | (low >= high), low, middle + 1)
    return low


def from_ordinals(ordinals: Array, arithmetic: Arithmetic) -> Array:
    """Numbers of the input's type, counted from 0 in both directions."""
    bits = arithmetic.node.real.bits
    words = np.where(ordinals < 0, -ordinals | (1 << (bits - 1)), ordinals)
    return words.astype(np.uint64).astype(f"uint{bits}").view(arithmetic.node.inputs[0].dtype)
