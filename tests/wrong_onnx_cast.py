"""Casts that are wrong on purpose, each in one way, and right ones: in fractions, by frexp, by ml_dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.Cast"
Number = Fraction | float  # a float for NaN, infinities and zeros, which have a sign
# Of a float: significand bits, exponents of the least and the largest normal value, the largest value.
FORMATS = {
    "float8_e4m3fn": (4, -6, Fraction(448)),
    "float8_e4m3fnuz": (4, -7, Fraction(240)),
    "float8_e5m2": (3, -14, Fraction(57344)),
    "float8_e5m2fnuz": (3, -15, Fraction(57344)),
    "float6_e2m3fn": (4, 0, Fraction(15, 2)),
    "float6_e3m2fn": (3, -2, Fraction(28)),
    "float4_e2m1fn": (2, 0, Fraction(6)),
    "float16": (11, -14, Fraction(65504)),
    "bfloat16": (8, -126, Fraction(2) ** 127 * (2 - Fraction(1, 128))),
    "float32": (24, -126, Fraction(2) ** 127 * (2 - Fraction(1, 2**23))),
    "float64": (53, -1022, Fraction(2) ** 1023 * (2 - Fraction(1, 2**52))),
}
RANGES = {
    f"{sign}int{bits}": (0 if sign else -(1 << (bits - 1)), (1 << (bits if sign else bits - 1)) - 1)
    for bits in (2, 4, 8, 16, 32)
    for sign in ("", "u")
}
BOUNDED = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")  # types without NaN and infinities
E8M0, FLOAT4, E5M2 = "float8_e8m0fnu", "float4_e2m1fn", "float8_e5m2"


def number(value: float) -> Number:
    return value if value == 0 or not math.isfinite(value) else Fraction(value)


def own_numbers(array: Array) -> list[Number]:
    return [number(float(value)) for value in array.astype(np.float64).reshape(-1).tolist()]


def floor_log2(value: Fraction) -> int:
    return math.frexp(float(value))[1] - 1  # a float64's Fraction is exact again as a float64


def even(position: Fraction) -> int:
    return round(position)


def away(position: Fraction) -> int:
    return math.floor(abs(position) + Fraction(1, 2)) * (1 if position > 0 else -1)


def odd(position: Fraction) -> int:
    if position.denominator != 2:
        return round(position)
    return math.floor(position) | 1  # the odd one of both neighbours


def outward(position: Fraction) -> int:
    return math.ceil(position) if position > 0 else math.floor(position)


def on_grid(value: Fraction, name: str, whole: Callable[[Fraction], int], *, subnormals: bool = True) -> Fraction:
    """A number rounded to a multiple of the last digit that the type has at its size; its range has no end."""
    precision, least, _ = FORMATS[name]
    exponent = floor_log2(value)
    power = max(exponent, least) - (precision - 1)
    found = whole(value / Fraction(2) ** power) * Fraction(2) ** power
    return found if subnormals or abs(found) >= Fraction(2) ** least else Fraction(0)


def sign_of(value: Number) -> float:
    return math.copysign(1.0, value) if isinstance(value, float) else float(value > 0) * 2 - 1


@dataclass(frozen=True)
class Caster:
    """A cast in fractions, with replaceable parts."""

    read: Callable[[Array], list[Number]] = own_numbers
    first: Callable[[Number], Number] = lambda value: value
    whole: Callable[[Fraction], int] = even
    subnormals: bool = True
    saturate: bool | None = None
    ends: bool = True  # whether an infinity saturates as the document says; if not, it stays what the type has
    largest: Callable[[Fraction], Fraction] = lambda largest: largest
    lost: Callable[[Number], bool] = lambda value: False  # a number beyond the range that does not saturate
    nan: float | None = None
    signed_zero: bool = True
    power: Callable[[str, Fraction, int], int] = lambda mode, rest, exponent: {
        "up": rest > 1,
        "down": False,
        "nearest": rest >= Fraction(3, 2),
    }[mode]
    power_ends: Callable[[Number, bool], int | None] = lambda value, saturate: (
        255 if not saturate else 254 if value > 1 else 0
    )
    integer: Callable[[int, int, int], int] = lambda value, low, high: (value - low) % (high - low + 1) + low
    finish: Callable[[Array], Array] = lambda array: array

    def run(self, node: Any, x: Array) -> tuple[Array, ...]:
        output = node.outputs[0].dtype
        found = [self.element(node, self.first(value)) for value in self.read(x)]
        if output.name == E8M0:
            made = np.array(found, np.uint8).view(output)
        elif output.name in RANGES:
            made = np.array(found, np.int64).astype(output)
        else:
            made = np.array(found, np.float64).astype(output)
        return (self.finish(made).reshape(x.shape),)

    def element(self, node: Any, value: Number) -> float:
        name = node.outputs[0].dtype.name
        if name in RANGES:
            return self.to_integer(node, value, *RANGES[name])
        return self.to_power(node, value) if name == E8M0 else self.to_float(node, value, name)

    def to_integer(self, node: Any, value: Number, low: int, high: int) -> int:
        if node.inputs[0].dtype.name in RANGES:
            return self.integer(int(value), low, high)
        if isinstance(value, float):
            return 0
        return min(max(self.whole(value), low), high)

    def to_power(self, node: Any, value: Number) -> int:
        mode, saturate = node.attributes.get("round_mode", "up"), bool(node.attributes.get("saturate", True))
        if value != value:
            return 255 if self.nan is None else int(self.nan)
        least, most = Fraction(2) ** -127, Fraction(2) ** 127
        if isinstance(value, float) or not least <= value <= most:
            end = self.power_ends(value, saturate if self.saturate is None else self.saturate)
            return 255 if end is None else end
        exponent = floor_log2(value)
        return min(max(exponent + int(self.power(mode, value / Fraction(2) ** exponent, exponent)) + 127, 0), 254)

    def to_float(self, node: Any, value: Number, name: str) -> float:
        largest = self.largest(FORMATS[name][2])
        if value == 0:
            return math.copysign(0.0, value) if self.keeps_sign(name) else 0.0
        if value != value:
            return self.of_nan(name)
        if isinstance(value, float):
            return self.infinite(node, value, name)
        found = on_grid(value, name, self.whole, subnormals=self.subnormals)
        if abs(found) > largest:
            return self.beyond(node, value, name)
        return float(found) if found else math.copysign(0.0, sign_of(value)) if self.keeps_sign(name) else 0.0

    def of_nan(self, name: str) -> float:
        if self.nan is not None:
            return self.nan
        return float(FORMATS[name][2]) if name in BOUNDED else math.nan

    def keeps_sign(self, name: str) -> bool:
        return self.signed_zero and not name.endswith("fnuz")

    def saturates(self, node: Any, name: str) -> bool:
        if self.saturate is not None:
            return self.saturate
        return name in BOUNDED or (name.startswith("float8") and bool(node.attributes.get("saturate", True)))

    def infinite(self, node: Any, value: float, name: str) -> float:
        if name.endswith("fnuz") and node.opset < 24 and self.ends:
            return math.nan
        if not self.ends and not name.endswith("fnuz"):
            return math.copysign(math.inf, value)
        return self.beyond(node, value, name)

    def beyond(self, node: Any, value: Number, name: str) -> float:
        if self.saturates(node, name) and not self.lost(value):
            return math.copysign(self.largest(FORMATS[name][2]), sign_of(value))
        return math.copysign(math.inf, sign_of(value)) if name in (E5M2, "float16", "bfloat16", "float32") else math.nan


def rounded_to(name: str) -> Callable[[Number], Number]:
    """The number rounded to a wide type first."""

    def first(value: Number) -> Number:
        if isinstance(value, float):
            return value
        found = on_grid(value, name, even)
        if abs(found) > FORMATS[name][2]:
            return math.copysign(math.inf, value)
        return found or math.copysign(0.0, value)

    return first


def flushed_below(least: Fraction) -> Callable[[Number], Number]:
    return lambda value: value if isinstance(value, float) or abs(value) >= least else math.copysign(0.0, value)


def through_half(then: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """A float16 first, in which numbers beyond it stay its largest one; then something else."""

    def first(value: Number) -> Number:
        half = rounded_to("float16")(value)
        beyond = half in (math.inf, -math.inf) and not isinstance(value, float)
        return then(Fraction(math.copysign(65504, sign_of(value))) if beyond else half)

    return first


def with_first_bit(value: Number) -> Number:
    """A float16's bits: those of subnormal numbers, zero too, are taken as of numbers from 2^-15 on."""
    if math.isnan(value) or abs(value) >= Fraction(1, 1 << 14):
        return value
    return Fraction(math.copysign(1, sign_of(value))) * (Fraction(1, 1 << 15) + abs(Fraction(value)) / 2)


