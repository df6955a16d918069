"""Each clause of arithmetic stands on the step that follows it: in a term, and as a comment in the kernel."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from golden_files import GOLDEN, MODES, further_files, kernel_files, terms_of

from tiebreak.golden.arithmetic.term import steps_of
from tiebreak.golden.elements import FLOAT_TYPES, encode
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import ARITHMETIC, Operator
from tiebreak.golden.rounding import nearest_toward_even
from tiebreak.golden.vector_inputs.plain_quotients import quotient

ID = r"[A-Z]{3}-[A-Z]\d+"
STEP = re.compile(rf"^\s*[^\s#/].*(?:#|/\*) ({ID}(?:, {ID})*)(?:$|:| \*/)")  # code, then a comment that begins with ids
NAMED = {MODES, *(path for spec in OPERATORS.values() for path in kernel_files(spec))}
SOURCES = sorted(path for path in NAMED if path.is_file())  # test_operator_pieces.py names those that are not there


def on_steps(text: str) -> list[str]:
    """The ids in comments behind code, in order."""
    found = (STEP.match(line) for line in text.splitlines())
    return [name for match in found if match for name in match[1].split(", ")]


def missing(spec: Operator, named: list[str]) -> list[str]:
    """The clauses of arithmetic that are not among those named."""
    return [c.id for c in spec.clauses if spec.kind(c) in ARITHMETIC and c.id not in named]


def read(path: Path) -> str:
    """The text of a file; empty if there is none, so that its clauses are named as missing."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_clause_of_arithmetic_stands_on_a_step_of_the_kernel(operator: str) -> None:
    files = kernel_files(OPERATORS[operator])
    names = ", ".join(str(path.relative_to(GOLDEN.parent)) for path in files)
    lacking = missing(OPERATORS[operator], on_steps("\n".join(map(read, files))))
    assert not lacking, f"no step of {names} has a comment that begins with {', '.join(lacking)}"


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_clause_of_arithmetic_stands_on_a_step_of_a_term(operator: str) -> None:
    """By the terms of all kinds of nodes among the golden vectors; rounding.py has the modes of nGraph's Quantize."""
    spec = OPERATORS[operator]
    named = {name for term in terms_of(spec) for one in steps_of(term) for name in one.clauses}
    lacking = missing(spec, [*named, *on_steps(read(MODES))])
    assert not lacking, f"no step of a term is .by({', '.join(lacking)})"
    assert sorted(named - {clause.id for clause in spec.clauses}) == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_each_id_is_on_a_step_and_of_an_operator_that_the_file_computes(path: Path) -> None:
    computed = [spec for spec in OPERATORS.values() if path in {*kernel_files(spec), *further_files(spec), MODES}]
    known = {clause.id for spec in computed for clause in spec.clauses}
    assert sorted(set(re.findall(rf"\b{ID}\b", read(path))) - known) == []
    assert sorted(on_steps(read(path))) == sorted(re.findall(rf"\b{ID}\b", read(path))), "an id away from its step"


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_letter_has_one_kind_and_only_unspecified_clauses_have_none(operator: str) -> None:
    spec = OPERATORS[operator]
    letters = "".join(spec.letters.values())
    assert all(re.fullmatch(ID, clause.id) for clause in spec.clauses), "ids are three letters, -, a letter, a number"
    assert set(letters) == {clause.id[4] for clause in spec.clauses if not clause.unspecified}
    assert len(letters) == len(set(letters))
    assert all((spec.kind(clause) == "unspecified") == clause.unspecified for clause in spec.clauses)
    assert "formula" in spec.letters


def bare(spec: Operator) -> list[str]:
    """The clauses that cite a document as a whole: no section, argument, formula or sentence, and no silence of it."""
    return [clause.id for clause in spec.clauses if clause.source in spec.sources]


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_clause_cites_a_place_in_its_document(operator: str) -> None:
    assert not bare(OPERATORS[operator])


def test_a_clause_that_cites_a_whole_document_is_seen() -> None:
    spec = OPERATORS["ngraph.Quantize"]
    first, *others = spec.clauses
    assert bare(replace(spec, clauses=(replace(first, source=spec.sources[0]), *others))) == [first.id]


def test_tensorflows_documents_of_real_results_name_their_release() -> None:
    fake = [spec for spec in OPERATORS.values() if spec.id.startswith("tensorflow.") and spec.family == "fake"]
    assert len(fake) == 5 and all(text.startswith("TensorFlow 2.21, ") for spec in fake for text in spec.sources)


def test_a_missing_id_and_one_beside_no_step_are_seen() -> None:
    spec = OPERATORS["ngraph.Dequantize"]
    assert missing(spec, on_steps("d = s(x - zero_point)  # NGD-F1\ny = 2 * x /* NGD-F2: a product */ \\")) == []
    assert missing(spec, on_steps("d = s(x - zero_point)  # NGD-F1\n# NGD-F2: a table")) == ["NGD-F2"]
    assert missing(spec, on_steps('"""NGD-F1, NGD-F2"""\n/* NGD-F1 */')) == ["NGD-F1", "NGD-F2"]


def test_an_example_of_working_precision() -> None:
    """0.35 / 0.1 in float32: 3 exactly, 4 in working precision."""
    real = FLOAT_TYPES["float32"]
    x, scale = encode(Fraction("0.35"), real), encode(Fraction("0.1"), real)
    exact, working = (quotient(x, scale, real, working=form) for form in (False, True))
    assert isinstance(exact, Fraction) and isinstance(working, Fraction)
    assert exact < working == Fraction("3.5")
    assert (nearest_toward_even(exact), nearest_toward_even(working)) == (3, 4)
