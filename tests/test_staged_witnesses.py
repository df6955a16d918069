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
GGUF, BACK = "gguf.Quantize", "gguf.Dequantize"
Pairs = Sequence[set[str]]
# Ids that no input tells apart, given what comes before.
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
TENSOR = "global_amax"
# A bfloat16 has few bits beside those of a scale: orders of steps are mostly the same.
WAYS: Pairs = [{"direct", "bfloat16", "float16", "reciprocal", "divide"}]
ORDERS: Pairs = [{"factor-then-quotient", "factor-then-reciprocal"}]
ORDERS_OF_SCALES: Pairs = [
    {"encoding-first", "decoding-first", "sixth-over-factor", "sixth-then-factor"},
    {"times-sixth", "factor-over-six", "factor-then-sixth", "factor-times-sixth", "over-six-factors", "exact"},
]
NODES: tuple[tuple[str, str, str, str, dict[str, Pairs]], ...] = (
    (DYNAMIC, "float32", "uint8", "", {"y_zero_point": [{"saturate", "wrap"}], "y": NEAR}),
    (SMALL, "float32", "float4_e2m1fn", "", {"scales": ONE_SIGN}),
    (SMALL, "float32", "float4_e2m1fn", TENSOR, {"scales": ONE_SIGN}),
    (SMALL, "bfloat16", "float4_e2m1fn", TENSOR, {"scales": [*ONE_SIGN, *ORDERS_OF_SCALES], "elements": ORDERS}),
    (SMALL, "bfloat16", "float4_e2m1fn", "", {"scales": [*ONE_SIGN, *FEW_BITS], "elements": WAYS}),
    (BLOCKS, "float32", "float8_e4m3fn", "floor", {}),
    (BLOCKS, "float32", "float8_e4m3fn", "even", {"elements": NEVER_BEYOND}),
    (BLOCKS, "bfloat16", "float6_e2m3fn", "floor", {"scales": LOGARITHMS, "elements": FEW_BITS}),
    (BLOCKS, "float32", "float4_e2m1fn", "rceil", {}),
    (BLOCKS, "float32", "int8", "floor", {}),
    (GGUF, "float32", "int8", "", {"scales": ONE_SIGN}),
    (GGUF, "float32", "uint4", "", {}),
    (BACK, "int8", "float32", "", {}),
    (BACK, "uint4", "float32", "", {}),
)


def stages_of(node: Node) -> list[Stage]:
    return list(STAGED[node.operator].stages(node, documented_run(node)))


def separating(node: Node) -> list[Case]:
    """The golden vectors of a node whose inputs separate semantics."""
    cases = read_cases(VECTORS / f"{node.operator}-{node.input_type}-{node.output_type}.json")
    return [case for case in cases if "separating" in case.id and same_mode(case.node, node)]


def same_mode(one: Node, other: Node) -> bool:
    if [tensor.name for tensor in one.inputs] != [tensor.name for tensor in other.inputs]:
        return False
    return one.operator != BLOCKS or one.value("scaling_mode") == other.value("scaling_mode")


@pytest.mark.few(6)
@pytest.mark.parametrize(("operator", "source", "target", "mode", "same"), NODES)
def test_every_two_values_are_told_apart_by_a_golden_vector(
    operator: str, source: str, target: str, mode: str, same: dict[str, Pairs]
) -> None:
    """`mode` is MXQuantize's attribute, or the optional input of NVFP4Quantize."""
    asked = {"scaling_mode": mode} if mode and operator == BLOCKS else {}
    kinds = (target, source) if operator == BACK else (source, target)
    node = audited_node(operator, asked, *kinds, 0, mode if operator == SMALL else "")
    cases = separating(node)
    for stage in stages_of(node):
        semantics, pairs = plain_semantics(stage.arithmetic), separated_pairs(stage)
        for pair in pairs:
            values = zip(semantics[pair.first], semantics[pair.second], strict=True)
            unlike = {value.id for one, other in values if one is not other for value in (one, other)}
            assert pair.witness is not None or any(unlike <= alike for alike in same.get(stage.output, ())), unlike
        told = [pair.witness for pair in pairs if pair.witness is not None]
        assert len({tuple(one.tobytes() for one in (witness.x, *witness.others)) for witness in told}) >= (
            4 if operator == BACK else 5
        )
        assert all(is_shown(stage, witness, cases) for witness in told)


def is_shown(stage: Stage, witness: Probe, cases: Sequence[Case]) -> bool:
    """Whether a vector has the numbers of the call that shows a witness; zeros fill blocks."""
    ((x, *others),) = stage.calls(witness)
    alike = [case for case in cases if all(map(np.array_equal, case.inputs[1:], others))]
    wanted = {*x.astype(np.float64).reshape(-1).tolist()} - {0.0}
    return any(wanted <= {*case.inputs[0].astype(np.float64).reshape(-1).tolist()} for case in alike)


@pytest.mark.slow
def test_the_stored_witnesses_are_those_of_the_stages() -> None:
    """After a change: python tests/make_witnesses.py, then tiebreak vectors build golden/vectors."""
    stored = {(operator, kind) for operator, kinds in witnesses().items() if operator in STAGED for kind in kinds}
    found = set[tuple[str, str]]()
    for node in staged_nodes():
        chosen = node.input_type == "float32" and node.output_type in ("uint8", "int8", "uint4", "float4_e2m1fn")
        chosen |= node.operator == BACK
        kinds = dict(staged_rows(node)) if chosen else {}
        for kind, rows in kinds.items():
            assert witnesses()[node.operator][kind] == rows and all(codes for *_, codes in rows)
            found.add((node.operator, kind))
    assert found <= stored and len(stored) == 3 + 2 + 2 * 2 + 2 * 2 * 2 + 2 * (10 * 4 + 1)
