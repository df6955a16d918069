"""What a piece of a sweep must give: the fast judge against the ordinary one; folding into intervals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep_support import half_space

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.judging.truths import kernel_truth
from tiebreak.conformance.sweep.blocks import judge_block
from tiebreak.conformance.sweep.choosing import judge_for
from tiebreak.conformance.sweep.intervals import MOST_KEPT, Folded, fold, join_folded
from tiebreak.conformance.sweep.job import space_of
from tiebreak.conformance.sweep.look import PieceGrades, WrongRuns
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.golden import oracle
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.kernel import MODES
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, Array
from tiebreak.golden.space import Space, space_from
from tiebreak.golden.verdicts import DEVIATES, EXACT, GRADES, WORKING

SPACES: dict[str, tuple[Selection, int]] = {
    "plain": (
        Selection(("onnx.QuantizeLinear",), {}, "float32", "uint8", inputs={"y_scale": "0.1", "y_zero_point": "3"}),
        0x41000000,
    ),
    "silent beyond the range": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_UP", "axes": []},
            "float32",
            "int8",
            inputs={"scale": "0.1", "zero_point": "3"},
        ),
        0xC1400000,
    ),
    "wide": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_DOWN", "axes": []},
            "float32",
            "int32",
            inputs={"scale": "-3e-41", "zero_point": "-7"},
        ),
        0x07000000,
    ),
    "int16": (
        Selection(("onnx.QuantizeLinear",), {}, "float32", "int16", inputs={"y_scale": "0.1", "y_zero_point": "-3"}),
        0x45400000,
    ),
    "uint16": (
        Selection(("onnx.QuantizeLinear",), {}, "float32", "uint16", inputs={"y_scale": "0.3", "y_zero_point": "7"}),
        0x46980000,
    ),
    "int32": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_NEAREST_TOWARD_EVEN", "axes": []},
            "float32",
            "int32",
            inputs={"scale": "0.1", "zero_point": "5"},
        ),
        0x4D480000,
    ),
    "bfloat16": (
        Selection(("onnx.QuantizeLinear",), {}, "bfloat16", "int4", inputs={"y_scale": "0.1", "y_zero_point": "-2"}),
        0,
    ),
    "every scale": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_NEAREST_UPWARD", "axes": []},
            "float16",
            "uint8",
            inputs={"zero_point": "200"},
        ),
        15360 << 16,
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SPACES)
def test_the_fast_judge_judges_as_any_case_is_judged(name: str) -> None:
    selection, at = SPACES[name]
    space = space_of(selection)
    size = min(1 << 20, space.patterns)
    random, solving, fast = np.random.default_rng(5), SolvingJudge(space), judge_for(space)
    assert type(fast).__name__ == "FastJudge"
    case, problem = solving.case_and_problem(np.arange(at, at + size))
    output = kernel_truth(case, [problem], case.node.modes[0]).working.astype(numpy_dtype(space.node.output_type))
    where = random.integers(0, output.size, 500)
    output[where] = random.permutation(output)[where]
    for judge_output in (output, output[::-1].copy()):
        one, other = PieceGrades(), PieceGrades()
        for judge, look in ((fast, one), (solving, other)):
            judge.look(at, judge_output, look)
            judge.look_at_modes(at, judge_output, look)
        assert one.counts.tolist() == other.counts.tolist()
        assert one.differ.tolist() == other.differ.tolist()
        assert sorted_wrong(one) == sorted_wrong(other)
        assert one.counts[DEVIATES] > 0


@pytest.mark.parametrize("name", [name for name in SPACES if name != "every scale"])
def test_a_block_of_one_result_is_judged_as_if_each_were_stored(name: str) -> None:
    """About the input whose result first differs from that of the smallest, of the largest, and of either sign."""
    space = space_of(SPACES[name][0])
    solving, fast, size = SolvingJudge(space), judge_for(space), 1 << 13
    seen = set()
    for sign in (0, space.patterns // 2):
        for least in (True, False):
            result, edge = edge_of(space, solving, sign, least)
            for at in (edge - size, edge - size + 1, edge - 1, edge, edge - size // 2):
                at = max(sign, min(at, sign + space.patterns // 2 - size))
                solid = np.broadcast_to(np.array([result], numpy_dtype(space.node.output_type)), size)
                one, other = PieceGrades(), PieceGrades()
                for judge, output, look in ((fast, solid, one), (solving, solid.copy(), other)):
                    judge.look(at, output, look)
                    judge.look_at_modes(at, output, look)
                assert one.counts.tolist() == other.counts.tolist()
                assert one.differ.tolist() == other.differ.tolist()
                assert sorted_wrong(one) == sorted_wrong(other)
                seen.add((int(one.counts[EXACT]) == size, bool(one.counts[DEVIATES])))
    assert {(True, False), (False, True)} <= seen


def edge_of(space: Space, solving: SolvingJudge, sign: int, least: bool) -> tuple[int, int]:
    """The right result of the smallest or the largest input of a sign, and the first or last input with another one."""

    def right(at: int) -> int:
        case, problem = solving.case_and_problem(np.array([at]))
        return int(kernel_truth(case, [problem], case.node.modes[0]).exact[0])

    finite = space.node.real.infinity_bits - 1
    near, far = (sign, sign + finite) if least else (sign + finite, sign)
    result = right(near)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if right(middle) == result else (near, middle)
    return result, far


@pytest.mark.parametrize("name", ["int16", "uint16", "int32", "wide", "silent beyond the range"])
def test_the_fast_judge_agrees_with_the_oracle(name: str) -> None:
    """Anywhere, next to the edges and to ties: what the oracle gives is right, and what is near it is graded alike."""
    space = space_of(SPACES[name][0])
    random, solving, fast, size = np.random.default_rng(11), SolvingJudge(space), judge_for(space), 16
    edges = [edge_of(space, solving, sign, least)[1] for sign in (0, 1 << 31) for least in (True, False)]
    most = np.iinfo(numpy_dtype(space.node.output_type)).max // 2
    ties = ((random.integers(0, most, 40) + 0.5) * abs(float(space.others[0]))).astype(np.float32).view(np.uint32)
    ordinary = np.concatenate([ties, random.integers(0x3D000000, 0x50000000, 24)]).astype(np.int64)
    ordinary += random.integers(0, 2, ordinary.size) << 31
    places = [*edges, *ordinary, *random.integers(size, space.patterns - size, 8)]
    seen = np.zeros(len(GRADES), np.int64)
    for at in (max(0, int(place) - size // 2) for place in places):
        _, problem = solving.case_and_problem(np.arange(at, at + size))
        exact, working = (oracle.solve(problem, working=form) for form in (False, True))
        for codes in (exact[0], working[0], exact[0] + 1):
            output = codes.astype(numpy_dtype(space.node.output_type))
            found, by_mode = PieceGrades(), PieceGrades()
            fast.look(at, output, found)
            fast.look_at_modes(at, output, by_mode)
            wanted = grades_by_oracle(output.astype(np.int64), exact, working, space)
            assert found.counts.tolist() == wanted.tolist()
            assert by_mode.differ[MODES.index(space.node.modes[0])] == wanted[DEVIATES]
            seen += wanted
    assert min(seen[EXACT], seen[DEVIATES]) > 100 and seen[WORKING] > 0


def grades_by_oracle(got: Array, exact: tuple[Array, Array], working: tuple[Array, Array], space: Space) -> Array:
    """How many elements have each grade, from both forms' results and states."""
    silent = (UNDEFINED,) if get_operator(space.node.operator).saturates else (UNDEFINED, OUT_OF_RANGE)
    by_exact, by_working = (~np.isin(states, silent) for _, states in (exact, working))
    right = by_exact & (got == exact[0])
    rounded = by_exact & by_working & (got == working[0]) & ~right
    unsaid = ~(by_exact & by_working) & ~right
    other_order = np.zeros_like(right)  # the document says how it divides
    grades = (right, rounded, other_order, unsaid, ~(right | rounded | unsaid))
    return np.array([*map(np.count_nonzero, grades)])


