"""Outputs that come in stages: golden vectors tell every two of the plainest arithmetics of each output apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from auditing import documented_run
from make_witnesses import separated_pairs, staged_nodes, staged_rows

from tiebreak.conformance.audit.matrix import plain_semantics
from tiebreak.conformance.audit.operators import STAGED, audited_node
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.stages import Stage
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.vector_inputs.by_witness import witnesses
from tiebreak.golden.vectorfile import VECTORS, read_cases

DYNAMIC, BLOCKS, SMALL = "onnx.DynamicQuantizeLinear", "ocp.MXQuantize", "nvidia.NVFP4Quantize"
Pairs = Sequence[set[str]]
# Pairs of ids that no input tells apart, given what comes before.
ONE_SIGN: Pairs = [  # no scale is negative
    {"ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_UPWARD"},
    {"ROUND_NEAREST_TOWARD_ZERO", "ROUND_NEAREST_DOWNWARD"},
    {"ROUND_TOWARD_INFINITY", "ROUND_UP"},
    {"ROUND_TOWARD_ZERO", "ROUND_DOWN"},
]
FEW_BITS: Pairs = [{one, other} for one, other in combinations(("direct", "bfloat16", "float16"), 2)]
LOGARITHMS: Pairs = [{one, f"{one}-logarithm"} for one in ("floor", "ceil", "rceil")]  # bfloat16 is never near enough
NEVER_BEYOND: Pairs = [  # with these rules no quotient is beyond the largest element
    {one, other}
    for one, other in combinations(("saturate", "overflow", "overflow-after-step", "overflow-of-number", "wrap"), 2)
]
NEAR: Pairs = [  # no input is far beyond its own range
    {"exact", "float64"},
    *({one, other} for one, other in combinations(("saturate", "int32", "int32-then-wider-sum", "int64"), 2)),
    *({one, other} for one, other in combinations(("wrap", "sum-int32-then-wrap", "sum-int64-then-wrap"), 2)),
]
NODES: tuple[tuple[str, str, str, str, dict[str, Pairs]], ...] = (
    (DYNAMIC, "float32", "uint8", "", {"y_zero_point": [{"saturate", "wrap"}], "y": NEAR}),
    (SMALL, "float32", "float4_e2m1fn", "", {"scales": ONE_SIGN}),
    (SMALL, "bfloat16", "float4_e2m1fn", "", {"scales": [*ONE_SIGN, *FEW_BITS], "elements": FEW_BITS}),
    (BLOCKS, "float32", "float8_e4m3fn", "floor", {}),
    (BLOCKS, "float32", "float8_e4m3fn", "even", {"elements": NEVER_BEYOND}),
    (BLOCKS, "bfloat16", "float6_e2m3fn", "floor", {"scales": LOGARITHMS, "elements": FEW_BITS}),
    (BLOCKS, "float32", "float4_e2m1fn", "rceil", {}),
    (BLOCKS, "float32", "int8", "floor", {}),
)


def stages_of(node: Node) -> list[Stage]:
    return list(STAGED[node.operator].stages(node, documented_run(node)))


def separating(node: Node) -> list[Case]:
    """The golden vectors of a node whose inputs separate semantics."""
    cases = read_cases(VECTORS / f"{node.operator}-{node.input_type}-{node.output_type}.json")
    return [case for case in cases if "separating" in case.id and same_mode(case.node, node)]


def same_mode(one: Node, other: Node) -> bool:
    return one.operator != BLOCKS or one.value("scaling_mode") == other.value("scaling_mode")


@pytest.mark.parametrize(("operator", "source", "target", "mode", "same"), NODES)
def test_every_two_values_are_told_apart_by_a_golden_vector(
    operator: str, source: str, target: str, mode: str, same: dict[str, Pairs]
) -> None:
    node = audited_node(operator, {"scaling_mode": mode} if mode else {}, source, target, 0)
    cases = separating(node)
    for stage in stages_of(node):
        semantics, pairs = plain_semantics(stage.arithmetic), separated_pairs(stage)
        for pair in pairs:
            values = zip(semantics[pair.first], semantics[pair.second], strict=True)
            unlike = {value.id for one, other in values if one is not other for value in (one, other)}
            assert pair.witness is not None or unlike in same.get(stage.output, ()), unlike
        told = [pair.witness for pair in pairs if pair.witness is not None]
        assert len({witness.x.tobytes() for witness in told}) >= 5
        assert all(is_shown(stage, witness, cases) for witness in told)


def is_shown(stage: Stage, witness: Probe, cases: Sequence[Case]) -> bool:
    """Whether a vector has the numbers of the call that shows a witness; zeros fill blocks."""
    (call,) = stage.calls(witness)
    wanted = {*call[0].astype(np.float64).reshape(-1).tolist()} - {0.0}
    return any(wanted <= {*case.inputs[0].astype(np.float64).reshape(-1).tolist()} for case in cases)


def test_the_stored_witnesses_are_those_of_the_stages() -> None:
    """After a change: python tests/make_witnesses.py, then tiebreak vectors build golden/vectors."""
    stored = {(operator, kind) for operator, kinds in witnesses().items() if operator in STAGED for kind in kinds}
    found = set[tuple[str, str]]()
    for node in staged_nodes():
        chosen = node.input_type == "float32" and node.output_type in ("uint8", "int8", "float4_e2m1fn")
        kinds = dict(staged_rows(node)) if chosen else {}
        for kind, rows in kinds.items():
            assert witnesses()[node.operator][kind] == rows and all(codes for (codes,) in rows)
            found.add((node.operator, kind))
    assert found <= stored and len(stored) == 3 + 2 * 2 + 2 * (10 * 4 + 1)
