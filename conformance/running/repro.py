"""Writes a standalone script in the backend's own API for a recorded discrepancy or failure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.failure_reproducer import Failure, failure_script
from tiebreak.adapters.isolation import MEMORY_LIMIT, IsolatedBackend
from tiebreak.adapters.registry import check_spec, spec_from_file
from tiebreak.adapters.reproducer import WantedElement, discrepancy_script
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.deviating import element_row
from tiebreak.conformance.judging.rows import bits_and_decimal, code_from_bits
from tiebreak.conformance.judging.truths import Truths, truths_of
from tiebreak.conformance.running.failures import failure_rows, was_not_run
from tiebreak.conformance.running.replaying import DEVIATES, FAILS, NoScript, Seen, replay_script, replay_words
from tiebreak.conformance.running.repro_calls import call_of_id, call_script, is_call
from tiebreak.conformance.running.repro_contradictions import contradiction_script_of, unwritten_script
from tiebreak.conformance.running.shrink import ShrunkCase, shrink
from tiebreak.golden.elements import FloatType
from tiebreak.golden.errors import InvalidInput, TiebreakError, Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.golden.untrusted_text import one_line
from tiebreak.golden.verdicts import FAILED, OURS
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.root_cause import UNWRITTEN
from tiebreak.reports.rows import result_rows, rows_of

TIME_LIMIT = 10.0  # seconds for a case, for runs that recorded no limit


def reproducer(folder: Path, name: str, *named: str) -> str:
    """The script for one finding of a run. `named` are the specs of its backends that are not Tiebreak's own.

    `name` is the id of a discrepancy, a root cause (for its smallest witness), a contradiction, a failure, a call, or a
    case that failed. If the backend writes no scripts, this one replays the case in Tiebreak. InvalidInput for an
    unknown id.
    """
    run = read_run(folder)
    if is_call(name):
        return call_text(run, name, folder, named)
    try:
        if is_contradiction(name):
            return contradiction_text(run, name, folder, named)
        failure = failure_of(run, name, folder)
        if failure is not None:
            return script_of_failure(run, failure, name, folder, named)
        return script_of_discrepancy(run, name, folder, named)
    except NoScript as reason:
        title = f"{one_line(str(reason), 300)} ({name})"
        return replay_script(title, reason.words, reason.seen, times=reason.times)


@contextmanager
def scripts(run: Run, folder: Path) -> Iterator[Callable[[str], tuple[str, str]]]:
    """A function that gives the script of an id, as `reproducer` does, or an empty text and why there is none.

    Each backend is started once, at its first script, and closed at the end.
    """
    started: dict[str, IsolatedBackend] = {}

    def backend(name: str) -> IsolatedBackend:
        spec = spec_of(run, {"backend": name})
        if spec not in started:
            started[spec] = IsolatedBackend(spec_from_file(spec, "", f"{folder} (add -b BACKEND)"))
        return started[spec]

    def text(name: str) -> str:
        if is_contradiction(name):
            return contradiction_script_of(run, name, folder, backend)
        if (failure := failure_of(run, name, folder)) is not None:
            return failure_text(run, failure, name, backend(str(failure["backend"])), folder)
        row = discrepancy_row(run, discrepancy_id_of(run, name, folder), folder)
        return discrepancy_text(run, name, row, backend(str(row["backend"])), folder)

    def script(name: str) -> tuple[str, str]:
        try:
            return text(name), ""
        except TiebreakError as reason:
            return "", str(reason)

    try:
        yield script
    finally:
        for one in started.values():
            one.close()


def is_contradiction(name: str) -> bool:
    return re.fullmatch(r"S\d+", name) is not None


def script_of_discrepancy(run: Run, name: str, folder: Path, named: Sequence[str]) -> str:
    """The script of a discrepancy; its case is cut down to the fewest elements that still show it."""
    row = discrepancy_row(run, discrepancy_id_of(run, name, folder), folder)
    with backend_of_row(run, row, folder, named) as backend:
        return discrepancy_text(run, name, row, backend, folder)


def discrepancy_text(run: Run, name: str, row: dict[str, Any], backend: IsolatedBackend, folder: Path) -> str:
    case = case_of_row(row, folder)
    if row["cause_id"] == UNWRITTEN:
        with advise_replay(backend, row, folder, DEVIATES):
            return unwritten_script(f"{row['backend']}, {row['operator']}: {row['cause']} ({name})", case, row, backend)
    with advise_replay(backend, row, folder, DEVIATES):
        case, row = smallest_case(backend, case, row)
        lines = backend.reproducer(case.node.key, case.inputs)
    title = f"{row['backend']}, {row['operator']}: {row['cause']} ({name})"
    return discrepancy_script(title, case.node, case.inputs, wanted_element(case, row), lines)


def contradiction_text(run: Run, name: str, folder: Path, named: Sequence[str]) -> str:
    """The script of a contradiction; the backends that gave its answers are started for it."""
    with ExitStack() as stack:

        def started(backend: str) -> IsolatedBackend:
            return stack.enter_context(backend_of_row(run, {"backend": backend}, folder, named))

        return contradiction_script_of(run, name, folder, started)


def call_text(run: Run, name: str, folder: Path, named: Sequence[str]) -> str:
    """The script of a call that is answered or refused."""
    finding = call_of_id(run, name, folder)
    row = {"backend": finding.backends[0]}
    with backend_of_row(run, row, folder, named) as backend:
        return call_script(run, finding, backend, folder)


def script_of_failure(run: Run, row: dict[str, Any], name: str, folder: Path, named: Sequence[str]) -> str:
    """The script of a failure with its case as it is; nothing that fails is run here."""
    check_was_run(row, name)
    with backend_of_row(run, row, folder, named) as backend:
        return failure_text(run, row, name, backend, folder)


def check_was_run(row: dict[str, Any], name: str) -> None:
    if row["fault"] in OURS or was_not_run(row["fault"], row["message"]):
        raise InvalidInput(f"{name}: there is no call to show: {row['message']}")


def failure_text(run: Run, row: dict[str, Any], name: str, backend: IsolatedBackend, folder: Path) -> str:
    check_was_run(row, name)
    case = case_of_row(row, folder)
    with advise_replay(backend, row, folder, FAILS):
        lines = backend.reproducer(case.node.key, case.inputs)
    failure = Failure(
        str(row["verdict"]),
        str(row["fault"]),
        str(row["message"]),
        [problem.shape for problem in problems_of(case)],
        float(run.info.get("time_limit", TIME_LIMIT)),
        int(run.info.get("memory_limit", MEMORY_LIMIT)),
    )
    title = f"{row['backend']}, {row['operator']}: {row['verdict']} ({name})"
    return failure_script(title, case.node, case.inputs, failure, lines)


def failure_of(run: Run, name: str, folder: Path) -> dict[str, Any] | None:
    """The result row that a failure's id or a case's id stands for; None for an id of another kind."""
    results = run.results
    failed = results[results["verdict"].isin(FAILED)]
    if re.fullmatch(r"F\d+", name):
        versions = {str(backend["name"]): str(backend["version"]) for backend in run.info["backends"]}
        rows = run.info.get("failures") or failure_rows(result_rows(failed), versions)
        known = {str(row["id"]): row for row in rows}
        if name not in known:
            raise InvalidInput(f"{folder}: no failure {name!r}; it has {', '.join(list(known)[:40]) or 'none'}")
        kind, case = known[name], str(known[name]["witness"]["case"])
        failed = failed[(failed["backend"] == kind["backend"]) & (failed["verdict"] == kind["verdict"])]
    elif name in set(results["case"]):
        case = name
        if case not in set(failed["case"]):
            raise InvalidInput(f"{name}: it neither crashed nor failed; discrepancies have ids as D000001 and C001")
    else:
        return None
    found = result_rows(failed[failed["case"] == case])
    if len(found) != 1:
        who = ", ".join(str(row["backend"]) for row in found) or "no backend"
        raise InvalidInput(f"{name}: {who} failed there: name one failure's id, as F001 in the run's summary")
    return {str(column): value for column, value in found[0].items()}


@contextmanager
def backend_of_row(run: Run, row: dict[str, Any], folder: Path, named: Sequence[str]) -> Iterator[IsolatedBackend]:
    """The backend of a row, closed afterwards."""
    backend = (
        named_backend(run, row, named)
        if named
        else IsolatedBackend(spec_from_file(spec_of(run, row), "", f"{folder} (add -b BACKEND)"))
    )
    try:
        yield backend
    finally:
        backend.close()


def named_backend(run: Run, row: dict[str, Any], named: Sequence[str]) -> IsolatedBackend:
    """The one of the backends that the user `named` which a row is of: where names are equal, by its spec."""
    *others, last = sorted(named, key=lambda spec: spec == spec_of(run, row), reverse=True)
    for spec in others:
        with suppress(InvalidInput):
            return started_backend(run, row, spec)
    return started_backend(run, row, last)


@contextmanager
def advise_replay(backend: IsolatedBackend, row: dict[str, Any], folder: Path, seen: Seen) -> Iterator[None]:
    """If the backend writes no scripts, raise NoScript with the command that replays the case in Tiebreak."""
    try:
        yield
    except Unsupported as reason:
        words = replay_words([backend.spec], [str(row["case"])], folder)
        raise NoScript(f"{row['backend']}: {reason}; to replay the case", words, seen) from None


def spec_of(run: Run, row: dict[str, Any]) -> str:
    return str(next(backend["spec"] for backend in run.info["backends"] if backend["name"] == row["backend"]))


def case_of_row(row: dict[str, Any], folder: Path) -> Case:
    selection = Selection(operators=(str(row["operator"]),), case_ids=(str(row["case"]),), earlier_run=folder)
    (case,) = plan(selection)
    return case


def started_backend(run: Run, row: dict[str, Any], spec: str) -> IsolatedBackend:
    """The backend of a spec. InvalidInput if it is not the one of the discrepancy."""
    backend = IsolatedBackend(check_spec(spec))
    backend.start()
    recorded = next(one for one in run.info["backends"] if one["name"] == row["backend"])
    plain = re.sub(r" \(\d+\)$", "", str(row["backend"]))  # without the number that a run gives to equal names
    if backend.name in (plain, row["backend"]):
        return backend
    backend.close()
    is_of = f"{row['backend']} {recorded['version']}, run as {recorded.get('spec', '')}"
    raise InvalidInput(f"-b {spec} is the backend {backend.name} {backend.version}; the discrepancy is of {is_of}")


def discrepancy_id_of(run: Run, name: str, folder: Path) -> str:
    """The id of a discrepancy: the smallest witness of a root cause (an id such as C001), or `name` itself."""
    root_causes = {str(row["id"]): row for row in run.info.get("clusters", [])}
    if not name.startswith("C"):
        return name
    if name not in root_causes:
        raise InvalidInput(f"{folder}: no cluster {name!r}; it has {', '.join(list(root_causes)[:40]) or 'none'}")
    return str(root_causes[name]["witness"]["id"])


def smallest_case(backend: IsolatedBackend, case: Case, row: dict[str, Any]) -> tuple[Case, dict[str, Any]]:
    """The case cut down to fewer elements, and the row with the element's new place."""
    problem = problems_of(case)[0]
    if row["output"] != problem.output or problem.shape != case.shape or case.size < 2:
        return case, row
    wrong = ShrunkCase(case, int(row["index"]), code_from_bits(problem.result, int(row["got_bits"])))
    found = shrink(backend.run, wrong)
    place = element_row(found.case, found.place)
    return found.case, row | place


