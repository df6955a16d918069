"""Audits of gguf.Dequantize: right blocks are named, wrong ones are named or fit nothing; the library itself."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner
from test_staged_audit import Backend
from wrong_gguf_dequantize import BYTES, RIGHT, WRONG

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import audited_node
from tiebreak.conformance.audit.staged import staged_data
from tiebreak.conformance.semantics.gguf_dequantize import BlockDequantizeArithmetic
from tiebreak.conformance.semantics.model import ids_of
from tiebreak.golden import oracle
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators.gguf_dequantize import BLOCK
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from wrong_model import WrongBackend

ID, KINDS = "gguf.Dequantize", ("int8", "uint4")
PLAIN = {"scale": "kept", "precision": "float32", "position": "difference-first"}
OFFSETS = {"int8": "0", "uint4": "8"}
f32, f16, bf16 = np.float32, np.float16, ml_dtypes.bfloat16


def node_of(kind: str) -> Node:
    return audited_node(ID, {}, "", kind, 0)


def semantics_of_box(run: object, kind: str) -> tuple[dict[str, str], bool]:
    node = node_of(kind)
    (found,) = staged_data(Backend(lambda x, scales: run(node, x, scales)), node)  # type: ignore
    return found["semantics"], bool(found["path_dependent"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("right", RIGHT, ids=lambda one: one.name)
def test_right_blocks_are_named(right: WrongBackend, kind: str) -> None:
    assert semantics_of_box(right.run, kind) == ({**PLAIN, "offset": OFFSETS[kind]}, False)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [(one, kind) for one in WRONG for kind, _ in one.types],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_no_wrong_block_passes_for_a_right_one(wrong: WrongBackend, kind: str) -> None:
    found, by_path = semantics_of_box(wrong.run, kind)
    assert by_path or found != {**PLAIN, "offset": OFFSETS[kind]}


def spread(scales: Array) -> Array:
    return np.repeat(scales, BLOCK, axis=-1)


def in_half(node: Node, x: Array, scales: Array) -> tuple[Array, ...]:
    factor = spread(scales)
    return ((x.astype(f16) * factor - f16(8 if node.input_type == "uint4" else 0) * factor).astype(f32),)


def in_bfloat(node: Node, x: Array, scales: Array) -> tuple[Array, ...]:
    difference = x.astype(f32) - f32(8 if node.input_type == "uint4" else 0)
    return (np.multiply(difference.astype(bf16), spread(scales).astype(bf16)).astype(f32),)


def without_offset(node: Node, x: Array, scales: Array) -> tuple[Array, ...]:
    return (x.astype(f32) * spread(np.abs(scales)).astype(f32),)


def tiny_lost(node: Node, x: Array, scales: Array) -> tuple[Array, ...]:
    kept = np.where(np.abs(scales) < f16(2.0**-14), f16(0), scales)
    return ((x.astype(f32) - f32(7.5)) * spread(kept).astype(f32),)


@pytest.mark.parametrize(
    ("run", "kind", "unlike"),
    [
        (in_half, "int8", {"precision": "float16"}),
        (in_half, "uint4", {"precision": "float16", "position": "distributed"}),
        (in_bfloat, "int8", {"precision": "bfloat16"}),
        (in_bfloat, "uint4", {"precision": "bfloat16"}),
        (without_offset, "uint4", {"offset": "0", "scale": "without-sign"}),
        (tiny_lost, "uint4", {"offset": "7.5", "scale": "scales-flushed"}),
    ],
)
def test_what_a_box_does_is_named(run: object, kind: str, unlike: dict[str, str]) -> None:
    assert semantics_of_box(run, kind) == ({**PLAIN, "offset": OFFSETS[kind]} | unlike, False)


@pytest.mark.parametrize(("kind", "count"), [("int8", 10), ("uint4", 42)])
def test_every_two_combinations_differ_on_the_first_probes(kind: str, count: int) -> None:
    arithmetic = BlockDequantizeArithmetic(make_node(ID, real="float32", quantized=kind))
    every, probes = arithmetic.candidates.all, list(arithmetic.first_probes())
    told = {b"".join(next(iter(arithmetic.predict(p, [one]))).tobytes() for p in probes): one for one in every}
    assert len(told) == len(every) == count, [ids_of(one) for one in every if one not in told.values()]


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_document_says_is_the_oracles(kind: str) -> None:
    arithmetic, compared = BlockDequantizeArithmetic(node_of(kind)), 0
    for probe in arithmetic.first_probes():
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        filled = np.resize(probe.x, (1, -(-probe.x.size // BLOCK) * BLOCK))
        scales = np.full((1, filled.size // BLOCK), probe.others[0], f16)
        (problem,) = problems_of(Case("", node_of(kind), (filled, scales)))
        codes, _ = oracle.solve(problem, working=True)
        shown = np.asarray(codes)[: probe.x.size]
        zeros = predicted == 0
        assert np.array_equal(predicted[~zeros], shown[~zeros])
        compared += int((~zeros).sum())
    assert compared > 150


def test_the_library_is_named() -> None:
    pytest.importorskip("gguf")
    for kind, _ in (*BYTES, ("uint4", "float32")):
        run = CliRunner().invoke(main, ["audit", "gguf", "--operator", ID, "--type", kind, "--json"])
        (stage,) = json.loads(run.stdout)["stages"]
        assert stage["semantics"] == {**PLAIN, "offset": OFFSETS[kind]}
