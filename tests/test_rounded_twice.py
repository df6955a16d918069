"""Every real output whose numbers a wider type can round onto a midpoint has vectors where it does.

Of all the others it is shown that there are no such numbers: a product has no more bits than the wider type holds, or
a quotient cannot come so near to a midpoint without being one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tiebreak.golden import oracle
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.elements import (
    ELEMENT_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    SMALL_FLOAT_TYPES,
    FloatType,
    IntegerType,
    decode,
    encode,
)
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.beside_midpoints import changes
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

HALF, BRAIN, SINGLE, DOUBLE = (FLOAT_TYPES[name] for name in ("float16", "bfloat16", "float32", "float64"))
CAST = "onnx.Cast"
RANGES = "tensorflow.QuantizeV2"  # its output_min and output_max are real, whatever the file's output type

NBITS = "com.microsoft.MatMulNBits"
BOTH_WAYS = tuple(f"tensorflow.QuantizeAndDequantizeV{version}" for version in (2, 3, 4))
Triple = tuple[str, str, str]
Route = tuple[str, str, str, str]  # a triple, and the wider type


def routes() -> Iterator[Route]:
    for operator, given, result in all_files():
        real = "float32" if operator == RANGES else result
        for wide in (DOUBLE, SINGLE):
            if real in FLOAT_TYPES and wide.precision > FLOAT_TYPES[real].precision:
                yield operator, given, result, wide.name


def why_none(operator: str, given: str, result: str, wide: FloatType) -> str:
    """Why no number of this output is rounded twice by the wider type; empty if there are such numbers."""
    if operator in ("ngraph.Dequantize", "stablehlo.uniform_dequantize"):
        carried = operator.startswith("stablehlo")  # by the difference of two integers of any sign
        product = INTEGER_TYPES[given].bits + carried + FLOAT_TYPES[result].precision
        return "the product is exact" if product <= wide.precision else ""
    if operator == "paddle.QuantizeLinear":  # of at most 16 bits, by PQL-T3
        return "the result is an integer, which its type holds" if FLOAT_TYPES[result].precision >= 16 else ""
    if operator == "gguf.Dequantize":  # by a float16 scale, whatever the output; neither form has subnormal products
        exact = INTEGER_TYPES[given].bits + HALF.precision <= FLOAT_TYPES[result].precision
        return "the result is exact, so that nothing is rounded" if exact else ""
    if operator == "onnx.DequantizeLinear":
        return why_none_of_linear(given, FLOAT_TYPES[result], wide)
    if operator == CAST:
        return "the wider type holds every input" if holds_every_code(given, wide) else ""
    if operator == RANGES:
        return "an end is a quotient too far from midpoints, or too near a value" if ends_keep_off(result) else ""
    if (operator, result) == ("tensorflow.Dequantize", "bfloat16") and given in ("int16", "int32"):
        return "the document defines no result"
    if (operator, result, wide) == (NBITS, "float16", DOUBLE):
        return "no product comes so near" if not weights_beside_midpoints() else ""
    if operator in BOTH_WAYS and (result, wide) == ("float16", DOUBLE):
        return "a level over 2^c - 1 keeps off" if half_levels_keep_off() else ""
    return ""


def holds_every_code(given: str, wide: FloatType) -> bool:
    kind = ELEMENT_TYPES[given]
    if isinstance(kind, IntegerType):
        return kind.bits <= wide.precision
    values = (decode(code, kind) for code in range(1 << kind.bits))
    return all(decode(encode(value, wide), wide) == value for value in values if isinstance(value, Fraction))


def why_none_of_linear(given: str, result: FloatType, wide: FloatType) -> str:
    """The scale may be float32 whatever the output, since output_dtype names that."""
    differences = odd_differences(given)
    if max(differences) * ((1 << SINGLE.precision) - 1) < 1 << wide.precision:
        return "the product is exact"
    if given in SMALL_FLOAT_TYPES and wide is DOUBLE:
        return "no product comes so near" if not any(multiples_beside(d, result) for d in differences) else ""
    return ""


def odd_differences(given: str) -> list[int]:
    """All differences x - x_zero_point but for powers of two, of integers the largest alone."""
    if given in INTEGER_TYPES:
        kind = INTEGER_TYPES[given]
        return [kind.highest if given == "int32" else kind.highest - kind.lowest]  # int32 has no zero point but 0
    kind = SMALL_FLOAT_TYPES[given]
    values = {value for code in range(1 << kind.bits) if isinstance(value := decode(code, kind), Fraction)}
    differences = {abs(a - b).numerator for a in values for b in values} - {0}
    return sorted({number // (number & -number) for number in differences})


def multiples_beside(factor: int, result: FloatType) -> list[int]:
    """Every multiple of an odd factor by a significand of float32 that float64 rounds onto a midpoint of the result."""
    found = []
    for bits in range(DOUBLE.precision + 1, factor.bit_length() + SINGLE.precision + 1):
        unit = 1 << (bits - result.precision - 1)
        largest = 1 << (bits - DOUBLE.precision)
        for rest in range(-largest, largest + 1):
            first = -rest * pow(unit, -1, factor) % factor
            middles = range(first, 1 << (result.precision + 1), factor)
            numbers = [unit * middle + rest for middle in middles if middle >> result.precision and rest]
            found += [number for number in numbers if number // factor >> SINGLE.precision == 0]
    return [number for number in found if changes(Fraction(number), result, DOUBLE)]


def ends_keep_off(quantized: str) -> bool:
    """An end is low or high itself, or one of them by a fraction whose terms are T's lowest and highest values.

    A fraction with so small a denominator is a midpoint, or too far from it for float64; one so near 1 is near a value.
    """
    kind = INTEGER_TYPES[quantized]
    fractions = [Fraction(abs(low), kind.highest) for low in (kind.lowest, kind.lowest + 1) if low]
    every = [*fractions, *(1 / fraction for fraction in fractions)]
    return all(f.denominator << (SINGLE.precision + 1) < 1 << 53 or abs(f - 1) < Fraction(1, 1 << 30) for f in every)


@cache
def half_levels_keep_off() -> bool:
    """j * high / (2^c - 1), by odd m beside the midpoint m of 12 bits; j * high has at most 23 bits.

    A j above 2^12 is of an input that is nearer than any midpoint. Let r = j * high * 2^a - (2^c - 1) * m, not 0. It is
    at least 1, and that is too much up to c = 41. From there on it is m, or at least 2^(c - 23) - m. The former is near
    enough from c = 53 on, where j * high / 2^c is at most the half of 2^-24, the least midpoint, or less.
    """
    widths = range(1, 63)
    near = [
        c for c in widths if (1 << (c + 12)) > 1 << 53 and ((1 << max(c - 23, 0)) - (1 << 12)) << 53 < 1 << (c + 12)
    ]
    large = Fraction(decode(HALF.largest_bits, HALF))
    return not near and all((1 << 12) * large / ((1 << c) - 1) < Fraction(1, 1 << 25) for c in widths if c >= 53)


@cache
def weights_beside_midpoints() -> list[tuple[int, int, int]]:
    """Every difference, odd scale and odd number of float16 whose product float64 rounds onto a midpoint.

    Float64 has 53 bits of a product of 54 at most. A difference of a weight and a zero point has 32, in units of 2^-24.
    """
    odd, unit, found = np.arange(1, 2048, 2, dtype=np.uint64), 1 << 43, []
    for scale in odd:
        products = scale * odd
        inverses = np.array([pow(int(product), -1, unit) for product in products], np.uint64)
        for rest in (1, unit - 1, unit // 2 + 1, unit // 2 - 1):
            differences = inverses * np.uint64(rest) & np.uint64(unit - 1)
            for at in np.flatnonzero(differences < 1 << 32):
                difference = int(differences[at])
                long = (difference * int(products[at])).bit_length() == 54
                small = min(difference % (1 << 24), -difference % (1 << 24)) < 2048  # the zero point's odd significand
                found += [(difference, int(scale), int(odd[at]))] if long and small else []
    return found


def flagged(operator: str, given: str, result: str) -> list[Case]:
    cases = indexed_cases(VECTORS / file_name(operator, given, result))
    return [case for case in cases if "RoundedTwice" in case.flags]


def codes_by(problem: Problem, case: Case, wide: FloatType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The codes of the exact result, of that in working precision, and of the exact one rounded to `wide` first."""
    mode = (case.node.modes or ("",))[0]
    exact, state = oracle.solve(problem, working=False, mode=mode)
    working, _ = oracle.solve(problem, working=True, mode=mode)
    once, _ = oracle.solve(replace(problem, result=wide, working=wide), working=False, mode=mode)
    assert isinstance(problem.result, FloatType)
    known = state == IN_RANGE  # with narrow_range FakeQuant has two divisors, and what depends on them is open
    assert known.all() or "divisors" in problem.constants
    twice = np.array([encode(Fraction(decode(int(code), wide)), problem.result) for code in once])
    return exact[known], working[known], twice[known]


