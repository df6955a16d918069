"""What documents forbid, tried: a backend should say so. What it gives instead is recorded, never a discrepancy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import Outcome
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

MOST_SHOWN = 4  # results of an accepted call


class Runs(Protocol):
    name: str
    version: str
    operators: frozenset[str] | None

    def run_batch(self, cases: Sequence[Case], keep: Keep) -> list[Outcome]: ...


@dataclass(frozen=True)
class Forbidden:
    """A call that a clause excludes: a valid node, what is changed of it, and the shape of each input (filled with 1).

    `values` are inputs that are to hold something else.
    """

    operator: str
    clause: str
    what: str
    shapes: tuple[tuple[int, ...], ...]
    node: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 0
    output: str = ""
    values: Mapping[int, float] = field(default_factory=dict)

    def case(self, number: int) -> Case:
        made = make_node(self.operator, **self.node)
        node = replace(
            made,
            attributes=MappingProxyType({**made.attributes, **self.attributes}),
            opset=self.opset or made.opset,
            outputs=tuple(replace(t, dtype=np.dtype(self.output or t.dtype)) for t in made.outputs),
        )
        inputs = (
            np.full(shape, self.values.get(place, 1), np.float64).astype(kind.dtype)
            for place, (shape, kind) in enumerate(zip(self.shapes, node.inputs, strict=True))
        )
        return Case(f"forbidden/{self.operator}/{number}", node, tuple(inputs))


INT8 = {"quantized": "int8"}
EVEN = "ROUND_NEAREST_TOWARD_EVEN"
S, V2, V3, M22, M24 = (), (2,), (3,), (2, 2), (2, 4)


def ngraph(operator: str, prefix: str) -> list[Forbidden]:
    def node(*axes: int) -> dict[str, Any]:
        mode = {"round_mode": EVEN} if operator == "ngraph.Quantize" else {}
        return {**INT8, "attributes": {"axes": axes, **mode}}

    return [
        Forbidden(operator, f"{prefix}-A2", "3 scales for an axis of size 2", (M22, V3, V3), node(0)),
        Forbidden(operator, f"{prefix}-A2", "2 scales for no axes", (M22, V2, V2), node()),
        Forbidden(operator, f"{prefix}-A2", "a zero point for each of 2 slices, and one scale", (M22, S, V2), node(0)),
        Forbidden(operator, f"{prefix}-A1", "axis 2 of an input with two axes", (M22, V2, V2), node(2)),
    ]


def onnx(operator: str, prefix: str) -> list[Forbidden]:
    def node(**attributes: Any) -> dict[str, Any]:
        return {**INT8, "attributes": attributes}

    old = {"quantized": "int4", "attributes": {"axis": 0}}
    return [
        Forbidden(operator, f"{prefix}-A1", "axis 2 of an input with two axes", (M22, V2, V2), node(axis=2)),
        Forbidden(operator, f"{prefix}-A1", "axis -3 of an input with two axes", (M22, V2, V2), node(axis=-3)),
        Forbidden(operator, f"{prefix}-G2", "3 scales for an axis of size 2", (M22, V3, V3), node(axis=0)),
        Forbidden(operator, f"{prefix}-G3", "2 scales and one zero point", (M22, V2, S), node(axis=0)),
        Forbidden(operator, f"{prefix}-G3", "one scale and 2 zero points", (M22, S, V2), node(axis=0)),
        Forbidden(
            operator, f"{prefix}-B1", "3 blocks of 2 in an axis of size 4", (M24, (2, 3), (2, 3)),
            node(axis=1, block_size=2),
        ),
        Forbidden(operator, f"{prefix}-V1", "int4 before operator set 21", (M22, S, S), old, opset=13),
    ]  # fmt: skip


def tensorflow_fake(operator: str, prefix: str, limits: tuple[int, ...]) -> list[Forbidden]:
    shapes, zero = (M22, limits, limits), {1: 0.0}
    return [
        Forbidden(operator, f"{prefix}-N1", "num_bits 1", shapes, attributes={"num_bits": 1}, values=zero),
        Forbidden(operator, f"{prefix}-N1", "num_bits 17", shapes, attributes={"num_bits": 17}, values=zero),
        Forbidden(operator, f"{prefix}-G1", "ranges of size 3 for inputs of 2 by 2", (M22, V3, V3), values=zero),
    ]


def quantize_v2(clause: str, what: str, shapes: Any, values: Any = None, **attributes: Any) -> Forbidden:
    return Forbidden("tensorflow.QuantizeV2", clause, what, shapes, INT8, attributes, values=values or {1: 0.0})


def dequantize(clause: str, what: str, shapes: Any, **attributes: Any) -> Forbidden:
    return Forbidden("tensorflow.Dequantize", clause, what, shapes, INT8, attributes, values={1: 0.0})


FORBIDDEN: tuple[Forbidden, ...] = (
    *ngraph("ngraph.Quantize", "NGQ"),
    *ngraph("ngraph.Dequantize", "NGD"),
    *onnx("onnx.QuantizeLinear", "ONQ"),
    Forbidden(
        "onnx.QuantizeLinear", "ONQ-O1", "output_dtype uint8 and an int8 zero point", (M22, S, S), INT8,
        {"output_dtype": "uint8"}, output="uint8",
    ),
    *onnx("onnx.DequantizeLinear", "OND"),
    *(
        Forbidden("openvino.FakeQuantize", "OVF-L1", f"levels {n}", (M22, S, S, S, S), {"attributes": {"levels": 2}},
                  {"levels": n}, values={1: 0.0, 3: 0.0})
        for n in (-1, 0, 1)
    ),
    Forbidden("openvino.FakeQuantize", "OVF-A1", "limits of 3 for X of 2 by 2", (M22, V3, V3, V3, V3),
              {"attributes": {"levels": 256}}, values={1: 0.0, 3: 0.0}),
    Forbidden("openvino.FakeQuantize", "OVF-A2", "auto_broadcast none and scalar limits", (M22, S, S, S, S),
              {"attributes": {"levels": 256, "auto_broadcast": "none"}}, values={1: 0.0, 3: 0.0}),
    quantize_v2("TFQ-R3", "HALF_TO_EVEN with MIN_COMBINED", (M22, S, S), round_mode="HALF_TO_EVEN"),
    quantize_v2("TFQ-A2", "3 ranges for an axis of size 2", (M22, V3, V3), axis=0),
    quantize_v2("TFQ-A3", "2 ranges without axis", (M22, V2, V2)),
    quantize_v2("TFQ-A2", "axis 2 of an input with two axes", (M22, V2, V2), axis=2),
    dequantize("TFD-A1", "3 ranges for an axis of size 2", (M22, V3, V3), axis=0),
    dequantize("TFD-A2", "2 ranges without axis", (M22, V2, V2)),
    dequantize("TFD-A1", "axis 2 of an input with two axes", (M22, V2, V2), axis=2),
    Forbidden("tensorflow.Dequantize", "TFD-T3", "bfloat16 with SCALED", (M22, S, S), {**INT8, "real": "bfloat16"},
              {"mode": "SCALED"}, values={1: 0.0}),
    *tensorflow_fake("tensorflow.FakeQuantWithMinMaxVars", "TFF", ()),
    *tensorflow_fake("tensorflow.FakeQuantWithMinMaxVarsPerChannel", "TFC", (2,)),
    Forbidden("tensorflow.FakeQuantWithMinMaxVarsPerChannel", "TFC-G2", "inputs with five axes",
              ((1, 1, 1, 1, 2), V2, V2), values={1: 0.0}),
)  # fmt: skip


def forbidden_rows(backends: Sequence[Runs], operators: Sequence[str]) -> list[dict[str, Any]]:
    """For each backend and forbidden call of the operators that it claims: accepted, rejected, crash or timeout."""
    rows = []
    for backend in backends:
        chosen = [one for one in FORBIDDEN if one.operator in operators]
        chosen = [one for one in chosen if backend.operators is None or one.operator in backend.operators]
        cases = [one.case(number) for number, one in enumerate(chosen)]
        outcomes = backend.run_batch(cases, lambda case, outcome: None) if cases else []
        rows += [row_of(backend, one, outcome) for one, outcome in zip(chosen, outcomes, strict=True)]
    return rows


def row_of(backend: Runs, one: Forbidden, outcome: Outcome) -> dict[str, Any]:
    answer = {"ok": "accepted", "crash": "crash", "timeout": "timeout"}.get(outcome.status, "rejected")
    got = [str(value) for output in outcome.outputs[:1] for value in output.reshape(-1)[:MOST_SHOWN]]
    found = {"backend": backend.name, "version": backend.version, "operator": one.operator, "clause": one.clause}
    return found | {"what": one.what, "answer": answer, "message": outcome.message, "got": " ".join(got)}
