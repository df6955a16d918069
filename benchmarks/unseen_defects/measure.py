"""How often Tiebreak names the true cause of the second set's boxes.

    python -m benchmarks.unseen_defects [--box NAME] [--limit N] [--out FOLDER] [--at-once N] [--score]

Run it in the folder above benchmarks/. FOLDER gets tallies.json (what was given and what is true, how often),
sentences.json (the sentence of each given cause), boxes.csv, confusions.csv and summary.md. --score counts what is
there again, after a change of given.toml.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tiebreak
from benchmarks.known_defects.measure import cases_of, counted, given_of, groups, read, write
from benchmarks.known_defects.scores import Tally
from benchmarks.unseen_defects.boxes import BOXES, Box, true_causes
from benchmarks.unseen_defects.scores import write_scores

PLACE = "benchmarks.unseen_defects.boxes"


def measured(boxes: Sequence[Box], sentences: dict[str, str]) -> list[Tally]:
    """One run of boxes for the same kind of node."""
    kind: Any = boxes[0]
    tables = tiebreak.run(
        backends=[f"{PLACE}:{box.name}" for box in boxes],
        operators=kind.operator,
        attributes=kind.attributes,
        input_type=kind.input_type,
        type=kind.output_type,
        level="quick",
    )
    cases = {case.id: case for case in cases_of(kind, "quick")}
    return [tallied(box, tables, cases, sentences) for box in boxes]


def tallied(box: Box, tables: Any, cases: dict[str, Any], sentences: dict[str, str]) -> Tally:
    results = tables.results[tables.results["backend"] == box.name]
    rows = tables.discrepancies[tables.discrepancies["backend"] == box.name]
    failed = int(results["verdict"].isin(["error", "crash", "timeout"]).sum())
    tally = Tally(box.name, box.sentence, [list(use) for use in box.uses], len(results), rows["case"].nunique(), failed)
    found: dict[tuple[str, tuple[str, ...]], list[Any]] = defaultdict(list)
    for name, some in rows.groupby("case"):
        case = cases[str(name)]
        outputs = [output.name for output in case.node.outputs]
        true = true_causes(case.node, case.inputs, box.uses)
        for row in some.itertuples(index=False):
            causes = true[outputs.index(row.output)][row.index] if isinstance(row.index, int) else frozenset()
            given = given_of(row)
            sentences[given] = str(row.cause)
            found[given, tuple(sorted("+".join(map(str, cause)) for cause in causes))].append(row)
    tally.counts = [counted(*key, some) for key, some in sorted(found.items(), key=lambda entry: -len(entry[1]))]
    return tally


def run_boxes(boxes: Sequence[Box], at_once: int, folder: Path) -> list[Tally]:
    """Measure the boxes, and write what there is after each run. Results of other boxes in the folder stay."""
    names, kept = {box.name for box in boxes}, folder / "sentences.json"
    tallies = [tally for tally in read(folder) if tally.box not in names]
    sentences: dict[str, str] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    all_groups: Any = groups(boxes, at_once)  # type: ignore[arg-type]
    for some in all_groups:
        started = time.perf_counter()
        tallies += measured(some, sentences)
        write(folder, tallies)
        kept.write_text(json.dumps(sentences, indent=1), encoding="utf-8")
        print(f"{len(tallies)} {some[0].name} … {time.perf_counter() - started:.1f} s", flush=True)
    return tallies


def chosen(names: Sequence[str], limit: int) -> list[Box]:
    """The boxes whose name holds one of the texts; all without any."""
    found = [box for box in BOXES if not names or any(name in box.name for name in names)]
    return found[:limit] if limit else found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--box", action="append", default=[], help="boxes whose name holds this text; repeat for more")
    options.add_argument("--limit", type=int, default=0, help="so many boxes at most")
    options.add_argument("--out", type=Path, default=Path("out-unseen"), help="the folder for the results")
    options.add_argument("--at-once", type=int, default=8, help="boxes in one run")
    options.add_argument("--score", action="store_true", help="count the kept results again, without a run")
    given = options.parse_args()
    tallies = read(given.out) if given.score else run_boxes(chosen(given.box, given.limit), given.at_once, given.out)
    print(write_scores(given.out, tallies))
