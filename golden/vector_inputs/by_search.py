"""Inputs found by search: on them a common short cut gives neither the exact nor the working-precision result.

Each short cut is computed in rational arithmetic. For one scale after another, a pool of inputs around ties and
integers is searched for those on which the short cut is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from tiebreak.golden.elements import FLOAT_TYPES, FloatType, Real, decode, encode
from tiebreak.golden.problem import IN_RANGE
from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_inputs.by_theme import (
    HALF,
    OperandCodes,
    Setting,
    operands_of_quotients,
    rounded_pool,
    scale_name,
    spaced,
    tie_floors,
)
from tiebreak.golden.vector_inputs.plain_quotients import quantize_quotient, quotient

ShortCut = Callable[[Fraction, Fraction, FloatType], Real]
SCALES = tuple(Fraction(n, d) for n, d in ((1, 10), (1, 3), (7, 1000), (123, 10), (3, 1), (7, 11), (41, 1), (49, 1)))
ODD_SCALES = tuple(Fraction(n) for n in range(3, 128, 2))  # their multiples are exact, their reciprocals never
MOST, ENOUGH = 24, 4
divide = lru_cache(maxsize=1 << 16)(quotient)


def rounded_to(value: Fraction, real: FloatType) -> Real:
    return decode(encode(value, real), real)


def reciprocal_in(type_name: str | None) -> ShortCut:
    """The short cut x * fl(1 / scale), with each step rounded to the named type; None means the inputs' type."""

    def product(x: Fraction, scale: Fraction, real: FloatType) -> Real:
        kind = FLOAT_TYPES[type_name] if type_name else real
        inverse = rounded_to(1 / scale, kind)
        return rounded_to(x * inverse, kind) if isinstance(inverse, Fraction) else inverse

    return product


def float32_quotient(x: Fraction, scale: Fraction, real: FloatType) -> Real:
    """The short cut that rounds both operands and the quotient to float32."""
    single = FLOAT_TYPES["float32"]
    a, b = rounded_to(x, single), rounded_to(scale, single)
    return rounded_to(a / b, single) if isinstance(a, Fraction) and isinstance(b, Fraction) and b else float("inf")


SHORT_CUTS: dict[str, tuple[ShortCut, tuple[str, ...], tuple[str, ...]]] = {
    "reciprocal": (
        reciprocal_in(None),
        ("Reciprocal", "ScaleNotPowerOfTwo"),
        ("float16", "bfloat16", "float32", "float64"),
    ),
    "reciprocal-float32": (reciprocal_in("float32"), ("Reciprocal", "ScaleNotPowerOfTwo"), ("float16", "bfloat16")),
    "reciprocal-float64": (
        reciprocal_in("float64"),
        ("Reciprocal", "ScaleNotPowerOfTwo"),
        ("float16", "bfloat16", "float32"),
    ),
    "float32-quotient": (float32_quotient, ("PrecisionSensitive", "NearTie"), ("float64",)),
}


def quotients(bits: int, scale: int, s: Setting) -> tuple[Real | None, Real | None]:
    """The exact quotient of one element and the one in working precision."""
    return divide(bits, scale, s.real, working=False), divide(bits, scale, s.real, working=True)


def is_trapped(bits: int, pool: OperandCodes, s: Setting, cut: ShortCut) -> bool:
    """Whether the short cut's result equals neither truth, and both truths are in range."""
    true = quotients(bits, pool.scale[0], s)
    q = short_cut_quotient(cut, bits, pool.scale[0], s.real)
    if q in true:
        return False
    got, *results = (quantize_quotient(one, pool.zero_point[0], s.mode, s.quantized) for one in (q, *true))
    return got not in results and all(state == IN_RANGE for _, state in results)


@lru_cache(maxsize=1 << 16)
def short_cut_quotient(cut: ShortCut, bits: int, scale: int, real: FloatType) -> Real:
    return cut(Fraction(decode(bits, real)), Fraction(decode(scale, real)), real)


def is_sensitive(bits: int, pool: OperandCodes, s: Setting) -> bool:
    """Whether the exact and the working-precision result differ, and both are in range."""
    exact, working = quotients(bits, pool.scale[0], s)
    if exact == working:
        return False
    results = [quantize_quotient(q, pool.zero_point[0], s.mode, s.quantized) for q in (exact, working)]
    return results[0] != results[1] and all(state == IN_RANGE for _, state in results)


