"""The HTML report's data on discrepancies: root causes, sample rows of each, and the tables for the filters."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from tiebreak.golden.elements import FloatType, IntegerType, decimal
from tiebreak.golden.operators.model import Contest, Operator
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DOMAINS, FOREIGN, OWN, VERDICTS
from tiebreak.reports.plots import DISTANCE, distance_plot, exponent_plot
from tiebreak.reports.records import JUDGED, Run
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import values_by_key
from tiebreak.reports.text_columns import mapped_text

LONGEST_COMMAND = 600
MOST_SORTS = 15_000  # rows for the filters, over all causes
MOST_CUBE = 12_000
SAMPLES = 6  # rows of a root cause at least
MOST_SAMPLES, MOST_OF_ONE = 1200, 200  # rows of all root causes, and of one
CAUSE = ("backend", "operator", "root")
SHOWN_ONCE = ("input_type", "output_type", "round_mode")
PIECE = 1 << 16  # rows
SORT = ("round_mode", "input_type", "output_type", "clause", "flags")
Row = dict[str, Any]
Sort = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Names:
    """The choices of each filter, in order. Rows refer to them by position."""

    backend: tuple[str, ...]
    operator: tuple[str, ...]
    mode: tuple[str, ...]
    type: tuple[str, ...]
    flag: tuple[str, ...]
    clause: tuple[str, ...]
    cause: tuple[str, ...]
    verdict: tuple[str, ...] = VERDICTS
    document: tuple[str, ...] = (OWN, FOREIGN)
    domain: tuple[str, ...] = DOMAINS

    def at(self, kind: str, value: object) -> int:
        """The position of a value in a filter; -1 if the filter lacks it."""
        values: tuple[str, ...] = getattr(self, kind)
        return values.index(str(value)) if str(value) in values else -1


@dataclass(frozen=True)
class Members:
    """Some discrepancies by their places in the table. A column at a time is copied: all together may be the table."""

    discrepancies: pd.DataFrame
    places: Array

    def __len__(self) -> int:
        return len(self.places)

    def column(self, name: str) -> pd.Series[Any]:
        return self.discrepancies[name].iloc[self.places]

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        return self.discrepancies[[*names]].iloc[self.places]

    def rows(self, numbers: Sequence[int]) -> pd.DataFrame:
        """The rows of the members with these numbers."""
        return self.discrepancies.iloc[self.places[numbers]]


def names_of(run: Run) -> Names:
    """The values that occur in the run; for flags and clauses only those of discrepancies and forbidden calls."""
    results, found = run.results, run.discrepancies
    backends = dict.fromkeys([*(str(one["name"]) for one in run.info["backends"]), *results["backend"].unique()])
    clauses = {*found["clause"].unique(), *(str(row["clause"]) for row in run.info.get("forbidden", []))}
    types = {*results["input_type"].unique(), *results["output_type"].unique()}
    return Names(
        backend=tuple(backends),
        operator=tuple(sorted(results["operator"].unique())),
        mode=tuple(sorted(results["round_mode"].unique())),
        type=tuple(sorted(types)),
        flag=tuple(sorted({flag for flags in found["flags"].unique() for flag in flags.split()})),
        clause=tuple(sorted(clauses)),
        cause=tuple(sorted({cause_name(row) for row in run.info.get("clusters", [])})),
    )


def cause_name(row: Mapping[str, Any]) -> str:
    """What a filter calls a root cause: its id, or in older runs its sentence."""
    return str(row.get("cause_id") or row["cause"])


def key_of(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(row["backend"]), str(row["operator"]), root_of(str(row["cause"]))


def by_root_cause(discrepancies: pd.DataFrame) -> tuple[dict[Any, Array], dict[Any, Counter[Sort]]]:
    """The places of discrepancies by backend, operator and root cause, the largest first; and how many of each sort."""
    roots = mapped_text(discrepancies["cause"], root_of)
    slim = discrepancies[["backend", "operator", *SORT]].assign(root=roots)
    kinds: dict[Any, Counter[Sort]] = {}
    for labels, count in values_by_key(counts_of(slim, [*CAUSE, *SORT])):
        mode, one, other, clause, flags = map(str, labels[3:])
        kinds.setdefault(labels[:3], Counter())[mode, one, other, clause, flags] = int(count)
    places = places_by(slim, [*CAUSE])
    return dict(sorted(((key, places[key]) for key in kinds), key=lambda item: -len(item[1]))), kinds


def root_cause_places(discrepancies: pd.DataFrame) -> dict[tuple[str, str, str], Array]:
    """The places of discrepancies by backend, operator and root cause."""
    slim = discrepancies[["backend", "operator"]].assign(root=mapped_text(discrepancies["cause"], root_of))
    return {(str(a), str(b), str(c)): places for (a, b, c), places in places_by(slim, [*CAUSE]).items()}


def places_by(frame: pd.DataFrame, keys: list[str]) -> dict[Any, Array]:
    """The places of the rows of each group, in order."""
    grouped = frame.groupby(keys[0] if len(keys) == 1 else keys, observed=True)
    return {key: np.asarray(places) for key, places in grouped.indices.items()}


def counts_of(frame: pd.DataFrame, keys: list[str]) -> pd.Series[Any]:
    """The number of rows of each group; counted piece by piece, since grouping takes eight bytes a row for each key."""
    starts = range(0, max(1, len(frame)), PIECE)
    pieces = [frame.iloc[start : start + PIECE].groupby(keys, observed=True).size() for start in starts]
    return pd.concat(pieces).groupby(level=keys, observed=True).sum()


def judged_counts(run: Run) -> dict[tuple[str, str], int]:
    """(backend, operator) to the number of judged elements."""
    by_operator = run.results.groupby(["backend", "operator"], observed=True)
    sums = by_operator[list(JUDGED)].sum().sum(axis=1)
    return {(str(backend), str(operator)): int(count) for (backend, operator), count in values_by_key(sums)}


def judged_exponents(run: Run) -> dict[tuple[str, str], dict[int, int]]:
    """(backend, operator) to counts of judged elements by the input's exponent; empty for older runs."""
    return {
        (str(backend["name"]), str(operator)): {int(exponent): int(count) for exponent, count in counts.items()}
        for backend in run.info["backends"]
        for operator, counts in backend.get("judged", {}).items()
    }


