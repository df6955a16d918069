"""Which clauses of its operator a case exercises, judged by its attributes and by situations in its operands."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from tiebreak.conformance.operators import TESTED, microsoft_qlinear, onnx_convolution_drawn, tensorflow_uniform
from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation, holds_for_limits
from tiebreak.golden import kernel
from tiebreak.golden.nodes import Case
from tiebreak.golden.onnx_types import FLOAT4, FLOAT6
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import Clause
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, ZERO, Array
from tiebreak.golden.problems import problems_of


def inputs_named(shown: CaseWithStates, ending: str) -> list[Array]:
    pairs = zip(shown.case.node.inputs, shown.case.inputs, strict=True)
    return [array.astype(np.float64) for tensor, array in pairs if tensor.name.endswith(ending)]


SMALL_INTEGERS = {"int2", "uint2", "int4", "uint4"}
# Situations that the clauses of several operators name; an operator's record has those that only it names.
SITUATIONS: dict[str, Situation] = {
    **onnx_convolution_drawn.SITUATIONS,
    "a NaN operand": lambda s: any(np.isnan(a).any() for a in s.floats()),
    "an infinite operand": lambda s: any(np.isinf(a).any() for a in s.floats()),
    "a zero scale": lambda s: any((a == 0).any() for a in inputs_named(s, "scale")),
    "a result out of range": lambda s: bool((s.states == OUT_OF_RANGE).any()),
    "an undefined result": lambda s: bool((s.states == UNDEFINED).any()),
    "a zero result": lambda s: bool((s.states == ZERO).any()),
    "scalar parameters": lambda s: all(a.ndim == 0 for a in s.parameters()),
    "parameters that vary": lambda s: any(a.size > 1 for a in s.parameters()),
    "one axis": lambda s: any(a.ndim == 1 for a in s.parameters()),
    "an optional input left off": lambda s: len(s.case.inputs) < len(get_operator(s.case.node.operator).forms[0]),
    "the older form": lambda s: s.case.node.inputs[-1].name == "offset",
    "a block size": lambda s: bool(s.case.node.attributes.get("block_size")),
    "an output_dtype": lambda s: bool(s.case.node.attributes.get("output_dtype")),
    "an int32 input": lambda s: s.case.node.input_type == "int32",
    "a float8_e8m0fnu scale": lambda s: s.case.node.inputs[1].dtype.name == "float8_e8m0fnu",
    "a float4_e2m1fn output": lambda s: s.case.node.output_type in FLOAT4,
    "a float 6 output": lambda s: s.case.node.output_type in FLOAT6,
    "a type of 2 or 4 bits": lambda s: bool({s.case.node.input_type, s.case.node.output_type} & SMALL_INTEGERS),
    "another opset than 21": lambda s: s.case.node.opset != 21,
    "a NaN or infinite operand": lambda s: any((~np.isfinite(a)).any() for a in s.floats()),
    "a scale that is no number to divide by": microsoft_qlinear.odd_scale,
    "float32 steps that overflow": microsoft_qlinear.overflows,
    "a range narrower than the type": tensorflow_uniform.is_narrow,
    "no range of the type": tensorflow_uniform.has_no_range,
    "a range above zero": lambda s: holds_for_limits(s, 1, lambda low, high: (low > 0) & (low < high)),
    "a range below zero": lambda s: holds_for_limits(s, 1, lambda low, high: (low < high) & (high < 0)),
    "a range around zero": lambda s: holds_for_limits(s, 1, lambda low, high: (low <= 0) & (high >= 0)),
}


@cache
def situations_of(operator: str) -> Mapping[str, Situation]:
    """Every situation that an operator's clauses can name."""
    return {**SITUATIONS, **(TESTED[operator].situations or {})}


def exercised_clauses(case: Case) -> tuple[str, ...]:
    """The ids of the clauses that a case exercises, in the document's order."""
    spec = get_operator(case.node.operator)
    states = [kernel.solve(problem, working=False)[1] for problem in problems_of(case)]
    shown = CaseWithStates(case, np.concatenate(states))
    of_modes = {spec.mode_clause(mode) for mode in spec.modes} - {""}
    own = {spec.mode_clause(mode) for mode in case.node.modes}
    return tuple(
        clause.id
        for clause in spec.clauses
        if (clause.id not in of_modes or clause.id in own) and clause_applies(clause, shown)
    )


def clause_applies(clause: Clause, shown: CaseWithStates) -> bool:
    node = shown.case.node
    spec = get_operator(node.operator)
    for name, value in clause.when.items():
        given = node.attributes.get(name, spec.attribute(name).default)
        if given not in (value if isinstance(value, tuple) else (value,)):
            return False
    return not clause.situation or situations_of(spec.id)[clause.situation](shown)
