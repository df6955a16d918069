"""What documents say of outputs that come in stages, by inputs computed by hand; and of NaN, infinities and zeros."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from audited_casts import KNOWN
from audited_stages import (
    block_scale_rounded_up,
    blocks,
    dynamic,
    odd_scale,
    rceil_exponent,
    scale_by_reciprocal,
    small_blocks,
    small_blocks_by_reciprocal,
    truncated_point,
)
from auditing import audited, documented_run
from click.testing import CliRunner
from make_witnesses import givens
from test_staged_audit import BLOCKS, DYNAMIC, SMALL, Backend

from tiebreak.cli import main
from tiebreak.conformance.audit.authorities import STAGED_AUTHORITIES, judged_documents
from tiebreak.conformance.audit.operators import STAGED, audited_node
from tiebreak.conformance.audit.special_documents import special_documents
from tiebreak.conformance.audit.staged import staged_answers
from tiebreak.conformance.semantics.authorities_cast import OF_CAST
from tiebreak.conformance.semantics.documents import predictions
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.stages import Stage

f32, u8 = np.float32, np.uint8
UNIT = (np.asarray(2.0**-6, f32), np.zeros((), np.int8))


def stage_of(operator: str, output: str, given: str = "", **attributes: Any) -> Stage:
    node = audited_node(operator, attributes, "", "", 0, given)
    return next(one for one in STAGED[operator].stages(node, documented_run(node)) if one.output == output)


def allowed(stage: Stage, operator: str, name: str, x: float, *others: Any) -> set[int]:
    (document,) = (one for one in STAGED_AUTHORITIES[operator][stage.output] if one.id == name)
    assert not document.silence(stage.arithmetic.node)
    (combinations,) = document.readings(stage.arithmetic).values()
    return set(predictions(stage.arithmetic, Probe(np.array([x], f32), others), combinations)[:, 0].tolist())


def bits(x: float) -> int:
    return int(f32(x).view(np.uint32))


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("output", "name", "x", "others", "gives"),
    [
        # From -1 to 254 the width is 255; from 1 to 255 it is, too, since 0 is included.
        ("y_scale", "onnx-dynamic", 254, [f32(-1)], {bits(1)}),
        ("y_scale", "onnx-dynamic-body", 255, [f32(1)], {bits(1)}),
        # 1 - -2^-25 is 1 in float32, and 1 + 2^-25 in real numbers; over 255 float32 has one number for both.
        ("y_scale", "onnx-dynamic-reference", 1, [f32(-(2.0**-25))], {bits(1 / 255)}),
        # 0.5 / 1 is a tie, and goes to 0; 2.5 to 2; 300 is beyond, as no range of its own makes it.
        ("y_zero_point", "onnx-dynamic", -0.5, [f32([254.5]), f32([1])], {0}),
        ("y_zero_point", "onnx-dynamic-body", -2.5, [f32([252.5]), f32([1])], {2}),
        ("y_zero_point", "onnx-dynamic-reference", -300, [f32([0]), f32([1])], {255}),
        # Rounded first: 0.5 goes to 0, and 0 + 1 = 1; added first it would be 1.5, so 2.
        ("y", "onnx-dynamic", 0.5, [f32(1), u8(1)], {1}),
        ("y", "onnx-dynamic-reference", 253.5, [f32(1), u8(1)], {255}),
        ("y", "onnx-dynamic-body", 300, [f32(1), u8(1)], {255}),
    ],
)
def test_documents_of_a_measured_scale_give_what_is_computed_by_hand(
    output: str, name: str, x: float, others: list[Any], gives: set[int]
) -> None:
    assert allowed(stage_of(DYNAMIC, output), DYNAMIC, name, x, *map(np.asarray, others)) == gives


@pytest.mark.parametrize(
    ("mode", "name", "x", "gives"),
    [
        # The largest power of two of E4M3 is 256 = 2^8, its largest value 448; 127 stands for 2^0.
        ("floor", "ocp-mx", 500, {127}),
        ("floor", "ocp-mx", 512, {128}),
        ("ceil", "torchao-mx", 257, {128}),
        ("even", "torchao-mx", 495, {127}),
        ("even", "torchao-mx", 496, {128}),
        ("rceil", "torchao-mx", 448, {127}),
        ("rceil", "cublas-mx", 449, {128}),
    ],
)
def test_documents_of_a_blocks_scale_give_what_is_computed_by_hand(
    mode: str, name: str, x: float, gives: set[int]
) -> None:
    stage = stage_of(BLOCKS, "scales", to="float8_e4m3fn", scaling_mode=mode)
    assert allowed(stage, BLOCKS, name, x) == gives


@pytest.mark.parametrize(
    ("to", "name", "x", "gives"),
    [
        # 1.0625 is halfway between 1 (0x38) and 1.125; 500 is beyond 448 (0x7E); 2^-10 halfway to the least subnormal.
        ("float8_e4m3fn", "ocp-mx", 1.0625, {0x38}),
        ("float8_e4m3fn", "ptx-mx", -500, {0xFE}),
        ("float8_e4m3fn", "ptx-mx", 2.0**-10, {0}),
        ("float8_e4m3fn", "cublas-mx", 1.1875, {0x3A}),
        ("float4_e2m1fn", "ptx-mx", 2.5, {4}),
        ("float6_e2m3fn", "ocp-mx", 1.0625, {8}),
    ],
)
def test_documents_of_elements_give_what_is_computed_by_hand(to: str, name: str, x: float, gives: set[int]) -> None:
    assert allowed(stage_of(BLOCKS, "elements", to=to), BLOCKS, name, x) == gives


def test_documents_leave_open_what_they_do_not_say() -> None:
    elements = stage_of(BLOCKS, "elements", to="float8_e4m3fn")
    for name in ("cublas-mx", "ocp-mx"):  # OCP's "should" is no rule
        assert {0x7E, 0x7F} <= allowed(elements, BLOCKS, name, 500.0)
    assert {0, 1} <= allowed(elements, BLOCKS, "ocp-mx", 2.0**-9)  # a subnormal element is one or 0
    integers = stage_of(BLOCKS, "elements", to="int8")
    assert allowed(integers, BLOCKS, "ocp-mx-int8", 2.5 / 64, *UNIT) == {2}
    assert {-128, -127} <= allowed(integers, BLOCKS, "ocp-mx-int8", -2.0, *UNIT)
    asked = stage_of(BLOCKS, "scales", to="float8_e4m3fn", scaling_mode="ceil")
    (ocp, *_) = STAGED_AUTHORITIES[BLOCKS]["scales"]
    assert ocp.silence(asked.arithmetic.node) == "it says nothing of these attributes"


@pytest.mark.parametrize(
    ("output", "name", "x", "gives"),
    [
        # 1.0625 is halfway between the scales 1 (0x38) and 1.125 (0x39): to the even one, or up.
        ("scales", "cublas-nvfp4", 1.0625, {0x38}),
        ("scales", "nvfp4-paper", 1.03125, {0x38}),
        ("scales", "ptx-nvfp4", 500, {0x7E}),
        ("scales", "cudnn-nvfp4", 1.03125, {0x39}),
        # 2.5 is halfway between 2 (4) and 3 (5), 5 between 4 (6) and 6 (7).
        ("elements", "cublas-nvfp4", 2.5, {4}),
        ("elements", "ptx-nvfp4", -5, {14}),
        ("elements", "cudnn-nvfp4", 1.75, {4}),
        ("elements", "ptx-nvfp4", -0.0, {8}),
    ],
)
def test_documents_of_scales_of_8_bits_give_what_is_computed_by_hand(
    output: str, name: str, x: float, gives: set[int]
) -> None:
    others = [f32(1).astype(ml_dtypes.float8_e4m3fn)] if output == "elements" else []
    assert allowed(stage_of(SMALL, output), SMALL, name, x, *others) == gives


@pytest.mark.parametrize(
    ("output", "name", "x", "others", "gives"),
    [
        # 2688 / 1344 is 2. 6.375 / 6 * 2 is 2.125, halfway between the scales 2 (0x40) and 2.25 (0x41).
        ("scales", "nvfp4-paper-tensor", 6.375, [f32(1344)], {0x40}),
        ("scales", "nvfp4-paper-tensor", 1344.0, [f32(1344)], {0x77, 0x7E}),  # 448 or, as it is open, 240
        # x * 2 / 1.5 is 2.5 for 1.875: halfway between 2 (4) and 3 (5), of which the paper does not say one.
        ("elements", "nvfp4-paper-tensor", 1.5, [f32(1.5), f32(1344)], {4}),
        ("elements", "nvfp4-paper-tensor", 1.875, [f32(1.5), f32(1344)], {4, 5}),
    ],
)
def test_documents_of_two_levels_give_what_is_computed_by_hand(
    output: str, name: str, x: float, others: list[Any], gives: set[int]
) -> None:
    stage = stage_of(SMALL, output, "global_amax")
    scales = [one.astype(ml_dtypes.float8_e4m3fn) for one in others[:-1]]
    assert allowed(stage, SMALL, name, x, *scales, others[-1]) == gives


def test_documents_of_one_level_are_silent_of_two() -> None:
    stage = stage_of(SMALL, "elements", "global_amax")
    silent = [one.id for one in STAGED_AUTHORITIES[SMALL]["elements"] if one.silence(stage.arithmetic.node)]
    assert silent == ["cublas-nvfp4", "cudnn-nvfp4"]


@pytest.mark.parametrize("operator", STAGED)
def test_every_document_says_who_it_is_and_what_of_which_facet(operator: str) -> None:
    heard = set[tuple[str, str]]()
    for node in [audited_node(operator, {}, "", "", 0, given) for given in givens(operator)]:
        for stage in STAGED[operator].stages(node, documented_run(node)):
            documents = STAGED_AUTHORITIES[operator][stage.output]
            assert len({one.id for one in documents}) == len(documents) >= 3
            names = {facet.name for facet in stage.arithmetic.facets}
            special = {facet.name for facet in stage.arithmetic.specials}
            for one in documents:
                if operator == SMALL and one.silence(stage.arithmetic.node):
                    continue
                heard.add((stage.output, one.id))
                assert one.url.startswith("https://") and all((one.title, one.version, one.says, one.open))
                assert all(name in names for allowed in one.allows for name in allowed), one.id
                assert all(name in special for rule in one.specials for name in rule.values), one.id
    every = {(output, one.id) for output, documents in STAGED_AUTHORITIES[operator].items() for one in documents}
    assert heard == every


def verdicts(box: Any, operator: str, **attributes: Any) -> dict[tuple[str, str], tuple[str, list[str]]]:
    node, found = audited_node(operator, attributes, "", "", 0), {}
    for stage, answer in staged_answers(Backend(box), node):  # type: ignore[arg-type]
        for row in judged_documents(answer.inference, STAGED_AUTHORITIES[operator][stage.output], by_path=False):
            found[stage.output, row["id"]] = (row["verdict"], row["facets"])
    return found


@pytest.mark.slow
def test_boxes_meet_or_contradict_documents_of_each_output() -> None:
    right = verdicts(dynamic(), DYNAMIC)
    assert {verdict for verdict, _ in right.values()} == {"meets"}
    wrong = verdicts(dynamic(scale=scale_by_reciprocal, point=truncated_point), DYNAMIC)
    assert wrong["y_scale", "onnx-dynamic"] == ("contradicts", ["scaling"])
    assert wrong["y_zero_point", "onnx-dynamic-body"] == ("contradicts", ["round_mode"])
    assert wrong["y", "onnx-dynamic-reference"] == ("meets", [])
    assert verdicts(dynamic(scale=odd_scale), DYNAMIC)["y_scale", "onnx-dynamic"] == ("contradicts", [])
    mx = verdicts(blocks(exponent=rceil_exponent), BLOCKS, to="float8_e4m3fn")
    assert mx["scales", "ocp-mx"] == mx["scales", "torchao-mx"] == ("contradicts", ["exponent"])
    assert mx["scales", "cublas-mx"][0] == "silent" and mx["elements", "ptx-mx"] == ("meets", [])
    small = verdicts(small_blocks(), SMALL)
    assert small["scales", "nvfp4-paper"] == ("meets", [])
    assert small["scales", "cudnn-nvfp4"] == ("contradicts", ["round_mode"])
    assert small["elements", "cudnn-nvfp4"] == small["elements", "cublas-nvfp4"] == ("meets", [])
    up = verdicts(small_blocks(scale=block_scale_rounded_up), SMALL)
    assert up["scales", "cudnn-nvfp4"] == up["elements", "cudnn-nvfp4"] == ("meets", [])
    assert up["scales", "nvfp4-paper"] == up["scales", "cublas-nvfp4"] == ("contradicts", ["round_mode"])
    assert verdicts(small_blocks_by_reciprocal, SMALL)["elements", "cudnn-nvfp4"] == ("contradicts", ["scaling"])


def rows_of_zeros(box: Any, operator: str, **attributes: Any) -> dict[str, bool]:
    node = audited_node(operator, attributes, "", "", 0)
    stage, answer = next(iter(staged_answers(Backend(box), node)))  # type: ignore[arg-type]
    rows = special_documents(answer.inference, STAGED_AUTHORITIES[operator][stage.output])
    return {row["document"]: row["agrees"] for row in rows if row["facet"].startswith("zero_")}


def test_what_zeros_give_is_compared_with_documents_that_say_it() -> None:
    assert rows_of_zeros(dynamic(), DYNAMIC) == {"onnx-dynamic-body": False, "onnx-dynamic-reference": False}
    found = rows_of_zeros(dynamic(scale=scale_by_reciprocal), DYNAMIC)
    assert found == {"onnx-dynamic-body": True, "onnx-dynamic-reference": False}
    rceil = {"to": "float8_e4m3fn", "scaling_mode": "rceil"}
    assert rows_of_zeros(blocks(exponent=rceil_exponent), BLOCKS, **rceil) == {"cublas-mx": True}
    assert rows_of_zeros(blocks(), BLOCKS, to="float8_e4m3fn") == {}  # OCP's text is silent


def special_rows(box: Any, target: str, opset: int = 0, **attributes: Any) -> dict[tuple[str, str], bool]:
    answer = audited(box, audited_node("onnx.Cast", attributes, "float32", target, opset))
    return {(row["facet"], row["document"]): row["agrees"] for row in special_documents(answer.inference, OF_CAST)}


def test_what_nan_and_infinities_give_is_compared_with_the_tables() -> None:
    box = KNOWN["clipped"][2]  # NaN stays NaN, an infinity becomes the largest
    found = special_rows(box, "float8_e4m3fn")
    specials = ("nan", "positive_infinity", "negative_infinity")
    assert found == {(one, document): True for one in specials for document in ("onnx-float8", "ptx-float8")}
    off = special_rows(box, "float8_e4m3fn", saturate=False)
    assert off == {(one, "onnx-float8"): one == "nan" for one in specials}


def test_an_infinity_in_a_type_with_one_zero_depends_on_the_operator_set() -> None:
    def box(x: Any) -> Any:
        return np.clip(x, -240, 240).astype(ml_dtypes.float8_e4m3fnuz)

    assert special_rows(box, "float8_e4m3fnuz", opset=24)["positive_infinity", "onnx-float8"]
    assert not special_rows(box, "float8_e4m3fnuz", opset=19)["positive_infinity", "onnx-float8"]


@pytest.mark.slow
def test_the_commands_say_which_documents_agree(tmp_path: Any) -> None:
    chosen = ["authorities", "onnx-reference", "--operator", DYNAMIC]
    shown = CliRunner().invoke(main, chosen)
    assert shown.exit_code == 0, shown.stderr
    assert "zero range: as documented by onnx-dynamic-reference; not as documented by onnx-dynamic-body" in shown.stdout
    page = tmp_path / "page.md"
    data = json.loads(CliRunner().invoke(main, [*chosen, "--json", "--page", str(page)]).stdout)
    assert [one["output"] for one in data["stages"]] == ["y_scale", "y_zero_point", "y"]
    text = page.read_text()
    assert "`onnx-dynamic-body`, y_scale |" in text and "| zero range, 0.0 by `onnx-dynamic-body` |" in text
    refused = CliRunner().invoke(main, [*chosen, "--run", str(tmp_path)])
    assert refused.exit_code == 2
    audit = CliRunner().invoke(main, ["audit", "onnx-reference", "--operator", "onnx.QuantizeLinear", "--type", "int8"])
    assert "positive infinity: not as documented by openvino-as-quantize" in audit.stdout
    assert "nan: no document that is known here says what it gives" in audit.stdout
