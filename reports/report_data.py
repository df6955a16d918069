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

import pandas as pd
from markupsafe import Markup

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType, decimal
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Contest, Operator
from tiebreak.golden.verdicts import VERDICTS
from tiebreak.reports.plots import distance_plot, exponent_plot
from tiebreak.reports.records import Run
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import rows_of, values_by_key
from tiebreak.reports.staircase import staircase
from tiebreak.reports.summary import boundary_grade

LONGEST_COMMAND = 600
MOST_SORTS = 15_000  # rows for the filters, over all causes
MOST_CUBE = 12_000
OPEN = 2  # causes that are unfolded when the page opens
KINDS = (
    "backend",
    "operator",
    "cause",
    "case",
    "round_mode",
    "input_type",
    "output_type",
    "result_type",
    "clause",
    "flags",
)
MEASURES = ("id", "index", "input", "expected", "got", "distance", "boundary_ulp")
CAUSE = ("backend", "operator", "root")
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
    """The `most` most frequent root causes, with up to `samples` rows each; and how many are left out."""
    groups, kinds = by_root_cause(run.discrepancies)
    named = {(c["backend"], c["operator"], c["cause"]): c for c in run.info.get("clusters", [])}
    labels = {key: sample_labels(members, samples, named.get(key, {})) for key, members in groups[:most]}
    every = [label for some in labels.values() for label in some]
    chosen = dict(zip(every, rows_of(run.discrepancies.loc[every]), strict=True))
    judged = judged_counts(run)
    tried = judged_exponents(run)
    specs = {str(backend["name"]): str(backend["spec"]) for backend in run.info["backends"]}
    rows: list[Row] = []
    for key, members in groups[:most]:
        shown = [chosen[label] for label in labels[key]]
        row = root_cause_row(key, members, kinds[key], named.get(key, {}))
        row |= {"judged": judged.get(key[:2], 0), "open": len(rows) < OPEN}
        row["pictures"] = [Markup(picture) for picture in pictures(members, shown, tried.get(key[:2], {}))]
        row["samples"] = [sample_row(one, specs, run, folder, names) for one in shown]
        listed = kinds[key].most_common(max(4, MOST_SORTS // len(labels)))
        row["sorts"] = numbers_text([sort_row(sort, count, names) for sort, count in listed])
        rows.append(row)
    return rows, len(groups) - len(rows)


def by_root_cause(discrepancies: pd.DataFrame) -> tuple[list[tuple[Any, pd.DataFrame]], dict[Any, Counter[Sort]]]:
    """Discrepancies by backend, operator and root cause, the largest first; and for each how many of each sort."""
    slim = discrepancies[[*KINDS, *MEASURES]].astype(dict.fromkeys(KINDS, "category"))
    roots = {cause: root_of(str(cause)) for cause in slim["cause"].cat.categories}
    slim = slim.assign(root=slim["cause"].map(roots).astype("category"))
    groups = [(key, group) for key, group in slim.groupby([*CAUSE], observed=True)]
    kinds: dict[Any, Counter[Sort]] = {key: Counter() for key, _ in groups}
    for labels, count in values_by_key(slim.groupby([*CAUSE, *SORT], observed=True).size()):
        mode, one, other, clause, flags = map(str, labels[3:])
        kinds[labels[:3]][mode, one, other, clause, flags] = int(count)
    return sorted(groups, key=lambda item: -len(item[1])), kinds


def judged_counts(run: Run) -> dict[tuple[str, str], int]:
    """(backend, operator) to the number of judged elements."""
    sums = run.results.groupby(["backend", "operator"])[["exact", "working_precision", "deviates"]].sum().sum(axis=1)
    return {(str(backend), str(operator)): int(count) for (backend, operator), count in values_by_key(sums)}


def judged_exponents(run: Run) -> dict[tuple[str, str], dict[int, int]]:
    """(backend, operator) to counts of judged elements by the input's exponent; empty for older runs."""
    return {
        (str(backend["name"]), str(operator)): {int(exponent): int(count) for exponent, count in counts.items()}
        for backend in run.info["backends"]
        for operator, counts in backend.get("judged", {}).items()
    }


def root_cause_row(key: Sequence[str], members: pd.DataFrame, kinds: Counter[Sort], recorded: Mapping[str, Any]) -> Row:
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
        "cases": int(members["case"].nunique()),
        "grade": boundary_grade(members["boundary_ulp"].max(skipna=False)),
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


def sample_labels(members: pd.DataFrame, most: int, recorded: Mapping[str, Any]) -> list[Any]:
    """Labels of the rows to show: the witness, one per types and mode, one per case, then those nearest a boundary."""
    ordered = members.sort_values(["boundary_ulp", "index"], kind="stable", na_position="last")
    first = members.index[members["id"] == str(recorded.get("witness", {}).get("id", ""))]
    kinds = ordered.index[~ordered.duplicated(["input_type", "output_type", "round_mode"])]
    cases = ordered.index[~ordered.duplicated("case")]
    every = [*first[:1], *kinds[:most], *cases[:most], *ordered.index[:most]]
    return list(dict.fromkeys(every))[:most]


def pictures(members: pd.DataFrame, shown: Sequence[Mapping[Any, Any]], judged: Mapping[int, int]) -> list[str]:
    """SVGs: the first possible staircase, exponents of inputs, and distances of real results."""
    near = next((picture for row in shown if (picture := staircase(dict(row)))), "")
    return [picture for picture in (near, exponent_plot(members, judged), distance_plot(members)) if picture]


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
    counts = run.results.groupby(keys, sort=False).size()
    typed = len(counts) <= MOST_CUBE
    if not typed:
        counts = run.results.assign(input_type="", output_type="").groupby(keys, sort=False).size()
    kinds = ("backend", "operator", "mode", "type", "type", "verdict")
    rows = [
        [*(names.at(kind, value) for kind, value in zip(kinds, key, strict=True)), int(count)]
        for key, count in values_by_key(counts)
    ]
    return rows, typed
