"""Testing `torch.quantize_per_channel`: a scale and a zero point for each index of any axis."""

from __future__ import annotations

import math
from typing import Any

from tiebreak.conformance.operators import torch_quantize_drawn as drawn
from tiebreak.conformance.operators import torch_quantize_mistakes as mistakes
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, OperatorUnderTest, in_any_problem
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.operators.torch_quantize_per_channel import ID
from tiebreak.golden.operators.torch_quantize_per_tensor import TYPES
from tiebreak.golden.samples.model import Tensor, bits, integers


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    kind = INTEGER_TYPES[wanted.quantized or draw(st.sampled_from(TYPES))]
    rank = draw(st.integers(1, 4)) if wanted.rank is None else max(wanted.rank, 1)
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    axis = draw(st.integers(0, rank - 1))
    depth, inner = shape[axis], math.prod(shape[axis + 1 :])
    scales = [draw(drawn.scales(wanted.specials)) for _ in range(depth)]
    points = [draw(drawn.zero_points(kind)) for _ in range(depth)]
    columns = [
        draw(st.lists(drawn.inputs(kind, scale, point, wanted.specials), min_size=1, max_size=6))
        for scale, point in zip(scales, points, strict=True)
    ]
    values = []
    for n in range(math.prod(shape)):
        column = columns[n // inner % depth]
        values.append(column[n % len(column)])
    tensors = (bits("float32", values, shape), bits("float32", scales), integers(kind.name, points))
    return {"real": "float32", "quantized": kind.name, "attributes": {"axis": axis}}, tensors


def node(quantized: str) -> dict[str, Any]:
    return {"quantized": quantized, "attributes": {"axis": 0}}


def forbidden(clause: str, what: str, *shapes: tuple[int, ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, node("int8"), **changes)


FORBIDDEN = (
    forbidden("PQC-S2", "scales of size 3 for an axis of size 2", M22, V3, V3),
    forbidden("PQC-S2", "one scale for all, a scalar", M22, S, S),
    forbidden("PQC-S2", "a matrix of scales", M22, M22, M22),
    forbidden("PQC-S2", "zero points of size 3 for an axis of size 2", M22, V2, V3),
    forbidden("PQC-T2", "an output of int16", M22, V2, V2, output="int16"),
)

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it adds the zero point before it rounds, and leaves the tie rule open"),
    draw=draw,
    mistakes=(*mistakes.MISTAKES, *mistakes.CHANNEL_MISTAKES),
    pairs=mistakes.PAIRS,
    path_probes=(
        PathProbe("uint8", node("uint8"), (STEP, 101), probe_values(), 2),
        PathProbe("int8", node("int8"), (STEP, -3), probe_values()),
        *(
            PathProbe(f"{found.name}-int8", node("int8"), (found.scale, 3), multiples(found.scale), constants_only=True)
            for found in scale_classes()
        ),
    ),
    axis=Axis("axis", always=True),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("an audit of onnx.QuantizeLinear infers the same function's arithmetic, with its tie rule"),
    monotone=in_any_problem,
)
