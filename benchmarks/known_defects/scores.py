"""Counts from the tallies: how many elements got the true cause, and which causes are taken for which.

given.toml says which defects a given cause names. Nothing else is known of what names causes, but how ids say forms.
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

from tiebreak.conformance.semantics.causes import without_forms

HERE = Path(__file__).parent
BY_ARRAY = frozenset({"given-range-ignored"})  # its answer for an element depends on the others, so on its array
GRADES = ("true", "whole", "same", "half", "wrong", "path", "unexplained", "unmapped")
JOINT = " + "
MEANINGS = {
    "true": "the true cause",
    "whole": "both defects of the box, where one of them suffices",
    "same": "a cause that is not the box's, but gives its results in every case of the run",
    "half": "one of two defects that only together give the result",
    "wrong": "a cause that is not the box's",
    "path": "only that the answer depends on the path, of a box where that is so",
    "unexplained": "no cause",
    "unmapped": "a cause that given.toml does not have",
}
FRONT = re.compile(r"rounds-in-(tail|body):(\d+),(\w+)$")


@dataclass
class Tally:
    """A box's deviating elements by given and true causes: `[given, [true, …], elements, operands, example]`.

    `operands` are the distinct ones: path probes repeat a few thousands of times. A true cause is written as its
    defects, joined by +, and each as defect@path.
    """

    box: str
    sentence: str
    uses: list[list[str]]
    cases: int = 0
    deviating_cases: int = 0
    failed_cases: int = 0
    counts: list[list[Any]] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)  # given causes that can't be told from the true one


@cache
def named(operator: str = "") -> Mapping[str, frozenset[frozenset[str]]]:
    """By given cause the sets of defects that it may name, for an operator; for any operator without one."""
    found = tomllib.loads((HERE / "given.toml").read_text(encoding="utf-8"))["given"]
    right = [entry for entry in found if operator in entry.get("operators", [operator])]
    return {entry["cause"]: frozenset(frozenset(names.split("+")) for names in entry["defects"]) for entry in right}


@cache
def claims(given: str, operator: str = "") -> frozenset[frozenset[str]] | None:
    """The sets of defects that a cause may name, also one that joins several by +; None if one is unknown.

    The form of the formula in which a mistake is made is no other mistake.
    """
    known = named(operator)
    given = given if given in known else without_forms(given)
    if given in known:
        return known[given]
    for first in sorted(known, key=len, reverse=True):
        others = claims(given.removeprefix(first + JOINT), operator) if given.startswith(first + JOINT) else None
        if others is not None:
            return frozenset(one | other for one in known[first] for other in others)
    return None


def split_place(given: str) -> tuple[str, str]:
    """The id of a given cause without the place where it holds, and that place in words."""
    rounds = FRONT.match(given)
    if rounds:
        where, width, mode = rounds.groups()
        kind = "ties" if mode.startswith("NEAREST") else "rounds"
        return f"{kind}:{mode}", f"in the {where} of a vector loop of {width}"
    cause, _, place = given.partition(" @ ")
    name, _, width = place.partition(":")
    return cause, f"in the {name} of a vector loop of {width}" if width else name.replace("-", " ")


CONFUSION = ("given", "true", "operands", "elements", "boxes", "example")
PHRASES = {"alone": "of 1 elements", "constants": "as constants", "inputs": "as an input", "blocked": "in blocks"} | {
    "large": "to 65539 elements",
    "after-1024": "positions 2048",
}


def grade(tally: Tally, given: str, true: Sequence[str]) -> str:
    """One of GRADES for elements of a box with a given and their true causes."""
    if given == "unexplained":
        return given
    if given.startswith("path-dependent"):
        return "path" if any(path or defect in BY_ARRAY for defect, path in tally.uses) else "wrong"
    cause = split_place(given)[0]
    claimed = claims(cause, tally.box.partition("/")[0])
    if claimed is None:
        return "unmapped"
    causes = {frozenset(use.partition("@")[0] for use in cause.split("+")) for cause in true}
    found = grade_of_sets(claimed, causes, frozenset(defect for defect, _ in tally.uses))
    return "same" if found == "wrong" and given in tally.alike else found


def grade_of_sets(claimed: Iterable[frozenset[str]], true: set[frozenset[str]], box: frozenset[str]) -> str:
    claimed = set(claimed)
    if claimed & true:
        return "true"
    if box in claimed:
        return "whole"
    return "half" if any(some < cause for some in claimed for cause in true) else "wrong"


def by_grade(tally: Tally) -> tuple[Counter[str], Counter[str]]:
    """Elements and distinct operands of each grade."""
    elements, operands = Counter[str](), Counter[str]()
    for given, true, all_of_them, distinct, _ in tally.counts:
        elements[grade(tally, given, true)] += all_of_them
        operands[grade(tally, given, true)] += distinct
    return elements, operands


def confusions(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Given and true causes that do not match, the most operands first; with an example of each."""
    elements, operands = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    boxes: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    examples: dict[tuple[str, str, str], str] = {}
    for tally in tallies:
        for given, true, count, distinct, example in tally.counts:
            key = grade(tally, given, true), shown(given), " or ".join(true)
            if key[0] != "true":
                elements[key] += count
                operands[key] += distinct
                boxes[key].append(tally.box)
                examples.setdefault(key, example)
    return [
        dict(zip(("grade", "given", "true"), key, strict=True))
        | {"operands": count, "elements": elements[key], "boxes": len(boxes[key]), "box": boxes[key][0]}
        | {"example": examples[key]}
        for key, count in operands.most_common()
    ]


