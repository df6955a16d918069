"""The counted theorems: what is packaged, what the page says, what an audit cites; and that they can be checked."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tiebreak.conformance.theorems import citing
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic, arithmetic_named
from tiebreak.conformance.theorems.catalogue import Theorem, theorems
from tiebreak.conformance.theorems.certificates import certificate_of, comparison_of
from tiebreak.conformance.theorems.compare import compare
from tiebreak.conformance.theorems.counting import SingleCounter
from tiebreak.conformance.theorems.counting_narrow import NarrowCounter
from tiebreak.conformance.theorems.scale_domains import ScaleDomain

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import theorems as measuring  # noqa: E402
import theorems_page  # noqa: E402

ROWS = {row["id"]: row for row in measuring.read(BENCHMARKS / "theorems.jsonl")}
QUICK = [one for one in theorems() if one.domain.quantized != "uint16" and one.id in ROWS]
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
    found = {name: comparison_of(row) for name, row in ROWS.items()}
    assert theorems_page.PAGE.read_text(encoding="utf-8") == theorems_page.page(found)
    assert theorems_page.RESULTS.read_text(encoding="utf-8") == theorems_page.results(found, ROWS.values())


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
    page = theorems_page.page({row["id"]: comparison_of(row) for row in measuring.read(output)})
    assert "### reciprocal" not in page  # the catalogue of the page knows neither
    monkeypatch.setattr(theorems_page, "theorems", lambda: (TINY,))
    lines = theorems_page.page({row["id"]: comparison_of(row) for row in measuring.read(output)}).splitlines()
    assert "### reciprocal in float32 against divide in float32" in lines
    (row,) = (line for line in lines if line.startswith("| float32 to uint2, zero point 0 |"))
    assert row.endswith("| not counted |")


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
