"""Makes docs/versions.md, what changed from release to release.

After `tox run -m versions`: `python docs/make_versions.py runs/versions`. The run has several releases of each library,
as NAME@VERSION; they are compared in their order.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tiebreak.adapters.registry import EXTRAS
from tiebreak.conformance.gate.compare import checked_run, compare
from tiebreak.conformance.gate.releases import alone, by_name
from tiebreak.golden.untrusted_text import plural
from tiebreak.reports.findings import md
from tiebreak.reports.libraries import release
from tiebreak.reports.records import JUDGED, Run

HERE = Path(__file__).parent
MOST = 12  # changes of one kind that are told one by one
WORDS = {"new": "New", "changed": "Changed", "gone": "Gone"}
CAUSE = ("operator", "cause", "elements", "appeared", "vanished")
VERDICT = ("operator", "kind", "from", "to", "cases")
FAULTS = ("error", "crash", "timeout")

Backends = Sequence[Mapping[str, Any]]


def main(folder: Path) -> None:
    """Write the page."""
    (HERE / "versions.md").write_text(page(checked_run(folder)), encoding="utf-8")


def page(run: Run) -> str:
    """The Markdown of a run with several releases, library by library."""
    libraries: dict[str, dict[str, Backends]] = defaultdict(dict)
    for name, backends in by_name(run).items():
        libraries[EXTRAS.get(name, name)][name] = backends
    lines = [*heading(run)]
    for library, configurations in sorted(libraries.items()):
        lines += ["", f"## {md(library)}", "", *summary(run, configurations)]
        pairs = {name: pairwise(backends) for name, backends in configurations.items()}
        for releases in zip(*pairs.values(), strict=True):
            lines += changes(run, dict(zip(pairs, releases, strict=True)))
    return "\n".join(lines) + "\n"


def heading(run: Run) -> Iterator[str]:
    yield "# What changed across releases"
    yield ""
    yield (
        f"Made by `python docs/make_versions.py` from the run that `tox run -m versions` leaves in `runs/versions` "
        f"(level {run.info['level']}): the same cases, [each release in an environment of its own](releases.md). For "
        "two of your own runs the same is `tiebreak compare RUN_A RUN_B`; for the semantics of one node `tiebreak "
        "audit BACKEND --operator OP --versus RUN_A`."
    )


def summary(run: Run, configurations: Mapping[str, Backends]) -> Iterator[str]:
    """A row for each release and configuration: cases that ran, those that failed to run, those refused, the elements
    judged (of cases that ran), those that deviate, and their root causes."""
    yield "| release | configuration | cases | failed | refused | elements | deviating | causes |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for releases in zip(*configurations.values(), strict=True):
        for name, backend in zip(configurations, releases, strict=True):
            rows = run.results[run.results["backend"] == backend["name"]]
            failed, refused = rows["verdict"].isin(FAULTS), rows["verdict"] == "unsupported"
            judged = int(rows[list(JUDGED)].to_numpy().sum())
            causes = sum(cluster["backend"] == backend["name"] for cluster in run.info["clusters"])
            numbers = (~failed & ~refused).sum(), failed.sum(), refused.sum(), judged, rows["deviates"].sum(), causes
            cells = (md(release(str(backend["version"]))), md(name), *(f"{int(number):,}" for number in numbers))
            yield f"| {' | '.join(cells)} |"


def changes(run: Run, releases: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[str]:
    """What each configuration does otherwise in the second of two releases.

    Root causes come first, then cases with another verdict.
    """
    causes, verdicts = list[dict[str, Any]](), list[dict[str, Any]]()
    for name, (before, after) in releases.items():
        found = compare(alone(run, str(before["name"])), alone(run, str(after["name"])))
        causes += [row | {"backend": name} for row in found["causes"]]
        verdicts += [row | {"backend": name} for row in found["verdicts"]]
    (before, after), *_ = releases.values()
    yield from ("", f"### {md(release(str(before['version'])))} to {md(release(str(after['version'])))}", "")
    unchanged = [row for row in causes if row["status"] in ("unchanged", "renamed")]
    told = 0
    for status, word in WORDS.items():
        rows = together([row for row in causes if row["status"] == status], CAUSE)
        yield from (f"- **{word}**: {sentence(row)}" for row in rows[:MOST])
        if len(rows) > MOST:
            yield f"- **{word}**: {plural(len(rows) - MOST, 'root cause')} more, of fewer elements."
        told += len(rows)
    for row in together(verdicts, VERDICT)[:MOST]:
        yield (
            f"- {row['kind'].capitalize()}: {plural(row['cases'], 'case')} of {md(row['backend'])}, "
            f"{md(row['operator'])}, {row['from']} before, now {row['to']}{reason(row)}."
        )
    yield f"- {plural(len(unchanged), 'root cause')} of both, with the same results." if unchanged else ""
    if not told and not verdicts:
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
