"""Tries the calls that documents forbid. A backend should reject them; its answer is recorded, never a discrepancy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from tiebreak.adapters.claims import Claims
from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import NOT_ASKED, UNASKED, Outcome
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

MOST_SHOWN = 4  # results of an accepted call


class RunsBatches(Protocol):
    """The part of a backend that forbidden calls need."""

    name: str
    version: str
    operators: frozenset[str] | None
    claims: Claims

    def run_batch(self, cases: Sequence[Case], keep: Keep) -> list[Outcome]: ...


def forbidden_rows(backends: Sequence[RunsBatches], operators: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each backend and forbidden call of its operators: accepted, rejected, crash, timeout or not asked."""
    rows = []
    for backend in backends:
        claimed = [name for name in operators if backend.operators is None or name in backend.operators]
        chosen = list(calls_of_operators(claimed))
        cases = [forbidden_case(operator, call, number) for number, (operator, call) in enumerate(chosen)]
        outcomes = backend.run_batch(cases, lambda case, outcome: None) if cases else []
        rows += [forbidden_row(backend, *one, outcome) for one, outcome in zip(chosen, outcomes, strict=True)]
    return rows


def calls_of_operators(operators: Sequence[str]) -> Iterator[tuple[str, ForbiddenCall]]:
    """Every forbidden call of these operators, with its operator, in the order of all operators."""
    for record in TESTED.values():
        if record.id in operators:
            yield from ((record.id, call) for call in record.forbidden_calls or ())


def forbidden_case(operator: str, call: ForbiddenCall, number: int) -> Case:
    made = make_node(operator, **call.node)
    node = replace(
        made,
        attributes=MappingProxyType({**made.attributes, **call.attributes}),
        opset=call.opset or made.opset,
        inputs=tuple(replace(t, dtype=np.dtype(call.kinds.get(n, t.dtype))) for n, t in enumerate(made.inputs)),
        outputs=tuple(replace(t, dtype=np.dtype(call.output or t.dtype)) for t in made.outputs),
    )
    inputs = (
        np.full(shape, call.values.get(place, 1), np.float64).astype(kind.dtype)
        for place, (shape, kind) in enumerate(zip(call.shapes, node.inputs, strict=True))
    )
    return Case(f"forbidden/{operator}/{number}", node, tuple(inputs))


def forbidden_row(backend: RunsBatches, operator: str, call: ForbiddenCall, outcome: Outcome) -> dict[str, Any]:
    answer = {"ok": "accepted", "crash": "crash", "timeout": "timeout"}.get(outcome.status, "rejected")
    answer = NOT_ASKED if outcome.fault in UNASKED else answer
    got = [str(value) for output in outcome.outputs[:1] for value in output.reshape(-1)[:MOST_SHOWN]]
    found = {"backend": backend.name, "version": backend.version, "operator": operator, "clause": call.clause}
    found["document"] = backend.claims.document(operator)
    return found | {"what": call.what, "answer": answer, "message": outcome.message, "got": " ".join(got)}
