"""Which of many inputs is the easiest to follow: ordinary numbers first, then those with the fewest digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.audit.operators import STAGED, case_of_probe
from tiebreak.conformance.judging.domains import CALIBRATED, PATHOLOGICAL, domains_of
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
    ranks = [(domain, *effort_and_sizes(probe.only(places[[number]]))) for number in range(places.size)]
    best = min(range(places.size), key=lambda number: ranks[number])
    where = places[[best]]
    return Plain(probe.only(where), int(codes[where[0]]), DOMAINS[domain], ranks[best])


def effort_and_sizes(one: Probe) -> tuple[int, float, float]:
    """The effort of all operands of a probe's one element, the magnitude of x, and that of the others together."""
    x, others = one.x[0], [np.asarray(other).reshape(-1)[0] for other in one.others]
    sizes = abs(float(x)), float(sum(abs(float(other)) for other in others))
    return effort(x) + sum(map(effort_of_other, others)), *sizes


def element_domains(node: Node, probe: Probe, codes: Array) -> Array:
    """The domain (a number of DOMAINS) of each element; of an output in stages by the sizes of its operands alone."""
    if node.operator in STAGED:
        return np.where(is_tiny(probe), PATHOLOGICAL, CALIBRATED)
    case = case_of_probe(node, probe, 0)
    (family,) = families_of([case], [problems_of(case)], np.zeros(1, np.int64))
    return np.broadcast_to(domains_of(family, node.operator, codes), codes.shape)


def is_tiny(probe: Probe) -> Array:
    """Where an operand is below the normal numbers of float32 (a mask)."""
    sizes = [np.abs(np.asarray(one).astype(np.float64)) for one in (probe.x, *probe.others)]
    tiny = [(size > 0) & (size < np.finfo(np.float32).tiny) for size in sizes]
    return np.asarray(np.broadcast_to(np.logical_or.reduce(np.broadcast_arrays(*tiny)), probe.x.shape))


def trailing_zeros(x: Array) -> Array:
    """The lowest bit that is set in each number's bits (float64); that of 0 is the highest."""
    bits = x.view(f"uint{8 * x.dtype.itemsize}").astype(np.uint64)
    lowest = bits & (~bits + np.uint64(1))
    return np.where(bits == 0, np.uint64(2**63), lowest).astype(np.float64)


def effort(number: Array) -> int:
    """How much there is to a number's shortest decimal in its own type: digits, decimals, a sign, an exponent."""
    mantissa, _, exponent = str(np.asarray(number)[()]).removesuffix(".0").partition("e")
    decimals = mantissa.partition(".")[2]
    digits = len(mantissa.replace(".", "").strip("-0"))
    return digits + len(decimals) + len(exponent) + mantissa.startswith("-")


def effort_of_other(number: Array) -> int:
    """That of an input after the first: 0 and 1 change little."""
    return 0 if float(number) in (0, 1) else effort(number)
