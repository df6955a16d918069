"""RESCALE with a multiplier and a shift for each index of the last axis: probes in which neighbours differ in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from tiebreak.conformance.semantics.integer_scaling import IntegerScaling
from tiebreak.conformance.semantics.model import Probe, Semantics
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

AT_ONCE = 6  # factors of a probe, by turns along its elements
FEW = 96  # elements of each


class ScalingByChannel(IntegerScaling):
    """As IntegerScaling, where a probe may have a multiplier and a shift for each element."""

    def first_probes(self) -> Iterator[Probe]:
        of_same_points = sorted(self.table.probes(), key=points_of)
        for _, probes in groupby(of_same_points, key=points_of):
            own = list(probes)
            calls = -(-len(own) // AT_ONCE)
            yield from (interleaved(own[first::calls]) for first in range(calls))

    def further_probe(self, random: np.random.Generator) -> Probe:
        first, *others = (self.table.further(random) for _ in range(4 * AT_ONCE))
        same = [one for one in others if points_of(one) == points_of(first)]
        return interleaved([first, *same[: AT_ONCE - 1]])

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        parts = list(by_factor(probe))
        every = [super(ScalingByChannel, self).staged(part, semantics) for _, part in parts]
        for found in zip(*every, strict=True):
            codes, stages = np.empty(probe.x.size, np.int64), np.empty(probe.x.size, np.float64)
            for (places, _), (own_codes, own_stages) in zip(parts, found, strict=True):
                codes[places], stages[places] = own_codes, own_stages
            yield codes, stages


def points_of(probe: Probe) -> tuple[int, int]:
    first, last = (int(other.reshape(-1)[0]) for other in probe.others[2:])
    return first, last


def interleaved(probes: Sequence[Probe]) -> Probe:
    """The elements of probes with the same zero points by turns, each with its own multiplier and shift."""
    length = min(FEW, *(probe.x.size for probe in probes))
    x = np.stack([probe.x[:length] for probe in probes], axis=1).reshape(-1)
    factors = (np.concatenate([probe.others[place] for probe in probes]) for place in (0, 1))
    return Probe(np.ascontiguousarray(x), (*(np.tile(one, length) for one in factors), *probes[0].others[2:]))


def by_factor(probe: Probe) -> Iterator[tuple[Array, Probe]]:
    """For each pair of a multiplier and a shift its places, and the elements there with this pair alone."""
    multiplier, shift, *points = probe.others
    if multiplier.size == 1:
        yield np.arange(probe.x.size), probe
        return
    pairs = np.stack([multiplier.astype(np.int64), shift.astype(np.int64)], axis=1)
    for pair, which in zip(*distinct(pairs), strict=True):
        own = tuple(np.array([value]).astype(one.dtype) for value, one in zip(pair, (multiplier, shift), strict=True))
        yield which, Probe(np.ascontiguousarray(probe.x[which]), (*own, *points))


def distinct(pairs: Array) -> tuple[Array, list[Array]]:
    found, number = np.unique(pairs, axis=0, return_inverse=True)
    return found, [np.flatnonzero(number.reshape(-1) == place) for place in range(len(found))]


def with_every_channel(node: Node, probe: Probe) -> Probe:
    """The probe as it is called: with per_channel each element has its multiplier and shift."""
    if not node.value("per_channel"):
        return probe
    multiplier, shift, *points = probe.others
    spread = (np.ascontiguousarray(np.broadcast_to(one, probe.x.shape)) for one in (multiplier, shift))
    return Probe(probe.x, (*spread, *points))
