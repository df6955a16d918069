"""What an audit of `paddle.QuantizeLinear` asks: the facets of its term, and inputs to try.

Scales are ordinary numbers, so that nothing on the way is subnormal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.conformance.operators.paddle_quantize_linear_variants import ENDS, STEPS, from_attributes, within_ends
from tiebreak.conformance.operators.wrong_terms import facet_of
from tiebreak.conformance.semantics.model import Facet, Probe
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.round_modes import EVERY
from tiebreak.conformance.semantics.term_arithmetic import TermArithmetic, TermChange
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, changed, written
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import wrapped
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Elementwise

SINGLE = np.float32
POSITIONS = {
    "range-times-inverse": "own-reciprocal-times-range",
    "product-times-inverse": "own-reciprocal",
    "inverse-first": "own-reciprocal-before-range",
    "factor": "factor-first",
    "step": "step-first",
    "step-by-reciprocal": "step-by-reciprocal-of-range",
    "step-by-reciprocals": "step-by-reciprocals",
    "quotient-first": "divides-before-range",
}


def low_bits(p: Elementwise) -> Change:
    bits = p.constants["bit_length"]
    return at(ENDS, lambda one: wrapped(one.args[0], IntegerType(f"int{bits}", bits, signed=True)))


WAYS = facet_of("position", TermChange("as-written", "X * range / Scale"), POSITIONS, STEPS)
IN_FLOAT64 = TermChange("float64", "X * range / Scale in float64", by.all_steps_in(DOUBLE), "divides-in:float64")
BETWEEN_ENDS = within_ends(lambda number: number)
CLIPPED = TermChange("saturate", "clipped to qmin … qmax")
NARROWED = TermChange(
    "narrow-range",
    "clipped to -range … range, or X to -Scale … Scale before",
    next(one.mutant for one in STEPS if one.id == "narrow-range"),
    "narrow-range",
)
NOT_CLIPPED = TermChange(
    "not-clipped", "results beyond qmin and qmax stay", changed(at(ENDS, lambda one: one.args[0])), "does-not-clamp"
)
WRAPPED = TermChange("wrap", "the low bits", written(low_bits), "wraps")
FACETS = (
    Facet("position", (*WAYS.values, IN_FLOAT64)),
    Facet("round_mode", EVERY),
    Facet(
        "saturation", (CLIPPED, NARROWED, NOT_CLIPPED, TermChange("wrap", "the low bits", written(low_bits), "wraps"))
    ),
)
SCALES = (1.0, 0.1, 127.0, 0.5, 3.7, 81.359375, 0.007, 1 / 3, 49.0, 12.7, 1000.3, 2.0**-10, 0.640625, 5.08)
MANY = 80
FAR_PLACES = np.array([1.5, 2.0, 3.3, 257.0, 65537.0, 2.0**25, 2.0**26 + 4.0, 1e12])


@dataclass
class PaddleQuantizeArithmetic(TermArithmetic):
    """The arithmetic of a node with one scale, whose ends are those of bit_length."""

    base: Mutant = BETWEEN_ENDS

    @cached_property
    def call(self) -> NodeCall:
        return NodeCall(self.node, tuple(np.ones(1, tensor.dtype) for tensor in self.node.inputs))

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        for scale in SCALES:
            yield self.probe(SINGLE(scale), random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.probe(SINGLE(np.exp2(random.uniform(-20, 20))), random)

    def probe(self, scale: np.float32, random: np.random.Generator) -> Probe:
        """Ties and what is beside them, whole results, numbers around and far beyond the ends, and any."""
        steps, *own = from_attributes(self.problem)
        ends = 2 * steps + 6
        halves = np.unique(np.concatenate([np.arange(-9, 10), random.integers(-ends, ends, MANY), [ends, -ends]])) / 2
        edges = np.concatenate([np.arange(2 * end - 4, 2 * end + 5) / 2 for end in own])
        place = np.concatenate([halves, edges, random.uniform(-ends, ends, MANY)])
        near = neighbours((place * float(scale) / steps).astype(SINGLE), (-2, -1, 0, 1, 2))
        far = (FAR_PLACES * float(scale)).astype(SINGLE)
        return Probe(np.concatenate([near, far, -far]), (np.asarray(scale), np.zeros((), SINGLE)))


def paddle_quantize(node: Node) -> PaddleQuantizeArithmetic:
    """The arithmetics that a node may have. InvalidInput for scales along an axis, and for ends of other bits."""
    if node.value("quant_axis") != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one scale, with quant_axis -1")
    arithmetic = PaddleQuantizeArithmetic(node, FACETS)
    steps, *ends = from_attributes(arithmetic.problem)
    if ends != [-steps - 1, steps] or steps < 1:
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
