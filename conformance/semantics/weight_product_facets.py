"""How a number is multiplied by a dequantized weight: the values of the facets that com.microsoft.MatMulNBits has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import as_array, fused_multiply_add
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.golden.problem import Array

SINGLE = "float32"


def steps_in(name: str) -> Precision:
    return Precision(name, f"every step is rounded to {name}", f"computes-in:{name}")


EXACTLY = Precision(
    "exact", "the real product, or one of steps in float64: no input is known that tells them apart", "real-product"
)
IN_SINGLE, IN_HALF, IN_BFLOAT = map(steps_in, (SINGLE, "float16", "bfloat16"))
PRECISIONS = {  # of A's type; the first one is the document's
    SINGLE: (IN_SINGLE, EXACTLY, IN_HALF, IN_BFLOAT),
    "float16": (IN_HALF, IN_SINGLE, EXACTLY, IN_BFLOAT),
    "bfloat16": (IN_BFLOAT, IN_SINGLE),  # a real product is exact in float32
}

# Steps from one type to a narrower one


@dataclass(frozen=True, eq=False)
class Narrowing:
    """What a number of the steps is rounded to on the way. `of` gives it in the narrower type."""

    id: str
    sentence: str
    of: Callable[[Array], Array]
    cause: str = ""


def kept(values: Array) -> Array:
    return values


def rounded(kind: np.dtype[Any]) -> Callable[[Array], Array]:
    return lambda values: values.astype(kind)


def cut_off(kind: np.dtype[Any]) -> Callable[[Array], Array]:
    """Toward zero: where the nearest number is greater in magnitude, the one before it."""

    def cut(values: Array) -> Array:
        found = values.astype(kind)
        beyond = np.abs(found.astype(np.float64)) > np.abs(values.astype(np.float64))
        return np.asarray((found.view(np.uint16) - beyond).astype(np.uint16).view(kind))

    return cut


def half_for_odd(values: Array) -> Array:
    """As OpenVINO's plugin without bfloat16 instructions: half a unit is added if the last bit kept is odd."""
    held = np.ascontiguousarray(values, np.float32).view(np.uint32)
    upper = (held + ((held & np.uint32(0x10000)) >> np.uint32(1))) >> np.uint32(16)
    return np.asarray(upper.astype(np.uint16).view(ml_dtypes.bfloat16))


TYPES: dict[str, np.dtype[Any]] = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
KEPT_WEIGHT = Narrowing("kept", "the weight is as its steps give it", kept)
WEIGHTS = (
    *(Narrowing(name, f"the weight is rounded to {name}", rounded(kind), f"weight-in:{name}")
      for name, kind in TYPES.items()),
    *(Narrowing(f"{name}-cut-off", f"the weight is cut off to {name}", cut_off(kind), f"weight-cut-off-to:{name}")
      for name, kind in TYPES.items()),
    Narrowing(
        "bfloat16-half-for-odd",
        "the weight is cut off to bfloat16 after half a unit is added to odd numbers alone",
        half_for_odd,
        "weight-half-for-odd-bfloat16",
    ),
)  # fmt: skip
NEAREST = Narrowing("nearest", "the result is rounded to the nearest number of Y's type, ties to even", kept)
RESULTS = (
    *(Narrowing(name, f"the result is rounded to {name}", rounded(kind), f"result-in:{name}")
      for name, kind in TYPES.items()),
    *(Narrowing(f"{name}-cut-off", f"the result is cut off to {name}", cut_off(kind), f"result-cut-off-to:{name}")
      for name, kind in TYPES.items()),
    Narrowing(
        "bfloat16-half-for-odd",
        "the result is cut off to bfloat16 after half a unit is added to odd numbers alone",
        half_for_odd,
        "result-half-for-odd-bfloat16",
    ),
)  # fmt: skip
NARROWER = {SINGLE: ("float16", "bfloat16"), "float16": ("bfloat16",), "bfloat16": ()}  # float16 holds bfloat16's


def narrowings(own: Narrowing, every: tuple[Narrowing, ...], kind: str) -> tuple[Narrowing, ...]:
    """Those that change something: of a type's own number, all but the rounding that a narrow result has anyway."""
    return (own, *(one for one in every if one.id != kind and not (kind == "bfloat16" and one.id == "float16-cut-off")))


# What A becomes


class Number(NamedTuple):
    """A number as `code` times `scale`; the scale is 1 where it is no integer."""

    code: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class OperandStep:
    """`of` gives a number (A's type) as it is multiplied, in float32. `of_integers`: it has a scale of its own."""

    id: str
    sentence: str
    of: Callable[[Array], Number]
    cause: str = ""
    of_integers: bool = False


def through(kind: np.dtype[Any] | None) -> Callable[[Array], Number]:
    return lambda a: Number(a if kind is None else a.astype(kind), np.ones((), np.float32))


