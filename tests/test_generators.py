"""The strategies reach what they aim at, give valid cases, and shrink to one element."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from tiebreak import cases as public_cases
from tiebreak.conformance.cases.generators import cases, generate_cases, nodes
from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.truths import kernel_truth
from tiebreak.golden import kernel
from tiebreak.golden.elements import ulp
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.problem import Quantization
from tiebreak.golden.problems import problems_of, quantization_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.vector_inputs.plain_quotients import quotient
from tiebreak.golden.verdicts import DEVIATES


@settings(max_examples=300, deadline=None)
@given(public_cases())
def test_every_case_is_valid(case: Case) -> None:
    problems = problems_of(case)
    assert problems[0].shape == case.shape
    assert len(problems) == len(case.node.outputs)
    assert case.id.startswith(f"generated/{case.node.operator}/")


@settings(max_examples=200, deadline=None)
@given(nodes(operator="ngraph.Quantize", real="float16", round_mode="ROUND_UP"))
def test_what_is_given_is_kept(node: Node) -> None:
    assert (node.operator, node.real.name, node.round_mode) == ("ngraph.Quantize", "float16", "ROUND_UP")


@settings(max_examples=150, deadline=None)
@given(cases(specials=False, real="float32"))
def test_specials_can_be_left_out(case: Case) -> None:
    assert all(np.all(np.isfinite(array.astype(np.float64))) for array in case.inputs)


def kinds(case: Case) -> set[str]:
    """What a case's first elements show: tie, near, wide scale, multi-axis, empty, long, scalar."""
    problem, found = quantization_of(case), set()
    found |= (
        {"empty"} if not case.size else {"long"} if case.size > 64 else {"scalar"} if problem.x.ndim == 0 else set()
    )
    found |= {"multi-axis"} if len(problem.axes) > 1 else {"per axis"} if problem.axes else set()
    if case.size and not problem.axes:
        for x in problem.x.reshape(-1)[:8]:
            q = quotient(int(x), int(problem.scale[()]), problem.real, working=False)
            if isinstance(q, Fraction):
                distance = abs(q - q.numerator // q.denominator - Fraction(1, 2))
                found |= {"tie"} if not distance else {"near"} if distance <= 2 * ulp(q, problem.real) else set()
    return found


@pytest.mark.slow
def test_a_few_hundred_cases_reach_every_kind_type_mode_and_form() -> None:
    made = generate_cases("ngraph.Quantize", 800, seed=1)
    made += [c for c in generate_cases("onnx.QuantizeLinear", 800, seed=1) if is_plain(c)]
    shown = Counter(kind for case in made for kind in kinds(case))
    assert not {"tie", "near", "empty", "long", "scalar", "multi-axis", "per axis"} - set(shown)
    assert {case.node.round_mode for case in made} == set(ROUND_MODES)
    assert {case.node.real.name for case in made} == {"float16", "bfloat16", "float32", "float64"}
    assert len({case.node.quantized.name for case in made}) == 8
    assert {case.node.inputs[-1].name for case in made} == {"zero_point", "offset", "y_zero_point", "y_scale"}


def is_plain(case: Case) -> bool:
    return isinstance(problems_of(case)[0], Quantization)


MOST_FORMS = ("onnx.QuantizeLinear", "ngraph.Quantize", "tensorflow.QuantizeV2")


@pytest.mark.parametrize(
    "operator", [op if op in MOST_FORMS else pytest.param(op, marks=pytest.mark.slow) for op in OPERATORS]
)
def test_a_few_hundred_cases_reach_every_type_and_attribute(operator: str) -> None:
    spec = get_operator(operator)
    made = generate_cases(operator, 1200 if operator == "onnx.QuantizeLinear" else 400, seed=2)  # it has most types
    types = {t.dtype.name for case in made for t in (*case.node.inputs, *case.node.outputs)}
    assert set(spec.real_types) | set(spec.quantized_types) <= types
    assert {len(case.node.inputs) for case in made} >= {len(spec.forms[0])}
    for attribute in spec.attributes:
        values = {repr(case.node.attributes.get(attribute.name)) for case in made}
        assert len(values) > 1 or attribute.name in ("type", "T"), attribute.name
    assert {case.node.opset for case in made} >= set(spec.opsets)


def half_away_deviates(case: Case) -> bool:
    if not is_plain(case):
        return False
    problems = problems_of(case)
    values, _ = kernel.solve(problems[0], working=True, mode="ROUND_NEAREST_TOWARD_INFINITY")
    return judge(values, kernel_truth(case, problems, case.node.round_mode)).count(DEVIATES) > 0


def test_counterexample_shrinks_to_one_element_at_a_tie() -> None:
    strategy = cases(operator="onnx.QuantizeLinear", real="float32", quantized="int8")
    options = settings(
        max_examples=2000, database=None, deadline=None, derandomize=True,
        phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    case = find(strategy, half_away_deviates, settings=options)
    assert case.size == 1
    assert float(case.inputs[0].reshape(-1)[0] / case.inputs[1].reshape(-1)[0]) % 1 == 0.5


def test_generation_leaves_the_global_random_state_alone() -> None:
    import random

    random.seed(5)
    first = random.random()
    random.seed(5)
    generate_cases("onnx.QuantizeLinear", 5, seed=3)
    assert random.random() == first


def test_what_is_generated_does_not_depend_on_what_is_loaded() -> None:
    """Hypothesis tries constants of local modules, and a test session has many of them."""
    script = (
        "from tiebreak.conformance.cases.generators import generate_cases\n"
        "print(*(case.id for case in generate_cases('onnx.QuantizeLinear', 60, 3)))"
    )
    fresh = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == [case.id for case in generate_cases("onnx.QuantizeLinear", 60, 3)]
