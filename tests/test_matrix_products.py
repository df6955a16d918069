"""QLinearMatMul and MatMulInteger: sums by a loop of their own, scales near ties, and every wrong one by its cause."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import wrong_onnx_matmul_integer as integer
import wrong_onnx_qlinear_matmul as qlinear
from causes_of_records import causes_of
from hypothesis import given, settings

from tiebreak.adapters.onnx_reference import OnnxReference
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.cases.plan import Selection, typed_case
from tiebreak.conformance.judging.judge import codes_of_outputs
from tiebreak.conformance.judging.rows import element_operands
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.products import matrix_product, product_shape
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

Array = np.ndarray[Any, Any]
QLINEAR, INTEGER = qlinear.OPERATOR, integer.OPERATOR
# The wrong backend, and the cause whose backend gives the same on every vector on which it is wrong.
NAMED = (
    ("ties away", "y-rounds:ties away from zero"),
    ("ties up", "y-rounds:ties upward"),
    ("truncates", "y-rounds:toward zero"),
    ("zero point first", "zero-point-first"),
    ("no a_zero_point", "ignores:a_zero_point"),
    ("no b_zero_point", "ignores:b_zero_point"),
    ("no y_zero_point", "ignores:y_zero_point"),
    ("zero points exchanged", "zero-points-exchanged"),
    ("differences wrap", "difference-wraps"),
    ("sum saturates in 16 bits", "sum-in-16-bits:saturates"),
    ("sum wraps in 16 bits", "sum-in-16-bits:wraps around"),
    ("sum without the last product", "sum-without-last-product"),
    ("first scale of rows for all", "one-for-all:a_scale"),
    ("no y_scale", "ignores:y_scale"),
    ("one factor, the zero point first", "zero-point-first-in:float64, by one factor"),
    ("bits of a factor", "multiplies-by-bits-of-factor"),
    ("wraps", "wraps"),
)


# A cause computes in float32, a box in fractions: beside a tie, and beyond 2^62, they differ. Of a batch they take
# another row as the first.
APART = {"NearRational", "PrecisionSensitive", "ScaleNotPowerOfTwo", "Separating", "Overflow", "Batch"}


ONE_FACTOR = "zero-point-first-in:float64, by one factor"
PAIRS_BY_ONE_FACTOR = "pairs-saturate-in-16-bits:by one factor in float32"
SETS = instruction_sets().split()
AVX2_ALONE = "avx2" in SETS and not any("vnni" in name for name in SETS)


def vectors(operator: str, *types: str) -> list[Case]:
    return [case for case in indexed_cases(VECTORS / file_name(operator, *types)) if case.inputs[0].size < 1000]


def slow_sums(a: Array, of_a: Array, b: Array, of_b: Array) -> list[int]:
    """The sums element by element, in Python's integers, with NumPy's rule for shapes alone."""
    rows = a if a.ndim > 1 else a[np.newaxis, :]
    columns = b if b.ndim > 1 else b[:, np.newaxis]
    found = []
    for place in qlinear.places(rows, columns):
        points = qlinear.parameter(of_a, place, place[-2]), qlinear.parameter(of_b, place, place[-1])
        pairs = zip(qlinear.taken(rows, place, row=True), qlinear.taken(columns, place, row=False), strict=True)
        found.append(sum((x - points[0]) * (y - points[1]) for x, y in pairs))
    return found


@pytest.mark.parametrize("types", [("uint8", "int32"), ("int8", "int32")], ids=str)
def test_sums_are_those_of_a_loop(types: tuple[str, str]) -> None:
    compared = 0
    for case in vectors(INTEGER, *types):
        a, b, *points = case.inputs
        of_a, of_b = integer.by_name(case.node, tuple(points))
        found = matrix_product(INTEGER, a, of_a, b, of_b)
        assert found.sums.tolist() == slow_sums(a, of_a, b, of_b), case.id
        assert found.shape == np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
        compared += found.sums.size
    assert compared > 1000


@pytest.mark.parametrize(
    ("count", "values", "overflows"),
    [
        (33025, (255, 255), 0),
        (33026, (255, 255), 1),
        (66052, (255, -128), 1),
        (65793, (255, -128), 0),  # 65793 * 255 * 128 is 2147483520
    ],
)
def test_overflow_begins_where_32_bits_end(count: int, values: tuple[int, int], overflows: int) -> None:
    a, b = (np.full((count,), value, np.int64) for value in values)
    found = matrix_product(INTEGER, a, integer.ZERO, b, integer.ZERO)
    assert found.overflows.tolist() == [overflows]
    assert (abs(count * values[0] * values[1]) < 1 << 31) == (not overflows)


def test_a_sum_that_only_some_order_keeps_in_32_bits_is_open() -> None:
    """The whole is 0, the positive products alone are not a number of 32 bits."""
    half = 33026
    a, b = np.full((2 * half,), 255), np.array([255] * half + [-255] * half)
    found = matrix_product(INTEGER, a, integer.ZERO, b, integer.ZERO)
    assert (found.sums.tolist(), found.overflows.tolist()) == ([0], [1])


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        ((2, 3), (3, 4), (2, 4)),
        ((3,), (3,), ()),
        ((3,), (5, 3, 4), (5, 4)),
        ((2, 1, 3, 4), (7, 4, 5), (2, 7, 3, 5)),
        ((2, 0), (0, 3), (2, 3)),
        ((5, 2, 3), (3,), (5, 2)),
    ],
)
def test_shapes_are_numpys(a: tuple[int, ...], b: tuple[int, ...], shape: tuple[int, ...]) -> None:
    assert product_shape(INTEGER, a, b) == shape == np.matmul(np.zeros(a), np.zeros(b)).shape


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (((2, 3), (), (4, 5), ()), "3 columns"),
        (((), (), (3,), ()), "a scalar"),
        (((2, 2, 3), (), (3, 3, 4), ()), "do not broadcast"),
        (((2, 3), (3,), (3, 4), ()), "a_zero_point"),
        (((2, 3), (), (3, 4), (3,)), "b_zero_point"),
        (((3,), (3,), (3, 4), ()), "a_zero_point"),
        (((2, 3), (), (3, 4), (1, 4)), "b_zero_point"),
    ],
)
def test_shapes_that_the_document_excludes_are_refused(shapes: tuple[tuple[int, ...], ...], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        matrix_product(INTEGER, *(np.zeros(shape, np.int64) for shape in shapes))


def every_pair(texts: tuple[str, str, str], real: str = "float32", point: int = 128) -> Case:
    """All 65,536 pairs of a uint8 and an int8."""
    node = make_node(QLINEAR, real=real, quantized="uint8", operands=("uint8", "int8"))
    kind = node.inputs[1].dtype
    scales = [np.array(float(text), np.float32).astype(kind) for text in texts]
    a, b = np.arange(256, dtype=np.uint8).reshape(256, 1), np.arange(-128, 128).astype(np.int8).reshape(1, 256)
    points = np.array(128, np.uint8), np.array(0, np.int8), np.array(point, np.uint8)
    return Case("pairs", node, (a, scales[0], points[0], b, scales[1], points[1], scales[2], points[2]))


@pytest.mark.parametrize("real", ["float32", "float16", "bfloat16"])
def test_every_pair_of_operands_by_oracle_and_kernel(real: str) -> None:
    """Every 7th of the 65,536 pairs, with a ratio of 3/200: the float32 scales lie beside it, so few are real ties."""
    (problem,) = problems_of(every_pair(("0.02", "0.03", "0.04"), real))
    some = problem.some(np.arange(0, 65536, 7))
    for working in (False, True):
        codes, states = oracle.solve(some, working=working)
        own, its = kernel.solve(some, working=working)
        assert codes.tolist() == own.tolist()
        assert states.tolist() == its.tolist()


def test_short_decimal_scales_meet_ties_that_random_ones_do_not() -> None:
    """On them a multiplier that is rounded first is wrong 172 times of 65,536, and 572 times not exact."""
    wrong = {}
    for texts in (("0.02", "0.03", "0.04"), ("0.0211", "0.0307", "0.0413")):
        case = every_pair(texts)
        truths = truths_of(case)
        folded = {cause.id: run for cause, run in TESTED[QLINEAR].mistakes or ()}["folds-scales"]
        found = codes_of_outputs(truths.problems, folded(case.node, *case.inputs), truths.judged_by)
        exact = found != truths.judged_by.exact
        wrong[texts[0]] = int(exact.sum()), int((exact & (found != truths.judged_by.working)).sum())
    assert wrong["0.02"] == (572, 172)
    assert wrong["0.0211"][1] <= 1


def test_an_exact_tie_is_even_and_an_odd_zero_point_does_not_move_it() -> None:
    node = make_node(QLINEAR, quantized="uint8", operands=("uint8", "int8"))
    a, b = np.array([[1], [3], [5]], np.uint8), np.array([[1]], np.int8)
    scales = [np.array(value, np.float32) for value in (0.5, 1, 1)]
    for point in (0, 3):
        points = np.array(0, np.uint8), np.array(0, np.int8), np.array(point, np.uint8)
        case = Case("tie", node, (a, scales[0], points[0], b, scales[1], points[1], scales[2], points[2]))
        assert truths_of(case).judged_by.exact.tolist() == [round(Fraction(n, 2)) + point for n in (1, 3, 5)]


@given(cases(operator=QLINEAR))
@settings(max_examples=60, deadline=None)
def test_oracle_and_kernel_agree_on_generated_qlinear_cases(case: Case) -> None:
    agree(case)


@given(cases(operator=INTEGER))
@settings(max_examples=40, deadline=None)
def test_oracle_and_kernel_agree_on_generated_integer_cases(case: Case) -> None:
    agree(case)


def agree(case: Case) -> None:
    (problem,) = problems_of(case)
    some = problem.some(np.arange(min(problem.operands[0].size, 40)))
    for working in (False, True):
        codes, states = oracle.solve(some, working=working)
        own, its = kernel.solve(some, working=working)
        assert states.tolist() == its.tolist()
        assert codes[states != UNDEFINED].tolist() == own[states != UNDEFINED].tolist()


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "cause"), NAMED, ids=[name for name, _ in NAMED])
def test_a_cause_reproduces_the_wrong_backend(name: str, cause: str) -> None:
    box = next(wrong for wrong in qlinear.WRONG if wrong.name == f"qlinear-matmul: {name}")
    mistake = next(run for entry, run in TESTED[QLINEAR].mistakes or () if entry.id == cause)
    differ = 0
    for case in vectors(QLINEAR, "float32", "uint8"):
        truths = truths_of(case)
        with np.errstate(all="ignore"):
            try:
                outputs = mistake(case.node, *(array.copy() for array in case.inputs))
            except ValueError:  # there is nothing to mistake here
                continue
            found = codes_of_outputs(truths.problems, box.run(case.node, *case.inputs), truths.judged_by)
        own = codes_of_outputs(truths.problems, outputs, truths.judged_by)
        judged = truths.judged_by
        away = judged.specified & (judged.exact == judged.working) & (found != judged.exact)
        if APART & set(case.flags):
            continue
        assert own[away].tolist() == found[away].tolist(), case.id
        differ += int(away.sum())
    assert differ


@pytest.mark.parametrize("real", ["float32", "bfloat16"])
def test_the_reference_evaluator_has_one_factor_and_adds_the_zero_point_first(real: str) -> None:
    run = next(run for cause, run in TESTED[QLINEAR].mistakes or () if cause.id == ONE_FACTOR)
    cases = [case for case in vectors(QLINEAR, real, "uint8") if {"Tie", "NearRational"} & set(case.flags)]
    assert cases
    for case in cases:
        (found,) = OnnxReference().compile(case.node)(*case.inputs)
        assert found.tolist() == run(case.node, *case.inputs)[0].tolist(), case.id


def test_onnxruntime_adds_saturated_pairs_and_multiplies_by_one_factor() -> None:
    """Its kernel for AVX2 does so with unsigned and signed bytes; scales of float16 become float32 first."""
    adapter = pytest.importorskip("tiebreak.adapters.onnxruntime")
    if not AVX2_ALONE:
        pytest.skip("no AVX2, or VNNI, too")
    run = next(run for cause, run in TESTED[QLINEAR].mistakes or () if cause.id == PAIRS_BY_ONE_FACTOR)
    cases = [case for case in vectors(QLINEAR, "float16", "uint8") if "/pairs-" in case.id and "uint8-int8" in case.id]
    assert cases
    for case in cases:
        (found,) = adapter.OnnxRuntime().compile(case.node)(*case.inputs)
        assert found.tolist() == run(case.node, *case.inputs)[0].tolist(), case.id


def test_the_reference_evaluator_adds_the_zero_point_before_it_rounds() -> None:
    node = make_node(QLINEAR, quantized="uint8", operands=("uint8", "int8"))
    f32, u8, i8 = np.float32, np.uint8, np.int8
    inputs = (u8([[1]]), f32(0.5), u8(0), i8([[1]]), f32(1), i8(0), f32(1), u8(3))
    (y,) = OnnxReference().compile(node)(*map(np.asarray, inputs))
    assert y.tolist() == [[4]]


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize(
    ("box", "wanted", "at_least"),
    [
        (integer.signed_alone, {"operand-as-signed:a and b"}, 250),
        (integer.point_of_column, {"along-other-axis:a_zero_point"}, 150),
        (integer.points_in_memory, {f"one-for-each-element:{name}_zero_point" for name in "ab"}, 30),
    ],
    ids=["signed", "columns", "elements"],
)
def test_wrong_integer_matrices_get_their_causes_and_no_others(
    box: Callable[..., Any], wanted: set[str], at_least: int, kind: str
) -> None:
    """Batches of both kinds of zero points have a cause of two mistakes, if any: they are not among these."""
    found = causes_of(box, [case for case in vectors(INTEGER, kind, "int32") if "batch-both" not in case.id])
    if box is integer.signed_alone and kind == "int8":
        assert not found
    else:
        assert set(found) == {sentence_of(id_) for id_ in wanted} and found.total() >= at_least, found


@pytest.mark.parametrize(("rows", "inner"), [(2, 5), (3, 3), (5, 2)])
def test_zero_points_of_rows_along_columns_are_the_first_ones_and_zeros(rows: int, inner: int) -> None:
    """Of 5 columns for 2 zero points 7 and 8 the last three have 0, with ones in both matrices: 5 - 7 - 8."""
    node = make_node(INTEGER, real="int8", quantized="int32", operands=("int8",), form=1)
    points = np.arange(7, 7 + rows).astype(np.int8)
    inputs = np.ones((rows, inner), np.int8), np.ones((inner, 2), np.int8), points
    wanted = inner - sum(points.tolist()[:inner])
    run = {cause.id: run for cause, run in TESTED[INTEGER].mistakes or ()}["along-other-axis:a_zero_point"]
    assert run(node, *inputs)[0].tolist() == [[wanted] * 2] * rows


@pytest.mark.parametrize("operator", [INTEGER, QLINEAR])
def test_whether_a_sum_overflows_is_no_operand_that_a_row_shows(operator: str) -> None:
    case = vectors(operator, "uint8", "int32")[0] if operator == INTEGER else vectors(operator, "float32", "uint8")[0]
    (problem,) = problems_of(case)
    shown = [name for name, _, _ in element_operands(problem, case.node, 0)]
    assert len(shown) == len(problem.operands) - 1
    assert shown[0] == "sum" and "overflows" not in shown


@pytest.mark.parametrize(
    ("point", "wanted"),
    [({"b_zero_point": "3"}, 5 * (7 - 3)), ({"a_zero_point": "3"}, (5 - 3) * 7), ({}, 5 * 7)],
)
def test_a_typed_zero_point_is_its_own(point: dict[str, str], wanted: int) -> None:
    inputs = {"A": "[[5]]", "B": "[[7]]", **point}
    case = typed_case(Selection(operators=(INTEGER,), inputs=inputs), (INTEGER,))
    assert [tensor.name for tensor in case.node.inputs] == [*inputs]
    assert oracle.solve(problems_of(case)[0], working=False)[0].tolist() == [wanted]
