"""Testing `com.microsoft.QLinearMul`: ratios of scales that are nearly rational, in each of a runtime's kernels."""

from __future__ import annotations

from tiebreak.conformance.operators.microsoft_qlinear import (
    at_scale_classes,
    drawing,
    forbidden_calls,
    probes,
    silence_of_ties,
)
from tiebreak.conformance.operators.microsoft_qlinear_variants import MUL_MISTAKES, MUL_PAIRS
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.semantics.scaled_products import roles, zero_point_before
from tiebreak.golden.operators.microsoft_qlinear_mul import ID, PREFIX

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its inputs are integers: there is no real number to divide"),
    draw=drawing(lambda first, second: first * second * 50),
    mistakes=MUL_MISTAKES,
    pairs=MUL_PAIRS,
    path_probes=(
        *probes(("0.1", "0.2", "0.12"), (-3, 5, 15, -127, 126, 25, 1)),
        *at_scale_classes(adds=False),
    ),
    axis=Absent("it has one scale and one zero point for a whole tensor"),
    forbidden_calls=forbidden_calls(PREFIX),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        zero_point_before,
        never_elementwise,
        role_of=roles(difference="differences", scale="together", quotient="quotient", rounding="nearest"),
        silence=silence_of_ties,
        of_integers=True,
    ),
)
