"""Testing `torch.quantize_per_channel`: a scale and a zero point for each index of any axis."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators import torch_quantize_drawn as drawn
from tiebreak.conformance.operators import torch_quantize_variants as variants
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    in_any_problem,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.torch_quantize import (
    as_one_channel,
    role_of_quantize,
    silence_of_ties,
    torch_quantize,
)
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.operators.torch_quantize_per_channel import FLOAT, ID, INTEGER
from tiebreak.golden.operators.torch_quantize_per_tensor import TYPES
from tiebreak.golden.samples.model import Tensor, bits, integers, reals


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    kind = INTEGER_TYPES[wanted.quantized or draw(st.sampled_from(TYPES))]
    rank = draw(st.integers(1, 4)) if wanted.rank is None else max(wanted.rank, 1)
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    axis = draw(st.integers(0, rank - 1))
    depth, inner = shape[axis], math.prod(shape[axis + 1 :])
    scales = [draw(drawn.scales(wanted.specials)) for _ in range(depth)]
    floats = kind.bits == 8 and draw(st.booleans())  # golden vectors have those of int32
    points = [
        draw(drawn.float_points(kind)) if floats else Fraction(draw(drawn.zero_points(kind))) for _ in range(depth)
    ]
    columns = [
        draw(st.lists(drawn.inputs(kind, scale, point, wanted.specials), min_size=1, max_size=6))
        for scale, point in zip(scales, points, strict=True)
    ]
    values = []
    for n in range(math.prod(shape)):
        column = columns[n // inner % depth]
        values.append(column[n % len(column)])
    zeros = reals(FLOAT, points) if floats else integers(kind.name, [int(point) for point in points])
    attributes = {"axis": axis, "zero_point_type": FLOAT if floats else INTEGER}
    tensors = (bits("float32", values, shape), bits("float32", scales), zeros)
    return {"real": "float32", "quantized": kind.name, "attributes": attributes}, tensors


def node(quantized: str, **more: Any) -> dict[str, Any]:
    return {"quantized": quantized, "attributes": {"axis": 0, **more}}


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
    mistakes=(*variants.FLOAT_POINT_MISTAKES, *variants.MISTAKES, *variants.CHANNEL_MISTAKES),
    pairs=variants.PAIRS,
    path_probes=(
        PathProbe("uint8", node("uint8"), (STEP, 101), probe_values(), 2),
        PathProbe("int8", node("int8"), (STEP, -3), probe_values()),
        PathProbe(
            "float-zero-point", node("uint8", zero_point_type=FLOAT), (STEP, Fraction(405, 4)), probe_values(), 2
        ),
        *(
            PathProbe(f"{found.name}-int8", node("int8"), (found.scale, 3), multiples(found.scale), constants_only=True)
            for found in scale_classes()
        ),
    ),
    axis=Axis("axis", always=True),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        torch_quantize,
        never_elementwise,
        defaults={"axis": 0},
        role_of=role_of_quantize,
        silence=silence_of_ties,
        as_called=as_one_channel,
    ),
    monotone=in_any_problem,
)
