"""The checker's counts of two arithmetics are those of fractions, and it finds others."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from proof_certificates import (
    certificate,
    change,
    check,
    forged,
)

from tiebreak.conformance.proof_checker import ProofRefused
from tiebreak.conformance.proof_checker.checked_arithmetics import CountedPair, counts_of
from tiebreak.conformance.proof_checker.named_arithmetics import MODES, arithmetic_of, inputs_of
from tiebreak.golden.elements import FLOAT_TYPES, decode, encode
from tiebreak.golden.rounding import ROUND_MODES


@pytest.mark.parametrize("mode", [*MODES])
def test_modes_are_those_of_the_oracle(mode: str) -> None:
    values = [k / 8 for k in range(-40, 41)] + [0.49999999999999994, -0.49999999999999994, 2.5000000000000004]
    found = MODES[mode](np.array(values))
    assert found.tolist() == [ROUND_MODES[mode](Fraction(value)) for value in values]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("reciprocal in float16", "divide in float16"),
        ("divide in float32, ROUND_UP", "exact, before-rounding"),
        ("narrow-reciprocal in float32, before-rounding", "divide in float16, before-rounding-in-float64"),
    ],
)
def test_counts_are_those_of_fractions(left: str, right: str) -> None:
    """Some scales, subnormal and huge ones too, and every float16 input."""
    ends = (-4, 3)
    sides = arithmetic_of(left), arithmetic_of(right)
    scales = np.array([0.1, 1.5, 60000, 6e-8, 0.0007], np.float16)
    counts = counts_of(CountedPair(sides, "float16", 1, *ends), scales)
    inputs = inputs_of(np.arange(-0x7BFF, 0x7C00, 7), "float16")
    for scale, count in zip(scales, counts, strict=True):
        every = np.full(inputs.shape, scale)
        found = [np.fmin(np.fmax(side.codes(inputs, every, 1), ends[0]), ends[1]) for side in sides]
        for side, codes in zip(sides, found, strict=True):
            for k in range(0, len(inputs), 61):
                assert codes[k] == by_fractions(side, Fraction(float(inputs[k])), Fraction(float(scale)), ends)
        assert abs(int((found[0] != found[1]).sum()) - count / 7) <= 16  # one input in seven, and ends of spans


def by_fractions(side: Any, x: Fraction, scale: Fraction, ends: tuple[int, int]) -> int:
    """One code with zero point 1, each step in fractions, and rounded by this project's own encoder."""
    kind = side.precision if side.precision != "exact" else ""
    try:
        if side.scaling == "divide":
            value = to(x / to(scale, kind), kind)
        else:
            inverse = to(to(1 / scale, "float16"), kind) if side.scaling == "narrow-reciprocal" else to(1 / scale, kind)
            value = to(x * inverse, kind)
        before, after = side.before_and_after(1)
        if before:
            value = to(value + before, "float64" if side.order.endswith("float64") else kind)
    except (OverflowError, ZeroDivisionError):  # an infinity
        return 1 if x == 0 else ends[1] if x > 0 else ends[0]
    return min(max(int(ROUND_MODES[side.mode](value)) + after, ends[0]), ends[1])


def to(value: Fraction, real: str) -> Fraction:
    """Rounded to a type. OverflowError of an infinity."""
    if not real:
        return value
    found = decode(encode(value, FLOAT_TYPES[real]), FLOAT_TYPES[real])
    if not isinstance(found, Fraction):
        raise OverflowError
    return found


SAME = ("divide in float32 = exact", {"real": "bfloat16", "type": "int8", "zero_points": "0"})
COMPARED = "steps/0"
TAMPERED_SUMS = [
    (change("claim/left", "divide in float32, ROUND_UP"), "other results"),
    (change("claim/left", "range in float32"), "not recounted"),
    (change("claim/left", "exact in divide, " * 200), "not recounted"),
    (change("claim/zero_points", "1"), "neither about all"),
    (change("claim/zero_points", "128"), "no zero points"),
    (change("claim/real", "float16"), "are needed|counts of zero"),
    (change("claim/extent", "normal"), "each scale is counted"),
    (forged(0, "0" * 64), "counts of zero"),
    (change(f"{COMPARED}/blocks", lambda blocks: blocks[:-1]), "blocks are listed"),
    (forged(1, 5), "the steps say something else"),
    (forged(2, 5), "counts of zero"),
    (change(f"{COMPARED}/blocks/3/2", 5), "chain of digests"),
    (change(f"{COMPARED}/zero_point", 1), "neither about all"),
    (change(f"{COMPARED}/left", "exact"), "this checker knows"),
    (change("holds", []), "lists of zero points"),
    (change("verdict", "REFUTED"), "the counterexample has another form"),
    (change("counterexample", {"operands": {"x": "1"}}), "has no counterexample"),
    (change("steps", []), "neither about all"),
]


@pytest.mark.slow
def test_counts_of_two_arithmetics_are_checked() -> None:
    data = certificate(SAME[0], **SAME[1])
    assert "2 of 16 blocks" in check(data)[0]
    for tamper, why in TAMPERED_SUMS:
        changed = copy.deepcopy(data)
        tamper(changed)
        with pytest.raises(ProofRefused, match=why):
            check(changed)


@pytest.mark.slow
def test_a_difference_of_two_arithmetics_is_checked() -> None:
    data = certificate("reciprocal in bfloat16 = divide in bfloat16", real="bfloat16", type="int8", zero_points="0")
    assert check(data)[-1].endswith(" gives 38 and 37")
    assert "16 of 16 blocks" in check(data, whole=True)[0]
    for tamper, why, whole in (
        (change("counterexample/left", "3"), "do not differ", False),
        (change("counterexample/scales/scale", "-1.5"), "not positive", False),
        (change("differs/0/operands/x", "0.0"), "shows no difference", False),
        (change("differs", []), "lists of zero points", False),
        (change("verdict", "PROVED"), "has no counterexample", False),
        (forged(0, "0" * 64), "other results", True),
        (forged(1, lambda count: count + 1), "other results", True),
    ):
        changed = copy.deepcopy(data)
        tamper(changed)
        with pytest.raises(ProofRefused, match=why):
            check(changed, whole)


@pytest.mark.slow
def test_all_zero_points_are_counted_at_once() -> None:
    domain = {"real": "bfloat16", "type": "int8", "zero_points": "all"}
    data = certificate("reciprocal in float32 = narrow-reciprocal in float32", **domain)
    assert "2 of 16 blocks" in check(data)[0]
    change("claim/left", "reciprocal in float32, before-rounding")(data)
    with pytest.raises(ProofRefused, match="depends on the zero point"):
        check(data)
