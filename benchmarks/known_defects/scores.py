"""Counts from the tallies: how many elements got the true cause, and which causes are taken for which.

given.toml says which defects a given cause names. Nothing else is known of what names causes.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GRADES = ("true", "whole", "half", "wrong", "path", "unexplained", "unmapped")
MEANINGS = {
    "true": "the true cause",
    "whole": "both defects of the box, where one of them suffices",
    "half": "one of two defects that only together give the result",
    "wrong": "a cause that is not the box's",
    "path": "only that the answer depends on the path, of a box where that is so",
    "unexplained": "no cause",
    "unmapped": "a cause that given.toml does not have",
}
FRONT = re.compile(r"^the (tail|body) of a vector loop of (\d+) rounds (\w+)$")


@dataclass
class Tally:
    """A box's deviating elements by given and true causes: `[given, [true, …], elements, example]`.

    A true cause is written as its defects, joined by +, and each as defect@path.
    """

    box: str
    sentence: str
    uses: list[list[str]]
    cases: int = 0
    deviating_cases: int = 0
    failed_cases: int = 0
    counts: list[list[Any]] = field(default_factory=list)


@cache
def named() -> Mapping[str, frozenset[frozenset[str]]]:
    """By given cause the sets of defects that it may name."""
    found = tomllib.loads((HERE / "given.toml").read_text(encoding="utf-8"))["given"]
    return {entry["cause"]: frozenset(frozenset(names.split("+")) for names in entry["defects"]) for entry in found}


@cache
def claims(given: str) -> frozenset[frozenset[str]] | None:
    """The sets of defects that a cause may name, also one that joins several by commas; None if one is unknown."""
    if given in named():
        return named()[given]
    for first in sorted(named(), key=len, reverse=True):
        others = claims(given.removeprefix(f"{first}, ")) if given.startswith(f"{first}, ") else None
        if others is not None:
            return frozenset(one | other for one in named()[first] for other in others)
    return None


def split_place(given: str) -> tuple[str, str]:
    """A given cause without the place where it holds, and that place."""
    rounds = FRONT.match(given)
    if rounds:
        where, width, mode = rounds.groups()
        kind = "wrong tie rule" if mode.startswith("NEAREST") else "wrong rounding"
        return f"{kind}: {mode}", f"in the {where} of a vector loop of {width}"
    for place in PLACES:
        if found := re.search(rf", ({place})$", given):
            return given[: found.start()], found.group(1)
    return given, ""


PLACES = (
    r"in the (?:tail|body) of a vector loop of \d+",
    r"per axis",
    r"per tensor",
    r"per block",
    r"of one element(?: alone)?",
    r"of (?:positive|negative) scales",
    r"where (?:the )?parameters are (?:constants|inputs)",
)


def grade(tally: Tally, given: str, true: Sequence[str]) -> str:
    """One of GRADES for elements of a box with a given and their true causes."""
    if given == "unexplained":
        return given
    if given.startswith("path-dependent"):
        return "path" if any(path for _, path in tally.uses) else "wrong"
    claimed = claims(split_place(given)[0])
    if claimed is None:
        return "unmapped"
    causes = {frozenset(use.partition("@")[0] for use in cause.split("+")) for cause in true}
    return grade_of_sets(claimed, causes, frozenset(defect for defect, _ in tally.uses))


def grade_of_sets(claimed: Iterable[frozenset[str]], true: set[frozenset[str]], box: frozenset[str]) -> str:
    claimed = set(claimed)
    if claimed & true:
        return "true"
    if box in claimed:
        return "whole"
    return "half" if any(some < cause for some in claimed for cause in true) else "wrong"


def by_grade(tally: Tally) -> Counter[str]:
    found: Counter[str] = Counter()
    for given, true, elements, _ in tally.counts:
        found[grade(tally, given, true)] += elements
    return found


def confusions(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Given and true causes that do not match, the most elements first; with an example of each."""
    elements: Counter[tuple[str, str, str]] = Counter()
    boxes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    examples: dict[tuple[str, str, str], str] = {}
    for tally in tallies:
        for given, true, count, example in tally.counts:
            key = grade(tally, given, true), shown(given), " or ".join(true)
            if key[0] != "true":
                elements[key] += count
                boxes[key].append(tally.box)
                examples.setdefault(key, example)
    return [
        dict(zip(("grade", "given", "true"), key, strict=True))
        | {"elements": count, "boxes": len(boxes[key]), "box": boxes[key][0], "example": examples[key]}
        for key, count in elements.most_common()
    ]


def shown(given: str) -> str:
    """A given cause, shortened where it lists answers."""
    return "path-dependent: …" if given.startswith("path-dependent") else given


