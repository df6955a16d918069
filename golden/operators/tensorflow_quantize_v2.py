"""`tensorflow.QuantizeV2`: TensorFlow's QuantizeV2 in its three modes, with its three outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Numeric,
    Term,
    agreed,
    clamp,
    finite,
    in_reals,
    least,
    lifted,
    number,
    or_else,
    require,
    rounded,
    step,
    to_ends,
    to_real,
    where,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, decode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Attribute, Clause, Operator, Types, parse_boolean, parse_choice
from tiebreak.golden.operators.tensorflow_quantize_v2_contested import CONTESTED, JAVA
from tiebreak.golden.operators.tensorflow_ranges import (
    QUANTIZE_API,
    QUANTIZED_TYPES,
    RANGE_MODES,
    laid_over,
    parse_axis,
)
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import tensorflow_quantize_v2 as samples

ROUND_MODES = {
    "HALF_AWAY_FROM_ZERO": "ROUND_NEAREST_TOWARD_INFINITY",
    "HALF_TO_EVEN": EVEN,
}
LEAST = 0.01

CLAUSES = (
    Clause(
        "TFQ-C1",
        "MIN_COMBINED: (input - min_range) * range(T) / (max_range - min_range).",
        f"{JAVA}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-C2",
        "range(T) is the highest value of T minus the lowest: 255 for 8 bits.",
        f"{QUANTIZE_API}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-C3",
        "MIN_COMBINED to int8 subtracts (range(T) + 1) / 2 = 128 before rounding; unsigned types subtract nothing.",
        f"{JAVA}, MIN_COMBINED and its example",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-M1",
        "MIN_FIRST: range_scale = 2^bits / ((max_range - min_range) * (2^bits / (2^bits - 1))).",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-M2",
        "MIN_FIRST rounds input * range_scale and min_range * range_scale apart.",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-M3",
        "MIN_FIRST subtracts the second from the first and adds the lowest value of T.",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-M4",
        "MIN_FIRST then clamps to the lowest and the highest value of T.",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-S1",
        "SCALED: scale_factor is the smaller of min_T / min_range and max_T / max_range.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-S2",
        "SCALED: a side whose end of the range has not the sign of T's end there does not count: "
        "the largest float stands for it.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-S3",
        "SCALED: the range becomes min_T / scale_factor to max_T / scale_factor.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-S4",
        "SCALED: the input is clipped to the adjusted range, then multiplied by scale_factor, then rounded.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-N1",
        "narrow_range leaves the lowest value of T unused: min_T is one more.",
        f"{JAVA}, narrow_range; TensorFlow API documentation, Dequantize, SCALED (min_expected_T)",
        when={"mode": "SCALED", "narrow_range": True},
    ),
    Clause(
        "TFQ-N2",
        "narrow_range changes nothing in the other modes.",
        f"{JAVA}, narrow_range",
        when={"mode": ("MIN_COMBINED", "MIN_FIRST"), "narrow_range": True},
    ),
    Clause(
        "TFQ-R1",
        "HALF_AWAY_FROM_ZERO: to the nearest integer, ties away from zero.",
        f"{JAVA}, round_mode",
        when={"round_mode": "HALF_AWAY_FROM_ZERO"},
    ),
    Clause(
        "TFQ-R2",
        "HALF_TO_EVEN: to the nearest integer, ties to the even one.",
        f"{JAVA}, round_mode",
        when={"round_mode": "HALF_TO_EVEN"},
    ),
    Clause(
        "TFQ-R3",
        "HALF_TO_EVEN is allowed with SCALED only.",
        f"{QUANTIZE_API}, round_mode",
        when={"round_mode": "HALF_TO_EVEN"},
    ),
    Clause(
        "TFQ-K1",
        "Inputs are clipped to [output_min, output_max] before they are scaled and rounded.",
        f"{JAVA}, outputMin and outputMax",
    ),
    Clause(
        "TFQ-O1",
        "output_min and output_max are the range that was used: SCALED's adjusted one, else what was given.",
        f"{JAVA}, minRange, maxRange, outputMin and outputMax",
    ),
    Clause("TFQ-O2", "output_min and output_max have the shape of min_range and max_range.", f"{JAVA}, outputMin"),
    Clause(
        "TFQ-A1",
        "With axis, each slice of the input along it has a range of its own.",
        f"{JAVA}, axis",
        when={"axis": (0, 1, 2, 3)},
    ),
    Clause(
        "TFQ-A2",
        "With axis, min_range and max_range are 1-D of that dimension's size.",
        f"{JAVA}, minRange, maxRange",
        when={"axis": (0, 1, 2, 3)},
    ),
    Clause(
        "TFQ-A3",
        "Without axis (-1) they are scalars, and one range serves the whole tensor.",
        f"{JAVA}, axis",
        when={"axis": -1},
    ),
    Clause("TFQ-E1", "A range of at least ensure_minimum_range is left as it is.", f"{JAVA}, ensure_minimum_range"),
    Clause("TFQ-T1", "Input, ranges and their outputs are float32.", f"{JAVA}, create"),
    Clause("TFQ-T2", "The output is of type T: int8, uint8, int16, uint16 or int32.", f"{QUANTIZE_API}, T"),
    Clause("TFQ-G1", "The output has the shape of the input.", f"{JAVA}, axis"),
    Clause(
        "TFQ-U1",
        "What a range without zero in it means where that matters: the range 'may be adjusted'.",
        f"{JAVA}, minRange: silent on how",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U2",
        "Which end of a range smaller than ensure_minimum_range moves, and how far.",
        f"{JAVA}, ensure_minimum_range: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U3",
        "What max_range below min_range gives.",
        f"{JAVA}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U4",
        "What a range of width zero gives outside SCALED: a division by zero.",
        f"{JAVA}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U5",
        "What MIN_COMBINED subtracts for int16 and int32: the text has int8 alone, whose results would not fit them.",
        f"{JAVA}, MIN_COMBINED: silent",
        unspecified=True,
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-U6",
        "What NaN and infinite inputs or ranges give.",
        f"{JAVA}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "TFQ-U7",
        "What a step that overflows in float32 gives: an infinity in working precision, which is the nearer end as an "
        "integer. Where that leads to NaN, the exact result is required if all other orders of the product and the "
        "quotient give it, too.",
        f"{JAVA}: silent",
        unspecified=True,
    ),
    Clause(
        "TFQ-U8",
        "The sign of an output_min or output_max of zero: either is accepted, also where a number rounds to zero.",
        f"{JAVA}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All float32 but the output, which is of type T. InvalidInput for HALF_TO_EVEN with another mode than SCALED."""
    mode, rounding = attributes.get("mode", "MIN_COMBINED"), attributes.get("round_mode", "HALF_AWAY_FROM_ZERO")
    if rounding == "HALF_TO_EVEN" and mode != "SCALED":
        raise InvalidInput(
            f"tensorflow.QuantizeV2: round_mode HALF_TO_EVEN goes with mode SCALED only, not with {mode}"
        )
    return (types.real,) * 3, (attributes["T"], types.real, types.real)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, low, high = inputs
    mode, real, constants = node.round_mode, FLOAT_TYPES["float32"], constants_of(node)
    operands, kinds = laid_over(node, inputs), tuple(map(kind_of, inputs))
    output = Elementwise(node.operator, "output", x.shape, node.quantized, real, mode, kinds, operands, constants)
    ends = (flat(low, low.shape), flat(high, low.shape))
    return output, *(
        Elementwise(f"{node.operator}:{name}", name, low.shape, real, real, mode, kinds[1:], ends, constants)
        for name in ("output_min", "output_max")
    )


