"""Which documents a backend meets: the documents' own arithmetic, verdicts on black boxes, and the command."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import make_authorities_page
import numpy as np
import pytest
from audited_boxes import (
    fused,
    in_bfloat16,
    of_numpy,
    of_two_minds,
    plain,
    reciprocal,
    ties_away,
    truncates,
    wraps,
    zero_point_first,
)
from auditing import INT8, audited
from click.testing import CliRunner, Result

from tiebreak.cli import main
from tiebreak.conformance.audit.authorities import AUTHORITIES, judged_documents
from tiebreak.conformance.audit.authorities_job import documents_apart_of
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.semantics.authorities import OF_QUANTIZE
from tiebreak.conformance.semantics.documents import Authority, open_facets, predictions
from tiebreak.conformance.semantics.model import Probe, codes
from tiebreak.conformance.semantics.quantize_probes import plain_probes
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.reports.authorities_page import authorities_page, section_parts

BOXES = Path(__file__).parent / "audited_backends.py"
BY_ID = {document.id: document for document in OF_QUANTIZE}
SAME_AS_ONNX = ("torch-function", "webnn")


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["authorities", *arguments])


def allowed(document: Authority, x: float, scale: float, zero_point: int, mode: str = "") -> set[int]:
    """What a document allows for one float32 to int8."""
    arithmetic = arithmetic_of(INT8)
    arithmetic.assume()
    readings = document.readings(arithmetic)
    probe = Probe(np.float32([x]), (np.array(scale, np.float32), np.array(zero_point, np.int8)))
    return set(predictions(arithmetic, probe, readings[mode if document.modes else ""])[:, 0].tolist())


@cache
def judged(box: Any) -> dict[str, dict[str, Any]]:
    """The rows of a black box, by document."""
    answer = audited(box)
    probes = list(plain_probes(INT8))
    with np.errstate(all="ignore"):
        answer.inference.take(probes, [codes(box(probe.x, *probe.others)) for probe in probes])
    rows = judged_documents(answer.inference, OF_QUANTIZE, by_path=False)
    return {row["id"]: row for row in rows}


def verdicts(rows: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: row["verdict"] for name, row in rows.items()}


@pytest.mark.parametrize(
    ("name", "x", "scale", "zero_point", "gives"),
    [
        # 0.5 is a tie: rounded first it goes to 0, and 0 + 1 = 1; added first, 1.5 goes to 2.
        ("onnx", 0.5, 1, 1, {1}),
        ("stablehlo", 0.5, 1, 1, {2}),
        ("stablehlo-2023", 0.5, 1, 1, {1}),
        ("torch-function", 0.5, 1, 1, {1}),
        ("torch-module", 0.5, 1, 1, {1, 2}),  # round takes the tie either way
        ("tflite", 0.5, 1, 1, {1, 2}),
        ("openvino-as-quantize", 0.5, 1, 1, {1, 2}),
        ("webnn", 0.5, 1, 1, {1}),
        ("tf-uniform-quantize", 0.5, 1, 1, {2}),  # floor(0.5 + 0.5) + 1
        # 2.5 and -2.5 are ties.
        ("onnx", 2.5, 1, 0, {2}),
        ("stablehlo", 2.5, 1, 0, {2}),
        ("paddle-round-type-0", 2.5, 1, 0, {2}),
        ("paddle-round-type-1", 2.5, 1, 0, {3}),
        ("paddle-round-type-1", -2.5, 1, 0, {-3}),
        ("tf-uniform-quantize", -2.5, 1, 0, {-2}),
        # Out of range.
        ("onnx", 300, 1, 0, {127}),
        ("stablehlo", -300, 1, 0, {-128}),
        ("openvino-as-quantize", 300, 1, 0, {127}),
        # 9.15 / 0.1 is 91.499995 for these float32 numbers; 1 / 0.1 is 10 in float32, and 9.15 * 10 is 91.5 there.
        ("onnx", 9.15, 0.1, 0, {91}),
        ("tflite", 9.15, 0.1, 0, {91, 92}),
        ("paddle-round-type-0", 9.15, 0.1, 0, {91, 92}),
        ("tf-uniform-quantize", 9.15, 0.1, 0, {91, 92}),
    ],
)
def test_documents_give_what_is_computed_by_hand(
    name: str, x: float, scale: float, zero_point: int, gives: set[int]
) -> None:
    assert allowed(BY_ID[name], x, scale, zero_point) == gives


@pytest.mark.parametrize("name", ["ngraph", "ngraph-offset"])
def test_the_round_mode_of_ngraph_is_an_attribute_and_its_range_is_open(name: str) -> None:
    document = BY_ID[name]
    assert [*document.readings(arithmetic_of(INT8))] == [*ROUND_MODES]
    assert allowed(document, 2.5, 1, 3, "ROUND_NEAREST_TOWARD_EVEN") == {5}
    assert allowed(document, 2.5, 1, 3, "ROUND_NEAREST_TOWARD_INFINITY") == {6}
    assert allowed(document, 2.5, 1, 3, "ROUND_UP") == {6}
    assert {44, 127} <= allowed(document, 300, 1, 0, "ROUND_UP")
    own = make_node("ngraph.Quantize", quantized="int8", attributes={"axes": (), "round_mode": "ROUND_DOWN"})
    assert [*document.readings(arithmetic_of(own))] == ["ROUND_DOWN"]


@pytest.mark.parametrize("operator", AUTHORITIES)
def test_every_document_says_who_it_is_and_allows_something(operator: str) -> None:
    documents = AUTHORITIES[operator]
    is_cast = operator == "onnx.Cast"
    usual = "" if operator == "openvino.FakeQuantize" else "float8_e4m3fn" if is_cast else "int8"
    of_some_casts = {"exponent", "output_subnormals", "zero"} if is_cast else set()
    assert len({document.id for document in documents}) == len(documents)
    for document in documents:
        assert all((document.title, document.version, document.says, document.open))
        assert document.url.startswith("https://")
        kind = document.output_types[0] if is_cast and document.output_types else usual
        arithmetic = arithmetic_of(audited_node(operator, {}, "", kind, 0))
        readings = document.readings(arithmetic)
        assert all(readings.values()) == bool(document.allows), document.id
        for facet in (facet for one in document.allows for facet in one):
            known = {own.name for own in arithmetic.facets} | of_some_casts
            assert facet in known, (document.id, facet)


def test_documents_are_silent_on_other_types_and_without_a_formula() -> None:
    uint8 = make_node("onnx.QuantizeLinear", quantized="uint8")
    assert BY_ID["tflite"].silence(uint8) == "it is about int8, not uint8" and not BY_ID["tflite"].silence(INT8)
    assert BY_ID["torch-quantize"].silence(INT8) == "it has no formula"
    assert BY_ID["torch-function"].silence(make_node("onnx.QuantizeLinear", real="float16", quantized="int8"))
    assert open_facets(BY_ID["ngraph"], arithmetic_of(INT8)) == ["saturation"]
    assert len(open_facets(BY_ID["torch-quantize"], arithmetic_of(INT8))) == 6


@pytest.mark.slow
def test_a_plain_backend_meets_onnx_and_its_equals() -> None:
    rows = judged(plain)
    met = {name for name, verdict in verdicts(rows).items() if verdict == "meets"}
    assert met == {"onnx", "ngraph", "ngraph-offset", "stablehlo-2023", "tflite", "paddle-round-type-0", *SAME_AS_ONNX}
    assert rows["ngraph"]["reading"] == "ROUND_NEAREST_TOWARD_EVEN"
    assert (
        rows["torch-module"]["verdict"] == "can't be told" and "none of its arithmetics" in rows["torch-module"]["why"]
    )
    assert rows["torch-quantize"]["verdict"] == "silent"
    assert 0 < rows["paddle-round-type-0"]["inputs"] < rows["onnx"]["inputs"]  # zero points of 0 only


@pytest.mark.slow
def test_an_odd_zero_point_separates_stablehlo_from_onnx() -> None:
    old, new = judged(plain)["stablehlo"], judged(zero_point_first)["onnx"]
    for row, document, backend in ((old, "2", "1"), (new, "1", "2")):
        assert row["verdict"] == "contradicts" and row["domain"] == "calibrated" and row["facets"] == ["zero_point"]
        assert {name: one["value"] for name, one in row["witness"].items()} == {
            "x": "0.5",
            "y_scale": "1.0",
            "y_zero_point": "1",
        }
        assert (row["gives"], row["got"]) == ([document], backend)
    found = verdicts(judged(zero_point_first))
    assert found["stablehlo"] == found["torch-module"] == "meets" and found["webnn"] == "contradicts"


@pytest.mark.slow
def test_ties_away_contradict_onnx_and_meet_paddles_round_type_1() -> None:
    rows = judged(ties_away)
    assert rows["paddle-round-type-1"]["verdict"] == rows["ngraph"]["verdict"] == "meets"
    assert rows["ngraph"]["reading"] == "ROUND_NEAREST_TOWARD_INFINITY"
    assert rows["onnx"]["verdict"] == rows["paddle-round-type-0"]["verdict"] == "contradicts"
    assert rows["onnx"]["facets"] == ["round_mode"]
    assert (rows["onnx"]["gives"], rows["onnx"]["got"]) == (["0"], "1")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("box", "document", "facets"),
    [
        (reciprocal, "onnx", ["scaling"]),
        (fused, "stablehlo", ["scaling"]),
        (truncates, "torch-module", ["round_mode"]),
        (wraps, "onnx", ["saturation"]),
        (in_bfloat16, "tflite", ["precision"]),
    ],
)
def test_a_contradiction_names_its_facet(box: Any, document: str, facets: list[str]) -> None:
    row = judged(box)[document]
    assert row["verdict"] == "contradicts" and row["facets"] == facets and row["contradicted"] > 0


@pytest.mark.slow
def test_every_witness_is_what_the_box_gives_and_the_document_does_not() -> None:
    for box in (fused, truncates, of_two_minds):
        for name, row in judged(box).items():
            if row["verdict"] != "contradicts":
                continue
            x, scale, zero_point = (float(one["value"]) for one in row["witness"].values())
            with np.errstate(all="ignore"):
                got = box(np.float32([x]), np.array(scale, np.float32), np.array(zero_point, np.int8))
            assert str(int(got[0])) == row["got"]
            given = allowed(BY_ID[name], x, scale, int(zero_point), row["reading"])
            assert sorted(map(str, given)) == sorted(row["gives"]) and int(row["got"]) not in given


def test_what_no_arithmetic_describes_still_has_a_row_for_each_document() -> None:
    rows = judged(of_two_minds)
    assert rows["onnx"]["verdict"] == "contradicts" and rows["onnx"]["witness"]
    assert rows["onnx"]["facets"] == []  # never a guess
    assert rows["tflite"]["verdict"] == "meets"  # a relation: either neighbour will do
    assert rows["torch-module"]["verdict"] == "can't be told"  # it rounds ties both ways, each of which is allowed


@pytest.mark.slow
def test_extreme_inputs_are_named_if_no_ordinary_one_contradicts() -> None:
    row = judged(of_numpy)["onnx"]
    assert row["verdict"] == "contradicts" and row["domain"] == "edge"


def test_an_answer_that_depends_on_its_place_meets_nothing() -> None:
    rows = judged_documents(audited(plain).inference, OF_QUANTIZE, by_path=True)
    assert {row["verdict"] for row in rows} == {"contradicts", "can't be told", "silent"}
    assert rows[0]["why"] == "an answer depends on the operand's place"


@pytest.mark.slow
def test_what_tells_two_documents_apart() -> None:
    apart = documents_apart_of({**NODE, "output_type": "int8"})
    pairs = {tuple(pair["documents"]): pair for pair in apart["pairs"]}
    assert len(pairs) == 13 * 12 // 2  # torch-quantize has no formula
    assert {pairs["onnx", other]["relation"] for other in SAME_AS_ONNX} == {"equal on all inputs tried"}
    assert pairs["ngraph", "ngraph-offset"]["relation"] == "equal on all inputs tried"
    assert pairs["ngraph", "stablehlo-2023"]["relation"] == "equal on all inputs tried"  # in the mode that it names
    assert pairs["onnx", "stablehlo"]["relation"] == "apart" and pairs["onnx", "ngraph"]["relation"] == "overlap"
    for (one, other), pair in pairs.items():
        if pair["relation"] == "apart":
            gives = apart["inputs"][pair["input"]]["gives"]
            assert not set(gives[one]) & set(gives[other])


NODE = {"operator": "onnx.QuantizeLinear", "attributes": {}, "input_type": "float32", "output_type": "int8"}


@pytest.mark.slow
def test_the_command_prints_documents_then_verdicts() -> None:
    result = cli("numpy-naive", "--type", "int8")
    assert result.exit_code == 0 and not result.stderr
    assert result.stdout.index("stablehlo: StableHLO, uniform_quantize") < result.stdout.index("numpy-naive ")
    assert "meets: 8, contradicts: 4, can't be told: 1, silent: 1" in result.stdout
    assert "(zero point)" in result.stdout and "https://www.w3.org/TR/webnn/" in result.stdout


@pytest.mark.slow
def test_the_command_as_json_and_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    result = cli("numpy-naive", "--type", "int8", "--json", "--page", str(page))
    data = json.loads(result.stdout)
    assert {"backend", "version", "operator", "claims", "maps", "semantics", "documents", "run"} <= {*data}
    assert [row["id"] for row in data["documents"]] == [*BY_ID]
    wanted = {"id", "title", "version", "url", "says", "open", "open_facets", "verdict", "reading", "why", "inputs"}
    wanted |= {"contradicted", "facets", "witness", "gives", "got", "domain"}
    assert all({*row} == wanted for row in data["documents"])
    text = page.read_text()
    assert "| `onnx` | **meets** |" in text and "`stablehlo` | contradicts, 1 |" in text
    assert text == authorities_page([([data], documents_apart_of(data))])


@pytest.mark.slow
def test_a_page_escapes_what_backends_say() -> None:
    data = json.loads(cli("numpy-naive", "--type", "int8", "--json").stdout)
    hostile = data | {"backend": "a|b<script>\n# c", "version": "`1`"}
    text = "\n".join(section_parts([hostile], {"pairs": []}))
    assert "<script>" not in text and "\n# c" not in text and "a|b" not in text


@pytest.mark.slow
def test_the_command_on_backends_of_ones_own() -> None:
    found = json.loads(cli(f"{BOXES}:upgraded", "--type", "int8", "--json").stdout)  # ties away
    by_id = {row["id"]: row["verdict"] for row in found["documents"]}
    assert by_id["paddle-round-type-1"] == "meets" and by_id["onnx"] == "contradicts"
    placed = json.loads(cli(f"{BOXES}:tail", "--type", "int8", "--json").stdout)
    assert placed["path_dependent"] and "meets" not in {row["verdict"] for row in placed["documents"]}
    assert cli(f"{BOXES}:refuses").exit_code == 4
    assert cli(f"{BOXES}:raises").exit_code == 3
    other = json.loads(cli(f"{BOXES}:other_operator", "--type", "int8", "--json").stdout)
    assert other["operator"] == "ngraph.Quantize"  # the first with documents that it takes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["numpy-naive", "--operator", "x.Y"],
            "authorities knows onnx.QuantizeLinear, openvino.FakeQuantize, ngraph.Quantize",
        ),
        (["numpy-naive", "--operator", "tensorflow.QuantizeV2"], "authorities knows onnx.QuantizeLinear"),
        (["no-such"], "unknown backend 'no-such'; "),
        (["numpy-naive", "--type", "float8_e4m3fn"], "semantics are known of integer outputs"),
        (["numpy-naive", "--run", "no-such-run"], "no-such-run"),
        ([], "Missing argument 'BACKEND'"),
    ],
)
def test_what_cannot_be_asked_is_one_line_and_code_2(arguments: list[str], says: str) -> None:
    result = cli(*arguments)
    assert result.exit_code == 2 and says in result.stderr and not result.stdout
    assert len(result.stderr.strip().splitlines()) == 1


def test_authorities_of_an_operator_without_any_are_refused() -> None:
    from tiebreak.conformance.audit.authorities import authorities_of

    with pytest.raises(InvalidInput, match="authorities knows"):
        authorities_of("onnx.DequantizeLinear")


@pytest.mark.slow
def test_a_run_is_enough(tmp_path: Path) -> None:
    """The records of a run say the same, and nothing is asked."""
    folder = tmp_path / "run"
    made = ["run", "-b", "numpy-naive", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--level", "quick"]
    assert CliRunner().invoke(main, [*made, "--input-type", "float32", "-o", str(folder)]).exit_code in (0, 1)
    data = json.loads(cli("numpy-naive", "--type", "int8", "--run", str(folder), "--json").stdout)
    found = {row["id"]: row for row in data["documents"]}
    assert data["run"] == str(folder) and found["onnx"]["verdict"] == found["webnn"]["verdict"] == "meets"
    assert (
        found["stablehlo"]["verdict"] == "contradicts" and found["stablehlo"]["got"] not in found["stablehlo"]["gives"]
    )
    assert "from the records of" in cli("numpy-naive", "--type", "int8", "--run", str(folder)).stdout
    assert data["claims"] == "" and data["operator"] == "onnx.QuantizeLinear"
    absent = cli("torch", "--type", "int8", "--run", str(folder))
    assert absent.exit_code == 2 and "no backend 'torch' in this run; it has numpy-naive" in absent.stderr


@pytest.mark.slow
def test_the_page_has_the_documents_and_what_tells_them_apart() -> None:
    """Its audits are of installed libraries; the rest must be what the code says. See make_authorities_page.py."""
    if not make_authorities_page.PAGE.is_file():
        pytest.skip("a source distribution has no docs")
    text = make_authorities_page.PAGE.read_text(encoding="utf-8")
    assert text.startswith(authorities_page([], make_authorities_page.COMMAND).partition("## ")[0])
    for part in make_authorities_page.unaudited_parts():
        assert part in text, f"stale: {make_authorities_page.COMMAND}"
    for backend in (*make_authorities_page.QUANTIZE, *make_authorities_page.FAKE_QUANTIZE):
        assert f"| {backend} " in text
