"""The HTML report's data on discrepancies: root causes, sample rows of each, and the tables for the filters."""

from __future__ import annotations

import json
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType, decimal
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Contest, Operator
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import VERDICTS
from tiebreak.reports.folding import FoldedCause, folded_causes
from tiebreak.reports.plots import DISTANCE, distance_plot, exponent_plot
from tiebreak.reports.records import Run
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import rows_of, values_by_key
from tiebreak.reports.severity import severity, share_text
from tiebreak.reports.staircase import staircase
from tiebreak.reports.summary import boundary_grade
from tiebreak.reports.text_columns import mapped_text

LONGEST_COMMAND = 600
MOST_SORTS = 15_000  # rows for the filters, over all causes
MOST_CUBE = 12_000
OPEN = 2  # causes that are unfolded when the page opens
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
    verdict: tuple[str, ...] = VERDICTS

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
    )


def cause_rows(run: Run, folder: str, names: Names, *, most: int, samples: int) -> tuple[list[Row], int]:
    """The first `most` root causes of the story, with up to `samples` rows each; and how many are left out."""
    by_key, kinds = by_root_cause(run.discrepancies)
    named = {(c["backend"], c["operator"], c["cause"]): c for c in run.info.get("clusters", [])}
    folded = {key_of(one.row): one for one in folded_causes(run) if key_of(one.row) in by_key}
    told = {key_of(row) for one in folded.values() for row in one.rows}
    groups = [(key, by_key[key]) for key in (*folded, *(key for key in by_key if key not in told))]
    witnesses = places_of_ids(run.discrepancies, [witness_of(recorded) for recorded in named.values()])
    judged = judged_counts(run)
    tried = judged_exponents(run)
    specs = {str(backend["name"]): str(backend["spec"]) for backend in run.info["backends"]}
    rows: list[Row] = []
    for key, places in groups[:most]:
        recorded = named.get(key, {})
        members = Members(run.discrepancies, places)
        shown = rows_of(members.rows(sample_places(members, samples, witnesses.get(witness_of(recorded), -1))))
        row = root_cause_row(key, members, kinds[key], recorded)
        row |= {"judged": judged.get(key[:2], 0), "open": len(rows) < OPEN}
        row |= folded_row(folded.get(key), run.discrepancies, places, names)
        row["pictures"] = [Markup(picture) for picture in pictures(members, shown, tried.get(key[:2], {}))]
        row["samples"] = [sample_row(one, specs, run, folder, names) for one in shown]
        listed = kinds[key].most_common(max(4, MOST_SORTS // min(most, len(groups))))
        row["sorts"] = numbers_text([sort_row(sort, count, names) for sort, count in listed])
        rows.append(row)
    return rows, len(groups) - len(rows)


def key_of(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(row["backend"]), str(row["operator"]), root_of(str(row["cause"]))


def folded_row(found: FoldedCause | None, discrepancies: pd.DataFrame, places: Array, names: Names) -> Row:
    """What a folded cause adds to the row of its plainest one: who and what else it is about, and its share."""
    if found is None:
        first = discrepancies.iloc[int(places[0])]
        return {"document": first["document"], "share": "", "severity": "", "also": [], "at": where_of([first], names)}
    others = [row for row in found.rows if row["id"] != found.row["id"]]
    also = [f"{row['id']} {row['backend']}, {row['operator']}" for row in others]
    shown = {"document": found.document, "share": share_text(found.row), "severity": severity(found.row)}
    return {**shown, "also": also, "at": where_of(found.rows, names)}


def where_of(rows: Sequence[Mapping[str, Any]] | Sequence[pd.Series[Any]], names: Names) -> dict[str, str]:
    """The positions of the rows' backends and operators in the filters."""
    return {
        kind[0]: " ".join(dict.fromkeys(str(names.at(kind, row[kind])) for row in rows))
        for kind in ("backend", "operator")
    }


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
    sums = by_operator[["exact", "working_precision", "deviates"]].sum().sum(axis=1)
    return {(str(backend), str(operator)): int(count) for (backend, operator), count in values_by_key(sums)}


def judged_exponents(run: Run) -> dict[tuple[str, str], dict[int, int]]:
    """(backend, operator) to counts of judged elements by the input's exponent; empty for older runs."""
    return {
        (str(backend["name"]), str(operator)): {int(exponent): int(count) for exponent, count in counts.items()}
        for backend in run.info["backends"]
        for operator, counts in backend.get("judged", {}).items()
    }


def root_cause_row(key: Sequence[str], members: Members, kinds: Counter[Sort], recorded: Mapping[str, Any]) -> Row:
    backend, operator_id, cause = key
    operator = OPERATORS.get(operator_id)
    clauses: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for (_, one, other, clause, _), count in kinds.items():
        clauses[clause] += count
        types[f"{one} → {other}"] += count
    return {
        "id": str(recorded.get("id", "")),
        "anchor": anchor_of(key, recorded),
        "backend": backend,
        "operator": operator_id,
        "cause": cause,
        "example": example_of(recorded),
        "elements": len(members),
        "cases": int(members.column("case").nunique()),
        "grade": boundary_grade(members.column("boundary_ulp").max(skipna=False)),
        "clauses": [(one, text_of_clause(operator, one), count) for one, count in clauses.most_common()],
        "types": types.most_common(),
        "contested": contests_of(operator, clauses.most_common(1)[0][0]),
    }


def example_of(recorded: Mapping[str, Any]) -> str:
    """The recorded sentence without its beginning, which repeats the cause's first line."""
    sentence = str(recorded.get("sentence", ""))
    return sentence.partition(f" of {recorded.get('cases', 0):,} cases). ")[2] or sentence


def anchor_of(key: Sequence[str], recorded: Mapping[str, Any]) -> str:
    """An HTML anchor: the cause's id if valid, otherwise a checksum that is the same in every report."""
    name = str(recorded.get("id", ""))
    return name if re.fullmatch(r"C\d{1,9}", name) else f"cause-{zlib.crc32(repr(tuple(key)).encode()):08x}"


def text_of_clause(operator: Operator | None, clause: str) -> str:
    return next((one.text for one in operator.clauses if one.id == clause), "") if operator else ""


def contests_of(operator: Operator | None, clause: str) -> list[Contest]:
    """The contested questions about a clause."""
    return [contest for contest in operator.contested if clause in contest.clauses] if operator else []


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


def pictures(members: Members, shown: Sequence[Mapping[Any, Any]], judged: Mapping[int, int]) -> list[str]:
    """SVGs: the first possible staircase, exponents of inputs, and distances of real results."""
    near = next((picture for row in shown if (picture := staircase(dict(row)))), "")
    return [picture for picture in (near, *plots_of(members, judged)) if picture]


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


def sample_row(row: Mapping[Any, Any], specs: Mapping[str, str], run: Run, folder: str, names: Names) -> Row:
    """A sample with texts: operands, both expected results, the actual result, and the commands that show it."""
    kind = ELEMENT_TYPES[row["result_type"]]
    offline = run.info["level"] == "offline"
    texts = {
        "operands": json.loads(row["operands"]),
        "expected": result_text(row["expected"], row["expected_bits"], kind),
        "working": result_text(row["expected_working"], row["working_bits"], kind),
        "got": result_text(row["got"], row["got_bits"], kind),
        "away": distance_text(row, kind),
        "where": boundary_grade(row["boundary_ulp"]),
        "replay": "" if offline else replay_command(row, specs[row["backend"]], folder),
        "repro": "" if offline else whole_command(repro_words(row["id"], folder, specs[row["backend"]])),
        "at": {
            "m": names.at("mode", row["round_mode"]),
            "t": f"{names.at('type', row['input_type'])} {names.at('type', row['output_type'])}",
            "f": " ".join(str(names.at("flag", flag)) for flag in row["flags"].split()),
            "c": names.at("clause", row["clause"]),
        },
    }
    return {str(key): value for key, value in row.items()} | texts


def distance_text(row: Mapping[Any, Any], kind: FloatType | IntegerType) -> str:
    """The signed distance of the result from the expected one, or that one of them is NaN."""
    if row["expected"] != row["expected"] or row["got"] != row["got"]:
        return "one is NaN"
    return f"{int(row['distance']):+,}{' ulp' if isinstance(kind, FloatType) else ''}"


def result_text(value: float, code: int, kind: FloatType | IntegerType) -> list[str]:
    """A result as [decimal, bits]."""
    bits = f"0x{int(code):0{max(1, -(-kind.bits // 4))}x}"
    return [str(int(value)) if isinstance(kind, IntegerType) else decimal(int(code), kind), bits]


def replay_command(row: Mapping[Any, Any], spec: str, folder: str) -> str:
    """The command line that runs this case again; empty if it is too long."""
    words = ["tiebreak", "run", "-b", spec, "--case", row["case"]]
    if not row["case"].startswith(tuple(OPERATORS)):
        words += ["--from", folder]
    return whole_command([*words, "-o", "replay"])


def whole_command(words: Sequence[str]) -> str:
    """A command line to copy; empty if it is too long, since half a command is dangerous."""
    command = shlex.join(words)
    return command if len(command) <= LONGEST_COMMAND else ""


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
