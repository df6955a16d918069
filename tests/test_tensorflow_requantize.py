"""tensorflow.UniformRequantize: numbers computed by hand, axes, and what TensorFlow's kernel does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wrong_tensorflow_uniform_requantize as rq
from causes_of_records import causes_of

from tiebreak.adapters.registry import load_backend
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.tensorflow_uniform import ends_of, range_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, EXACT, UNSPECIFIED, WORKING

OPERATOR = "tensorflow.UniformRequantize"
IN_VECTORS = "multiplier-of-31-bits-in-int32:a difference beyond int32 only in whole vectors of 4"
BOXES = {box.name.removeprefix("uniform-requantize: "): box.run for box in rq.WRONG}
# The wrong backend, and the cause of all that it gets wrong from int8 to int8, also where scales are negative.
NAMED = (
    ("no input zero point", "ignores-zero-point:of the input"),
    ("no output zero point", "ignores-zero-point:of the output"),
    ("zero points exchanged", "zero-points-exchanged"),
    ("ratio inverted", "ratio-inverted"),
    ("rounds in two steps, saturating", "rounds-in-two-steps:away from zero, saturating in int32"),
    ("wraps, then clips to the range", "wraps:then clips to the range"),
    (
        "clamps to the type, wraps, then clips to the range",
        "clamps-before-zero-point-and-wraps:then clips to the range",
    ),
)
BYTES, TO_BYTE = ("int8", "int8"), ("int32", "int8")


def case_of(types: tuple[str, str], *values: Any, **attributes: int) -> Case:
    ranges = range_of(*ends_of(types[0]), "input_") | range_of(*ends_of(types[1]), "output_")
    node = make_node(OPERATOR, real=types[0], quantized=types[1], attributes=ranges | attributes)
    inputs = tuple(np.array(one).astype(kind.dtype) for one, kind in zip(values, node.inputs, strict=True))
    return Case("a", node, inputs, "typed")


def solved(case: Case) -> list[int]:
    """Codes by the oracle, which the kernel gives too."""
    (problem,) = problems_of(case)
    codes, states = oracle.solve(problem, working=False)
    again = kernel.solve(problem, working=False)
    assert (codes == again[0]).all() and (states == again[1]).all()
    found: list[int] = codes.tolist()
    return found


def answer(case: Case) -> list[int]:
    found: list[int] = load_backend("tensorflow").compile(case.node)(*case.inputs)[0].tolist()
    return found


def test_a_third_of_a_difference_and_the_other_zero_point() -> None:
    """(7 - 1) / 3 + 5 is 7; (9 - 1) / 3 is 2.67."""
    assert solved(case_of(BYTES, [7, 9, 127, -128], 0.1, 1, 0.3, 5)) == [7, 8, 47, -38]


def test_float32_steps_round_the_output_zero_point_too() -> None:
    """1 + 16777217 is 16777218; of the float32 16777216 the sum is a tie in float32, which stays 16777216."""
    case = case_of(("int32", "int32"), [1, 1, 1], 1.0, 0, 1.0, 16777217)
    grades = judge_outputs([np.array([16777218, 16777216, 16777217], np.int32)], truths_of(case)).grades
    assert grades.tolist() == [EXACT, WORKING, DEVIATES]


def test_a_tie_is_open_and_what_is_beside_it_is_not() -> None:
    case = case_of(BYTES, [1, 3], 0.5, 0, 1.0, 0)
    assert judge_outputs((np.array([1, 1], np.int8),), truths_of(case)).count(UNSPECIFIED) == 2
    assert judge_outputs((np.array([2, 0], np.int8),), truths_of(case)).count(DEVIATES) == 2


def test_differences_and_sums_have_more_than_32_bits() -> None:
    assert solved(case_of(TO_BYTE, [2147483647, -2147483648], 1.0, -1, 1.0, 0)) == [127, -128]
    assert solved(case_of(BYTES, [2, -2], 1.0, 0, 1.0, 2147483647)) == [127, 127]


def test_scales_along_an_axis_on_either_side() -> None:
    x = [[2, 4], [3, 4]]
    assert solved(case_of(BYTES, x, [0.5, 1.0], [0, 0], 1.0, 0, input_quantization_axis=0)) == [1, 2, 3, 4]
    assert solved(case_of(BYTES, x, 1.0, 0, [1.0, 0.5], [0, 1], output_quantization_axis=1)) == [2, 9, 3, 9]
    with pytest.raises(InvalidInput, match="axes 0 and 1 differ, and neither is -1"):
        problems_of(case_of(BYTES, x, [1.0, 1.0], [0, 0], [1.0, 1.0], [0, 0], input_quantization_axis=0,
                            output_quantization_axis=1))  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize(("box", "key"), NAMED, ids=[box for box, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, key: str) -> None:
    counts = causes_of(BOXES[box], indexed_cases(VECTORS / file_name(OPERATOR, *BYTES)))
    assert set(counts) == {sentence_of(key)}, counts


@pytest.mark.parametrize("count", [1, 4, 7, 8, 9, 33])
def test_tensorflows_difference_wraps_in_whole_vectors_of_4_alone(count: int) -> None:
    """127 + 2^31 is beyond int32. TensorFlow 2.21 is built for vectors of 128 bits."""
    case = case_of(BYTES, [127] * count, 2.0**-25, -(2**31), 1.0, 3)
    wrapped = count // 4 * 4
    assert answer(case) == [-61] * wrapped + [67] * (count - wrapped)
    run = next(run for cause, run in TESTED[OPERATOR].mistakes or () if cause.id == IN_VECTORS)
    assert run(case.node, *case.inputs)[0].tolist() == answer(case)


@pytest.mark.parametrize("axis", [0, 1])
def test_differences_of_slices_with_their_own_zero_points_do_not_wrap(axis: int) -> None:
    case = case_of(BYTES, np.full((8, 8), 127), [2.0**-25] * 8, [-(2**31)] * 8, 1.0, 3, input_quantization_axis=axis)
    run = next(run for cause, run in TESTED[OPERATOR].mistakes or () if cause.id == IN_VECTORS)
    assert run(case.node, *case.inputs)[0].tolist() == answer(case) == [[67] * 8] * 8


def test_tensorflow_rounds_upward_by_31_bits_in_int32() -> None:
    assert answer(case_of(BYTES, [1, 3, -1, -3], 0.5, 0, 1.0, 0)) == [1, 2, 0, -1]
    assert answer(case_of(TO_BYTE, [1191666688, -1191666688], 9e-8, 0, 1.1, 0)) == [97, -97]
    assert answer(case_of(TO_BYTE, [2147483647, -2147483648], 1.0, -1, 1.0, 0)) == [-128, -128]
    assert answer(case_of(TO_BYTE, [16777217], 1.0, 16777216, 1.0, 0)) == [0]


def test_tensorflow_refuses_scales_that_are_not_positive_and_an_output_of_32_bits() -> None:
    with pytest.raises(Unsupported, match="must be all positive"):
        answer(case_of(BYTES, [1], -1.0, 0, 1.0, 0))
    with pytest.raises(Unsupported, match="Could not find device"):
        answer(case_of(("int8", "int32"), [1], 1.0, 0, 1.0, 0))
