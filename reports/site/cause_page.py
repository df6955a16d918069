"""What the page of a root cause shows beside its history: the rule, the commands, the trend."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from tiebreak.golden.operators import OPERATORS
from tiebreak.reports.findings import issue_of
from tiebreak.reports.folding import FoldedCause
from tiebreak.reports.records import OFFLINE
from tiebreak.reports.report_data import contests_of, text_of_clause
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.site.cause_history import CauseHistory
from tiebreak.reports.site.run_facts import Sighting
from tiebreak.reports.trend import Panel, panel

MOST_RUNS = 60  # in a picture


def cause_facts(one: CauseHistory, level: str) -> dict[str, Any]:
    """The template's values; `level` is that of the run with the newest sighting."""
    operator, clause = OPERATORS.get(one.key.operator), str(one.sighting.row["clause"])
    return {
        "one": one,
        "rule": text_of_clause(operator, clause),
        "contested": contests_of(operator, clause),
        "issue": issue_of(FoldedCause(dict(one.sighting.row), (one.sighting.row,))),
        "panel": cause_panel(one),
        **commands(one.sighting, level),
    }


def commands(one: Sighting, level: str) -> dict[str, str]:
    """The commands that show the witness again; empty where there is none."""
    name, case = str(one.row.get("id", "")), str(one.row.get("witness", {}).get("case", ""))
    if level == OFFLINE or not one.spec:
        return {"repro": "", "replay": ""}
    repro = shlex.join(repro_words(name, one.run, one.spec)) if name else ""
    golden = case.partition("/")[0] == one.key.operator and one.key.operator in OPERATORS
    replay = shlex.join(["tiebreak", "run", "-b", one.spec, "--case", case, "-o", "replay"]) if golden else ""
    return {"repro": repro, "replay": replay}


def cause_panel(one: CauseHistory) -> Panel:
    """The trend of the share of the calibrated elements that have the cause, in the last runs."""
    rows = one.rows[:MOST_RUNS][::-1]
    runs = [{("this cause", one.key.operator): trend_row(row.calibrated, row.judged_calibrated)} for row in rows]
    versions = [row.release for row in rows]
    others = [at for at, version in enumerate(versions) if version != versions[-1]]
    before = others[-1] if others else 0
    return panel("trend", one.key.operator, [(row.created, row.run) for row in rows], runs, versions, before)


def trend_row(elements: int, judged: int) -> Mapping[str, Any]:
    return {"deviating_calibrated": elements, "judged_calibrated": judged, "is_foreign": False}
