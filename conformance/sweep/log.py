"""The blocks of an unfinished sweep, one line each beside the certificate to come, so that a killed one can go on."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiebreak.conformance.journal import JournalFailed
from tiebreak.conformance.sweep.blocks import Block, block_from
from tiebreak.golden.errors import DamagedFile, InvalidInput


def part_of(certificate: Path) -> Path:
    """Where the sweep that will leave this certificate keeps what it has so far."""
    return certificate.with_name(f"{certificate.name}.part")


class Log:
    """Lines of a checksum and a JSON object: first what is swept, then a block each. What follows the last good line is
    dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.blocks: dict[int, Block] = {}
        self.machines: dict[int, dict[str, Any]] = {}  # where a block was done, if not here

    def read(self) -> None:
        """InvalidInput if there is nothing to go on with, DamagedFile if it is no such file."""
        try:
            data = self.path.read_bytes()
        except OSError:
            raise InvalidInput(f"nothing to go on with: no {self.path}") from None
        good = 0
        for line in data.splitlines(keepends=True):
            entry = entry_of(line)
            if entry is None:
                break
            good += len(line)
            try:
                if not self.header:
                    self.header = dict(entry)
                else:
                    block = block_from(entry)
                    self.blocks[block.number] = block
                    self.machines[block.number] = dict(entry.get("machine", {}))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise DamagedFile(f"{self.path}: damaged: {error}") from None
        if not self.header:
            raise DamagedFile(f"{self.path}: damaged: no first line")
        with self.path.open("r+b") as file:
            file.truncate(good)

    def begin(self, header: Mapping[str, Any]) -> None:
        """A new file for a new sweep."""
        self.header = dict(header)
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInput(f"{self.path}: can't write: {error.strerror or error}") from None
        self.write(self.header)

    def add(self, block: Block, machine: Mapping[str, Any]) -> None:
        """Keep a block, and which machine it was done on if another."""
        self.blocks[block.number] = block
        self.machines[block.number] = dict(machine)
        self.write(block.described() | ({"machine": dict(machine)} if machine else {}))

    def write(self, entry: Mapping[str, Any]) -> None:
        body = json.dumps(entry).encode()
        try:
            with self.path.open("ab") as file:
                file.write(b"%08x %b\n" % (zlib.crc32(body), body))
        except OSError as error:
            if not self.blocks:
                raise InvalidInput(f"{self.path}: can't write: {error.strerror or error}") from None
            raise JournalFailed(f"{self.path}: can't write: {error.strerror or error}") from None

    def end(self) -> None:
        self.path.unlink(missing_ok=True)


def entry_of(line: bytes) -> dict[str, Any] | None:
    """The object of a line; None if it is damaged or was cut off."""
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if not line.endswith(b"\n") or zlib.crc32(body) != int(checksum, 16):
            return None
        found = json.loads(body)
        return found if isinstance(found, dict) else None
    except ValueError:
        return None
