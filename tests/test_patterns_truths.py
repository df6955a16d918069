"""Both truths of patterns: against single fractions, against the operators' kernels, and against each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.conformance.patterns.comparing import PatternTruths, count, count_unlike_exact, with_one_zero
from tiebreak.conformance.patterns.operands import beside_roundings, is_exhaustive, rows_of
from tiebreak.conformance.patterns.parameters import SCALES, ZERO_POINTS, chosen_from_sets, every_setting
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns import enclosures, exact, stepwise
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.operations import OPERATIONS
from tiebreak.golden.patterns.text import pattern_of

SCALE = st.floats(2.0**-20, 2.0**10, width=32).map(np.float32)
BYTE = st.integers(0, 255)
# What each operation is for one row of real numbers.
REAL: dict[str, Callable[..., list[Fraction]]] = {
    "relu": lambda x: [max(x[0], Fraction(0))],
    "clip": lambda x: [min(max(x[0], Fraction(0)), Fraction(6))],
    "add": lambda a, b: [a[0] + b[0]],
    "sub": lambda a, b: [a[0] - b[0]],
    "mul": lambda a, b: [a[0] * b[0]],
    "max-pool": lambda x: [max(x)],
    "average-pool": lambda x: [(x[0] + x[1]) / 2],
    "global-average-pool": lambda x: [(x[0] + x[1]) / 2],
    "concat": lambda a, b: [a[0], b[0]],
    "resize-nearest": lambda x: [x[0], x[0], x[1], x[1]],
    "resize-linear": lambda x: [x[0], (3 * x[0] + x[1]) / 4, (x[0] + 3 * x[1]) / 4, x[1]],
    "matmul-inputs": lambda a, b: [a[0] * b[0]],
    "requantize": lambda x: [x[0]],
}


def test_each_operation_has_both_truths() -> None:
    assert set(exact.STEPS) == set(stepwise.STEPS) == set(OPERATIONS)


@pytest.mark.parametrize("name", REAL)
@given(data=st.data())
@settings(max_examples=40)
def test_the_exact_truth_is_the_formula_in_fractions(name: str, data: st.DataObject) -> None:
    pattern = pattern_of(name)
    pairs = {key: ScalePair(data.draw(SCALE), data.draw(BYTE), "uint8") for key in pattern.pairs}
    rows = {
        one.name: np.array([[data.draw(BYTE) for _ in range(one.width)] for _ in range(3)], np.uint8)
        for one in pattern.operands
    }
    found = exact.exact(pattern, pairs, rows)
    of = {step.inputs[0]: pairs[step.pair] for step in pattern.steps if step.operation == "DQ"}
    last = pairs[pattern.steps[-1].pair]
    for row in range(3):
        reals = [
            [
                (int(code) - of[one.name].zero_point) * Fraction(float(of[one.name].scale))
                for code in rows[one.name][row]
            ]
            for one in pattern.operands
        ]
        wanted = [round(value / Fraction(float(last.scale))) + last.zero_point for value in REAL[name](*reals)]
        assert found[row].tolist() == [min(max(code, 0), 255) for code in wanted]


@given(st.integers(-(700 << 20), 700 << 20), st.sampled_from(["Sigmoid", "Tanh"]))
def test_curves_are_what_floats_are_but_for_their_error(above: int, curve: str) -> None:
    x = Fraction(above, 1 << 20)
    value = 1 / (1 + math.exp(-float(x))) if curve == "Sigmoid" else math.tanh(float(x))
    code = enclosures.rounded(curve, x, lambda real: round(real * 1000))
    assert abs(code - value * 1000) <= 0.5 + 1e-9


def test_curves_far_out_are_refused() -> None:
    assert enclosures.rounded("Sigmoid", Fraction(-100000), lambda real: round(real + Fraction(1, 2))) == 1
    with pytest.raises(InvalidInput, match="the exact truth is worked out up to 1,000,000"):
        enclosures.rounded("Tanh", Fraction(1 << 40), round)


def test_bounds_hold_the_curve() -> None:
    for curve, x in (("Sigmoid", Fraction(5, 4)), ("Tanh", Fraction(-7, 8))):
        low, high = enclosures.CURVES[curve](x, 40)
        assert low < high < low + Fraction(1, 10**35)
    low, high = enclosures.exponential(Fraction(1), 40)
    assert low < Fraction("2.718281828459045235360287471352662497757") < high


def test_a_tie_of_a_curve_is_at_zero_only() -> None:
    assert enclosures.rounded("Sigmoid", Fraction(0), lambda real: round(real)) == 0  # 0.5 to even
    assert enclosures.rounded("Tanh", Fraction(0), lambda real: round(real)) == 0
    assert enclosures.rounded("Sigmoid", Fraction(1, 1 << 149), lambda real: round(real)) == 1  # just above 0.5


def test_a_node_between_a_curve_and_q_has_no_exact_truth() -> None:
    pattern = pattern_of("Q(Mul(DQ(x), Sigmoid(DQ(b))))")
    pairs = {key: ScalePair(np.float32(0.1), 0, "uint8") for key in pattern.pairs}
    with pytest.raises(InvalidInput, match="Mul of Sigmoid: the exact truth needs a Q between them"):
        exact.exact(pattern, pairs, {"x": np.zeros((1, 1), np.uint8), "b": np.zeros((1, 1), np.uint8)})


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CATALOGUE)
def test_truths_agree_where_float32_is_exact(name: str) -> None:
    """Scales are powers of two, so that no step but exp and tanh rounds, and a decision is never missed."""
    pattern = pattern_of(name)
    for setting in every_setting(pattern):
        if not setting.reason.startswith("powers of two, zero points mixed"):
            continue
        rows = rows_of(pattern, setting.pairs)
        real, steps = (truth(pattern, setting.pairs, rows) for truth in (exact.exact, stepwise.stepwise))
        assert real.shape == steps.shape
        assert real.dtype == steps.dtype
        assert np.count_nonzero(real != with_one_zero(steps, pattern)) == 0


def test_truths_differ_where_ratios_are_nearly_rational() -> None:
    """0.03 / 0.04 is exactly 3 / 4 in float32, but 10 * 0.03 is rounded down before it is divided."""
    pattern = pattern_of("add")
    pairs = {f"s{k}": ScalePair(np.float32(scale), 0, "uint8") for k, scale in enumerate((0.02, 0.03, 0.04), 1)}
    rows = {"a": np.array([[0]], np.uint8), "b": np.array([[10]], np.uint8)}
    assert exact.exact(pattern, pairs, rows).tolist() == [[8]]
    assert stepwise.stepwise(pattern, pairs, rows).tolist() == [[7]]


def test_the_steps_of_q_and_dq_are_the_kernels() -> None:
    from tiebreak import make_node
    from tiebreak.golden.kernel import solve
    from tiebreak.golden.nodes import Case
    from tiebreak.golden.problems import problems_of

    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
    for scale in map(np.float32, (0.0235, 0.02, 0.1, 3.7)):
        pair = ScalePair(scale, 3, "uint8")
        x = np.array(sorted(set(beside_roundings(pair))), np.float32)  # where a reciprocal, too, would show
        (problem,) = problems_of(Case("case", node, (x, np.array(scale), np.array(3, np.uint8))))
        assert stepwise.quantize(x, pair).tolist() == solve(problem, working=True)[0].tolist()
        assert np.any(stepwise.quantize(x, pair) != np.clip(np.rint(x * (np.float32(1) / scale)) + 3, 0, 255))


def test_float32_functions_are_refused_where_float64_does_not_decide() -> None:
    between = np.float64(1) + 2.0**-24  # halfway between two float32 numbers

    def function(x: np.ndarray) -> np.ndarray:
        return np.full(x.shape, between)

    with pytest.raises(stepwise.Undecided, match="does not decide"):
        stepwise.rounded(function, np.zeros((1, 1), np.float32))


def test_rows_are_every_combination_once() -> None:
    pattern = pattern_of("add", "int8")
    rows = rows_of(pattern, {})
    both = set(zip(rows["a"].ravel().tolist(), rows["b"].ravel().tolist(), strict=True))
    assert len(both) == len(rows["a"]) == 65536
    assert min(rows["a"]) == -128
    assert is_exhaustive(pattern)
    assert not is_exhaustive(pattern_of("matmul-2"))
    assert not is_exhaustive(pattern_of("relu-q"))


def test_a_sample_is_spread_over_all_codes() -> None:
    pattern = pattern_of("add", "int16")
    rows = rows_of(pattern, {})
    assert len(rows["a"]) == 65536
    assert {len(set(rows[name].ravel().tolist()) & set(range(-100, 100))) > 50 for name in "ab"} == {True}


def test_real_operands_lie_on_both_sides_of_every_decision() -> None:
    pattern = pattern_of("relu-q")
    pair = ScalePair(np.float32(0.02), 5, "uint8")
    (x,) = rows_of(pattern, {"s1": pair}).values()
    codes = exact.exact(pattern, {"s1": pair}, {"x": x}).ravel()
    order = np.argsort(x.ravel())
    steps = np.flatnonzero(np.diff(codes[order]))
    assert len(steps) == 250  # from 5, which is zero, to 255
    gaps = x.ravel()[order][steps + 1].view(np.uint32).astype(int) - x.ravel()[order][steps].view(np.uint32).astype(int)
    assert gaps.max() == 1  # neighbours


def test_settings_are_chosen_from_each_reason() -> None:
    pattern = pattern_of("add")
    every = chosen_from_sets(pattern)
    assert len(every) == sum(map(len, SCALES.values())) * len(ZERO_POINTS)
    assert len({setting.reason.partition(",")[0] for setting in every[:6]}) == len(SCALES)
    assert {setting.reason.rpartition(" ")[2] for setting in every[:6]} >= {
        "lowest",
        "mixed",
        "end",
        "highest",
    }
    of_two = next(every_setting(pattern_of("relu")))
    assert [str(pair.scale) for pair in of_two.pairs.values()] == ["0.02", "0.04"]  # of .02, .03, .04
    one = chosen_from_sets(pattern_of("dq-q"))
    assert len(one) == len({str(setting) for setting in one})


def test_a_negative_zero_is_zero_in_real_arithmetic() -> None:
    """0 * -1 is a negative zero in float32. Beside bits it differs, beside the exact truth it does not."""
    pattern = pattern_of("Mul(DQ(a), DQ(b))")
    setting = PatternSetting({name: ScalePair(np.float32(1), 1, "uint8") for name in pattern.pairs}, "a test")
    rows = {"a": np.array([[1], [2]], np.uint8), "b": np.zeros((2, 1), np.uint8)}
    truths = PatternTruths.of(pattern, setting, rows)
    assert truths.stepwise is not None
    assert truths.stepwise.ravel().view(np.float32).tolist() == [0.0, -1.0]
    assert count(truths.stepwise, truths.exact) == 1
    assert count_unlike_exact(truths.stepwise, truths, pattern) == 0
    wrong = np.array([[1 << 31], [1 << 31]], np.uint32)
    assert count_unlike_exact(wrong, truths, pattern) == 1


def test_a_sum_of_products_begins_at_zero() -> None:
    """So that two negative zeros make a positive one, as in runtimes."""
    pattern = pattern_of("MatMul(DQ(x), DQ(constant(w)), k=2)")
    pairs = {name: ScalePair(np.float32(1), 1, "uint8") for name in pattern.pairs}
    rows = {"x": np.array([[1, 1]], np.uint8), "w": np.zeros((1, 2, 1), np.uint8)}
    assert stepwise.stepwise(pattern, pairs, rows).tolist() == [[0]]
