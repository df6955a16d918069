"""The rows that a run records: one for each case, one for each deviating element."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.judging.boundary import distance_in_ulp
from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.truths import Truths
from tiebreak.golden.elements import FloatType, IntegerType, decimal, decode
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Problem, Quantization
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.verdicts import DEVIATES, EXACT, UNEXPLAINED, UNSPECIFIED, WORKING
from tiebreak.reports.rows import (
    CaseRow,
    Counts,
    DiscrepancyRow,
    ModeCounts,
    OperandColumns,
    ResultColumns,
    SharedColumns,
)

Kind = tuple[str, str, str, str]  # operator, rounding mode, input type, output type: what a cause is weighed within


def case_row(facts: Mapping[str, Any], case: Case, outcome: Outcome) -> CaseRow:
    node = case.node
    return {
        "backend": facts["name"],
        "version": facts["version"],
        "operator": node.operator,
        "case": case.id,
        "origin": case.origin,
        "round_mode": node.round_mode,
        "input_type": node.input_type,
        "output_type": node.output_type,
        "flags": " ".join(case.flags),
        "clauses": " ".join(case.clauses),
        "message": outcome.message,
        "fault": outcome.fault,
        "seconds": outcome.seconds,
        "elements": case.size,
    }


def counts(judgement: Judgement) -> Counts:
    return {
        "exact": judgement.count(EXACT),
        "working_precision": judgement.count(WORKING),
        "unspecified": judgement.count(UNSPECIFIED),
        "deviates": judgement.count(DEVIATES),
    }


def mode_counts(judgement: Judgement, truths: Truths) -> ModeCounts:
    """For each rounding mode, how many elements were compared with it and how many differ from both its truths."""
    row: dict[str, int] = {}
    for mode, truth in truths.compared.items():
        compared = truth.specified
        row[f"compared_{short_mode(mode)}"] = int(np.count_nonzero(compared))
        row[f"differs_{short_mode(mode)}"] = int(np.count_nonzero(compared & ~truth.agrees(judgement.values)))
    return cast("ModeCounts", row)


def contradictions(judgement: Judgement, truths: Truths) -> dict[str, int]:
    """For each rounding mode, how many conforming elements would be otherwise if the backend rounded by it."""
    right = (judgement.grades == EXACT) | (judgement.grades == WORKING)
    compared = truths.compared.items()
    return {mode: int(np.count_nonzero(right & ~truth.agrees(judgement.values))) for mode, truth in compared}


def discrepancy_rows(backend: str, case: Case, judgement: Judgement, truths: Truths) -> list[DiscrepancyRow]:
    """A row for each deviating element, of whichever output."""
    node, truth = case.node, truths.own
    shared: SharedColumns = {
        "id": "",
        "backend": backend,
        "operator": node.operator,
        "case": case.id,
        "round_mode": node.round_mode,
        "input_type": node.input_type,
        "output_type": node.output_type,
        "flags": " ".join(case.flags),
        "cause": UNEXPLAINED,
        "clause": get_operator(node.operator).mode_clause(node.round_mode) or get_operator(node.operator).clauses[0].id,
    }
    rows: list[DiscrepancyRow] = []
    start = 0
    for problem in truths.problems:
        size = math.prod(problem.shape)
        for i in np.flatnonzero(judgement.grades[start : start + size] == DEVIATES):
            at = start + int(i)
            codes = int(truth.exact[at]), int(truth.working[at]), int(judgement.values[at])
            rows.append({**shared, **element_row(problem, node, int(i)), **result_row(problem, *codes)})
        start += size
    return rows


def element_row(problem: Problem, node: Node, i: int) -> OperandColumns:
    """Where the element is and its operands: bits and value of the first, all of them as JSON text."""
    found = element_operands(problem, node, i)
    by_name = {name: (code, kind) for name, code, kind in found}
    _, first, kind = found[0]
    scale, scale_kind = next((pair for name, pair in by_name.items() if name.endswith("scale")), (0, None))
    zero_point = next((pair[0] for name, pair in by_name.items() if name.endswith(("zero_point", "offset"))), 0)
    return {
        "output": problem.output,
        "index": i,
        "input_bits": unsigned(first, kind),
        "input": value_of(first, kind),
        "scale_bits": unsigned(scale, scale_kind) if scale_kind else 0,
        "scale": value_of(scale, scale_kind) if scale_kind else math.nan,
        "zero_point": zero_point if isinstance(by_name.get("zero_point", (0, 0))[1], IntegerType | int) else 0,
        "operands": json.dumps([[name, *text_of(code, kind)] for name, code, kind in found]),
        "boundary_ulp": math.nan,
    }


def element_operands(problem: Problem, node: Node, i: int) -> list[tuple[str, int, FloatType | IntegerType]]:
    """(name, code, type) of every operand of one element."""
    names = problem.names([tensor.name for tensor in node.inputs], get_operator(node.operator).forms[0])
    codes = [int(operand[i]) for operand in problem.operands]
    return list(zip(names, codes, problem.kinds, strict=False))


def result_row(problem: Problem, exact: int, working: int, got: int) -> ResultColumns:
    """Expected and got as values and as codes; the distance in integers, or in units in the last place."""
    kind = problem.result
    distance = got - exact if isinstance(kind, IntegerType) else steps_between(exact, got, kind)
    return {
        "expected": value_of(exact, kind),
        "expected_working": value_of(working, kind),
        "got": value_of(got, kind),
        "expected_bits": unsigned(exact, kind),
        "working_bits": unsigned(working, kind),
        "got_bits": unsigned(got, kind),
        "distance": max(-(1 << 62), min(1 << 62, distance)),
        "result_type": kind.name,
    }


def unsigned(code: int, kind: FloatType | IntegerType) -> int:
    return code & ((1 << kind.bits) - 1)


def value_of(code: int, kind: FloatType | IntegerType) -> float:
    return float(code) if isinstance(kind, IntegerType) else float(decode(unsigned(code, kind), kind))


def text_of(code: int, kind: FloatType | IntegerType) -> tuple[str, str]:
    """Bits and decimal of a real, an integer twice."""
    if isinstance(kind, IntegerType):
        return str(code), str(code)
    bits = unsigned(code, kind)
    value = float(decode(bits, kind))
    whole = 1e6 <= abs(value) < 1e16 and value.is_integer()  # the shortest decimal of a large one looks like another
    return f"0x{bits:0{max(2, kind.bits // 4)}x}", f"{value:.1f}" if whole else decimal(bits, kind)


def steps_between(exact: int, got: int, kind: FloatType) -> int:
    """How many values of the type lie from one to the other, zeros being one; a NaN is beyond the largest."""
    if kind.specials == "e8m0":
        return got - exact
    low, high = (ordinal(unsigned(code, kind), kind) for code in (exact, got))
    return high - low


def ordinal(bits: int, kind: FloatType) -> int:
    sign = 1 << (kind.bits - 1)
    if kind.specials == "fnuz" and bits == sign:
        return sign
    return -(bits - sign) if bits & sign else bits


def add_boundaries(rows: Sequence[DiscrepancyRow], truths: Truths) -> None:
    """Put in how far each element of one case is from a decision boundary, in units in the last place."""
    problems = {problem.output: problem for problem in truths.problems}
    for row in rows:
        row["boundary_ulp"] = boundary(problems[row["output"]], row["index"])


def boundary(problem: Problem, i: int) -> float:
    """The distance from a decision boundary; NaN where the result is not a rounded quotient."""
    if not isinstance(problem, Quantization):
        return math.nan
    x, scale, _ = (int(operand[i]) for operand in problem.operands)
    return distance_in_ulp(x, scale, problem.real, problem.mode)


def kind_of(row: CaseRow | DiscrepancyRow) -> Kind:
    return row["operator"], row["round_mode"], row["input_type"], row["output_type"]
