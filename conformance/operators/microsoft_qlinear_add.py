"""Testing `com.microsoft.QLinearAdd`: ratios of scales that are nearly rational, in each of a runtime's kernels."""

from __future__ import annotations

from tiebreak.conformance.operators.microsoft_qlinear import (
    at_scale_classes,
    drawing,
    forbidden_calls,
    probes,
    silence_of_ties,
)
from tiebreak.conformance.operators.microsoft_qlinear_variants import ADD_MISTAKES, ADD_PAIRS
from tiebreak.conformance.operators.model import Absent, AuditedSemantics, OperatorUnderTest, never_elementwise
from tiebreak.conformance.semantics.scaled_operands import beside_a_tensor
from tiebreak.conformance.semantics.scaled_products import roles
from tiebreak.conformance.semantics.scaled_sums import scaled_sums
from tiebreak.golden.operators.microsoft_qlinear_add import ID, PREFIX

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its inputs are integers: there is no real number to divide"),
    draw=drawing(lambda first, second: 2 * first),
    mistakes=ADD_MISTAKES,
    pairs=ADD_PAIRS,
    path_probes=(
        *probes(("0.02", "0.03", "0.04"), (-3, 5, 17, -127, 126, 30, 1)),
        *at_scale_classes(adds=True),
    ),
    axis=Absent("it has one scale and one zero point for a whole tensor"),
    forbidden_calls=forbidden_calls(PREFIX),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        scaled_sums,
        never_elementwise,
        role_of=roles(difference="numbers", scale="quotient", quotient="quotient", rounding="nearest"),
        silence=silence_of_ties,
        of_integers=True,
        as_called=beside_a_tensor,
    ),
)
