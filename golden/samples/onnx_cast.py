"""Golden vectors of onnx.Cast."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, decode, encode
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8, INT2, INT4
from tiebreak.golden.samples.model import Sample, Tensor, bits, with_neighbouring_codes
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

SMALL = (*FLOAT8, *INT4, *FLOAT4, *E8M0, *INT2, *FLOAT6)
WIDE = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32")
# What a float 6 has files with, for brevity: what runtimes cast it from and to, and one type of each kind.
BESIDE_FLOAT6 = ("float32", "float16", "bfloat16", "int8", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4")


def has_file(source: str, target: str) -> bool:
    """Whether casts between two types have a file."""
    others = [name for name in (source, target) if name not in FLOAT6]
    return len(others) == 2 or (len(others) == 1 and others[0] in BESIDE_FLOAT6)


FILES = tuple(
    (source, target)
    for source in (*WIDE, *SMALL)
    for target in (*SMALL, *WIDE)
    if source != target and (source in SMALL or target in SMALL) and has_file(source, target)
)
FULL = (("float32", "float8_e4m3fn"), ("float32", "int4"), ("float8_e5m2", "float16"), ("int8", "uint4"))
SATURATE: tuple[dict[str, Any], ...] = ({}, {"saturate": False})
POWERS: tuple[dict[str, Any], ...] = (
    *({"round_mode": mode} if mode != "up" else {} for mode in ("up", "down", "nearest")),
    {"saturate": False, "round_mode": "nearest"},
    {"saturate": False},
)
OLDER = ({"opset": 19}, {"opset": 24})
LANES = (31, 67)


def samples(source: str, target: str) -> Iterator[Sample]:
    pair = {"real": source, "quantized": target}
    for attributes in attributes_for(target):
        node = {**pair, "attributes": attributes} if attributes else pair
        suffix = "".join(f"-{key}-{value}" for key, value in attributes.items()).lower()
        roles = ("type", *roles_of(source, target, attributes))
        for name, codes, flags in inputs(source, target):
            own = (*flags, *own_flags(source, target, attributes))
            yield Sample(f"{name}{suffix}", node, (bits(source, codes),), own, roles, independent=True)
        for number, _, codes in witnesses_of("onnx.Cast", witness_kind(source, target, attributes)):
            own = ("Separating", *own_flags(source, target, attributes))
            yield Sample(f"separating-{number}{suffix}", node, (bits(source, codes),), own, roles, independent=True)
    yield from versions(source, target)
    if (source, target) in FULL:
        yield from shapes(source, target)


def attributes_for(target: str) -> Sequence[dict[str, Any]]:
    """The attributes that matter for an output's type, in every combination that a table or a text speaks of."""
    return SATURATE if target in FLOAT8 else POWERS if target in E8M0 else ({},)


def own_flags(source: str, target: str, attributes: dict[str, Any]) -> Iterator[str]:
    if ELEMENT_TYPES[target].bits <= 8 and target not in INTEGER_TYPES:
        yield "SmallFloat"
    if attributes.get("saturate") is False:
        yield "Unsaturated"
    if {source, target} & set(INT2):
        yield "TwoBits"
    if source in ("int32", "uint32"):
        yield "WideInteger"


def roles_of(source: str, target: str, attributes: dict[str, Any]) -> Iterator[str]:
    """The roles of the clauses that a cast between these types shows."""
    whole = source in INTEGER_TYPES
    if target in E8M0:
        yield from (attributes.get("round_mode", "up"), "attributes", "negative-power")
        tabled = {"": "power-saturated", "nearest": "power-unsaturated"}
        key = attributes.get("round_mode", "")
        yield (
            tabled.get(key, "power-open")
            if (key == "nearest") == (attributes.get("saturate") is False)
            else "power-open"
        )
    elif target in FLOAT8:
        yield from ("integer-to-float8",) if whole else ("float8", "zero", "sign")
        yield from ("attributes", "unsaturated") if attributes else ("saturate", "infinity")
    elif target in FLOAT6:
        yield from ("float6", "float6-ends", "zero") if whole else ("float6", "float6-ends", "zero", "float6-nan")
    elif target in FLOAT4:
        yield from ("float4", "float4-ends", "zero")
    elif target in INTEGER_TYPES:
        yield from ("wrap",) if whole else ("integer" if target in SMALL else "open-rounding", "beyond-integers")
    elif target == "float16" and source in E8M0:
        yield from ("overflow", "underflow")
    if target not in (*INTEGER_TYPES, *FLOAT6) and not whole:
        yield "nan"
    if source in SMALL:
        yield "exact"
    if target in FLOAT_TYPES:
        yield "sign"


