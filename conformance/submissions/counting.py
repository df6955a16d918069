"""Whether a submission's tables say the same as one another: verdicts, counts, discrepancies, outputs, causes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.conformance.judging.chunk_judgement import worst_grades
from tiebreak.conformance.running.assembling import exit_code_of_run, judging_of
from tiebreak.conformance.submissions.digests import record_digests
from tiebreak.conformance.submissions.manifest import WHERE_JUDGED, environment_of
from tiebreak.conformance.submissions.refused import Refused
from tiebreak.conformance.submissions.submission import Submission
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import FOREIGN, GRADES, NO_DOCUMENT, OWN, RAN, UNSPECIFIED
from tiebreak.reports.records import COUNTS, DOMAIN_COLUMNS, MODE_COLUMNS, OFFLINE
from tiebreak.reports.root_cause import root_of

if TYPE_CHECKING:
    import pandas as pd


def check_manifest(one: Submission) -> str:
    """The manifest's digests of the records, and the environment, are those of the run."""
    found, told = record_digests(one.run), one.manifest["records"]
    for operator in sorted(found.keys() | told.keys()):
        if found.get(operator) != told.get(operator):
            raise Refused(f"{operator:.100}: its records are not those whose digest the manifest has")
    if environment_of(one.info) != dict(one.environment):
        raise Refused("environment.json: it is not the environment that run.json tells")
    said = f"records of {plural(len(found), 'operator')}, and their environment"
    return f"{said}: that is {WHERE_JUDGED}" if one.info["level"] == OFFLINE else said


def check_counts(one: Submission) -> str:
    """Each row's verdict follows from its counts, and all else in it fits."""
    rows = one.run.results
    ran = rows["verdict"].isin(RAN).to_numpy()
    counts = rows[list(COUNTS)].to_numpy()
    numbers = rows[["elements", *COUNTS, *DOMAIN_COLUMNS, *MODE_COLUMNS]].to_numpy()
    refuse(rows, np.asarray((numbers < 0).any(axis=1), bool), "a count is negative")
    refuse(rows, ran & (counts.sum(axis=1) != rows["elements"].to_numpy()), "its counts are not its elements")
    refuse(rows, ~ran & (numbers[:, 1:] != 0).any(axis=1), "it has counts, but did not run")
    worst = np.array(GRADES)[worst_grades(counts.T)]
    others = np.asarray(rows["verdict"].astype(str).to_numpy() != worst, bool)
    refuse(rows, ran & others, "its verdict is not that of its counts")
    foreign = np.asarray(rows["document"].astype(str).to_numpy() != documents(one), bool)
    refuse(rows, foreign, "its document is not the backend's")
    versions = rows["backend"].astype(str).map({name: str(told["version"]) for name, told in one.backends.items()})
    refuse(rows, (versions != rows["version"].astype(str)).to_numpy(), "its version is not the backend's")
    code = exit_code_of_run(rows, **judging_of(one.info))
    if one.info["exit"] != code:
        raise Refused(f"run.json: its exit code is {one.info['exit']}, that of its verdicts is {code}")
    verdicts = Counter(rows["verdict"].astype(str))
    return ", ".join(f"{n:,} {verdict}" for verdict, n in verdicts.most_common())


def documents(one: Submission) -> Array:
    """Whose document each row's verdict is about, by what the backends claim."""
    rows = one.run.results
    foreign = {(name, operator) for name, told in one.backends.items() for operator in told["maps"]}
    pairs = zip(rows["backend"].astype(str), rows["operator"].astype(str), strict=True)
    whose = np.array([FOREIGN if pair in foreign else OWN for pair in pairs], object)
    return np.where(rows["verdict"].astype(str) == GRADES[UNSPECIFIED], NO_DOCUMENT, whose)


def check_outputs(one: Submission) -> str:
    """Every case that ran has as many stored codes as elements, every deviating element a row, and no other has."""
    rows, given = one.run.results, one.outputs
    keys = list(zip(rows["backend"].astype(str), rows["case"].astype(str), strict=True))
    ran = rows["verdict"].isin(RAN).to_numpy()
    sizes = np.array([given[key].size if key in given else -1 for key in keys], np.int64)
    refuse(rows, ran & (sizes < 0), "it ran, but its outputs are not stored")
    refuse(rows, ~ran & (sizes >= 0), "it did not run, but outputs are stored")
    refuse(rows, ran & (sizes != rows["elements"].to_numpy()), "its stored outputs are not its elements")
    if len(given) != int(ran.sum()):
        stranger = min(given.keys() - set(keys))
        raise Refused(f"outputs.parquet: outputs of {stranger[1]:.200} by {stranger[0]:.80}, which has no row")
    elements = one.run.discrepancies
    found = Counter(zip(elements["backend"].astype(str), elements["case"].astype(str), strict=True))
    listed = np.array([found.pop(key, 0) for key in keys], np.int64)
    refuse(rows, listed != rows["deviates"].to_numpy(), "its deviating elements are not those of discrepancies.parquet")
    if found:
        raise Refused(f"discrepancies.parquet: elements of {min(found)[1]:.200}, which has no row")
    return f"outputs of {plural(len(given), 'case')}, {plural(len(elements), 'deviating element')}"


def check_causes(one: Submission) -> str:
    """The root causes of run.json have the elements that discrepancies.parquet gives them."""
    if one.info.get("explanation_errors"):
        return "not compared: some explanations failed in the run"
    elements = one.run.discrepancies
    columns = (elements[name].astype(str) for name in ("backend", "operator", "cause"))
    counted = Counter((backend, operator, root_of(cause)) for backend, operator, cause in zip(*columns, strict=True))
    told = Counter[tuple[str, str, str]]()
    for row in one.info.get("clusters", []):
        told[row["backend"], row["operator"], row["cause"]] += row["elements"]
    for key in sorted(counted.keys() | told.keys()):
        if counted[key] != told[key]:
            where = f"run.json: the root cause {key[2]!r:.200} of {key[0]:.80}, {key[1]:.80}"
            raise Refused(f"{where} has {told[key]:,} elements, discrepancies.parquet {counted[key]:,}")
    return plural(len(told), "root cause")


def refuse(rows: pd.DataFrame, wrong: Array, why: str) -> None:
    """Raise Refused for the first row that is wrong."""
    if wrong.any():
        row: Any = rows.iloc[int(np.argmax(wrong))]
        raise Refused(f"{row['backend']:.80}, {row['case']:.200}: {why}")
