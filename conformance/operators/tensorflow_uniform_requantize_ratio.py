"""UniformRequantize by one factor and one sum in float32, computed beforehand from both sides, as XLA compiles it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tiebreak.conformance.operators.tensorflow_uniform_requantize_parameters import ends_of, input_ends_of, spread
from tiebreak.conformance.semantics.places import fused_multiply_add
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Parameters = tuple[Array, ...]
WORD = INTEGER_TYPES["int32"]
TINY = np.finfo(np.float32).tiny  # below lie subnormal numbers


def by_ratio_and_shift(fused: bool, node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
    """One factor and one sum in float32, computed beforehand from both sides; ties to even."""
    s_in, z_in, s_out, z_out = spread(node, x, parameters)
    with np.errstate(all="ignore"):
        ratio = s_in / s_out
        shift = z_out.astype(np.float32) - z_in.astype(np.float32) * ratio
        value = x.astype(np.float32)
        total = rounded_once(value, ratio, shift) if fused else value * ratio + shift
        whole = np.clip(np.rint(np.nan_to_num(total.astype(np.float64))), *ends_of(node))
    return (whole.astype(np.int64).astype(node.outputs[0].dtype),)


def ratio_and_shift_or_input(node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
    """The same, fused; the input itself, unclipped, where both sides are alike."""
    return (x,) if are_alike(node, x, parameters) else by_ratio_and_shift(True, node, x, *parameters)


def are_alike(node: Node, x: Array, parameters: Parameters) -> bool:
    """Whether type, ends, scales and zero points are the same on both sides."""
    s_in, z_in, s_out, z_out = parameters
    alike = x.dtype == node.outputs[0].dtype and ends_of(node) == input_ends_of(node)
    return alike and np.array_equal(s_in, s_out) and np.array_equal(z_in, z_out)


def of_flushed_scales(node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
    """The same, fused, with 0 for subnormal scales, without ends of an int32; the input if then both sides agree."""
    given = with_flushed_scales(parameters)
    if same_arrays(given, parameters):
        raise NotImplementedError
    return (x,) if are_alike(node, x, given) else by_ratio_and_shift(True, in_any_word(node), x, *given)


def with_flushed_scales(parameters: Parameters) -> Parameters:
    s_in, z_in, s_out, z_out = parameters
    least, most = (np.where(np.abs(scale) < TINY, np.float32(0), scale) for scale in (s_in, s_out))
    return least, z_in, most, z_out


def same_arrays(some: Parameters, others: Parameters) -> bool:
    return all(np.array_equal(*pair) for pair in zip(some, others, strict=True))


def of_any_word(node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
    """The same, fused, in all of int32, whatever the ends of an int32 are. Subnormal scales are for the one above."""
    whole = in_any_word(node)
    if ends_of(whole) == ends_of(node) or not same_arrays(with_flushed_scales(parameters), parameters):
        raise NotImplementedError
    return (x,) if are_alike(node, x, parameters) else by_ratio_and_shift(True, whole, x, *parameters)


def in_any_word(node: Node) -> Node:
    """The node without ends for an output of int32."""
    if node.output_type != "int32":
        return node
    ends = {"output_quantization_min_val": WORD.lowest, "output_quantization_max_val": WORD.highest}
    return replace(node, attributes={**node.attributes, **ends})


def rounded_once(value: Array, ratio: Array, shift: Array) -> Array:
    return fused_multiply_add(value, ratio, shift.astype(np.float64), np.dtype(np.float32))