def to_int8(scale_of: Callable[[Array], Array]) -> Callable[[Array], Number]:
    """The only number of its block: the greatest magnitude stands for 127."""

    def found(a: Array) -> Number:
        scale = scale_of(np.abs(a.astype(np.float32)))
        return Number(np.copysign(np.float32(127), a.astype(np.float32)), scale)

    return found


AS_IT_IS = OperandStep("as-it-is", "A's numbers are multiplied as they are", through(None))
OPERANDS = (
    AS_IT_IS,
    *(OperandStep(name, f"A is rounded to {name}", through(kind), f"x-in:{name}") for name, kind in TYPES.items()),
    INT8 := OperandStep(
        "int8",
        "A becomes int8 in each block, of which 127 is the greatest magnitude; the scale is that over 127",
        to_int8(lambda size: size / np.float32(127)),
        "a-to-int8:the scale is the magnitude over 127",
        of_integers=True,
    ),
    OperandStep(
        "int8-reciprocal",
        "A becomes int8 in each block; the scale is the greatest magnitude times the rounded 1 / 127",
        to_int8(lambda size: size * (np.float32(1) / np.float32(127))),
        "a-to-int8:the scale is the magnitude times the rounded 1 / 127",
        of_integers=True,
    ),
)

# The order of the steps


class Parts(NamedTuple):
    """All in the type of the steps: a number, its own scale, and what a weight is made of."""

    number: Array
    own: Array
    code: Array
    point: Array
    scale: Array


Narrow = Callable[[Array], Array]  # what a weight becomes, in the type of the steps


@dataclass(frozen=True, eq=False)
class WeightProduct:
    """The order of the steps. `of` gives the product; only one that has a weight asks what that becomes."""

    id: str
    sentence: str
    of: Callable[[Parts, Narrow], Array]
    cause: str = ""


def dequantized_number(p: Parts) -> Array:
    return as_array(p.number * p.own)


def as_written(p: Parts, narrow: Narrow) -> Array:
    return as_array(dequantized_number(p) * narrow((p.code - p.point) * p.scale))


def scale_last(p: Parts, narrow: Narrow) -> Array:
    return as_array(p.number * (p.code - p.point) * p.own * p.scale)


def scales_first(p: Parts, narrow: Narrow) -> Array:
    return as_array(p.number * (p.code - p.point) * (p.own * p.scale))


def number_scaled(p: Parts, narrow: Narrow) -> Array:
    return as_array(dequantized_number(p) * p.scale * (p.code - p.point))


def distributed(p: Parts, narrow: Narrow) -> Array:
    return as_array(dequantized_number(p) * (p.code * p.scale - p.point * p.scale))


def distributed_fused(p: Parts, narrow: Narrow) -> Array:
    weight = fused_multiply_add(p.code, p.scale, -(p.point * p.scale), p.scale.dtype)
    return as_array(dequantized_number(p) * weight)


def two_products(p: Parts, narrow: Narrow) -> Array:
    of_point = dequantized_number(p) * (p.point * p.scale)
    return as_array(p.number * p.code * (p.own * p.scale) - of_point)


AS_WRITTEN = WeightProduct("as-written", "A * ((code - zero_point) * scale)", as_written)
SCALE_LAST = WeightProduct("scale-last", "(A * (code - zero_point)) * scale", scale_last, "scale-after-product")
SCALES_FIRST = WeightProduct(
    "scales-first",
    "(integer of A * (code - zero_point)) * (scale of A * scale)",
    scales_first,
    "scale-after-product:both scales' product",
)
POSITIONS = (
    AS_WRITTEN,
    SCALE_LAST,
    SCALES_FIRST,
    WeightProduct("number-scaled", "(A * scale) * (code - zero_point)", number_scaled, "scale-before-weight"),
    WeightProduct("distributed", "A * (code * scale - zero_point * scale)", distributed, "distributes-scale"),
    WeightProduct(
        "distributed-fused",
        "A * (code * scale - (zero_point * scale)), the first product and the difference rounded once (fma)",
        distributed_fused,
        "distributes-scale-fused",
    ),
    TWO_PRODUCTS := WeightProduct(
        "two-products", "(A * code) * scale - A * (zero_point * scale)", two_products, "product-of-zero-point-apart"
    ),
)


class WeightProductCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    operand: OperandStep
    position: WeightProduct
    weight: Narrowing
    result: Narrowing


def facets_of(kind: str) -> tuple[Facet, ...]:
    """Those of a node whose A has this type."""
    operands = tuple(one for one in OPERANDS if one.id not in TYPES or one.id in NARROWER[kind])
    return (
        Facet("precision", PRECISIONS[kind]),
        Facet("operand", operands),
        Facet("position", POSITIONS),
        Facet("weight", narrowings(KEPT_WEIGHT, WEIGHTS, kind)),
        Facet("result", narrowings(NEAREST, RESULTS, kind)),
    )
