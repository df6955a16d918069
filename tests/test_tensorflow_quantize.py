"""tensorflow.QuantizeV2 and tensorflow.Dequantize: TensorFlow's own test values, clauses by hand, both truths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.generators import cases
from tiebreak.golden import kernel, oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, make_node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.pose import problems_of
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise, Problem
from tiebreak.golden.rounding import ROUND_MODES

Q, D = "tensorflow.QuantizeV2", "tensorflow.Dequantize"


def case(operator: str, inputs: Sequence[Any], attributes: dict[str, Any], **types: str) -> Case:
    node = make_node(operator, attributes=attributes, **types)
    return Case("c", node, tuple(np.array(v, t.dtype) for v, t in zip(inputs, node.inputs, strict=True)))


def values(problem: Problem, *, working: bool) -> list[float | None]:
    """What the oracle says as numbers; None where the document says nothing."""
    codes, states = oracle.solve(problem, working=working)
    assert isinstance(problem, Elementwise)
    kind = problem.result.name
    if kind == "bfloat16":
        numbers = (codes.astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = codes.astype(np.uint32).view(np.float32) if kind == "float32" else codes
    return [None if state == UNDEFINED else float(n) for n, state in zip(numbers, states, strict=True)]


def outputs(found: Case, *, working: bool = False) -> list[list[float | None]]:
    return [values(problem, working=working) for problem in problems_of(found)]


# quantize_op_test.cc: attributes, T, input, range, output, range returned.
SCALED = {"mode": "SCALED"}
# What these two tests leave at its default, where the document does not say which range is meant (see the contests).
WIDTHLESS = {"ensure_minimum_range": 0.0}
PUBLIC_QUANTIZE: dict[
    str, tuple[dict[str, Any], str, list[float], tuple[float, float], list[int], tuple[float, float]]
] = {
    "QuantizeV2": (
        {"mode": "MIN_FIRST"},
        "uint8",
        [1.0, 1.25, 1.75, 127, 255, 500],
        (0, 255),
        [1, 1, 2, 127, 255, 255],
        (0, 255),
    ),
    "QuantizeV2_32Bit": (
        {"mode": "MIN_FIRST"},
        "int32",
        [-500.0, 0, 1, 1.25, 1.75, 127, 255, 500],
        (-256, 256),
        [-(2**31), 0, 1 << 23, 5 << 21, 7 << 21, 127 << 23, 255 << 23, 2**31 - 1],
        (-256, 256),
    ),
    "QuantizeV2Quint8Scaled": (
        SCALED,
        "uint8",
        [-255.0, 0, 1, 1.25, 1.75, 64, 127, 500],
        (-255, 127),
        [0, 0, 2, 3, 4, 129, 255, 255],
        (0, 127),
    ),
    "QuantizeV2Quint8ScaledSmallInputRange": (SCALED, "uint8", [-1.0, 0, 2], (-1, 2), [0, 0, 255], (0, 2)),
    "QuantizeV2Qint8Scaled": (
        SCALED,
        "int8",
        [-127.0, 0, 1, 1.25, 1.75, 64, 127],
        (-127, 127),
        [-127, 0, 1, 1, 2, 64, 127],
        (-128, 127),
    ),
    "QuantizeV2Qint8ScaledNarrowRange": (
        SCALED | {"narrow_range": True},
        "int8",
        [-127.0, 0, 1, 1.25, 1.75, 64, 127],
        (-127, 127),
        [-127, 0, 1, 1, 2, 64, 127],
        (-127, 127),
    ),
    "QuantizeV2Qint8ScaledSmallInputRange": (
        SCALED,
        "int8",
        [-0.064, 0, 0.127],
        (-0.064, 0.127),
        [-64, 0, 127],
        (-0.128, 0.127),
    ),
    "QuantizeV2Qint8ScaledNarrowRangeSmall": (
        SCALED | {"narrow_range": True},
        "int8",
        [-0.064, 0, 0.127],
        (-0.064, 0.127),
        [-64, 0, 127],
        (-0.127, 0.127),
    ),
    "QuantizeV2Qint8ScaledRoundToEven": (
        SCALED | {"round_mode": "HALF_TO_EVEN"} | WIDTHLESS,
        "int8",
        [-126.5, 0, 1, 2.5, 3.5, 64, 127],
        (-128, -128),
        [-126, 0, 1, 2, 4, 64, 127],
        (-128, 127),
    ),
    "QuantizeV2Qint8ScaledRoundAwayFromZero": (
        SCALED | {"round_mode": "HALF_AWAY_FROM_ZERO"} | WIDTHLESS,
        "int8",
        [-126.5, 0, 1, 2.5, 3.5, 64, 127],
        (-128, -128),
        [-127, 0, 1, 3, 4, 64, 127],
        (-128, 127),
    ),
    "QuantizeV2DisableEnsureMinimumRange": (
        SCALED | {"ensure_minimum_range": 0.0},
        "int8",
        [-0.000001, 0, 0.000042],
        (-0.000128, 0.000127),
        [-1, 0, 42],
        (-0.000128, 0.000127),
    ),
}


@pytest.mark.parametrize("name", list(PUBLIC_QUANTIZE))
@pytest.mark.parametrize("working", [False, True])
def test_public_values_of_quantize(name: str, working: bool) -> None:
    attributes, quantized, x, given_range, output, used = PUBLIC_QUANTIZE[name]
    found = outputs(case(Q, (x, *given_range), attributes, quantized=quantized), working=working)
    assert found[0] == output
    assert [end[0] for end in found[1:]] == pytest.approx(used, abs=1e-7)


def slices(shape: tuple[int, ...], axis: int | None, numbers: Sequence[float]) -> Array:
    """The numbers in turn, those of the i-th slice along the axis multiplied by i + 1."""
    count = math.prod(shape)
    flat = np.array([numbers[i % len(numbers)] for i in range(count)], np.float32).reshape(shape)
    if axis is None:
        return flat
    scale = np.arange(1, shape[axis] + 1, dtype=np.float32)
    return flat * scale.reshape([-1 if place == axis else 1 for place in range(len(shape))])


@pytest.mark.parametrize("axis", [None, 0, 1, 2, 3])
def test_public_values_per_axis(axis: int | None) -> None:
    """quantized_ops_test.py, testAxis."""
    shape, wanted = (2, 3, 4, 5), [-128, -64, 0, 38, 102, 71, 64]
    x = slices(shape, axis, [-1, -0.5, 0, 0.3, 0.8, 0.555, 0.5])
    sizes = np.arange(1, (1 if axis is None else shape[axis]) + 1, dtype=np.float32)
    ends = [np.float32(end) * sizes for end in (-1.0, 0.8)]
    attributes = SCALED | {"round_mode": "HALF_TO_EVEN"} | ({} if axis is None else {"axis": axis})
    inputs = (x, *((end[0] if axis is None else end) for end in ends))
    for working in (False, True):
        found = outputs(case(Q, inputs, attributes, quantized="int8"), working=working)
        assert found[0] == [wanted[i % 7] for i in range(120)]


def test_what_the_document_leaves_open_of_the_public_values_is_contested() -> None:
    by_id = {contest.id: contest for contest in get_operator(Q).contested}
    for name in ("tfq-range-without-zero", "tfq-range-below-zero", "tfq-equal-range"):
        contest = by_id[name]
        found = outputs(case(Q, contest.inputs, contest.node["attributes"], quantized="uint8"))
        assert set(found[0]) == {None}
        assert any("quantize_op_test" in answer.authority for answer in contest.answers)


# dequantize_op_test.cc
@pytest.mark.parametrize(
    ("quantized", "low", "high", "x", "wanted"),
    [
        ("uint8", -255.0, 127.0, 0, 0.0),
        ("uint8", -512.0, 255.0, 255, 255.0),
        ("uint8", -1.0, 2.0, 255, 2.0),
        ("uint8", 200.0, 400.0, 255, 400.0),
        ("int8", -255.0, 127.0, 0, 0.0),
        ("int8", -10.0, 127.0, -127, -127.0),
        ("int8", -2.0, 1.0, -128, -2.0),
        ("int8", -1.0, 300.0, 42, 99.212601),
    ],
)
def test_public_values_of_dequantize_scaled(quantized: str, low: float, high: float, x: int, wanted: float) -> None:
    found = case(D, ([x], low, high), SCALED, quantized=quantized)
    for working in (False, True):
        assert outputs(found, working=working)[0] == pytest.approx([wanted], rel=1e-7)


@pytest.mark.parametrize(("quantized", "lowest"), [("uint8", 0), ("int8", -128)])
def test_public_values_of_dequantize_min_combined(quantized: str, lowest: int) -> None:
    """The integers from the lowest to one below the highest, on 0 to 255."""
    found = case(D, (np.arange(lowest, lowest + 255), 0.0, 255.0), {}, quantized=quantized)
    for working in (False, True):
        assert outputs(found, working=working)[0] == list(range(255))


def test_public_values_of_dequantize_min_first() -> None:
    found = case(D, ([1, 2, 4, 8, 16, 255], 0.0, 255.0), {"mode": "MIN_FIRST"}, quantized="uint8")
    for working in (False, True):
        assert outputs(found, working=working)[0] == [1, 2, 4, 8, 16, 255]


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


def test_the_documents_examples() -> None:
    """0 to 6 in 255 steps, and [-10, 9] for int8: scaling factor 12.8, max_range adjusted to 9.921875."""
    assert outputs(case(Q, ([0.0, 6.0], 0, 6), {}, quantized="uint8"))[0] == [0, 255]
    assert outputs(case(Q, ([0.0, 6.0], 0, 6), {}, quantized="int8"))[0] == [-128, 127]
    found = outputs(case(Q, ([-10.0, 9.921875, 20.0], -10, 9), SCALED, quantized="int8"))
    assert found == [[-128, 127, 127], [-10], [9.921875]]


def test_min_first_rounds_both_products_before_it_subtracts() -> None:
    """range_scale 1: round(0.5) - round(-2.5) is 1 + 3; rounded once it would be 3."""
    found = case(Q, ([0.5, -2.5, 252.5], -2.5, 252.5), {"mode": "MIN_FIRST"}, quantized="uint8")
    assert outputs(found)[0] == [4, 0, 255]


def test_ties_by_round_mode_and_offset_of_int8() -> None:
    x = [0.5, 1.5, -0.5, -1.5, 0.49999997]
    away = outputs(case(Q, (x, -128, 127), SCALED, quantized="int8"))[0]
    even = outputs(case(Q, (x, -128, 127), SCALED | {"round_mode": "HALF_TO_EVEN"}, quantized="int8"))[0]
    combined = outputs(case(Q, (x, -128, 127), {}, quantized="int8"))[0]
    assert (away, even, combined) == ([1, 2, -1, -2, 0], [0, 2, 0, -2, 0], [1, 2, -1, -2, 0])


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


def test_scaled_needs_no_zero_in_the_range() -> None:
    assert outputs(case(Q, ([1.0, 5.0, 10.0], 1, 10), SCALED, quantized="uint8"))[0] == [26, 128, 255]


def test_a_range_on_one_side_of_zero_has_the_factor_of_that_side() -> None:
    """[-10, -9.95] to int8: 128 / 10, and 127 / 12.8 above; a nearer end of the other sign has no part."""
    found = case(Q, ([-10.0, 9.921875, 20.0], -10, -9.95), SCALED | WIDTHLESS, quantized="int8")
    back = case(D, ([-128, 127], -10.0, -9.95), SCALED, quantized="int8")
    for working in (False, True):
        assert outputs(found, working=working) == [[-128, 127, 127], [-10], [9.921875]]
        assert outputs(back, working=working) == [[-10, 9.921875]]


@pytest.mark.parametrize("quantized", ["uint8", "uint16"])
def test_dequantize_ignores_min_range_and_narrow_range_for_unsigned_types(quantized: str) -> None:
    highest = np.iinfo(quantized).max
    for narrow in (False, True):
        found = case(D, ([0, highest], 200.0, 400.0), SCALED | {"narrow_range": narrow}, quantized=quantized)
        for working in (False, True):
            assert outputs(found, working=working)[0] == pytest.approx([0, 400.0], rel=1e-7)


def test_min_first_clips_before_it_scales() -> None:
    """In float32 max_range falls short of the highest int32, and what lies beyond gives what max_range gives."""
    high = 17.44512176513672
    found = case(Q, ([2 * high, high, 1e30], -35.36893081665039, high), {"mode": "MIN_FIRST"}, quantized="int32")
    assert outputs(found)[0] == [2147483647] * 3
    assert outputs(found, working=True)[0] == [2147483520] * 3
    for mode in ROUND_MODES:
        assert_truths_agree(found, (mode,))


def test_narrow_range_leaves_the_lowest_int32_unused_in_working_precision_too() -> None:
    """-2147483647 is no float32: what its neighbour -2^31 would come out as is clamped."""
    found = case(Q, ([-10.0, -11.0, 0.0], -10, 10), SCALED | {"narrow_range": True}, quantized="int32")
    for working in (False, True):
        assert outputs(found, working=working)[0] == [-2147483647, -2147483647, 0]
    full = case(Q, ([-10.0], -10, 10), SCALED, quantized="int32")
    assert outputs(full, working=True)[0] == [-2147483648]


def test_bfloat16_is_rounded_from_the_float32_sum() -> None:
    """1 + 1/256 is a tie of bfloat16; what float32 loses here lies above it."""
    found = case(D, ([1], 1.0, 1 + 255 / 256 + 2.0**-23), {}, quantized="uint8", real="bfloat16")
    assert outputs(found)[0] == [1.0078125]
    assert outputs(found, working=True)[0] == [1.0]
    assert outputs(case(D, ([255], 0.0, 0.3), {"dtype": "bfloat16"}, quantized="uint8"))[0] == [0.30078125]


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


def assert_truths_agree(found: Case, modes: Sequence[str]) -> None:
    for problem in problems_of(found):
        for working in (False, True):
            for mode in modes:
                wanted, got = (truth.solve(problem, working=working, mode=mode) for truth in (oracle, kernel))
                assert np.array_equal(wanted[0], got[0]), (problem.output, working, mode)
                assert np.array_equal(wanted[1], got[1]), (problem.output, working, mode)


@settings(max_examples=120, deadline=None)
@given(cases(operator=Q))
def test_oracle_and_kernel_agree_on_quantize(found: Case) -> None:
    assert_truths_agree(found, found.node.modes)


@settings(max_examples=30, deadline=None)
@given(cases(operator=Q, rank=1))
def test_oracle_and_kernel_agree_in_every_rounding_mode(found: Case) -> None:
    assert_truths_agree(found, tuple(ROUND_MODES))


@settings(max_examples=120, deadline=None)
@given(cases(operator=D))
def test_oracle_and_kernel_agree_on_dequantize(found: Case) -> None:
    assert_truths_agree(found, ("",))


def test_every_clause_has_a_role_and_ids_are_unique() -> None:
    for operator in (Q, D):
        spec = get_operator(operator)
        ids = [clause.id for clause in spec.clauses]
        assert len(set(ids)) == len(ids)
        assert set(ids) == set(spec.roles.values())
        assert all(found.startswith(f"{spec.prefix}-") for found in ids)


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