def shown(given: str) -> str:
    """A given cause, shortened where it lists answers."""
    return "path-dependent: …" if given.startswith("path-dependent") else given


def rows_of_boxes(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """A row for each box, with its distinct operands by grade."""
    rows = []
    for tally in tallies:
        (elements, operands), about = by_grade(tally), asdict(tally)
        kept = {name: about[name] for name in ("box", "sentence", "cases", "deviating_cases", "failed_cases")}
        kept |= {"elements": elements.total(), "operands": operands.total()}
        kept |= {name: operands[name] for name in GRADES}
        rows.append(kept | {f"{name}_elements": elements[name] for name in GRADES})
    return rows


def of_each(rows: Sequence[dict[str, Any]], name: str) -> tuple[float, float, float]:
    """A grade's share of all elements, of all distinct operands, and its mean share over the boxes that deviate."""
    deviating = [row for row in rows if row["elements"]]
    elements, operands = (max(sum(row[what] for row in deviating), 1) for what in ("elements", "operands"))
    mean = sum(row[name] / row["operands"] for row in deviating) / max(len(deviating), 1)
    return (
        sum(row[f"{name}_elements"] for row in deviating) / elements,
        sum(row[name] for row in deviating) / operands,
        mean,
    )


def summary(tallies: Sequence[Tally], most: int = 25) -> str:
    rows = rows_of_boxes(tallies)
    deviating = [row for row in rows if row["elements"]]
    lines = ["# Known defects", "", f"Boxes: {len(rows)}, of which {len(rows) - len(deviating)} nothing catches."]
    lines.append(f"Deviating elements: {sum(row['elements'] for row in rows):,}.")
    lines += [f"Distinct operands of them, for each box: {sum(row['operands'] for row in rows):,}.", ""]
    lines += ["| given is | of elements | of distinct operands | mean over boxes |", "| --- | ---: | ---: | ---: |"]
    for name in GRADES:
        lines.append(f"| {MEANINGS[name]} | {' | '.join(f'{share:.1%}' for share in of_each(rows, name))} |")
    lines += ["", *by_operator(deviating), "", *by_number(tallies, rows), "", *places(tallies), ""]
    lines += [*spread(deviating), "", *worst_boxes(deviating, most), ""]
    for title, grades in (("Wrong", ("wrong", "half")), ("Unexplained", ("unexplained", "vague", "unmapped"))):
        lines += [f"## {title}", "", *worst_confusions(tallies, grades, most), ""]
    lines += [*never_named(tallies, rows), ""]
    uncaught = [row["box"] for row in rows if not row["elements"]]
    return "\n".join([*lines, "## Uncaught", "", *(f"- {box}" for box in uncaught or ["none"]), ""])


def share_lines(title: str, parts: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    """The mean shares over the boxes of each part."""
    lines = [f"| {title} | boxes | operands | {' | '.join(GRADES)} |", "| --- |" + " ---: |" * (2 + len(GRADES))]
    for name, rows in parts.items():
        means = [f"{of_each(rows, grade)[2]:.0%}" for grade in GRADES]
        operands = sum(row["operands"] for row in rows)
        lines.append(f"| {name} | {len(rows)} | {operands:,} | {' | '.join(means)} |")
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
    """Whether causes say where a defect holds, of boxes with one: true causes, and those that say nothing else."""
    found: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        path = tally.uses[0][1] if len(tally.uses) == 1 else None
        for given, true, _, operands, _ in tally.counts:
            name = grade(tally, given, true)
            if path is not None and name in ("true", "path"):
                found[name, placed(split_place(given)[1] if name == "true" else given, path)] += operands
    lines = [f"| {MEANINGS[name]} | {what} | {operands:,} |" for (name, what), operands in sorted(found.items())]
    return ["| given is | the defect is | operands |", "| --- | --- | ---: |", *lines]


def placed(given: str, path: str) -> str:
    """What a given place is worth for a defect on this path."""
    if not path:
        return "everywhere, but a place is named" if given else "everywhere, and no place is named"
    if not given:
        return "on a path, which is not named"
    return f"on a path, {'which is' if phrase_of(path) in given else 'and another is'} named"


def phrase_of(path: str) -> str:
    """Words that name a path in a given cause."""
    part, width = re.sub(r"\d", "", path), re.sub(r"\D", "", path)
    if part.startswith("row-"):
        return f"{part.removeprefix('row-')} of a row's vector loop of {width}"
    if part in ("body", "tail"):
        return f"{part} of a vector loop of {width}"
    return PHRASES.get(path, path.replace("-", " "))


def spread(rows: Sequence[dict[str, Any]]) -> list[str]:
    """How many boxes have how large a share of true causes."""
    shares = [(row["true"] + row["whole"] + row["same"]) / row["operands"] for row in rows]
    bounds = [("none", 0, 0), ("under half", 0, 0.5), ("half and more", 0.5, 1), ("all", 1, 2)]
    counts = {name: sum(low <= share < high or share == low == high for share in shares) for name, low, high in bounds}
    counts["under half"] -= counts["none"]
    return [
        f"Boxes by the share of their operands with a true cause: {', '.join(f'{n} {k}' for k, n in counts.items())}."
    ]


def never_named(tallies: Sequence[Tally], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Defects that alone, everywhere, are caught in some box and named in none; by operator."""
    named_once: dict[tuple[str, str], bool] = defaultdict(bool)
    for tally, row in zip(tallies, rows, strict=True):
        if len(tally.uses) == 1 and not tally.uses[0][1] and row["operands"]:
            named_once[tally.box.partition("/")[0], tally.uses[0][0]] |= row["true"] + row["same"] > 0
    missing: dict[str, list[str]] = defaultdict(list)
    for (operator, defect), is_named in named_once.items():
        if not is_named:
            missing[operator].append(defect)
    return ["## Defects never named", "", *(f"- {name}: {', '.join(found)}" for name, found in missing.items())]


def worst_boxes(rows: Sequence[dict[str, Any]], most: int) -> list[str]:
    """The boxes with the smallest share of true causes, by operands without one."""
    poor = sorted(rows, key=lambda row: row["true"] + row["whole"] + row["same"] - row["operands"])
    lines = [
        "## Worst boxes",
        "",
        f"| box | operands | {' | '.join(GRADES)} |",
        "| --- |" + " ---: |" * (1 + len(GRADES)),
    ]
    return lines + [
        f"| {row['box']} | {row['operands']:,} | {' | '.join(str(row[name]) for name in GRADES)} |"
        for row in poor[:most]
    ]


def worst_confusions(tallies: Sequence[Tally], grades: Sequence[str], most: int) -> list[str]:
    lines = ["| given | true | operands | elements | boxes | example |", "| --- | --- | ---: | ---: | ---: | --- |"]
    rows = [row for row in confusions(tallies) if row["grade"] in grades][:most]
    return lines + [f"| {' | '.join(str(row[name]) for name in CONFUSION)} |" for row in rows]


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
