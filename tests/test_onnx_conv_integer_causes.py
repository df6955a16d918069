"""Causes of ConvInteger: wrong boxes of their own get theirs and no other, and right sums get none."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of
from wrong_onnx_conv_integer import convolved

from tiebreak.conformance.operators.onnx_conv_integer_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR = "onnx.ConvInteger"
WEIGHTS_FIRST = "pairs-saturate-in-16-bits:of unsigned weights and signed pixels"
ALONG_INPUTS = "along-other-axis:w_zero_point"


def points_of(node: Any, given: tuple[Array, ...]) -> tuple[Array, Array]:
    named = dict(zip((tensor.name for tensor in node.inputs[2:]), given, strict=True))
    zero = np.zeros((), np.int64)
    x, w = (np.asarray(named.get(f"{name}_zero_point", zero)).astype(np.int64) for name in "xw")
    return x, w


def right(node: Any, x: Array, w: Array, *given: Array) -> tuple[Array, ...]:
    x_point, w_point = points_of(node, given)
    columns = w_point.reshape(-1, *(1,) * (w.ndim - 1))
    return (convolved(node, x.astype(np.int64) - x_point, w.astype(np.int64) - columns).astype(np.int32),)


def of_input_channels(node: Any, x: Array, w: Array, *given: Array) -> tuple[Array, ...]:
    """As NumPy broadcasts a list of w's zero points that has an axis too few behind it."""
    x_point, w_point = points_of(node, given)
    if w_point.size != w.shape[1]:
        return right(node, x, w, *given)
    columns = w_point.reshape(-1, *(1,) * (w.ndim - 2))
    return (convolved(node, x.astype(np.int64) - x_point, w.astype(np.int64) - columns).astype(np.int32),)


def in_pairs(node: Any, x: Array, w: Array, *given: Array) -> tuple[Array, ...]:
    """Windows of images without pads and groups: the sums of neighbouring products saturate, one after another."""
    _, w_point = points_of(node, given)
    plain = x.dtype == np.int8 and w.dtype == np.uint8 and x.ndim == 3 and not node.attributes and w_point.size == 1
    (found,) = right(node, x, w, *given)
    if not plain:
        return (found,)
    for image, channel, at in product(*map(range, found.shape)):
        terms = [int(p) for p in (x[image, :, at : at + w.shape[2]].astype(int) * w[channel]).reshape(-1)]
        for first, second in zip(terms[::2], terms[1::2], strict=False):
            lost = first + second - min(max(first + second, -32768), 32767)
            found[image, channel, at] -= lost
    return (found,)


def vectors(kind: str) -> list[Case]:
    cases = indexed_cases(VECTORS / file_name(OPERATOR, kind, "int32"))
    return [case for case in cases if "Overflow" not in case.flags and max(a.size for a in case.inputs) < 4000]


def plain_vectors() -> list[Case]:
    """Those that the box above sums in pairs, and those of the same types that it leaves alone: no window, one term."""
    return [
        case
        for case in vectors("int8")
        if case.inputs[1].dtype == np.uint8 and case.inputs[0].ndim == 3 and not case.node.attributes
        and "PerAxis" not in case.flags
    ]  # fmt: skip


def test_pairs_of_weights_and_pixels_get_their_cause_and_no_other() -> None:
    found = causes_of(in_pairs, plain_vectors())
    assert set(found) == {sentence_of(WEIGHTS_FIRST)} and found.total() > 30


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_zero_points_of_input_channels_get_their_cause_and_no_other(kind: str) -> None:
    found = causes_of(of_input_channels, vectors(kind))
    assert set(found) == {sentence_of(ALONG_INPUTS)} and found.total() > 10


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_right_sums_have_no_cause(kind: str) -> None:
    assert not causes_of(right, vectors(kind))


def test_the_instruction_is_not_for_other_types() -> None:
    """Nothing is predicted where weights have a sign or pixels have none: another one sums there."""
    node = make_node(OPERATOR, real="int8", quantized="int32", scale="int8", zero_point=False)
    mistake = {cause.id: run for cause, run in MISTAKES}[WEIGHTS_FIRST]
    with pytest.raises(ValueError, match="nothing to mistake"):
        mistake(node, np.ones((1, 2, 1), np.int8), np.ones((1, 2, 1), np.int8))


def test_the_reference_evaluator_takes_zero_points_along_input_channels_of_images_of_three_axes() -> None:
    """Two output and two input channels: w's zero points 1 and 5 of 7 and 9 times 1 make 6 + 4, twice."""
    from tiebreak.adapters.onnx_reference import OnnxReference

    node = make_node(OPERATOR, real="uint8", quantized="int32")
    x, w = np.ones((1, 2, 1, 1, 1), np.uint8), np.array([7, 9, 7, 9], np.uint8).reshape(2, 2, 1, 1, 1)
    inputs = x, w, np.zeros((), np.uint8), np.array([1, 5], np.uint8)
    (given,) = OnnxReference().compile(node)(*inputs)
    assert given.reshape(-1).tolist() == [10, 10]
    assert right(node, *inputs)[0].reshape(-1).tolist() == [14, 6]
