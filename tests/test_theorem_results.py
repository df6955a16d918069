"""The counted theorems: what is packaged, what the page says, what an audit cites; and that they can be checked."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from audited_boxes import KNOWN
from auditing import audited
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.causes.cited import theorem_sentences
from tiebreak.conformance.theorems import citing
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic, arithmetic_named
from tiebreak.conformance.theorems.catalogue import Theorem, theorems
from tiebreak.conformance.theorems.certificates import certificate_of, comparison_of
from tiebreak.conformance.theorems.compare import compare
from tiebreak.conformance.theorems.counting import SingleCounter
from tiebreak.conformance.theorems.counting_narrow import NarrowCounter
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.reports.audit import print_audit
from tiebreak.reports.records import read_run
from tiebreak.reports.run_info import check_info

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import theorems as measuring  # noqa: E402
import theorems_page  # noqa: E402

ROWS = {row["id"]: row for row in measuring.read(BENCHMARKS / "theorems.jsonl")}
QUICK = [one for one in theorems() if one.id in ROWS]
TINY = Theorem(
    arithmetic_named("reciprocal in float32"),
    arithmetic_named("divide in float32"),
    ScaleDomain(quantized="uint2", ends=False),
    False,
    "Tiny.",
)


def test_every_theorem_is_counted_and_says_what_was_found() -> None:
    known = {theorem.id: theorem for theorem in theorems()}
    assert len(known) == len(theorems()) > 40
    assert set(known) == set(ROWS) == set(citing.counted())
    for name, theorem in known.items():
        found = comparison_of(ROWS[name])
        assert (found.left, found.right, found.domain) == (theorem.left, theorem.right, theorem.domain)
        assert found.equal == theorem.equal and (found.counterexample is None) == theorem.equal
        assert replace(found, digests=()) == citing.counted()[name]


def test_the_page_and_the_package_are_what_the_script_makes() -> None:
    rows = list(ROWS.values())
    assert theorems_page.PAGE.read_text(encoding="utf-8") == theorems_page.page(rows)
    assert theorems_page.RESULTS.read_text(encoding="utf-8") == theorems_page.results(rows)


@pytest.mark.few(12)
@pytest.mark.parametrize("theorem", QUICK, ids=lambda one: one.id)
def test_a_block_of_each_certificate_can_be_counted_again(theorem: Theorem) -> None:
    narrow = theorem.domain.real != "float32"
    counter = (NarrowCounter if narrow else SingleCounter)(theorem.left, theorem.right, theorem.domain)
    blocks, digests = counter.blocks(), ROWS[theorem.id]["digests"]
    assert len(blocks) == len(digests)
    place = 7 if narrow else 101
    assert counter.counted(blocks[place]).sha256.startswith(digests[place])
    assert {len(digest) for digest in digests} == {16}


def test_certificates_are_read_as_they_were_written() -> None:
    found = compare(TINY.left, TINY.right, TINY.domain)
    row = json.loads(json.dumps(certificate_of(found)))
    assert comparison_of(row) == replace(found, digests=tuple(digest[:16] for digest in found.digests))
    assert row["normal"]["exponents"] == [[-124, 124]] and row["ends"] is None


def test_theorems_are_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    false = replace(TINY, equal=True, domain=ScaleDomain(quantized="int2", ends=False))
    monkeypatch.setattr(measuring, "theorems", lambda: (TINY, false))
    output, logs = tmp_path / "rows", tmp_path / "logs"
    asked = ["--logs", str(logs), "-o", str(output)]
    assert measuring.main([*asked, "--only", "uint2"]) == 0
    assert [row["id"] for row in measuring.read(output)] == [TINY.id]
    assert measuring.main(asked) == 1
    assert [row["id"] for row in measuring.read(output)] == [TINY.id, false.id]
    assert capsys.readouterr().out.splitlines()[1].endswith("FALSE")
    assert measuring.main(asked) == 0 and capsys.readouterr().out == ""
    page = theorems_page.page(measuring.read(output))
    assert "### reciprocal" not in page  # the catalogue of the page knows neither
    monkeypatch.setattr(theorems_page, "theorems", lambda: (TINY,))
    lines = theorems_page.page(measuring.read(output)).splitlines()
    assert "### reciprocal in float32 against divide in float32" in lines
    (row,) = (line for line in lines if line.startswith("| float32 to uint2, zero point 0 |"))
    assert row.endswith("| not counted |")
    assert re.search(r"^\| float32 to 2 bits \| ordinary \| \d+ \|$", "\n".join(lines), re.MULTILINE)


def facets(name: str) -> dict[str, str]:
    return dict(zip(NamedArithmetic.__dataclass_fields__, arithmetic_named(name).ids, strict=True))


def test_an_audit_cites_what_fits_exactly() -> None:
    divided = facets("divide in float32")
    (own,) = citing.citations(facets("reciprocal in float32"), divided, "float32", "int8")
    assert own["sentence"] == (
        "differs from `divide in float32` at 69.0 inputs per scale on average, and at none for 2.13 % of scales, "
        "counted over all at which nothing is subnormal or overflows (float32 to int8, zero point 0)"
    )
    assert own["id"] in ROWS and own["page"] == "docs/theorems.md"
    (exact,) = citing.citations(divided, divided, "float32", "int8")
    assert exact["sentence"].startswith("differs from `exact` at 124.2 inputs per scale")
    assert citing.citations(facets("divide in float16"), divided, "float32", "int8") == []


@pytest.mark.parametrize(
    ("found", "documented", "real", "quantized"),
    [
        ("reciprocal in float32, int32", "divide in float32", "float32", "int8"),
        ("reciprocal in float32", "divide in float32, ROUND_DOWN", "float32", "int8"),
        ("reciprocal in float32", "divide in float32", "float32", "int4"),
        ("reciprocal in float32", "divide in float32", "float16", "int8"),
        ("reciprocal in float32, ROUND_UP", "divide in float32", "float32", "int8"),
    ],
)
def test_nothing_is_cited_that_does_not_fit(found: str, documented: str, real: str, quantized: str) -> None:
    assert citing.citations(facets(found), facets(documented), real, quantized) == []
    other = facets("exact") | {"saturation": "unheard-of"}
    assert citing.citations(other, other, real, quantized) == []


@pytest.mark.parametrize("name", ["reciprocal", "through_int32"])
def test_an_audit_of_a_black_box_tells_the_theorem(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    box, _ = KNOWN[name]
    data = audited(box).as_data({"backend": "box", "version": "1"})
    told = citing.citations(facets("reciprocal in float32"), facets("divide in float32"), "float32", "int8")
    assert data["theorems"] == (told if name == "reciprocal" else []) and told
    print_audit({**data, "silence": "", "special_documents": [], "seconds": 1.0})
    assert ("theorem (docs/theorems.md): this arithmetic differs from" in capsys.readouterr().out) == bool(
        data["theorems"]
    )


RECIPROCAL = """
import numpy as np


