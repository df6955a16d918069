"""Testing `ngraph.Quantize`: any of the nine modes, any set of axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.elementwise import quotient_operands
from tiebreak.conformance.operators.model import Absent, AuditedSemantics, Axis, OperatorUnderTest, PlainNodes
from tiebreak.conformance.operators.ngraph_forbidden import forbidden_axes
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities import OF_QUANTIZE
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.golden.rounding import EVEN, ROUND_MODES

AWAY = "ROUND_NEAREST_TOWARD_INFINITY"


def draw_plain_attributes(draw: st.DrawFn, rank: int, round_mode: str | None) -> dict[str, Any]:
    mode = round_mode or draw(st.sampled_from(tuple(ROUND_MODES)))
    return {"round_mode": mode, "axes": draw(st.sets(st.integers(0, rank - 1)).map(sorted)) if rank else []}


def varying_axes(draw: st.DrawFn, given: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(given["axes"])


# Values for runtimes that have neither a zero point nor a division of their own.
PLAIN_VALUES = tuple(value if value != value else value * Fraction(1, 4) / STEP for value in probe_values())

INT8_EVEN = {"quantized": "int8", "attributes": {"round_mode": EVEN}}

TESTED = OperatorUnderTest(
    id="ngraph.Quantize",
    plain_nodes=PlainNodes(draw_plain_attributes, varying_axes),
    draw=Absent("all of its nodes are plain ones"),
    mistakes=Absent("its mistakes are those of every quantizer, which quantize_mistakes.py has"),
    path_probes=(
        PathProbe(
            "even-uint8", {"quantized": "uint8", "attributes": {"round_mode": EVEN}}, (STEP, 101), probe_values(), 4
        ),
        PathProbe(
            "away-int8", {"quantized": "int8", "attributes": {"round_mode": AWAY}}, (Fraction(1, 4), 0), PLAIN_VALUES
        ),
        *(
            PathProbe(f"{found.name}-int8", INT8_EVEN, (found.scale, 3), multiples(found.scale), constants_only=True)
            for found in scale_classes()
        ),
    ),
    axis=Axis("axes"),
    forbidden_calls=forbidden_axes("NGQ", round_mode=EVEN),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        QuantizeArithmetic, quotient_operands, defaults={"axes": (), "round_mode": EVEN}, authorities=OF_QUANTIZE
    ),
)
