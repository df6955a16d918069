"""Audits of gguf.Quantize: right blocks are named and never accused, wrong ones are named or fit nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_staged_audit import Backend
from wrong_gguf_quantize import RIGHT, WRONG, in_float32

from tiebreak.conformance.audit.authorities import STAGED_AUTHORITIES, judged_documents
from tiebreak.conformance.audit.operators import audited_node
from tiebreak.conformance.audit.staged import staged_answers, staged_data
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from wrong_model import WrongBackend

ID = "gguf.Quantize"
PLAIN_SCALES = {
    "input": "kept",
    "amax": "first",
    "scaling": "divide",
    "precision": "direct",
    "round_mode": "ROUND_NEAREST_TOWARD_EVEN",
    "output_subnormals": "kept",
    "saturation": "overflow",
}
PLAIN_ELEMENTS = {"input": "kept", "scaling": "reciprocal", "precision": "float32", "saturation": "saturate"}
DIVISORS = {"int8": "127", "uint4": "-8"}
MODES = {"int8": "ROUND_NEAREST_TOWARD_INFINITY", "uint4": "adds-8.5-and-truncates"}
Run = Callable[..., tuple[Array, ...]]  # of a node and x: elements and scales
f32 = np.float32


def node_of(kind: str) -> Node:
    return audited_node(ID, {}, "", kind, 0)


def box_of(run: Run, kind: str) -> Backend:
    node = node_of(kind)
    return Backend(lambda x: run(node, x))


def audits_of(run: Run, kind: str) -> dict[str, dict[str, Any]]:
    return {one["output"]: one for one in staged_data(box_of(run, kind), node_of(kind))}  # type: ignore[arg-type]


def plain(kind: str) -> dict[str, dict[str, str]]:
    own = {"divisor": DIVISORS[kind]}
    return {"scales": {**PLAIN_SCALES, **own}, "elements": {**PLAIN_ELEMENTS, **own, "round_mode": MODES[kind]}}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", DIVISORS)
@pytest.mark.parametrize("right", RIGHT, ids=lambda one: one.name)
def test_right_blocks_are_named(right: WrongBackend, kind: str) -> None:
    found = audits_of(right.run, kind)
    exact = {"scaling": "divide", "precision": "float64"} if "fractions" in right.name else {}
    if exact and kind == "uint4":  # real arithmetic has no sum to round
        exact["round_mode"] = "ROUND_NEAREST_UPWARD"
    assert found["scales"]["semantics"] == plain(kind)["scales"]
    assert found["elements"]["semantics"] == plain(kind)["elements"] | exact
    assert not any(one["path_dependent"] for one in found.values())


@pytest.mark.few(2)
@pytest.mark.parametrize(("wrong", "kind"), [(one, kind) for one in WRONG for _, kind in one.types])
def test_no_wrong_block_passes_for_a_right_one(wrong: WrongBackend, kind: str) -> None:
    found, wanted = audits_of(wrong.run, kind), plain(kind)
    unlike = [name for name, one in found.items() if one["path_dependent"] or one["semantics"] != wanted[name]]
    assert unlike, found


# As libraries write it, line after line


def blocks_of(x: Array) -> Array:
    return x.reshape(*x.shape[:-1], -1, 32)


def byte_scale(x: Array) -> Array:
    return np.asarray(np.abs(blocks_of(x)).max(axis=-1, keepdims=True) / f32(127))


def one_over(scale: Array) -> Array:
    return np.where(scale == 0, f32(0), f32(1) / scale)


def as_bytes(values: Array, scale: Array, x: Array) -> tuple[Array, ...]:
    return values.astype(np.int8).reshape(x.shape), scale[..., 0].astype(np.float16)


def bytes_as_avx2(node: Node, x: Array) -> tuple[Array, ...]:
    """As ggml's quantize_row_q8_0 for matrix products: 127 / amax, and the instruction that rounds ties to even."""
    amax = np.abs(blocks_of(x)).max(axis=-1, keepdims=True)
    factor = np.where(amax > 0, f32(127) / amax, f32(0))
    return as_bytes(np.rint(blocks_of(x) * factor), byte_scale(x), x)


def bytes_over_scale(node: Node, x: Array) -> tuple[Array, ...]:
    scale = byte_scale(x)
    return as_bytes(np.rint(np.where(scale > 0, blocks_of(x) / scale, f32(0))), scale, x)


