"""ocp.MXQuantize: numbers computed by hand, causes of wrong backends, and elements that follow from wrong scales."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wrong_ocp_mx_quantize as mx
from causes_of_records import causes_of
from hypothesis import given, settings

from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.chained import CHAINED, chain_row, chained
from tiebreak.conformance.judging.judge import codes_of_outputs, judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = mx.OPERATOR
TO = "float8_e4m3fn"
Run = Callable[..., tuple[mx.Array, ...]]
BOXES = {box.name.removeprefix("mx: "): box.run for box in mx.WRONG}
# The wrong backend, and the cause of all that it gets wrong.
NAMED = (
    ("ties away", "element-ties:away from zero"),
    ("ties toward zero", "element-ties:toward zero"),
    ("truncates", "elements-cut-off"),
    ("always ceil", "scaling-mode:ceil"),
    ("always rceil", "scaling-mode:rceil"),
    ("rceil by a log2 in float32", "scale-log2-in-float32"),
    ("exponent one more", "scale-exponent:more"),
    ("exponent one less", "scale-exponent:less"),
    ("least scale divides as 2^-126", "least-scale-divides-as:2^-126"),
    ("least scale divides as 1", "least-scale-divides-as:1"),
    ("least scale never", "least-scale-never"),
    ("greatest without the last", "amax-of:all but the last"),
    ("greatest without the first", "amax-of:all but the first"),
    ("greatest of 16", "amax-of:the first 16"),
    ("elements flushed", "elements-flushed"),
    ("elements flushed to positive zero", "elements-flushed:to positive zero"),
    ("the lowest bit lost", "lowest-bit-lost"),
    ("ends at half", "ends-at:half the highest value"),
    ("beyond is NaN", "beyond-elements:NaN"),
    ("ends at the power", "elements-end-at-power"),
    ("no sign", "elements-without-sign"),
)


def vectors(to: str = TO) -> list[Case]:
    return indexed_cases(VECTORS / file_name(OPERATOR, "float32", to))


def case_of(*values: float, to: str = TO, mode: str = "floor", real: str = "float32") -> Case:
    node = make_node(OPERATOR, real=real, quantized=to, attributes={"scaling_mode": mode})
    return Case("a", node, (np.array(values, np.float32).astype(node.inputs[0].dtype),), "typed")


def solved(case: Case) -> tuple[list[float], list[int]]:
    """The elements' values, and the scales' exponents, by the oracle."""
    (codes, _), (scales, states) = (oracle.solve(problem, working=False) for problem in problems_of(case))
    assert not (states == UNDEFINED).any()
    kind = case.node.outputs[0].dtype
    values = codes.astype(np.int8) / 64 if kind == np.int8 else codes.astype(np.uint8).view(kind).astype(float)
    return values.tolist(), (scales - 127).tolist()


@pytest.mark.parametrize(
    ("mode", "exponent", "elements"),
    [("floor", 0, [448, 1]), ("ceil", 1, [224, 0.5]), ("even", 0, [448, 1]), ("rceil", 1, [224, 0.5])],
)
def test_a_block_beyond_the_largest_element_by_each_mode(mode: str, exponent: int, elements: list[float]) -> None:
    """463 is beyond 448 and below 512; half of it, 231.5, is nearer to 224 than to 240."""
    assert solved(case_of(463, 1, mode=mode)) == (elements, [exponent])


@pytest.mark.parametrize(("amax", "exponent"), [(495.0, 0), (496.0, 1), (497.0, 1), (248.0, 0), (247.0, -1)])
def test_even_rounds_the_greatest_magnitude_to_four_bits(amax: float, exponent: int) -> None:
    assert solved(case_of(amax, mode="even"))[1] == [exponent]


def test_int8_has_64ths_and_ends_at_127() -> None:
    assert solved(case_of(1.999, -1.5, 0.5 / 64, 1.5 / 64, to="int8")) == ([127 / 64, -1.5, 0, 2 / 64], [0])
    (codes, states), _ = (oracle.solve(problem, working=False) for problem in problems_of(case_of(-1.999, to="int8")))
    assert states.tolist() == [UNDEFINED] and codes.tolist() == [0]


def test_each_block_of_32_has_its_own_scale_and_a_part_of_one_too() -> None:
    values = [256.0] * 32 + [1.0] * 32 + [512.0]
    found, exponents = solved(case_of(*values))
    assert exponents == [0, -8, 1] and set(found) == {256.0}


def test_a_scalar_has_no_block_and_int8_no_other_mode() -> None:
    case = case_of(1.0)
    with pytest.raises(InvalidInput, match="a scalar has no axis"):
        problems_of(Case("a", case.node, (np.float32(1).reshape(()),), "typed"))
    with pytest.raises(InvalidInput, match="int8 has floor alone"):
        make_node(OPERATOR, quantized="int8", attributes={"scaling_mode": "ceil"})


def test_the_quotient_of_rceil_rounds_in_float32_where_it_is_subnormal() -> None:
    """448 * 2^-127 and one ulp: its 448th part is beyond 2^-127 by less than half of 2^-149."""
    amax = np.nextafter(np.float32(448 * 2.0**-127), np.float32(1))
    problem = problems_of(case_of(float(amax), mode="rceil"))[1]
    assert [oracle.solve(problem, working=form)[0].tolist() for form in (False, True)] == [[1], [0]]


def named(run: Run, to: str = TO) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    return causes_of(run, vectors(to))


@pytest.mark.few(2)
@pytest.mark.parametrize(("box", "key"), NAMED, ids=[box for box, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, key: str) -> None:
    counts = named(BOXES[box])
    assert set(counts) == {sentence_of(key)}, counts


@pytest.mark.slow
def test_what_follows_from_a_wrong_scale_is_no_mistake_of_its_own() -> None:
    """A scale that no table knows: three powers of two beyond where the magnitude is above 100."""
    counts = named(mx.replace(mx.RIGHT_PARTS, exponent=lambda to, mode, amax: odd(mx.by_mode(to, mode, amax), amax)))
    follows = sentence_of("follows-from:scales")
    assert counts.keys() == {follows, "unexplained"}
    assert counts[follows] > 5 * counts["unexplained"], "only the scales themselves have no cause"


def odd(exponent: int, amax: Any) -> int:
    return exponent + (3 if amax > 100 else 0)


def codes_of(case: Case, outputs: tuple[mx.Array, ...]) -> mx.Array:
    return codes_of_outputs(problems_of(case), outputs, truths_of(case).judged_by)


@pytest.mark.parametrize("to", [*mx.FLOATS, "int8"])
def test_right_elements_follow_from_their_scales(to: str) -> None:
    followed = 0
    for case in vectors(to):
        with np.errstate(all="ignore"):
            outputs = mx.RIGHT[1].run(case.node, *case.inputs)
        codes = codes_of(case, outputs)
        found = chained(case, codes)
        assert found is not None
        assert ((codes == found.exact) | (codes == found.working)).all(), case.id
        followed += int(found.follows.sum())
    assert followed > 300


def test_a_wrong_element_contradicts_its_scale_and_a_scale_of_nan_says_nothing() -> None:
    case = case_of(256.0, 1.0)
    kind, scale = (output.dtype for output in case.node.outputs)
    wrong = np.array([256, 2]).astype(kind), np.array([127], np.uint8).view(scale)
    assert chain_row("it", OPERATOR, [case], {"a": codes_of(case, wrong)})["differ"] == 1
    open_ = wrong[0], np.array([255], np.uint8).view(scale)
    row = chain_row("it", OPERATOR, [case], {"a": codes_of(case, open_)})
    assert (row["elements"], row["differ"]) == (0, 0)
    assert OPERATOR in CHAINED


@settings(max_examples=100, deadline=None)
@given(cases(operator=OPERATOR))
def test_a_right_backend_conforms_to_what_is_drawn(case: Case) -> None:
    with np.errstate(all="ignore"):
        outputs = mx.RIGHT[1].run(case.node, *case.inputs)
    assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0


def test_a_nan_is_of_its_block_alone() -> None:
    problems = problems_of(case_of(*[1.0] * 32, math.nan, *[1.0] * 31))
    states = [oracle.solve(problem, working=False)[1] for problem in problems]
    assert (states[0] == UNDEFINED).tolist() == [False] * 32 + [True] * 32
    assert (states[1] == UNDEFINED).tolist() == [False, True]