def rows_of_boxes(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """A row for each box, with its elements by grade."""
    rows = []
    for tally in tallies:
        grades, about = by_grade(tally), asdict(tally)
        kept = {name: about[name] for name in ("box", "sentence", "cases", "deviating_cases", "failed_cases")}
        rows.append(kept | {"elements": grades.total()} | {name: grades[name] for name in GRADES})
    return rows


def of_each(rows: Sequence[dict[str, Any]], name: str) -> tuple[float, float]:
    """A grade's share of all elements, and its mean share over the boxes that deviate."""
    deviating = [row for row in rows if row["elements"]]
    total = sum(row["elements"] for row in deviating)
    mean = sum(row[name] / row["elements"] for row in deviating) / max(len(deviating), 1)
    return sum(row[name] for row in deviating) / max(total, 1), mean


def summary(tallies: Sequence[Tally], most: int = 25) -> str:
    rows = rows_of_boxes(tallies)
    deviating = [row for row in rows if row["elements"]]
    lines = ["# Known defects", "", f"Boxes: {len(rows)}, of which {len(rows) - len(deviating)} nothing catches."]
    lines += [f"Deviating elements: {sum(row['elements'] for row in rows):,}.", ""]
    lines += ["| given is | of all elements | mean over boxes |", "| --- | ---: | ---: |"]
    for name in GRADES:
        share, mean = of_each(rows, name)
        lines.append(f"| {MEANINGS[name]} | {share:.1%} | {mean:.1%} |")
    lines += ["", *by_operator(deviating), "", *by_number(tallies, rows), "", *places(tallies), ""]
    lines += [*worst_boxes(deviating, most), "", *worst_confusions(tallies, most), ""]
    uncaught = [row["box"] for row in rows if not row["elements"]]
    return "\n".join([*lines, "## Uncaught", "", *(f"- {box}" for box in uncaught or ["none"]), ""])


def share_lines(title: str, parts: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    """The mean shares over the boxes of each part."""
    lines = [f"| {title} | boxes | elements | {' | '.join(GRADES)} |", "| --- |" + " ---: |" * (2 + len(GRADES))]
    for name, rows in parts.items():
        means = [f"{of_each(rows, grade)[1]:.0%}" for grade in GRADES]
        elements = sum(row["elements"] for row in rows)
        lines.append(f"| {name} | {len(rows)} | {elements:,} | {' | '.join(means)} |")
    return lines


def by_operator(rows: Sequence[dict[str, Any]]) -> list[str]:
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        parts[row["box"].partition("/")[0]].append(row)
    return share_lines("operator", parts)


def by_number(tallies: Sequence[Tally], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Shares of boxes with one defect, with one on a path, and with two."""
    parts: dict[str, list[dict[str, Any]]] = {"one defect": [], "one defect, on a path": [], "two defects": []}
    for tally, row in zip(tallies, rows, strict=True):
        on_path = any(path for _, path in tally.uses)
        name = "two defects" if len(tally.uses) > 1 else "one defect, on a path" if on_path else "one defect"
        if row["elements"]:
            parts[name].append(row)
    return share_lines("boxes with", parts)


def places(tallies: Sequence[Tally]) -> list[str]:
    """Whether a true cause also says where it holds, of boxes with one defect."""
    found: Counter[str] = Counter()
    for tally in tallies:
        path = tally.uses[0][1] if len(tally.uses) == 1 else None
        for given, true, elements, _ in tally.counts:
            if path is not None and grade(tally, given, true) == "true":
                found[placed(split_place(given)[1], path)] += elements
    return [
        "Of true causes of one defect:",
        "",
        *(f"- {elements:,} elements: {what}" for what, elements in found.items()),
    ]


def placed(given: str, path: str) -> str:
    """What a given place is worth for a defect on this path."""
    if not path:
        return "a place is named, but the defect is everywhere" if given else "everywhere, and no place is named"
    if not given:
        return "on a path, which is not named"
    part, width = re.sub(r"\d", "", path).removeprefix("row-"), re.sub(r"\D", "", path)
    right = part in given and given.endswith(f" of {width}") if width else path.replace("-", " ") in given
    return "on a path, which is named" if right else "on a path, and another one is named"


def worst_boxes(rows: Sequence[dict[str, Any]], most: int) -> list[str]:
    """The boxes with the smallest share of true causes, by elements without one."""
    poor = sorted(rows, key=lambda row: row["true"] + row["whole"] - row["elements"])
    lines = [
        "## Worst boxes",
        "",
        f"| box | elements | {' | '.join(GRADES)} |",
        "| --- |" + " ---: |" * (1 + len(GRADES)),
    ]
    return lines + [
        f"| {row['box']} | {row['elements']:,} | {' | '.join(str(row[name]) for name in GRADES)} |"
        for row in poor[:most]
    ]


def worst_confusions(tallies: Sequence[Tally], most: int) -> list[str]:
    lines = ["## Confusions", "", "| given | true | grade | elements | boxes | example |"]
    lines.append("| --- | --- | --- | ---: | ---: | --- |")
    return lines + [
        f"| {row['given']} | {row['true']} | {row['grade']} | {row['elements']:,} | {row['boxes']} | {row['example']} |"
        for row in confusions(tallies)[:most]
    ]


def write_table(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, list(rows[0]) if rows else [])
        table.writeheader()
        table.writerows(rows)


def write_scores(folder: Path, tallies: Sequence[Tally]) -> str:
    """Write boxes.csv, confusions.csv and summary.md; the summary."""
    write_table(folder / "boxes.csv", rows_of_boxes(tallies))
    write_table(folder / "confusions.csv", confusions(tallies))
    text = summary(tallies)
    (folder / "summary.md").write_text(text, encoding="utf-8")
    return text
