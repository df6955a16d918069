"""Ways to the number that blocks with a scale of 8 bits round: facets of their scales, and of elements given those.

Each step is rounded to float32, but for the exact quotients. With global_amax a tensor has two factors: s_enc, about
2688 / global_amax, and s_dec, about its reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import as_array
from tiebreak.golden.problem import Array

ONE, SIX, MOST = np.float32(1), np.float32(6), np.float32(448)
WHOLE, SIXTH = SIX * MOST, ONE / SIX


class TensorFactors(NamedTuple):
    """s_enc and s_dec (float32), and global_amax (float64) for an exact quotient; arrays or numbers."""

    encode: Any
    decode: Any
    exact: Any


NO_FACTORS = TensorFactors(ONE, ONE, np.float64(1))


class BlockOperands(NamedTuple):
    """A number (float32) that x's type holds, its block's scale (float32; 1 for a scale itself), and the factors."""

    x: Array
    scale: Array
    tensor: TensorFactors
    kind: np.dtype[Any]

    @property
    def encode(self) -> Any:
        return self.tensor.encode

    @property
    def decode(self) -> Any:
        return self.tensor.decode

    def in_type(self, values: Array) -> Array:
        """Rounded to x's type."""
        return as_array(values.astype(self.kind).astype(np.float32))


@dataclass(frozen=True, eq=False)
class FactorOfTensor:
    """`of` gives both factors of a tensor from its global_amax (float32); `is_wrong`: no other one comes near them."""

    id: str
    sentence: str
    of: Callable[[Array], TensorFactors]
    cause: str = ""
    is_wrong: bool = False


@dataclass(frozen=True, eq=False)
class ScalingOfBlock:
    """`of` gives the number that is rounded.

    `distinct`: no two such give the same where both factors are 1. `rounds`: its steps round, so that it
    matters how the factors come about. `narrow`: x's type matters, which then is not float32.
    """

    id: str
    sentence: str
    of: Callable[[BlockOperands], Array]
    cause: str = ""
    distinct: bool = False
    rounds: bool = True
    narrow: bool = False


# The factors of a tensor


def encoding_first(whole: Array) -> TensorFactors:
    encode = WHOLE / whole
    return TensorFactors(encode, ONE / encode, in_float64(whole))


def decoding_first(whole: Array) -> TensorFactors:
    decode = whole / WHOLE
    return TensorFactors(ONE / decode, decode, in_float64(whole))


def without_six(whole: Array) -> TensorFactors:
    encode = MOST / whole
    return TensorFactors(encode, ONE / encode, in_float64(whole))


def ignored(whole: Array) -> TensorFactors:
    return TensorFactors(ONE, ONE, np.float64(1))


def in_float64(whole: Array) -> Array:
    return as_array(whole.astype(np.float64))


ENCODING_FIRST = FactorOfTensor("encoding-first", "s_enc = 2688 / global_amax, and s_dec = 1 / s_enc", encoding_first)
FACTORS = (
    ENCODING_FIRST,
    FactorOfTensor(
        "decoding-first",
        "s_dec = global_amax / 2688, and s_enc = 1 / s_dec",
        decoding_first,
        "tensor-factor-decoding-first",
    ),
    FactorOfTensor(
        "without-six",
        "s_enc = 448 / global_amax, and s_dec = 1 / s_enc",
        without_six,
        "global-scale-without-six",
        is_wrong=True,
    ),
    FactorOfTensor("ignored", "global_amax is ignored", ignored, "global-amax-ignored", is_wrong=True),
)

# The scale before it is rounded: from the greatest magnitude

