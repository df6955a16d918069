"""What documents say of casts, by inputs computed by hand, and which of them black boxes and libraries meet."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from audited_casts import KNOWN
from auditing import audited
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.authorities import judged_documents
from tiebreak.conformance.audit.authorities_job import documents_apart_of
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.semantics.authorities_cast import OF_CAST
from tiebreak.conformance.semantics.documents import predictions
from tiebreak.conformance.semantics.model import Probe

BY_ID = {document.id: document for document in OF_CAST}
OFF = {"saturate": False}


def allowed(name: str, target: str, attributes: dict[str, Any], x: float) -> set[int]:
    """The codes that a document allows for one float32."""
    arithmetic = arithmetic_of(audited_node("onnx.Cast", attributes, "float32", target, 0))
    (combinations,) = BY_ID[name].readings(arithmetic).values()
    return set(predictions(arithmetic, Probe(np.float32([x]), ()), combinations)[:, 0].tolist())


@pytest.mark.parametrize(
    ("name", "target", "attributes", "x", "gives"),
    [
        # 1.0625 is halfway between 1 (0x38) and 1.125 (0x39); 464 between 448 (0x7E) and 480, which is beyond.
        ("onnx-float8", "float8_e4m3fn", {}, 1.0625, {0x38}),
        ("onnx-float8", "float8_e4m3fn", {}, 500, {0x7E}),
        ("onnx-float8", "float8_e4m3fn", OFF, 464, {0x7E}),
        ("onnx-float8", "float8_e4m3fn", OFF, 480, {0x7F}),
        ("onnx-float8", "float8_e5m2", OFF, 61440, {0x7C}),
        ("onnx-float8", "float8_e4m3fn", {}, -0.0, {0x80}),
        ("onnx-float8", "float8_e4m3fnuz", {}, -0.0, {0}),
        ("onnx-float6", "float6_e2m3fn", {}, 100, {0x1F}),
        ("onnx-float6", "float6_e3m2fn", {}, 4.5, {0x14}),  # halfway between 4 (0x14) and 5
        ("onnx-float4", "float4_e2m1fn", {}, 100, {7}),
        ("onnx-float4", "float4_e2m1fn", {}, 2.5, {4}),
        # 1.1875 is halfway between 1.125 (0x39) and 1.25 (0x3A), 3 * 2^-10 between the first two subnormals,
        # 61440 between 57344 (0x7B) and infinity's place; in float4_e2m1fn 0.25 between 0 and 0.5, 5 between 4 and 6.
        ("ptx-float8", "float8_e4m3fn", {}, 1.1875, {0x3A}),
        ("ptx-float8", "float8_e4m3fn", {}, 2.0**-10, {0}),
        ("ptx-float8", "float8_e4m3fn", {}, 3 * 2.0**-10, {2}),
        ("ptx-float8", "float8_e4m3fn", {}, -1e6, {0xFE}),
        ("ptx-float8", "float8_e5m2", {}, 61440, {0x7B}),
        ("ptx-float8", "float8_e5m2", {}, -0.0, {0x80}),
        ("ptx-float4", "float4_e2m1fn", {}, 0.25, {0}),
        ("ptx-float4", "float4_e2m1fn", {}, 5, {6}),
        ("ptx-float4", "float4_e2m1fn", {}, -7, {15}),
        ("onnx-int4", "int4", {}, 2.5, {2}),
        ("onnx-int2", "int2", {}, -1.5, {-2}),
        # 3 is halfway between 2 (128) and 4 (129); up is the default.
        ("onnx-powers", "float8_e8m0fnu", {}, 2.5, {129}),
        ("onnx-powers", "float8_e8m0fnu", {}, 0, {0}),
        ("onnx-powers", "float8_e8m0fnu", {"round_mode": "nearest", **OFF}, 3, {129}),
        ("onnx-powers", "float8_e8m0fnu", {"round_mode": "nearest", **OFF}, 0, {255}),
        ("onnx-powers", "float8_e8m0fnu", {}, -1, {0, 127, 255}),
        ("onnx-round-mode", "float8_e8m0fnu", {"round_mode": "down"}, 3, {128}),
        ("onnx-round-mode", "float8_e8m0fnu", {"round_mode": "down"}, 0, {0, 255}),
    ],
)
def test_documents_give_what_is_computed_by_hand(
    name: str, target: str, attributes: dict[str, Any], x: float, gives: set[int]
) -> None:
    assert allowed(name, target, attributes, x) == gives


def test_beyond_the_range_of_an_integer_everything_is_allowed_that_some_runtime_does() -> None:
    assert {7, -8, 0} <= allowed("onnx-int4", "int4", {}, 8.0) | allowed("onnx-int4", "int4", {}, 16.0)


def test_documents_are_silent_on_other_types_and_attributes() -> None:
    node = audited_node("onnx.Cast", {"round_mode": "down"}, "float32", "float8_e8m0fnu", 0)
    assert BY_ID["onnx-powers"].silence(node) == "it says nothing of these attributes"
    assert BY_ID["onnx-float8"].silence(node).endswith("not float8_e8m0fnu") and not BY_ID["onnx-round-mode"].silence(
        node
    )
    assert BY_ID["openvino-convert"].silence(node) == BY_ID["ml_dtypes"].silence(node) == "it has no formula"


@pytest.mark.parametrize(
    ("name", "source", "target", "attributes", "why"),
    [
        ("ptx-float8", "float32", "float8_e5m2", {}, ""),
        ("ptx-float8", "float16", "float8_e4m3fn", {}, ""),
        ("ptx-float8", "float32", "float8_e4m3fn", OFF, "it says nothing of these attributes"),
        ("ptx-float8", "float64", "float8_e4m3fn", {}, "it is about float32, float16, not float64"),
        ("ptx-float8", "float32", "float8_e4m3fnuz", {}, "it is about float8_e4m3fn, float8_e5m2, not float8_e4m3fnuz"),
        ("ptx-float4", "float32", "float4_e2m1fn", {}, ""),
        ("ptx-float4", "float16", "float4_e2m1fn", {}, "it is about float32, not float16"),
    ],
)
def test_the_instruction_is_about_few_types_and_always_saturates(
    name: str, source: str, target: str, attributes: dict[str, Any], why: str
) -> None:
    assert BY_ID[name].silence(audited_node("onnx.Cast", attributes, source, target, 0)) == why


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("name", "document", "verdict", "facets"),
    [
        ("clipped", "onnx-float8", "meets", []),
        ("through float16", "onnx-float8", "contradicts", ["precision"]),
        ("cuts", "onnx-float8", "contradicts", ["round_mode"]),
        ("bit by bit", "onnx-float8", "contradicts", ["saturation"]),
        ("loses minus zero", "onnx-float8", "contradicts", ["zero"]),
        ("flushes results", "onnx-float8", "contradicts", ["output_subnormals"]),
        ("float6", "onnx-float6", "meets", []),
        ("float4", "onnx-float4", "meets", []),
        ("clipped", "ptx-float8", "meets", []),
        ("clipped e5m2 of float16", "ptx-float8", "meets", []),
        ("ml_dtypes", "ptx-float8", "contradicts", ["saturation"]),
        ("cuts", "ptx-float8", "contradicts", ["round_mode"]),
        ("flushes results", "ptx-float8", "contradicts", ["output_subnormals"]),
        ("float4", "ptx-float4", "meets", []),
        ("int4", "onnx-int4", "meets", []),
        ("int4 wraps", "onnx-int4", "contradicts", ["round_mode"]),
        ("ceil of logarithm", "onnx-powers", "meets", []),
        ("ceil of logarithm", "onnx-round-mode", "meets", []),
        ("field", "onnx-powers", "contradicts", ["exponent"]),
        ("field", "onnx-round-mode", "meets", []),
    ],
)
def test_black_boxes_meet_or_contradict_documents(name: str, document: str, verdict: str, facets: list[str]) -> None:
    source, target, box, _ = KNOWN[name]
    answer = audited(box, audited_node("onnx.Cast", {}, source, target, 0))
    rows = {row["id"]: row for row in judged_documents(answer.inference, OF_CAST, by_path=False)}
    assert (rows[document]["verdict"], rows[document]["facets"]) == (verdict, facets), rows[document]
    if verdict == "contradicts":
        x = np.array([float(rows[document]["witness"]["input"]["value"])]).astype(source)
        assert rows[document]["got"] not in rows[document]["gives"] and box(x).size == 1


def test_what_tells_the_documents_about_powers_apart() -> None:
    node = {"operator": "onnx.Cast", "attributes": {}, "input_type": "float32", "output_type": "float8_e8m0fnu"}
    apart = documents_apart_of(node)
    assert apart["documents"] == ["onnx-powers", "onnx-round-mode"] and apart["pairs"][0]["relation"] == "overlap"


def test_the_command_names_what_a_library_contradicts() -> None:
    pytest.importorskip("onnxruntime")
    chosen = [
        "authorities",
        "onnxruntime",
        "--operator",
        "onnx.Cast",
        "--type",
        "float8_e4m3fn",
        "--attr",
        "saturate=0",
    ]
    result = CliRunner().invoke(main, [*chosen, "--json"])
    assert result.exit_code == 0, result.stderr
    rows = {row["id"]: row for row in json.loads(result.stdout)["documents"]}
    assert rows["onnx-float8"]["verdict"] == "contradicts" and rows["onnx-float8"]["facets"] == ["saturation"]
    assert rows["onnx-float8"]["witness"]["input"]["value"] == "480.0" and rows["onnx-float8"]["got"] == "448.0"
    assert rows["onnx-int4"]["verdict"] == "silent"
