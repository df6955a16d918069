"""The log of a comparison, to resume it: JSON lines, first what is compared, then a line for each block."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tiebreak.conformance.theorems.scale_blocks import CountedScales, block_of_row
from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed


class TheoremLog:
    """Reads what is there and appends to it. `blocks` are those that are known, by number.

    A last line that was cut off is dropped. InvalidInput if the log is of another comparison, in use or can't be
    written; DamagedFile if a line is none of a log.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self.blocks = path, dict[int, CountedScales]()
        try:
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise InvalidInput(f"{path}: can't write: {error.strerror or error}") from None
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.read(header)
        except BlockingIOError:
            self.close()
            raise InvalidInput(f"{path}: another comparison is writing there: take another log") from None
        except BaseException:
            self.close()
            raise

    def read(self, header: Mapping[str, Any]) -> None:
        whole, newline, _ = self.path.read_bytes().rpartition(b"\n")
        os.ftruncate(self.descriptor, len(whole + newline))
        lines = [parsed(self.path, line) for line in whole.splitlines()]
        if not lines:
            self.write(header)
            return
        if lines[0] != header:
            raise InvalidInput(f"{self.path}: the log of another comparison: take another log")
        for line in lines[1:]:
            try:
                block = block_of_row(line)
            except (TypeError, ValueError):
                raise DamagedFile(f"{self.path}: damaged: {json.dumps(line)[:100]} is no block") from None
            self.blocks[block.block] = block

    def add(self, block: CountedScales) -> None:
        self.blocks[block.block] = block
        self.write(asdict(block))

    def write(self, row: Mapping[str, Any]) -> None:
        line = memoryview(f"{json.dumps(row)}\n".encode())
        try:
            while line:
                line = line[os.write(self.descriptor, line) :]
        except OSError as error:
            raise MachineryFailed(f"{self.path}: can't write: {error.strerror or error}") from None

    def close(self) -> None:
        """Release the file."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def parsed(path: Path, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DamagedFile(f"{path}: damaged: {line[:100]!r} is no line of a log")
    return found
