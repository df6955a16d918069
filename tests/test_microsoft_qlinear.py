"""QLinearAdd and QLinearMul: numbers computed by hand, all pairs of integers, causes, real runtimes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import wrong_microsoft_qlinear as wrong
from causes_of_records import causes_of

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.microsoft_qlinear_variants import ADD_MISTAKES, ADD_PAIRS, MUL_MISTAKES, MUL_PAIRS
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import NEAREST
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, OTHER_ORDER

ADD, MUL = wrong.ADD, wrong.MUL
EVEN, AWAY = NEAREST[:2]
BOXES = {box.name: box.run for box in wrong.WRONG}
INTEGERS = np.arange(-128, 128)
NEARLY = (0.02, 0.03, 0.04)
NAMED = (
    ("truncates and wraps", "truncates-and-wraps"),
    ("truncates before the zero point", "truncates-then-adds-zero-point"),
    ("no zero point of A", "ignores:A_zero_point"),
    ("no zero point of B", "ignores:B_zero_point"),
    ("no zero point of C", "ignores:C_zero_point"),
    ("zero points exchanged", "zero-points-exchanged:of A and B"),
    ("no scale of A", "ignores:A_scale"),
    ("no scale of B", "ignores:B_scale"),
    ("no scale of C", "ignores:C_scale"),
    ("times the scale of C", "multiplies-by-output-scale"),
    ("wraps", "wraps"),
    ("narrow range", "narrow-range"),
)


def case_of(
    operator: str, a: Any, b: Any, scales: Any = (0.5, 1, 1), points: Any = (0, 0, 0), kind: str = "int8"
) -> Case:
    node = make_node(operator, quantized=kind, zero_point=points[2] is not None)
    given = (
        a,
        scales[0],
        points[0],
        b,
        scales[1],
        points[1],
        scales[2],
        *(points[2:] if points[2] is not None else ()),
    )
    arrays = (np.array(one).astype(tensor.dtype) for one, tensor in zip(given, node.inputs, strict=True))
    return Case("a", node, tuple(arrays), "typed")


def solved(case: Case, mode: str = EVEN, *, working: bool = False) -> tuple[list[int], list[int]]:
    """Results and states by the oracle, which the kernel has too."""
    (problem,) = problems_of(case)
    found = oracle.solve(problem, working=working, mode=mode)
    for one, other in zip(kernel.solve(problem, working=working, mode=mode), found, strict=True):
        assert np.array_equal(one, other)
    return found[0].tolist(), found[1].tolist()


def every_pair(operator: str, scales: Any, points: Any = (0, 0, 0)) -> Case:
    return case_of(operator, INTEGERS[:, None], INTEGERS[None, :], scales, points)


def answers(name: str, case: Case) -> Any:
    module = pytest.importorskip(f"tiebreak.adapters.{name}")
    backend = {"onnxruntime": "OnnxRuntime", "openvino": "OpenVino"}[name]
    return getattr(module, backend)().compile(case.node)(*case.inputs)


def test_a_sum_is_rounded_once() -> None:
    """(7 - 1) / 2 + (5 - 2) * 0.25 = 3.75, divided by 0.5: 7.5, and 3 more: 10.5."""
    case = case_of(ADD, [7], [5], (0.5, 0.25, 0.5), (1, 2, 3))
    assert solved(case) == ([10], [IN_RANGE])
    assert solved(case, AWAY) == ([11], [IN_RANGE])


def test_a_product_is_rounded_once() -> None:
    """(7 - 1) * (5 - 2) * 0.5 * 0.25 = 2.25, divided by 0.5: 4.5, and 3 more: 7.5."""
    case = case_of(MUL, [7], [5], (0.5, 0.25, 0.5), (1, 2, 3))
    assert solved(case) == ([8], [IN_RANGE])
    assert solved(case, "ROUND_NEAREST_DOWNWARD") == ([7], [IN_RANGE])


def test_a_zero_point_left_off_is_zero() -> None:
    assert solved(case_of(ADD, [3, -3], [1], (1, 1, 1), (1, 2, None))) == ([1, -5], [IN_RANGE] * 2)


def test_values_saturate() -> None:
    assert solved(case_of(MUL, [100, -100], [2], (1, 1, 1))) == ([127, -128], [OUT_OF_RANGE] * 2)


@pytest.mark.parametrize("scales", [(1, 1, 0), (np.nan, 1, 1), (1, np.inf, 1)])
@pytest.mark.parametrize("operator", [ADD, MUL])
def test_what_no_scale_is_leaves_the_result_open(operator: str, scales: Any) -> None:
    assert solved(case_of(operator, [1], [1], scales)) == ([0], [UNDEFINED])


def test_steps_that_overflow_to_nan_leave_working_precision_open() -> None:
    case = case_of(ADD, [127], [127], (2.0**127, -(2.0**127), 1))
    assert solved(case) == ([0], [IN_RANGE])
    assert solved(case, working=True) == ([0], [UNDEFINED])


@pytest.mark.parametrize("operator", [ADD, MUL])
def test_shapes_broadcast_or_are_refused(operator: str) -> None:
    assert case_of(operator, [[1], [2]], [1, 2, 3]).shape == (2, 3)
    assert case_of(operator, [[1], [2]], [1, 2, 3]).size == 6
    with pytest.raises(InvalidInput, match=r"\[2\] and \[3\] do not broadcast"):
        problems_of(case_of(operator, [1, 2], [1, 2, 3]))
    with pytest.raises(InvalidInput, match=r"A_scale is a scalar, not of shape \[2\]"):
        problems_of(case_of(operator, [1, 2], [1, 2], ([1, 2], 1, 1)))


@pytest.mark.parametrize(
    ("operator", "scales"), [(ADD, NEARLY), (MUL, NEARLY), (ADD, (0.1, 0.3, 0.2)), (MUL, (0.1, 0.2, 0.2))]
)
def test_all_pairs_of_integers_are_what_whole_numbers_say(operator: str, scales: Any) -> None:
    """65,536 pairs: the kernel against a comparison of whole numbers with halves."""
    (problem,) = problems_of(every_pair(operator, scales, (3, -5, 7)))
    codes, _ = kernel.solve(problem, working=False)
    a, b, c = (Fraction(float(np.float32(scale))) for scale in scales)
    top = (a / c, b / c) if operator == ADD else (a * b / c,)
    common = int(np.lcm.reduce([one.denominator for one in top], dtype=object))
    units = [int(one * common) for one in top]
    x, y = (array.astype(object) for array in ((INTEGERS - 3)[:, None], (INTEGERS + 5)[None, :]))
    number = (x * units[0] + y * units[1] if operator == ADD else x * y * units[0]) + 7 * common
    twice_away = 2 * codes.reshape(256, 256).astype(object) * common - 2 * number
    inside = (codes > -128) & (codes < 127)
    assert inside.sum() > 5_000
    assert (np.abs(twice_away).reshape(-1)[inside] <= common).all()


@pytest.mark.few(2, of="operator")
@pytest.mark.parametrize(("name", "key"), NAMED, ids=[name for name, _ in NAMED])
@pytest.mark.parametrize("operator", [ADD, MUL])
def test_a_wrong_backend_gets_its_cause_and_no_other(operator: str, name: str, key: str) -> None:
    box = BOXES[f"{operator.rpartition('.')[2]}: {name}"]
    cases = [case for case in indexed_cases(VECTORS / file_name(operator, "float32", "int8")) if "usual" in case.id]
    assert set(causes_of(box, cases)) == {sentence_of(key)}


ORDERS = ("ratios-in-float32:fused with all zero points", "ratio-of-scales-in-float32")  # no deviations alone
FUSED = {
    ADD: "reciprocal-of-output-scale:fused",
    MUL: "multiplies-numbers-in-float32:by the reciprocal, fused",
}


@pytest.mark.few(2)
@pytest.mark.parametrize("operator", [ADD, MUL])
def test_fused_sums_get_their_cause_and_no_other(operator: str) -> None:
    box = BOXES[f"{operator.rpartition('.')[2]}: fused, by the reciprocal, truncates and wraps"]
    cases = [case for case in indexed_cases(VECTORS / file_name(operator, "float32", "int8")) if "near" in case.id]
    assert set(causes_of(box, cases)) == {sentence_of(f"{FUSED[operator]} + truncates-and-wraps")}


@pytest.mark.parametrize("operator", [ADD, MUL])
def test_a_conversion_to_int32_gets_its_cause_and_no_other(operator: str) -> None:
    box = BOXES[f"{operator.rpartition('.')[2]}: casts to int32"]
    cases = [case for case in indexed_cases(VECTORS / file_name(operator, "float32", "int8")) if "saturates" in case.id]
    assert set(causes_of(box, cases)) == {sentence_of("casts-to-int32")}


@pytest.mark.few(6, of="operator")
@pytest.mark.parametrize(
    ("operator", "cause", "run"),
    [*((ADD, *one) for one in ADD_MISTAKES), *((MUL, *one) for one in MUL_MISTAKES)],
    ids=lambda value: getattr(value, "id", ""),
)
def test_a_mistake_differs_in_a_vector(operator: str, cause: Any, run: Any) -> None:
    """A cause that nothing shows could be given to nobody."""
    for kind in ("int8", "uint8"):
        for case in indexed_cases(VECTORS / file_name(operator, "float32", kind)):
            try:
                outputs = run(case.node, *case.inputs)
            except (ValueError, NotImplementedError):
                continue
            judgement = judge_outputs(outputs, truths_of(case))
            if judgement.count(OTHER_ORDER if cause.id in ORDERS else DEVIATES):
                return
    pytest.fail(f"{cause.id} shows in no vector")


def differing(case: Case, found: Any, run: Any) -> int:
    return int((np.asarray(run(case.node, *case.inputs)[0]) != found[0]).sum())


def mistake(table: Any, id: str) -> Any:
    return next(run for cause, run in table if cause.id == id)


@pytest.mark.parametrize("points", [(0, 0, 0), (-7, 12, 5)])
def test_onnxruntime_multiplies_by_a_ratio_of_all_scales(points: Any) -> None:
    """Every one of 65,536 products: as qlmul.cpp has it for x86-64, and not by the formula."""
    case = every_pair(MUL, NEARLY, points)
    found = answers("onnxruntime", case)
    assert differing(case, found, mistake(MUL_MISTAKES, "ratio-of-scales-in-float32")) == 0
    assert judge_outputs(found, truths_of(case)).count(OTHER_ORDER) > 100


@pytest.mark.parametrize("scales", [NEARLY, (0.1, 0.3, 0.2), (0.0625001, 0.0625, 0.125001)])
def test_onnxruntime_adds_by_ratios_to_one_part_of_all_zero_points(scales: Any) -> None:
    """65,536 sums, B beside A and A one number a row: as qladd_avx2.cpp has it. The processor needs AVX2."""
    if "avx2" not in instruction_sets().split():
        pytest.skip("no AVX2")
    run = mistake(ADD_MISTAKES, "ratios-in-float32:zero points fused, too")
    flat = np.repeat(INTEGERS, 256), np.tile(INTEGERS, 256)
    for case in (every_pair(ADD, scales, (-7, 12, 5)), case_of(ADD, *flat, scales, (-7, 12, 5))):
        assert differing(case, answers("onnxruntime", case), run) == 0


FUSED_AND_CAST = "ratios-in-float32:zero points fused, too + casts-to-int32"


@pytest.mark.parametrize(
    ("a", "b", "scales", "points"),
    [
        (INTEGERS, 40, (0.24000001, 0.23999998, 0.48), (0, -31, -128)),  # B is one number: A's zero point is fused
        (40, INTEGERS, (0.24000001, 0.23999998, 0.48), (0, -31, -128)),
        (
            INTEGERS,
            [0] * 256,
            (0.0047, 4e-41, 9e-43),
            (-128, 0, 0),
        ),  # A's ratio is infinite: NaN becomes the least int32
        (INTEGERS, [5] * 256, (1e-44, 0.0, 1e-44), (-128, 9, 0)),  # a scale of 0 leaves A alone
    ],
    ids=["one number as B", "one number as A", "an infinite ratio", "a scale of 0"],
)
def test_onnxruntimes_sums_beyond_the_usual(a: Any, b: Any, scales: Any, points: Any) -> None:
    if "avx2" not in instruction_sets().split():
        pytest.skip("no AVX2")
    case = case_of(ADD, a, b, scales, points)
    assert differing(case, answers("onnxruntime", case), mistake(ADD_PAIRS, FUSED_AND_CAST)) == 0


@pytest.mark.parametrize("operator", [ADD, MUL])
def test_openvino_fuses_truncates_and_wraps(operator: str) -> None:
    """Every one of 65,536 pairs. The processor needs AVX2."""
    if "avx2" not in instruction_sets().split():
        pytest.skip("no AVX2")
    table = {ADD: ADD_PAIRS, MUL: MUL_PAIRS}[operator]
    case = every_pair(operator, NEARLY, (-7, 12, 5))
    run = mistake(table, f"{FUSED[operator]} + truncates-and-wraps")
    assert differing(case, answers("openvino", case), run) == 0


@pytest.mark.parametrize("operator", [ADD, MUL])
def test_openvino_truncates_and_wraps(operator: str) -> None:
    case = case_of(operator, [3, 127, -3], [3, 127, -3], (0.5, 0.5, 0.8))
    (found,) = answers("openvino", case)
    value = {ADD: [3.75, 158.75, -3.75], MUL: [2.8125, 5040.3125, 2.8125]}[operator]
    assert found.tolist() == np.trunc(value).astype(np.int64).astype(np.int8).tolist()


def test_pairs_of_mistakes_hold_what_openvino_does() -> None:
    ids = Counter(cause.id for cause, _ in ADD_PAIRS)
    assert ids["steps-in-float32 + truncates-and-wraps"] == 1


@np.errstate(all="ignore")
def negated_in_steps(node: Any, *inputs: Any) -> Any:
    """A sum in float32, rounded at each step, from which the output's zero point is subtracted."""
    a, s_a, z_a, b, s_b, z_b, s_c, *z_c = (np.asarray(one) for one in inputs)
    single = np.float32
    first, second = (x.astype(single) - z.astype(single) for x, z in ((a, z_a), (b, z_b)))
    quotient = (first * s_a + second * s_b) / s_c
    value = quotient - (z_c[0] if z_c else np.zeros(())).astype(single)
    ends = np.iinfo(node.outputs[0].dtype)
    whole = np.rint(np.nan_to_num(value.astype(np.float64), nan=0.0, posinf=2.0**62, neginf=-(2.0**62)))
    return (np.clip(whole, ends.min, ends.max).astype(node.outputs[0].dtype),)


def test_a_mistake_in_rounded_steps_is_one_mistake() -> None:
    operator = "com.microsoft.QLinearAdd"
    counts = causes_of(negated_in_steps, indexed_cases(VECTORS / file_name(operator, "float32", "int8")))
    assert set(counts) == {sentence_of("zero-point-negated:C_zero_point")}, counts
