"""The memory that Tiebreak shares with one worker: tensors pass through it as raw bytes and are never pickled.

It is an anonymous file that both sides map. Either side may grow it; it never shrinks. Every offset and size from the
other side is checked before it is used.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from numpy import ascontiguousarray, frombuffer  # bound now, since a backend may replace them

from tiebreak.adapters.frames import MOST_BYTES, BrokenFrame, dtype_named
from tiebreak.golden.problem import Array

START_SIZE = 1 << 20
ALIGNMENT = 64


class WrittenOver(BrokenFrame):
    """A tensor in the shared memory is not the one that was put there."""


class Arena:
    """Stores tensors one after the other, starting where `reset` says. `put` returns the place; `get` copies it out."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = anonymous_file() if descriptor is None else descriptor
        self.memory = mmap.mmap(self.descriptor, self.size())
        self.used = 0

    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    def reset(self, at: int = 0) -> None:
        """Put the next tensor at this offset."""
        self.used = at

    def put(self, array: Array) -> dict[str, Any]:
        """Copy a tensor in; its element type, shape, offset and checksum. 4-bit types take a byte per element."""
        at = -(-self.used // ALIGNMENT) * ALIGNMENT
        self.reach(at + array.nbytes)
        data = ascontiguousarray(array).tobytes()
        self.memory[at : at + array.nbytes] = data
        self.used = at + array.nbytes
        return {"dtype": array.dtype.name, "shape": list(array.shape), "at": at, "sum": zlib.crc32(data)}

    def get(self, described: Mapping[str, Any]) -> Array:
        """A copy of the tensor. Raises BrokenFrame if it can't be there, WrittenOver if its checksum differs."""
        try:
            dtype, shape = dtype_named(described["dtype"]), [int(size) for size in described["shape"]]
            at, count = int(described["at"]), math.prod(shape)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise BrokenFrame(f"not a tensor: {error}") from None
        end = at + count * dtype.itemsize
        if min(shape, default=0) < 0 or at < 0 or end - at > MOST_BYTES or end > self.size():
            raise BrokenFrame(f"a tensor of shape {shape} that is not there")
        self.reach(end)
        found = frombuffer(self.memory, dtype, count, at).reshape(shape).copy()
        if zlib.crc32(found.tobytes()) != described.get("sum"):
            raise WrittenOver("the shared memory was written over")
        return found

    def reach(self, end: int) -> None:
        """Grow the file and the mapping to at least `end` bytes."""
        if end <= len(self.memory):
            return
        wanted = max(end, 2 * len(self.memory))
        if end > (size := self.size()):
            os.ftruncate(self.descriptor, wanted)
        else:  # the other side may have grown it further
            wanted = min(wanted, size)
        self.memory = mmap.mmap(self.descriptor, wanted)  # the old mapping is freed with its last user

    def close(self) -> None:
        os.close(self.descriptor)


def anonymous_file() -> int:
    """A file without a name. Where the system supports it, a seal keeps either side from shrinking it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tiebreak", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, START_SIZE)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        return descriptor
    with tempfile.TemporaryFile() as file:
        descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, START_SIZE)
    return descriptor


def put_all(arena: Arena, arrays: Sequence[Array]) -> list[dict[str, Any]]:
    return [arena.put(array) for array in arrays]
