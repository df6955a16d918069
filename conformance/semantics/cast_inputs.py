"""What a cast does before it rounds to the output's type: the facets `reading`, `precision` and `input_subnormals`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tiebreak.conformance.semantics.precisions import OF_TYPE, Precision
from tiebreak.conformance.semantics.type_grids import bits_as_numbers, rounded_to_grid
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8
from tiebreak.golden.problem import Array, bits_of

ElementType = FloatType | IntegerType
SMALL_BITS = 8  # of a type with few numbers, which wider types hold
SIBLINGS = {
    "float8_e4m3fn": "float8_e4m3fnuz",
    "float8_e4m3fnuz": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2fnuz",
    "float8_e5m2fnuz": "float8_e5m2",
}


@dataclass(frozen=True, eq=False)
class CastReading:
    """How the bits of a small input become a number."""

    id: str
    sentence: str
    numbers: Callable[[Array, FloatType], Array]
    cause: str = ""
    types: tuple[str, ...] = (*FLOAT8, *FLOAT6, *FLOAT4, *E8M0)


def own_numbers(x: Array, kind: FloatType) -> Array:
    return np.asarray(x.astype(np.float64))


def sibling_numbers(x: Array, kind: FloatType) -> Array:
    sibling = ELEMENT_TYPES[SIBLINGS[kind.name]]
    assert isinstance(sibling, FloatType)
    return bits_as_numbers(bits_of(x), sibling)


def bits_themselves(x: Array, kind: FloatType) -> Array:
    return np.asarray(bits_of(x).astype(np.float64))


def without_subnormals(x: Array, kind: FloatType) -> Array:
    return flushed(own_numbers(x, kind), kind)


def flushed(values: Array, kind: FloatType) -> Array:
    return np.where(np.abs(values) < 2.0**kind.emin, np.copysign(0.0, values), values)


def powers_times(factor: float, x: Array, kind: FloatType) -> Array:
    return own_numbers(x, kind) * factor


def least_power_as(number: float, x: Array, kind: FloatType) -> Array:
    values = own_numbers(x, kind)
    return np.where(values == 2.0**kind.emin, number, values)


# What ends the ids of causes in casts to a type, and what begins those of rounding twice.
GOALS = {
    **dict.fromkeys(FLOAT6, ("in a float 6", "x-in-before-float6")),
    **dict.fromkeys(FLOAT4, ("in float4_e2m1fn", "x-in-before-float4")),
}
FLOAT8_GOAL = ("", "x-in")

READINGS = (
    OWN_READING := CastReading("own-type", "the bits are read as the input's type says", own_numbers),
    CastReading(
        "sibling-type", "the bits are read as those of the sibling", sibling_numbers, "sibling-float8", (*FLOAT8,)
    ),
    CastReading("integers", "the bits are read as a whole number", bits_themselves, "float-bits-as-integers"),
    CastReading(
        "subnormals-flushed",
        "a subnormal input is read as 0",
        without_subnormals,
        "input-flushed",
        (*FLOAT8, *FLOAT6, *FLOAT4),
    ),
    CastReading(
        "doubled", "a power of two is read as the next one", partial(powers_times, 2.0), "power-read-doubled", E8M0
    ),
    CastReading(
        "halved", "a power of two is read as the one before", partial(powers_times, 0.5), "power-read-halved", E8M0
    ),
    CastReading("least-as-zero", "2^-127 is read as 0", partial(least_power_as, 0.0), "power-of-zero-to-zero", E8M0),
    CastReading(
        "least-doubled", "2^-127 is read as 2^-126", partial(least_power_as, 2.0**-126), "power-of-zero-doubled", E8M0
    ),
)


def readings_of(source: ElementType) -> tuple[CastReading, ...]:
    if source.bits > SMALL_BITS or isinstance(source, IntegerType):
        return (OWN_READING,)
    return tuple(reading for reading in READINGS if source.name in reading.types)


@dataclass(frozen=True, eq=False)
class Passage:
    """Types to which a number is rounded, one after the other, before it is rounded to the output's type.

    `keeps`: significant bits to which it is cut off instead; 0 for none. `carries_twice`: the way to float16 doubles
    what is_carried says.
    """

    id: str
    sentence: str
    through: tuple[str, ...] = ()
    keeps: int = 0
    cause: str = ""
    carries_twice: bool = False

    def passed(self, values: Array) -> Array:
        if self.carries_twice:
            values = np.where(is_carried(values), values * 2, values)
        for name in self.through:
            values = rounded_to_grid(values, FLOAT_TYPES[name])
        return cut_off(values, self.keeps) if self.keeps else values

    def precision_from(self, source: FloatType) -> Precision:
        """The type in which further sums are made; float64 after a small type."""
        if self.keeps:
            return OF_TYPE["bfloat16"]
        return OF_TYPE[self.through[-1] if self.through else source.name if source.name in OF_TYPE else "float64"]

    def changes(self, source: FloatType) -> bool:
        """Whether some number of a type does not stay what it is, in each of the steps."""
        for name in self.through:
            if holds(FLOAT_TYPES[name], source):
                return False
            source = FLOAT_TYPES[name]
        return source.precision > self.keeps


LEAST_NORMAL = 2.0**-14  # of float16


def is_carried(values: Array) -> Array:
    """Numbers below the normal ones of float16 that its 11 bits lift to the next power of two (a mask).

    A conversion that rounds before it looks for subnormal numbers raises the exponent, and then shifts the bits that
    were not rounded by it: what comes is twice as much. OpenVINO's class float16 does so
    (src/core/src/type/float16.cpp, read at commit 31aaa18).
    """
    fraction, exponent = np.frexp(np.abs(values))
    lifted = (np.rint(np.ldexp(fraction, 11)) == 1 << 11) & (fraction < 1)
    return np.asarray(lifted & (np.ldexp(1.0, exponent) < LEAST_NORMAL))


CARRIED_TWICE = Passage(
    "float16-carried-twice",
    "rounded to float16 first, but what its 11 bits lift to a power of two below 2^-14 is doubled",
    ("float16",),
    cause="x-in:float16 with a carry made twice",
    carries_twice=True,
)


def holder_of(source: ElementType) -> FloatType:
    """A floating-point type with all numbers of a type: float32 or float64 for integers."""
    if isinstance(source, FloatType):
        return source
    return FLOAT_TYPES["float32" if source.bits <= FLOAT_TYPES["float32"].precision else "float64"]


def holds(kind: FloatType, source: FloatType) -> bool:
    """Whether a type holds every number of another one."""
    if source.precision > kind.precision or source.emax > kind.emax:
        return False
    return source.emin - source.precision >= kind.emin - kind.precision


def cut_off(values: Array, bits: int) -> Array:
    fraction, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.trunc(np.ldexp(fraction, bits)), exponent - bits))


DIRECT = Passage("direct", "the number is rounded once, to the output's type")
PASSAGES = (("float32",), ("float16",), ("bfloat16",), ("float32", "float16"))


def passages_of(source: ElementType, key: str, goal: str) -> Iterator[Passage]:
    """The ways from a type. `key` begins the causes' ids; `goal` ends that of a cut, and says to which type."""
    yield DIRECT
    if source.bits > SMALL_BITS:
        yield from changing_passages(holder_of(source), key, goal)


def changing_passages(source: FloatType, key: str, goal: str) -> Iterator[Passage]:
    for names in PASSAGES:
        words = " and ".join(names)
        found = Passage("-then-".join(names), f"rounded to {words} first", names, cause=f"{key}:{words}")
        if found.changes(source):
            yield found
    cause = f"x-cut-off-to-bfloat16:{goal}" if goal else "x-cut-off-to-bfloat16"
    cut = Passage("cut-to-bfloat16", "cut off to the bits of bfloat16 first", (), 8, cause)
    if cut.changes(source):
        yield cut


@dataclass(frozen=True, eq=False)
class InputSubnormals:
    """Whether a subnormal number of a wide input counts as 0."""

    id: str
    sentence: str
    flushes: bool
    cause: str = ""

    def of(self, values: Array, kind: FloatType) -> Array:
        return flushed(values, kind) if self.flushes else values


INPUTS_KEPT = InputSubnormals("kept", "a subnormal input is a number", flushes=False)


def input_subnormals(goal: str) -> tuple[InputSubnormals, ...]:
    cause = f"flushes-inputs:{goal}" if goal else "flushes-inputs"
    return INPUTS_KEPT, InputSubnormals("flushed", "a subnormal input counts as 0", flushes=True, cause=cause)
