"""What tensorflow.QuantizeV2 and tensorflow.Dequantize share: contests, ranges, what is a node and what is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from answers_of_tensorflow_ranges import SCALED, WIDTHLESS, D, Q, case, outputs

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problems import problems_of


@pytest.mark.parametrize("operator", [Q, D])
def test_judged_answers_of_the_contests_are_the_oracles(operator: str) -> None:
    for contest in get_operator(operator).contested:
        judged = next(answer.gives for answer in contest.answers if answer.judged)
        if judged == "error":
            with pytest.raises(InvalidInput):
                outputs(case(operator, contest.inputs, **contest.node))
            continue
        found = outputs(case(operator, contest.inputs, **contest.node))[0]
        assert set(found) == {None} if judged == "unspecified" else tuple(found) == judged, contest.id
        assert any(answer.gives != judged for answer in contest.answers) or "shape" in contest.question, contest.id


def test_narrow_range_changes_scale_and_range_in_scaled_only() -> None:
    x, narrow = [-10.0, 10.0], {"narrow_range": True}
    assert outputs(case(Q, (x, -10, 9), SCALED | narrow, quantized="int8")) == [[-127, 127], [-10], [10]]
    for mode in ("MIN_COMBINED", "MIN_FIRST"):
        plain = outputs(case(Q, (x, -10, 9), {"mode": mode}, quantized="int8"))
        assert outputs(case(Q, (x, -10, 9), {"mode": mode} | narrow, quantized="int8")) == plain
    assert outputs(case(D, ([-127, 127], -127.0, 100.0), SCALED | narrow, quantized="int8"))[0] == [-127, 127]


def test_axis_gives_each_slice_its_own_range_and_the_ranges_their_shape() -> None:
    x, ends = [[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]], ([0.0, 0.0, 0.0], [1.0, 2.0, 4.0])
    found = case(Q, (x, *ends), {"axis": 1}, quantized="uint8")
    assert outputs(found)[0] == [255] * 6
    assert [problem.shape for problem in problems_of(found)] == [(2, 3), (3,), (3,)]
    back = case(D, (np.full((2, 3), 255), *ends), {"axis": 1}, quantized="uint8")
    assert outputs(back)[0] == [1, 2, 4, 1, 2, 4]


def test_what_is_unspecified() -> None:
    for x, low, high, attributes, quantized in (
        (1.0, 1.0, 2.0, {}, "uint8"),  # no zero in the range
        (1.0, 0.0, 0.001, {}, "uint8"),  # smaller than ensure_minimum_range
        (1.0, 3.0, -3.0, SCALED, "uint8"),  # inverted
        (0.0, 0.0, 0.0, {"ensure_minimum_range": 0.0}, "uint8"),  # no width
        (1.0, -2.0, 2.0, {}, "int16"),  # the offset of other signed types
        (math.nan, -2.0, 2.0, {}, "uint8"),
        (math.inf, -2.0, 2.0, SCALED, "uint8"),
        (1.0, -2.0, math.inf, SCALED, "int8"),
    ):
        found = case(Q, ([x], low, high), attributes, quantized=quantized)
        assert outputs(found)[0] == [None], found.node.key
    assert outputs(case(D, ([1], 2.0, -2.0), {}, quantized="uint8"))[0] == [None]
    assert outputs(case(D, ([1], 0.0, 1.0), {}, quantized="int32"))[0] == [None]


def test_a_range_on_one_side_of_zero_has_the_factor_of_that_side() -> None:
    """[-10, -9.95] to int8: 128 / 10, and 127 / 12.8 above; a nearer end of the other sign has no part."""
    found = case(Q, ([-10.0, 9.921875, 20.0], -10, -9.95), SCALED | WIDTHLESS, quantized="int8")
    back = case(D, ([-128, 127], -10.0, -9.95), SCALED, quantized="int8")
    for working in (False, True):
        assert outputs(found, working=working) == [[-128, 127, 127], [-10], [9.921875]]
        assert outputs(back, working=working) == [[-10, 9.921875]]


@pytest.mark.parametrize(
    ("operator", "attributes", "types", "message"),
    [
        (Q, {"mode": "MIN_FIRST", "round_mode": "HALF_TO_EVEN"}, {}, "SCALED only"),
        (Q, {"round_mode": "HALF_TO_EVEN"}, {}, "SCALED only"),
        (Q, {"mode": "MIN_MAX"}, {}, "not one of"),
        (Q, {"round_mode": "HALF_UP"}, {}, "not one of"),
        (Q, {"axis": -2}, {}, "not an axis"),
        (Q, {"ensure_minimum_range": math.nan}, {}, "finite"),
        (Q, {"ensure_minimum_range": 1e300}, {}, "beyond float32"),
        (Q, {"ensure_minimum_range": 10**400}, {}, "beyond float32"),
        (Q, {"ensure_minimum_range": -(10**5000)}, {}, "beyond float32"),
        (Q, {"ensure_minimum_range": math.inf}, {}, "finite"),
        (Q, {"ensure_minimum_range": True}, {}, "finite"),
        (Q, {"T": "int8"}, {"quantized": "int16"}, "int16 is asked for"),
        (Q, {"T": "int8"}, {"quantized": "uint8"}, "uint8 is asked for"),
        (D, {"dtype": "float32"}, {"real": "bfloat16"}, "bfloat16 is asked for"),
        (D, {"dtype": "bfloat16"}, {"real": "float32"}, "float32 is asked for"),
        (Q, {"narrow_range": 2}, {}, "true or false"),
        (Q, {}, {"real": "float64"}, "real type"),
        (Q, {}, {"quantized": "uint32"}, "quantized type"),
        (D, {"mode": "SCALED"}, {"real": "bfloat16"}, "MIN_COMBINED only"),
        (D, {"mode": "MIN_FIRST", "dtype": "bfloat16"}, {}, "MIN_COMBINED only"),
        (D, {"dtype": "float16"}, {}, "not one of"),
    ],
)
def test_nodes_that_the_documents_do_not_allow(
    operator: str, attributes: dict[str, Any], types: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        make_node(operator, attributes=attributes, **types)


def test_an_attribute_says_the_type_where_none_is_asked_for() -> None:
    assert make_node(Q, attributes={"T": "int16"}).output_type == "int16"
    assert make_node(D, attributes={"dtype": "bfloat16"}).output_type == "bfloat16"
    assert make_node(D, real="bfloat16", attributes={"dtype": "bfloat16"}).output_type == "bfloat16"


@pytest.mark.parametrize(
    ("shape", "axis", "ranges", "message"),
    [
        ((2, 3), 1, ((2,), (2,)), "needs"),
        ((2, 3), 1, ((), ()), "needs"),
        ((2, 3), -1, ((1,), (1,)), "needs"),
        ((2, 3), 2, ((2,), (2,)), "outside"),
        ((2, 3), 0, ((2,), (3,)), "max_range"),
    ],
)
def test_shapes_that_do_not_fit(
    shape: tuple[int, ...], axis: int, ranges: tuple[tuple[int, ...], tuple[int, ...]], message: str
) -> None:
    for operator in (Q, D):
        inputs = (np.zeros(shape), np.zeros(ranges[0]), np.ones(ranges[1]))
        with pytest.raises(InvalidInput, match=message):
            problems_of(case(operator, inputs, {"axis": axis}, quantized="uint8"))


def test_every_clause_has_a_role_and_ids_are_unique() -> None:
    for operator in (Q, D):
        spec = get_operator(operator)
        ids = [clause.id for clause in spec.clauses]
        assert len(set(ids)) == len(ids)
        assert set(ids) == set(spec.roles.values())
        assert all(found.startswith(f"{spec.prefix}-") for found in ids)


@pytest.mark.slow
def test_tensorflow_itself_through_the_adapter() -> None:
    """Exact on binary grids; refusals carry TensorFlow's own words; a node of another operator is refused."""
    isolated = IsolatedBackend("tensorflow-no-onednn", time_limit=60)
    try:
        isolated.start()
        forth = case(Q, ([[-0.5, 1.5, 300.0]], -128, 127), SCALED, quantized="int8")
        quantized = isolated.run(forth)
        assert [array.tolist() for array in quantized.outputs] == [[[-1, 2, 127]], -128, 127]
        home = case(D, ([0, 255], 0.0, 1.0), {"dtype": "bfloat16"}, quantized="uint8")
        back = isolated.run(home)
        assert (back.outputs[0].dtype.name, back.outputs[0].tolist()) == ("bfloat16", [0, 1])
        refused = isolated.run(case(Q, ([1.0, 1.0], [0.0, 0.0], [1.0, 2.0]), {"mode": "MIN_FIRST", "axis": 0}))
        assert (refused.status, "MIN_FIRST mode is not implemented" in refused.message) == ("unsupported", True)
        assert isolated.attestation([forth.node.key, home.node.key])["operators"] == "Dequantize, QuantizeV2"
    finally:
        isolated.close()
