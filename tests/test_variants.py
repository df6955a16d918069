"""Changes of terms: without one a backend is right, and each does what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import tensorflow_dequantize_variants as dequantize
from tiebreak.conformance.operators import tensorflow_quantize_v2_variants as quantize
from tiebreak.conformance.operators.wrong_terms import (
    Wrong,
    frequent_pairs,
    likelier,
    mistakes_of,
    of_place,
    often,
    pairs_of,
)
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.changes import at, everywhere, spoken
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, at_once, changed, with_number
from tiebreak.conformance.variants.places import PLACES, misplaced
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import (
    DOWN,
    Term,
    clamp,
    finite,
    lifted,
    operand,
    require,
    rounded,
    step,
    to_ends,
    to_real,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import vector_paths
from tiebreak.golden.verdicts import DEVIATES

ID = "tensorflow.QuantizeV2"
FAKE, CHANNELS = "tensorflow.FakeQuantWithMinMaxVars", "tensorflow.FakeQuantWithMinMaxVarsPerChannel"
F32 = FLOAT_TYPES["float32"]
X, Y = operand(0, "x"), operand(1, "y")


def answers(term: Term, *operands: list[float]) -> list[Any]:
    codes = [np.array(values, np.float32).view(np.uint32) for values in operands]
    found: list[Any] = BackendEvaluation(codes, [F32] * len(codes), F32, oracle.signed_value_of).answer(term).tolist()
    return found


def node_of(mode: str, **attributes: Any) -> Node:
    return make_node(ID, quantized="int8", attributes={"mode": mode, "ensure_minimum_range": 0.0, **attributes})


def given(*values: Any) -> list[Array]:
    return [np.array(value, np.float32) for value in values]


@pytest.mark.parametrize(
    ("operator", "least"),
    [(ID, 500), ("tensorflow.Dequantize", 500), (FAKE, 150), (CHANNELS, 50), ("openvino.FakeQuantize", 800)],
)
def test_without_a_change_no_vector_deviates(operator: str, least: int) -> None:
    number = 0
    for path in vector_paths():
        if path.name.startswith(f"{operator}-"):
            for case in indexed_cases(path):
                outputs = Mutant(())(case.node, *case.inputs)
                assert not (judge_outputs(outputs, truths_of(case)).grades == DEVIATES).any(), case.id
                number += 1
    assert number > least


def test_a_backend_computes_by_ieee_754_to_the_end() -> None:
    quotient = step(X / Y)
    minus_zero, infinity, nan = 1 << 31, 0x7F800000, 0x7FC00000
    assert answers(to_real(quotient, F32), [1, -0.0, 0, -1], [0, 3, 0, np.inf]) == [
        infinity,
        minus_zero,
        nan,
        minus_zero,
    ]
    assert answers(to_ends(rounded(quotient, EVEN), -3, 5), [1, -1, 0, 5], [0, 0, 0, 2]) == [5, -3, 0, 2]
    low_bits = to_ends(wrapped(X, INTEGER_TYPES["int8"]), -128, 127)
    assert answers(low_bits, [200, -129, 2.0**60]) == [-56, 127, 0]  # 2^60 + 128 is no float64
    assert answers(to_ends(clamp(quotient, 1, 2), 1, 9), [0, 9], [0, 1]) == [1, 2]


def test_a_step_is_rounded_to_its_type() -> None:
    third = np.array(np.float32(1) / np.float32(3)).view(np.uint32).item()
    assert answers(to_real(step(X / Y), F32), [1], [3]) == [third]
    product = step(X * Y) - X * Y  # what the step lost
    assert answers(to_real(product, F32), [1 + 2.0**-23], [1 + 2.0**-23]) == [
        int(np.array(-(2.0**-46), np.float32).view(np.uint32))
    ]


def test_silence_is_not_spoken() -> None:
    term = to_ends(require(X < 1, finite(X + 2, "A"), "B"), 0, 9)
    assert spoken(term) == to_ends(X + 2, 0, 9)


def test_a_change_is_made_where_its_clause_is_followed_and_can_be_made_again() -> None:
    term = step(step(X + 1).by("A") * step(X + 1))
    twice = at("A", lambda one: one * 2)
    assert everywhere(term, twice) == step(step(X + 1) * 2 * step(X + 1))
    assert everywhere(everywhere(term, twice), twice) == step(step(X + 1) * 2 * 2 * step(X + 1))
    assert everywhere(term, at("B", lambda one: one * 2)) is term


@pytest.mark.parametrize(
    ("conversion", "values", "result"),
    [
        (to.X86_CAST_64, [5, 2.0**31, 2.0**63, np.nan], [5, 2.0**31, -(2.0**63), -(2.0**63)]),
        (to.POWER_ABOVE, [0.75, 4, 5], [1, 4, 8]),
        (to.X86_CAST, [5, 2.0**31, np.nan, -np.inf], [5, -(2.0**31), -(2.0**31), -(2.0**31)]),
        (to.FLUSH, [1e-39, -1e-39, 1], [0, 0, 1]),
        (to.NAN_IN_TAIL, [np.nan] * 17, [np.nan] * 16 + [0]),
        (to.NAN_TO_LEAST, [np.nan, 1], [-np.inf, 1]),
        (to.NAN_TO_GREATEST, [np.nan, 1], [np.inf, 1]),
    ],
)
def test_conversions(conversion: to.Conversion, values: list[float], result: list[float]) -> None:
    codes = answers(to_real(conversion(X), F32), values)
    found = np.array(codes, np.uint32).view(np.float32)
    np.testing.assert_array_equal(found, np.array(result, np.float32))


def test_what_changes_nothing_is_no_candidate() -> None:
    x = given([0.4, 1], -1, 1)
    by_id = {one.id: one.mutant for one in quantize.STEPS}
    with pytest.raises(ValueError, match="nothing to mistake"):
        by_id["rounds-once"](node_of("SCALED"), *x)
    with pytest.raises(ValueError, match="nothing to mistake"):  # the second of two has its place in MIN_FIRST alone
        (by_id["truncates"] + by_id["rounds-once"])(node_of("SCALED"), *x)
    with pytest.raises(ValueError, match="nothing to mistake"):
        by_id["ties-away"](node_of("SCALED"), *x)  # what the document says
    with pytest.raises(ValueError, match="nothing to mistake"):
        by_id["next-range"](node_of("SCALED"), *x)


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_a_change_has_its_generic_id_where_the_term_has_it(kind: str) -> None:
    ends = {"axis": 0, "quant_min": 0, "quant_max": 255, "zero_point_type": kind}
    node = make_node("torch.fake_quantize_per_channel_affine", attributes=ends)
    x, scale, zero_point = np.float32([[1, 300]]), np.float32([1]), np.array([1.75], kind)
    rounds = by_id("of no change", "number-rounded:zero_point")
    if kind == "int32":
        with pytest.raises(ValueError, match="nothing to mistake"):
            rounds(node, x, scale, zero_point)
    else:
        assert rounds(node, x, scale, zero_point)[0].tolist() == [[1, 253]]  # right: 253.25


def test_other_numbers_are_known_by_their_formulas_and_made_of_right_ones() -> None:
    node, x = make_node(FAKE, attributes={"num_bits": 4}), given([4], -7, 8)
    held = with_number("scale", lambda n: n["high"] / 4)
    doubled = with_number("F4", lambda n: n["level"] * n["scale"] * 2)
    assert held(node, *x)[0].tolist() == [4]  # level 6 of -8, -6, …
    assert (doubled + held)(node, *x)[0].tolist() == [24]  # what is inserted has the names, so it is changed, too
    assert (held + doubled)(node, *x)[0].tolist() == [22]  # of level 11 of -7, -6, …
    with pytest.raises(ValueError, match="nothing to mistake"):
        with_number("a name that it lacks", lambda n: n["scale"])(node, *x)


def test_what_is_asked_comes_first_and_several_changes_can_be_one() -> None:
    node, ends = make_node(CHANNELS, attributes={"num_bits": 4}), given([0, 0], [15, 30])
    x = given([3.5, 3.5])
    places = misplaced({1: PLACES["next-range"], 2: PLACES["next-range"]}, only="outputs")
    down = changed(lambda one: rounded(one.args[0], DOWN) if one.name == "round" else None)
    nothing = changed(lambda one: None)
    assert (down + places)(node, *x, *ends)[0].tolist() == (places + down)(node, *x, *ends)[0].tolist() == [2, 3]
    with pytest.raises(ValueError, match="nothing to mistake"):
        (down + nothing)(node, *x, *ends)
    assert at_once(nothing, down, places)(node, *x, *ends)[0].tolist() == [2, 3]
    with pytest.raises(ValueError, match="nothing to mistake"):
        at_once(nothing, nothing)(node, *x, *ends)


@pytest.mark.parametrize(("place", "order"), [("next-range", [1, 2, 0]), ("ranges-reversed", [2, 1, 0])])
def test_parameters_come_from_a_wrong_place(place: str, order: list[int]) -> None:
    node, x = node_of("SCALED", axis=1), np.arange(6, dtype=np.float32).reshape(2, 3)
    low, high = np.array([-2, -4, -8], np.float32), np.array([2, 4, 8], np.float32)
    wrong = misplaced({1: PLACES[place], 2: PLACES[place]}, only="output")(node, x, low, high)
    right = Mutant(())(node, x, low[order], high[order])
    assert wrong[0].tolist() == right[0].tolist()
    assert wrong[1].tolist() == Mutant(())(node, x, low, high)[1].tolist()  # the outputs' ranges are right


@pytest.mark.parametrize("different", [1, 7])
def test_indices_of_parameters_of_which_many_are_equal(different: int) -> None:
    count = 300
    x = np.zeros((2, count), np.float32)
    ends = 1 + np.arange(count, dtype=np.float32) % different
    call = NodeCall(node_of("SCALED", axis=1), (x, -ends, ends))
    assert call.indices(2).tolist() == [*range(count)] * 2


def test_two_steps_at_once_have_other_places_and_the_same_mode() -> None:
    same = changed(lambda one: lifted(1) if one.name == "number" else None)
    a, b = of_place("one", often("a", "role", same), often("b", "role", same))
    (c,), (d,) = (of_place(name, often(name, "role", same), mode=mode) for name, mode in (("c", "M"), ("d", "N")))
    pairs = [(one.id, other.id) for one, other in frequent_pairs((a, b, c, d))]
    assert pairs == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    (both,) = of_place("one two", often("both", "role", same))
    assert not both.fits(a) and both.fits(c)
    known, mode = Wrong("a + c", "role", same), often("rounds:UP", "role", same)
    assert [cause.id for cause, _ in pairs_of((a, c, known, mode))] == ["a + rounds:UP", "c + rounds:UP"]
    assert [cause.id for cause, _ in mistakes_of((a, known, mode))] == ["a", "a + c"]
    assert [one.id for one in likelier(("c", "b"), (a, b, c))] == ["c", "b", "a"]


def test_what_modes_have_by_one_id_is_one_backend() -> None:
    x, ends = np.array([1, 2], np.int8), given(-1, 1)
    (no_minimum,) = (run for cause, run in dequantize.MISTAKES if cause.id == "no-minimum")
    found = {}
    for mode in ("MIN_COMBINED", "MIN_FIRST"):
        node = make_node("tensorflow.Dequantize", quantized="int8", attributes={"mode": mode})
        (found[mode],) = no_minimum(node, x, *ends)
    assert found["MIN_COMBINED"].tolist() == [np.float32(129 * 2) / np.float32(255), np.float32(260) / np.float32(255)]
    np.testing.assert_allclose(found["MIN_FIRST"], found["MIN_COMBINED"], rtol=1e-6)
    with pytest.raises(ValueError, match="nothing to mistake"):
        no_minimum(make_node("tensorflow.Dequantize", quantized="int8", attributes={"mode": "SCALED"}), x, *ends)
