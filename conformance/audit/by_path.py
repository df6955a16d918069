"""The semantics of a path-dependent backend on each of its paths: whole vectors, short arrays, one element alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.audit.inference import Ask, Inference, alone_or_all, values_left
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, ids_of
from tiebreak.golden.problem import Array

WIDEST = 64  # elements: no vector loop is known to be wider, so that none leaves a tail of a multiple of it
MOST_PIECES = 32  # calls for a probe that is asked in pieces
PATHS = {"in whole vectors": 0, "in arrays of 3": 3, "one element alone": 1}  # elements in a call; 0: a multiple of 64


@dataclass(frozen=True)
class Arranged:
    """Asks for each probe in calls of `size` elements, of which only some are asked; 0 means whole vectors."""

    ask: Ask
    size: int

    def __call__(self, probes: Sequence[Probe]) -> list[Array | None]:
        places = [self.pieces(probe.x.size) for probe in probes]
        asked = [piece_of(probe, piece) for probe, own in zip(probes, places, strict=True) for piece in own]
        answers = iter(self.ask(asked))
        return [
            merged(probe.x.size, own, [next(answers) for _ in own]) for probe, own in zip(probes, places, strict=True)
        ]

    def pieces(self, length: int) -> list[Array]:
        """Indices of a probe's elements, call by call."""
        if not self.size:
            return [np.resize(np.arange(length), -(-length // WIDEST) * WIDEST)]
        starts = np.arange(0, length, self.size)
        if starts.size > MOST_PIECES:
            starts = starts[np.linspace(0, starts.size - 1, MOST_PIECES).astype(int)]
        return [(start + np.arange(self.size)) % length for start in starts.tolist()]


def piece_of(probe: Probe, indices: Array) -> Probe:
    """The elements at some indices; parameters are scalars, or as long as x."""
    others = tuple(other if other.ndim == 0 else other[indices] for other in probe.others)
    return Probe(np.ascontiguousarray(probe.x[indices]), others)


def merged(length: int, pieces: Sequence[Array], answers: Sequence[Array | None]) -> Array | None:
    """The codes of a probe's elements, ANYTHING for those that were not asked; None if no call was answered."""
    found = np.full(length, ANYTHING, np.int64)
    for indices, codes in zip(pieces, answers, strict=True):
        if codes is not None:
            found[indices] = codes
    return found if (found != ANYTHING).any() else None


def paths_data(arithmetic: Arithmetic, ask: Ask) -> list[dict[str, Any]]:
    """For each path its name and each facet's value, or the list of those that fit; empty facets if nothing fits.

    Paths with the same facets are one, with both names.
    """
    found: list[dict[str, Any]] = []
    for name, size in PATHS.items():
        semantics = semantics_on_path(arithmetic, Arranged(ask, size))
        same = next((one for one in found if one["semantics"] == semantics), None)
        if same is None:
            found.append({"paths": [name], "semantics": semantics})
        else:
            same["paths"].append(name)
    return found


def semantics_on_path(arithmetic: Arithmetic, ask: Ask) -> dict[str, str | list[str]]:
    inference = Inference(arithmetic, ask)
    inference.run()
    if not inference.alive:
        return {}
    specials = {name: list(ids_of(tuple(values))) for name, values in inference.specials.items()}
    return alone_or_all(values_left(arithmetic.candidates.names, inference.alive) | specials)