SCALES_OF_TENSORS = (
    ScalingOfBlock(
        "sixth-then-factor", "(magnitude / 6) * s_enc", lambda o: o.x / SIX * o.encode, distinct=True
    ),
    ScalingOfBlock("sixth-over-factor", "(magnitude / 6) / s_dec", lambda o: o.x / SIX / o.decode,
                   "scale-sixth-over-factor"),
    ScalingOfBlock("times-sixth", "(magnitude * (1 / 6)) * s_enc", lambda o: o.x * SIXTH * o.encode,
                   "amax-times-sixth", distinct=True),
    ScalingOfBlock("factor-with-sixth", "magnitude * (s_enc * (1 / 6))", lambda o: o.x * (o.encode * SIXTH),
                   "scale-factor-with-sixth"),
    ScalingOfBlock("factor-over-six", "magnitude * (s_enc / 6)", lambda o: o.x * (o.encode / SIX),
                   "scale-factor-over-six"),
    ScalingOfBlock("factor-then-sixth", "(magnitude * s_enc) / 6", lambda o: o.x * o.encode / SIX,
                   "scale-factor-first"),
    ScalingOfBlock("factor-times-sixth", "(magnitude * s_enc) * (1 / 6)", lambda o: o.x * o.encode * SIXTH,
                   "scale-factor-first-times-sixth"),
    ScalingOfBlock("over-six-factors", "magnitude / (6 * s_dec)", lambda o: o.x / (SIX * o.decode),
                   "scale-over-six-factors"),
    ScalingOfBlock("sixth-in-x-type", "(magnitude / 6) rounded to x's type, times s_enc",
                   lambda o: o.in_type(o.x / SIX) * o.encode, "scale-sixth-in-x-type", narrow=True),
    ScalingOfBlock("exact", "magnitude * 448 / global_amax, not rounded",
                   lambda o: o.x.astype(np.float64) * 448 / o.tensor.exact, "scale-of-exact-quotient", rounds=False),
)  # fmt: skip

# An element before it is rounded: from x, given the block's scale

ELEMENTS_OF_TENSORS = (
    ScalingOfBlock("reciprocal-of-product", "x * (1 / (scale * s_dec))", lambda o: o.x * (ONE / (o.scale * o.decode)),
                   distinct=True),
    ScalingOfBlock("over-product", "x / (scale * s_dec)", lambda o: o.x / (o.scale * o.decode), "divides-by-scale",
                   distinct=True),
    ScalingOfBlock("factor-over-scale", "x * (s_enc / scale)", lambda o: o.x * (o.encode / o.scale),
                   "global-scale-over-scale"),
    ScalingOfBlock("factor-times-reciprocal", "x * (s_enc * (1 / scale))", lambda o: o.x * (o.encode * (ONE / o.scale)),
                   "global-scale-times-reciprocal"),
    ScalingOfBlock("quotient-then-factor", "(x / scale) * s_enc", lambda o: o.x / o.scale * o.encode,
                   "global-scale-last"),
    ScalingOfBlock("quotient-over-factor", "(x / scale) / s_dec", lambda o: o.x / o.scale / o.decode,
                   "global-scale-divides-last"),
    ScalingOfBlock("reciprocal-then-factor", "(x * (1 / scale)) * s_enc", lambda o: o.x * (ONE / o.scale) * o.encode,
                   "global-scale-after-reciprocal"),
    ScalingOfBlock("factor-then-quotient", "(x * s_enc) / scale", lambda o: o.x * o.encode / o.scale,
                   "global-scale-before-quotient"),
    ScalingOfBlock("factor-then-reciprocal", "(x * s_enc) * (1 / scale)", lambda o: o.x * o.encode * (ONE / o.scale),
                   "global-scale-first"),
    ScalingOfBlock("quotient-in-x-type", "(x / scale) rounded to x's type, times s_enc",
                   lambda o: o.in_type(o.x / o.scale) * o.encode, "divides-in-x-type", narrow=True),
    ScalingOfBlock("exact", "x * 2688 / (global_amax * scale), not rounded",
                   lambda o: o.x.astype(np.float64) * 2688 / (o.tensor.exact * o.scale.astype(np.float64)),
                   "divides-exactly", rounds=False),
)  # fmt: skip
ELEMENTS_OF_BLOCKS = (
    ScalingOfBlock("reciprocal", "x * (1 / scale)", lambda o: o.x * (ONE / o.scale)),
    ScalingOfBlock("divide", "x / scale", lambda o: o.x / o.scale, "divides-by-scale"),
)


FACTOR = Facet("factor", FACTORS)


@cache
def scaling_of(ways: tuple[ScalingOfBlock, ...], kind: str) -> Facet:
    """The ways that inputs of a type have."""
    return Facet("scaling", tuple(way for way in ways if kind != "float32" or not way.narrow))


def makes_sense(factor: FactorOfTensor, way: ScalingOfBlock) -> bool:
    """Whether a way is no other one by construction. Of a factor that is wrong only two ways are looked at."""
    return way.distinct if factor.is_wrong else way.rounds or factor is ENCODING_FIRST
