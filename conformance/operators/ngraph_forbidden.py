"""The calls that the documents of ngraph.Quantize and ngraph.Dequantize forbid in the same words."""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.operators.forbidden_call import INT8, M22, V2, V3, ForbiddenCall, S


def forbidden_axes(prefix: str, **mode: str) -> tuple[ForbiddenCall, ...]:
    """Calls with wrong axes. `prefix` is that of the operator's clause ids, `mode` its attributes besides axes."""

    def node(*axes: int) -> dict[str, Any]:
        return {**INT8, "attributes": {"axes": axes, **mode}}

    return (
        ForbiddenCall(f"{prefix}-A2", "3 scales for an axis of size 2", (M22, V3, V3), node(0)),
        ForbiddenCall(f"{prefix}-A2", "2 scales for no axes", (M22, V2, V2), node()),
        ForbiddenCall(f"{prefix}-A2", "a zero point for each of 2 slices, and one scale", (M22, S, V2), node(0)),
        ForbiddenCall(f"{prefix}-A1", "axis 2 of an input with two axes", (M22, V2, V2), node(2)),
        ForbiddenCall(f"{prefix}-A1", "axis -1", (M22, V2, V2), node(1), {"axes": (-1,)}),
        ForbiddenCall(f"{prefix}-A2", "1 scale for an axis of size 2", (M22, (1,), (1,)), node(0)),
        ForbiddenCall(f"{prefix}-A2", "2 scales for two axes", (M22, V2, V2), node(0, 1)),
    )
