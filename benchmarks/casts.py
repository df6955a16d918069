"""Sweeps every input of every node of onnx.Cast through backends: what differs, where first, and what is refused.

    python benchmarks/casts.py [-b BACKEND …] [--source TYPE …] [--target TYPE …] [--blocks N] [-o FILE]

A node is a pair of types with each value of saturate and round_mode that matters there. A backend's worker is started
once for all nodes, and again after a crash. Of the 2^32 inputs of a 32-bit type --blocks takes only that many of 1,024
equal parts, evenly spread. Prints a Markdown table. FILE gets a line of JSON for each node as soon as it is done; nodes
that it has already are not asked again. A line says the backend's version and the day.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep.certificate import interval_row
from tiebreak.conformance.sweep.choosing import judge_for
from tiebreak.conformance.sweep.intervals import join_folded
from tiebreak.conformance.sweep.job import space_of
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.onnx_types import E8M0, FLOAT8, LARGEST_FOR_INFINITY, ONE_ZERO
from tiebreak.golden.operators.onnx_cast import ID, SMALL, TYPES
from tiebreak.golden.space import MOST_BITS, Space
from tiebreak.golden.verdicts import GRADES

BACKENDS = ("onnxruntime", "onnx-reference", "openvino", "torch", "tensorflow", "ml_dtypes")
SOURCES = tuple(name for name in TYPES if ELEMENT_TYPES[name].bits <= MOST_BITS)
MODES = ("up", "down", "nearest")
Row = dict[str, Any]


def nodes(sources: Iterable[str], targets: Iterable[str]) -> Iterator[Selection]:
    for source, target in product(sources, targets):
        if source != target and (source in SMALL or target in SMALL):
            for opset, attributes in forms(source, target):
                yield Selection((ID,), {"to": target, **attributes}, source, target, opset)


def forms(source: str, target: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Operator sets (0: the first that has the types) and attributes that matter for these types."""
    if target in E8M0:
        yield from ((0, {"saturate": s, "round_mode": mode}) for s, mode in product((True, False), MODES))
    elif target in FLOAT8:
        opsets = (0, LARGEST_FOR_INFINITY) if target in ONE_ZERO and has_infinities(source) else (0,)
        yield from ((opset, {"saturate": s}) for opset, s in product(opsets, (True, False)))
    else:
        yield 0, {}


def has_infinities(name: str) -> bool:
    kind = ELEMENT_TYPES[name]
    return isinstance(kind, FloatType) and kind.specials == "ieee"


def swept(spec: str, found: Sequence[Selection], most_blocks: int) -> Iterator[Row]:
    """A row for each node, all on one worker."""
    sweeper = None
    for selection in found:
        space = space_of(selection)
        kept = {} if sweeper is None else {"worker": sweeper.worker, "hello": sweeper.hello}
        sweeper = Sweeper(spec, space, judge=judge_for(space), pinned=False, **kept)
        begin = time.perf_counter()
        row = described(spec, selection) | result(sweeper, spread(space, most_blocks))
        yield row | recorded(sweeper) | {"seconds": round(time.perf_counter() - begin, 3)}
    if sweeper is not None:
        sweeper.close()


def recorded(sweeper: Sweeper) -> Row:
    """The day in UTC, and the version of the backend that answered; a backend that did not start told none."""
    day = datetime.now(UTC).date().isoformat()
    return {"version": str(sweeper.hello["version"]), "day": day} if sweeper.hello else {"day": day}


def spread(space: Space, most: int) -> range:
    """The numbers of blocks, evenly spread if there are more than `most`."""
    return range(0, space.blocks, max(1, space.blocks // most) if most else 1)


def read(path: Path | None) -> list[Row]:
    """The rows of a file, none if it isn't there."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def key_of(row: Row) -> tuple[Any, ...]:
    """What is the same in two rows about one node of one backend."""
    return row["backend"], row["source"], row["target"], *sorted(row["attributes"].items()), row["opset"]


def described(spec: str, selection: Selection) -> Row:
    attributes = {name: value for name, value in selection.attributes.items() if name != "to"}
    types = {"source": selection.input_type, "target": selection.output_type}
    return {"backend": spec, **types, "attributes": attributes, "opset": selection.opset}


def result(sweeper: Sweeper, numbers: Sequence[int]) -> Row:
    try:
        first = list(sweeper.sweep(numbers[:1]))  # by itself: a refusal leaves no other answers behind
        blocks = sorted([*first, *sweeper.sweep(numbers[1:])], key=lambda block: block.number)
    except Unsupported as reason:
        return {"status": "unsupported", "message": str(reason)}
    except MachineryFailed as error:
        sweeper.close()
        return {"status": "failed", "message": str(error)}
    counts = {grade: sum(block.counts[i] for block in blocks) for i, grade in enumerate(GRADES)}
    folded = join_folded(sweeper.space, (block.folded for block in blocks))
    intervals = [interval_row(sweeper.space, interval) for interval in folded.kept[:1]]
    faults = [block.fault for block in blocks if block.fault]
    return {"status": "swept", "counts": counts, "intervals": folded.count, "first": intervals, "faults": faults}


def table(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each backend, source and target: nodes swept, inputs that deviate, the first of them."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["backend"], row["source"], row["target"], shown(row)].append(row)
    yield "| backend | from | to | node | inputs | deviate | open | first that deviates |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for key, (row, *_) in groups.items():
        yield "| " + " | ".join((*key, *cells(row))) + " |"


def shown(row: Row) -> str:
    words = [f"{name} {str(value).lower()}" for name, value in row["attributes"].items()]
    return ", ".join([*words, *([f"opset {row['opset']}"] if row["opset"] else [])]) or "–"


def cells(row: Row) -> tuple[str, ...]:
    if row["status"] != "swept":
        return row["status"], "", "", row["message"].replace("|", "/")[:100]
    counts = row["counts"]
    faults = [f"{len(row['faults'])} blocks failed: {row['faults'][0][:80]}"] if row["faults"] else []
    numbers = (f"{number:,}" for number in (sum(counts.values()), counts["deviates"], counts["unspecified"]))
    return *numbers, "; ".join([*witnesses(row), *faults])


def witnesses(row: Row) -> list[str]:
    """The first input that deviates, if any does: its bits, its value, what was given and what is right."""
    ends = [interval["first"] for interval in row["first"]]
    return [f"{end['bits']} = {end['input']}: {end['got']}, not {end['expected']}" for end in ends]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--backend", action="append", metavar="BACKEND")
    parser.add_argument("--source", action="append", choices=SOURCES, metavar="TYPE")
    parser.add_argument("--target", action="append", choices=TYPES, metavar="TYPE")
    parser.add_argument("--blocks", type=int, default=0, metavar="N")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    rows, known = [], {key_of(row) for row in read(chosen.output)}
    for spec in chosen.backend or BACKENDS:
        asked = nodes(chosen.source or SOURCES, chosen.target or TYPES)
        left = [node for node in asked if key_of(described(spec, node)) not in known]
        for row in swept(spec, left, chosen.blocks):
            rows.append(row)
            if chosen.output is not None:
                with chosen.output.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(row) + "\n")
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
