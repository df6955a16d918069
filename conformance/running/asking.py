"""What backends are asked after all cases of a run: forbidden calls, some cases anew, and what tells causes apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.running.backends import abandon_all
from tiebreak.conformance.running.forbidden import forbidden_rows
from tiebreak.conformance.running.further import further_records
from tiebreak.conformance.running.outcomes import Runner
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.conformance.running.repeating import repeated_rows
from tiebreak.conformance.running.unwritten import unwritten_elements
from tiebreak.golden.problem import Array

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Asking:
    """What the backends are asked after all cases, or nothing.

    `more` asks what is no case of the run, and returns lists of rows for run.json. `further` asks what tells the causes
    of a few cases apart, and returns records by backend. `abandon` ends both at once.
    """

    more: Callable[[ExplanationErrors], dict[str, Rows]] = lambda errors: {"forbidden": []}
    further: Callable[[ExplanationErrors], dict[str, BackendRecords]] = lambda errors: {}
    abandon: Callable[[], None] = lambda: None


NOTHING = Asking()


def asking(backends: Sequence[Runner], done: Sequence[BackendRecords], operators: Sequence[str]) -> Asking:
    """What these backends, with their records, are asked more of these operators."""
    more, further = partial(ask_more, backends, done, operators), partial(ask_further, backends, done)
    return Asking(more, further, partial(abandon_all, backends))


def ask_more(
    backends: Sequence[Runner], done: Sequence[BackendRecords], operators: Sequence[str], errors: ExplanationErrors
) -> dict[str, Rows]:
    """Rows of what each backend answers to forbidden calls, and to cases that it is asked again in another process.

    Nothing is asked for single cases, which name no operators. A backend that fails here has no rows.
    """
    found: dict[str, Rows] = {"forbidden": [], "repeated": []}
    for backend, records in zip(backends, done, strict=True):
        tried = partial(forbidden_rows, [backend], operators)
        found["forbidden"] += errors.attempt("forbidden calls", backend.name, tried, [])
        again = partial(repeated_rows, backend, records)
        found["repeated"] += errors.attempt("other processes", backend.name, again, []) if operators else []
    return found


def ask_further(
    backends: Sequence[Runner], done: Sequence[BackendRecords], errors: ExplanationErrors
) -> dict[str, BackendRecords]:
    """By backend, what it answers to further cases of a few nodes that deviate. One that fails here has none.

    Before that it is asked, too, whether it leaves memory unwritten.
    """
    for backend, records in zip(backends, done, strict=True):
        asked = partial(unwritten_elements, backend, records)
        records.unwritten = errors.attempt("unwritten memory", backend.name, asked, dict[str, Array]())
    found = {
        records.name: errors.attempt("further cases", backend.name, partial(further_records, backend, records), None)
        for backend, records in zip(backends, done, strict=True)
    }
    return {name: records for name, records in found.items() if records is not None}
