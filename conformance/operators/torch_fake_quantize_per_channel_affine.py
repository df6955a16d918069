"""Testing `torch.fake_quantize_per_channel_affine`: a scale and a zero point, integer or float, for each channel."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators import torch_fake_quantize_drawn as drawn
from tiebreak.conformance.operators import torch_fake_quantize_variants as variants
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
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, fake_quantize_values, multiples, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.torch_quantize_drawn import scales
from tiebreak.conformance.semantics.torch_fake_quantize import role_of_fake_quantize, torch_fake_quantize
from tiebreak.conformance.semantics.torch_quantize import as_one_channel
from tiebreak.golden.operators.torch_fake_quantize_per_channel_affine import ID, ZERO_POINTS
from tiebreak.golden.samples.model import Tensor, bits, integers, reals


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    rank = draw(st.integers(1, 4)) if wanted.rank is None else max(wanted.rank, 1)
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    axis, kind = draw(st.integers(0, rank - 1)), draw(st.sampled_from(ZERO_POINTS))
    domain = draw(drawn.domains() if kind == "int32" else st.sampled_from(drawn.DOMAINS))
    depth, inner = shape[axis], math.prod(shape[axis + 1 :])
    steps = [draw(scales(wanted.specials)) for _ in range(depth)]
    points = [draw(zero_points(domain, kind)) for _ in range(depth)]
    columns = [
        draw(st.lists(drawn.inputs(domain, step, float(point), wanted.specials), min_size=1, max_size=6))
        for step, point in zip(steps, points, strict=True)
    ]
    values = []
    for n in range(math.prod(shape)):
        column = columns[n // inner % depth]
        values.append(column[n % len(column)])
    zeros = integers(kind, [int(point) for point in points]) if kind == "int32" else reals(kind, points)
    node = drawn.node(domain, axis=axis, zero_point_type=kind)
    return node, (bits("float32", values, shape), bits("float32", steps), zeros)


def zero_points(domain: drawn.Domain, kind: str) -> st.SearchStrategy[Fraction]:
    """Integers of the domain; of floats quarters too, within 60 of the domain's lower end."""
    if kind == "int32":
        return st.integers(*domain).map(Fraction)
    width = min(domain[1] - domain[0], 60)
    return st.integers(0, 4 * width).map(lambda quarters: domain[0] + Fraction(quarters, 4))


def node(domain: drawn.Domain, **more: Any) -> dict[str, Any]:
    return drawn.node(domain, axis=0, **more)


def forbidden(clause: str, what: str, *shapes: tuple[int, ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, node((0, 255)), **changes)


FORBIDDEN = (
    forbidden("PFC-S2", "scales of size 3 for an axis of size 2", M22, V3, V3),
    forbidden("PFC-S2", "one scale for all, a scalar", M22, S, S),
    forbidden("PFC-S2", "zero points of size 3 for an axis of size 2", M22, V2, V3),
    forbidden("PFC-T1", "an output of int8", M22, V2, V2, output="int8"),
)
FLOATS = (("float32", Fraction(5, 4)), ("float16", Fraction(11, 8)))

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=(*variants.MISTAKES, *variants.CHANNEL_MISTAKES),
    pairs=variants.PAIRS,
    path_probes=(
        PathProbe("8-bits", node((0, 255)), (STEP, 101), fake_quantize_values(), 2),
        *(
            PathProbe(f"{kind}-zero-point", node((0, 15), zero_point_type=kind), (STEP, point), fake_quantize_values())
            for kind, point in FLOATS
        ),
        *(
            PathProbe(f"{found.name}-8-bits", node((0, 255)), (found.scale, 3), multiples(found.scale),
                      constants_only=True)
            for found in scale_classes()
        ),
    ),
    axis=Axis("axis", always=True),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        torch_fake_quantize,
        never_elementwise,
        defaults={"axis": 0, "quant_min": 0, "quant_max": 255},
        role_of=role_of_fake_quantize,
        as_called=as_one_channel,
    ),
    monotone=in_any_problem,
)  # fmt: skip