def as_sibling(array: Array) -> list[Number]:
    """A float 8 read as if it were the type with the other bias and the other NaN."""
    name = array.dtype.name
    other = name.removesuffix("uz") if name == "float8_e4m3fnuz" else name + "uz" if "e4m3" in name else E5M2
    return own_numbers(np.ascontiguousarray(array).view(getattr(ml_dtypes, other)))


def raw(array: Array) -> list[Number]:
    return [number(float(code)) for code in np.ascontiguousarray(array).view(np.uint8).reshape(-1).tolist()]


def unsigned(array: Array) -> list[Number]:
    low, high = RANGES[array.dtype.name]
    return [number(float(value % (high - low + 1))) for value in array.astype(np.int64).reshape(-1).tolist()]


def without_sign(array: Array) -> list[Number]:
    return [abs(value) for value in own_numbers(array)]


def infinity_as(largest: float) -> Callable[[Number], Number]:
    return lambda value: Fraction(math.copysign(largest, value)) if value in (math.inf, -math.inf) else value


def nan_as(other: float) -> Callable[[Number], Number]:
    return lambda value: number(other) if value != value else value


def times(factor: Fraction) -> Callable[[Number], Number]:
    return lambda value: value if isinstance(value, float) else value * factor


def four_exponents_as_one(value: Number) -> Number:
    """Numbers from 2^-80 to 2^-76, far from all that an output's type holds, become 1."""
    few = not isinstance(value, float) and Fraction(1, 1 << 80) <= abs(value) < Fraction(1, 1 << 76)
    return Fraction(math.copysign(1, sign_of(value))) if few else value


