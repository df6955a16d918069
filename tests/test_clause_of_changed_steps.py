"""A box that is wrong in one step of an operator's term: its rows stand under a clause of that step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import compress

import numpy as np
import pytest
from golden_files import keys

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.situations import exercised_clauses
from tiebreak.conformance.causes.clauses import partings_of
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.settling import settle_causes
from tiebreak.conformance.judging.deviating import AT_ROUNDING
from tiebreak.conformance.running.explaining import all_deviating, evidence_of, explained_cases
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.real import RealEvaluation
from tiebreak.golden.arithmetic.results import UndefinedResult
from tiebreak.golden.arithmetic.term import AWAY, TOWARD_ZERO, Term, held, steps_of, whole, wrapped
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import ARITHMETIC
from tiebreak.golden.problem import Array, Problem, array_of, code_range
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import vector_paths
from tiebreak.golden.verdicts import UNEXPLAINED

MOST_CASES, MOST_BOXES, MOST_ELEMENTS, LEAST_ROWS = 5, 6, 90, 5


def mistakes(one: Term, problem: Problem) -> Iterator[Term]:
    """What may stand in a step's place: by this test's own list, not by what looks for it."""
    if one.name == "round":
        yield from (replace(one, constant=mode) for mode in (AWAY, EVEN, TOWARD_ZERO) if mode != one.constant)
    elif one.name == "to-ends" and isinstance(problem.result, IntegerType):
        yield whole(wrapped(one.args[0], problem.result))
    elif one.name == "to-float":
        yield replace(one, constant=replace(one.constant, beyond={"ieee": "largest"}.get(one.constant.beyond, "ieee")))
    elif one.name == "bits":
        yield replace(one, constant=one.constant ^ 1)
    elif one.name == "divide":
        yield one.args[0] * held(1 / one.args[1], problem.working)
    elif one.name in ("clamp", "add", "subtract", "multiply", "least", "greatest"):
        yield one.args[0]


def boxes(term: Term, problem: Problem) -> Iterator[tuple[Term, Term]]:
    """Each step that can be changed, and the term with a mistake there."""
    for step in steps_of(term):
        yield from ((step, with_step(term, step, mistake)) for mistake in mistakes(step, problem))


def with_step(term: Term, old: Term, new: Term) -> Term:
    return new if term == old else replace(term, args=tuple(with_step(arg, old, new) for arg in term.args))


def some_cases(operator: str) -> Iterator[Case]:
    """Cases of a few elements, spread over the operator's golden vectors."""
    paths = [path for path in vector_paths() if path.name.startswith(f"{operator}-")]
    cases = [case for path in paths[:: max(1, len(paths) // MOST_CASES)] for case in indexed_cases(path)]
    small = [case for case in cases if case.size and sum(array.size for array in case.inputs) < MOST_ELEMENTS]
    yield from small[:: max(1, len(small) // MOST_CASES)]


def right_outputs(case: Case) -> list[Array]:
    """The exact outputs; what no document defines is 0."""
    found = [oracle.solve(problem, working=False)[0] for problem in problems_of(case)]
    return [output_of(problem, codes) for problem, codes in zip(problems_of(case), found, strict=True)]


def output_of(problem: Problem, codes: Array) -> Array:
    return array_of(problem.result.name, problem.shape, codes.view(np.int64))


def given(term: Term, problem: Problem) -> Array:
    """The results of a box that computes in float64; what it has none for is right."""
    evaluate, read = RealEvaluation(term, FLOAT_TYPES["float64"]), oracle.reader_of(problem)
    codes = oracle.solve(problem, working=False)[0].copy()
    for place, operands in enumerate(zip(*(operand.tolist() for operand in problem.operands), strict=True)):
        try:
            found, _ = evaluate([read(code, kind) for code, kind in zip(operands, problem.kinds, strict=True)])
        except (UndefinedResult, OverflowError, ValueError):
            continue
        if code_range(problem.result)[0] <= found <= code_range(problem.result)[1]:
            codes[place] = (found + (1 << 63)) % (1 << 64) - (1 << 63)  # as int64 holds its bits
    return output_of(problem, codes)


def evidence_about(case: Case, outputs: list[Array]) -> Evidence:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    record(records, case, Outcome("ok", tuple(outputs)))
    return evidence_of(records, all_deviating(records), explained_cases([records]))


def own_clauses(term: Term, step: Term, holding: set[str]) -> set[str]:
    """The clauses that hold of a step, wherever it is written; if it has none, of those that it is for."""
    found = holding & {clause for one in steps_of(term) if one == step for clause in one.clauses}
    parents = {one for one in steps_of(term) if step in one.args} if not found else ()
    return found.union(*(own_clauses(term, one, holding) for one in parents))


def rows_of_boxes(operator: str) -> Iterator[tuple[str, set[str], str]]:
    """Of elements at which only a box's own step parts: what it is, the clauses of that step, and that of the row.

    A cause that is about something else, such as the place of a parameter, may give the same by arithmetic of its own.
    """
    spec = OPERATORS[operator]
    for case in some_cases(operator):
        first = problems_of(case)[0]
        problem = replace(first, mode=(*case.node.modes, first.mode)[0])
        term = oracle.term_of(problem, oracle.TERMS[keys(spec)[0]])
        holding = {one for one in exercised_clauses(case) if spec.kind(spec.clause(one)) in ARITHMETIC}
        mode = holding & {spec.mode_clause(problem.mode)}
        every = [(step, box, own_clauses(term, step, holding)) for step, box in boxes(term, problem)]
        shown = [one for one in every if one[2]]
        for step, box, own in shown[:: max(1, len(shown) // MOST_BOXES)]:
            evidence = evidence_about(case, [given(box, problem), *right_outputs(case)[1:]])
            ids, _, clauses = settle_causes(evidence)
            told = partings_of(evidence, np.arange(len(clauses)))
            own = own | mode if step.name == "round" else own
            near = (evidence.deviating.parted == AT_ROUNDING) & (step.name != "round")  # any small error may do that
            for cause, clause, (*partings, _) in compress(zip(ids, clauses, told, strict=True), ~near):
                others = [own_clauses(term, one.steps[0], holding) for one in partings if one.steps[0] != step]
                alone = all(other and other <= own for other in others)
                if alone and (cause == UNEXPLAINED or clause in own.union(*others)):
                    yield f"{case.id}: {step.name} {step.clauses}", own, clause


@pytest.mark.few(6)
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_row_has_a_clause_of_the_step_that_is_changed(operator: str) -> None:
    rows = list(rows_of_boxes(operator))
    wrong = [(about, sorted(own), clause) for about, own, clause in rows if clause not in own]
    assert not wrong
    assert len(rows) >= LEAST_ROWS or operator == "onnx.MatMulInteger", "whose term has no step: its operand is the sum"
