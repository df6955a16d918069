"""Digests of cases, by which two places know that they have the same ones: ids, nodes, bits and expected results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

DIGITS = 16  # of a case's digest


def case_digests(cases: Iterable[Case]) -> dict[str, str]:
    """By case id 16 digits of the SHA-256 of everything that a case says: a changed bit is another digest."""
    known: dict[int, tuple[object, bytes]] = {}  # what several cases share is put together once
    found = {}
    for case in cases:
        shared = known.get(id(case.inputs))
        if shared is None:
            shapes = " ".join(str(array.shape) for array in case.inputs).encode()
            shared = known[id(case.inputs)] = case.inputs, shapes + b"\0" + bits_of(case.inputs)
        words = f"{case.id}\0{case.node.key}\0{' '.join(case.flags)}\0{' '.join(case.clauses)}\0".encode()
        found[case.id] = hashlib.sha256(words + shared[1] + expected_bits(case)).hexdigest()[:DIGITS]
    return found


def expected_bits(case: Case) -> bytes:
    """The expected results of a vector, which are of known types; nothing of another case."""
    known = case.expected
    return bits_of((known.exact, known.exact_state, known.working, known.working_state)) if known else b""


def bits_of(arrays: Iterable[Array]) -> bytes:
    return b"".join([array.tobytes() for array in arrays])


def digest_of_digests(digests: Mapping[str, str]) -> str:
    """One SHA-256 for many cases, whatever their order."""
    return hashlib.sha256("\n".join(f"{name} {digests[name]}" for name in sorted(digests)).encode()).hexdigest()