ROUTES = list(routes())


@cache
def possible() -> frozenset[Route]:
    """The routes that have numbers which are rounded twice. The proofs of the others take seconds."""
    return frozenset(route for route in ROUTES if not why_none(*route[:3], FLOAT_TYPES[route[3]]))


# Nothing is refuted where float32 is the last step but one of the document's own: twice is in working precision.
ACCEPTED = {("tensorflow.Dequantize", given, "bfloat16", wide)
            for given in ("int8", "uint8") for wide in ("float64", "float32")}  # fmt: skip
# Only a zero point that its difference's rounding loses brings a product so near: then the midpoint is what is rounded.
ACCEPTED |= {(NBITS, "bfloat16", "bfloat16", "float64")}


def counted(route: Route) -> tuple[int, int]:
    """How many elements are rounded twice, and how many of those are not in working precision either."""
    operator, given, result, wide = route
    differs, refuted = 0, 0
    for case in flagged(operator, given, result):
        for problem in problems_of(case):
            exact, working, twice = codes_by(problem, case, FLOAT_TYPES[wide])
            differs += int((twice != exact).sum())
            refuted += int(((twice != exact) & (twice != working)).sum())
    return differs, refuted


@pytest.mark.parametrize("route", ROUTES, ids="-".join)
def test_vectors_hold_numbers_that_are_rounded_twice_wherever_there_are_any(route: Route) -> None:
    """Elsewhere there can be none, as `why_none` shows; the vectors with the flag, of other wide types, agree."""
    differs, refuted = counted(route)
    assert bool(differs) == (route in possible())
    assert bool(refuted) == (route in possible() - ACCEPTED)


def test_every_real_output_is_on_one_side() -> None:
    """Counted by hand: an output of 16 bits has two wider types, float32 one, float64 none."""
    reals = Counter(FLOAT_TYPES[result].bits for _, _, result in all_files() if result in FLOAT_TYPES)
    assert len(ROUTES) == 2 * reals[16] + reals[32] + len(list(all_files([RANGES]))) == len(set(ROUTES))
    by_operator = Counter(operator for operator, *_ in possible())
    assert by_operator == {
        "com.microsoft.MatMulNBits": 4,
        "com.microsoft.QGemm": 2,
        "ngraph.Dequantize": 8,
        "onnx.DequantizeLinear": 23,
        "openvino.FakeQuantize": 5,
        "stablehlo.uniform_dequantize": 3,
        "tensorflow.Dequantize": 11,
        "tensorflow.FakeQuantWithMinMaxVars": 1,
        "tensorflow.FakeQuantWithMinMaxVarsPerChannel": 1,
        **dict.fromkeys(BOTH_WAYS, 4),
        "tensorflow.UniformDequantize": 3,
        "torch.fake_quantize_per_channel_affine": 1,
        "torch.fake_quantize_per_tensor_affine": 1,
    }