def bytes_over_stored(node: Node, x: Array) -> tuple[Array, ...]:
    """Over the scale that a reader finds."""
    stored = byte_scale(x).astype(np.float16).astype(f32)
    quotient = np.where(stored > 0, blocks_of(x) / stored, f32(0))
    return as_bytes(np.rint(quotient).clip(-127, 127), stored, x)


def bytes_of_reciprocal(node: Node, x: Array) -> tuple[Array, ...]:
    """1 / 127 is a constant."""
    scale = np.abs(blocks_of(x)).max(axis=-1, keepdims=True) * (f32(1) / f32(127))
    return as_bytes(np.rint(blocks_of(x) * one_over(scale)), scale, x)


def nibbles(x: Array, to_sum: Callable[[Array, Array], Array], most: int = 15) -> tuple[Array, ...]:
    place = np.abs(blocks_of(x)).argmax(axis=-1, keepdims=True)
    scale = np.take_along_axis(blocks_of(x), place, axis=-1) / f32(-8)
    found = np.minimum(np.trunc(to_sum(blocks_of(x), one_over(scale))).astype(np.int64), most) & 15
    return found.astype(ml_dtypes.uint4).reshape(x.shape), scale[..., 0].astype(np.float16)


def fused_nibbles(node: Node, x: Array) -> tuple[Array, ...]:
    """As gguf-py at 150f157: float64 stands in for a fused multiply-add."""
    return nibbles(x, lambda own, factor: (own.astype(np.float64) * factor.astype(np.float64) + 8.5).astype(f32))


def nibbles_of_even_ties(node: Node, x: Array) -> tuple[Array, ...]:
    return nibbles(x, lambda own, factor: np.rint(own * factor) + f32(8))


def wrapping_nibbles(node: Node, x: Array) -> tuple[Array, ...]:
    return nibbles(x, lambda own, factor: own * factor + f32(8.5), most=16)


def positive_nibbles(node: Node, x: Array) -> tuple[Array, ...]:
    """Of two numbers of greatest magnitude the positive one, as max(x) >= -min(x) has it."""
    low, high = blocks_of(x).min(axis=-1), blocks_of(x).max(axis=-1)
    elements, _ = in_float32(node, x)
    return elements, (np.where(high >= -low, high, low) / f32(-8)).astype(np.float16)


EVEN = {"round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
BOXES: list[tuple[Run, str, str, dict[str, str]]] = [
    (bytes_as_avx2, "int8", "elements", {"scaling": "over-amax", **EVEN}),
    (bytes_over_scale, "int8", "elements", {"scaling": "divide", **EVEN}),
    (bytes_over_stored, "int8", "elements", {"scaling": "divide-by-stored", **EVEN}),
    (bytes_of_reciprocal, "int8", "scales", {"scaling": "reciprocal"}),
    (fused_nibbles, "uint4", "elements", {"precision": "product-not-rounded"}),
    (nibbles_of_even_ties, "uint4", "elements", EVEN),
    (wrapping_nibbles, "uint4", "elements", {"saturation": "wrap"}),
    (positive_nibbles, "uint4", "scales", {"amax": "positive"}),
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("box", "kind", "output", "wanted"), BOXES)
def test_the_way_to_an_output_is_named(box: Run, kind: str, output: str, wanted: dict[str, str]) -> None:
    found = audits_of(box, kind)[output]
    assert found["semantics"] == plain(kind)[output] | wanted


def verdicts(run: Run, kind: str) -> dict[str, tuple[str, list[str]]]:
    """Of the elements, by document."""
    found = {}
    for stage, answer in staged_answers(box_of(run, kind), node_of(kind)):  # type: ignore[arg-type]
        if stage.output == "elements":
            for row in judged_documents(answer.inference, STAGED_AUTHORITIES[ID][stage.output], by_path=False):
                found[row["id"]] = (row["verdict"], row["facets"])
    return found


def test_boxes_meet_or_contradict_documents() -> None:
    right = verdicts(in_float32, "uint4")
    assert right["ggml-q4_0"] == ("meets", []) and right["gguf-py-q4_0"] == ("contradicts", ["precision"])
    assert right["ggml-q8_0"][0] == right["gguf-py-q8_0"][0] == "silent"
    fused = verdicts(fused_nibbles, "uint4")
    assert fused["ggml-q4_0"] == fused["gguf-py-q4_0"] == ("meets", [])
    assert verdicts(bytes_as_avx2, "int8")["ggml-q8_0"][0] == "contradicts"
