"""The inputs next to thresholds, against exact arithmetic: in NumPy, as compiled, and by the reference kernel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tiebreak.golden import kernel, oracle
from tiebreak.golden._thresholds import grade_asked, wrong_steps
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.scale_space import LinePart, Part, ScalePart, ScaleSpace, check_scale_space, scale_space_from
from tiebreak.golden.thresholds import (
    INFINITE,
    LARGEST,
    asked_of,
    columns,
    exact_row,
    fill_in_numpy,
    lie_apart,
    patterns_at,
    patterns_between,
    places_of,
    thresholds_of,
    working_thresholds,
)

SINGLE = FLOAT_TYPES["float32"]
KINDS = [("uint8", 128), ("uint8", 0), ("uint8", 255), ("int8", -128), ("int8", 7), ("int16", 0), ("uint16", 65535)]


def some_scales(count: int) -> Array:
    """Of every exponent: the least subnormal ones, the ends, and others at random."""
    drawn = np.random.default_rng(count)
    ends = [1, 2, 3, 7, 8, 9, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF, 0x1000000, 0x3F800000, 0x7F000000, 0x7F7FFFFF]
    spans = [(1, 0x800000), (0x800000, 0x1000000), (0x3F800000, 0x40000000), (0x7A000000, INFINITE), (1, INFINITE)]
    return np.concatenate([ends, *(drawn.integers(*span, count) for span in spans)]).astype(np.uint32)


def quantization(scales: Array, x: Array, kind: str, zero_point: int) -> Quantization:
    zero_points = np.full(scales.size, zero_point, np.int64)
    return Quantization(SINGLE, INTEGER_TYPES[kind], EVEN, (0,), x, scales, zero_points)


def both_forms(scales: Array, x: Array, kind: str, zero_point: int) -> tuple[Array, Array]:
    """The kernel's codes, exact and in working precision."""
    problem = quantization(scales, x, kind, zero_point)
    return kernel.quantize(problem, working=False)[0], kernel.quantize(problem, working=True)[0]


