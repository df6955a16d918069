"""Integers in the narrowest type that holds them. Truths by nine modes and the outputs of all backends are most of what
a run holds, and few of them need the 64 bits in which they are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

import numpy as np

from tiebreak.golden.problem import Array

TYPES = [np.iinfo(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32")]


def narrow(codes: Array) -> Array:
    """The integers in another type. They compare with int64 as before; widen them for any other arithmetic."""
    low, high = (int(codes.min()), int(codes.max())) if codes.size else (0, 0)
    fitting = (kind.dtype for kind in TYPES if kind.min <= low and high <= kind.max)
    return codes.astype(next(fitting, codes.dtype), copy=False)


def widened(codes: Array) -> Array:
    return codes.astype(np.int64, copy=False)


class NarrowCodes(MutableMapping[str, Array]):
    """Codes (int64) by case id, held in narrow types."""

    def __init__(self) -> None:
        self.held: dict[str, Array] = {}

    def __getitem__(self, case_id: str) -> Array:
        return widened(self.held[case_id])

    def __setitem__(self, case_id: str, codes: Array) -> None:
        self.held[case_id] = narrow(codes)

    def __delitem__(self, case_id: str) -> None:
        del self.held[case_id]

    def __contains__(self, case_id: object) -> bool:
        return case_id in self.held

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)