def inputs(source: str, target: str) -> Iterator[tuple[str, list[int], tuple[str, ...]]]:
    """Names, codes and flags of inputs: every code of up to 8 bits, else those at which the result changes."""
    kind = ELEMENT_TYPES[source]
    if isinstance(kind, IntegerType):
        yield "integers", whole_codes(kind), ("HighBits",)
        if kind.bits > 8 and target in SMALL and target not in INTEGER_TYPES:
            yield "midpoints", whole_midpoints(kind, values_of(target)), ("Midpoint", "BesideMidpoint")
        return
    if kind.bits <= 8:
        yield "every-code", list(range(1 << kind.bits)), ("EveryCode",)
        return
    values = values_of(target)
    midpoints = [(low + high) / 2 for low, high in pairwise(values)]
    yield "values", both_signs(kind, values), ("OutputValue",)
    yield "midpoints", both_signs(kind, midpoints), ("Midpoint",)
    yield "beside-midpoints", beside(kind, midpoints), ("BesideMidpoint",)
    if target in INTEGER_TYPES:
        yield "between", both_signs(kind, between(values)), ("BesideMidpoint",)
    yield "ends", both_signs(kind, ends_of(target, values)), ("RangeEdge", "Overflow")
    yield "specials", special_codes(kind), ("NaN", "Infinity", "Subnormal")
    yield "every-exponent", every_exponent(kind), ("EveryExponent",)


def values_of(target: str) -> list[Fraction]:
    """The magnitudes of a small type's values from zero on, or the integers near zero of a wide one."""
    kind = ELEMENT_TYPES[target]
    if isinstance(kind, IntegerType):
        return [Fraction(value) for value in range(min(max(kind.highest, -kind.lowest), 20) + 1)]
    decoded = (decode(code, kind) for code in range(kind.largest_bits + 1))
    found = [Fraction(value) for value in decoded]
    if kind.specials == "e8m0":
        return [found[code] for code in (0, 1, 2, 103, 104, 126, 127, 128, 142, 143, 252, 253, 254)]
    return found


def between(values: Sequence[Fraction]) -> list[Fraction]:
    """Numbers between integers, in steps of which every range has many."""
    steps = 64 if len(values) <= 4 else 16  # a power of two: every type holds the numbers
    return [value + Fraction(part, steps) for value in values for part in range(1, steps)]


def ends_of(target: str, values: Sequence[Fraction]) -> list[Fraction]:
    """Numbers at the end of the range and beyond it: the last that rounds to it, its neighbours, and large ones."""
    last, step = values[-1], values[-1] - values[-2]
    near = [last + step * part / 8 for part in (1, 3, 4, 5, 8, 12, 16)]
    return [*near, *(last * factor for factor in (2, 3, 4, 16, 1024)), Fraction(2) ** 31, Fraction(2) ** 40]


def both_signs(kind: FloatType, values: Sequence[Fraction]) -> list[int]:
    """The codes of those numbers that the type holds, and of their negatives."""
    codes = [code for value in values if decode(code := encode(value, kind), kind) == value]
    return [code | sign for code in dict.fromkeys(codes) for sign in (0, 1 << (kind.bits - 1))]


def beside(kind: FloatType, midpoints: Sequence[Fraction]) -> list[int]:
    """The codes next to those of midpoints, and numbers that become midpoints in float32, float16 or bfloat16."""
    near = with_neighbouring_codes(kind.name, both_signs(kind, midpoints), (-1, 1))
    for narrow in (other for other in FLOAT_TYPES.values() if other.precision < kind.precision):
        for value in midpoints[::5]:
            if value and decode(encode(value, narrow), narrow) == value:
                part = Fraction(1, 1 << (narrow.precision + 2))
                near += both_signs(kind, [value * (1 + part), value * (1 - part)])
    return list(dict.fromkeys(near))


