"""The blocks of an unfinished sweep, one line each beside the certificate to come, so that a killed one can go on."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiebreak.conformance.running.journal import JournalFailed
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
        self.descriptor = -1
        self.header: dict[str, Any] = {}
        self.blocks: dict[int, Block] = {}
        self.machines: dict[int, dict[str, Any]] = {}  # where a block was done, if not here

    def read(self) -> None:
        """InvalidInput if there is nothing to go on with, DamagedFile if it is no such file."""
        if not self.path.is_file():
            raise InvalidInput(f"nothing to go on with: no {self.path}")
        self.open()
        good = 0
        for line in self.path.read_bytes().splitlines(keepends=True):
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
            except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
                raise DamagedFile(f"{self.path}: damaged: {error}") from None
        if not self.header:
            raise DamagedFile(f"{self.path}: damaged: no first line")
        os.ftruncate(self.descriptor, good)

    def begin(self, header: Mapping[str, Any]) -> None:
        """A new file for a new sweep; what an unfinished one left is gone, which standard error says."""
        self.header = dict(header)
        self.open()
        if os.fstat(self.descriptor).st_size:
            print(f"tiebreak: the unfinished sweep in {self.path} is discarded", file=sys.stderr)
            os.ftruncate(self.descriptor, 0)
        self.write(self.header)

    def open(self) -> None:
        """The file, locked. InvalidInput if another sweep has it, or it can't be written."""
        try:
            self.descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InvalidInput(f"{self.path}: another sweep is writing there: take another -o") from None
        except OSError as error:
            raise InvalidInput(f"{self.path}: can't write: {error.strerror or error}") from None

    def add(self, block: Block, machine: Mapping[str, Any]) -> None:
        """Keep a block, and which machine it was done on if another."""
        self.blocks[block.number] = block
        self.machines[block.number] = dict(machine)
        self.write(block.described() | ({"machine": dict(machine)} if machine else {}))

    def write(self, entry: Mapping[str, Any]) -> None:
        body = json.dumps(entry).encode()
        try:
            view = memoryview(b"%08x %b\n" % (zlib.crc32(body), body))
            while view:
                view = view[os.write(self.descriptor, view) :]
        except OSError as error:
            raise JournalFailed(f"{self.path}: can't write: {error.strerror or error}") from None

    def end(self) -> None:
        """The file goes."""
        if self.descriptor >= 0:
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Let others have the file."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def check_discardable(certificate: Path) -> None:
    """InvalidInput if an unfinished sweep that was to leave this certificate has blocks, or is going on."""
    log = Log(part_of(certificate))
    if not log.path.is_file():
        return
    log.open()
    try:
        with log.path.open("rb") as lines:
            begun = all(entry_of(line) for line in (lines.readline(), lines.readline()))
    finally:
        log.close()
    if begun:
        raise InvalidInput(f"{log.path}: a sweep was broken off here: --resume goes on with it, --discard begins anew")


def entry_of(line: bytes) -> dict[str, Any] | None:
    """The object of a line; None if it is damaged or was cut off."""
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if not line.endswith(b"\n") or zlib.crc32(body) != int(checksum, 16):
            return None
        found = json.loads(body)
        return found if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        return None
