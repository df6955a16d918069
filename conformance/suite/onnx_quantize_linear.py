"""Generated `onnx.QuantizeLinear`: per tensor, or per axis counted from the front, the back or by default."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tiebreak.conformance.suite.layout import Layout
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_quantize_linear import DEFAULT_AXIS


def attributes(draw: st.DrawFn, rank: int, round_mode: str | None) -> dict[str, Any]:
    return {"axis": draw(st.integers(-rank, rank - 1))} if rank and draw(st.booleans()) else {}


def varying_axes(draw: st.DrawFn, node: Node, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Below rank 2 per tensor, as the document has it; without an axis attribute sometimes so too."""
    if len(shape) < 2 or ("axis" not in node.attributes and not draw(st.booleans())):
        return ()
    return (int(node.attributes.get("axis", DEFAULT_AXIS)) % len(shape),)


LAYOUT = Layout(attributes, varying_axes)
