"""The judge of steps against the one that solves every input: whole 16-bit types, and blocks of float32."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sweep_support import half_space

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep import choosing
from tiebreak.conformance.sweep.choosing import judge_for
from tiebreak.conformance.sweep.intervals import fold
from tiebreak.conformance.sweep.job import space_of
from tiebreak.conformance.sweep.look import Judge, PieceGrades
from tiebreak.conformance.sweep.repeating import RepeatingJudge
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.conformance.sweep.steps import MOST_RUNS, StepJudge
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT8, INT2, INT4
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.samples.onnx_cast import attributes_for
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import DEVIATES, EXACT, GRADES, OTHER_ORDER

RANGE = {"input_low": "-1", "input_high": "1.5", "output_low": "-1", "output_high": "1.5"}
REVERSED = {"input_low": "2", "input_high": "-1", "output_low": "1e-20", "output_high": "-3"}
TENSORFLOW = {"min_range": "-1.5", "max_range": "6"}
FAKE = "openvino.FakeQuantize"
SPACES = {
    "float8": Selection(
        ("onnx.QuantizeLinear",), {}, output_type="float8_e5m2", inputs={"y_scale": "0.1", "y_zero_point": "0"}
    ),
    "float4": Selection(
        ("onnx.QuantizeLinear",), {}, output_type="float4_e2m1fn", inputs={"y_scale": "-0.3", "y_zero_point": "0"}
    ),
    "precision": Selection(
        ("onnx.QuantizeLinear",),
        {"precision": "float16"},
        output_type="int16",
        inputs={"y_scale": "0.1", "y_zero_point": "7"},
    ),
    "fake": Selection((FAKE,), {"levels": 256}, inputs=RANGE),
    "fake reversed": Selection((FAKE,), {"levels": 5}, inputs=REVERSED),
    "fake with one limit": Selection((FAKE,), {"levels": 2}, inputs={**RANGE, "input_low": "1.5"}),
    "fake quant": Selection(("tensorflow.FakeQuantWithMinMaxVars",), {}, inputs={"min": "-1", "max": "0.3"}),
    "fake quant above": Selection(
        ("tensorflow.FakeQuantWithMinMaxVarsPerChannel",),
        {"narrow_range": True, "num_bits": 4},
        inputs={"min": "[2]", "max": "[3]"},
    ),
    "and back": Selection(
        ("tensorflow.QuantizeAndDequantizeV4",),
        {"range_given": True},
        inputs={"input_min": "-1", "input_max": "3"},
    ),
    **{
        f"v2 {mode} {element}": Selection(
            ("tensorflow.QuantizeV2",), {"mode": mode, "T": element}, output_type=element, inputs=TENSORFLOW
        )
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        for element in ("uint8", "int8")
    },
}


def cast_space(source: str, target: str, attributes: dict[str, Any]) -> Space:
    return space_of(Selection(("onnx.Cast",), {"to": target, **attributes}, source, target))


def assert_judged_alike(judge: Judge, solving: SolvingJudge, at: int, output: Array) -> PieceGrades:
    one, other = PieceGrades(), PieceGrades()
    for found, look in ((judge, one), (solving, other)):
        found.look(at, output, look)
        found.look_at_modes(at, output, look)
    assert one.counts.tolist() == other.counts.tolist()
    assert one.differ.tolist() == other.differ.tolist()
    space = solving.space
    assert json.dumps(fold(space, one.wrong).described()) == json.dumps(fold(space, other.wrong).described())
    return one


def right_results(solving: SolvingJudge, at: int, size: int) -> Array:
    codes = solving.truths(np.arange(at, at + size), solving.modes[:1]).judged_by.working
    return array_of(solving.space.node.output_type, codes.shape, codes)


def outputs(right: Array, seed: int) -> list[Array]:
    """Right results, some of them elsewhere, in the wrong order, and one of them throughout."""
    random, some = np.random.default_rng(seed), right.copy()
    places = random.integers(0, right.size, 20)
    some[places] = right[random.permutation(places)]
    return [right, some, right[::-1].copy(), np.broadcast_to(right[:1], right.shape)]


@pytest.mark.few(6)
@pytest.mark.parametrize("target", [*FLOAT8, *E8M0, *FLOAT4, *INT4, *INT2])
@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_casts_of_all_inputs_are_judged_one_as_the_other(source: str, target: str) -> None:
    seen = np.zeros(len(GRADES), np.int64)
    for attributes in attributes_for(target):
        space = cast_space(source, target, attributes)
        solving = SolvingJudge(space)
        for output in outputs(right_results(solving, 0, space.patterns), 3):
            seen += assert_judged_alike(StepJudge(space, solving), solving, 0, output).counts
    assert min(seen[EXACT], seen[DEVIATES]) > 1000


@pytest.mark.parametrize("name", ["fake", "fake quant", "v2 MIN_FIRST uint8"])
def test_a_run_is_cut_where_its_result_stops_being_that_of_another_order(name: str) -> None:
    """Every result stands a few inputs later than it is right: the first of these are another order's."""
    space, size = space_of(SPACES[name]), 1 << 12
    solving, steps = SolvingJudge(space), judge_for(space)
    assert isinstance(steps, StepJudge)
    seen = np.zeros(len(GRADES), np.int64)
    for block in (253, 255, 765, 767):
        at = int(steps_of(steps, block)[-1]) - size // 2
        right = right_results(solving, at, size)
        for later in (1, 2, 30, -1, -2, -30):
            seen += assert_judged_alike(steps, solving, at, np.roll(right, later)).counts
    assert min(seen[OTHER_ORDER], seen[DEVIATES]) > 3


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SPACES)
def test_blocks_of_float32_are_judged_one_as_the_other(name: str) -> None:
    """Around a step of each sign that has one, at other inputs' values, infinity and NaN, and anywhere."""
    space, size, random = space_of(SPACES[name]), 1 << 12, np.random.default_rng(5)
    solving, steps = SolvingJudge(space), judge_for(space)
    assert isinstance(steps, StepJudge)
    near = [random.choice(found) for block in (253, 255, 256, 765, 767, 768) for found in [steps_of(steps, block)]]
    places = [*near, *random.choice(steps.fixed, 4), 0x7F800000, 0xFF800000, *random.integers(0, space.patterns, 4)]
    seen = np.zeros(len(GRADES), np.int64)
    for number, place in enumerate(places):
        at = min(max(0, int(place) - size // 2), space.patterns - size)
        for output in outputs(right_results(solving, at, size), number):
            seen += assert_judged_alike(steps, solving, at, output).counts
    assert min(seen[EXACT], seen[DEVIATES]) > 100


def steps_of(judge: StepJudge, block: int) -> Array:
    found = judge.steps(block << 22, 1 << 22, judge.solving.modes)
    assert found is not None
    return found


def test_the_steps_of_a_cast_are_those_of_the_type() -> None:
    """Numbers from 1 up to 2 have nine values in float8_e4m3fn; halfway between two is the even one."""
    space = cast_space("float32", "float8_e4m3fn", {})
    found = StepJudge(space, SolvingJudge(space)).steps(0x3F800000, 1 << 23, ("",))
    assert found is not None
    values = found.astype(np.uint32).view(np.float32)[np.isin(found, range(0x3F800000, 0x3F800000 + (1 << 23)))]
    ties = (1 + (np.arange(8) + 0.5) / 8).astype(np.float32)
    firsts = np.where(np.arange(8) % 2 == 0, np.nextafter(ties, np.float32(2)), ties)
    assert values.tolist() == [1.0, *firsts.tolist()]


def test_a_result_of_every_kind_is_solved_input_by_input() -> None:
    """Results without runs, and right answers without steps: a judge of steps gives up, and judges all the same."""
    space, at, size = cast_space("float32", "float8_e4m3fn", {}), 0x3F800000, 1 << 17
    solving = SolvingJudge(space)
    steps = StepJudge(space, solving)
    noise = np.random.default_rng(2).integers(0, 255, size, np.uint8).view(space.node.outputs[0].dtype)
    assert steps.runs(at, noise, solving.modes) is None
    assert assert_judged_alike(steps, solving, at, noise).counts[DEVIATES] > size // 2
    wide = space_of(Selection((FAKE,), {"levels": (1 << 24) + 2}, inputs=RANGE))
    solving, many = SolvingJudge(wide), 4 * MOST_RUNS
    assert StepJudge(wide, solving).steps(0x3F400000, many, solving.modes) is None
    assert_judged_alike(StepJudge(wide, solving), solving, 0x3F400000, right_results(solving, 0x3F400000, many))


def test_only_monotone_nodes_with_many_inputs_are_judged_by_steps() -> None:
    for source, target in (("float32", "int4"), ("int32", "float8_e4m3fn"), ("uint32", "float4_e2m1fn")):
        assert isinstance(judge_for(cast_space(source, target, {})), StepJudge)
    assert isinstance(judge_for(cast_space("int32", "uint4", {})), RepeatingJudge)
    assert not isinstance(judge_for(half_space(y_scale="1")), StepJudge)
    tiny = {"min_range": "0", "max_range": "1e-38"}
    overflowing = Selection(("tensorflow.QuantizeV2",), {"mode": "SCALED", "T": "uint8"}, inputs=tiny)
    assert isinstance(judge_for(space_of(overflowing)), SolvingJudge)


@pytest.mark.few(2)
@pytest.mark.parametrize("target", [*FLOAT8, *E8M0, *FLOAT4, *INT4, *INT2])
@pytest.mark.parametrize("source", ["int32", "uint32"])
def test_casts_of_whole_numbers_are_judged_one_as_the_other(source: str, target: str) -> None:
    """Around zero, the largest values of float 8, the ends of the type, and a power of two beyond float32's 24 bits."""
    seen, size = np.zeros(len(GRADES), np.int64), 1 << 18
    for attributes in attributes_for(target):
        space = cast_space(source, target, attributes)
        solving, judge = SolvingJudge(space), judge_for(space)
        for at in (0, 1 << 26, (1 << 31) - size, 1 << 31, space.patterns - size):
            for output in outputs(right_results(solving, at, size), at % 7):
                seen += assert_judged_alike(judge, solving, at, output).counts
    assert min(seen[EXACT], seen[DEVIATES]) > 100


def test_parts_that_repeat_are_compared_with_their_own_results() -> None:
    """The second part has one result other than the first, the third is as the first, the fourth wrong throughout."""
    space = cast_space("int32", "uint4", {})
    solving, judge = SolvingJudge(space), judge_for(space)
    assert isinstance(judge, RepeatingJudge)
    output = right_results(solving, 0, 1 << 20)
    quarter = output.size // 4
    output[quarter + 5] = output[5] ^ 1
    output[3 * quarter :] = output[3 * quarter :] ^ 2
    assert assert_judged_alike(judge, solving, 0, output).counts[DEVIATES] == 1 + quarter


def test_answers_that_are_no_steps_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers wrap when they are cast to fewer bits: every sixteenth is the same."""
    monkeypatch.setattr(choosing, "in_steps", lambda problem, space: True)
    space = cast_space("int32", "uint4", {})
    with pytest.raises(MachineryFailed, match=r"steps are not the kernel's|disagree"):
        judge_for(space)
