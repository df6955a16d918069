"""paddle.QuantizeLinear: numbers computed by hand, causes of wrong backends, the kernel against the oracle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import wrong_paddle_quantize_linear as wp
from causes_of_records import causes_of_records
from hypothesis import given, settings

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.paddle_quantize_linear_variants import MISTAKES, WITHIN_ENDS
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.variants.mutant import Mutant
from tiebreak.golden import oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.kernels.paddle_quantize_linear import LOOPS
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = wp.OPERATOR
Run = Callable[..., tuple[wp.Array, ...]]
# Boxes whose quotient is right have it in working precision, as a runtime would.
BOXES: dict[str, Run] = {
    name: replace(wp.Quantizer(), **{"quotient": wp.stepwise, **parts}) for name, _, parts in wp.PARTS
}
# The wrong backend and the cause of all that it gets wrong.
NAMED = (
    ("ties to even always", "ignores:round_type"),
    ("ties away always", "ties-away"),
    ("truncates", "truncates"),
    ("floors in float32", "floors"),
    ("ceils in float32", "ceils"),
    ("never qmin", "narrow-range:whatever qmin is"),
    ("range times the reciprocal", "own-reciprocal-times-range"),
    ("multiplies by the reciprocal", "own-reciprocal"),
    ("range over the scale first", "factor-first"),
    ("multiplies by the scale", "multiplies-by-scale"),
    ("ignores range", "ignores:range"),
    ("qmax for range", "range-is-qmax"),
    ("127 for range", "ignores:bit_length"),
    ("a range of one more", "range-counts:2^(bit_length - 1)"),
    ("a range of all values", "range-counts:2^bit_length - 1"),
    ("next channel", "next-channel"),
)


def vectors() -> list[Case]:
    return indexed_cases(VECTORS / file_name(OPERATOR, "float32", "float32"))


def case_of(x: Any, scale: list[float], zero_point: float = 0.0, **attributes: int) -> Case:
    """A case with one scale unless quant_axis is given."""
    node = make_node(OPERATOR, attributes={"quant_axis": -1, **attributes})
    points = [zero_point] * len(scale)
    return Case("a", node, tuple(np.array(given, np.float32) for given in (x, scale, points)), "typed")


def solved(case: Case, *, working: bool = False) -> list[float | None]:
    """The results; None for those that are open."""
    codes, states = oracle.solve(problems_of(case)[0], working=working)
    values = codes.astype(np.uint32).view(np.float32).tolist()
    return [None if state == UNDEFINED else value for value, state in zip(values, states, strict=True)]


@pytest.mark.parametrize(
    ("x", "scale", "attributes", "result"),
    [
        ([0.5, 1.5, -2.5, 1.2], 127, {}, [0, 2, -2, 1]),
        ([0.5, 1.5, -2.5, 1.2], 127, {"round_type": 1}, [1, 2, -3, 1]),
        ([1, 0.5, -0.75], 1, {"bit_length": 4}, [7, 4, -5]),
        ([127.25, 127.5, -128.5, -128.75], 127, {}, [127, None, -128, None]),
        ([127.5, -128.25, -128.5], 127, {"round_type": 1}, [None, -128, None]),
        ([-1, -1.25, 1], 1, {"bit_length": 3, "qmin": -3, "qmax": 3}, [-3, None, 3]),
        ([5, -5], 1, {"bit_length": 1}, [0, 0]),
        ([1], 1, {"bit_length": 16, "qmax": 32767}, [32767]),
        ([1], 1, {"bit_length": 16}, [None]),
    ],
)
def test_results_by_hand(x: list[float], scale: float, attributes: dict[str, int], result: list[float | None]) -> None:
    case = case_of(x, [scale], **attributes)
    assert solved(case) == solved(case, working=True) == result


def test_each_channel_has_its_scale() -> None:
    x = [[1.0, 2.0], [3.0, 4.0]]
    assert solved(case_of(x, [127, 254], quant_axis=0)) == [1, 2, 2, 2]  # 1.5 goes to 2
    assert solved(case_of(x, [127, 254], quant_axis=1)) == [1, 1, 3, 2]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_that_is_no_magnitude_leaves_all_open(scale: float) -> None:
    assert solved(case_of([0.0, 1.0], [scale])) == [None, None]


def test_a_zero_point_other_than_0_leaves_all_open() -> None:
    assert solved(case_of([1.0], [127], 3.0)) == [None]
    assert solved(case_of([1.0], [127], -0.0)) == [1]


def test_a_product_beyond_float32_is_open_in_working_precision_alone() -> None:
    case = case_of([2.0**125], [2.0**126])
    assert (solved(case), solved(case, working=True)) == ([64], [None])  # 63.5 is a tie


@pytest.mark.parametrize(
    ("x", "scale", "attributes", "words"),
    [
        ([1.0], [1.0, 1.0], {}, r"Scale has shape \[2\], not \[1\]"),
        ([1.0], [1.0], {"quant_axis": 1}, "quant_axis 1 outside an input of rank 1"),
        ([[1.0, 2.0]], [1.0], {"quant_axis": 1}, r"Scale has shape \[1\], not \[2\]"),
    ],
)
def test_other_shapes_are_refused(x: Any, scale: list[float], attributes: dict[str, int], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        problems_of(case_of(x, scale, **attributes))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("quant_axis", 2, "2 is not one of -1, 0, 1"),
        ("round_type", 2, "2 is not one of 0, 1"),
        ("bit_length", 17, "17 is not between 1 and 16"),
        ("qmax", 1 << 31, "is no int32"),
    ],
)
def test_other_attributes_are_refused(name: str, value: int, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make_node(OPERATOR, attributes={name: value})


@settings(max_examples=150, deadline=None)
@given(cases(operator=OPERATOR))
def test_kernel_and_oracle_agree_on_what_is_drawn(case: Case) -> None:
    (problem,) = problems_of(case)
    for working in (False, True):
        codes, states = oracle.solve(problem, working=working)
        found, same = LOOPS[problem.formula](problem, working, case.node.round_mode)
        assert (found == codes).all() and (same == states).all(), working


@settings(max_examples=80, deadline=None)
@given(cases(operator=OPERATOR))
def test_right_backends_conform_to_what_is_drawn(case: Case) -> None:
    for right in wp.RIGHT:
        with np.errstate(all="ignore"):
            outputs = right.run(case.node, *case.inputs)
        assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0, right.name


def named(run: Run) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    for case in vectors():
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)


@pytest.mark.few(2)
@pytest.mark.parametrize(("box", "key"), NAMED, ids=[box for box, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, key: str) -> None:
    counts = named(BOXES[box])
    assert set(counts) == {sentence_of(key)}, counts


def test_the_term_of_mistakes_is_right_without_one() -> None:
    for case in vectors():
        outputs = Mutant((), reading=WITHIN_ENDS)(case.node, *case.inputs)
        assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0, case.id


@pytest.mark.parametrize(
    ("id", "x", "scale", "attributes", "result"),
    [
        ("own-reciprocal-times-range", [80.3984375], 81.359375, {}, [125]),
        ("own-inverse-times-range", [2.0**-101, 2.0**126], 2.0**-100, {}, [0, 127]),
        ("own-inverse-times-range", [2.0**126], 2.0**127, {}, [64]),
        ("own-inverse-times-range + flushes-inputs-and-reciprocals", [2.0**126], 2.0**127, {}, [0]),
        ("small-scale-raised", [2.0**-101], 2.0**-100, {}, [0]),
        ("clips-to-scale", [-1.0625], 1, {}, [-127]),
        ("clips-to-scale:with round_type 1", [-1.0078125], 1, {"round_type": 1}, [-127]),
        ("ignores:round_type", [0.5, -2.5], 127, {"round_type": 1}, [0, -2]),
        ("inverts:round_type", [0.5, -2.5], 127, {}, [1, -3]),
        ("range-is-qmax", [0.5], 1, {"bit_length": 4}, [64]),
        ("divides-in:float16", [10.0546875], 2, {"qmax": 9999}, [638]),
        ("step-by-reciprocals", [80.3984375], 81.359375, {}, [125]),
        ("ends-of-bits", [2.0], 1, {"bit_length": 3, "qmax": 9}, [3]),
        ("half-added-to-magnitude", [0.49999997, -0.5], 127, {"round_type": 1}, [1, -1]),
        ("narrow-range", [-1.0078125], 1, {}, [-127]),
    ],
)
def test_mistakes_by_hand(id: str, x: list[float], scale: float, attributes: dict[str, int], result: list[int]) -> None:
    case = case_of(x, [scale], **attributes)
    (run,) = (run for cause, run in MISTAKES if cause.id == id)
    assert run(case.node, *case.inputs)[0].tolist() == result
