"""What a pattern run keeps while it runs, and what an earlier one left in its folder.

patterns.jsonl has a line for each row and each explanation as it comes, `{"row": …}` or `{"explanation": …}`. A run
that is killed leaves it; one that ends removes it once patterns.json holds the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.files import bounded_text
from tiebreak.reports.records import NotWritten

SCHEMA = "tiebreak-patterns-1"
RECORDS, TABLE, PAGE, KEPT = "patterns.json", "patterns.parquet", "report.html", "patterns.jsonl"
LARGEST = 1 << 30  # bytes of what an earlier run may have left
FOLDERS = {"script": "scripts", "model": "models"}


class KeptLines:
    """Lines of patterns.jsonl, each written at once. NotWritten if the folder takes no more."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / KEPT

    def add(self, kind: str, entry: Any) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({kind: entry}) + "\n")
        except OSError as error:
            raise NotWritten(f"{self.path}: can't write: {error.strerror or error}") from None

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)


def clear(folder: Path) -> None:
    """Remove what an earlier pattern run says it left in the folder, its records last, and nothing else."""
    if not (explanations := list(earlier_explanations(folder))) and not is_ours(folder):
        return
    for name in explained_files(explanations):
        (folder / name).unlink(missing_ok=True)
    for name in (PAGE, TABLE, KEPT, RECORDS):
        (folder / name).unlink(missing_ok=True)


def is_ours(folder: Path) -> bool:
    return (folder / KEPT).is_file() or earlier_records(folder).get("schema") == SCHEMA


def holds_finished(folder: Path) -> bool:
    """Whether the folder has the records of a pattern run that was not interrupted."""
    found = earlier_records(folder)
    return found.get("schema") == SCHEMA and bool(found.get("finished"))


def earlier_explanations(folder: Path) -> Iterator[Any]:
    if (found := earlier_records(folder)).get("schema") == SCHEMA:
        yield from found.get("explanations", ())
    with suppress(InvalidInput):
        for line in bounded_text(folder / KEPT, LARGEST, "a pattern run's rows").splitlines():
            yield as_object(line).get("explanation")


def earlier_records(folder: Path) -> dict[str, Any]:
    """patterns.json; nothing if there is none that can be read."""
    with suppress(InvalidInput):
        return as_object(bounded_text(folder / RECORDS, LARGEST, "a pattern run's records"))
    return {}


def as_object(text: str) -> dict[str, Any]:
    """What JSON says; nothing if it is no object, as the last line of a killed run may be."""
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        return found if isinstance(found, dict) else {}
    return {}


def explained_files(explanations: list[Any]) -> Iterator[str]:
    """Paths such as scripts/001-onnxruntime-add.py. A path to anywhere else is not one of ours."""
    for one in explanations:
        for key, expected in FOLDERS.items() if isinstance(one, dict) else ():
            path = PurePosixPath(str(one.get(key, "")))
            if len(path.parts) == 2 and path.parts[0] == expected and path.name != "..":
                yield str(path)
