"""A wrong dynamic quantizer gets its cause and no other; what follows from a wrong scale is told apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wrong_onnx_dynamic_quantize_linear as dynamic
from causes_of_records import causes_of
from hypothesis import given, settings

from tiebreak.adapters.onnx_reference import OnnxReference
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases, generate_cases
from tiebreak.conformance.judging.chained import CHAINED, chain_rows, chained
from tiebreak.conformance.judging.judge import codes_of_outputs, judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.onnx_dynamic_quantize_linear_variants import in_form
from tiebreak.conformance.running.explaining import all_deviating, evidence_of
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = dynamic.OPERATOR
Run = Callable[..., tuple[dynamic.Array, ...]]
BOXES = {box.name.removeprefix("dynamic: "): box.run for box in dynamic.WRONG}
# The wrong backend, and the cause of all that it gets wrong.
NAMED = (
    ("reciprocal", "own-reciprocal"),
    ("real scale", "divides-by-real-scale"),
    ("256 for 255", "levels-as-steps"),
    ("254 for 255", "counts-one-step-less"),
    ("zero point first", "zero-point-first"),
    ("zero point with ties away", "zero-point-rounds:ties away from zero"),
    ("zero point truncated", "zero-point-rounds:down"),
    ("zero point rounded up", "zero-point-rounds:up"),
    ("zero point of the real width", "zero-point-of-real-scale"),
    ("no zero point", "ignores-zero-point"),
    ("counts from min", "counts-from-min"),
    ("clamps first", "clamps-before-zero-point"),
    ("clamps first, then wraps", "clamps-before-zero-point-and-wraps"),
    ("no zero point in y", "ignores-zero-point:in y alone"),
    ("truncates", "y-rounds:toward zero"),
    ("floors", "y-rounds:down"),
    ("ties away", "y-rounds:ties away from zero"),
    ("scale at least 2^-23", "scale-raised"),
    ("scale flushed", "flushes-scales"),
    ("range without zero", "range-stays"),
    ("symmetric range", "range-made-symmetric"),
    ("range without the last", "measures-all-but:the last"),
    ("range without the first", "measures-all-but:the first"),
    ("never 255", "highest-never"),
    ("wraps", "wraps"),
)
# One x - min, 1.5 - 2^-126, is a tie in float64 and none in real numbers: the cause misses that element.
TIES_OF_FLOAT64 = {"counts from min": 1}
IN_FLOAT32 = {"scale flushed"}  # the boxes whose cause gives the same in float32 for all vectors, which thus names it
FOLLOWS = sentence_of("follows-from:y_scale and y_zero_point")


def vectors() -> list[Case]:
    return indexed_cases(VECTORS / file_name(OPERATOR, "float32", "uint8"))


def named(run: Run) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    return causes_of(run, vectors())


@pytest.mark.few(1)
@pytest.mark.parametrize(("box", "key"), NAMED, ids=[box for box, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, key: str) -> None:
    """Boxes count in real numbers, so that their causes are those in float64."""
    counts = named(BOXES[box])
    assert counts.pop("unexplained", 0) == TIES_OF_FLOAT64.get(box, 0)
    assert set(counts) == {sentence_of(key if box in IN_FLOAT32 else in_form(key))}, counts


def odd_scale(ends: dynamic.Ends) -> Any:
    """A scale that no table knows."""
    return dynamic.single((ends[1] - ends[0]) / 255 * dynamic.Fraction(1000, 999))


@pytest.mark.slow
def test_what_follows_from_a_wrong_scale_is_no_mistake_of_its_own() -> None:
    counts = named(dynamic.replace(dynamic.RIGHT_PARTS, scale=odd_scale))
    scales = sum(case.inputs[0].any() and bool(np.isfinite(case.inputs[0]).all()) for case in vectors())
    assert counts[FOLLOWS] > 1000
    assert counts.keys() == {FOLLOWS, "unexplained"}
    assert counts["unexplained"] <= scales, "only y_scale itself has no cause"


def by_reciprocals(node: Any, x: dynamic.Array) -> tuple[dynamic.Array, ...]:
    """As OpenVINO's compiled kernel: every division is a product with a reciprocal, y's with that of the width."""
    low, high = np.min(x, initial=np.float32(0)), np.max(x, initial=np.float32(0))
    one, steps = np.float32(1), np.float32(255)
    scale = (high - low) * (one / steps)
    point = np.clip(np.nan_to_num(np.rint(-(low * (one / scale))), nan=0), 0, 255).astype(np.uint8)
    y = np.rint(x * steps * (one / (high - low))) + np.float32(point)
    return np.clip(np.nan_to_num(y, nan=0), 0, 255).astype(np.uint8), np.asarray(scale), np.asarray(point)


@pytest.mark.slow
def test_three_mistakes_at_once_are_one_cause_of_all_outputs() -> None:
    key = "range-over-steps-by-reciprocal + zero-point-by-reciprocal + steps-before-reciprocal-of-width"
    counts = named(by_reciprocals)
    assert set(counts) == {sentence_of(key)}, counts
    assert counts[sentence_of(key)] > 500


def test_an_element_of_a_further_output_stands_behind_the_others() -> None:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    case = case_of(-1.0, 0.0, 2.0)
    given = np.array([0, 0, 0], np.uint8), np.float32(3).reshape(()), np.uint8(9).reshape(())
    record(records, case, Outcome("ok", given))
    evidence = evidence_of(records, all_deviating(records), {})
    assert evidence.deviating.output.tolist() == ["y", "y", "y_scale", "y_zero_point"]
    assert evidence.deviating.index.tolist() == [1, 2, 0, 0]
    assert evidence.positions.tolist() == [1, 2, 3, 4]


def case_of(*values: float) -> Case:
    return Case("a", make_node(OPERATOR, real="float32", quantized="uint8"), (np.array(values, np.float32),), "typed")


def codes_of(case: Case, outputs: tuple[dynamic.Array, ...]) -> dynamic.Array:
    return codes_of_outputs(problems_of(case), outputs, truths_of(case).judged_by)


def test_right_outputs_follow_from_each_other() -> None:
    for case in vectors():
        with np.errstate(all="ignore"):
            outputs = dynamic.RIGHT[1].run(case.node, *case.inputs)
        codes = codes_of(case, outputs)
        found = chained(case, codes)
        if found is not None:
            assert ((codes == found.exact) | (codes == found.working)).all(), case.id


def test_the_chain_is_of_the_backends_own_scale_and_zero_point() -> None:
    case = case_of(-1.0, 0.0, 2.0)
    given = np.array([9, 10, 12], np.uint8), np.float32(1).reshape(()), np.uint8(10).reshape(())
    found = chained(case, codes_of(case, given))
    assert found is not None
    assert found.exact[:3].tolist() == [9, 10, 12], "y by the scale 1 and the zero point 10"
    assert found.exact[4] == 1, "-min / 1"
    assert found.follows.tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("scale", [0.0, math.nan, math.inf, -1.0])
def test_nothing_follows_from_a_scale_that_is_no_positive_number(scale: float) -> None:
    case = case_of(1.0, 2.0)
    given = np.array([0, 0], np.uint8), np.float32(scale).reshape(()), np.uint8(0).reshape(())
    assert chained(case, codes_of(case, given)) is None


def test_a_row_counts_what_does_not_follow() -> None:
    assert OPERATOR in CHAINED
    case = case_of(-1.0, 0.0, 2.0)
    given = np.array([9, 10, 13], np.uint8), np.float32(1).reshape(()), np.uint8(10).reshape(())
    (row,) = chain_rows("it", [case], {case.id: codes_of(case, given)})
    assert (row["cases"], row["elements"], row["differ"]) == (1, 4, 2)
    assert row["relation"] == (
        "what DynamicQuantizeLinear gives follows from the y_scale and y_zero_point that it gives"
    )


def test_a_tensor_without_width_is_left_open() -> None:
    for values in ((), (math.nan, 1.0), (1.0, -math.inf)):
        assert not truths_of(case_of(*values)).judged_by.specified.any(), values


def test_of_zeros_the_scale_alone_is_clear() -> None:
    """0 / 255 is 0; y and the zero point divide by it."""
    for values in ((0.0, 0.0), (-0.0,)):
        truth = truths_of(case_of(*values)).judged_by
        assert truth.specified.tolist() == [*[False] * len(values), True, False] and not truth.exact.any()


def test_a_width_beyond_float32_has_an_exact_scale_and_an_infinite_one() -> None:
    largest = float(np.finfo(np.float32).max)
    truth = truths_of(case_of(-largest, largest)).judged_by
    scales = truth.exact[2:3].astype(np.uint32).view(np.float32), truth.working[2:3].astype(np.uint32).view(np.float32)
    assert scales[0][0] == np.float32(largest / 255 * 2) and np.isinf(scales[1][0])


def test_the_reference_evaluator_deviates_in_the_scale_of_zeros_alone() -> None:
    """It takes 1 / 255 there, where the document's formula gives 0."""
    backend, ran = OnnxReference(), 0
    for case in vectors():
        if case.inputs[0].size:
            outputs = backend.compile(case.node)(*case.inputs)
            assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == (not case.inputs[0].any()), case.id
            ran += 1
    assert ran > 90


@given(cases(operator=OPERATOR))
@settings(max_examples=60, deadline=None)
def test_oracle_kernel_and_a_backend_in_float64_agree_on_drawn_cases(case: Case) -> None:
    with np.errstate(all="ignore"):
        outputs = dynamic.RIGHT[2].run(case.node, *case.inputs)
    assert not judge_outputs(outputs, truths_of(case)).count(DEVIATES)


def test_drawn_cases_have_ranges_on_both_sides_and_on_one() -> None:
    inputs = [case.inputs[0] for case in generate_cases(OPERATOR, count=60, seed=3)]
    wide = [x for x in inputs if x.size > 2 and np.isfinite(x).all()]
    assert any((x.min() < 0 < x.max()) for x in wide)
    assert any(x.min() >= 0 for x in wide) and len(wide) > 20
