"""round(x / scale) + zero_point as black boxes do it: the facets, and what each combination of them gives.

These are predictions to compare with a backend, never truths; what is exact in them comes from the reference kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tiebreak.conformance.semantics import quantize_probes
from tiebreak.conformance.semantics.model import ANYTHING, OTHER, Facet, Probe, Semantics
from tiebreak.conformance.semantics.places import (
    NEVER_NEGATIVE,
    Place,
    flush_subnormals,
    fused_multiply_add,
    locate,
    round_place,
)
from tiebreak.conformance.semantics.quantize_facets import (
    AFTER,
    BEFORE,
    CAST,
    ENDS,
    FACETS,
    NARROW,
    OF_RANGES,
    OF_ZERO,
    WIDER,
)
from tiebreak.conformance.semantics.quantize_saturation import saturated_codes, saturation_stage
from tiebreak.golden import kernel
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType, numpy_dtype
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, Quantization, bits_of
from tiebreak.golden.rounding import ROUND_MODES

SPECIALS = ("nan", "positive_infinity", "negative_infinity")
FAR = 2.0**50
REGIONS = {
    "subnormals": {"subnormal"},
    "saturation": {"beyond"},
    "round_mode": {"tie"},
    "precision": {"tie", "near a boundary"},
}
SEES_SHIFTS = (  # in which an integer that is added exactly first may change what is rounded
    "ROUND_NEAREST_TOWARD_INFINITY",
    "ROUND_NEAREST_TOWARD_ZERO",
    "ROUND_NEAREST_TOWARD_EVEN",
    "ROUND_TOWARD_INFINITY",
    "ROUND_TOWARD_ZERO",
)
SEES_TINY = ("ROUND_TOWARD_INFINITY", "ROUND_UP", "ROUND_DOWN")  # all others round a subnormal quotient to 0


@dataclass
class QuantizeArithmetic:
    """Of a node of the quantize family with float inputs, integer outputs, one scale and one zero point."""

    node: Node
    facets: tuple[Facet, ...] = FACETS
    seen: dict[str, list[str]] = field(default_factory=dict)  # what the special facets may be
    as_infinite: bool | None = None  # whether a finite input with an infinite quotient gives what an infinite one does

    @property
    def plain(self) -> Semantics:
        mode = self.node.round_mode or "ROUND_NEAREST_TOWARD_EVEN"
        return self.node.input_type, "divide", "kept", AFTER, mode, "saturate"

    def completed(self, semantics: Semantics) -> Semantics:
        """Fused steps and ranges add the zero point before rounding; what flushes quotients shows by rounding up."""
        precision, scaling, subnormals, zero_point, mode, saturation = semantics
        if scaling == "fused" or scaling.startswith("range"):
            zero_point = BEFORE
        if subnormals in ("quotients flushed", "all flushed"):
            mode = "ROUND_UP"
        return precision, scaling, subnormals, zero_point, mode, saturation

    @cached_property
    def kind(self) -> IntegerType:
        return self.node.quantized

    @property
    def specials(self) -> tuple[Facet, ...]:
        """Where the range begins with 0, some values are one: NaN gives "zero" there, an infinity "lowest"."""
        same = {name: OF_ZERO | {"lowest" if name == "nan" else "zero"} for name in SPECIALS}
        return tuple(
            Facet(name, {v: text for v, text in ENDS.items() if self.kind.lowest or v not in same[name]})
            for name in SPECIALS
        )

    def valid(self, semantics: Semantics) -> bool:
        precision, scaling, subnormals, zero_point, mode, saturation = semantics
        flushes_quotients = subnormals in ("quotients flushed", "all flushed")
        if precision == "exact" and (scaling != "divide" or mode not in ROUND_MODES or flushes_quotients):
            return False
        if flushes_quotients and (mode not in SEES_TINY or scaling == "fused" or self.holds_quotients(precision)):
            return False
        if precision == "float16" and saturation != "saturate" and self.float16_saturates(zero_point):
            return False
        if scaling == NARROW and FLOAT_TYPES[precision].precision <= self.node.real.precision:
            return False
        if saturation in ("float32", CAST) and self.kind.bits <= 16:
            return False
        if saturation.startswith("int64") and precision == "float16":
            return False
        if saturation == "int64, then a wider sum" and self.int64_has_room(precision, zero_point):
            return False
        if saturation.startswith("int32") and self.int32_is_enough(precision, saturation, zero_point):
            return False
        if zero_point == WIDER and scaling not in ("divide", "reciprocal", NARROW):
            return False
        if zero_point == WIDER and precision in ("exact", "float64"):
            return False
        if zero_point == WIDER and mode not in SEES_SHIFTS:
            return False
        if "fused" in scaling and (zero_point == AFTER or precision == "float64"):
            return False
        if scaling.startswith("range") and (mode not in NEVER_NEGATIVE or self.exceeds(precision)):
            return False
        if scaling.startswith("range") and (zero_point == AFTER or saturation not in OF_RANGES or subnormals != "kept"):
            return False
        return not (zero_point != AFTER and (saturation.startswith("clamp") or saturation == "float32"))

    def int32_is_enough(self, precision: str, saturation: str, zero_point: str) -> bool:
        """Whether int32 holds every quotient of the precision, or its low bits are those of the ones it does not.

        A sum with the zero point needs no more room if it was made before, or if no number of the precision below
        2^31 is so near to it that a zero point, of which none is negative, leads beyond.
        """
        if precision == "float16" or precision == "exact":
            return precision == "float16"
        digits = 32 - FLOAT_TYPES[precision].precision
        if saturation == "int32, then a wider sum":
            return zero_point != AFTER or (self.kind.lowest == 0 and self.kind.highest < 2.0 ** (digits - 1))
        return saturation == "int32, then wrap" and (digits >= self.kind.bits or self.kind.bits == 32)

    def int64_has_room(self, precision: str, zero_point: str) -> bool:
        """Whether no number of the precision that int64 holds is so near to an end that a zero point leads beyond."""
        digits = 53 if precision == "exact" else FLOAT_TYPES[precision].precision
        return zero_point != AFTER or (self.kind.lowest == 0 and self.kind.highest < 2.0 ** (63 - digits))

    def holds_quotients(self, precision: str) -> bool:
        """Whether every quotient is a normal number of the precision."""
        return precision == "float64" and self.node.real.bits <= 32

    def exceeds(self, precision: str) -> bool:
        """Whether the precision does not hold the number of steps."""
        return precision == "float16" and self.kind.bits >= 16

    def float16_saturates(self, zero_point: str) -> bool:
        """Whether a float16, which is at most 65504, holds no sum that is out of range, nor the lowest of it."""
        return zero_point != AFTER and self.kind.bits == 32

    def first_probes(self) -> Iterator[Probe]:
        return quantize_probes.first_probes(self.node)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return quantize_probes.further_probe(self.node, random)

    def special_probes(self) -> Iterator[Probe]:
        return quantize_probes.special_probes(self.node)

    def assume(self) -> None:
        self.seen = {"nan": ["lowest"], "positive_infinity": ["highest"], "negative_infinity": ["lowest"]}
        self.as_infinite = True

    def ignore_specials(self) -> None:
        self.seen = {name: [] for name in SPECIALS}

    def observe(self, seen: Sequence[tuple[Probe, int]]) -> dict[str, list[str]]:
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            fits = (v for v in facet.values if all(code == self.special_code(v, probe) for probe, code in own))
            self.seen[facet.name] = list(fits) if own else []
        finite = [(probe, code) for probe, code in seen if not self.special_of(probe)]
        self.as_infinite = all(code in self.codes_of_infinity(probe) for probe, code in finite) if finite else None
        return self.seen

    def codes_of_infinity(self, probe: Probe) -> list[int]:
        """With a finite input's sign."""
        name = "positive_infinity" if float(probe.x[0]) > 0 else "negative_infinity"
        return [self.special_code(value, probe) for value in self.seen[name][:1]]

    def special_of(self, probe: Probe) -> str:
        value = float(probe.x[0])
        if np.isfinite(value):
            return ""  # whose quotient is infinite
        return "nan" if value != value else "positive_infinity" if value > 0 else "negative_infinity"

    def special_code(self, value: str, probe: Probe) -> int:
        """The code that a value of a special facet stands for."""
        lowest, highest, zero_point = self.kind.lowest, self.kind.highest, int(probe.others[1].astype(np.int64))
        return {
            "lowest": lowest,
            "lowest but one": lowest + 1,
            "highest": highest,
            "zero": min(max(0, lowest), highest),
            "zero point": zero_point,
            "zero point but the lowest": max(zero_point, lowest + 1),
            "int32": lowest if zero_point >= 0 else highest,
            "highest before zero point": min(highest + zero_point, highest),
            "lowest before zero point": max(lowest + zero_point, lowest),
            "highest before zero point, then wrap": (highest + zero_point - lowest) % (highest - lowest + 1) + lowest,
            "lowest before zero point, then wrap": zero_point % (highest - lowest + 1) + lowest,
        }[value]

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        for one, (whole, left, saturation) in zip(semantics, self.wholes(probe, semantics), strict=True):
            with np.errstate(all="ignore"):
                codes = saturated_codes(self.kind, whole, left, saturation)
            yield self.with_specials(codes, whole, probe, one[0])

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        for one, (whole, left, saturation) in zip(semantics, self.wholes(probe, semantics), strict=True):
            with np.errstate(all="ignore"):
                codes = saturated_codes(self.kind, whole, left, saturation)
                stage = saturation_stage(self.kind, whole, codes, left, saturation)
            if one[1].startswith("range"):  # beyond its ends a finite number follows an infinite one
                stage = np.where(np.isfinite(whole), stage, np.nan)
            yield self.with_specials(codes, whole, probe, one[0]), stage

    def wholes(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array, str]]:
        """For each what is rounded, the integer that is left to add to it, and how the sum becomes a code."""
        scale, zero_point = probe.others[0], probe.others[1].astype(np.int64)
        at: tuple[str, ...] = ()
        rounded_for: tuple[str, ...] = ()
        for one in semantics:
            precision, scaling, subnormals, order, mode, saturation = one
            added = np.zeros_like(zero_point) if order == AFTER else zero_point
            left = zero_point - added
            if scaling.startswith("range"):
                added, left = zero_point, np.asarray(self.kind.lowest)
            with np.errstate(all="ignore"):
                if one[:4] != at:
                    at = one[:4]
                    place = self.placed(probe.x, scale, added * (order != WIDER), precision, scaling, subnormals)
                    if order == WIDER:
                        place = locate(place.value + added)
                if one[:5] != rounded_for:
                    rounded_for = one[:5]
                    whole = round_place(place, mode, precision)
            yield whole, left, saturation

    def placed(self, x: Array, scale: Array, added: Array, precision: str, scaling: str, subnormals: str) -> Place:
        """The argument of round for each element, `added` being what is added before it."""
        narrow = FLOAT_TYPES["float16"] if precision == "float16" else self.node.real
        if subnormals in ("inputs flushed", "inputs and scales flushed", "all flushed"):
            x = flush_subnormals(x, narrow.emin)
        if subnormals in ("scales flushed", "inputs and scales flushed", "all flushed"):
            scale = flush_subnormals(scale, narrow.emin)
        if precision == "exact":
            return self.placed_exactly(x, scale, added)
        kind = numpy_dtype(precision)
        a, b = x.astype(kind), scale.astype(kind)
        if scaling.startswith("range"):
            return locate(self.in_range(a, b, added, scaling, kind).astype(np.float64))
        if scaling == "divide":
            q = (a / b).astype(kind)
        else:
            inverse = x.dtype if scaling == NARROW else kind
            b = (np.ones((), inverse) / scale.astype(inverse)).astype(inverse).astype(kind)
            q = (a * b).astype(kind)
        if subnormals in ("quotients flushed", "all flushed"):
            q = flush_subnormals(q, FLOAT_TYPES[precision].emin)
        if scaling == "fused":
            q = fused_multiply_add(a, b, added, kind)
        elif added.any():
            q = (q + added.astype(kind)).astype(kind)
        return locate(q.astype(np.float64))

    def in_range(self, x: Array, scale: Array, zero_point: Array, scaling: str, kind: np.dtype[Any]) -> Array:
        """Steps from the lowest value, as FakeQuantize counts them."""
        ends = (np.asarray(end - zero_point).astype(kind) for end in (self.kind.lowest, self.kind.highest))
        low, high = ((scale * end).astype(kind) for end in ends)
        steps = np.asarray(self.kind.highest - self.kind.lowest).astype(kind)
        width = (high - low).astype(kind)
        below, above = x <= np.minimum(low, high), x > np.maximum(low, high)  # also of a negative scale
        if scaling == "range":
            inside = ((x - low).astype(kind) / width).astype(kind) * steps
        else:
            factor = (steps / width).astype(kind)
            shift = (-low * factor).astype(kind)
            product = (x * factor).astype(kind) + shift
            inside = (
                fused_multiply_add(x, factor, shift.astype(np.float64), kind) if scaling == "range, fused" else product
            )
        nothing = np.zeros((), kind)  # NumPy 1 has no common type of an integer and a bfloat16
        return np.asarray(np.where(below, nothing, np.where(above, steps, inside)).astype(kind))

    def placed_exactly(self, x: Array, scale: Array, added: Array) -> Place:
        """From what the reference kernel's modes give, far beyond the type's range."""
        each = np.broadcast_to(scale, x.shape)
        known = np.where(each == 0, each.dtype.type(1), each)  # a quotient by 0 is no number, below
        wide, zero = IntegerType("wide", 52, True), np.zeros(x.shape, np.int64)
        bits = bits_of(x), bits_of(known)
        modes = ("ROUND_DOWN", "ROUND_NEAREST_DOWNWARD", "ROUND_NEAREST_UPWARD", "ROUND_UP")
        posed = (Quantization(self.node.real, wide, mode, (0,), *bits, zero) for mode in modes)
        down, low, high, up = (kernel.quantize(problem, working=False)[0] for problem in posed)
        rest = np.where(up == down, 0, np.where(high == down, 1, np.where(low == down, 2, 3)))
        value = x.astype(np.float64) / each.astype(np.float64)
        far = ~(np.abs(value) < FAR)
        below = np.where(far, value, down.astype(np.float64) + added)
        return Place(below, np.where(far, 0, rest), np.where(far, value, value + added))

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """By what all of them have in common: subnormal operands, results out of range, ties, places next to ties."""
        kinds = {self.region_of(probe) for probe, _, _ in wrong}
        if {expected for _, expected, _ in wrong} <= {self.kind.lowest, self.kind.highest}:
            return "saturation"
        for facet in ("subnormals", "saturation", "round_mode", "precision"):
            if kinds <= REGIONS[facet]:
                return facet
        with_zero_point = all(int(probe.others[1].astype(np.int64)) for probe, _, _ in wrong)
        return "zero_point" if with_zero_point else OTHER

    def region_of(self, probe: Probe) -> str:
        scale, zero_point = probe.others[0], int(probe.others[1].astype(np.int64))
        tiny = 2.0**self.node.real.emin
        if min(abs(float(scale)), abs(float(probe.x[0])) or tiny) < tiny:
            return "subnormal"
        place = self.placed_exactly(probe.x, scale, np.zeros((), np.int64))
        total = place.below[0] + zero_point
        if not self.kind.lowest <= total < self.kind.highest:
            return "beyond"
        if place.rest[0] == 2:
            return "tie"
        nearest = np.rint(2 * place.value[0]) / 2
        near = abs(place.value[0] - nearest) <= 4 * abs(nearest) * 2.0**-self.node.real.precision
        return "near a boundary" if near else "anywhere"

    def with_specials(self, codes: Array, whole: Array, probe: Probe, precision: str) -> Array:
        """What a quotient that is no number gives is what such an input gave, if that has a name.

        Where no such input was asked, an infinite one goes the way of the large ones. A finite input with an infinite
        quotient goes either way: some look at the quotient, some at the input. Only division by a flushed scale makes
        one in float64, where that is not known.
        """
        if np.isfinite(whole).all():
            return codes
        no_number = np.isnan(whole), np.isposinf(whole), np.isneginf(whole)
        for facet, which in zip(self.specials, no_number, strict=True):
            if facet.name not in self.seen and facet.name != "nan":
                continue
            named = self.seen.get(facet.name, ())
            known = np.asarray(self.special_code(named[0], probe) if named else ANYTHING)
            finite = which & np.isfinite(probe.x) & (facet.name != "nan")
            if self.as_infinite is None or precision == "exact" or self.holds_quotients(precision):
                known = np.where(finite & (codes != known), ANYTHING, known)
            elif not self.as_infinite:
                known = np.where(finite, codes, known)
            codes = np.where(which, known, codes)
        return codes
