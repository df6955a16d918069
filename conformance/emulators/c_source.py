"""How C99 spells the steps of an arithmetic. A number of 16 bits is a float that such a type holds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tiebreak.conformance.emulators.steps import DOUBLE, LONG, TRUTH, Computed
from tiebreak.conformance.emulators.writing import INFIX, formats_of, power_of_two
from tiebreak.golden.elements import FLOAT_TYPES

NAMES = {
    **{
        name: name
        for name in (
            "rint",
            "ceil",
            "floor",
            "copysign",
            "minimum",
            "maximum",
            "clamp",
            "modulus",
            "odd_sum",
            "flushed",
            "floor_divide",
            "power_of_two",
        )
    },
    **{"truncate": "trunc", "abs": "fabs", "is_nan": "isnan", "is_finite": "isfinite", "remainder": "fmod"},
    **{"has_sign": "signbit", "exponent": "logb", "two_to": "two_to"},
}
ROUNDING = ("add", "subtract", "multiply", "divide")  # in 16 bits: in float32, then rounded again, which does no harm
WHOLE = {"minimum": "least", "maximum": "greatest", "clamp": "held", "abs": "llabs"}  # of 64 bits
OF_DOUBLES = ("minimum", "maximum", "clamp", "flushed")
HELPERS = {
    "minimum": "static double minimum(double a, double b) { return a < b || isnan(a) ? a : b; }\n",
    "maximum": "static double maximum(double a, double b) { return a > b || isnan(a) ? a : b; }\n",
    "clamp": "static double clamp(double v, double low, double high) { return v < low ? low : v > high ? high : v; }\n",
    "modulus": """\
/* The remainder of a whole number over a power of two, from 0 on. */
static double modulus(double v, double size) { return v - floor(v / size) * size; }
""",
    "flushed": """\
/* Numbers below the smallest normal one count as 0. */
static double flushed(double v, double normal) { return fabs(v) < normal ? v * 0.0 : v; }
""",
    "odd_sum": """\
/* a + b, rounded to odd: rounding it again, to fewer digits, does no harm. */
static double odd_sum(double a, double b) {
  const double total = a + b, back = total - a, error = (a - (total - back)) + (b - back);
  uint64_t bits;
  memcpy(&bits, &total, sizeof bits);
  if (error == 0.0 || !isfinite(total) || (bits & 1)) return total;
  return nextafter(total, error > 0.0 ? INFINITY : -INFINITY);
}
""",
    "power_of_two": """\
/* The largest power of two that is no larger than a normal number. */
static double power_of_two(double size) {
  int exponent;
  return size / (2.0 * frexp(size, &exponent));
}
""",
    "least": "static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }\n",
    "greatest": "static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }\n",
    "held": "static int64_t held(int64_t v, int64_t low, int64_t high) "
    "{ return v < low ? low : v > high ? high : v; }\n",
    "floor_divide": """\
/* The greatest integer that is no larger than a quotient; size is positive. */
static int64_t floor_divide(int64_t v, int64_t size) { return v / size - (v % size < 0); }
""",
    "two_to": "static double two_to(double exponent) { return ldexp(1.0, (int)exponent); }\n",
    "rounded": """\
/* A number rounded to so many digits, to even; beyond the largest number of the type it is infinite. */
static float rounded(double v, int digits, int least, double largest) {
  int exponent, last;
  if (v == 0.0 || !isfinite(v)) return (float)v;
  frexp(v, &exponent);
  last = exponent - digits < least ? least : exponent - digits;
  v = ldexp(rint(ldexp(v, -last)), last);
  return (float)(fabs(v) > largest ? copysign(INFINITY, v) : v);
}
""",
    "float16": "static float to_float16(double v) { return rounded(v, 11, -24, 65504.0); }\n",
    "bfloat16": """\
/* A float64 becomes a float32 first, as everybody converts. */
static float to_bfloat16(float v) { return rounded(v, 8, -133, 0x1.FEp127); }
""",
}


class InC:
    """Remembers the helpers that the lines need."""

    formats = (
        INFIX
        | {"and": "{} && {}", "or": "{} || {}", "not": "!{}", "where": "{} ? {} : {}"}
        | formats_of(NAMES, "{}({})")
    )

    def __init__(self) -> None:
        self.used: set[str] = set()

    def number(self, value: float, type: str) -> str:
        if type == LONG:
            return f"{int(value)}LL"
        sign, suffix = "-" if value < 0 else "", "" if type == DOUBLE else "f"
        if not math.isfinite(value):
            return f"{sign}{'NAN' if math.isnan(value) else 'INFINITY'}"
        power = power_of_two(value)
        return (repr(value) if power is None else f"{sign}0x1p{power}") + suffix

    def cast(self, of: Computed, type: str, text: str) -> str:
        if is_short(type):
            return self.shortened(type, text)
        return f"({self.kind(type)}){text}"

    def call(self, one: Computed, texts: Sequence[str]) -> str:
        if one.op == "where":
            texts = [f"({text})" if " ? " in text else text for text in texts]
        if one.type == LONG and one.op in WHOLE:
            self.used.add(WHOLE[one.op])
            return f"{WHOLE[one.op]}({', '.join(texts)})"
        if one.op in HELPERS:
            self.used.add(one.op)
        text = self.formats[one.op].format(*texts)
        if one.op in OF_DOUBLES and one.type != DOUBLE:
            text = f"(float){text}"  # it is one of its floats
        return self.shortened(one.type, text) if is_short(one.type) and one.op in ROUNDING else text

    def line(self, one: Computed, text: str) -> str:
        return f"const {self.kind(one.type)} {one.name} = {text};"

    def note(self, text: str) -> str:
        return f"/* {text} */"

    def kind(self, type: str) -> str:
        return {DOUBLE: "double", TRUTH: "int", LONG: "int64_t"}.get(type, "float")

    def shortened(self, type: str, text: str) -> str:
        self.used |= {type, "rounded"}
        return f"to_{type}({text})"

    def helpers(self) -> str:
        return "\n".join(text for name, text in HELPERS.items() if name in self.used)


def is_short(type: str) -> bool:
    return type in FLOAT_TYPES and FLOAT_TYPES[type].bits == 16
