"""FakeQuantize as black boxes compute it: the facets, and what each combination of them gives.

Let low and high be the input's limits, first and last the output's, and n the number of levels less one. The document
says round((x - low) / (high - low) * n) / n * (last - first) + first. It does not say how ties are rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial

import numpy as np

from tiebreak.conformance.semantics import fake_quantize_probes
from tiebreak.conformance.semantics.model import (
    ANYTHING,
    OTHER,
    Candidates,
    Facet,
    Probe,
    Semantics,
    codes,
    sign_and_others,
    valid_candidates,
)
from tiebreak.conformance.semantics.places import (
    FLOOR,
    NEVER_NEGATIVE,
    WORDS,
    as_type,
    flush_subnormals,
    fused_multiply_add,
    rounded,
)
from tiebreak.golden import kernel
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, numpy_dtype
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of

SPEC, FLUSHED, NUDGED = "divide, multiply", "flushed", "nudged"
LEVELS = np.finfo(np.float64).min, np.finfo(np.float64).max
STEPS = {"of 8 bits": 255, "of 4 bits": 15}
FACETS = (
    Facet(
        "precision",
        {
            "exact": "nothing is rounded but the level and the result",
            "float64": "every step is rounded to float64",
            "float32": "every step is rounded to float32",
            "float16": "every step is rounded to float16",
            "bfloat16": "every step is rounded to bfloat16",
        },
    ),
    Facet(
        "range",
        {
            "as given": "the limits are taken as they are",
            NUDGED: "the input's limits are shifted so that 0 is a level, as TensorFlow's FakeQuant does",
            "nudged, ties to even": "the same, but 0's place amid two levels goes to the even one, not up",
        },
    ),
    Facet(
        "ends",
        {
            "selected": "x up to low gives first, x above high last, without arithmetic",
            "clamped": "x is clamped to the limits and goes through the arithmetic",
        },
    ),
    Facet(
        "position",
        {
            SPEC: "(x - low) / (high - low) * n",
            "multiply, divide": "(x - low) * n / (high - low)",
            "step": "(x - low) / ((high - low) / n)",
            "factor": "(x - low) * (n / (high - low))",
            "reciprocal of step": "(x - low) * (1 / ((high - low) / n))",
            "factor and shift": "x * f - low * f, with f = n / (high - low)",
            "fused": "the same, the product and the sum rounded once (fma)",
        },
    ),
    Facet("round_mode", {mode: WORDS[mode] for mode in NEVER_NEGATIVE}),
    Facet("subnormals", {"kept": "subnormal numbers are numbers", FLUSHED: "subnormal inputs and results count as 0"}),
    Facet(
        "output_limits",
        {
            "as given": "first and last are taken as they are",
            "of 8 bits": "first and last become -z * s and (255 - z) * s, each step rounded, with "
            "s = (last - first) / 255 and z = -255 * first / (last - first)",
            "of 4 bits": "the same with 15 for 255",
        },
    ),
    Facet(
        "result",
        {
            SPEC: "level / n * (last - first) + first",
            "multiply, divide": "level * (last - first) / n + first",
            "step": "level * ((last - first) / n) + first",
            "fused": "the same, the product and the sum rounded once (fma)",
        },
    ),
)
ENDS = {
    "output_low": "output_low",
    "output_high": "output_high",
    "nan": "NaN",
    "zero": "0",
    "as large numbers": "what the largest finite number of that sign gives",
}
LARGE, LOWEST = "as large numbers", "as the lowest number"
SPECIALS = (
    Facet("nan", ENDS | {LOWEST: "what the most negative finite number gives"}),
    Facet("positive_infinity", ENDS),
    Facet("negative_infinity", ENDS),
)


@dataclass
class FakeQuantizeArithmetic:
    """The arithmetic of a node with scalar limits, where the input's lower limit is below its upper one."""

    node: Node
    facets: tuple[Facet, ...] = FACETS
    specials: tuple[Facet, ...] = SPECIALS
    seen: dict[str, list[str]] = field(default_factory=dict)
    large: dict[tuple[bytes, ...], int] = field(default_factory=dict)  # codes of large inputs, by sign and limits

    @property
    def documented(self) -> Semantics:
        return self.node.input_type, "as given", "selected", SPEC, self.node.modes[0], "kept", "as given", SPEC

    def completed(self, semantics: Semantics) -> Semantics:
        return semantics

    @cached_property
    def n(self) -> int:
        return int(self.node.attributes["levels"]) - 1

    @property
    def candidates(self) -> Candidates:
        return valid_combinations(self.tiny)

    def first_probes(self) -> Iterator[Probe]:
        return fake_quantize_probes.first_probes(self.node)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return fake_quantize_probes.further_probe(self.node, random)

    def special_probes(self) -> Iterator[Probe]:
        return fake_quantize_probes.special_probes(self.node)

    def special_of(self, probe: Probe) -> str:
        value = float(probe.x[0])
        if np.isfinite(value):
            return ""  # a finite input, to compare infinities with
        return "nan" if value != value else "positive_infinity" if value > 0 else "negative_infinity"

    def special_code(self, value: str, probe: Probe) -> int:
        if value in (LARGE, LOWEST):
            sign, *limits = sign_and_others(probe)
            return self.large.get((b"-" if value == LOWEST else sign, *limits), ANYTHING)
        found = {"output_low": probe.others[2], "output_high": probe.others[3], "nan": np.nan, "zero": 0.0}[value]
        return int(codes(np.asarray(found).astype(self.node.outputs[0].dtype))[0])

    def assume(self) -> None:
        """Nothing here depends on them."""

    def ignore_specials(self) -> None:
        """Nothing here depends on them."""

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> dict[str, list[str]]:
        self.large = {sign_and_others(probe): code for probe, code in seen if not self.special_of(probe)}
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            fits = [v for v in facet.values if all(code == self.special_code(v, probe) for probe, code in own)]
            own_values = [v for v in fits if v not in (LARGE, LOWEST)]  # these say more
            self.seen[facet.name] = own_values or fits
        return self.seen

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """The facet for what all have in common: subnormal steps of a range, or x beyond the limits."""
        if all(self.step(probe) < 2.0**self.tiny for probe, _, _ in wrong):
            return "subnormals"
        beyond = all(not float(p.others[0]) < float(p.x[0]) <= float(p.others[1]) for p, _, _ in wrong)
        return "ends" if beyond else OTHER

    def step(self, probe: Probe) -> float:
        """The distance between levels, of the input or of the output: the smaller one."""
        low, high, first, last = (float(limit) for limit in probe.others)
        return min(abs(high - low), abs(last - first)) / self.n

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (given for given, _ in self.staged(probe, semantics))

    def stage_key(self, semantics: Semantics) -> Semantics:
        precision, range_, _, position, mode, subnormals, *_ = semantics
        return semantics if precision == "exact" else (precision, range_, position, mode, subnormals)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the level: between the limits it rises with x, and beyond them nothing changes.

        Semantics that agree on all that comes before rounding share the argument of round, and those that agree on the
        mode as well share the levels.
        """
        prepared: dict[Semantics, SharedSteps] = {}
        for one in semantics:
            precision, range_, _, position, mode, subnormals, *_ = one
            if precision == "exact":
                yield self.exactly(probe, mode)
                continue
            key = precision, range_, subnormals
            with np.errstate(all="ignore"):
                if key not in prepared:
                    prepared[key] = SharedSteps(precision, self.operands(probe, range_, subnormals, precision), self.n)
                steps = prepared[key]
                level, stage = steps.levels(position, mode)
                stored = steps.results(level, (position, mode), one).astype(self.node.outputs[0].dtype)
                yield codes(flush_subnormals(stored, self.tiny) if subnormals == FLUSHED else stored), stage

    def operands(self, probe: Probe, range_: str, subnormals: str, precision: str) -> list[Array]:
        """x and the four limits in the working precision, flushed and nudged as the facets say."""
        dtype, given = numpy_dtype(precision), (probe.x, *probe.others)
        flushed = [flush_subnormals(a, self.tiny) if subnormals == FLUSHED else a for a in given]
        x, low, high, first, last = (np.asarray(a).astype(dtype) for a in flushed)
        if range_ != "as given":
            low, high = nudged_limits(low, high, np.asarray(self.n).astype(dtype), range_ == NUDGED, dtype)
        return [x, low, high, first, last]

    @property
    def tiny(self) -> int:
        return self.node.real.emin

    def exactly(self, probe: Probe, mode: str) -> tuple[Array, Array]:
        """Codes and stages from the reference kernel; the stage is the result itself, which goes from first to last."""
        (problem,) = problems_of(probe.case(self.node, 0))
        found, _ = kernel.solve(problem, working=False, mode=mode)
        stored = found.astype(np.uint64).astype(f"uint{self.node.real.bits}").view(self.node.outputs[0].dtype)
        first, last = (limit.astype(np.float64) for limit in probe.others[2:])
        return codes(stored), stored.astype(np.float64) * np.sign(last - first)


class SharedSteps:
    """What semantics share whose operands are the same: x and the four limits in the working precision."""

    def __init__(self, precision: str, operands: Sequence[Array], n: int) -> None:
        self.x, self.low, self.high, self.first, self.last = operands
        self.precision, self.dtype = precision, numpy_dtype(precision)
        self.n = np.asarray(n).astype(self.dtype)
        self.below, self.above = self.x <= self.low, self.x > self.high
        inside = np.where(self.x < self.low, self.low, np.where(self.above, self.high, self.x))
        self.inside = as_type(inside, self.dtype)
        self.whole_range = not (self.below.any() or self.above.any())
        self.positions: dict[str, Array] = {}
        self.known: dict[tuple[str, str], tuple[Array, Array]] = {}
        self.found: dict[tuple[str, ...], Array] = {}

    def levels(self, position: str, mode: str) -> tuple[Array, Array]:
        """The level of each element in the working precision, and its stage."""
        if (position, mode) not in self.known:
            if position not in self.positions:
                where = positions(self.inside, self.low, self.high, self.n, position, self.dtype)
                self.positions[position] = where.astype(np.float64)
            level = rounded(self.positions[position], mode, self.precision).astype(self.dtype)
            self.known[position, mode] = level, self.stage(level)
        return self.known[position, mode]

    def stage(self, level: Array) -> Array:
        inner = np.clip(level.astype(np.float64), *LEVELS)  # an infinite level is still between the limits
        return inner if self.whole_range else np.where(self.below, -np.inf, np.where(self.above, np.inf, inner))

    def results(self, level: Array, of: tuple[str, str], semantics: Semantics) -> Array:
        """What the levels of a position and a mode stand for, in the working precision."""
        ends, output_limits, result = semantics[2], *semantics[6:]
        key = (*of, output_limits, result)
        if key not in self.found:
            lowest, highest = self.first, self.last
            if output_limits in STEPS:
                lowest, highest = rebuilt_limits(self.first, self.last, STEPS[output_limits], self.dtype)
            self.found[key] = output_values(level, lowest, highest, self.n, result, self.dtype)
        found = self.found[key]
        if ends == "selected" and not self.whole_range:
            found = np.where(self.below, self.first, np.where(self.above, self.last, found))
        return as_type(found, self.dtype)


@lru_cache(maxsize=8)
def valid_combinations(tiny: int) -> Candidates:
    """Those for inputs of which `tiny` is the smallest exponent of a normal number."""
    return valid_candidates(FACETS, partial(is_valid, tiny))


def is_valid(tiny: int, semantics: Semantics) -> bool:
    precision, range_, ends, position, mode, subnormals, output_limits, result = semantics
    if subnormals == FLUSHED and (precision == "exact" or range_ != "as given"):
        return False
    if subnormals == FLUSHED and least_exponent(FLOAT_TYPES[precision]) > tiny:
        return False  # no value of this precision is subnormal in the input's type
    if output_limits in STEPS and not (
        (range_, ends, subnormals) == ("as given", "clamped", "kept")
        and position in ("factor and shift", "fused")
        and result in ("step", "fused")
    ):
        return False  # compilers that rebuild the limits compute all factors in advance
    if precision == "exact":
        return (range_, ends, position, result) == ("as given", "selected", SPEC, SPEC) and mode != FLOOR
    return not (precision == "float64" and "fused" in (position, result))


def least_exponent(real: FloatType) -> int:
    """The exponent of the smallest positive number of a type."""
    return real.emin + 1 - real.precision


def nudged_limits(low: Array, high: Array, n: Array, up: bool, dtype: np.dtype[np.floating]) -> tuple[Array, Array]:
    """The limits shifted so that 0 is a level. `up`: 0 midway between two becomes the upper one, not the even."""
    step = ((high - low).astype(dtype) / n).astype(dtype)
    place = (-low / step).astype(np.float64)
    zero = np.clip(np.floor(place + 0.5) if up else np.rint(place), 0, float(n)).astype(dtype)
    return (-zero * step).astype(dtype), ((n - zero).astype(dtype) * step).astype(dtype)


def rebuilt_limits(first: Array, last: Array, steps: int, dtype: np.dtype[np.floating]) -> tuple[Array, Array]:
    """The output's limits, computed again from a zero point and a scale."""
    width, whole = (last - first).astype(dtype), np.asarray(steps).astype(dtype)
    step = (width / whole).astype(dtype)
    zero = ((-whole * first).astype(dtype) / width).astype(dtype)
    return (-zero * step).astype(dtype), ((whole - zero).astype(dtype) * step).astype(dtype)


