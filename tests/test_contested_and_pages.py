"""The contested page's witnesses do what it says, and the pages in docs/ are what the clauses make."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tiebreak.conformance.cases.situations import situations_of
from tiebreak.golden import oracle
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, decode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Contest, Operator
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.model import Tensor, real_code
from tiebreak.reports.pages import BACKENDS, CONTESTED, contested_page, operator_page, page_cell, write_pages

CONTESTS = [(spec, contest) for spec in OPERATORS.values() for contest in spec.contested]
DOCS = Path(__file__).parent.parent / "docs" / "operators"


def tensor(kind: str, value: object) -> Array:
    data = np.asarray(value, np.float64)
    real = isinstance(ELEMENT_TYPES[kind], FloatType)
    codes = [real_code(float(item), kind) if real else int(item) for item in data.reshape(-1)]
    return Tensor(kind, data.shape, codes).array()


def results(spec: Operator, contest: Contest) -> list[set[float | None]]:
    """For each element of the first output, what the oracle allows: exact or working; None where unspecified."""
    node = make_node(spec.id, **contest.node)
    inputs = tuple(tensor(t.dtype.name, value) for t, value in zip(node.inputs, contest.inputs, strict=True))
    problem = problems_of(Case("witness", node, inputs))[0]
    found: list[set[float | None]] = []
    for working in (False, True):
        for mode in node.modes or ("",):
            codes, states = oracle.solve(problem, working=working, mode=mode or None)
            open_ = (states == UNDEFINED) | ((states == OUT_OF_RANGE) & (not spec.saturates))
            values = [None if gap else value(int(code), problem.result) for code, gap in zip(codes, open_, strict=True)]
            found = found or [set() for _ in values]
            for allowed, one in zip(found, values, strict=True):
                allowed.add(one)
    return found


def value(code: int, kind: object) -> float:
    return float(decode(code & ((1 << kind.bits) - 1), kind)) if isinstance(kind, FloatType) else float(code)


def same(given: float, wanted: float) -> bool:
    """Equal, or both NaN; a text has at most float32's digits."""
    return given == wanted or given == np.float32(wanted) or (math.isnan(given) and math.isnan(wanted))


@pytest.mark.parametrize(("spec", "contest"), CONTESTS, ids=[contest.id for _, contest in CONTESTS])
def test_witness_gives_what_the_judged_answer_says_and_tells_the_answers_apart(
    spec: Operator, contest: Contest
) -> None:
    assert {*contest.clauses} <= {clause.id for clause in spec.clauses}
    judged = [answer for answer in contest.answers if answer.judged]
    try:
        allowed = results(spec, contest)
    except InvalidInput:
        assert judged == [] or all(isinstance(answer.gives, str) for answer in judged)
        return
    for answer in judged:
        if isinstance(answer.gives, str):
            continue
        assert len(answer.gives) == len(allowed)
        for given, options in zip(answer.gives, allowed, strict=True):
            assert any(o is not None and same(given, o) for o in options), (given, options)
    if not judged:
        assert any(None in options or len(options) > 1 for options in allowed), "nothing judged, yet all is specified"
    assert len(contest.answers) > 1


def test_contest_ids_are_unique_and_every_operator_with_an_open_tie_rule_has_one() -> None:
    ids = [contest.id for _, contest in CONTESTS]
    assert len(ids) == len(set(ids))
    for spec in OPERATORS.values():
        if any("tie" in clause.text.lower() for clause in spec.clauses if clause.unspecified):
            assert spec.contested, spec.id


@pytest.mark.parametrize("spec", OPERATORS.values(), ids=OPERATORS)
def test_page_in_docs_is_what_the_clauses_make(spec: Operator) -> None:
    """All but what a run found: `tiebreak operators --pages docs/operators --run RUN_DIR` makes it again."""
    stored = (DOCS / f"{spec.id}.md").read_text(encoding="utf-8")
    assert stored.split(BACKENDS)[0] == operator_page(spec, None).split(BACKENDS)[0]
    assert all(clause.id in stored for clause in spec.clauses)
    assert "| backend |" in stored.split(BACKENDS)[1], "no results: write the pages again with --run RUN_DIR"


def test_a_page_written_without_a_run_keeps_its_results(tmp_path: Path) -> None:
    results = f"{BACKENDS}\n\nCases by verdict:\n\n| backend | exact |\n| --- | --- |\n| mine 1 | 7 |\n"
    (tmp_path / CONTESTED).touch()  # what an earlier output is known by
    (tmp_path / "ngraph.Quantize.md").write_text(f"# An older page\n\n{results}", encoding="utf-8")
    write_pages(tmp_path, None)
    written = (tmp_path / "ngraph.Quantize.md").read_text(encoding="utf-8")
    assert written == operator_page(OPERATORS["ngraph.Quantize"], None).split(BACKENDS)[0] + results
    assert (tmp_path / "ngraph.Dequantize.md").read_text(encoding="utf-8").endswith("No run was given.\n")


def test_contested_page_in_docs_is_what_the_operators_say() -> None:
    assert (DOCS / "contested.md").read_text(encoding="utf-8") == contested_page()


def test_text_from_backends_cannot_break_a_table() -> None:
    assert page_cell("a|b\n<script>`x`*") == "a\\|b &lt;script>\\`x\\`\\*"


@pytest.mark.parametrize("spec", OPERATORS.values(), ids=OPERATORS)
def test_operator_is_described_whole(spec: Operator) -> None:
    ids = [clause.id for clause in spec.clauses]
    assert len(ids) == len(set(ids))
    assert all(name.startswith(spec.prefix + "-") for name in ids)
    assert set(spec.roles.values()) <= set(ids)
    assert any(clause.unspecified for clause in spec.clauses)
    assert spec.steps
    assert {clause.situation for clause in spec.clauses} <= {"", *situations_of(spec.id)}
    assert all(set(clause.when) <= {attribute.name for attribute in spec.attributes} for clause in spec.clauses)