def constants_of(node: Node) -> dict[str, Any]:
    """What the attributes say, as numbers; `lowest` and `highest` are min_T and max_T, `least` a float32's value."""
    mode, kind = node.attributes.get("mode", "MIN_COMBINED"), INTEGER_TYPES[node.output_type]
    narrow = mode == "SCALED" and node.attributes.get("narrow_range", False)
    least = float(np.float32(node.attributes.get("ensure_minimum_range", LEAST)))
    return {"mode": mode, "T": kind, "lowest": kind.lowest + narrow, "highest": kind.highest, "least": least}


def parse_least(value: Any) -> float:
    """A finite number within float32, the attribute's type; a number that float32 holds as it holds 0.01 is 0.01."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{value!r} is not a finite number")
    number = int(value) if isinstance(value, Integral) else float(value)
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    if abs(number) > float(np.finfo(np.float32).max):  # a comparison that integers of any size survive
        raise ValueError("the number is beyond float32")
    return LEAST if np.float32(number) == np.float32(LEAST) else float(number)


MAX_FLOAT = Fraction(decode(FLOAT_TYPES["float32"].largest_bits, FLOAT_TYPES["float32"]))


def output(p: Elementwise, x: Term, min_range: Term, max_range: Term) -> Term:
    low, high = known_range(p, min_range, max_range)
    result = in_any_order(p, finite(x, "TFQ-U6"), low, high)
    return to_ends(result, p.constants["lowest"], p.constants["highest"])


def output_min(p: Elementwise, min_range: Term, max_range: Term) -> Term:
    return output_range(p, "lowest", known_range(p, min_range, max_range), 0)


def output_max(p: Elementwise, min_range: Term, max_range: Term) -> Term:
    return output_range(p, "highest", known_range(p, min_range, max_range), 1)


def output_range(p: Elementwise, end: str, ranged: tuple[Term, Term], side: int) -> Term:
    used = ranged[side]
    if p.constants["mode"] == "SCALED":
        used = (step(p.constants[end]) / scale_factor(p, *ranged)).by("TFQ-S3")
    return to_real(used.by("TFQ-O1", "TFQ-O2"), p.working).by("TFQ-U8")


def known_range(p: Elementwise, min_range: Term, max_range: Term) -> tuple[Term, Term]:
    """The range, undefined where the document leaves open what it is adjusted to."""
    low, high = finite(min_range, "TFQ-U6"), finite(max_range, "TFQ-U6")
    known = (high >= low) & (high - low >= Fraction(p.constants["least"]))
    if p.constants["mode"] != "SCALED" or p.constants["lowest"] > 0:  # zero matters
        known = known & (low <= 0) & (high >= 0)
    first, last = (require(known, end, "TFQ-U1", "TFQ-U2", "TFQ-U3").by("TFQ-E1") for end in (low, high))
    return first, last


def in_any_order(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    """The integer by the document's order of steps. Where that is NaN, since a step overflows, by every other order.

    Undefined if these orders differ from each other or from real arithmetic.
    """
    formula, *orders = MODES[p.constants["mode"]]
    own, *others = (formula(p, x, low, high, order) for order in orders)
    return or_else(own, agreed(in_reals(own), *others).by("TFQ-U7"))


def product_first(x: Term, numerator: Numeric, denominator: Term) -> Term:
    return step(step(x * numerator) / denominator)


def quotient_first(x: Term, numerator: Numeric, denominator: Term) -> Term:
    return step(step(x / denominator) * numerator)


def factor_first(x: Term, numerator: Numeric, denominator: Term) -> Term:
    return step(x * step(numerator / denominator))


Order = Callable[[Term, Numeric, Term], Term]  # x * numerator / denominator, in steps


def min_combined(p: Elementwise, x: Term, low: Term, high: Term, order: Order) -> Term:
    kind = p.constants["T"]
    clipped = clamp(x, low, high).by("TFQ-K1").named("clipped x")
    range_t = lifted(kind.highest - kind.lowest).by("TFQ-C2", "TFQ-N2").named("range(T)")
    out = order(step(clipped - low), range_t, step(high - low)).by("TFQ-C1", "TFQ-U4")
    if kind.signed:
        out = step(out - Fraction(kind.highest - kind.lowest + 1, 2)).by("TFQ-C3")
    found = number(rounded(out, p.mode).by("TFQ-R1"), "TFQ-U7")
    return require(not kind.signed or kind.name == "int8", found, "TFQ-U5")


def min_first(p: Elementwise, x: Term, low: Term, high: Term, order: Order) -> Term:
    kind: IntegerType = p.constants["T"]
    num_discrete_values = Fraction(1 << kind.bits)
    range_adjust = step(lifted(num_discrete_values / (num_discrete_values - 1)))
    width = step(step(high - low) * range_adjust).by("TFQ-M1", "TFQ-U4").named("width")
    clipped = clamp(x, low, high).by("TFQ-K1").named("clipped x")  # the document has it for every mode
    integer, lowest = (
        rounded(order(value, num_discrete_values, width).by("TFQ-M1"), p.mode).by("TFQ-M2", "TFQ-R1")
        for value in (clipped, low)
    )
    quantized = (integer - lowest + kind.lowest).by("TFQ-M3", "TFQ-N2")
    return clamp(quantized, kind.lowest, kind.highest).by("TFQ-M4")


def scaled(p: Elementwise, x: Term, low: Term, high: Term, order: Order) -> Term:
    if order is not factor_first:
        return scaled_without_factor(p, x, low, high, order)
    factor = scale_factor(p, low, high)
    first, last = (step(step(p.constants[end]) / factor).by("TFQ-S3") for end in ("lowest", "highest"))
    product = step(clamp(x, first, last).by("TFQ-S4", "TFQ-K1").named("clipped x") * factor).by("TFQ-S4")
    return rounded(number(product, "TFQ-U7"), p.mode).by("TFQ-R1", "TFQ-R2", "TFQ-R3")


def scaled_without_factor(p: Elementwise, x: Term, low: Term, high: Term, order: Order) -> Term:
    """SCALED where scale_factor overflows, so that both sides count: the side that gives less, clipped at the end."""
    below, above = (order(x, p.constants[end], bound) for end, bound in (("lowest", low), ("highest", high)))
    value = where(below * below <= above * above, below, above)
    return clamp(rounded(value, p.mode), p.constants["lowest"], p.constants["highest"])


def scale_factor(p: Elementwise, low: Term, high: Term) -> Term:
    min_t, max_t = (lifted(p.constants[end]).by("TFQ-N1").named(f"{end}(T)") for end in ("lowest", "highest"))
    sides = (where(end * bound > 0, step(step(end) / bound), MAX_FLOAT) for end, bound in ((min_t, low), (max_t, high)))
    return least(*(side.by("TFQ-S2") for side in sides)).by("TFQ-S1").named("scale_factor")


MODES: dict[str, tuple[Callable[..., Term], Order, Order, Order]] = {  # the document's order comes first
    "MIN_COMBINED": (min_combined, product_first, quotient_first, factor_first),
    "MIN_FIRST": (min_first, factor_first, product_first, quotient_first),
    "SCALED": (scaled, factor_first, product_first, quotient_first),
}
TERMS = {
    "tensorflow.QuantizeV2": output,
    "tensorflow.QuantizeV2:output_min": output_min,
    "tensorflow.QuantizeV2:output_max": output_max,
}


OPERATOR = Operator(
    id="tensorflow.QuantizeV2",
    prefix="TFQ",
    formula="MIN_COMBINED: round((input - min_range) * range(T) / (max_range - min_range) [- (range(T) + 1) / 2]); "
    "MIN_FIRST: clamp(round(input * range_scale) - round(min_range * range_scale) + lowest); "
    "SCALED: round(clip(input, min_T / scale_factor, max_T / scale_factor) * scale_factor)",
    sources=(JAVA, QUANTIZE_API),
    clauses=CLAUSES,
    attributes=(
        Attribute("T", "the output's element type", parse_choice(QUANTIZED_TYPES), required=True),
        Attribute("mode", "how the range becomes a scale", parse_choice(RANGE_MODES), default="MIN_COMBINED"),
        Attribute("round_mode", "the tie rule", parse_choice(tuple(ROUND_MODES)), default="HALF_AWAY_FROM_ZERO"),
        Attribute("narrow_range", "leave the lowest value unused (SCALED)", parse_boolean, default=False),
        Attribute("axis", "the dimension whose slices have their own ranges; -1 for none", parse_axis, default=-1),
        Attribute("ensure_minimum_range", "the least width of the range", parse_least, default=LEAST),
    ),
    forms=(("input", "min_range", "max_range"),),
    outputs=("output", "output_min", "output_max"),
    family="quantize",
    real_types=("float32",),
    quantized_types=QUANTIZED_TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (ROUND_MODES[attributes.get("round_mode", "HALF_AWAY_FROM_ZERO")],),
    mode_clause=lambda mode: "TFQ-R2" if mode == EVEN else "TFQ-R1",
    steps=(
        "MIN_COMBINED: input clipped to [min_range, max_range]",
        "MIN_COMBINED: difference = input - min_range, then product = difference * range(T), each rounded to float32",
        "MIN_COMBINED: width = max_range - min_range, then quotient = product / width, each rounded to float32",
        "MIN_COMBINED, int8: quotient - 128, rounded to float32; output = round(that)",
        "MIN_FIRST: range_adjust = 2^bits / (2^bits - 1), rounded to float32",
        "MIN_FIRST: range = (max_range - min_range) * range_adjust, both steps rounded to float32",
        "MIN_FIRST: range_scale = 2^bits / range, rounded to float32",
        "MIN_FIRST: input clipped to [min_range, max_range]",
        "MIN_FIRST: input * range_scale and min_range * range_scale, each rounded to float32, then to an integer",
        "MIN_FIRST: difference, plus the lowest value of T, clamped: of integers, exact",
        "SCALED: min_T and max_T as float32; each side's quotient by its end of the range, rounded to float32",
        "SCALED: scale_factor, the smaller; min_T / scale_factor and max_T / scale_factor, each rounded to float32",
        "SCALED: clipped input * scale_factor, rounded to float32; output = round(that), clamped to [min_T, max_T]",
    ),
    letters={"formula": "CMSNEO", "saturation": "K", "rounding": "R", "placement": "A", "signature": "TG"},
    roles={
        "combined": "TFQ-C1",
        "range-of-T": "TFQ-C2",
        "offset": "TFQ-C3",
        "range-scale": "TFQ-M1",
        "round-both": "TFQ-M2",
        "add-lowest": "TFQ-M3",
        "clamp": "TFQ-M4",
        "scale-factor": "TFQ-S1",
        "idle-side": "TFQ-S2",
        "adjusted-range": "TFQ-S3",
        "scaled": "TFQ-S4",
        "narrow": "TFQ-N1",
        "narrow-elsewhere": "TFQ-N2",
        "half-away": "TFQ-R1",
        "half-even": "TFQ-R2",
        "even-only-scaled": "TFQ-R3",
        "clip": "TFQ-K1",
        "range-outputs": "TFQ-O1",
        "range-shape": "TFQ-O2",
        "axis": "TFQ-A1",
        "axis-shape": "TFQ-A2",
        "no-axis": "TFQ-A3",
        "least-range": "TFQ-E1",
        "real-type": "TFQ-T1",
        "output-type": "TFQ-T2",
        "shape": "TFQ-G1",
        "zero-outside": "TFQ-U1",
        "too-small": "TFQ-U2",
        "inverted": "TFQ-U3",
        "no-width": "TFQ-U4",
        "signed-offset": "TFQ-U5",
        "special": "TFQ-U6",
        "overflow": "TFQ-U7",
        "zero-sign": "TFQ-U8",
    },
    saturates=True,
    files=tuple(("float32", quantized) for quantized in QUANTIZED_TYPES),
    samples=samples.samples,
    contested=CONTESTED,
)
