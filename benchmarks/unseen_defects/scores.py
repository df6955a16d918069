"""Counts from the tallies, by given.toml: which of this set's defects a given cause truly names."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.known_defects.arithmetic import Use
from benchmarks.known_defects.measure import cases_of
from benchmarks.known_defects.scores import JOINT, Tally, grade_of_sets, split_place, write_table
from benchmarks.known_defects.truth import same
from benchmarks.unseen_defects.boxes import BOXES, Box, answer
from benchmarks.unseen_defects.steps import FAMILIES, found
from tiebreak.conformance.semantics.causes import without_forms

GIVEN = Path(__file__).parent / "given.toml"
GRADES = ("true", "whole", "same", "equal", "half", "wrong", "path", "unexplained", "unmapped")
ALL = {box.name: box for box in BOXES}
Claims = frozenset[frozenset[str]]
BY_ARRAY = frozenset({"rg-always-measured"})  # its answer for an element depends on the others, so on its array


@cache
def named(family: str, kind: str = "defects") -> dict[str, Claims]:
    """By given cause the sets of defects of a family that it may name; or to which it is equal, or of which a part."""
    entries = tomllib.loads(GIVEN.read_text(encoding="utf-8"))["given"] if GIVEN.exists() else []
    sets: dict[str, set[frozenset[str]]] = defaultdict(set)
    for entry in entries:
        if family in entry.get("families", family):
            sets[entry["cause"]] |= {frozenset(names.split("+")) for names in entry.get(kind, [])}
    return {cause: frozenset(claimed) for cause, claimed in sets.items()}


def claims(given: str, family: str, kinds: tuple[str, ...] = ("defects",)) -> Claims | None:
    """The sets of defects that a cause may name, also one that joins several by +; None if one is unknown.

    The form of the formula in which a mistake is made is no other mistake.
    """
    known = {cause: frozenset().union(*(named(family, kind)[cause] for kind in kinds)) for cause in named(family)}
    given = given if given in known else without_forms(given)
    if given in known:
        return known[given]
    for first in sorted(known, key=len, reverse=True):
        others = claims(given.removeprefix(first + JOINT), family, kinds) if given.startswith(first + JOINT) else None
        if others is not None:
            return frozenset(one | other for one in known[first] for other in others)
    return None


def grade(tally: Tally, given: str, true: Sequence[str]) -> str:
    if given == "unexplained":
        return given
    if given.startswith("path-dependent"):
        return "path" if any(path or defect in BY_ARRAY for defect, path in tally.uses) else "wrong"
    cause, family = split_place(given)[0], FAMILIES[tally.box.partition("/")[0]]
    claimed = claims(cause, family)
    if claimed is None:
        return "unmapped"
    causes = {frozenset(use.partition("@")[0] for use in one.split("+")) for one in true}
    box = frozenset(defect for defect, _ in tally.uses)
    found_ = grade_of_sets(claimed, causes, box)
    if found_ in ("true", "whole"):
        return found_
    if given in tally.alike:
        return "same"
    if (claims(cause, family, ("defects", "equal")) or frozenset()) & (causes | {box}):
        return "equal"
    return "half" if (claims(cause, family, ("defects", "part")) or frozenset()) & causes else found_


def with_alike(tallies: Sequence[Tally]) -> None:
    """Note in each tally the wrong causes that give the box's results in every case of the run."""
    kinds: dict[Any, list[Any]] = {}
    for tally in tallies:
        box: Any = ALL[tally.box]
        tally.alike = []
        doubtful = {given for given, true, *_ in tally.counts if grade(tally, given, true) in ("wrong", "half")}
        if doubtful:
            kind = box.operator, box.input_type, box.output_type, tuple(box.attributes.items())
            if kind not in kinds:
                kinds[kind] = [case for case in cases_of(box, "quick") if box.takes(case.node)]
            tally.alike = sorted(given for given in doubtful if is_alike(box, given, kinds[kind]))


def is_alike(box: Box, given: str, cases: Sequence[Any]) -> bool:
    family = FAMILIES[box.operator]
    return any(gives_the_same(box, sorted(names), cases) for names in claims(split_place(given)[0], family) or ())


def gives_the_same(box: Box, names: Sequence[str], cases: Sequence[Any]) -> bool:
    try:
        found(FAMILIES[box.operator], names)
    except (KeyError, ValueError):
        return False
    uses = [Use(name, box.uses[0].path) for name in names]
    return all(
        same(ours, theirs).all()
        for case in cases
        for ours, theirs in zip(answer(case.node, case.inputs, uses), box.answer(case.node, case.inputs), strict=True)
    )


def totals(tallies: Sequence[Tally]) -> tuple[Counter[str], Counter[str]]:
    """Elements and distinct operands by grade."""
    elements, operands = Counter[str](), Counter[str]()
    for tally in tallies:
        for given, true, count, distinct, _ in tally.counts:
            name = grade(tally, given, true)
            elements[name] += count
            operands[name] += distinct
    return elements, operands


def has_a_sentence(tally: Tally, true: Sequence[str]) -> bool:
    """Whether the table of causes has a sentence for each defect of one of the true causes, by given.toml."""
    family = FAMILIES[tally.box.partition("/")[0]]
    known = {defect for kind in ("defects", "equal") for claimed in named(family, kind).values() for defect in claimed}
    return any(all(frozenset({use.partition("@")[0]}) in known for use in cause.split("+")) for cause in true)


