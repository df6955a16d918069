"""Writes mistakes.json, and checks that mistakes still predict what it says."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.frozen import __doc__ as about
from benchmarks.frozen.digests import DOCUMENTS, DOCUMENTS_EACH, MISTAKES, Entry, Key, digests_of_file, ids_of_operator
from tiebreak.conformance.operators import TESTED
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.vectorfile import VECTORS

FILE = Path(__file__).parent / "mistakes.json"
DIGITS = 32  # of a digest: half of SHA-256's
ABOUT = [
    "Written by `python -m benchmarks.frozen write`, not by hand. A line of `mistakes` says in how many golden vectors",
    "a known mistake of the operator deviates, and has a SHA-256 of their ids and of the codes that it predicts there:",
    "where it is no deviation, because the document leaves the result open for instance, that of working precision.",
    "`documents` has the same of all combinations of facets that a document allows, and of the audit's table itself:",
    "of vectors whose parameters have one value each, or of the first probes of a table that describes no vector.",
    *(f"There each {each}th vector in a file of {operator} is taken." for operator, each in DOCUMENTS_EACH.items()),
]
Lines = Mapping[str, Mapping[str, Mapping[str, str]]]  # by MISTAKES or DOCUMENTS, operator and id


def line(entries: Iterable[tuple[str, Entry]]) -> str:
    """One line for what a mistake gives in several files, each with its name."""
    made, cases = hashlib.sha256(), 0
    for name, (count, digest) in entries:
        cases += count
        made.update(f"{name} {digest}\n".encode())
    return f"{cases} cases {made.hexdigest()[:DIGITS]}"


def digests_of_files(paths: Sequence[Path], at_once: int) -> Iterator[dict[Key, Entry]]:
    if at_once == 1:
        yield from map(digests_of_file, paths)
        return
    with ProcessPoolExecutor(at_once) as pool:
        yield from pool.map(digests_of_file, paths)


def made_lines(operators: Sequence[str], at_once: int = 1) -> Lines:
    """What the operators' mistakes and documents predict now; in `at_once` processes, which makes no difference."""
    files = list(all_files(operators))
    paths = [VECTORS / file_name(*file) for file in files]
    found: dict[str, dict[Key, list[tuple[str, Entry]]]] = {
        operator: {key: [] for key in ids_of_operator(operator)} for operator in operators
    }
    for (operator, *_), path, entries in zip(files, paths, digests_of_files(paths, at_once), strict=True):
        for key, entry in entries.items():
            found[operator].setdefault(key, []).append((path.stem, entry))
    lines: dict[str, dict[str, dict[str, str]]] = {MISTAKES: defaultdict(dict), DOCUMENTS: defaultdict(dict)}
    for operator, own in found.items():
        for (kind, id_), of_files in own.items():
            lines[kind][operator][id_] = line(of_files)
    return lines


def write(operators: Sequence[str], lines: Lines, file: Path) -> None:
    """Write what these operators have; what the file has of others stays."""
    kept = read(file) if file.exists() else {}
    whole = {
        kind: {
            **{operator: own for operator, own in kept.get(kind, {}).items() if operator not in operators},
            **lines[kind],
        }
        for kind in lines
    }
    text = json.dumps({"about": ABOUT, **whole}, indent=1, sort_keys=True, ensure_ascii=False)
    file.write_text(f"{text}\n", encoding="utf-8")


def read(file: Path) -> Lines:
    found = json.loads(file.read_text(encoding="utf-8"))
    return {kind: found[kind] for kind in (MISTAKES, DOCUMENTS)}


def changes(operators: Sequence[str], old: Lines, new: Lines) -> Iterator[str]:
    """A sentence for each id whose line differs."""
    for kind in (MISTAKES, DOCUMENTS):
        for operator in operators:
            before, now = old[kind].get(operator, {}), new[kind].get(operator, {})
            for id_ in sorted({**before, **now}):
                if before.get(id_) != now.get(id_):
                    yield f"{operator}: {kind}: {id_}: {before.get(id_, 'new')} -> {now.get(id_, 'gone')}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("write", "check"))
    parser.add_argument("--operator", action="append", choices=list(TESTED), metavar="ID")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="processes")
    given = parser.parse_args(arguments)
    operators = given.operator or list(TESTED)
    lines = made_lines(operators, given.at_once)
    if given.do == "write":
        write(operators, lines, FILE)
        return 0
    found = list(changes(operators, read(FILE), lines))
    print("\n".join(found) or "nothing changed")
    return int(bool(found))
