"""Measures every theorem of conformance/theorems/catalogue.py: counts for all scales, a certificate each.

    python benchmarks/theorems.py [--only TEXT …] [--logs FOLDER] [--workers N] [-o FILE]

FILE gets a line of JSON for each theorem as soon as it is counted; theorems that it has already are left out. FOLDER
keeps each block of an unfinished theorem, so that a run that was stopped goes on there. TEXT is a part of a theorem's
id. N threads count; one does by default. Ends with 1 if a theorem is false.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.conformance.theorems.catalogue import Theorem, theorems
from tiebreak.conformance.theorems.certificates import certificate_of, comparison_of
from tiebreak.conformance.theorems.compare import compare

Row = dict[str, Any]


def read(path: Path | None) -> list[Row]:
    """The rows of a file, none if it isn't there."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measured(theorem: Theorem, logs: Path | None, workers: int = 1) -> Row:
    """A theorem's certificate, and what it took on all cores; None if a part had been counted before."""
    log = logs / f"{theorem.id}.jsonl" if logs is not None else None
    begun, begin = log is not None and log.exists(), time.process_time()
    comparison = compare(theorem.left, theorem.right, theorem.domain, log=log, workers=workers)
    seconds = None if begun else round(time.process_time() - begin, 1)
    return {"id": theorem.id, **certificate_of(comparison), "cpu_seconds": seconds}


def told(theorem: Theorem, row: Row) -> str:
    """A line about a certificate; of ordinary scales if there are such."""
    found = comparison_of(row)
    part = found.normal or found.parts[0]
    share = f"{part.mean:.6g} inputs per scale, none at {100 * part.without / part.scales:.4g} % of scales"
    return f"{theorem.id}: {share}{'' if found.equal == theorem.equal else '  FALSE'}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="TEXT")
    parser.add_argument("--logs", type=Path, metavar="FOLDER")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    known = {row["id"] for row in read(chosen.output)}
    if chosen.logs is not None:
        chosen.logs.mkdir(parents=True, exist_ok=True)
    false = False
    for theorem in theorems():
        wanted = not chosen.only or any(text in theorem.id for text in chosen.only)
        if not wanted or theorem.id in known:
            continue
        row = measured(theorem, chosen.logs, chosen.workers)
        line = told(theorem, row)
        print(line, flush=True)
        false |= line.endswith("FALSE")
        if chosen.output is not None:
            with chosen.output.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")
    return int(false)


if __name__ == "__main__":
    sys.exit(main())
