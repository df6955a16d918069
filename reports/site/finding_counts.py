"""How much a run found of each backend's operator. A line of the story is a library's; a badge accuses only its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tiebreak.golden.verdicts import FOREIGN
from tiebreak.reports.folding import unranked_causes
from tiebreak.reports.libraries import libraries_of
from tiebreak.reports.records import Run
from tiebreak.reports.story import by_relation, path_text

Place = tuple[str, str]  # backend and operator as the run calls them


def finding_counts(run: Run) -> Counter[Place]:
    """Root causes of documents that are claimed, kinds of failures, and ways in which it contradicts itself."""
    own = ((row["backend"], row["operator"]) for row in causes_of(run) if row.get("document") != FOREIGN)
    failures = ((row["backend"], row["operator"]) for row in run.info.get("failures", []))
    return Counter((*own, *failures, *contradictions(run.info)))


def hazard_counts(run: Run) -> Counter[Place]:
    """Root causes of documents that are not claimed."""
    return Counter((row["backend"], row["operator"]) for row in causes_of(run) if row.get("document") == FOREIGN)


def causes_of(run: Run) -> list[Mapping[str, Any]]:
    """The root causes of run.json; those of the discrepancies themselves if it has none."""
    return run.info.get("clusters") or unranked_causes(run.discrepancies)


def contradictions(info: Mapping[str, Any]) -> Iterator[Place]:
    """Where the same numbers got another answer: by path, in another process, configuration, or operator."""
    paths = {(row["backend"], row["operator"], path_text(row)) for row in info.get("paths", [])}
    yield from ((backend, operator) for backend, operator, _ in sorted(paths))
    yield from ((row["backend"], row["operator"]) for row in info.get("repeated", []) if row["differ"])
    libraries = libraries_of(info)
    for row in info.get("pairs", []):
        if row["differ"] and libraries.get(row["a"]) == libraries.get(row["b"]):
            yield from ((row[name], row["operator"]) for name in ("a", "b"))
    for finding in by_relation(info):
        yield from ((backend, operator) for backend in finding.backends for operator in finding.operators)