def unexplained_lines(tallies: Sequence[Tally]) -> list[str]:
    """How much of what has no cause has a sentence in the table of causes."""
    counts = Counter[tuple[str, bool]]()
    for tally in tallies:
        for given, true, elements, operands, _ in tally.counts:
            known = has_a_sentence(tally, true)
            for what, count in (("elements", elements), ("operands", operands)):
                counts[what, known] += count
                counts[f"unexplained {what}", known] += count * (given == "unexplained")
    lines = ["| the true cause | elements | unexplained | operands | unexplained |", "| --- |" + " ---: |" * 4]
    for known, told in ((True, "has a sentence in the table"), (False, "has none")):
        parts = [(counts[what, known], counts[f"unexplained {what}", known]) for what in ("elements", "operands")]
        cells = " | ".join(f"{every:,} | {some / max(every, 1):.1%}" for every, some in parts)
        lines.append(f"| {told} | {cells} |")
    return lines


def kind_of(tally: Tally) -> str:
    two = "two defects" if len(tally.uses) > 1 else "one defect"
    return two + (", on a path" if any(path for _, path in tally.uses) else "")


def share_rows(title: str, parts: dict[str, list[Tally]]) -> list[str]:
    lines = [
        f"| {title} | boxes | counted | number | {' | '.join(GRADES)} |",
        "| --- |" + " ---: |" * (3 + len(GRADES)),
    ]
    for name, tallies in parts.items():
        for what, counts in zip(("elements", "operands"), totals(tallies), strict=True):
            all_of_them = max(counts.total(), 1)
            shares = " | ".join(f"{counts[grade_] / all_of_them:.1%}" for grade_ in GRADES)
            lines.append(f"| {name} | {len(tallies)} | {what} | {counts.total():,} | {shares} |")
        means: Counter[str] = Counter()
        for tally in tallies:
            counts = totals([tally])[1]
            for grade_, count in counts.items():
                means[grade_] += count / counts.total()  # type: ignore[assignment]
        shares = " | ".join(f"{means[grade_] / max(len(tallies), 1):.1%}" for grade_ in GRADES)
        lines.append(f"| {name} | {len(tallies)} | mean of boxes | | {shares} |")
    return lines


def confusions(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """What is not true: a row for each box, given and true cause, most operands first."""
    rows = []
    for tally in tallies:
        for given, true, count, distinct, example in tally.counts:
            name = grade(tally, given, true)
            if name != "true":
                shown = "path-dependent: …" if given.startswith("path-dependent") else given
                row = {"grade": name, "box": tally.box, "sentence": tally.sentence, "given": shown}
                row |= {"true": " or ".join(true), "operands": distinct, "elements": count, "example": example}
                rows.append(row)
    return sorted(rows, key=lambda row: -row["operands"])


def rows_of_boxes(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    rows = []
    for tally in tallies:
        elements, operands = totals([tally])
        about = asdict(tally)
        row = {name: about[name] for name in ("box", "sentence", "cases", "deviating_cases", "failed_cases")}
        row |= {"elements": elements.total(), "operands": operands.total()}
        rows.append(row | {name: operands[name] for name in GRADES})
    return rows


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> list[str]:
    head = [f"| {' | '.join(columns)} |", "| --- |" + " --- |" * (len(columns) - 1)]
    return head + ["| " + " | ".join(str(row[name]).replace("|", "/") for name in columns) + " |" for row in rows]


def summary(tallies: Sequence[Tally]) -> str:
    caught = [tally for tally in tallies if tally.counts]
    operators: dict[str, list[Tally]] = defaultdict(list)
    numbers: dict[str, list[Tally]] = defaultdict(list)
    for tally in caught:
        operators[tally.box.partition("/")[0]].append(tally)
        numbers[kind_of(tally)].append(tally)
    rows = confusions(caught)
    lines = [
        "# Unseen defects",
        "",
        f"Boxes: {len(tallies)}, of which {len(tallies) - len(caught)} nothing catches.",
        "",
    ]
    lines += [*share_rows("all", {"all": caught}), "", *share_rows("operator", dict(operators)), ""]
    lines += [*share_rows("boxes with", dict(numbers)), ""]
    lines += [*unexplained_lines(caught), ""]
    columns = ("grade", "box", "given", "true", "operands", "elements", "example")
    lines += ["## Wrong", "", *table([row for row in rows if row["grade"] in ("wrong", "unmapped")], columns), ""]
    lines += ["## Half", "", *table([row for row in rows if row["grade"] == "half"], columns), ""]
    lines += ["## Unexplained, the most frequent", ""]
    lines += table([row for row in rows if row["grade"] == "unexplained"][:80], columns)
    uncaught = [tally.box for tally in tallies if not tally.counts]
    return "\n".join([*lines, "", "## Uncaught", "", *(f"- {box}" for box in uncaught or ["none"]), ""])


def write_scores(folder: Path, tallies: Sequence[Tally]) -> str:
    """Write boxes.csv, confusions.csv and summary.md; the summary."""
    with_alike(tallies)
    write_table(folder / "boxes.csv", rows_of_boxes(tallies))
    write_table(folder / "confusions.csv", confusions(tallies))
    text = summary(tallies)
    (folder / "summary.md").write_text(text, encoding="utf-8")
    return text
