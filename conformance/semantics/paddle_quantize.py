"""PaddlePaddle's quantize_linear as black boxes compute it: the way to X * range / Scale, its rounding, its ends.

Scales are ordinary numbers, so that nothing on the way is subnormal. These are predictions to compare with a backend,
never truths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, codes, valid_candidates
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.round_modes import EVERY, MODES, RoundMode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SINGLE, FAR = np.float32, 1e300
Number = np.floating[Any]


@dataclass(frozen=True, eq=False)
class WayToQuotient:
    """`of` gives X * range / Scale from the three in the working precision, each step rounded to it."""

    id: str
    sentence: str
    of: Callable[[Array, Array, Number], Array]
    cause: str = ""
    precision: Precision = FLOAT32


def one(scale: Array) -> Number:
    number: Number = scale.dtype.type(1)
    return number


WAYS = (
    AS_WRITTEN := WayToQuotient("as-written", "X * range / Scale", lambda x, scale, steps: x * steps / scale),
    WayToQuotient(
        "range-times-inverse",
        "range times the rounded 1 / Scale multiplies X",
        lambda x, scale, steps: steps * (one(scale) / scale) * x,
        "own-reciprocal-times-range",
    ),
    WayToQuotient(
        "product-times-inverse",
        "X * range is multiplied by the rounded 1 / Scale",
        lambda x, scale, steps: x * steps * (one(scale) / scale),
        "own-reciprocal",
    ),
    WayToQuotient(
        "inverse-first",
        "X is multiplied by the rounded 1 / Scale, then by range",
        lambda x, scale, steps: x * (one(scale) / scale) * steps,
        "own-reciprocal-before-range",
    ),
    WayToQuotient("factor", "X * (range / Scale)", lambda x, scale, steps: x * (steps / scale), "factor-first"),
    WayToQuotient("step", "X / (Scale / range)", lambda x, scale, steps: x / (scale / steps), "step-first"),
    WayToQuotient(
        "step-by-reciprocal",
        "X / (Scale times the rounded 1 / range)",
        lambda x, scale, steps: x / (scale * (one(scale) / steps)),
        "step-by-reciprocal-of-range",
    ),
    WayToQuotient(
        "step-by-reciprocals",
        "X times the rounded 1 / (Scale times the rounded 1 / range)",
        lambda x, scale, steps: x * (one(scale) / (scale * (one(scale) / steps))),
        "step-by-reciprocals",
    ),
    WayToQuotient(
        "quotient-first", "X / Scale * range", lambda x, scale, steps: x / scale * steps, "divides-before-range"
    ),
    WayToQuotient(
        "float64",
        "X * range / Scale in float64",
        lambda x, scale, steps: x * steps / scale,
        "divides-in:float64",
        FLOAT64,
    ),
)


@dataclass(frozen=True, eq=False)
class PaddleEnds:
    """`of` gives the result from a rounded quotient and range."""

    id: str
    sentence: str
    of: Callable[[Array, int], Array]
    cause: str = ""


def low_bits(whole: Array, steps: int) -> Array:
    held = np.clip(np.nan_to_num(whole), -(2.0**62), 2.0**62).astype(np.int64)
    return np.asarray(((held + steps + 1) % (2 * steps + 2) - steps - 1).astype(np.float64))


ENDS = (
    CLIPPED := PaddleEnds("saturate", "clipped to qmin … qmax", lambda whole, steps: np.clip(whole, -steps - 1, steps)),
    PaddleEnds(
        "narrow-range",
        "clipped to -range … range, or X to -Scale … Scale before",
        lambda whole, steps: np.clip(whole, -steps, steps),
        "narrow-range",
    ),
    PaddleEnds("not-clipped", "results beyond qmin and qmax stay", lambda whole, steps: whole, "does-not-clamp"),
    PaddleEnds("wrap", "the low bits", low_bits, "wraps"),
)


class PaddleCombination(NamedTuple):
    """One value of each facet."""

    position: WayToQuotient
    round_mode: RoundMode
    saturation: PaddleEnds


FACETS = (Facet("position", WAYS), Facet("round_mode", EVERY), Facet("saturation", ENDS))


@lru_cache(maxsize=1)
def every_combination() -> Candidates:
    return valid_candidates(FACETS, lambda semantics: True)


@dataclass
class PaddleQuantizeArithmetic(FiniteOnly):
    """The arithmetic of a node with one scale, whose ends are those of bit_length."""

    node: Node

    @property
    def facets(self) -> tuple[Facet, ...]:
        return FACETS

    @property
    def documented(self) -> PaddleCombination:
        return PaddleCombination(AS_WRITTEN, MODES[self.node.round_mode], CLIPPED)

    @property
    def candidates(self) -> Candidates:
        return every_combination()

    @cached_property
    def steps(self) -> int:
        return int(2 ** (self.node.value("bit_length") - 1) - 1)

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        for scale in SCALES:
            yield self.probe(SINGLE(scale), random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.probe(SINGLE(np.exp2(random.uniform(-20, 20))), random)

    def probe(self, scale: np.float32, random: np.random.Generator) -> Probe:
        """Ties and what is beside them, whole results, numbers around and far beyond the ends, and any."""
        ends = 2 * self.steps + 6
        halves = np.unique(np.concatenate([np.arange(-9, 10), random.integers(-ends, ends, MANY), [ends, -ends]])) / 2
        edges = np.concatenate([np.arange(2 * end - 4, 2 * end + 5) / 2 for end in (-self.steps - 1, self.steps)])
        place = np.concatenate([halves, edges, random.uniform(-ends, ends, MANY)])
        near = neighbours((place * float(scale) / self.steps).astype(SINGLE), (-2, -1, 0, 1, 2))
        far = (FAR_PLACES * float(scale)).astype(SINGLE)
        return Probe(np.concatenate([near, far, -far]), (np.asarray(scale), np.zeros((), SINGLE)))

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the rounded quotient, within what changes a result."""
        known: dict[tuple[object, ...], Array] = {}
        for one_of in map(PaddleCombination._make, semantics):
            key = one_of[:2]
            if key not in known:
                known[key] = self.rounded(probe, one_of)
            whole = known[key]
            with np.errstate(over="ignore"):
                result = one_of.saturation.of(whole, self.steps).astype(SINGLE)
            yield codes(result), np.clip(whole, -FAR, FAR)

    def rounded(self, probe: Probe, semantics: PaddleCombination) -> Array:
        way, dtype = semantics.position, semantics.position.precision.dtype
        with np.errstate(all="ignore"):
            quotient = way.of(probe.x.astype(dtype), probe.others[0].astype(dtype), dtype.type(self.steps))
        return semantics.round_mode.round(quotient.astype(np.float64), way.precision)


