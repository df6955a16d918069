"""Scripts of what a library does with whole calls: it answers a forbidden one, or refuses a valid node."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tiebreak.adapters.failure_reproducer import answered_script
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.running.forbidden import calls_of_operators, forbidden_case
from tiebreak.conformance.running.replaying import Seen, in_any_folder, replay_script, replay_words
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.exit_codes import EXIT_NOTHING_RAN
from tiebreak.golden.nodes import Case
from tiebreak.golden.untrusted_text import one_line
from tiebreak.golden.verdicts import NOT_ASKED
from tiebreak.reports.records import Run
from tiebreak.reports.story import Finding, calls

REFUSED = Seen(f"code == {EXIT_NOTHING_RAN}")


def answered(what: str) -> Seen:
    """That the forbidden call which does this is answered; it is gone once each is rejected."""
    answers = f'{{row["answer"] for row in info["forbidden"] if row["what"] == {what!r}}} - {{"not asked"}}'
    return Seen(f'({answers}) - {{"rejected"}}', answers)


def is_call(name: str) -> bool:
    return re.fullmatch(r"[AR]\d+", name) is not None


def call_of_id(run: Run, name: str, folder: Path) -> Finding:
    """The finding of an id. InvalidInput for an unknown one."""
    found = {one.ids[0]: one for one in calls(run)}
    if name not in found:
        raise InvalidInput(f"{folder}: no call {name!r}; it has {', '.join(list(found)[:40]) or 'none'}")
    return found[name]


def call_script(run: Run, finding: Finding, backend: IsolatedBackend, folder: Path) -> str:
    """The script of a finding. Which part refused a node shows in Tiebreak only, so that script calls it."""
    (name,) = finding.ids
    title = one_line(f"{finding.backends[0]}, {finding.operators[0]}: {finding.what} ({name})", 300)
    if name.startswith("R"):
        words = replay_words([backend.spec], [refused_case(run, finding)], folder)
        return replay_script(title, words, REFUSED)
    what, case = forbidden_of(run, finding)
    try:
        return answered_script(title, case.node, case.inputs, backend.reproducer(case.node.key, case.inputs))
    except Unsupported:
        words = ["run", "-b", in_any_folder(backend.spec), "--operator", finding.operators[0], "--level", "brief"]
        return replay_script(title, words, answered(what))


def refused_case(run: Run, finding: Finding) -> str:
    """The smallest case that was refused for the commonest reason."""
    rows = run.results
    own = (rows["backend"] == finding.backends[0]) & (rows["operator"] == finding.operators[0])
    refused = rows[own & (rows["verdict"] == "unsupported") & (rows["fault"] != NOT_ASKED)]
    refused = refused[refused["message"] == refused["message"].mode().iloc[0]]
    return str(refused.sort_values(["elements", "case"])["case"].iloc[0])


def forbidden_of(run: Run, finding: Finding) -> tuple[str, Case]:
    """What the call does that is forbidden, and the call."""
    told = [row for row in run.info["forbidden"] if finding.what.endswith(f": {row['what']}")]
    row = next(row for row in told if row["operator"] == finding.operators[0])
    every = calls_of_operators(finding.operators)
    found = next((call for _, call in every if (call.what, call.clause) == (row["what"], row["clause"])), None)
    if found is None:
        raise InvalidInput(f"{finding.ids[0]}: this release of Tiebreak makes no such call: {shlex.quote(row['what'])}")
    return str(row["what"]), forbidden_case(finding.operators[0], found, 0)