def example_of(recorded: Mapping[str, Any]) -> str:
    """The recorded sentence without its beginning, which repeats the cause's first line."""
    sentence = str(recorded.get("sentence", ""))
    return re.split(r" elements of [\d,]+ cases\)\. ", sentence, maxsplit=1)[-1]


def anchor_of(key: Sequence[str], recorded: Mapping[str, Any]) -> str:
    """An HTML anchor: the cause's id if valid, otherwise a checksum that is the same in every report."""
    name = str(recorded.get("id", ""))
    return name if re.fullmatch(r"C\d{1,9}", name) else f"cause-{zlib.crc32(repr(tuple(key)).encode()):08x}"


def text_of_clause(operator: Operator | None, clause: str) -> str:
    return next((one.text for one in operator.clauses if one.id == clause), "") if operator else ""


def contests_of(operator: Operator | None, clause: str) -> list[Contest]:
    """The contested questions about a clause."""
    return [contest for contest in operator.contested if clause in contest.clauses] if operator else []


def samples_each(causes: int) -> int:
    """How many rows each of so many root causes may show."""
    return max(SAMPLES, min(MOST_OF_ONE, MOST_SAMPLES // max(1, causes)))


def sample_places(members: Members, most: int, witness: int) -> list[int]:
    """Numbers of the members to show: the witness, one per types and mode, one per case, then those near a boundary.

    `witness` is its place in the table.
    """
    order = np.lexsort((members.column("index").to_numpy(), members.column("boundary_ulp").to_numpy()))  # NaN is last
    first = np.flatnonzero(members.places == witness)
    kinds, cases = (first_of_each(members.columns(names), order, most) for names in (SHOWN_ONCE, ("case",)))
    return list(dict.fromkeys([*first.tolist(), *kinds, *cases, *order[:most].tolist()]))[:most]


def first_of_each(rows: pd.DataFrame, order: Array, most: int) -> list[int]:
    """The numbers of the first `most` rows, in this order, that differ from those before them."""
    found: dict[tuple[Any, ...], int] = {}
    for start in range(0, len(order), PIECE):  # the first piece is enough, as a rule
        piece = order[start : start + PIECE]
        new = piece[~rows.iloc[piece].duplicated().to_numpy()]
        for number, row in zip(new.tolist(), rows.iloc[new].itertuples(index=False), strict=True):
            found.setdefault(tuple(row), number)
        if len(found) >= most:
            break
    return list(found.values())[:most]


def witness_of(recorded: Mapping[str, Any]) -> str:
    return str(recorded.get("witness", {}).get("id", ""))


def places_of_ids(discrepancies: pd.DataFrame, ids: Sequence[str]) -> dict[str, int]:
    """Where the discrepancies with these ids are."""
    places = np.flatnonzero(discrepancies["id"].isin(ids))
    return dict(zip(discrepancies["id"].iloc[places].tolist(), places.tolist(), strict=True))


def plots_of(members: Members, judged: Mapping[int, int]) -> list[str]:
    """SVGs of discrepancies by the exponents of their inputs and by their distances; empty where there is nothing."""
    return [exponent_plot(members.columns(["input"]), judged), distance_plot(members.columns(DISTANCE))]


def sort_row(sort: Sort, count: int, names: Names) -> list[Any]:
    """[mode, input type, output type, clause, flags, elements] by position in the filters."""
    mode, one, other, clause, flags = sort
    types = [names.at("type", one), names.at("type", other)]
    return [
        names.at("mode", mode),
        *types,
        names.at("clause", clause),
        [names.at("flag", flag) for flag in flags.split()],
        count,
    ]


def distance_text(row: Mapping[Any, Any], kind: FloatType | IntegerType) -> str:
    """The signed distance of the result from the expected one, or that one of them is NaN."""
    if row["expected"] != row["expected"] or row["got"] != row["got"]:
        return "one is NaN"
    return f"{int(row['distance']):+,}{' ulp' if isinstance(kind, FloatType) else ''}"


def result_text(value: float, code: int, kind: FloatType | IntegerType) -> list[str]:
    """A result as [decimal, bits]."""
    bits = f"0x{int(code):0{max(1, -(-kind.bits // 4))}x}"
    return [str(int(value)) if isinstance(kind, IntegerType) else decimal(int(code), kind), bits]


def numbers_text(numbers: list[Any]) -> Markup:
    """Nested lists of integers as JSON for an HTML attribute. Integers need no escaping."""
    return Markup(json.dumps(numbers, separators=(",", ":")))


def case_counts(run: Run, names: Names) -> tuple[list[list[int]], bool]:
    """Rows [backend, operator, mode, input type, output type, verdict, cases] by position; and whether types count."""
    keys = ["backend", "operator", "round_mode", "input_type", "output_type", "verdict"]
    counts = run.results.groupby(keys, sort=False, observed=True).size()
    typed = len(counts) <= MOST_CUBE
    if not typed:
        without = run.results[keys].assign(input_type="", output_type="")
        counts = without.groupby(keys, sort=False, observed=True).size()
    kinds = ("backend", "operator", "mode", "type", "type", "verdict")
    rows = [
        [*(names.at(kind, value) for kind, value in zip(kinds, key, strict=True)), int(count)]
        for key, count in values_by_key(counts)
    ]
    return rows, typed
