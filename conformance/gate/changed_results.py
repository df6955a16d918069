"""Results that changed between two runs, whether they deviate or not, and cases that no longer run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import RAN
from tiebreak.reports.outputs_file import read_outputs
from tiebreak.reports.records import OUTPUTS
from tiebreak.reports.rows import rows_by_key, values_by_key

if TYPE_CHECKING:
    import pandas as pd

CASE = ["backend", "operator", "case"]
GROUP = ["backend", "operator"]
Row = dict[str, Any]


def that_ran(cases: pd.DataFrame) -> pd.DataFrame:
    return cases[cases["verdict"].isin(RAN)]


def keeps_digests(cases: pd.DataFrame) -> bool:
    """Whether a run recorded digests of outputs; those of older versions did not."""
    return bool((that_ran(cases)["digest"] != 0).all())


def check_digests(folder: Path, cases: pd.DataFrame) -> None:
    """Raise InvalidInput if a run can't tell whether a result changed."""
    if not keeps_digests(cases):
        raise InvalidInput(
            f"{folder}: an older version made this run and kept no digests of outputs, so --any-change has no answer: "
            "make it again"
        )


def changed_results(before: pd.DataFrame, after: pd.DataFrame) -> list[Row] | None:
    """The cases that ran in both and gave other bits, by backend and operator; None if a run did not record digests.

    `conforming` counts those that deviate in neither run. `verdicts` are those of the `first` case.
    """
    if not (keeps_digests(before) and keeps_digests(after)):
        return None
    columns = [*CASE, "digest", "verdict", "output_type"]
    both = that_ran(before)[columns].merge(that_ran(after)[columns], on=CASE, suffixes=("_a", "_b"))
    conforming = (both["verdict_a"] != "deviates") & (both["verdict_b"] != "deviates")
    other = both.assign(conforming=conforming)[both["digest_a"] != both["digest_b"]]
    other = other.sort_values("conforming", ascending=False, kind="stable")  # a deviation is shown as one, too
    totals = dict(values_by_key(both.groupby(GROUP).size()))
    firsts = {"first": "case", "one": "verdict_a", "two": "verdict_b", "type": "output_type_b"}
    counts = other.groupby(GROUP, sort=False).agg(
        cases=("case", "size"), conforming=("conforming", "sum"), **{name: (of, "first") for name, of in firsts.items()}
    )
    return [
        {"backend": str(key[0]), "operator": str(key[1]), "cases": int(row["cases"]), "of": int(totals[key])}
        | {"conforming": int(row["conforming"]), "first": str(row["first"]), "type": str(row["type"])}
        | {"verdicts": [str(row["one"]), str(row["two"])], "example": ""}
        for key, row in rows_by_key(counts).items()
    ]


def other_vectors(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The operators of which two runs, by run.json, have as many golden vectors, but not the same ones."""
    old, new = (info.get("vectors") or {} for info in (before, after))
    both = [(name, old[name], new[name]) for name in old if name in new]
    return [name for name, one, two in both if one["vectors"] == two["vectors"] and one["sha256"] != two["sha256"]]


def not_run(before: pd.DataFrame, after: pd.DataFrame) -> list[Row]:
    """Cases, by backend and operator, that ran before but not now: absent, refused or failed."""
    there, now = that_ran(before)[CASE], that_ran(after)[CASE]
    merged = there.merge(now.drop_duplicates(), on=CASE, how="left", indicator=True)
    missing = merged[merged["_merge"] == "left_only"]
    totals = dict(values_by_key(there.groupby(GROUP).size()))
    counts = dict(values_by_key(missing.groupby(GROUP, sort=False).size()))
    return [
        {"backend": str(key[0]), "operator": str(key[1]), "cases": int(count), "of": int(totals[key])}
        for key, count in counts.items()
    ]


def with_examples(rows: Iterable[Row], before: Path, after: Path, names: Mapping[str, str]) -> Iterator[Row]:
    """The rows of `changed_results`, each with the first element that is another, from the outputs in both folders.

    `names` are the counterparts that have another name in the first run. Without the outputs there is no example.
    """
    rows = list(rows)
    files = [folder / OUTPUTS for folder in (before, after)]
    if not rows or not all(file.exists() for file in files):
        yield from rows
        return
    old, new = (read_outputs(file, {row["first"] for row in rows}) for file in files)
    former = dict(zip(names.values(), names, strict=True))
    for row in rows:
        name, case = str(row["backend"]), str(row["first"])
        a, b = old.get((former.get(name, name), case)), new.get((name, case))
        yield row if a is None or b is None else row | {"example": example_of(a, b, str(row["type"]))}


def example_of(a: Array, b: Array, kind: str) -> str:
    """The first element that differs between the outputs of one case, all elements counted from 0."""
    if a.shape != b.shape:
        return f"{a.size} elements, now {b.size}"
    places = np.flatnonzero(a != b)
    if not places.size:
        return "the sign of a zero"
    at = int(places[0])
    one, two = (code_text(int(codes[at]), kind) for codes in (a, b))
    return f"element {at} was {one} and is {two}"


def code_text(code: int, kind: str) -> str:
    """An integer, or the bits of a real result."""
    found = ELEMENT_TYPES.get(kind)
    return f"{code % (1 << 64):#x}" if isinstance(found, FloatType) else str(code)
