"""Testing `tensorflow.QuantizeAndDequantizeV3`: as V2 and V4, with the number of bits as an input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tiebreak.conformance.operators import tensorflow_quantize_and_dequantize_drawn as drawn
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    Cause,
    Mistake,
    OperatorUnderTest,
    in_any_problem,
    never_elementwise,
)
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.semantics.round_trip import role_of_round_trip, round_trip
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples.model import Tensor, scalar


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    node, tensors = drawn.draw(draw, replace(wanted, round_mode=EVEN))
    attributes = {name: value for name, value in node["attributes"].items() if name not in ("num_bits", "round_mode")}
    bits = draw(st.sampled_from((0, 63))) if draw(st.integers(0, 15)) == 0 else node["attributes"]["num_bits"]
    return {**node, "attributes": attributes}, (*tensors, scalar("int32", bits))


def as_latest(node: Node, num_bits: int) -> Node:
    """The same question to the version whose num_bits is an attribute."""
    said = {**node.attributes, "num_bits": num_bits, "range_given": node.value("range_given")}
    return make_node("tensorflow.QuantizeAndDequantizeV4", real=node.real.name, attributes=said)


def of_width(run: Mistake) -> Mistake:
    """A backend of the version whose num_bits is an attribute, for this one."""

    def with_bits(node: Node, x: Array, low: Array, high: Array, num_bits: Array) -> tuple[Array, ...]:
        if not 1 <= num_bits <= 62:
            raise ValueError("no integers of that width")
        return run(as_latest(node, int(num_bits)), x, low, high)

    return with_bits


def of_widths(table: Iterable[tuple[Cause, Mistake]]) -> Iterator[tuple[Cause, Mistake]]:
    """The mistakes of a table that this version can make: it has one rounding."""
    return ((cause, of_width(run)) for cause, run in table if cause.role != "half-up")


TESTED = OperatorUnderTest(
    id="tensorflow.QuantizeAndDequantizeV3",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=tuple(of_widths(MISTAKES)),
    pairs=tuple(of_widths(PAIRS)),
    path_probes=drawn.even_probes(8),
    axis=Axis("axis", spread=2),
    forbidden_calls=(
        *drawn.forbidden_types("TQC", S),
        ForbiddenCall("TQC-N1", "num_bits of float32", (*drawn.RANGED, S), kinds={3: "float32"}, values={3: 8.0}),
    ),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        round_trip, never_elementwise, defaults={"range_given": True}, role_of=role_of_round_trip
    ),
    monotone=in_any_problem,
)