def sorted_wrong(look: PieceGrades) -> list[tuple[int, ...]]:
    return sorted(tuple(map(int, row)) for part in look.wrong for row in zip(*part, strict=True))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 80), max_size=60, unique=True), st.integers(1, 5))
def test_folding_in_parts_is_folding_at_once(numbers: list[int], parts: int) -> None:
    """Also over the ends of blocks; never over a sign or into NaNs."""
    space = half_space(y_scale="1", y_zero_point="0")
    at = np.sort(np.array([0x7BE0 + n for n in numbers], np.int64))
    wrong = [WrongRuns(at, at, at % 7, at % 5)]
    whole = fold(space, wrong)
    cuts = np.array_split(at, parts)
    found = join_folded(space, [fold(space, [WrongRuns(cut, cut, cut % 7, cut % 5)]) for cut in cuts])
    assert found.described() == whole.described()
    assert sum(interval.inputs for interval in whole.kept) == len(numbers)
    for interval in whole.kept:
        assert not interval.first < 0x7C00 <= interval.last  # infinity
        assert not interval.first <= 0x7C00 < interval.last  # NaNs
    assert whole.count == len(whole.kept) == sum(1 for n in at if n - 1 not in at or n in (0x7C00, 0x7C01))


def test_of_many_intervals_all_are_counted_and_the_first_are_kept() -> None:
    space = half_space(y_scale="1", y_zero_point="0")
    at = np.arange(0, 20000, 2)
    halves = [fold(space, [WrongRuns(part, part, part, part)]) for part in (at[:7000], at[7000:])]
    found = join_folded(space, halves)
    assert found.count == 10000 and len(found.kept) == MOST_KEPT
    assert found.last is not None and found.last.first == 19998
    assert join_folded(space, [found, Folded()]).described() == found.described()


