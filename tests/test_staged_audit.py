"""Audits of operators whose outputs come in stages: each output is named given the box's own earlier ones."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from audited_stages import (
    BLOCK_ENDS,
    DYNAMIC_SPECIALS,
    ELEMENTS,
    EXPONENTS,
    INTEGERS,
    POINTS,
    RESULTS,
    RIGHT_TENSOR,
    SCALES,
    SMALL_BLOCKS,
    TENSORS,
    blocks,
    blocks_with_ends,
    dynamic,
    element_of_odd_blocks,
    exponent_of_integers,
    f32,
    float4_of_nan_as_number,
    least_block_scale,
    least_divides_as,
    odd_exponent,
    odd_scale,
    plain_scale,
    result_of_square_root,
    scale_by_reciprocal,
    small_blocks,
    two_levels,
    wrapping_scale,
)
from auditing import documented_run
from boxed_backend import Backend
from click.testing import CliRunner
from make_witnesses import givens
from wrong_gguf_dequantize import in_numpy
from wrong_gguf_quantize import in_float32

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import STAGED, audited_node
from tiebreak.conformance.audit.staged import Caller, staged_data
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.golden.errors import InvalidInput, MachineryFailed, Unsupported

DYNAMIC, BLOCKS, SMALL = "onnx.DynamicQuantizeLinear", "ocp.MXQuantize", "nvidia.NVFP4Quantize"
GGUF, BACK = "gguf.Quantize", "gguf.Dequantize"


def stages_of(box: Any, operator: str = DYNAMIC, given: str = "", **attributes: Any) -> dict[str, dict[str, Any]]:
    node = audited_node(operator, attributes, "", "", 0, given)
    return {one["output"]: one for one in staged_data(Backend(box), node)}  # type: ignore[arg-type]


def is_told(stage: dict[str, Any], wanted: dict[str, str]) -> bool:
    """Of clamps and wraps that differ far beyond the range it is enough that the right one is left."""
    found = {name: stage["semantics"].get(name, "") for name in wanted}
    return all(
        found[name] == value or (name == "saturation" and value in found[name]) for name, value in wanted.items()
    )


@pytest.mark.few(3)
@pytest.mark.parametrize(("scale", "wanted"), SCALES)
def test_the_way_to_a_scale_is_named_and_spoils_nothing_else(scale: Any, wanted: dict[str, str]) -> None:
    found = stages_of(dynamic(scale=scale))
    assert is_told(found["y_scale"], wanted), found["y_scale"]["semantics"]
    assert is_told(found["y_zero_point"], POINTS[0][1])
    assert is_told(found["y"], RESULTS[0][1])


@pytest.mark.few(3)
@pytest.mark.parametrize(("point", "wanted"), POINTS)
def test_the_way_to_a_zero_point_is_named_given_the_scale(point: Any, wanted: dict[str, str]) -> None:
    found = stages_of(dynamic(scale=scale_by_reciprocal, point=point))
    assert is_told(found["y_zero_point"], wanted), found["y_zero_point"]["semantics"]
    assert found["y_zero_point"]["given"] == ["y_scale"] and is_told(found["y"], RESULTS[0][1])


@pytest.mark.few(3)
@pytest.mark.parametrize(("result", "wanted"), RESULTS)
def test_the_way_to_y_is_named_given_scale_and_zero_point(result: Any, wanted: dict[str, str]) -> None:
    found = stages_of(dynamic(scale=scale_by_reciprocal, result=result))["y"]
    assert is_told(found, wanted), found["semantics"]
    assert found["given"] == ["y_scale", "y_zero_point"]
    finite = [row for row in found["refuted"] if not {*row["semantics"]} <= {*found["specials"]}]
    assert finite and all({"y_scale", "width of x"} <= {*row["witness"]} for row in finite)


def test_what_no_table_has_is_not_named() -> None:
    scale = stages_of(dynamic(scale=odd_scale))
    assert scale["y_scale"]["semantics"] == {} and scale["y_scale"]["closest"]["differs"] > 20
    assert scale["y"]["semantics"]
    y = stages_of(dynamic(scale=scale_by_reciprocal, result=result_of_square_root))["y"]
    assert y["semantics"] == {} and y["closest"]["differs"] > 20


@pytest.mark.parametrize(("box", "scale", "result"), DYNAMIC_SPECIALS)
def test_what_nan_and_infinities_make_of_a_range_is_named(
    box: Any, scale: dict[str, str], result: dict[str, str]
) -> None:
    found = stages_of(box)
    assert is_told(found["y_scale"], scale), found["y_scale"]["semantics"]
    assert is_told(found["y"], result), found["y"]["semantics"]


def test_a_scale_of_nan_of_no_table_is_not_named() -> None:
    found = stages_of(dynamic(scale=lambda x: f32(77) if np.isnan(x).any() else plain_scale(x)))["y_scale"]
    assert found["semantics"] == {} and found["closest"]["facets"] == ["nan_first", "nan_last"]


def test_no_result_is_claimed_of_what_was_not_asked() -> None:
    """No x lies beyond its own range, so clamps that differ only far beyond it stay side by side."""
    found = stages_of(dynamic())["y"]
    assert len(found["semantics"]["saturation"]) > 1 and "subnormals" not in found["semantics"]
    assert found["equal"] and "--exhaustive" not in found["equal"][0]


@pytest.mark.parametrize(("exponent", "wanted"), EXPONENTS)
def test_the_way_to_a_blocks_exponent_is_named_and_spoils_no_element(exponent: Any, wanted: str) -> None:
    found = stages_of(blocks(exponent=exponent), BLOCKS, to="float8_e4m3fn")
    assert is_told(found["scales"], {"exponent": wanted, "zero_block": "least"}), found["scales"]["semantics"]
    assert is_told(found["elements"], ELEMENTS[0][1]), found["elements"]["semantics"]


@pytest.mark.parametrize(("cast", "wanted"), ELEMENTS)
def test_the_way_to_elements_is_named_given_the_scales(cast: Any, wanted: dict[str, str]) -> None:
    found = stages_of(blocks(cast=cast), BLOCKS, to="float8_e4m3fn")["elements"]
    assert is_told(found, wanted), found["semantics"]
    assert found["given"] == ["scales"]


@pytest.mark.parametrize(("ends", "scales", "elements"), BLOCK_ENDS)
def test_the_ends_of_a_blocks_scale_are_named(ends: Any, scales: dict[str, str], elements: dict[str, str]) -> None:
    """Below 2^-127, at 2^-127, and of NaN and infinities; what is found elsewhere is the same as without."""
    found = stages_of(blocks_with_ends(ends), BLOCKS, to="float8_e4m3fn")
    assert is_told(found["scales"], {"exponent": "floor"} | scales), found["scales"]["semantics"]
    assert is_told(found["elements"], ELEMENTS[0][1] | elements), found["elements"]["semantics"]


def test_ends_of_no_kind_are_not_named() -> None:
    def odd_below(amax: Any, exponent: Any) -> tuple[Any, Any]:
        codes, divisor = least_divides_as(2.0**-127)(amax, exponent)
        return np.where((amax > 0) & (exponent < -127), 77, codes), divisor

    found = stages_of(blocks_with_ends(odd_below), BLOCKS, to="float8_e4m3fn")["scales"]
    assert found["semantics"] == {} and found["closest"]["facets"] == ["below_least"]
    found = stages_of(blocks_with_ends(least_divides_as(2.0**-125)), BLOCKS, to="float8_e4m3fn")["elements"]
    assert found["semantics"] == {} and found["closest"]["facets"] == ["least_divisor"]


def test_a_document_disagrees_with_a_scale_that_wraps_and_with_a_divisor_that_is_not_the_scale() -> None:
    found = stages_of(blocks_with_ends(wrapping_scale), BLOCKS, to="float8_e4m3fn", scaling_mode="rceil")
    rows = {(row["facet"], row["document"]): row["agrees"] for row in found["scales"]["special_documents"]}
    assert rows["below_least", "cublas-mx"] is False
    found = stages_of(blocks_with_ends(least_divides_as(1.0)), BLOCKS, to="float8_e4m3fn")
    rows = {(row["facet"], row["document"]): row["agrees"] for row in found["elements"]["special_documents"]}
    assert rows["least_divisor", "ocp-mx"] is False
    assert not [one for one in found["scales"]["special_documents"] if one["facet"] == "below_least"]


def test_nan_may_be_taken_for_a_number_of_four_bits() -> None:
    box = blocks_with_ends(least_divides_as(2.0**-127), 2, float4_of_nan_as_number)
    assert stages_of(box, BLOCKS, to="float4_e2m1fn")["elements"]["semantics"]["nan"] == "as-number"


SPECIAL = [
    *((BLOCKS, kind, "") for kind in ("float8_e4m3fn", "float8_e5m2", "float6_e3m2fn", "float4_e2m1fn", "int8")),
    *((SMALL, "", given) for given in givens(SMALL)),
    (DYNAMIC, "", ""),
]
SEEN = {
    DYNAMIC: {"y_scale nan_first", "y_scale positive_infinity", "y nan", "y one_beside_negative_infinity"},
    BLOCKS: {"scales below_least", "scales nan", "elements negative_infinity", "elements zero_beside_nan"},
    SMALL: {"scales zero_block", "scales nan", "elements negative_infinity", "elements zero_beside_nan"},
}


@pytest.mark.parametrize(("operator", "kind", "given"), SPECIAL)
def test_two_values_of_a_special_facet_have_a_call_that_tells_them_apart(operator: str, kind: str, given: str) -> None:
    node = audited_node(operator, {}, "", kind, 0, given)
    seen = set[str]()
    for stage in STAGED[operator].stages(node, documented_run(node)):
        arithmetic, probes = stage.arithmetic, [*stage.arithmetic.special_probes()]
        for facet in arithmetic.specials:
            own = [probe for probe in probes if arithmetic.special_of(probe) == facet.name]
            given = {tuple(arithmetic.special_code(value, probe) for probe in own) for value in facet.values}
            assert own and len(given) == len(facet.values) > 1, facet.name
            assert all(value.sentence for value in facet.values)
            assert all(sentence_of(value.cause) for value in facet.values if value.cause)
            seen.add(f"{stage.output} {facet.name}")
    assert seen >= SEEN[operator]
    assert ("elements least_divisor" in seen) == (operator == BLOCKS and kind != "int8")


def test_an_exponent_of_no_rule_is_not_named() -> None:
    found = stages_of(blocks(exponent=odd_exponent), BLOCKS, to="float8_e4m3fn")
    assert found["scales"]["semantics"] == {} and found["elements"]["semantics"]


def test_what_a_block_never_holds_stays_open() -> None:
    """With rceil no quotient is beyond the largest element: saturating and overflowing are the same there."""
    found = stages_of(blocks(exponent=EXPONENTS[3][0]), BLOCKS, to="float8_e4m3fn", scaling_mode="rceil")
    assert {"saturate", "overflow"} <= {*found["elements"]["semantics"]["saturation"]}
    seen = stages_of(blocks(), BLOCKS, to="float8_e4m3fn")["elements"]["semantics"]
    assert seen["saturation"] == "saturate"


@pytest.mark.parametrize(("box", "output", "wanted"), SMALL_BLOCKS)
def test_scales_of_8_bits_and_their_elements_are_named(box: Any, output: str, wanted: dict[str, str]) -> None:
    found = stages_of(box, SMALL)
    assert is_told(found[output], wanted), found[output]["semantics"]
    assert all(one["semantics"] for one in found.values())


@pytest.mark.few(2)
@pytest.mark.parametrize(("box", "output", "wanted"), TENSORS)
def test_the_order_of_two_levels_is_named_and_spoils_no_other_output(
    box: Any, output: str, wanted: dict[str, str]
) -> None:
    found = stages_of(box, SMALL, "global_amax")
    assert is_told(found[output], wanted), found[output]["semantics"]
    (other,) = {*found} - {output}
    assert is_told(found[other], RIGHT_TENSOR[other]), found[other]["semantics"]


@pytest.mark.slow
def test_what_two_levels_do_in_no_way_of_the_table_is_not_named() -> None:
    found = stages_of(two_levels(element=element_of_odd_blocks), SMALL, "global_amax")
    assert found["elements"]["semantics"] == {} and found["elements"]["closest"]["differs"] > 20
    assert is_told(found["scales"], RIGHT_TENSOR["scales"])


def test_only_an_optional_input_is_given() -> None:
    with pytest.raises(InvalidInput, match="no optional input 'y_scale'"):
        audited_node(DYNAMIC, {}, "", "", 0, "y_scale")
    assert [one.name for one in audited_node(SMALL, {}, "", "", 0, "global_amax").inputs] == ["x", "global_amax"]
    asked = ["audit", "numpy-naive", "--operator", SMALL, "--with", "scale"]
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code == 2 and "no optional input 'scale'" in refused.stderr


def test_a_least_scale_of_no_table_is_not_named() -> None:
    def odd_least(amax: Any) -> Any:
        return np.maximum(least_block_scale(amax), f32(2.0**-5)).astype(ml_dtypes.float8_e4m3fn)

    found = stages_of(small_blocks(scale=odd_least), SMALL)
    assert found["scales"]["semantics"] == {} and found["elements"]["semantics"]


@pytest.mark.parametrize(("integers", "wanted"), INTEGERS)
def test_the_way_to_elements_that_are_integers_is_named(integers: Any, wanted: dict[str, str]) -> None:
    found = stages_of(blocks(exponent=exponent_of_integers, cast=integers), BLOCKS, to="int8")
    assert found["scales"]["semantics"]["exponent"] == "floor"
    assert is_told(found["elements"], wanted), found["elements"]["semantics"]


@pytest.mark.parametrize("operator", STAGED)
def test_values_have_causes_and_words(operator: str) -> None:
    compared = 0
    boxes = {
        BLOCKS: [blocks()],
        SMALL: [small_blocks(), two_levels()],
        DYNAMIC: [dynamic()],
        GGUF: [lambda x: in_float32(audited_node(GGUF, {}, "", "", 0), x)],
        BACK: [lambda x, scales: in_numpy(audited_node(BACK, {}, "", "", 0), x, scales)],
    }[operator]
    nodes = [audited_node(operator, {}, "", "", 0, given) for given in givens(operator)]
    every = (
        stage
        for node, box in zip(nodes, boxes, strict=True)
        for stage in STAGED[operator].stages(node, Caller(Backend(box), node))  # type: ignore[arg-type]
    )
    for stage in every:
        arithmetic = stage.arithmetic
        assert tuple(arithmetic.documented) in arithmetic.candidates.places
        for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
            assert plain in facet.values and all(facet.sentences.values())
            for value in facet.values:
                assert value is plain or sentence_of(key_of(value, plain.id))
                compared += 1
    assert compared > (8 if operator == BACK else 20)


def test_a_backend_that_refuses_or_fails_is_no_answer() -> None:
    node = audited_node(DYNAMIC, {}, "", "", 0)
    with pytest.raises(Unsupported, match="no"):
        list(staged_data(Backend(dynamic(), "unsupported"), node))  # type: ignore[arg-type]
    with pytest.raises(MachineryFailed, match="given up after"):
        list(staged_data(Backend(dynamic(), "crash"), node))  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_command_prints_a_table_for_each_output() -> None:
    chosen = ["audit", "onnx-reference", "--operator", DYNAMIC]
    shown = CliRunner().invoke(main, chosen)
    assert shown.exit_code == 0, shown.stderr
    assert "given its own y_scale and y_zero_point" in " ".join(shown.stdout.split())
    data = json.loads(CliRunner().invoke(main, [*chosen, "--json"]).stdout)
    assert [one["output"] for one in data["stages"]] == ["y_scale", "y_zero_point", "y"]
    assert data["stages"][0]["semantics"]["zero_range"] == "step"
    refused = CliRunner().invoke(main, [*chosen, "--exhaustive"])
    assert refused.exit_code == 2 and "in stages" in refused.stderr


def test_an_operator_without_a_table_is_refused() -> None:
    with pytest.raises(InvalidInput, match=f"audit knows .*{DYNAMIC}"):
        audited_node("tensorflow.FakeQuantWithMinMaxVars", {}, "", "", 0)


REAL = [("onnxruntime", "one", "divide"), ("openvino", "zero", "reciprocal")]


@pytest.mark.few(1)
@pytest.mark.parametrize(("backend", "zero_range", "scaling"), REAL)
def test_real_libraries_are_named(backend: str, zero_range: str, scaling: str) -> None:
    pytest.importorskip(backend)
    data = json.loads(CliRunner().invoke(main, ["audit", backend, "--operator", DYNAMIC, "--json"]).stdout)
    first, *_, last = data["stages"]
    assert is_told(first, {"zero_range": zero_range, "scaling": scaling, "range": "with-zero", "precision": "float32"})
    assert is_told(last, {"scaling": "divide" if backend == "onnxruntime" else "steps-before-reciprocal"})
