"""Testing `torch.fake_quantize_per_tensor_affine`: quotients beside ties, and at the ends of any domain."""

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
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, fake_quantize_values, multiples, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.torch_fake_quantize_drawn import domains, inputs, node
from tiebreak.conformance.operators.torch_fake_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.torch_quantize_drawn import scales
from tiebreak.conformance.semantics.torch_fake_quantize import role_of_fake_quantize, torch_fake_quantize
from tiebreak.golden.operators.torch_fake_quantize_per_tensor_affine import ID
from tiebreak.golden.samples.model import Tensor, bits, integers


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    domain = draw(domains())
    scale, zero_point = draw(scales(wanted.specials)), draw(st.integers(*domain))
    values = draw(st.lists(inputs(domain, scale, zero_point, wanted.specials), min_size=1, max_size=16))
    x = bits("float32", [values[n % len(values)] for n in range(math.prod(shape))], shape)
    tensors = (x, bits("float32", [scale], ()), integers("int32", [zero_point], ()))
    return node(domain), tensors


def forbidden(clause: str, what: str, *shapes: tuple[int, ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, node((0, 255)), **changes)


FORBIDDEN = (
    forbidden("PFT-S2", "two scales", M22, V2, S),
    forbidden("PFT-S2", "two zero points", M22, S, V2),
    forbidden("PFT-T1", "an output of int8", M22, S, S, output="int8"),
)

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=(
        PathProbe("8-bits", node((0, 255)), (STEP, 101), fake_quantize_values(), 4),
        PathProbe("signed", node((-128, 127)), (STEP, -3), fake_quantize_values()),
        PathProbe("4-bits", node((0, 15)), (STEP, 7), fake_quantize_values()),
        *(
            PathProbe(f"{found.name}-8-bits", node((0, 255)), (found.scale, 3), multiples(found.scale),
                      constants_only=True)
            for found in scale_classes()
        ),
    ),
    axis=Absent("scale and zero point are scalars"),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        torch_fake_quantize,
        never_elementwise,
        defaults={"quant_min": 0, "quant_max": 255},
        role_of=role_of_fake_quantize,
    ),
    monotone=in_any_problem,
)  # fmt: skip