def positions(x: Array, low: Array, high: Array, n: Array, how: str, dtype: np.dtype[np.floating]) -> Array:
    width, offset = as_type(high - low, dtype), as_type(x - low, dtype)
    if how == SPEC:
        return as_type(as_type(offset / width, dtype) * n, dtype)
    if how == "multiply, divide":
        return as_type(as_type(offset * n, dtype) / width, dtype)
    if how == "step":
        return as_type(offset / as_type(width / n, dtype), dtype)
    if how == "reciprocal of step":
        return as_type(offset * as_type(np.ones((), dtype) / as_type(width / n, dtype), dtype), dtype)
    factor = as_type(n / width, dtype)
    if how == "factor":
        return as_type(offset * factor, dtype)
    shift = as_type(-low * factor, dtype)
    if how == "fused":
        return fused_multiply_add(x, factor, shift.astype(np.float64), dtype)
    return as_type(as_type(x * factor, dtype) + shift, dtype)


def output_values(level: Array, first: Array, last: Array, n: Array, how: str, dtype: np.dtype[np.floating]) -> Array:
    span = as_type(last - first, dtype)
    if how == SPEC:
        product = as_type(as_type(level / n, dtype) * span, dtype)
    elif how == "multiply, divide":
        product = as_type(as_type(level * span, dtype) / n, dtype)
    else:
        step = as_type(span / n, dtype)
        if how == "fused":
            return fused_multiply_add(level, step, first.astype(np.float64), dtype)
        product = as_type(level * step, dtype)
    return as_type(product + first, dtype)