def test_a_block_goes_through_json_unchanged() -> None:
    from tiebreak.adapters.sweeping import BlockAnswer
    from tiebreak.conformance.sweep.blocks import block_from

    space = half_space(y_scale="0.1", y_zero_point="0")
    output = np.random.default_rng(1).integers(0, 255, 1 << 16, np.uint8)
    block = judge_block(space, judge_for(space), BlockAnswer(0, "ok", output, 0.5), all_modes=True)
    assert block.counts[DEVIATES] > 1000 and min(block.differ) > 1000
    assert block_from(json.loads(json.dumps(block.described()))) == block


def test_every_scale_comes_once_with_every_input() -> None:
    space = half_space(y_zero_point="1")
    assert space.inputs == 65536 * 31743
    scales = [int(space.other_inputs(n << 16)[0].view(np.uint16)) for n in (0, 1, 31742)]
    assert scales == [1, 2, 0x7BFF]
    assert space.first_input(5 << 16, 1 << 16).view(np.uint16).tolist() == list(range(1 << 16))
    last = space.pieces(space.blocks - 1)
    assert last[-1] + space.piece == space.inputs


def test_a_description_of_something_else_is_refused() -> None:
    good = half_space(y_scale="1", y_zero_point="0").described()
    for change in ({"inputs": [["y_scale", "float32", [], [1]]]}, {"block": 12345}, {"node": "{}"}, {"inputs": 3}):
        with pytest.raises(InvalidInput):
            space_from({**good, **change})


def test_a_node_whose_forms_leave_the_range_far_apart() -> None:
    """In float16 the quotient overflows at 65,520; the exact one stays in range of 32 bits up to the largest input."""
    attributes = {"round_mode": "ROUND_TOWARD_ZERO", "axes": []}
    inputs = {"scale": "0x2d3e", "zero_point": "0"}
    space = space_of(Selection(("ngraph.Quantize",), attributes, "float16", "uint32", inputs=inputs))
    case, problem = SolvingJudge(space).case_and_problem(np.arange(1 << 16))
    output = kernel_truth(case, [problem], "ROUND_TOWARD_ZERO").exact.astype(np.uint32)
    looks = PieceGrades(), PieceGrades()
    judge_for(space).look(0, output, looks[0])
    SolvingJudge(space).look(0, output, looks[1])
    assert looks[0].counts.tolist() == looks[1].counts.tolist()
    assert looks[0].counts[EXACT] > looks[0].counts[WORKING] and looks[0].counts[DEVIATES] == 0


def test_numbers_are_vectors_of_one_where_an_operator_takes_no_scalars() -> None:
    asked = Selection(("paddle.QuantizeLinear",), {"quant_axis": -1}, inputs={"Scale": "3", "ZeroPoint": "0"})
    space = space_of(asked)
    assert [array.tolist() for array in space.others] == [[3.0], [0.0]]
    with pytest.raises(InvalidInput, match="Scale has shape"):
        space_of(Selection(("paddle.QuantizeLinear",), {"quant_axis": 0}, inputs={"Scale": "3", "ZeroPoint": "0"}))
