"""This thread's floating-point mode: rounding direction, flushing of subnormals and traps. A backend may change it.

C's fegetenv() and fesetenv() read and restore it. The layout of the saved words is known for x86-64 and 64-bit ARM;
elsewhere only the rounding direction is compared.
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
    """The bits of the saved environment by meaning: (word, mask) pairs into its 32-bit words."""

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
    # Word 0 is the x87's control word, word 7 MXCSR. Status flags, which only record exceptions, are left out.
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
NOW = (ctypes.c_uint32 * (SIZE // 4))()  # one buffer, filled after each case


class FloatMode:
    """A snapshot of the floating-point mode, to compare with later and to restore."""

    def __init__(self) -> None:
        self.words = (ctypes.c_uint32 * (SIZE // 4))()
        self.direction = 0
        if LIBRARY is not None:
            LIBRARY.fegetenv(self.words)
            self.direction = LIBRARY.fegetround()

    def changed(self) -> list[str]:
        """What differs from the snapshot now, in words."""
        if LIBRARY is None or LAYOUT is None:
            return ["the rounding direction"] if LIBRARY and LIBRARY.fegetround() != self.direction else []
        LIBRARY.fegetenv(NOW)
        if not any((NOW[i] ^ self.words[i]) & mask for i, mask in LAYOUT.every):  # so after nearly every case
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
