"""The log of an unfinished sweep: one line per block, beside the certificate to come, so that it can be resumed."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tiebreak.conformance.running.journal import JournalFailed
from tiebreak.conformance.sweep.blocks import block_from
from tiebreak.golden.errors import DamagedFile, InvalidInput


def sweep_log_path(certificate: Path) -> Path:
    """The path of the log of the sweep that will write this certificate."""
    return certificate.with_name(f"{certificate.name}.part")


class LoggedBlock(Protocol):
    """A block as a log keeps it: of a sweep of every input, or of every scale."""

    @property
    def number(self) -> int: ...
    @property
    def fault(self) -> str: ...
    def described(self) -> dict[str, Any]: ...


class SweepLog:
    """A file of lines, each a checksum and a JSON object: first what is swept, then one line for each block.

    Whatever follows the last good line is dropped. `parse` makes a block of what its `described` wrote.
    """

    def __init__(self, path: Path, parse: Callable[[Any], Any] = block_from) -> None:
        self.path, self.parse = path, parse
        self.descriptor = -1
        self.header: dict[str, Any] = {}
        self.blocks: dict[int, Any] = {}
        self.machines: dict[int, dict[str, Any]] = {}  # the machine of a block that ran elsewhere

    def read(self) -> None:
        """Read an existing log. InvalidInput if there is none, DamagedFile if it is damaged."""
        if not self.path.is_file():
            raise InvalidInput(f"nothing to go on with: no {self.path}")
        self.open()
        good = 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            entry = parse_line(line)
            if entry is None:
                break
            good += len(line)
            try:
                if not self.header:
                    self.header = dict(entry)
                else:
                    block = self.parse(entry)
                    self.blocks[block.number] = block
                    self.machines[block.number] = dict(entry.get("machine", {}))
            except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
                raise DamagedFile(f"{self.path}: damaged: {error}") from None
        if not self.header:
            raise DamagedFile(f"{self.path}: damaged: no first line")
        os.ftruncate(self.descriptor, good)

    def begin(self, header: Mapping[str, Any]) -> None:
        """Start the log of a new sweep. An older log is discarded with a message on standard error."""
        self.header = dict(header)
        self.open()
        if os.fstat(self.descriptor).st_size:
            print(f"tiebreak: the unfinished sweep in {self.path} is discarded", file=sys.stderr)
            os.ftruncate(self.descriptor, 0)
        self.write(self.header)

    def open(self) -> None:
        """Open and lock the file. InvalidInput if another sweep holds it, or if it can't be written."""
        try:
            self.descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InvalidInput(f"{self.path}: another sweep is writing there: take another -o") from None
        except OSError as error:
            raise InvalidInput(f"{self.path}: can't write: {error.strerror or error}") from None

    def add(self, block: LoggedBlock, machine: Mapping[str, Any]) -> None:
        """Add a block, and the machine that ran it if it was another one."""
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
        """Remove the file and release it."""
        if self.descriptor >= 0:
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Release the file."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def check_sweep_discardable(certificate: Path) -> None:
    """InvalidInput if the log of an unfinished sweep has blocks that a new sweep would lose, or is in use."""
    log = SweepLog(sweep_log_path(certificate))
    if not log.path.is_file():
        return
    log.open()
    try:
        with log.path.open("rb") as lines:
            begun = all(parse_line(line) for line in (lines.readline(), lines.readline()))
    finally:
        log.close()
    if begun:
        raise InvalidInput(f"{log.path}: a sweep was broken off here: --resume goes on with it, --discard begins anew")


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None if the line is damaged or was cut off."""
    checksum, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if not line.endswith(b"\n") or zlib.crc32(body) != int(checksum, 16):
            return None
        found = json.loads(body)
        return found if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        return None