def every_exponent(kind: FloatType) -> list[int]:
    """A number of every exponent and sign, each with other bits below, which are no zeros where it is subnormal."""
    width = kind.precision - 1
    fields = range(kind.infinity_bits >> width)
    magnitudes = [field << width | (field * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << width) for field in fields]
    return [code | sign for code in magnitudes for sign in (0, 1 << (kind.bits - 1))]


def special_codes(kind: FloatType) -> list[int]:
    sign, nan, normal = 1 << (kind.bits - 1), kind.nan_bits, 1 << (kind.precision - 1)
    assert nan is not None
    found = (0, 1, 2, normal - 1, normal, kind.largest_bits, kind.infinity_bits, kind.infinity_bits + 1, nan, nan | 3)
    return [code | bit for code in found for bit in (0, sign)]


def whole_codes(kind: IntegerType) -> list[int]:
    """Every integer of up to 8 bits, else the small ones and those around powers of two."""
    if kind.bits <= 8:
        return list(range(kind.lowest, kind.highest + 1))
    powers = {sign * (1 << power) + step for power in range(kind.bits) for sign in (1, -1) for step in (-1, 0, 1)}
    least = max(kind.lowest, -40)
    return sorted(value for value in powers | set(range(least, least + 81)) if kind.lowest <= value <= kind.highest)


def whole_midpoints(kind: IntegerType, values: Sequence[Fraction]) -> list[int]:
    """The integers that a small floating-point type holds or that lie halfway between two, and their neighbours."""
    magnitudes = [*values, *((low + high) / 2 for low, high in pairwise(values))]
    whole = {sign * int(value) for value in magnitudes if value.denominator == 1 for sign in (1, -1)}
    beside = {value + step for value in whole for step in (-1, 0, 1)}
    return sorted(value for value in beside if kind.lowest <= value <= kind.highest)


def versions(source: str, target: str) -> Iterator[Sample]:
    """An infinity, a tie and ordinary numbers under other operator sets, where the types are old enough."""
    if {source, target} & {*INT4, *FLOAT4, *E8M0, *INT2, *FLOAT6}:
        return
    for more in OLDER:
        kind = ELEMENT_TYPES[source]
        codes = whole_codes(kind)[:9] if isinstance(kind, IntegerType) else version_codes(kind)
        flags = ("OtherVersion", *own_flags(source, target, {}))
        roles = ("version", *(("older-infinity",) if target.endswith("fnuz") and more["opset"] < 24 else ()))
        node = {"real": source, "quantized": target, **more}
        yield Sample(f"opset-{more['opset']}", node, (bits(source, codes),), flags, roles)


def version_codes(kind: FloatType) -> list[int]:
    sign = 1 << (kind.bits - 1)
    found = [encode(Fraction(value), kind) for value in (1, 3, Fraction(9, 8), 100)]
    found += [kind.largest_bits, kind.infinity_bits if kind.specials == "ieee" else 0]
    return [code | bit for code in found for bit in (0, sign)]


def shapes(source: str, target: str) -> Iterator[Sample]:
    """Samples of several shapes, and longer than any SIMD width with a tie in every lane."""
    kind = ELEMENT_TYPES[source]
    low = -3 if isinstance(kind, IntegerType) else 0
    for shape in ((), (0,), (2, 0, 3), (1, 1), (2, 3), (3, 1, 2, 2)):
        codes = [shape_code(kind, low + i) for i in range(math.prod(shape))]
        flag = "Scalar" if shape == () else "Empty" if 0 in shape else "Shape"
        name = "x".join(map(str, shape)) or "scalar"
        yield Sample(
            f"shape-{name}", {"real": source, "quantized": target}, (Tensor(source, shape, codes),), (flag,), ("shape",)
        )
    for length in LANES:
        codes = [shape_code(kind, low + i % 7) for i in range(length)]
        yield Sample(
            f"lanes-{length}", {"real": source, "quantized": target}, (bits(source, codes),), ("Lane",), ("shape",)
        )


def shape_code(kind: FloatType | IntegerType, number: int) -> int:
    """An integer, or a number that is a tie between two integers and between two values of three bits."""
    return number if isinstance(kind, IntegerType) else encode(Fraction(2 * number + 1, 2) + (number > 4), kind)
