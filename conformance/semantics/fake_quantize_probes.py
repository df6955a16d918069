"""Inputs on which different arithmetics of FakeQuantize give different results."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.quantize_probes import NARROWER, neighbours
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Limits = tuple[float, float, float, float]
LIMITS: tuple[Limits, ...] = (
    (0.0, 1.0, 0.0, 1.0),
    (-1.0, 1.0, -1.0, 1.0),
    (0.0, 255.0, 0.0, 255.0),
    (-12.8, 12.7, -128.0, 127.0),
    (-1.1, 2.3, -0.7, 3.1),
    (0.1, 0.9, 5.0, -2.0),
    (-3.3, -0.2, -3.3, -0.2),
    (-100.0, 77.7, 0.3, 0.9),
    (1e-3, 1.7e-3, -1e3, 2e3),
    (-0.5, 0.5, -0.1, 0.1),
    (0.0, 11.0, 0.0, 11.0),  # here the midpoints between levels are exact
    (-7.0, 8.0, -7.0, 8.0),
    (0.0, 3.0, 0.0, 1.0),
)
ANY = 40  # elements of a probe that are drawn at random
FURTHER = 384  # elements of a probe of the search


def first_probes(node: Node) -> Iterator[Probe]:
    random = np.random.default_rng(7)
    for limits in LIMITS:
        for _ in range(2):
            yield probe_with_limits(node, limits, random)
    for limits in (*whole_steps(node), *cancelling(node), *amid_levels(node), *large(node)):
        for _ in range(2):
            yield probe_with_limits(node, limits, random)
    tiny = 2.0**node.real.emin
    for limits in ((0.0, 3 * tiny, 0.0, 1.0), (0.0, 1.0, 0.0, 3 * tiny), (0.0, 3 * tiny, 0.0, 3 * tiny)):
        yield probe_with_limits(node, limits, random)
    for limits in narrow(tiny):
        yield probe_with_limits(node, limits, random)


def narrow(tiny: float) -> Iterator[Limits]:
    """Normal limits that are a subnormal distance apart; of the input, of the output."""
    yield 1.5 * tiny, 2.25 * tiny, 0.0, 1.0
    yield 0.0, 1.0, 1.5 * tiny, 2.25 * tiny


def whole_steps(node: Node) -> Iterator[Limits]:
    """Steps of 3, 7 and 49: midpoints between levels are exact though factors are not. And levels that give 0."""
    n = int(node.attributes["levels"]) - 1
    for step, below in ((3.0, 0), (7.0, n // 3), (49.0, n // 2)):
        low, high = -step * below, step * (n - below)
        yield low, high, low, high
        yield low, high, -3.0 * (n // 2), 3.0 * (n - n // 2)


def cancelling(node: Node) -> Iterator[Limits]:
    """Output limits where one level is exactly 0 as a quotient, but rarely as a product with a rounded step."""
    n = int(node.attributes["levels"]) - 1
    divisor = next((d for d in range(2, 1 + math.isqrt(n)) if n % d == 0), 0)
    for size in (7.0, 11.0, 13.0, 49.0) if divisor else ():
        yield 0.0, float(n), -size, (divisor - 1) * size


def amid_levels(node: Node) -> Iterator[Limits]:
    """Input limits with 0 midway between two levels, the lower one even or odd: they show how limits are nudged."""
    n = int(node.attributes["levels"]) - 1
    for below in (0.5, 1.5) if n > 1 else (0.5,):
        yield -below, n - below, 0.0, float(n)


def large(node: Node) -> Iterator[Limits]:
    """Limits of the input or the output so large that their product with the number of steps overflows."""
    greatest = 2.0**node.real.emax * 1.25
    yield 0.0, greatest, 0.0, 4.0
    yield 0.0, 1.0, 0.0, greatest


def further_probe(node: Node, random: np.random.Generator) -> Probe:
    """A probe with random limits: real or whole numbers."""
    low, first_ = random.normal(size=2) * 2.0 ** random.integers(-3, 6, 2)
    width, span = np.abs(random.normal(size=2)) * 2.0 ** random.integers(-3, 6, 2) + 1e-2
    if random.random() < 0.5:
        low, width = -float(random.integers(0, 3) * random.integers(0, 100)), float(random.integers(1, 200))
    limits = low, low + width, first_, first_ + span
    if node.real.bits == 16 and random.random() < 0.5:
        return with_limits(every_input(node, low, low + width), limits, node)
    return probe_with_limits(node, limits, random, FURTHER)


def every_input(node: Node, low: float, high: float) -> Array:
    """All numbers of a 16-bit type from `low` to `high`."""
    words = np.arange(1 << 16, dtype=np.uint16).view(node.inputs[0].dtype)
    with np.errstate(invalid="ignore"):
        values = words.astype(np.float64)
    return words[(values >= low) & (values <= high)]


def special_probes(node: Node) -> Iterator[Probe]:
    """NaN, the infinities, and the largest numbers to compare them with."""
    dtype = node.inputs[0].dtype
    largest = np.array([node.real.largest_bits], f"uint{node.real.bits}").view(dtype)
    for value in (*np.array([np.nan, np.inf, -np.inf]).astype(dtype), largest[0], -largest[0]):
        for limits in LIMITS[3:7]:
            yield with_limits(np.array([value], dtype), limits, node)


def with_limits(x: Array, limits: Limits, node: Node) -> Probe:
    others = [np.asarray(v).astype(tensor.dtype) for v, tensor in zip(limits, node.inputs[1:], strict=True)]
    return Probe(np.ascontiguousarray(x), tuple(others))


def probe_with_limits(node: Node, limits: Limits, random: np.random.Generator, most: int = 0) -> Probe:
    """Numbers around levels, the midpoints between them and the limits, far beyond the limits, and at random."""
    dtype, n = node.inputs[0].dtype, int(node.attributes["levels"]) - 1
    held = [float(np.asarray(v).astype(dtype)) for v in limits]
    low, width = held[0], held[1] - held[0]
    halves = np.concatenate([np.arange(0, 12) / 2, n - np.arange(0, 12) / 2, random.integers(0, 2 * n + 1, ANY) / 2])
    with np.errstate(all="ignore"):
        near = neighbours((low + halves / n * width).astype(dtype), (-2, -1, 0, 1, 2))
        narrow = [neighbours(halves[:12].astype(kind), (-1, 1)).astype(np.float64) for kind in NARROWER]
        near = np.concatenate([near, *((low + one / n * width).astype(dtype) for one in narrow)])
        ends = neighbours(np.array(held[:2]).astype(dtype), (-2, -1, 0, 1, 2))
        far = np.array([-3e38, -1e4, -1.0, 0.0, 1.0, 1e4, 3e38]).astype(dtype)
        any_ = random.uniform(low - width / 10, low + width * 1.1, ANY).astype(dtype)
        x = np.concatenate([near, ends, far, any_])
        x = x[np.isfinite(x.astype(np.float64))]
    if most and x.size > most:
        x = x[random.choice(x.size, most, replace=False)]
    return with_limits(x, limits, node)
