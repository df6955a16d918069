"""Testing `torch.quantize_per_tensor`: sums beside ties and around the ends of the quantized type."""

from __future__ import annotations

import math
from typing import Any

from tiebreak.conformance.operators.forbidden_call import M22, V2, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    CaseConstraints,
    OperatorUnderTest,
    in_any_problem,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.torch_quantize_drawn import inputs, scales, zero_points
from tiebreak.conformance.operators.torch_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.semantics.torch_quantize import role_of_quantize, silence_of_ties, torch_quantize
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.operators.torch_quantize_per_tensor import ID, TYPES
from tiebreak.golden.samples.model import Tensor, bits, integers


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    kind = INTEGER_TYPES[wanted.quantized or draw(st.sampled_from(TYPES))]
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    scale, zero_point = draw(scales(wanted.specials)), draw(zero_points(kind))
    values = draw(st.lists(inputs(kind, scale, zero_point, wanted.specials), min_size=1, max_size=16))
    x = bits("float32", [values[n % len(values)] for n in range(math.prod(shape))], shape)
    tensors = (x, bits("float32", [scale], ()), integers(kind.name, [zero_point], ()))
    return {"real": "float32", "quantized": kind.name}, tensors


BYTES = {"quantized": "uint8"}
PATH_PROBES = (
    PathProbe("uint8", BYTES, (STEP, 101), probe_values(), 4),
    PathProbe("int8", {"quantized": "int8"}, (STEP, -3), probe_values()),
    PathProbe("int32", {"quantized": "int32"}, (STEP, 1000003), probe_values()),
    *(
        PathProbe(f"{found.name}-int8", {"quantized": "int8"}, (found.scale, 3), multiples(found.scale),
                  constants_only=True)
        for found in scale_classes()
    ),
)  # fmt: skip


def forbidden(clause: str, what: str, *shapes: tuple[int, ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, {"quantized": "int8"}, **changes)


FORBIDDEN = (
    forbidden("PQT-S2", "two scales", M22, V2, S),
    forbidden("PQT-S2", "two zero points", M22, S, V2),
    forbidden("PQT-S2", "two scales and two zero points", M22, V2, V2),
    forbidden("PQT-T2", "an output of int16", M22, S, S, output="int16"),
)

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it adds the zero point before it rounds, and leaves the tie rule open"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Absent("scale and zero point are scalars"),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(torch_quantize, never_elementwise, role_of=role_of_quantize, silence=silence_of_ties),
    monotone=in_any_problem,
)
