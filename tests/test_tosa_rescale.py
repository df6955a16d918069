"""tosa.RESCALE: numbers computed by hand, what INEXACT_ROUND allows, and causes of wrong backends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wrong_tosa_rescale as rescale
from causes_of_records import causes_of_records
from hypothesis import given, settings

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.chunk_judgement import judge_chunk
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.tosa_rescale_variants import MISTAKES
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, EXACT, WORKING

OPERATOR = rescale.OPERATOR
SINGLE, DOUBLE, INEXACT = "SINGLE_ROUND", "DOUBLE_ROUND", "INEXACT_ROUND"
HALF = (1 << 30, 31)
Run = Callable[..., tuple[rescale.Array, ...]]
BOXES = {box.name.removeprefix("rescale: "): box.run for box in rescale.WRONG}
# The wrong backend, the types of its vectors, and the cause of all that it gets wrong.
NAMED = (
    ("always once", ("int32", "int8"), "rounding-mode:SINGLE_ROUND"),
    ("always twice", ("int32", "int8"), "rounding-mode:DOUBLE_ROUND"),
    ("nudges upward always", ("int32", "int8"), "nudge-upward-always"),
    ("product in 32 bits", ("int32", "int8"), "product-wraps"),
    ("in float32", ("int32", "int32"), "scales-in:float32"),
    ("shift one more", ("int8", "int8"), "shift-moved:one more"),
    ("shift one less", ("int8", "int8"), "shift-moved:one less"),
    ("16 bits as upper half", ("int8", "int8"), "multiplier-in-upper-half"),
    ("multiplier of 15 bits", ("int32", "int16"), "factor-of-bits:15"),
    ("no input zero point", ("int8", "int16"), "ignores:the input zero point"),
    ("input zero point added", ("int8", "int16"), "adds-input-zero-point"),
    ("no output zero point", ("int16", "int8"), "ignores:the output zero point"),
    ("output zero point subtracted", ("int16", "int8"), "subtracts-output-zero-point"),
    ("difference wraps", ("int8", "int16"), "difference-wraps"),
    ("clamps before the zero point", ("int16", "int8"), "clamps-before-zero-point"),
    ("wraps", ("int16", "int8"), "wraps"),
    ("highest of the signed type", ("int16", "uint8"), "highest-of-signed"),
    ("saturates as signed", ("int16", "uint8"), "saturates-as-signed"),
    ("narrow range", ("int8", "int8"), "narrow-range"),
    ("unsigned read as signed", ("uint8", "int16"), "input-as-signed"),
    ("signed read as unsigned", ("int8", "int16"), "input-as-unsigned"),
    ("first channel for all", ("int8", "int8"), "factors-of:the first channel"),
    ("next channel", ("int8", "int8"), "factors-of:the next channel"),
    ("channels along the first axis", ("int8", "int8"), "factors-of:the index along the first axis"),
)


def case_of(
    values: Any, multiplier: Any, shift: Any, *, types: tuple[str, str] = ("int8", "int8"), mode: str = SINGLE,
    scale32: bool = True, points: tuple[int, int] = (0, 0), channels: bool = False,
) -> Case:  # fmt: skip
    attributes = {"scale32": scale32, "rounding_mode": mode, "per_channel": channels}
    node = make_node(OPERATOR, real=types[0], quantized=types[1], attributes=attributes)
    given = values, np.atleast_1d(multiplier), np.atleast_1d(shift), points[:1], points[1:]
    arrays = (np.array(one, np.int64).astype(kind.dtype) for one, kind in zip(given, node.inputs, strict=True))
    return Case("a", node, tuple(arrays), "typed")


def solved(case: Case, mode: str | None = None, *, working: bool = False) -> list[int | None]:
    """The results by the oracle, which the kernel has too; None where the document is silent."""
    (problem,) = problems_of(case)
    codes, states = oracle.solve(problem, working=working, mode=mode)
    for found, own in zip(kernel.solve(problem, working=working, mode=mode), (codes, states), strict=True):
        assert np.array_equal(found, own)
    return [None if state == UNDEFINED else code for code, state in zip(codes.tolist(), states.tolist(), strict=True)]


def test_rounding_once_takes_ties_upward() -> None:
    assert solved(case_of([5, 3, 1, -1, -3, -5], *HALF)) == [3, 2, 1, 0, -1, -2]


def test_rounding_twice_takes_small_negatives_away_from_zero_and_carries() -> None:
    """A quarter: 2 / 4 is a tie, which 2^30 / 2^32 more or less moves; 1 / 4 and 2^30 more is a tie, which goes up."""
    quarter = (1 << 30, 32)
    assert solved(case_of([1, 2, -1, -2, -3], *quarter)) == [0, 1, 0, 0, -1]
    assert solved(case_of([1, 2, -1, -2, -3], *quarter, mode=DOUBLE)) == [1, 1, 0, -1, -1]
    assert solved(case_of([1, -1, -3], *HALF, mode=DOUBLE)) == [1, 0, -1], "a shift of 31 rounds once"


def test_zero_points_are_of_the_difference_and_of_the_rounded_quotient() -> None:
    assert solved(case_of([-128, 127], 1 << 30, 30, types=("int8", "int16"), points=(127, 0))) == [-255, 0]
    assert solved(case_of([-128, 127], *HALF, points=(127, 100))) == [-27, 100]
    assert solved(case_of([0, 65535], 1 << 30, 30, types=("uint16", "int16"), points=(32768, 0))) == [-32768, 32767]


def test_a_negative_sum_becomes_either_end_where_the_output_is_unsigned() -> None:
    """apply_clip_u extends 32 bits with zeros by its letter, and clamps numbers by its name."""
    case = case_of([-128, -1, 0, 127], 3 << 29, 29, types=("int8", "uint8"))
    assert solved(case) == [0, 0, 0, 255]
    assert solved(case, working=True) == [255, 255, 0, 255]
    inexact = case_of([-128, 0, 4], 3 << 29, 29, types=("int8", "uint8"), mode="INEXACT_ROUND")
    assert solved(inexact, "ROUND_DOWN", working=True) == [None, 0, 12]


def test_each_channel_has_its_own_factors() -> None:
    case = case_of([[8, 8, 8], [9, 9, 9]], [1 << 30, 1 << 29, 3 << 29], [30, 31, 31], channels=True)
    assert solved(case) == [8, 2, 6, 9, 2, 7]


def test_a_multiplier_of_16_bits_allows_any_difference() -> None:
    assert solved(case_of([100], 1 << 14, 5, types=("int8", "int32"), scale32=False)) == [51200]
    assert solved(case_of([100], 1 << 14, 5, types=("int8", "int32"))) == [None], "100 is beyond 2^4"


@pytest.mark.parametrize(
    ("multiplier", "shift", "values"),
    [(-1, 30, [1]), (1 << 30, 1, [0]), (1 << 30, 63, [1]), (1 << 20, 5, [0, 16]), (1 << 20, 5, [-17])],
)
def test_one_requirement_that_does_not_hold_leaves_all_elements_open(
    multiplier: int, shift: int, values: list[int]
) -> None:
    assert solved(case_of(values, multiplier, shift)) == [None] * len(values)


def test_sums_beyond_32_bits_are_open() -> None:
    """Just below 2^30 times almost 2: a result of 2^31 - 3 or so, and a zero point of 127 more."""
    parts = {"types": ("int32", "int8"), "scale32": False}
    assert solved(case_of([1 << 30], 1 << 14, 13, **parts)) == [None]  # type: ignore[arg-type]
    assert solved(case_of([(1 << 30) - 8], 1 << 14, 13, points=(0, 127), **parts)) == [None]  # type: ignore[arg-type]
    assert solved(case_of([(1 << 30) - 80], 1 << 14, 13, points=(0, 127), **parts)) == [127]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("types", "points", "message"),
    [
        (("int16", "int8"), (1, 0), "input_zp 1 is not one of int16's: 0"),
        (("int8", "int32"), (0, 1), "output_zp 1 is not one of int32's: 0"),
        (("uint16", "int8"), (128, 0), "input_zp 128 is not one of uint16's: 0, 32768"),
    ],
)
def test_zero_points_that_types_cannot_have(types: tuple[str, str], points: tuple[int, int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        problems_of(case_of([1], *HALF, types=types, points=points))


@pytest.mark.parametrize("types", [("uint8", "uint8"), ("uint8", "int32"), ("int32", "uint16")])
def test_unsigned_types_stand_alone(types: tuple[str, str]) -> None:
    with pytest.raises(InvalidInput, match="unsigned is one of both at most"):
        case_of([1], *HALF, types=types)


def test_sixteen_bits_round_once_and_a_scalar_has_no_channels() -> None:
    with pytest.raises(InvalidInput, match="for scale32 alone"):
        case_of([1], 1 << 14, 15, scale32=False, mode=DOUBLE)
    with pytest.raises(InvalidInput, match="a scalar has none"):
        problems_of(case_of(1, *HALF, channels=True))
    with pytest.raises(InvalidInput, match=r"multiplier has shape \[2\], \[1\] is wanted"):
        problems_of(case_of([1], [1 << 30] * 2, [31] * 2))


def test_inexact_allows_both_neighbours_of_a_tie_and_one_integer_elsewhere() -> None:
    case = case_of([1, -3, 4], *HALF, mode=INEXACT)
    assert solved(case) == [1, -1, 2]
    assert solved(case, "ROUND_DOWN", working=True) == [0, -2, 2]
    assert solved(case, "ROUND_UP", working=True) == [1, -1, 2]
    truths = truths_of(case)
    assert judge_outputs((np.array([0, -1, 2], np.int8),), truths).grades.tolist() == [WORKING, EXACT, EXACT]
    assert judge_outputs((np.array([1, -2, 3], np.int8),), truths).grades.tolist() == [EXACT, WORKING, DEVIATES]


def test_inexact_allows_hundreds_of_integers_for_a_large_quotient() -> None:
    """2^30 is off by 4 * 2^-24 of itself and a half at most: 256."""
    case = case_of([1 << 29], 1 << 30, 29, types=("int32", "int32"), mode=INEXACT)
    assert solved(case) == [None], "2^29 is beyond 2^28"
    case = case_of([1 << 29], 1 << 30, 31, types=("int32", "int32"), mode=INEXACT)
    ends = [solved(case, mode, working=True) for mode in ("ROUND_DOWN", "ROUND_UP")]
    assert ends == [[(1 << 28) - 64], [(1 << 28) + 64]]
    assert judge_outputs((np.array([(1 << 28) + 65], np.int32),), truths_of(case)).grades.tolist() == [DEVIATES]


def test_a_chunk_judges_bounds_as_a_case_does() -> None:
    values = np.array([1, -3, 4], np.int8)
    pair = [case_of(values, *HALF, mode=mode) for mode in (SINGLE, INEXACT)]
    found = judge_chunk(Chunk(tuple(pair)), {0: (np.array([0, -1, 2], np.int8),), 1: (np.array([0, -2, 3], np.int8),)})
    assert found.judgement.grades.tolist() == [DEVIATES, EXACT, EXACT, WORKING, WORKING, DEVIATES]


def named(run: Run, types: tuple[str, str]) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    for case in indexed_cases(VECTORS / file_name(OPERATOR, *types)):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)


@pytest.mark.few(1)
@pytest.mark.parametrize(("box", "types", "key"), NAMED, ids=[box for box, *_ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, types: tuple[str, str], key: str) -> None:
    counts = named(BOXES[box], types)
    assert set(counts) == {sentence_of(key)}, counts


@pytest.mark.few(12)
@pytest.mark.parametrize(("cause", "run"), MISTAKES, ids=[cause.id for cause, _ in MISTAKES])
def test_a_mistake_differs_in_a_vector(cause: Any, run: Run) -> None:
    """Of some types: a cause that nothing shows could be given to nobody."""
    for types in rescale.ALL:
        for case in indexed_cases(VECTORS / file_name(OPERATOR, *types)):
            try:
                with np.errstate(all="ignore"):
                    outputs = run(case.node, *case.inputs)
            except (ValueError, NotImplementedError):
                continue
            if judge_outputs(outputs, truths_of(case)).count(DEVIATES):
                return
    raise AssertionError(f"no vector shows {cause.id}")


@pytest.mark.parametrize("right", [rescale.in_int64, rescale.in_doubles])
def test_right_backends_conform_to_what_is_drawn(right: Run) -> None:
    @settings(max_examples=60, deadline=None)
    @given(cases(operator=OPERATOR))
    def check(case: Case) -> None:
        with np.errstate(all="ignore"):
            outputs = right(case.node, *case.inputs)
        assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0

    check()


def test_doubles_stay_within_the_bounds_of_every_vector() -> None:
    graded: Counter[int] = Counter()
    for types in rescale.ALL:
        for case in indexed_cases(VECTORS / file_name(OPERATOR, *types)):
            if case.node.value("rounding_mode") == INEXACT:
                outputs = rescale.in_doubles(case.node, *case.inputs)
                graded.update(judge_outputs(outputs, truths_of(case)).grades.tolist())
    assert graded[DEVIATES] == 0 and graded[WORKING] > 300
