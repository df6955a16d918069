"""Which of many inputs is the easiest to follow: ordinary numbers first, then those that are the shortest to write."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.judging.domains import domains_of
from tiebreak.conformance.judging.families import families_of
from tiebreak.conformance.semantics.model import Probe
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.verdicts import DOMAINS

LOOKED_AT = 64  # elements of a probe, those whose bits end in the most zeros


@dataclass(frozen=True)
class Plain:
    """An element as a probe of its own, with the backend's code. A lower `rank` is plainer."""

    probe: Probe
    got: int
    domain: str
    rank: tuple[int, int, float, float]


def plainest(node: Node, probe: Probe, chosen: Array, codes: Array) -> Plain:
    """The plainest of a probe's chosen elements (a mask, not empty); `codes` are the probe's answers."""
    places = np.flatnonzero(chosen)
    domains = element_domains(node, probe.only(places), codes[places])
    ordinary = np.flatnonzero(domains == domains.min())
    places, domain = places[ordinary], int(domains.min())
    places = places[np.argsort(-trailing_zeros(probe.x[places]), kind="stable")[:LOOKED_AT]]
    digits = sum(len(text_of(other)) for other in probe.others)
    size = sum(abs(float(other)) for other in probe.others)
    ranks = [(domain, digits + len(text_of(x)), abs(float(x)), size) for x in probe.x[places]]
    best = min(range(places.size), key=lambda number: ranks[number])
    where = places[[best]]
    return Plain(probe.only(where), int(codes[where[0]]), DOMAINS[domain], ranks[best])


def element_domains(node: Node, probe: Probe, codes: Array) -> Array:
    """The domain (a number of DOMAINS) of each element."""
    case = probe.case(node, 0)
    (family,) = families_of([case], [problems_of(case)], np.zeros(1, np.int64))
    return np.broadcast_to(domains_of(family, node.operator, codes), codes.shape)


def trailing_zeros(x: Array) -> Array:
    """The lowest bit that is set in each number's bits (float64); that of 0 is the highest."""
    bits = x.view(f"uint{8 * x.dtype.itemsize}").astype(np.uint64)
    lowest = bits & (~bits + np.uint64(1))
    return np.where(bits == 0, np.uint64(2**63), lowest).astype(np.float64)


def text_of(number: Array) -> str:
    """A number as it is written: the shortest decimal of its own type."""
    return str(np.asarray(number)[()])