def number(place: int) -> Fraction:
    """The float32 at a place, by the definition of its bits."""
    exponent, significand = divmod(abs(place), 1 << 23)
    size = Fraction(significand + (1 << 23 if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - 150)
    return size if place >= 0 else -size


@pytest.mark.parametrize("step", [0, -1, 1, -2, 6, 7, 126, 127, -129, 254, 255, -255, 32767, -32768, 65535])
def test_thresholds_are_where_exact_arithmetic_has_them(step: int) -> None:
    scales = some_scales(40)
    places = thresholds_of(scales, np.full(scales.size, step))
    for scale, place in zip(scales.tolist(), places.tolist(), strict=True):
        divisor = number(scale)
        if place == INFINITE:
            assert round(number(LARGEST) / divisor) <= step
        elif place == -INFINITE:
            assert round(-number(LARGEST) / divisor) > step
        else:
            assert round(number(place) / divisor) > step >= round(number(place - 1) / divisor)


@pytest.mark.parametrize("step", [0, -1, 1, -2, 7, 126, -129, 254, 32767, -32768])
def test_thresholds_of_working_precision_are_the_oracles(step: int) -> None:
    """They are at most one place from the exact ones: up if the step is even, down if it is odd."""
    scales = some_scales(25)
    steps = np.full(scales.size, step)
    exact, working = thresholds_of(scales, steps), working_thresholds(scales, steps)
    moved = {0} if step in (0, -1) else {0, 1} if step % 2 else {0, -1}  # half a scale is itself a float32
    assert set((exact - working).tolist()) == moved
    inside = np.abs(exact) < LARGEST
    asked = patterns_at(np.stack([working - 1, working], axis=1))[inside]
    kind = "int16" if step < 0 else "uint16"
    codes, _ = oracle.solve(quantization(scales[inside], asked, kind, 0), working=True)
    pairs = codes.reshape(-1, 2)
    lowest, highest = INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest
    assert np.all(pairs[:, 0] <= max(step, lowest)) and np.all(pairs[:, 1] >= min(step + 1, highest))


@pytest.mark.parametrize(("kind", "zero_point"), KINDS)
def test_what_is_asked_and_how_it_is_graded(kind: str, zero_point: int) -> None:
    """NumPy asks what the compiled loop asks; the answers of the kernel are the exact row, and working precision."""
    result = INTEGER_TYPES[kind]
    first, codes = result.lowest - zero_point, result.highest - result.lowest + 1
    scales = some_scales(2 if codes > 256 else 60)
    x, same = asked_of(scales, first, codes), np.empty((scales.size, columns(codes)), np.uint32)
    fill_in_numpy(scales, first, same)
    assert np.array_equal(x, same)
    apart = lie_apart(scales, first, codes)
    assert 0.4 < apart.mean() < 1
    scales, x = scales[apart], x[apart]
    exact, working = both_forms(scales, x, kind, zero_point)
    assert (exact == exact_row(first, result.lowest, codes)).all()
    word = f"u{result.bits // 8}"
    low = np.arange(result.lowest, result.highest + 1).astype(kind).view(word)
    for found in (exact, working):
        wrong = np.ones(scales.size, np.uint32)
        count = grade_asked(scales, found.astype(kind).view(word), low, first, wrong)
        assert count == int((found != exact).sum()) and not wrong.any()


@pytest.mark.parametrize(("kind", "zero_point"), KINDS[:5])
def test_each_wrong_answer_is_counted_and_its_step_told(kind: str, zero_point: int) -> None:
    result = INTEGER_TYPES[kind]
    first, codes = result.lowest - zero_point, 256
    scales = some_scales(40)
    scales = scales[lie_apart(scales, first, codes)]
    x = asked_of(scales, first, codes)
    exact, working = both_forms(scales, x, kind, zero_point)
    drawn = np.random.default_rng(5)
    got = np.where(
        drawn.random(exact.shape) < 0.02, drawn.integers(result.lowest, result.highest + 1, exact.shape), working
    )
    bad = (got != exact) & (got != working)
    low = np.arange(result.lowest, result.highest + 1).astype(kind).view(np.uint8)
    wrong, answers = np.zeros(scales.size, np.uint32), got.astype(kind).view(np.uint8)
    count = grade_asked(scales, answers, low, first, wrong)
    assert np.array_equal(wrong, bad.sum(axis=1)) and count == int(((got != exact) & (got == working)).sum())
    rows, steps = wrong_steps(scales, answers, low, first, int(bad.sum()))
    by_step = bad[:, :765].reshape(scales.size, 3, 255).any(axis=1)
    assert np.array_equal(np.stack([rows, steps]), np.stack(np.nonzero(by_step)))
    with pytest.raises(ValueError, match="more than 3 steps"):
        wrong_steps(scales, answers, low, first, 3)


def test_places_and_patterns_are_each_others() -> None:
    for first, last in ((-LARGEST, 5 - LARGEST), (-4, 3), (-7, -2), (0, 4), (-3, 0), (LARGEST - 4, LARGEST)):
        x = patterns_between(first, last)
        assert places_of(x).tolist() == list(range(first, last + 1))
        assert np.array_equal(x, patterns_at(np.arange(first, last + 1)))
        assert np.all(np.diff(x.view(np.float32)) > 0)


def test_scales_that_float32_has_not_are_refused() -> None:
    from tiebreak.golden.make_node import make_node

    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8", attributes={"axis": 0})
    good = ScaleSpace(node, 3, (ScalePart("some", 1, 2, 5), LinePart("every x", 0x3F800000, -LARGEST, LARGEST)))
    assert check_scale_space(good) == good
    bad: list[Part] = [
        ScalePart("x", 0, 1, 3),
        ScalePart("x", 1, 0, 3),
        ScalePart("x", INFINITE - 2, 1, 3),
        ScalePart("x", 1, 1, 0),
        LinePart("x", INFINITE, 0, 5),
        LinePart("x", 1, 5, 5),
        LinePart("x", 1, -LARGEST - 1, 5),
    ]
    for part in bad:
        with pytest.raises(InvalidInput, match="that float32 has not"):
            check_scale_space(ScaleSpace(node, 3, (part,)))
    with pytest.raises(InvalidInput, match="zero point 256"):
        check_scale_space(ScaleSpace(node, 256, good.parts))
    with pytest.raises(InvalidInput, match="not the description"):
        scale_space_from({**good.described(), "parts": [["circle", "x", 1, 2, 3]]})