def best_scale_sample(name: str, s: Setting, select: Callable[[int, OperandCodes], bool]) -> Iterator[Sample]:
    """A sample of the scale whose pool has most selected inputs, if any. Odd integer scales are tried last."""
    theme, found = "", OperandCodes([], [], [])
    for scale in (*SCALES, *ODD_SCALES):
        if len(found.x) >= (MOST if scale in SCALES else ENOUGH):
            break
        pool = searched_pool(replace(s, mode=""), scale)
        hits = [bits for bits in pool.x if select(bits, pool)][:MOST]
        if len(hits) > len(found.x):
            theme, found = f"{name}-{scale_name(scale)}", pool._replace(x=hits)
    if found.x:
        yield s.sample(theme, *found)


@lru_cache(maxsize=len((*SCALES, *ODD_SCALES)))
def searched_pool(s: Setting, scale: Fraction) -> OperandCodes:
    """The inputs among which traps are searched; they are the same for each rounding mode."""
    pool = rounded_pool(s, scale) if scale in SCALES else exact_pool(s, scale)
    return pool._replace(x=spaced(pool.x, 240))


def exact_pool(s: Setting, scale: Fraction) -> OperandCodes:
    """Inputs whose quotients are exactly small integers and ties."""
    zero_point = s.zero_points[0]
    quotients = [
        k + d for k in tie_floors(s, zero_point) if abs(k) < 60 for d in (Fraction(0), HALF) if s.holds((k + d) * scale)
    ]
    return operands_of_quotients(s, quotients, scale, zero_point)


def short_cuts(s: Setting) -> Iterator[Sample]:
    for name, (cut, flags, types) in SHORT_CUTS.items():
        if s.real.name in types:
            for sample in best_scale_sample(name, s, lambda bits, pool, cut=cut: is_trapped(bits, pool, s, cut)):  # type: ignore[misc]
                yield replace(sample, flags=flags, roles=("quotient",))


def precision(s: Setting) -> Iterator[Sample]:
    """Quotients that land on a tie or an integer only after rounding to the input's type."""
    for sample in best_scale_sample("precision", s, lambda bits, pool: is_sensitive(bits, pool, s)):
        yield replace(sample, flags=("PrecisionSensitive", "NearTie"), roles=("quotient",))


def double_quotients(s: Setting) -> Iterator[Sample]:
    """float32 operands whose quotient is so near a 30-bit tie or integer that a division in double rounds onto it.

    For an odd 24-bit scale d, let m = ±1/d modulo 2^31. Then k = (m*d ∓ 1) / 2^31 is an integer of at most 24 bits.
    With x = k * 2^30, x/d = m/2 ∓ 1/(2d) is next to a tie; with k * 2^31 it is next to an integer. Divisors of
    both residues modulo 4 make the even neighbour of the tie sometimes right and sometimes wrong.
    """
    if s.real.name != "float32" or s.quantized.bits != 32:
        return
    for divisor in (8388619, 12345679, 16777213):
        x = []
        for shift in (30, 31):
            for sign in (1, -1):
                m = sign * pow(divisor, -1, 1 << 31) % (1 << 31)
                value = Fraction((m * divisor - sign) >> 31 << shift)
                x += [s.bits(value), s.bits(-value)] if s.quantized.signed else [s.bits(value)]
        yield s.sample(
            f"double-quotient-{divisor}",
            x,
            [s.bits(Fraction(divisor))],
            [0],
            ("PrecisionSensitive", "NearTie", "ScaleNotPowerOfTwo"),
            ("quotient",),
        )


def underflow(s: Setting) -> Iterator[Sample]:
    """Quotients that underflow to zero in the input's type."""
    huge = s.bits(Fraction(2) ** (s.real.emax - 1))
    x = [bits | sign for bits in (1, 2, 3) for sign in (0, 1 << (s.real.bits - 1))]
    flags = ("Tiny", "PrecisionSensitive", "Subnormal")
    yield s.sample("underflow", x, [huge], [s.zero_points[0]], flags, ("quotient",))


TRAPS = (short_cuts, precision, double_quotients, underflow)