SCALES = (1.0, 0.1, 127.0, 0.5, 3.7, 81.359375, 0.007, 1 / 3, 49.0, 12.7, 1000.3, 2.0**-10, 0.640625, 5.08)
MANY = 80
FAR_PLACES = np.array([1.5, 2.0, 3.3, 257.0, 65537.0, 2.0**25, 2.0**26 + 4.0, 1e12])


def paddle_quantize(node: Node) -> PaddleQuantizeArithmetic:
    """The arithmetics that a node may have. InvalidInput for scales along an axis, and for ends of other bits."""
    if node.value("quant_axis") != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one scale, with quant_axis -1")
    arithmetic = PaddleQuantizeArithmetic(node)
    ends = -arithmetic.steps - 1, arithmetic.steps
    if (node.value("qmin"), node.value("qmax")) != ends or arithmetic.steps < 1:
        raise InvalidInput(f"{node.operator}: semantics are known of qmin and qmax that follow from bit_length")
    return arithmetic


def as_vectors(node: Node, probe: Probe) -> Probe:
    """The scale and the zero point as vectors of one number."""
    return Probe(probe.x, tuple(other.reshape(1) for other in probe.others))


def role_of_paddle(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    modes = {0: "even", 1: "away"}
    return {"position": "quotient", "saturation": "clamp", "round_mode": modes[int(node.value("round_type"))]}[facet]


def silence_of_ends(node: Node) -> str:
    return "PaddlePaddle's text names qmin and qmax, and does not say what a result beyond them becomes"
