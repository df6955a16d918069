"""Audits of gguf.Quantize: right blocks are named and never accused, wrong ones are named or fit nothing."""

from __future__ import annotations

from typing import Any

import pytest
from test_staged_audit import Backend
from wrong_gguf_quantize import RIGHT, WRONG

from tiebreak.conformance.audit.operators import audited_node
from tiebreak.conformance.audit.staged import staged_data
from tiebreak.golden.nodes import Node
from wrong_model import WrongBackend

ID = "gguf.Quantize"
PLAIN_SCALES = {
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
Run = Any  # of a node and x: elements and scales


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


@pytest.mark.few(6)
@pytest.mark.parametrize(("wrong", "kind"), [(one, kind) for one in WRONG for _, kind in one.types])
def test_no_wrong_block_passes_for_a_right_one(wrong: WrongBackend, kind: str) -> None:
    found, wanted = audits_of(wrong.run, kind), plain(kind)
    unlike = [name for name, one in found.items() if one["path_dependent"] or one["semantics"] != wanted[name]]
    assert unlike, found