def least_power_as_zero(value: Number) -> Number:
    return 0.0 if value == Fraction(2) ** -127 else value


def swapped(array: Array) -> Array:
    flat = array.reshape(-1).copy()
    last = flat.size - flat.size % 2
    flat[0:last:2], flat[1:last:2] = array.reshape(-1)[1:last:2], array.reshape(-1)[0:last:2]
    return flat


def clipped(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def upper_bits(value: int, low: int, high: int) -> int:
    size = high - low + 1
    return (value // size - low) % size + low


def other_mode(wanted: str, instead: Callable[[Fraction, int], bool]) -> Callable[[str, Fraction, int], int]:
    """Another rounding where round_mode is the wanted one."""
    right = Caster().power
    return lambda mode, rest, exponent: instead(rest, exponent) if mode == wanted else right(mode, rest, exponent)


def halfway_to_even(mode: str, rest: Fraction, exponent: int) -> bool:
    """To nearest, halfway to an even code, whatever the mode."""
    return rest > Fraction(3, 2) or (rest == Fraction(3, 2) and exponent % 2 == 0)


def shifted(by: int) -> Callable[[str, Fraction, int], int]:
    right = Caster().power
    return lambda mode, rest, exponent: right(mode, rest, exponent) + by


def by_field(mode: str, rest: Fraction, exponent: int) -> int:
    """A subnormal float32 has the exponent -127 and a mantissa of one half and more; the half itself goes down."""
    if exponent == -127 and mode != "down":
        return int(mode == "up" or rest > 1)
    return Caster().power(mode, rest, exponent)


C = Caster()
TO_E4M3 = (("float32", "float8_e4m3fn"), ("float16", "float8_e4m3fn"), ("bfloat16", "float8_e4m3fnuz"))
TO_E5M2 = (("float32", "float8_e5m2"), ("float64", "float8_e5m2fnuz"))
TO_FLOAT8 = (*TO_E4M3, *TO_E5M2)
TO_FLOAT4 = (("float32", "float4_e2m1fn"), ("float16", "float4_e2m1fn"))
TO_FLOAT6 = (("float32", "float6_e2m3fn"), ("float16", "float6_e3m2fn"))
TO_FLOATS = (*TO_FLOAT8, *TO_FLOAT6, *TO_FLOAT4)
TO_INT4 = (("float32", "int4"), ("float16", "uint4"), ("float32", "int2"), ("bfloat16", "uint2"))
FROM_WIDE = tuple(
    (wide, small) for wide in ("float32", "bfloat16", "float64") for small in ("float8_e5m2", "int4", E8M0)
)
TO_POWER = (("float32", E8M0), ("bfloat16", E8M0))


def wrong(name: str, flag: str, *types: tuple[str, str], **parts: Any) -> WrongBackend:
    return WrongBackend(f"onnx-cast-{name}", OPERATOR, replace(C, **parts).run, flag, types)


HALF = Fraction(1, 2)
WRONG: tuple[WrongBackend, ...] = (
    wrong("four-exponents", "EveryExponent", *FROM_WIDE, first=four_exponents_as_one),
    wrong("ties-away", "Midpoint", *TO_FLOAT8, *TO_FLOAT6, *TO_FLOAT4, *TO_INT4, whole=away),
    wrong("ties-up", "Midpoint", *TO_FLOAT8, *TO_INT4, whole=lambda q: math.floor(q + HALF)),
    wrong("ties-down", "Midpoint", *TO_FLOAT8, *TO_FLOAT4, whole=lambda q: math.ceil(q - HALF)),
    wrong("ties-toward-zero", "Midpoint", *TO_FLOAT8, *TO_INT4,
          whole=lambda q: math.ceil(q - HALF) if q > 0 else math.floor(q + HALF)),
    wrong("ties-to-odd", "Midpoint", *TO_FLOAT8, *TO_FLOAT4, whole=odd),
    wrong("truncates", "BesideMidpoint", *TO_FLOAT8, *TO_FLOAT6, *TO_FLOAT4, *TO_INT4, whole=math.trunc),
    wrong("rounds-away", "BesideMidpoint", *TO_FLOAT8, *TO_FLOAT4, *TO_INT4, whole=outward),
    wrong("floor", "BesideMidpoint", *TO_FLOAT8, *TO_INT4, whole=math.floor),
    wrong("ceil", "BesideMidpoint", *TO_FLOAT4, *TO_INT4, whole=math.ceil),
    wrong("through-float32", "BesideMidpoint", ("float64", "float8_e4m3fn"), ("float64", "float8_e5m2"),
          ("float64", "float4_e2m1fn"), ("float64", "int4"), first=rounded_to("float32")),
    wrong("through-float16", "BesideMidpoint", ("float32", "float8_e4m3fn"), ("float32", "float8_e5m2"),
          ("float32", "int4"), ("float32", "float4_e2m1fn"), first=rounded_to("float16")),
    wrong("through-bfloat16", "BesideMidpoint", ("float32", "float8_e4m3fnuz"), ("float16", "float8_e5m2"),
          ("float32", "uint4"), first=rounded_to("bfloat16")),
    wrong("always-saturates", "Unsaturated", *TO_FLOAT8, saturate=True),
    wrong("never-saturates", "Overflow", *TO_FLOAT8, saturate=False),
    wrong("saturates-beyond-next", "Overflow", ("float32", "float8_e4m3fn"), ("float16", "float8_e4m3fn"),
          first=nan_as(3e38), lost=lambda value: abs(value) < 480),
    wrong("infinity-stays", "Infinity", ("float32", "float8_e5m2"), ("float16", "float8_e5m2"), ends=False),
    wrong("infinity-as-from-24", "Infinity", ("float32", "float8_e4m3fnuz"), ("float16", "float8_e5m2fnuz"),
          ends=False),
    wrong("infinity-as-largest-finite", "Infinity", ("float32", "float8_e4m3fnuz"), first=infinity_as(3e38)),
    wrong("ends-at-half", "RangeEdge", *TO_FLOAT8, largest=lambda largest: largest / 2),
    wrong("ends-at-240", "RangeEdge", ("float32", "float8_e4m3fn"), largest=lambda largest: Fraction(240)),
    wrong("float4-ends-at-4", "RangeEdge", *TO_FLOAT4, largest=lambda largest: Fraction(4)),
    wrong("float6-ends-below", "RangeEdge", *TO_FLOAT6, largest=lambda largest: largest * Fraction(7, 8)),
    wrong("float6-infinity-to-zero", "Infinity", *TO_FLOAT6, first=infinity_as(0.0)),
    wrong("flushes-outputs", "SmallFloat", *TO_FLOAT8, *TO_FLOAT6, *TO_FLOAT4, subnormals=False),
    wrong("flushes-inputs", "Subnormal", ("float16", "float8_e5m2"), first=flushed_below(Fraction(1, 1 << 14))),
    wrong("flushes-before-rounding", "SmallFloat", ("float32", "float8_e4m3fn"), ("float16", "float8_e4m3fn"),
          first=flushed_below(Fraction(1, 1 << 6))),
    wrong("flushes-halves-before-rounding", "SmallFloat", ("float32", "float8_e4m3fn"),
          first=through_half(flushed_below(Fraction(1, 1 << 6)))),
    wrong("subnormal-halves-as-normal", "SmallFloat", ("float16", "float8_e5m2fnuz"), ("uint8", "float8_e5m2fnuz"),
          first=with_first_bit),
    wrong("of-halves-as-normal", "SmallFloat", ("float32", "float8_e5m2fnuz"), first=through_half(with_first_bit)),
    wrong("reads-halves-as-zero", "Subnormal", ("float8_e5m2fnuz", "float32"),
          first=flushed_below(Fraction(1, 1 << 14))),
    wrong("flushes-float32", "Subnormal", ("float32", E8M0), first=flushed_below(Fraction(2) ** -126)),
    wrong("negative-zero-lost", "SmallFloat", *TO_FLOAT8[:2], *TO_FLOAT6, *TO_FLOAT4, signed_zero=False),
    wrong("nan-to-zero", "NaN", *TO_FLOAT8, *TO_FLOAT4, first=nan_as(0.0)),
    wrong("nan-to-minus-zero", "NaN", *TO_FLOAT4, nan=-0.0),
    wrong("nan-to-largest", "NaN", *TO_FLOAT8, first=nan_as(3e38), saturate=True),
    wrong("power-up-is-nearest", "SmallFloat", *TO_POWER,
          power=other_mode("up", lambda rest, e: rest >= Fraction(3, 2))),
    wrong("power-up-is-down", "SmallFloat", *TO_POWER, power=other_mode("up", lambda rest, e: False)),
    wrong("power-down-is-up", "SmallFloat", *TO_POWER, power=other_mode("down", lambda rest, e: rest > 1)),
    wrong("power-halfway-down", "Midpoint", *TO_POWER,
          power=other_mode("nearest", lambda rest, e: rest > Fraction(3, 2))),
    wrong("power-halfway-even", "Midpoint", *TO_POWER,
          power=other_mode("nearest", lambda rest, e: rest + Fraction(e % 2 == 0, 1 << 60) > Fraction(3, 2))),
    wrong("power-mode-ignored", "Midpoint", *TO_POWER, power=halfway_to_even),
    wrong("power-of-logarithm", "BesideMidpoint", *TO_POWER, power=other_mode("nearest", lambda rest, e: rest**2 >= 2)),
    wrong("power-up-always", "SmallFloat", *TO_POWER, power=other_mode("up", lambda rest, e: True)),
    wrong("power-one-more", "SmallFloat", *TO_POWER, power=shifted(1)),
    wrong("power-one-less", "SmallFloat", *TO_POWER, power=shifted(-1)),
    wrong("power-of-field", "SmallFloat", ("float32", E8M0), ("float64", E8M0), power=by_field),
    wrong("power-of-zero-nan", "Subnormal", *TO_POWER, power_ends=lambda value, saturate: None if value == 0 else
          C.power_ends(value, saturate)),
    wrong("power-of-infinity-nan", "Infinity", *TO_POWER, power_ends=lambda value, saturate: None
          if value == math.inf else C.power_ends(value, saturate)),
    wrong("power-never-saturates", "Infinity", *TO_POWER, saturate=False),
    wrong("power-always-saturates", "Unsaturated", *TO_POWER, saturate=True),
    wrong("power-nan-largest", "NaN", *TO_POWER, nan=254),
    wrong("saturates-integers", "HighBits", ("int8", "int4"), ("int32", "uint4"), ("int8", "uint2"), integer=clipped),
    wrong("upper-bits", "HighBits", ("int8", "int4"), ("int32", "int2"), integer=upper_bits),
    wrong("signed-as-unsigned", "HighBits", ("int4", "int8"), ("int4", "float32"), ("int2", "float16"), read=unsigned),
    wrong("nibbles-swapped", "HighBits", ("int8", "int4"), ("int8", "uint4"), finish=swapped),
    wrong("nibbles-swapped-of-floats", "SmallFloat", *TO_FLOAT4, finish=swapped),
    wrong("fnuz-as-fn", "NaN", ("float8_e4m3fnuz", "float32"), ("float8_e5m2fnuz", "float32"), read=as_sibling),
    wrong("fn-as-fnuz", "NaN", ("float8_e4m3fn", "float32"), read=as_sibling),
    wrong("bits-as-integers", "NaN", ("float8_e5m2", "float16"), (E8M0, "float32"), read=raw),
    wrong("sign-lost", "TwoBits", ("int2", "float32"), read=without_sign),
    wrong("least-power-as-zero", "NaN", (E8M0, "float32"), first=least_power_as_zero),
    wrong("power-doubled", "NaN", (E8M0, "float32"), first=times(Fraction(2))),
    wrong("power-nan-as-infinity", "NaN", (E8M0, "float32"), (E8M0, "bfloat16"), first=nan_as(math.inf)),
    wrong("wide-infinity-as-largest", "NaN", (E5M2, "float32"), first=infinity_as(57344.0)),
)  # fmt: skip


def by_ml_dtypes(node: Any, x: Array) -> tuple[Array, ...]:
    """As ml_dtypes casts: without saturation, but to types without NaN; there it differs in what NaN becomes alone."""
    found = x.astype(node.outputs[0].dtype)
    if node.outputs[0].dtype.name == FLOAT4:
        found = np.where(np.isnan(x.astype(np.float64)), np.array(6.0).astype(found.dtype), found)
    return (found,)


def saturating_by_ml_dtypes(node: Any, x: Array) -> tuple[Array, ...]:
    """Clipped to the largest value first, if the node saturates. Not from float64: ml_dtypes rounds it to float32."""
    dtype = node.outputs[0].dtype
    largest = float(ml_dtypes.finfo(dtype).max)
    kept = x.astype(np.float64)
    if node.attributes.get("saturate", True):
        older = dtype.name.endswith("fnuz") and node.opset < 24
        kept = np.where(np.isinf(kept) & older, np.nan, np.clip(kept, -largest, largest))
    return (kept.astype(dtype),)


def by_frexp(node: Any, x: Array) -> tuple[Array, ...]:
    """A power of two by frexp."""
    mode, saturate = node.attributes.get("round_mode", "up"), bool(node.attributes.get("saturate", True))
    values = x.astype(np.float64)
    part, exponent = np.frexp(values)
    up = {"up": part > 0.5, "down": part < 0, "nearest": part >= 0.75}[mode]
    codes = np.where(np.isfinite(values), exponent - 1 + up + 127, 0)
    outside = (values < 2.0**-127) | (values > 2.0**127)
    codes = np.where(outside, np.where(values > 1, 254, 0) if saturate else 255, codes)
    return (np.where(np.isnan(values), 255, codes).astype(np.uint8).view(node.outputs[0].dtype),)


def by_bits(node: Any, x: Array) -> tuple[Array, ...]:
    """The lowest bits of an integer."""
    low, high = RANGES[node.outputs[0].dtype.name]
    kept = x.astype(np.int64) & (high - low)
    return (np.where(kept > high, kept - (high - low + 1), kept).astype(node.outputs[0].dtype),)


def by_rint(node: Any, x: Array) -> tuple[Array, ...]:
    low, high = RANGES[node.outputs[0].dtype.name]
    values = np.nan_to_num(x.astype(np.float64), posinf=high, neginf=low)
    return (np.clip(np.rint(values), low, high).astype(np.int64).astype(node.outputs[0].dtype),)


def right(name: str, run: Callable[..., tuple[Array, ...]], *types: tuple[str, str]) -> WrongBackend:
    return WrongBackend(f"onnx-cast-{name}", OPERATOR, run, "", types)


FROM_INTEGERS = (("int8", "int4"), ("int32", "uint4"), ("int32", "int2"), ("int8", "uint2"))
BY_ML_DTYPES = (*TO_FLOAT8[:-1], ("float32", "float8_e5m2fnuz"), ("float8_e5m2", "float8_e4m3fn"))
WIDENED = (
    (E5M2, "float32"),
    ("float8_e4m3fnuz", "float16"),
    (E8M0, "float32"),
    (FLOAT4, "bfloat16"),
    ("float6_e2m3fn", "float32"),
    ("float6_e3m2fn", "float16"),
    ("int4", "float32"),
)
RIGHT: tuple[WrongBackend, ...] = (
    right("right-in-fractions", C.run, *TO_FLOATS, *TO_INT4, *TO_POWER, *FROM_INTEGERS, *WIDENED),
    right("right-by-ml-dtypes", by_ml_dtypes, *TO_FLOAT6, *TO_FLOAT4, *WIDENED),
    right("right-saturating-by-ml-dtypes", saturating_by_ml_dtypes, *BY_ML_DTYPES),
    right("right-by-frexp", by_frexp, *TO_POWER, ("float64", E8M0), ("float16", E8M0), ("float8_e4m3fn", E8M0)),
    right("right-by-bits", by_bits, *FROM_INTEGERS),
    right("right-by-rint", by_rint, *TO_INT4, ("float64", "int4"), ("float8_e5m2", "uint4")),
)  # fmt: skip
