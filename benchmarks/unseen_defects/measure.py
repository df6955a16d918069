"""How often Tiebreak names the true cause of the second set's boxes.

    python -m benchmarks.unseen_defects [--box NAME] [--limit N] [--out FOLDER] [--at-once N] [--score]

Run it in the folder above benchmarks/. FOLDER gets tallies.json (what was given and what is true, how often),
sentences.json (the sentence of each given cause), boxes.csv, confusions.csv and summary.md. --score counts what is
there again, after a change of given.toml.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.known_defects.measure import asked, chosen, given_of, groups, measured, read, write
from benchmarks.known_defects.scores import Tally
from benchmarks.unseen_defects.boxes import BOXES, Box, answer
from benchmarks.unseen_defects.scores import write_scores

PLACE = "benchmarks.unseen_defects.boxes"


def run_boxes(boxes: Sequence[Box], at_once: int, folder: Path) -> list[Tally]:
    """Measure the boxes, and write what there is after each run. Results of other boxes in the folder stay."""
    names, kept = {box.name for box in boxes}, folder / "sentences.json"
    tallies = [tally for tally in read(folder) if tally.box not in names]
    sentences: dict[str, str] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}

    def seen(rows: Any) -> None:
        sentences.update({given_of(row): str(row.cause) for row in rows.itertuples(index=False)})

    for some in groups(boxes, at_once):
        started = time.perf_counter()
        tallies += measured(some, PLACE, answer, seen)
        write(folder, tallies)
        kept.write_text(json.dumps(sentences, indent=1), encoding="utf-8")
        print(f"{len(tallies)} {some[0].name} … {time.perf_counter() - started:.1f} s", flush=True)
    return tallies


def main() -> None:
    given = asked(__doc__, "out-unseen", 8)
    boxes = chosen(BOXES, given.box, given.limit)
    tallies = read(given.out) if given.score else run_boxes(boxes, given.at_once, given.out)
    print(write_scores(given.out, tallies))
