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

Kind = tuple[str, str, str, str]  # operator, rounding mode, input type, output type; causes are weighed within one kind


def case_columns(facts: Mapping[str, Any], case: Case, outcome: Outcome) -> CaseRow:
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


def grade_counts(judgement: Judgement) -> Counts:
    return {
        "exact": judgement.count(EXACT),
        "working_precision": judgement.count(WORKING),
        "unspecified": judgement.count(UNSPECIFIED),
        "deviates": judgement.count(DEVIATES),
    }


def mode_counts(judgement: Judgement, truths: Truths) -> ModeCounts:
    """For each rounding mode, how many elements it specifies, and how many of them differ from both its results."""
    row: dict[str, int] = {}
    for mode, truth in truths.compared.items():
        compared = truth.specified
        row[f"compared_{short_mode(mode)}"] = int(np.count_nonzero(compared))
        row[f"differs_{short_mode(mode)}"] = int(np.count_nonzero(compared & ~truth.agrees(judgement.values)))
    return cast("ModeCounts", row)


def contradictions(judgement: Judgement, truths: Truths) -> dict[str, int]:
    """For each rounding mode, how many conforming elements contradict that the backend rounds by it."""
    right = (judgement.grades == EXACT) | (judgement.grades == WORKING)
    compared = truths.compared.items()
    return {mode: int(np.count_nonzero(right & ~truth.agrees(judgement.values))) for mode, truth in compared}


def deviating_rows(backend: str, case: Case, judgement: Judgement, truths: Truths) -> list[DiscrepancyRow]:
    """A row for each deviating element of every output."""
    node, truth = case.node, truths.judged_by
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
    """The element's place and operands: bits and value of the first operand, all operands as JSON text."""
    found = element_operands(problem, node, i)
    by_name = {name: (code, kind) for name, code, kind in found}
    _, first, kind = found[0]
    scale, scale_kind = next((pair for name, pair in by_name.items() if name.endswith("scale")), (0, None))
    zero_point = next((pair[0] for name, pair in by_name.items() if name.endswith(("zero_point", "offset"))), 0)
    return {
        "output": problem.output,
        "index": i,
        "input_bits": bits_of_code(first, kind),
        "input": decoded_value(first, kind),
        "scale_bits": bits_of_code(scale, scale_kind) if scale_kind else 0,
        "scale": decoded_value(scale, scale_kind) if scale_kind else math.nan,
        "zero_point": zero_point if isinstance(by_name.get("zero_point", (0, 0))[1], IntegerType | int) else 0,
        "operands": json.dumps([[name, *bits_and_decimal(code, kind)] for name, code, kind in found]),
        "boundary_ulp": math.nan,
    }


def element_operands(problem: Problem, node: Node, i: int) -> list[tuple[str, int, FloatType | IntegerType]]:
    """(name, code, type) of every operand of one element."""
    names = problem.names([tensor.name for tensor in node.inputs], get_operator(node.operator).forms[0])
    codes = [int(operand[i]) for operand in problem.operands]
    return list(zip(names, codes, problem.kinds, strict=False))


def result_row(problem: Problem, exact: int, working: int, got: int) -> ResultColumns:
    """Expected and got as values and as bits; their distance in integers or in units in the last place."""
    kind = problem.result
    distance = got - exact if isinstance(kind, IntegerType) else steps_between(exact, got, kind)
    return {
        "expected": decoded_value(exact, kind),
        "expected_working": decoded_value(working, kind),
        "got": decoded_value(got, kind),
        "expected_bits": bits_of_code(exact, kind),
        "working_bits": bits_of_code(working, kind),
        "got_bits": bits_of_code(got, kind),
        "distance": max(-(1 << 62), min(1 << 62, distance)),
        "result_type": kind.name,
    }


def bits_of_code(code: int, kind: FloatType | IntegerType) -> int:
    return code & ((1 << kind.bits) - 1)


def decoded_value(code: int, kind: FloatType | IntegerType) -> float:
    return float(code) if isinstance(kind, IntegerType) else float(decode(bits_of_code(code, kind), kind))


def bits_and_decimal(code: int, kind: FloatType | IntegerType) -> tuple[str, str]:
    """Bits and decimal of a real; an integer's decimal twice."""
    if isinstance(kind, IntegerType):
        return str(code), str(code)
    bits = bits_of_code(code, kind)
    value = float(decode(bits, kind))
    whole = 1e6 <= abs(value) < 1e16 and value.is_integer()  # a large one's shortest decimal looks like another
    return f"0x{bits:0{max(2, kind.bits // 4)}x}", f"{value:.1f}" if whole else decimal(bits, kind)


def steps_between(exact: int, got: int, kind: FloatType) -> int:
    """The distance counted in values of the type. Both zeros count as one; NaN lies beyond the largest value."""
    if kind.specials == "e8m0":
        return got - exact
    low, high = (ordinal(bits_of_code(code, kind), kind) for code in (exact, got))
    return high - low


def ordinal(bits: int, kind: FloatType) -> int:
    sign = 1 << (kind.bits - 1)
    if kind.specials == "fnuz" and bits == sign:
        return sign
    return -(bits - sign) if bits & sign else bits


def add_boundaries(rows: Sequence[DiscrepancyRow], truths: Truths) -> None:
    """Set `boundary_ulp` of one case's rows: the distance from a decision boundary in units in the last place."""
    problems = {problem.output: problem for problem in truths.problems}
    for row in rows:
        row["boundary_ulp"] = boundary_distance(problems[row["output"]], row["index"])


def boundary_distance(problem: Problem, i: int) -> float:
    """The distance from a decision boundary; NaN where the result is not a rounded quotient."""
    if not isinstance(problem, Quantization):
        return math.nan
    x, scale, _ = (int(operand[i]) for operand in problem.operands)
    return distance_in_ulp(x, scale, problem.real, problem.mode)


def kind_of_row(row: CaseRow | DiscrepancyRow) -> Kind:
    return row["operator"], row["round_mode"], row["input_type"], row["output_type"]
