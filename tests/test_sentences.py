"""A clause knows its sentence: it stands in the document that is at hand, and each judged clause has one.

A failure names the clauses whose sentence moved or changed. Read the document again; if the clause still says what it
says, change tests/quoted_sentences and run `python tests/make_sentences.py`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from installed_documents import FOLDER, TEXTS, is_read, places, text_of
from make_sentences import written
from quoted_sentences import QUOTES

from tiebreak.cli import main
from tiebreak.golden.onnx_types import NEWEST_OPSET
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Clause, Operator
from tiebreak.golden.sentences import FILE, sentences

CLAUSES = {clause.id: clause for spec in OPERATORS.values() for clause in spec.clauses}
OF_ONNX = [spec for spec in OPERATORS.values() if spec.opsets]


def moved(document: str, texts: Mapping[str, str]) -> Iterator[str]:
    """The clauses whose sentence is not in its place in a document's texts, and where it is now."""
    for clause, found in sentences().items():
        for one in found:
            if one.document == document and not one.is_in(texts.get(one.place, "")):
                now = [place for place, text in texts.items() if one.is_in(text)]
                yield f"{clause}, {one.place}: {f'now in {now[0]}' if now else 'changed, or gone'}"


@pytest.mark.parametrize("document", QUOTES)
def test_every_sentence_is_in_its_document(document: str) -> None:
    assert not list(moved(document, places(document)))


def test_a_clause_whose_sentence_changed_is_named() -> None:
    document = "onnx QuantizeLinear-21"
    texts = dict(places(document))
    texts["description"] = texts["description"].replace("nearest even", "nearest, away from zero")
    texts["attribute axis"], texts["attribute saturate"] = texts["attribute saturate"], texts["attribute axis"]
    found = {*moved(document, texts)}
    assert {"ONQ-R1, description: changed, or gone", "ONQ-A1, attribute axis: now in attribute saturate"} <= found
    assert not any(clause.startswith(("ONQ-F1", "ONQ-C1")) for clause in found)


def test_what_is_stored_is_what_the_quotes_make() -> None:
    """Of the documents that are at hand."""
    assert FILE.read_text(encoding="utf-8").splitlines() == written().splitlines(), "run python tests/make_sentences.py"


def test_each_stored_sentence_belongs_to_a_quote() -> None:
    """Of every document."""
    quoted = Counter(
        (clause, document, place)
        for document, of_places in QUOTES.items()
        for place, quotes in of_places.items()
        for clauses in quotes.values()
        for clause in clauses.split()
    )
    stored = Counter((clause, one.document, one.place) for clause, found in sentences().items() for one in found)
    assert stored == quoted, "run python tests/make_sentences.py"


def test_a_text_is_known_by_its_words_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document, words = next(iter(TEXTS.items()))
    monkeypatch.setenv(FOLDER, str(tmp_path))
    text = f"Before {words} And after."
    (tmp_path / "another.txt").write_text("another text", encoding="utf-8")
    with pytest.raises(pytest.skip.Exception, match=document):
        text_of(document)
    (tmp_path / "one.txt").write_text("\n".join(text.split()), encoding="utf-8")
    assert text_of(document).split() == text.split()
    monkeypatch.delenv(FOLDER)
    with pytest.raises(pytest.skip.Exception, match="is not set"):
        text_of(document)


def needs_sentence(clause: Clause) -> bool:
    return is_read(clause.source) and not clause.unspecified and not clause.derived


def test_every_clause_that_judges_by_a_document_read_here_has_a_sentence() -> None:
    """Or it says that it is derived."""
    wanted = {clause.id for clause in CLAUSES.values() if needs_sentence(clause)}
    assert len(wanted) > 200
    lacking, unknown = wanted - set(sentences()), set(sentences()) - set(CLAUSES)
    assert not lacking and not unknown


def test_a_sentence_is_found_whatever_its_line_breaks() -> None:
    one = next(found for found in sentences()["ONQ-R1"] if found.words > 5)
    text = places(one.document)[one.place]
    assert one.is_in(text) and one.is_in(" ".join(text.split())) and one.is_in("\n".join(text.split()))
    assert not one.is_in(text.replace("nearest", "next")) and not one.is_in("")
    assert not replace(one, words=one.words + 1).is_in(text)


@pytest.mark.parametrize("spec", OF_ONNX, ids=lambda spec: spec.id)
def test_every_version_of_an_operator_in_the_installed_onnx_is_covered(spec: Operator) -> None:
    """A newer one than the newest that is covered has to be read, and older ones between them too."""
    onnx = pytest.importorskip("onnx")
    name = spec.id.removeprefix("onnx.")
    known = {
        one.since_version for one in onnx.defs.get_all_schemas_with_history() if (one.domain, one.name) == ("", name)
    }
    assert sorted(version for version in known if version >= spec.opsets[0]) == [*spec.opsets]


def test_the_newest_operator_set_is_the_installed_one() -> None:
    onnx = pytest.importorskip("onnx")
    assert onnx.defs.onnx_opset_version() <= NEWEST_OPSET


def test_the_command_tells_where_a_clause_stands() -> None:
    told = CliRunner().invoke(main, ["operators", "onnx.QLinearConv", "--json"])
    (spec,) = json.loads(told.stdout)["operators"]
    clauses = {clause["id"]: clause for clause in spec["clauses"]}
    assert clauses["OQC-F3"]["sentences"][0]["place"] == "input B" and not clauses["OQC-F3"]["derived"]
    assert clauses["OQC-R1"]["derived"]
    page = CliRunner().invoke(main, ["operators", "onnx.QLinearConv"])
    assert "(derived)" in page.stdout


def test_no_installed_runtime_has_a_newer_version_of_what_microsoft_documents() -> None:
    state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    covered = {name.removeprefix("com.microsoft.") for name in OPERATORS if name.startswith("com.microsoft.")}
    schemas = [one for one in state.get_all_operator_schema() if one.domain == "com.microsoft" and one.name in covered]
    assert {one.name: one.since_version for one in schemas} == dict.fromkeys(covered, 1), "a version has no clauses yet"


def test_no_installed_tensorflow_has_another_version_of_an_operator() -> None:
    raw_ops = pytest.importorskip("tensorflow").raw_ops
    covered = {name.removeprefix("tensorflow.") for name in OPERATORS if name.startswith("tensorflow.")}
    stems = {re.sub(r"V\d+$", "", name) for name in covered}
    found = {name for name in dir(raw_ops) if re.sub(r"V\d+$", "", name) in stems}
    assert found - covered == {"QuantizeAndDequantize"}, "the first one, which TensorFlow says to use no more"
