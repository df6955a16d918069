"""tflite.Requantize: numbers computed by hand, causes of wrong backends, and what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import wrong_tflite_requantize as rq
from causes_of_records import causes_of_records
from hypothesis import given, settings

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, UNSPECIFIED

OPERATOR = rq.OPERATOR
Run = Callable[..., tuple[rq.Array, ...]]
BOXES = {box.name.removeprefix("requantize: "): box.run for box in rq.WRONG}
# The wrong backend, and the cause of all that it gets wrong in int8.
NAMED = (
    ("always twice", "rounds-in-two-steps:away from zero"),
    ("always twice, saturating", "rounds-in-two-steps:away from zero, saturating in int32"),
    ("always twice, ties upward", "rounds-in-two-steps:upward"),
    ("always twice, ties to even", "rounds-in-two-steps:to even"),
    ("8 fractional bits", "factor-of-fraction-bits:8"),
    ("always once", "multiplier-of-bits:31"),
    ("wraps", "wraps"),
    ("clamps before the zero point", "clamps-before-zero-point"),
    ("narrow range", "narrow-range"),
    ("beyond is zero", "beyond-to-zero"),
    ("no input zero point", "ignores-zero-point:of the input"),
    ("no output zero point", "ignores-zero-point:of the output"),
    ("zero points exchanged", "zero-points-exchanged"),
    ("adds the input's zero point", "adds-zero-point:of the input"),
    ("shift one more", "shift-off-by-one:more"),
    ("shift one more, saturating", "shift-off-by-one:more, saturating in int32"),
    ("shift one less", "shift-off-by-one:less"),
    ("ratio inverted", "ratio-inverted"),
    ("no scales", "ignores-scale"),
    ("input read as unsigned", "input-as-unsigned"),
)


def case_of(
    x: list[int], s_in: float, s_out: float, zeros: tuple[int, int] = (0, 0), types: tuple[str, str] = ("int8", "int8"),
    **attributes: str,
) -> Case:  # fmt: skip
    node = make_node(OPERATOR, real=types[0], quantized=types[1], attributes=attributes)
    kinds = [tensor.dtype for tensor in node.inputs]
    given = (x, s_in, zeros[0], s_out, zeros[1])
    return Case("a", node, tuple(np.array(one, kind) for one, kind in zip(given, kinds, strict=True)), "typed")


def solved(case: Case, mode: str = "") -> tuple[list[int], list[int]]:
    """Codes and states by the oracle, which the kernel gives too."""
    (problem,) = problems_of(case)
    codes, states = oracle.solve(problem, working=False, mode=mode or None)
    again = kernel.solve(problem, working=False, mode=mode or None)
    assert (codes == again[0]).all() and (states == again[1]).all()
    return codes.tolist(), states.tolist()


def test_a_third_of_one_is_zero_and_twice_rounded_one() -> None:
    """1 * 0.1 / 0.3 is 0.33. Two thirds round to 1, and half of that, 0.5, to 1 again."""
    x = [1, 2, 4, -1, -2, -4, 3]
    assert solved(case_of(x, 0.1, 0.3))[0] == [0, 1, 1, 0, -1, -1, 1]
    assert solved(case_of(x, 0.1, 0.3, rounding="single"))[0] == [0, 1, 1, 0, -1, -1, 1]
    assert solved(case_of(x, 0.1, 0.3, rounding="double"))[0] == [1, 1, 2, -1, -1, -2, 1]


def test_ties_of_a_ratio_of_a_half_go_upward_in_the_high_half() -> None:
    """A ratio of 0.5 has shift 0: the doubled high half is all there is, and its ties go up."""
    x = [1, -1, 3, -3]
    assert solved(case_of(x, 0.02, 0.04, rounding="double"))[0] == [1, 0, 2, -1]
    assert solved(case_of(x, 0.01, 0.04, rounding="double"))[0] == [1, 0, 1, -1]
    assert solved(case_of([2, -2, 6, -6], 0.01, 0.04, rounding="double"))[0] == [1, -1, 2, -2]


@pytest.mark.parametrize(
    ("mode", "results"),
    [("ROUND_NEAREST_TOWARD_EVEN", [0, 0, 2, -2]), ("ROUND_NEAREST_UPWARD", [1, 0, 2, -1])],
)
def test_a_tie_of_the_real_result_goes_by_the_mode(mode: str, results: list[int]) -> None:
    assert solved(case_of([1, -1, 3, -3], 0.02, 0.04), mode)[0] == results


def test_a_tie_is_open_and_what_is_beside_it_is_not() -> None:
    case = case_of([1, 1], 0.02, 0.04)
    assert judge_outputs((np.array([0, 1], np.int8),), truths_of(case)).count(UNSPECIFIED) == 2
    assert judge_outputs((np.array([2, -1], np.int8),), truths_of(case)).count(DEVIATES) == 2
    beside = case_of([1, 1], 0.4999999, 1.0)
    assert judge_outputs((np.array([0, 1], np.int8),), truths_of(beside)).count(DEVIATES) == 1


def test_results_saturate_after_the_zero_point_is_added() -> None:
    codes, states = solved(case_of([127, -128, 100], 1.0, 0.5, (0, 10)))
    assert (codes, states) == ([127, -128, 127], [OUT_OF_RANGE] * 3)
    assert solved(case_of([-128, 127], 1.0, 1.0, (-128, 0), ("int8", "uint8")))[0] == [0, 255]
    assert solved(case_of([0, 255], 1.0, 1.0, (128, 0), ("uint8", "int8")))[0] == [-128, 127]


@pytest.mark.parametrize("rounding", ["single", "double"])
def test_beyond_int32_the_ways_with_integers_are_open(rounding: str) -> None:
    types = ("int32", "int16")
    states = solved(case_of([1 << 30, 100], 4.0, 1.0, types=types, rounding=rounding))[1]
    assert states == [UNDEFINED, 0]
    assert solved(case_of([2**31 - 1, 5], 1.0, 1.0, (-1, 0), types, rounding=rounding))[1] == [UNDEFINED, 0]
    assert solved(case_of([1 << 30, 100], 4.0, 1.0, types=types))[0] == [32767, 400]


def test_a_shift_above_30_is_limited_with_single_and_open_with_double() -> None:
    given = ([0, 1], 2.0**30, 1.0, (0, 0), ("int8", "int32"))
    assert solved(case_of(*given, rounding="single")) == ([0, 1 << 30], [0, 0])
    assert solved(case_of(*given, rounding="double"))[1] == [UNDEFINED, UNDEFINED]


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_that_is_no_positive_number_is_open(scale: float) -> None:
    assert solved(case_of([1], scale, 1.0))[1] == solved(case_of([1], 1.0, scale))[1] == [UNDEFINED]


def test_types_without_a_kernel_and_roundings_of_other_operators_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no kernel from int32 to int32"):
        make_node(OPERATOR, real="int32", quantized="int32")
    with pytest.raises(InvalidInput, match="MUL gives the type of its input, int8, not uint8"):
        make_node(OPERATOR, real="int8", quantized="uint8", attributes={"through": "MUL"})
    with pytest.raises(InvalidInput, match="rounding double is that of QUANTIZE, not of ADD"):
        make_node(OPERATOR, real="int8", quantized="int8", attributes={"through": "ADD", "rounding": "double"})
    case = case_of([1, 2], 1.0, 1.0)
    two = (case.inputs[0], np.ones(2, np.float32), *case.inputs[2:])
    with pytest.raises(InvalidInput, match=r"scalars, not of shape \[2\]"):
        problems_of(Case("a", case.node, two, "typed"))


def named(run: Run, types: tuple[str, str] = ("int8", "int8")) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    for case in indexed_cases(VECTORS / file_name(OPERATOR, *types)):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)


@pytest.mark.few(3)
@pytest.mark.parametrize(("box", "key"), NAMED, ids=[box for box, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, key: str) -> None:
    counts = named(BOXES[box])
    assert set(counts) == {sentence_of(key)}, counts


@settings(max_examples=150, deadline=None)
@given(cases(operator=OPERATOR))
def test_a_right_backend_conforms_to_what_is_drawn(case: Case) -> None:
    with np.errstate(all="ignore"):
        outputs = rq.RIGHT[0].run(case.node, *case.inputs)
    assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0
