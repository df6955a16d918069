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

from tiebreak.adapters.frames import MOST_BYTES, BrokenFrame, dtype_named, name_of
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

    def put(self, arrays: Sequence[Array]) -> dict[str, Any]:
        """Copy tensors in, each at an aligned place; their offset, checksum, element types and shapes.

        4-bit types take a byte per element.
        """
        parts: list[bytes] = []
        for array in arrays:
            data = ascontiguousarray(array).tobytes()
            parts += (data, bytes(-len(data) % ALIGNMENT))
        whole, at = b"".join(parts), -(-self.used // ALIGNMENT) * ALIGNMENT
        self.reach(at + len(whole))
        self.memory[at : at + len(whole)] = whole
        self.used = at + len(whole)
        kinds = [(name_of(array.dtype), array.shape) for array in arrays]
        return {"at": at, "sum": zlib.crc32(whole), "tensors": kinds}

    def get(self, described: Mapping[str, Any]) -> tuple[Array, ...]:
        """Read-only copies of tensors that were put together.

        Raises BrokenFrame if they can't be there, WrittenOver if the checksum differs.
        """
        try:
            at, places, end = int(described["at"]), [], 0
            for name, shape in described["tensors"]:
                dtype, sizes = dtype_named(name), [int(size) for size in shape]
                count = math.prod(sizes)
                if min(sizes, default=0) < 0:
                    raise ValueError(f"shape {sizes}")
                places.append((dtype, count, end, sizes))
                end += -(-count * dtype.itemsize // ALIGNMENT) * ALIGNMENT
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise BrokenFrame(f"not a tensor: {error}") from None
        if at < 0 or end > MOST_BYTES or at + end > self.size():
            raise BrokenFrame(f"tensors of {end} bytes that are not there")
        self.reach(at + end)
        data = self.memory[at : at + end]
        if zlib.crc32(data) != described.get("sum"):
            raise WrittenOver("the shared memory was written over")
        return tuple(frombuffer(data, dtype, count, place).reshape(sizes) for dtype, count, place, sizes in places)

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
