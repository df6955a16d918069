"""Sweeps of every scale: right backends are never accused, wrong ones always, with exact counts."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sample_scale_backends as samples

from tiebreak.adapters.sweeping import BlockAnswer
from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep import scale_judging
from tiebreak.conformance.sweep.scale_blocks import ScaleBlock, scale_block_from
from tiebreak.conformance.sweep.scale_certificate import ScaleResult, chained, together
from tiebreak.conformance.sweep.scale_judging import ScaleJudge
from tiebreak.conformance.sweep.scale_plan import LINES, SAMPLE, parts_of, scale_space
from tiebreak.conformance.sweep.scale_sweeper import ScaleSweeper
from tiebreak.golden import kernel
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import MachineryFailed, NotMonotone
from tiebreak.golden.problem import Quantization
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.scale_space import LinePart, ScalePart, ScaleSpace, scale_space_from
from tiebreak.golden.thresholds import LARGEST, exact_row, patterns_at, places_of, thresholds_of, working_thresholds

BOXES = Path(samples.__file__)
STRETCH = LinePart("every x with scale, from 2 to 3 steps", LINES[0], 0x40000000, 0x40600000)


def space(kind: str = "uint8", zero_point: int = 128, *, along_axis: bool = True, significands: int = 64) -> ScaleSpace:
    """Few significands at some exponents, and every x only from 2 to 3.5."""
    inputs = {"y_zero_point": str(zero_point)}
    selection = Selection(("onnx.QuantizeLinear",), {}, "float32", kind, 0, inputs)
    found = scale_space(selection, significands, along_axis=along_axis)
    parts = [part for part in found.parts if isinstance(part, ScalePart)]
    parts = [*parts[:4], *parts[4::12]]
    one = ScalePart("with the one scale", samples.SCALE - 7, 1, 15)
    return replace(found, parts=(*parts, one, STRETCH))


def swept(name: str, of: ScaleSpace) -> list[ScaleBlock]:
    with closing(ScaleSweeper(f"{BOXES}:{name}", of, pinned=False)) as sweeper:
        return list(sweeper.sweep(range(of.blocks)))


@pytest.mark.parametrize("name", samples.RIGHT)
@pytest.mark.parametrize(("kind", "zero_point"), [("uint8", 128), ("uint8", 0), ("int8", -128), ("int8", 7)])
def test_a_right_backend_is_never_accused(name: str, kind: str, zero_point: int) -> None:
    of = space(kind, zero_point)
    total = together(swept(f"{name}_box", of))
    assert (total["wrong"], total["differing"], total["pairs"]) == (0, 0, 0)
    assert total["asked"] == of.inputs and total["worst"]["pairs"] == 0
    assert bool(total["working"]) == (name == "quotient")  # in double no quotient is rounded to a tie


@pytest.mark.parametrize("kind", ["int16", "uint16"])
def test_sixteen_bits(kind: str) -> None:
    of = replace(space(kind, 32768 if kind == "uint16" else 0), parts=(ScalePart("normal range", 0x3F800001, 999, 70),))
    assert together(swept("quotient_box", of))["wrong"] == 0
    wrong = together(swept("reciprocal_box", of))
    assert 60 <= wrong["differing"] <= 70 and 1 <= wrong["located"] < 60 and wrong["pairs"] >= wrong["wrong"] > 100_000


@pytest.mark.parametrize("name", samples.WRONG)
def test_a_wrong_backend_is_caught(name: str) -> None:
    of = space()
    blocks = swept(f"{name}_box", of)
    total = together(blocks)
    assert total["wrong"] > 0 and total["differing"] > 0 and total["pairs"] >= total["wrong"] // 3
    assert int(total["worst"]["scale"], 16) > 0 and total["worst"]["pairs"] > 0 < total["farthest"]["places"]


def test_one_wrong_scale_is_named_and_no_other() -> None:
    total = together(swept("one_scale_box", space()))
    assert (total["differing"], total["located"], int(total["worst"]["scale"], 16)) == (1, 1, samples.SCALE)


def test_subnormal_scales_are_a_part_of_their_own() -> None:
    of = space()
    parts = ScaleResult(of, {}, swept("subnormal_scales_box", of), 1.0).described_parts()
    assert parts["subnormal"]["differing"] == 64
    assert all(part["wrong"] == 0 for name, part in parts.items() if name != "subnormal")


def test_what_depends_on_the_exponent_shows() -> None:
    of = space()
    small = ["-114", "-102", "-90", "-78"]  # 1e-30 is less than half a unit in the last place of larger scales
    for name, other in (("quotient_box", []), ("reciprocal_box", []), ("with_epsilon_box", small)):
        assert ScaleResult(of, {}, swept(name, of), 1.0).invariance() == {"compared": 21, "other": other}


@pytest.mark.parametrize("name", samples.BACK)
def test_what_goes_back_is_told_with_its_inputs(name: str) -> None:
    with pytest.raises(NotMonotone, match=r"with scale \S+ \(0x[0-9a-f]{8}\), x = \S+ \(0x[0-9a-f]{8}\) gives \d+ and"):
        swept(f"{name}_box", space())


def every_pair(of: ScaleSpace, name: str, scales: np.ndarray) -> int:
    """How many x a backend has wrong with these scales, by asking for every one near a threshold."""
    steps = np.arange(of.first_step, of.first_step + of.codes - 1)
    run = samples.__dict__[f"{name}_box"].compile(of.node)
    found = 0
    for scale in scales:
        near = thresholds_of(np.full(steps.size, scale), steps)[:, None] + np.arange(-300, 300)
        x = patterns_at(np.unique(near.clip(-LARGEST, LARGEST)))[None, :]
        one = np.array([scale], np.uint32)
        zero_points = np.array([of.zero_point])
        problem = Quantization(FLOAT_TYPES["float32"], of.result, EVEN, (0,), x, one, zero_points)
        right = [kernel.quantize(problem, working=form)[0] for form in (False, True)]
        dtype = of.node.outputs[0].dtype
        got = run(x.view(np.float32), one.view(np.float32), zero_points.astype(dtype))[0].astype(np.int64)
        found += int(((got != right[0]) & (got != right[1])).sum())
    return found


@pytest.mark.parametrize("name", ["reciprocal", "zero_point_first", "fused", "away"])
def test_pairs_are_counted_exactly(name: str) -> None:
    part = ScalePart("normal range", 0x3F800077, 104729, 9)
    of = replace(space(zero_point=13), parts=(part,))
    (block,) = swept(f"{name}_box", of)
    assert block.located == block.differing > 0
    assert block.pairs == block.located_pairs == every_pair(of, name, of.scales_in(0)) > 0


def test_subnormal_thresholds_are_located_too() -> None:
    of = replace(space(), parts=(ScalePart("subnormal", 1, 1, 300), ScalePart("highest", 0x7F7FFF00, 1, 200)))
    for name in ("quotient_box", "double_box"):
        assert together(swept(name, of))["wrong"] == 0
    wrong = together(swept("away_box", of))
    assert wrong["differing"] > 300 and wrong["located"] > 100 and wrong["pairs"] > 0


def test_a_truncated_quotient_is_half_a_step_off() -> None:
    """Its thresholds are found from afar: none is a power of two of places away."""
    of = replace(space(zero_point=0), parts=(ScalePart("normal range", 0x3F812345, 1, 1),))
    (block,) = swept("truncated_box", of)
    steps, scale = np.arange(0, 255), np.uint32(0x3F812345).view(np.float32)
    near = places_of(((steps + 1).astype(np.float32) * scale).view(np.uint32))[:, None] + np.arange(-3, 4)
    own = near[:, 0] + (patterns_at(near).view(np.float32) / scale < (steps + 1)[:, None]).sum(axis=1)
    at = np.full(255, 0x3F812345), steps
    off = own - np.maximum(thresholds_of(*at), working_thresholds(*at))
    assert block.pairs == int(off.sum()) and block.worst.places == int(off.max()) > 1 << 22


def test_an_x_between_several_moved_thresholds_is_counted_once() -> None:
    of = replace(space(), parts=(ScalePart("normal range", 0x3F800000, 1, 1),))
    (block,) = swept("two_more_box", of)
    first, last = thresholds_of(np.full(2, 0x3F800000), np.array([-130, 126])).tolist()
    assert block.pairs == last - first  # all but what gets an end of the range in either way


def test_a_crash_of_a_backend_that_is_asked_again_costs_the_block_that_was_asked_for() -> None:
    of = space()
    blocks = {block.number: block for block in swept("again_box", of)}
    assert sorted(blocks) == list(range(of.blocks))
    (faulty,) = (number for number, block in blocks.items() if block.fault)
    assert of.part_of(faulty).name == "with the one scale" and "SIGABRT" in blocks[faulty].fault


@pytest.mark.parametrize("name", ["crash_box", "wrong_and_crash_box"])
def test_a_crash_costs_a_block_and_no_other(name: str) -> None:
    """Blocks before it that need more questions are asked again."""
    of = space()
    blocks = swept(name, of)
    faulty = {of.part_of(block.number).name for block in blocks if block.fault}
    assert faulty == {"highest exponent"} and "SIGABRT" in next(block.fault for block in blocks if block.fault)
    assert sorted(block.number for block in blocks) == list(range(of.blocks))


def test_a_checksum_is_of_all_that_is_not_certain() -> None:
    of = replace(space(), parts=(ScalePart("normal range", 0x3F800003, 77, 5),))
    judge, row = ScaleJudge(of), exact_row(of.first_step, 0, 256).astype(np.uint8)

    def told(*changes: tuple[int, int]) -> bytes:
        codes = np.tile(row, (5, 1))
        for column, code in changes:
            codes[2, column] = code
        return judge.judge(BlockAnswer(0, "ok", codes.reshape(-1))).telling.tobytes()

    tops = [(column, int(row[column]) ^ 1) for column in (0, 300, 600, 765, 766, 767)]
    found = [told(), *(told(change) for change in tops), told(*tops)]
    assert len(set(found)) == len(found) and told() == told()
    assert len(told()) == 5 * 255


def test_a_rule_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    of = replace(space(), parts=(ScalePart("normal range", 0x3F800003, 77, 5),))
    with monkeypatch.context() as patch:
        patch.setattr(scale_judging, "exact_row", lambda *asked: exact_row(*asked).clip(0, 254))
        with pytest.raises(MachineryFailed, match="two ways to judge"):
            ScaleJudge(of)
    monkeypatch.setattr(scale_judging, "grade_asked", lambda *asked: 0)
    with pytest.raises(MachineryFailed, match="two ways to judge"):
        ScaleJudge(of)


def test_checksums_are_chained() -> None:
    of = replace(space(), parts=(ScalePart("normal range", 0x3F800000, 1, 30000), STRETCH))
    blocks = [ScaleBlock(number, sha256=f"{number:064x}") for number in range(of.blocks)]
    changed = [*blocks[:2], replace(blocks[2], sha256="f" * 64), *blocks[3:]]
    before, after = chained(of, blocks), chained(of, changed)
    differ = [one != other for one, other in zip(before, after, strict=True)]
    assert differ == [number >= 2 for number in range(of.blocks)]
    then = ["0" * 64, *(row[2] for row in before)]
    own = [one != other for one, other in zip(before, chained(of, changed, lambda number: then[number]), strict=True)]
    assert own == [number == 2 for number in range(of.blocks)]


def test_a_block_and_a_space_go_through_plain_data() -> None:
    of = space()
    assert scale_space_from(of.described()) == of
    block = replace(swept("reciprocal_box", replace(of, parts=of.parts[:1]))[0], seconds=1.5)
    assert scale_block_from(block.described()) == block


def test_a_whole_sweep_has_each_scale_of_the_normal_range_once() -> None:
    for bits in (8, 16):
        parts = list(parts_of(bits, 1 << 23))
        assert parts[0] == ScalePart("normal range", 0x3F800000, 1, 1 << 23)
        samples_of = {part.name for part in parts if part.name.startswith(SAMPLE)}
        assert samples_of == {f"{SAMPLE}{exponent}" for exponent in range(-125, 127)}
    assert ScalePart("subnormal", 1, 1, (1 << 23) - 1) in parts_of(8, 1 << 23)
    assert ScalePart("lowest normal exponent", 0x00800000, 1, 1 << 23) in parts_of(8, 1 << 23)
