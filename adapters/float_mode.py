"""How this thread rounds, flushes and traps, which a backend may leave changed.

Read and put back by C's fegetenv() and fesetenv(). What the words mean is known of x86-64 and of 64-bit ARM; elsewhere
only the rounding direction is looked at.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

SIZE = 64  # bytes, more than any fenv_t has


@dataclass(frozen=True)
class EnvironmentBits:
    """Which bits of the saved environment, read as 32-bit words, say what: word and mask of each."""

    rounding: tuple[tuple[int, int], ...]
    flushing: tuple[tuple[int, int], ...]
    others: tuple[tuple[int, int], ...]  # which exceptions trap, and the x87's precision

    @cached_property
    def every(self) -> tuple[tuple[int, int], ...]:
        found: dict[int, int] = {}
        for word, mask in (*self.rounding, *self.flushing, *self.others):
            found[word] = found.get(word, 0) | mask
        return tuple(found.items())


LAYOUTS = {
    # Word 0 is the x87's control word, word 7 MXCSR; what only tells that something happened is left out.
    "x86_64": EnvironmentBits(((0, 0xC00), (7, 0x6000)), ((7, 0x8040),), ((0, 0x33F), (7, 0x1F80))),
    "aarch64": EnvironmentBits(((0, 3 << 22),), ((0, 1 << 24 | 1 << 19),), ((0, 0x9F00),)),
}
LAYOUTS["AMD64"], LAYOUTS["arm64"] = LAYOUTS["x86_64"], LAYOUTS["aarch64"]
LAYOUT = LAYOUTS.get(platform.machine()) if sys.platform.startswith("linux") else None


def library() -> Any:
    """C's mathematical library, or None where it is not found."""
    for name in ("libm.so.6", None):
        with suppress(OSError, AttributeError, TypeError):
            found = ctypes.CDLL(name)
            if all(hasattr(found, name) for name in ("fegetenv", "fesetenv", "fegetround")):
                return found
    return None


LIBRARY = library()
NOW = (ctypes.c_uint32 * (SIZE // 4))()  # made once, since it is filled after each case


class FloatMode:
    """The modes as they are now, to be compared with later and put back."""

    def __init__(self) -> None:
        self.words = (ctypes.c_uint32 * (SIZE // 4))()
        self.direction = 0
        if LIBRARY is not None:
            LIBRARY.fegetenv(self.words)
            self.direction = LIBRARY.fegetround()

    def changed(self) -> list[str]:
        """What is otherwise now, in words."""
        if LIBRARY is None or LAYOUT is None:
            return ["the rounding direction"] if LIBRARY and LIBRARY.fegetround() != self.direction else []
        LIBRARY.fegetenv(NOW)
        if not any((NOW[i] ^ self.words[i]) & mask for i, mask in LAYOUT.every):  # as after nearly all cases
            return []
        parts = {
            "the rounding direction": LAYOUT.rounding,
            "the flushing of subnormals": LAYOUT.flushing,
            "the trapping of floating-point exceptions, or the x87's precision": LAYOUT.others,
        }
        return [name for name, bits in parts.items() if any((NOW[i] ^ self.words[i]) & mask for i, mask in bits)]

    def put_back(self) -> None:
        if LIBRARY is not None:
            LIBRARY.fesetenv(self.words)
