"""What changed between the releases of one library that a run has side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tiebreak.adapters.environments.named import split_release
from tiebreak.conformance.gate.compare import compare
from tiebreak.reports.libraries import release_order
from tiebreak.reports.records import Run

CHANGED = ("new", "changed", "gone")


def release_changes(run: Run) -> list[dict[str, Any]]:
    """One row for each cause, and each verdict of cases, that differs between two neighbouring releases of a backend.

    A cause's `ids` are those of the run's root causes, empty where a release does not have it. Counts are of elements
    for causes and of cases for verdicts, before and after; for verdicts both are the number of cases that changed.
    """
    return [
        row for backends in by_name(run).values() for one, two in pairwise(backends) for row in changes(run, one, two)
    ]


def by_name(run: Run) -> dict[str, list[Mapping[str, Any]]]:
    """The backends by the name that their specs share before an @, in the order of their releases; of one, none."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for backend in run.info["backends"]:
        found[split_release(str(backend.get("spec", "")))[0]].append(backend)
    return {
        name: sorted(rows, key=lambda one: release_order(str(one["version"])))
        for name, rows in found.items()
        if name and len(rows) > 1
    }


def changes(run: Run, one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    found = compare(alone(run, str(one["name"])), alone(run, str(two["name"])))
    pair = {"before": str(one["name"]), "after": str(two["name"])}
    for row in found["causes"]:
        if row["status"] in CHANGED:
            ids = [cluster["id"] if cluster and count else "" for cluster, count in told(row)]
            yield {
                **pair,
                "status": row["status"],
                "operator": row["operator"],
                "what": row["cause"],
                "counts": row["elements"],
                "ids": ids,
            }
    for row in found["verdicts"]:
        what = f"{row['from']}, now {row['to']}"
        counts = [row["cases"], row["cases"]]
        yield {
            **pair,
            "status": row["kind"],
            "operator": row["operator"],
            "what": what,
            "counts": counts,
            "ids": ["", ""],
        }


def told(row: Mapping[str, Any]) -> Sequence[tuple[Any, int]]:
    return list(zip(row["clusters"], row["elements"], strict=True))


def alone(run: Run, name: str) -> Run:
    """The run of one backend, under the name that stands for it on both sides of a comparison."""
    same = "release"
    info = run.info | {
        "backends": [{**one, "name": same} for one in run.info["backends"] if one["name"] == name],
        "clusters": [{**one, "backend": same} for one in run.info.get("clusters", []) if one["backend"] == name],
    }
    results, found = (rows[rows["backend"] == name].assign(backend=same) for rows in (run.results, run.discrepancies))
    return Run(info, results, found)
