"""tensorflow.QuantizeV2: MIN_COMBINED, MIN_FIRST and SCALED, and the range that each of them used.

    MIN_COMBINED  round((input - min_range) * range(T) / (max_range - min_range) [- (range(T) + 1) / 2])
    MIN_FIRST     clamp(round(input * range_scale) - round(min_range * range_scale) + lowest of T)
    SCALED        round(clip(input, min_T / scale_factor, max_T / scale_factor) * scale_factor)

Working precision rounds every step to float32; what has been rounded to an integer stays exact, or infinite. Sources:
TensorFlow for Java documentation, Quantize; TensorFlow API documentation, QuantizeV2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, IntegerType, Real, decode
from tiebreak.golden.formulas.steps import (
    Result,
    Steps,
    UndefinedResult,
    clamp,
    divide,
    finite,
    to_integer,
    to_real,
)
from tiebreak.golden.problem import Elementwise

MAX_FLOAT = Fraction(decode(FLOAT_TYPES["float32"].largest_bits, FLOAT_TYPES["float32"]))


def output(s: Steps, p: Elementwise, x: Real, min_range: Real, max_range: Real) -> Result:
    low, high = known_range(p, min_range, max_range)
    (value,) = finite(x)  # TFQ-U6
    result = in_any_order(s, p, value, low, high)
    return to_integer(result, p.constants["T"], lowest=p.constants["lowest"])


def output_min(s: Steps, p: Elementwise, min_range: Real, max_range: Real) -> Result:  # TFQ-O2
    low, high = known_range(p, min_range, max_range)
    if p.constants["mode"] != "SCALED":
        return to_real(low, p.working)  # TFQ-O1
    return to_real(s(Fraction(p.constants["lowest"])) / scale_factor(s, p, low, high), p.working)  # TFQ-O1, TFQ-S3


def output_max(s: Steps, p: Elementwise, min_range: Real, max_range: Real) -> Result:  # TFQ-O2
    low, high = known_range(p, min_range, max_range)
    if p.constants["mode"] != "SCALED":
        return to_real(high, p.working)  # TFQ-O1
    return to_real(s(Fraction(p.constants["highest"])) / scale_factor(s, p, low, high), p.working)  # TFQ-O1, TFQ-S3


def known_range(p: Elementwise, min_range: Real, max_range: Real) -> tuple[Fraction, ...]:
    """The range, unless the document leaves open what it is adjusted to: then UndefinedResult."""
    low, high = finite(min_range, max_range)  # TFQ-U6
    zero_matters = p.constants["mode"] != "SCALED" or p.constants["lowest"] > 0
    if high < low or (zero_matters and not low <= 0 <= high):
        raise UndefinedResult  # TFQ-U1, TFQ-U3
    if high - low < Fraction(p.constants["least"]):
        raise UndefinedResult  # TFQ-U2
    return low, high  # TFQ-E1


def in_any_order(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    """The integer by the document's order of steps. Where that is NaN, since a step overflows, by every other order.

    UndefinedResult if these orders differ from each other or from real arithmetic.
    """
    formula, own, *others = MODES[p.constants["mode"]]
    try:
        return formula(s, p, x, low, high, own)
    except UndefinedResult:
        if s.kind is None:
            raise
    exact = formula(Steps(None, s.mode), p, x, low, high, own)
    if any(formula(s, p, x, low, high, order) != exact for order in others):
        raise UndefinedResult  # TFQ-U7
    return exact


def product_first(s: Steps, x: Real, numerator: Fraction, denominator: Real) -> Real:
    return s(divide(s(x * numerator), denominator))


def quotient_first(s: Steps, x: Real, numerator: Fraction, denominator: Real) -> Real:
    return s(s(divide(x, denominator)) * numerator)


def factor_first(s: Steps, x: Real, numerator: Fraction, denominator: Real) -> Real:
    return s(x * s(divide(numerator, denominator)))


Order = Callable[[Steps, Real, Fraction, Real], Real]  # x * numerator / denominator, in steps


def min_combined(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction, order: Order) -> Real:
    kind = p.constants["T"]
    if kind.signed and kind.name != "int8":
        raise UndefinedResult  # TFQ-U5
    clipped = clamp(x, low, high)  # TFQ-K1
    range_t = Fraction(kind.highest - kind.lowest)  # TFQ-C2, TFQ-N2
    out = order(s, s(clipped - low), range_t, s(high - low))  # TFQ-C1, TFQ-U4
    if kind.name == "int8":
        out = s(out - (range_t + 1) / 2)  # TFQ-C3
    return number(s.round(out))  # TFQ-R1


def number(value: Real) -> Real:
    if value != value:
        raise UndefinedResult  # TFQ-U7
    return value


def min_first(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction, order: Order) -> Real:
    kind: IntegerType = p.constants["T"]
    num_discrete_values = Fraction(1 << kind.bits)
    range_adjust = s(num_discrete_values / (num_discrete_values - 1))  # TFQ-M1
    width = s(s(high - low) * range_adjust)  # TFQ-M1
    clipped = clamp(x, low, high)  # TFQ-K1: the document has it for every mode
    products = (order(s, value, num_discrete_values, width) for value in (clipped, low))  # TFQ-M1
    rounded, rounded_low = (s.round(product) for product in products)  # TFQ-M2, TFQ-R1, TFQ-U4
    quantized = rounded - rounded_low + kind.lowest  # TFQ-M3, TFQ-N2
    return clamp(quantized, Fraction(kind.lowest), Fraction(kind.highest))  # TFQ-M4


def scaled(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction, order: Order) -> Real:
    if order is not factor_first:
        return scaled_without_factor(s, p, x, low, high, order)
    factor = scale_factor(s, p, low, high)
    least, greatest = (s(s(Fraction(p.constants[end])) / factor) for end in ("lowest", "highest"))  # TFQ-S3
    clipped = clamp(x, least, greatest)  # TFQ-S4, TFQ-K1
    return s.round(number(s(clipped * factor)))  # TFQ-S4, TFQ-R1, TFQ-R2, TFQ-R3


def scaled_without_factor(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction, order: Order) -> Real:
    """SCALED where scale_factor overflows, so that both sides count: the side that gives less, clipped at the end."""
    sides = ((Fraction(p.constants["lowest"]), low), (Fraction(p.constants["highest"]), high))
    below, above = (order(s, x, bound, end) for bound, end in sides)
    value = below if below * below <= above * above else above
    return clamp(s.round(value), sides[0][0], sides[1][0])


def scale_factor(s: Steps, p: Elementwise, low: Fraction, high: Fraction) -> Real:
    min_t, max_t = Fraction(p.constants["lowest"]), Fraction(p.constants["highest"])  # TFQ-N1
    from_min_side = s(s(min_t) / low) if min_t * low > 0 else MAX_FLOAT  # TFQ-S2
    from_max_side = s(s(max_t) / high) if max_t * high > 0 else MAX_FLOAT  # TFQ-S2
    return min(from_min_side, from_max_side)  # TFQ-S1


MODES: dict[str, tuple[Callable[..., Real], Order, Order, Order]] = {  # the document's order comes first
    "MIN_COMBINED": (min_combined, product_first, quotient_first, factor_first),
    "MIN_FIRST": (min_first, factor_first, product_first, quotient_first),
    "SCALED": (scaled, factor_first, product_first, quotient_first),
}
FORMULAS = {
    "tensorflow.QuantizeV2": output,
    "tensorflow.QuantizeV2:output_min": output_min,
    "tensorflow.QuantizeV2:output_max": output_max,
}
