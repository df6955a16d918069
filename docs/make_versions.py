"""Makes docs/versions.md, what changed from release to release.

After `tox run -m versions`: `python docs/make_versions.py runs`. The folder's run folders are named LIBRARY-vRELEASE;
releases of one library are compared in their order.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from packaging.version import Version

from tiebreak.conformance.gate.compare import checked_run, compare
from tiebreak.golden.untrusted_text import plural
from tiebreak.reports.findings import md
from tiebreak.reports.records import Run

HERE = Path(__file__).parent
MOST = 12  # changes of one kind that are told one by one
WORDS = {"new": "New", "changed": "Changed", "gone": "Gone"}
CAUSE = ("operator", "cause", "elements", "appeared", "vanished")
VERDICT = ("operator", "kind", "from", "to", "cases")
FAULTS = ("error", "crash", "timeout")


def main(runs: Path) -> None:
    """Write the page."""
    folders = [folder for folder in sorted(runs.iterdir()) if (folder / "run.json").exists()]
    (HERE / "versions.md").write_text(page(folders), encoding="utf-8")


def page(folders: Sequence[Path]) -> str:
    """The Markdown of run folders, library by library."""
    libraries: dict[str, list[tuple[Version, Run]]] = defaultdict(list)
    for folder in folders:
        library, _, release = folder.name.rpartition("-v")
        libraries[library].append((Version(release), checked_run(folder)))
    lines = [*heading([run for runs in libraries.values() for _, run in runs])]
    for library, versions in sorted(libraries.items()):
        runs = [run for _, run in sorted(versions, key=lambda pair: pair[0])]
        lines += ["", f"## {library}", "", *summary(runs)]
        for before, after in pairwise(runs):
            lines += changes(before, after)
    return "\n".join(lines) + "\n"


def heading(runs: Sequence[Run]) -> Iterator[str]:
    levels = ", ".join(sorted({str(run.info["level"]) for run in runs}))
    yield "# What changed across releases"
    yield ""
    yield (
        f"Made by `python docs/make_versions.py runs` from the runs that `tox run -m versions` leaves in `runs/` "
        f"(level {levels}): the same cases, one release of a library after the other, each in an environment of its "
        "own. For two of your own runs the same is `tiebreak compare RUN_A RUN_B`; for the semantics of one node "
        "`tiebreak audit BACKEND --operator OP --versus RUN_A`."
    )


def summary(runs: Sequence[Run]) -> Iterator[str]:
    """A row for each release and configuration: cases that ran, those that failed to run, those refused, the elements
    judged (of cases that ran), those that deviate, and their root causes."""
    yield "| release | configuration | cases | failed | refused | elements | deviating | causes |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for run in runs:
        for backend in run.info["backends"]:
            rows = run.results[run.results["backend"] == backend["name"]]
            failed, refused = rows["verdict"].isin(FAULTS), rows["verdict"] == "unsupported"
            judged = int(rows[["exact", "working_precision", "deviates"]].to_numpy().sum())
            causes = sum(cluster["backend"] == backend["name"] for cluster in run.info["clusters"])
            numbers = (~failed & ~refused).sum(), failed.sum(), refused.sum(), judged, rows["deviates"].sum(), causes
            cells = (
                md(backend["version"]),
                md(backend["name"]),
                *(f"{int(number):,}" for number in numbers),
            )
            yield f"| {' | '.join(cells)} |"


def changes(before: Run, after: Run) -> Iterator[str]:
    """What two releases do otherwise: root causes first, then cases with another verdict."""
    found = compare(before, after)
    versions = next(row["versions"] for row in found["backends"] if None not in row["versions"])
    yield from ("", f"### {md(versions[0])} to {md(versions[1])}", "")
    unchanged = [row for row in found["causes"] if row["status"] in ("unchanged", "renamed")]
    told = 0
    for status, word in WORDS.items():
        rows = together([row for row in found["causes"] if row["status"] == status], CAUSE)
        yield from (f"- **{word}**: {sentence(row)}" for row in rows[:MOST])
        if len(rows) > MOST:
            yield f"- **{word}**: {plural(len(rows) - MOST, 'root cause')} more, of fewer elements."
        told += len(rows)
    for row in together(found["verdicts"], VERDICT)[:MOST]:
        yield (
            f"- {row['kind'].capitalize()}: {plural(row['cases'], 'case')} of {md(row['backend'])}, "
            f"{md(row['operator'])}, {row['from']} before, now {row['to']}{reason(row)}."
        )
    yield f"- {plural(len(unchanged), 'root cause')} of both, with the same results." if unchanged else ""
    if not told and not found["verdicts"]:
        yield "- Nothing else."


def together(rows: Sequence[Mapping[str, Any]], like: Sequence[str]) -> list[dict[str, Any]]:
    """Rows that are the same but for the configuration as one, with all their names."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[repr([row[name] for name in like])].append(row)
    return [dict(group[0]) | {"backend": " and ".join(row["backend"] for row in group)} for group in groups.values()]


def reason(row: Mapping[str, Any]) -> str:
    return f" ({md(row['message'][:160])})" if row["message"] else ""


def sentence(row: Mapping[str, Any]) -> str:
    """A change in words, with the element that shows it."""
    at = 1 if row["elements"][1] else 0
    before, after = row["elements"]
    amount = (
        f"{plural(after, 'element')}, {before:,} before" if before and after else plural(before or after, "element")
    )
    text = f"{md(row['backend'])}, {md(row['operator'])}: {md(row['cause'])} ({amount}; {md(row['clause'][at])})."
    cluster = row["clusters"][at]
    if cluster is None:
        return text
    witness = cluster["witness"]
    operands = ", ".join(f"{md(name)} {md(value)} ({md(bits)})" for name, bits, value in witness["operands"])
    which = "gives" if at else "gave"
    return f"{text} For {operands} it {which} {md(witness['got'])}, where {md(witness['expected'])} is right."


if __name__ == "__main__":
    main(Path(sys.argv[1]))
