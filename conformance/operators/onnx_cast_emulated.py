"""Casts to and from float 8 by the bits of a float16, as a compiler makes them for a processor that lacks the type.

The exponent moves from one type to the other and the significand is rounded as an integer. Whether a number is
subnormal is asked before that, of its exponent as it was. tinygrad does so (tinygrad/codegen/decomp/dtype.py, read in
0.14.0).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tiebreak.conformance.operators.dequantize_numbers import rounded_to
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.onnx_cast_reads import NARROWED
from tiebreak.conformance.operators.onnx_cast_steps import Read, mistake, small_kind, to_output, to_small, to_types
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import FLOAT8
from tiebreak.golden.problem import Array, bits_of

LEAST_NORMAL = 2.0 ** FLOAT_TYPES["float16"].emin
LARGEST = float(np.finfo(np.float16).max)
WIDER = ("float8_e5m2fnuz",)  # whose normal numbers go on below those of float16


def flushed_first(node: Node, values: Array) -> Array:
    """A number below the least normal value is zero, of its sign, even where it rounds to that value."""
    below = np.abs(values) < 2.0 ** small_kind(node).emin
    return to_small(node, np.where(below, np.copysign(0.0, values), values))


def halves_as_normal(node: Node, values: Array) -> Array:
    """A number below float16's normal ones gets their first bit, which is 0 there: zero becomes 2^-15."""
    with_bit = np.copysign(LEAST_NORMAL / 2 * (1 + np.abs(values) / LEAST_NORMAL), values)
    return to_small(node, np.where(np.abs(values) < LEAST_NORMAL, with_bit, values))


def small_kind_read(node: Node) -> FloatType:
    kind = ELEMENT_TYPES[node.input_type]
    if node.input_type not in FLOAT8 or not isinstance(kind, FloatType):
        raise NotImplementedError
    return kind


def below(least: float, x: Array) -> Array:
    values = x.astype(np.float64)
    return np.where(np.abs(values) < least, np.copysign(0.0, values), values)


def subnormals_read_as_zero(node: Node, x: Array) -> Array:
    return below(2.0 ** small_kind_read(node).emin, x)


def halves_read_as_zero(node: Node, x: Array) -> Array:
    """What is subnormal in float16 is read as zero, though the input's type has normal numbers there."""
    if node.input_type not in WIDER:
        raise NotImplementedError
    return below(LEAST_NORMAL, x)


def finite(read: Read) -> Read:
    """What a number becomes on the way; what is beyond float16 stays beyond float 8, a number and no infinity."""

    def held(node: Node, x: Array) -> Array:
        values = read(node, x)
        return np.where(np.isinf(values) & np.isfinite(x), np.copysign(LARGEST, values), values)

    return held


def single_first(node: Node, x: Array) -> Array:
    """float64 rounded to float32, and that to float16."""
    if node.input_type != "float64":
        raise NotImplementedError
    return rounded_to(rounded_to(x, np.dtype("float32")), np.dtype("float16"))


def upper_bits_of_nan(node: Node, x: Array) -> tuple[Array, ...]:
    """A NaN of float16 keeps its upper bits, which are those of infinity where only lower ones say that it is NaN."""
    if node.input_type != "float16" or node.output_type != "float8_e5m2":
        raise NotImplementedError
    found = np.asarray(to_output(node, x.astype(np.float64))).view(np.uint8)
    upper = (bits_of(np.ascontiguousarray(x)) >> 8).astype(np.uint8)
    return (np.where(np.isnan(x), upper, found).view(node.outputs[0].dtype).reshape(x.shape),)


OWN, HALF_AS_NORMAL, FLUSHED_READ = "flushes-outputs:before rounding", "subnormal-bits-as-normal", "input-flushed"
HALVES_READ = f"{FLUSHED_READ}:what is subnormal in float16"
READS: tuple[tuple[str, Read | None], ...] = (
    ("", None),
    (f"x-in:float16{JOINT}", finite(dict(NARROWED)["float16"])),
    (f"x-in:float32 and float16{JOINT}", finite(single_first)),
)


def emulated() -> Iterator[tuple[Cause, Mistake]]:
    for key, read in READS:
        yield Cause(f"{key}{OWN}", "float8"), mistake(to_types(*FLOAT8, write=flushed_first), read)
        yield Cause(f"{key}{HALF_AS_NORMAL}", "float8"), mistake(to_types(*WIDER, write=halves_as_normal), read)
    both = mistake(to_types(*WIDER, write=halves_as_normal), subnormals_read_as_zero)
    yield Cause(f"{FLUSHED_READ}{JOINT}{HALF_AS_NORMAL}", "float8"), both
    yield Cause(HALVES_READ, "exact"), mistake(to_output, halves_read_as_zero)
    yield Cause("nan-to-infinity:where its upper bits are those of infinity", "nan"), upper_bits_of_nan


EMULATED: tuple[tuple[Cause, Mistake], ...] = tuple(emulated())
