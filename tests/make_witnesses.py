"""Writes golden/vector_inputs/witnesses.json from the separation matrices: `python tests/make_witnesses.py`, then
`tiebreak vectors build golden/vectors`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from auditing import documented_run

from tiebreak.conformance.audit.matrix import Separation, separations
from tiebreak.conformance.audit.operators import STAGED, arithmetic_of, audited_node
from tiebreak.conformance.audit.stored import witnesses_key
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.stages import Stage
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.onnx_cast import SMALL, WIDE_REALS
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.samples import (
    ocp_mx_quantize,
    onnx_cast,
    openvino_fake_quantize,
    tensorflow_quantize_v2,
    tflite_requantize,
    tosa_rescale,
)
from tiebreak.golden.vector_inputs.by_witness import WITNESSES, witness_kind

BYTES = ("uint8", "int8")
PRODUCTS = {
    "onnx.QLinearMatMul": tuple(("float32", kind) for kind in BYTES),
    "onnx.QLinearConv": tuple((first, last) for first in BYTES for last in BYTES),
    "com.microsoft.QLinearMul": tuple(("float32", kind) for kind in BYTES),
    "com.microsoft.QLinearAdd": tuple(("float32", kind) for kind in BYTES),
    "com.microsoft.QGemm": tuple((kind, kind) for kind in BYTES),
    "tensorflow.UniformRequantize": (("int8", "int8"),),
}


def nodes() -> Iterator[Node]:
    """Of each operator that has both a table of semantics and vectors of its own."""
    spec = get_operator("ngraph.Quantize")
    for real in spec.real_types:
        for quantized in spec.quantized_types:
            yield audited_node(spec.id, {}, real, quantized, 0)
    spec = get_operator("openvino.FakeQuantize")
    for real in spec.real_types:
        for levels in openvino_fake_quantize.SEPARATED:
            yield audited_node(spec.id, {"levels": levels}, real, "", 0)
    spec = get_operator("tensorflow.QuantizeV2")
    for quantized in spec.quantized_types:
        for attributes in tensorflow_quantize_v2.witness_attributes(quantized).values():
            yield audited_node(spec.id, attributes, "", quantized, 0)
    for source, target in onnx_cast.FILES:
        if source in WIDE_REALS and target in SMALL:
            for attributes in onnx_cast.attributes_for(target):
                yield audited_node("onnx.Cast", attributes, source, target, 0)
    for module in (tosa_rescale, tflite_requantize):
        for source, target in module.SEPARATED:
            for asked in module.separated(source, target):
                yield audited_node(module.ID, asked, source, target, 0)
    for operator, pairs in PRODUCTS.items():
        for source, target in pairs:
            yield audited_node(operator, {}, source, target, 0)


def staged_nodes() -> Iterator[Node]:
    """Of the operators whose outputs come in stages: of each golden file, and each attribute that has a rule."""
    for operator in STAGED:
        spec = get_operator(operator)
        for source, target in spec.files:
            kinds = (target, source) if spec.family == "dequantize" else (source, target)  # the real one first
            modes = ocp_mx_quantize.modes_of(target) if operator == "ocp.MXQuantize" else ("",)
            for mode in modes:
                asked = {"scaling_mode": mode} if mode else {}
                yield from (audited_node(operator, asked, *kinds, 0, given) for given in givens(operator))


def givens(operator: str) -> tuple[str, ...]:
    """What an audit may give an operator whose outputs come in stages: nothing, and its optional input."""
    spec = get_operator(operator)
    return ("", spec.forms[0][-1]) if spec.optional_inputs else ("",)


def staged_rows(node: Node) -> Iterator[tuple[str, list[list[Any]]]]:
    """By key: the whole inputs (codes of the further ones, then of the first) that show the witnesses of a stage."""
    named = {"scaling_mode": node.value("scaling_mode")} if node.operator == "ocp.MXQuantize" else {}
    kind = witness_kind(node.input_type, node.output_type, named) + "".join(f"-{one.name}" for one in node.inputs[1:])
    for stage in STAGED[node.operator].stages(node, documented_run(node)):
        calls = [call for probe in witnesses_of_stage(stage) for call in stage.calls(probe)]
        yield (
            f"{kind}-{stage.output}",
            [[*map(code_of, others), codes_of(x).reshape(-1).tolist()] for x, *others in calls],
        )


def code_of(operand: Array) -> int:
    """The code of a scalar; of scales of blocks that of the last one, which a probe is about."""
    return int(codes_of(operand).reshape(-1)[-1])


def witnesses_of_stage(stage: Stage) -> Iterator[Probe]:
    """The witnesses of a stage's pairs, those with the same other operands in one probe."""
    found: dict[tuple[bytes, ...], dict[bytes, Probe]] = {}
    for pair in separated_pairs(stage):
        if (one := pair.witness) is not None:
            found.setdefault(tuple(other.tobytes() for other in one.others), {})[one.x.tobytes()] = one
    for own in found.values():
        probes = [*own.values()]
        if stage.elementwise or not probes[0].others:
            yield Probe(np.concatenate([one.x for one in probes]), probes[0].others)
        else:
            yield from probes


def separated_pairs(stage: Stage) -> list[Separation]:
    return separations(stage.arithmetic, whole=stage.whole)[1]


def rows(node: Node) -> list[list[Any]]:
    """[codes of the inputs after the first, codes of x], each witness once, in the matrix's order."""
    _, pairs, _ = separations(arithmetic_of(node))
    found: dict[tuple[int, ...], list[int]] = {}
    for pair in pairs:
        if pair.witness is not None:
            x, *others = (int(codes_of(array).reshape(-1)[0]) for array in (pair.witness.x, *pair.witness.others))
            own = found.setdefault(tuple(others), [])
            if x not in own:
                own.append(x)
    return [[*key, inputs] for key, inputs in found.items()]


def all_rows() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for node in nodes():
        found.setdefault(node.operator, {})[witnesses_key(node)] = rows(node)
    for node in staged_nodes():
        found.setdefault(node.operator, {}).update(staged_rows(node))
    return found


if __name__ == "__main__":
    parts = []
    for operator, kinds in all_rows().items():
        lines = [f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in kinds.items()]
        parts.append(f" {json.dumps(operator)}: {{\n" + ",\n".join(lines) + "\n }")
    WITNESSES.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