def discrepancy_row(run: Run, discrepancy: str, folder: Path) -> dict[str, Any]:
    found = run.discrepancies[run.discrepancies["id"] == discrepancy]
    if found.empty:
        known = run.discrepancies["id"]
        range_ = f"{known.iloc[0]} to {known.iloc[-1]}" if len(known) else "none"
        raise InvalidInput(f"{folder}: no discrepancy {discrepancy!r}; it has {range_}")
    row, *_ = rows_of(found.head(1))
    return row


def wanted_element(case: Case, row: dict[str, Any]) -> WantedElement:
    """The element as a script checks it: its place, operands, the wrong result and every conforming result."""
    truths = truths_of(case)
    output = next(i for i, problem in enumerate(truths.problems) if problem.output == row["output"])
    at = output_slices(truths.problems)[output].start + int(row["index"])
    kind = truths.problems[output].result
    codes = [code & ((1 << kind.bits) - 1) for code in truths.allowed_codes(at)]
    zeros = [0, 1 << (kind.bits - 1)] if either_zero_conforms(truths, at) and isinstance(kind, FloatType) else []
    return WantedElement(
        output,
        int(row["index"]),
        {code: bits_and_decimal(code_from_bits(kind, code), kind)[1] for code in (*codes, *zeros)},
        int(row["got_bits"]),
        json.loads(row["operands"]),
        any_nan=math.isnan(row["expected"]) or math.isnan(row["expected_working"]),
        recorded_nan=math.isnan(row["got"]),
    )


def either_zero_conforms(truths: Truths, at: int) -> bool:
    """Whether positive and negative zero both conform for the element."""
    zero = np.broadcast_to(truths.judged_by.zero, truths.judged_by.exact.shape)
    return bool(zero[at])
