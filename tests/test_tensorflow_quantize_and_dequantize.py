"""tensorflow.QuantizeAndDequantizeV2 and V3 beside V4, whose values all three give: by hand, and in TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import load_backend
from tiebreak.adapters.tensorflow import TensorFlow
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.running.forbidden import forbidden_case
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

V2, V3, V4 = (f"tensorflow.QuantizeAndDequantizeV{version}" for version in (2, 3, 4))
X, TIES = [-9.0, -2.5, 0.5, 1.5, 2.5, 20.0], [-8.0, -2.0, 0.0, 2.0, 2.0, 7.0]


def posed(operator: str, x: Any, low: float, high: float, *bits: Any, **attributes: Any) -> Elementwise:
    inputs: tuple[Array, ...] = tuple(np.asarray(value, np.float32) for value in (x, low, high))
    inputs += tuple(np.asarray(value, np.int32) for value in bits)
    (problem,) = problems_of(Case("a", make_node(operator, attributes=attributes), inputs))
    assert isinstance(problem, Elementwise)
    return problem


def solved(problem: Elementwise) -> list[float | None]:
    """The one answer of both truths, in both forms; None where there is none."""
    found = []
    for working in (False, True):
        for truth in (oracle, kernel):
            codes, states = truth.solve(problem, working=working)
            values = [float(decode(int(code), FLOAT_TYPES["float32"])) for code in codes]
            found.append([None if s == UNDEFINED else v for v, s in zip(values, states, strict=True)])
    assert all(values == found[0] for values in found), found
    return found[0]


def test_all_three_give_the_same_values() -> None:
    given = {"range_given": True}
    assert solved(posed(V2, X, -8, 7, num_bits=4, **given)) == TIES
    assert solved(posed(V4, X, -8, 7, num_bits=4, **given)) == TIES
    assert solved(posed(V3, X, -8, 7, 4)) == TIES


def test_range_given_is_the_default_of_v3_alone() -> None:
    assert solved(posed(V3, X, -8, 7, 4)) == solved(posed(V3, X, -8, 7, 4, range_given=True))
    assert solved(posed(V2, [-4.0, 3.0], -80, 70, num_bits=4)) == [-4, 3]


@pytest.mark.parametrize("bits", [-1, 0, 63, 64, 2**31 - 1])
def test_a_number_of_bits_without_integers_leaves_the_result_open(bits: int) -> None:
    assert solved(posed(V3, [0.5], -1, 1, bits)) == [None]


def test_one_number_of_bits_is_for_the_whole_input() -> None:
    with pytest.raises(InvalidInput, match=r"num_bits has shape \[1\]; a scalar is right"):
        posed(V3, [0.5], -1, 1, [8])


def test_elements_of_several_numbers_of_bits_are_solved_at_once() -> None:
    """As they are where the elements of many cases are judged together."""
    parts = [posed(V3, [0.3, 2.0], -1, 1, bits) for bits in (2, 0, 8, 40)]
    operands = tuple(np.concatenate([part.operands[n] for part in parts]) for n in range(4))
    together = replace(parts[0], shape=(8,), operands=operands)
    for working in (False, True):
        codes, states = kernel.solve(together, working=working)
        apart = [kernel.solve(part, working=working) for part in parts]
        assert codes.tolist() == [code for found, _ in apart for code in found.tolist()]
        assert states.tolist() == [state for _, found in apart for state in found.tolist()]


def run(operator: str, *inputs: Any, **attributes: Any) -> list[float]:
    return [float(v) for v in TensorFlow().compile(make_node(operator, attributes=attributes))(*inputs)[0]]


def test_tensorflow_takes_the_number_of_bits_as_an_input() -> None:
    x, low, high = np.array(X, np.float32), np.float32(-8), np.float32(7)
    assert run(V3, x, low, high, np.array(4, np.int32)) == TIES
    assert run(V2, x, low, high, num_bits=4, range_given=True) == TIES
    with pytest.raises(Unsupported, match="num_bits is out of range: 63"):
        run(V3, x, low, high, np.array(63, np.int32))


def test_ranges_of_slices_are_given_to_v3_alone() -> None:
    x, ends = np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.float32)
    assert run(V3, x, -ends, ends, np.array(8, np.int32), axis=0) == [1, 2]
    with pytest.raises(Unsupported, match="must be a scalar"):
        run(V2, x, -ends, ends, axis=0, range_given=True)


COMPILED = "side-times-inverse-of-integer + flushes"


@pytest.mark.parametrize(
    "name",
    [
        "float32/float32/widths-unsigned-3-even",
        "float32/float32/unit-unsigned-8-up",
        "float32/float32/measured-thirds-signed-8-even",
        "float16/float16/small-min-signed-8-even",
    ],
)
def test_xla_multiplies_by_the_rounded_inverse_of_the_integer(name: str) -> None:
    """2.9 * (1 / 7) is one float32 above 2.9 / 7; the half of HALF_UP is fused."""
    operator, kind = "tensorflow.QuantizeAndDequantizeV2", name.partition("/")[0]
    every = indexed_cases(VECTORS / file_name(operator, kind, kind))
    case = next(one for one in every if one.id == f"{operator}/{name}")
    run = next(run for cause, run in TESTED[operator].mistakes or () if cause.id == COMPILED)
    (found,) = load_backend("tensorflow-xla").compile(case.node)(*case.inputs)
    assert run(case.node, *case.inputs)[0].tolist() == found.tolist()
    assert judge_outputs((found,), truths_of(case)).count(DEVIATES) > 0


@pytest.mark.parametrize("operator", [V2, V3, V4])
@pytest.mark.parametrize("real", ["float32", "float64"])
def test_a_subnormal_range_is_measured_before_it_is_flushed(operator: str, real: str) -> None:
    """TensorFlow's zeros have the signs of the numbers: input_max, not the first zero, is what steps are made of."""
    cases = indexed_cases(VECTORS / file_name(operator, real, real))
    (case,) = (case for case in cases if case.id.endswith("/subnormal-range-measured"))
    (given,) = load_backend("tensorflow").compile(case.node)(*case.inputs)[:1]
    assert (given == 0).all() and np.signbit(given).tolist() == np.signbit(case.inputs[0]).tolist()
    (kernels_own,) = (
        run for cause, run in TESTED[operator].mistakes if cause.id == f"side-over-integer-measured{JOINT}flushes"
    )
    assert np.signbit(kernels_own(case.node, *case.inputs)[0]).tolist() == np.signbit(given).tolist()


@pytest.mark.parametrize("operator", [V2, V3, V4])
def test_tensorflow_refuses_every_call_that_its_document_forbids(operator: str) -> None:
    """In its own words: the types by the operation's registry, round_mode by the list that it has."""
    calls = TESTED[operator].forbidden_calls or ()
    assert {call.what for call in calls} >= {"an input and a range of int32", "a range of float64"}
    backend, said = TensorFlow(), {}
    for number, call in enumerate(calls):
        case = forbidden_case(operator, call, number)
        with pytest.raises(Unsupported) as refused:
            backend.compile(case.node)(*case.inputs)
        said[call.what] = str(refused.value)
    assert all(operator.partition(".")[2] in message or "HALF_AWAY" in message for message in said.values()), said


@pytest.mark.parametrize("operator", [V2, V3, V4])
def test_types_of_a_forbidden_call_are_those_that_it_names(operator: str) -> None:
    calls = {call.what: call for call in TESTED[operator].forbidden_calls or ()}
    case = forbidden_case(operator, calls["a range of float64"], 0)
    assert [array.dtype.name for array in case.inputs[:3]] == ["float32", "float64", "float64"]
    assert [kind.dtype.name for kind in case.node.inputs[:3]] == ["float32", "float64", "float64"]
