"""Root causes as a reader wants them: one row for what one library does, however often it was asked.

Configurations of a library share a row. So do two operators that one operation of the library is asked for: the one
that it claims and the one that is mapped to it. A fact of the environment, such as subnormals that are flushed, is one
row for all operators; arithmetic that shows beside it is the same as without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.verdicts import DOMAINS, FOREIGN, OWN
from tiebreak.reports.libraries import folded_name, libraries_of
from tiebreak.reports.records import Run
from tiebreak.reports.rows import rows_of

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
SUMMED = ("elements", "judged", "cases", "judged_cases")  # of a domain


@dataclass(frozen=True)
class FoldedCause:
    """Root causes of one library that are one; `row` is that of the plainest, with counts and shares of all."""

    row: dict[str, Any]
    rows: tuple[Row, ...]

    @property
    def ids(self) -> list[str]:
        return [str(row["id"]) for row in self.rows]

    @property
    def backends(self) -> list[str]:
        return list(dict.fromkeys(str(row["backend"]) for row in self.rows))

    @property
    def operators(self) -> list[str]:
        return list(dict.fromkeys(str(row["operator"]) for row in self.rows))

    @property
    def who(self) -> str:
        return folded_name(self.backends)

    @property
    def document(self) -> str:
        return OWN if any(document_of(row) == OWN for row in self.rows) else FOREIGN


def folded_causes(run: Run) -> list[FoldedCause]:
    """The root causes of a run in their order, folded; those of the discrepancies themselves if none could be made."""
    libraries, groups = libraries_of(run.info), list[list[Row]]()
    rows = run.info.get("clusters") or unranked_causes(run.discrepancies)
    plain = {(libraries.get(row["backend"], ""), name_of(row)) for row in rows if not row.get("environment")}
    alike: dict[tuple[str, str], list[list[Row]]] = defaultdict(list)  # by library and what is the same there
    for row in rows:
        library = libraries.get(row["backend"], "")
        base = str(row.get("arithmetic", ""))
        own = alike[library, base if (library, base) in plain else name_of(row)]
        group = next((group for group in own if any(is_one(one, row) for one in group)), None)
        if group is None:
            groups.append(group := [])
            own.append(group)
        group.append(row)
    return [FoldedCause(merged(rows), tuple(rows)) for rows in groups]


def name_of(row: Row) -> str:
    """What the causes of one library are compared by: the id, or in older runs the sentence. An environment is one."""
    if row.get("environment") and not row.get("arithmetic"):
        return str(row["environment"])
    return str(row.get("cause_id") or row["cause"])


def is_one(one: Row, other: Row) -> bool:
    """Whether two rows of one library and name are one cause: facts of the environment hold for every operator."""
    only_environment = all(row.get("environment") and not row.get("arithmetic") for row in (one, other))
    return only_environment or same_operation(one, other)


def unranked_causes(discrepancies: pd.DataFrame) -> list[Row]:
    """A row for each backend, operator and cause of the discrepancies, the most frequent first."""
    if discrepancies.empty:
        return []
    keys = ["backend", "operator", "cause", "clause", "document"]
    grouped = discrepancies.groupby(keys, sort=False, observed=True)
    table = grouped.agg(elements=("id", "size"), cases=("case", "nunique"), farthest=("distance", "max"))
    rows = rows_of(table.reset_index().sort_values("elements", ascending=False, kind="stable"))
    return [{"id": "", "types": [], "boundary_ulp": None, **row} for row in rows]


def same_operation(one: Row, other: Row) -> bool:
    """Whether one operation was asked under two names: of two operators of one family, one at least is mapped."""
    if one["operator"] == other["operator"]:
        return True
    mapped = FOREIGN in (document_of(one), document_of(other))
    return mapped and family_of(one["operator"]) == family_of(other["operator"])


def document_of(row: Row) -> str:
    return str(row.get("document", OWN))


def family_of(operator: str) -> str:
    return OPERATORS[operator].family if operator in OPERATORS else operator


def merged(rows: Sequence[Row]) -> dict[str, Any]:
    """The row of the library's own document if there is one, else the first, with the counts of all."""
    beyond = [row["boundary_ulp"] for row in rows]
    first = min(rows, key=lambda row: (bool(row.get("arithmetic") and row.get("environment")), document_of(row) != OWN))
    return dict(first) | {
        "elements": sum(row["elements"] for row in rows),
        "cases": sum(row["cases"] for row in rows),
        "types": list(dict.fromkeys(kind for row in rows for kind in row["types"])),
        "farthest": max(row["farthest"] for row in rows),
        "boundary_ulp": None if None in beyond else max(beyond),
        "domains": merged_domains(rows),
    }


def merged_domains(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    found = {}
    for domain in DOMAINS:
        own = [row["domains"][domain] for row in rows if domain in row.get("domains", {})]
        if own:
            beyond = [one["boundary_ulp"] for one in own]
            found[domain] = {
                **{name: sum(one[name] for one in own) for name in SUMMED if all(name in one for one in own)},
                "farthest": max(one["farthest"] for one in own),
                "boundary_ulp": None if None in beyond else max(beyond),
            }
    return found
