"""Inputs on which different arithmetics of a round trip by a factor give different results."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Ends = tuple[int, int]  # of the representable integers
RANGES = (
    *((-128.0, 127.0), (-64.0, 63.5), (-1.0, 1.0), (-12.8, 12.7), (-1.1, 2.3), (-3.3, 1.2), (-0.7, 0.3)),
    *((-100.0, 77.7), (-1e-3, 1.7e-3), (-6.0, 0.5), (-0.5, 6.0), (0.2, 0.9), (-49.0, 49.0), (-3.0, 11.0), (-7.0, 3.0)),
)
ANY = 40  # elements of a probe that are drawn at random
FURTHER = 384  # elements of a probe of the search


def first_probes(node: Node, ends: Ends) -> Iterator[Probe]:
    random = np.random.default_rng(7)
    tiny = 2.0**node.real.emin
    for low, high in (*RANGES, *whole_ranges(ends), (-100 * tiny, 90 * tiny), (-70 * tiny, 100.5 * tiny)):
        yield probe_of(node, ends, low, high, random)
        yield probe_of(node, ends, low, high, random)


def whole_ranges(ends: Ends) -> Iterator[tuple[float, float]]:
    """Ranges of whole steps: ties are exact; and those whose sides have nearly the same factor."""
    for step in (1.0, 0.5, 3.0, 49.0):
        yield ends[0] * step, ends[1] * step
        yield (ends[0] + 1) * step, ends[1] * step
        yield ends[0] * step, (ends[1] - 1) * step


def further_probe(node: Node, ends: Ends, random: np.random.Generator) -> Probe:
    low, high = -np.abs(random.normal(size=2)) * 2.0 ** random.integers(-3, 6)
    if random.random() < 0.5:
        low, high = -float(random.integers(1, 200)), -float(random.integers(1, 200))
    return probe_of(node, ends, float(low), float(-high), random, FURTHER)


def probe_of(node: Node, ends: Ends, low: float, high: float, random: np.random.Generator, most: int = 0) -> Probe:
    """Numbers around integers and ties of the factors, the ends, beyond them, and at random."""
    dtype, (lowest, highest) = node.inputs[0].dtype, ends
    held = [float(np.asarray(end).astype(dtype)) for end in (low, high)]
    steps = {held[1] / highest, *((held[0] / lowest,) if lowest and held[0] < 0 else ())}
    halves = np.concatenate([np.arange(-9, 10) / 2, lowest - np.arange(-4, 4) / 2, highest + np.arange(-4, 4) / 2,
                             random.integers(2 * lowest, 2 * highest + 1, ANY) / 2])  # fmt: skip
    with np.errstate(all="ignore"):
        near = np.concatenate([neighbours((halves * step).astype(dtype), (-1, 0, 1)) for step in sorted(steps)])
        limits = neighbours(np.array(held).astype(dtype), (-1, 0, 1))
        far = np.array([*(end * factor for end in held for factor in (1.25, 2.0, 100.0)), 0.0]).astype(dtype)
        any_ = random.uniform(1.1 * min(held[0], 0.0), 1.1 * held[1], ANY).astype(dtype)
    x = np.concatenate([near, limits, far, any_])
    x = x[np.isfinite(x.astype(np.float64))]
    if most and x.size > most:
        x = x[random.choice(x.size, most, replace=False)]
    return Probe(np.ascontiguousarray(x), others_of(node, low, high))


def others_of(node: Node, low: float, high: float) -> tuple[Array, ...]:
    """The range, and 8 where the number of bits is an input."""
    values = (low, high, 8)[: len(node.inputs) - 1]
    return tuple(np.asarray(value).astype(tensor.dtype) for value, tensor in zip(values, node.inputs[1:], strict=True))
