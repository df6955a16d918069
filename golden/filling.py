"""The two loops that a sweep's worker needs, with NumPy where a runtime's own environment has no compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.golden.problem import Array


def fill_patterns(out: Array, first: int) -> None:
    """Consecutive bit patterns from `first` on, in words of 16 or 32 bits."""
    out[:] = np.arange(first, first + out.size, dtype=np.uint64).astype(out.dtype)


def repeated(values: Array, width: int) -> bytes:
    """The bytes of an element, `width` of them, if all elements of an array of bytes are the same; else none."""
    words: Any = values.reshape(-1, width)
    return bytes(words[0]) if (words == words[0]).all() else b""
