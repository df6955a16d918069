"""The rows that a run records: one for each case, one for each deviating element."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.isolation import Outcome
from tiebreak.conformance import causes
from tiebreak.conformance.boundary import distance_in_ulp
from tiebreak.conformance.judge import DEVIATES, EXACT, UNSPECIFIED, WORKING, Judgement
from tiebreak.conformance.truths import Truth
from tiebreak.golden.nodes import Case
from tiebreak.golden.quantization import quantization_of
from tiebreak.golden.rounding import short_mode

Kind = tuple[str, str, str, str]  # operator, rounding mode, input type, output type: what a cause is weighed within


def case_row(facts: dict[str, Any], case: Case, outcome: Outcome) -> dict[str, Any]:
    node = case.node
    return {
        "backend": facts["name"],
        "version": facts["version"],
        "operator": node.operator,
        "case": case.id,
        "origin": case.origin,
        "round_mode": node.round_mode,
        "input_type": node.real.name,
        "output_type": node.quantized.name,
        "flags": " ".join(case.flags),
        "clauses": " ".join(case.clauses),
        "message": "",
        "seconds": outcome.seconds,
        "elements": case.size,
    }


def counts(judgement: Judgement) -> dict[str, int]:
    return {
        "exact": judgement.count(EXACT),
        "working_precision": judgement.count(WORKING),
        "unspecified": judgement.count(UNSPECIFIED),
        "deviates": judgement.count(DEVIATES),
    }


def mode_counts(judgement: Judgement, by_mode: dict[str, Truth]) -> dict[str, int]:
    """For each rounding mode, how many elements were compared with it and how many differ from both its truths."""
    row = {}
    for mode, truth in by_mode.items():
        compared = truth.specified
        row[f"compared_{short_mode(mode)}"] = int(np.count_nonzero(compared))
        row[f"differs_{short_mode(mode)}"] = int(np.count_nonzero(compared & ~truth.agrees(judgement.values)))
    return row


def contradictions(judgement: Judgement, by_mode: dict[str, Truth]) -> dict[str, int]:
    """For each rounding mode, how many conforming elements would be otherwise if the backend rounded by it."""
    right = (judgement.grades == EXACT) | (judgement.grades == WORKING)
    return {mode: int(np.count_nonzero(right & ~truth.agrees(judgement.values))) for mode, truth in by_mode.items()}


def discrepancy_rows(backend: str, case: Case, judgement: Judgement, truth: Truth) -> list[dict[str, Any]]:
    node, problem = case.node, quantization_of(case)
    own = causes.operands(case, problem, problem.axes)
    x_bits = problem.x.reshape(-1)
    scale_bits = own.scale.view(problem.scale.dtype) if own.scale.size else problem.scale
    shared = {
        "backend": backend,
        "operator": node.operator,
        "case": case.id,
        "round_mode": node.round_mode,
        "input_type": node.real.name,
        "output_type": node.quantized.name,
        "flags": " ".join(case.flags),
    }
    rows = []
    for i in np.flatnonzero(judgement.grades == DEVIATES):
        x, scale = int(x_bits[i]), int(scale_bits[i])
        expected, got = int(truth.exact[i]), int(judgement.values[i])
        rows.append(
            shared
            | {
                "index": int(i),
                "input_bits": x,
                "scale_bits": scale,
                "input": float(own.x[i]),
                "scale": float(own.scale[i]),
                "zero_point": int(own.zero_point[i]),
                "expected": expected,
                "expected_working": int(truth.working[i]),
                "got": got,
                "distance": got - expected,
                "boundary_ulp": distance_in_ulp(x, scale, node.real, node.round_mode),
            }
        )
    return rows


def kind_of(row: dict[str, Any]) -> Kind:
    return row["operator"], row["round_mode"], row["input_type"], row["output_type"]