class Mine:
    name, version, operators = "mine", "1", {"onnx.QuantizeLinear"}

    def compile(self, node):
        low, high = np.iinfo(node.output_type).min, np.iinfo(node.output_type).max

        def run(x, scale, zero_point):
            with np.errstate(all="ignore"):
                codes = np.clip(np.rint(x * (np.float32(1) / scale)) + zero_point, low, high)
                return (np.nan_to_num(codes).astype(node.output_type),)

        return run
"""


@pytest.mark.slow
def test_a_runs_root_cause_tells_the_theorem(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RECIPROCAL)
    chosen = ["--operator", "onnx.QuantizeLinear", "--type", "int8", "--input-type", "float32", "--level", "brief"]
    asked = ["run", "-b", f"{tmp_path}/mine.py:Mine", *chosen, "-o", str(tmp_path / "run")]
    assert CliRunner().invoke(main, asked).exit_code == 1
    causes = {row["cause_id"]: row for row in read_run(tmp_path / "run").info["clusters"]}
    (told,) = causes["own-reciprocal"]["theorems"]
    assert told.startswith("`reciprocal in float32` differs from `divide in float32` at 69.0 inputs per scale")
    assert [name for name, row in causes.items() if "theorems" in row] == ["own-reciprocal"]
    info = read_run(tmp_path / "run").info
    check_info(info)
    (place,) = (n for n, row in enumerate(info["clusters"]) if "theorems" in row)
    info["clusters"][place]["theorems"] = ["text", 2]
    with pytest.raises(ValueError, match=rf"clusters\[{place}\].theorems"):
        check_info(info)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<dt>theorem</dt><dd>`reciprocal in float32` differs from" in page
    assert CliRunner().invoke(main, ["findings", str(tmp_path / "run"), "-o", str(tmp_path / "out")]).exit_code == 0
    files = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "out").rglob("*.md"))
    assert files.count("For all scales and inputs:") == 1


def test_a_cause_tells_only_what_fits_exactly() -> None:
    bytes_and_more = [("float32", "int8"), ("float32", "int16"), ("bfloat16", "int16"), ("int32", "int8")]
    assert len(theorem_sentences("onnx.QuantizeLinear", "own-reciprocal", bytes_and_more)) == 1
    assert theorem_sentences("onnx.QuantizeLinear", "ties:NEAREST_TOWARD_INFINITY", bytes_and_more)[0].startswith(
        "`divide in float32, ROUND_NEAREST_TOWARD_INFINITY` differs from `divide in float32` at "
    )
    for cause in ("own-reciprocal @ tail:8", "own-reciprocal + wraps", "unexplained", ""):
        assert theorem_sentences("onnx.QuantizeLinear", cause, bytes_and_more) == []
    for operator in ("ngraph.Quantize", "onnx.DequantizeLinear", "openvino.FakeQuantize"):  # modes, or other facets
        assert theorem_sentences(operator, "own-reciprocal", bytes_and_more) == []
