"""How often Tiebreak names the true cause of boxes with known defects.

    python -m benchmarks.known_defects [--box NAME] [--limit N] [--out FOLDER] [--at-once N] [--score]

Run it in the folder above benchmarks/. Boxes for the same kind of node share a run at level quick. FOLDER gets
tallies.json (what was given and what is true, how often), boxes.csv, confusions.csv and summary.md; what it holds of
other boxes stays. --score counts what is there again, after a change of given.toml.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import tiebreak
from benchmarks.known_defects.alike import alike_causes
from benchmarks.known_defects.arithmetic import answer
from benchmarks.known_defects.boxes import BOXES, AnyBox, Box
from benchmarks.known_defects.scores import Tally, write_scores
from benchmarks.known_defects.truth import Answer, true_causes
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.golden.nodes import Case

PLACE = "benchmarks.known_defects.boxes"
KEPT = "tallies.json"
Seen = Callable[[Any], None]


def groups(boxes: Iterable[AnyBox], size: int) -> list[list[AnyBox]]:
    """Boxes for the same kind of node, so many at once."""
    found: dict[tuple[Any, ...], list[AnyBox]] = defaultdict(list)
    for box in boxes:
        found[box.operator, box.input_type, box.output_type, tuple(box.attributes.items())].append(box)
    return [some[i : i + size] for some in found.values() for i in range(0, len(some), size)]


def measured(
    boxes: Sequence[Box], place: str = PLACE, answers: Answer = answer, seen: Seen = lambda rows: None
) -> list[Tally]:
    """One run of boxes for the same kind of node, of the module `place`. `seen` gets the discrepancies."""
    kind = boxes[0]
    tables = tiebreak.run(
        backends=[f"{place}:{box.name}" for box in boxes],
        operators=kind.operator,
        attributes=kind.attributes,
        level="quick",
        **{name: held for name, held in (("input_type", kind.input_type), ("type", kind.output_type)) if held},
    )
    cases = {case.id: case for case in cases_of(kind, "quick")}
    seen(tables.discrepancies)
    return [tallied(box, tables, cases, answers) for box in boxes]


def cases_of(box: Box, level: str) -> list[Case]:
    """The cases of a box's kind of node; without a level golden vectors alone."""
    types = box.input_type, box.output_type
    return plan(Selection((box.operator,), box.attributes, *types, level=level))


def tallied(box: Box, tables: Any, cases: dict[str, Case], answers: Answer) -> Tally:
    results = tables.results[tables.results["backend"] == box.name]
    rows = tables.discrepancies[tables.discrepancies["backend"] == box.name]
    failed = int(results["verdict"].isin(["error", "crash", "timeout"]).sum())
    tally = Tally(box.name, box.sentence, [list(use) for use in box.uses], len(results), rows["case"].nunique(), failed)
    found: dict[tuple[str, tuple[str, ...]], list[Any]] = defaultdict(list)
    for case, some in rows.groupby("case"):
        for key, row in with_truth(box, cases[str(case)], some, answers):
            found[key].append(row)
    tally.counts = [counted(*key, some) for key, some in sorted(found.items(), key=lambda entry: -len(entry[1]))]
    return tally


def counted(given: str, true: Sequence[str], rows: Sequence[Any]) -> list[Any]:
    """An entry of a tally: the rows with one given cause and one set of true ones."""
    first = rows[0]
    distinct = len({(row.output, row.operands) for row in rows})
    return [given, list(true), len(rows), distinct, f"{first.operands}: {first.got}, not {first.expected}"]


def with_truth(box: Box, case: Case, rows: Any, answers: Answer) -> Iterable[tuple[tuple[str, tuple[str, ...]], Any]]:
    """Each row with what was given and what is true, causes as text: the defects joined by +."""
    names = [output.name for output in case.node.outputs]
    true = true_causes(case.node, case.inputs, box.uses, answers)
    for row in rows.itertuples(index=False):
        causes = true[names.index(row.output)][row.index] if isinstance(row.index, int) else frozenset()
        yield (given_of(row), tuple(sorted("+".join(map(str, cause)) for cause in causes))), row


def given_of(row: Any) -> str:
    """The cause's id if the records have one, else its sentence."""
    return str(getattr(row, "cause_id", "") or row.cause)


def chosen(boxes: Iterable[AnyBox], names: Sequence[str], limit: int) -> list[AnyBox]:
    """The boxes whose name holds one of the texts; all without any."""
    found = [box for box in boxes if not names or any(name in box.name for name in names)]
    return found[:limit] if limit else found


def read(folder: Path) -> list[Tally]:
    """The tallies of a folder, none if it has none."""
    file = folder / KEPT
    return [Tally(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))] if file.exists() else []


def write(folder: Path, tallies: Sequence[Tally]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / KEPT).write_text(json.dumps([asdict(tally) for tally in tallies], indent=1), encoding="utf-8")


def run_boxes(boxes: Sequence[Box], at_once: int, folder: Path) -> list[Tally]:
    """Measure the boxes, and write what there is after each run. Results of other boxes in the folder stay."""
    names = {box.name for box in BOXES} - {box.name for box in boxes}
    others, tallies = [tally for tally in read(folder) if tally.box in names], list[Tally]()
    for some in groups(boxes, at_once):
        started = time.perf_counter()
        tallies += measured(some)
        write(folder, others + tallies)
        print(f"{len(tallies)}/{len(boxes)} {some[0].name} … {time.perf_counter() - started:.1f} s", flush=True)
    return others + tallies


def with_alike(tallies: Sequence[Tally]) -> list[Tally]:
    """The tallies, with the wrong causes that no case of the run tells from the true one."""
    by_name, found = {tally.box: replace(tally, alike=[]) for tally in tallies}, []
    for some in groups([box for box in BOXES if box.name in by_name], len(BOXES)):
        cases = cases_of(some[0], "quick")
        for box in some:
            tally = by_name[box.name]
            found.append(replace(tally, alike=alike_causes(box, tally, cases)))
    return found


def asked(about: str | None, folder: str, at_once: int) -> argparse.Namespace:
    """The options of a command that measures boxes."""
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--box", action="append", default=[], help="boxes whose name holds this text; repeat for more")
    options.add_argument("--limit", type=int, default=0, help="so many boxes at most")
    options.add_argument("--out", type=Path, default=Path(folder), help="the folder for the results")
    options.add_argument("--at-once", type=int, default=at_once, help="boxes in one run")
    options.add_argument("--score", action="store_true", help="count the kept results again, without a run")
    return options.parse_args()


def main() -> None:
    given = asked(__doc__, "known-defects", 6)
    boxes = chosen(BOXES, given.box, given.limit)
    tallies = read(given.out) if given.score else run_boxes(boxes, given.at_once, given.out)
    print(write_scores(given.out, with_alike(tallies)))
