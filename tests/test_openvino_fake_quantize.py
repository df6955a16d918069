"""openvino.FakeQuantize: the project's own expected values, clauses by hand, oracle against kernel, real OpenVINO."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.precisions import EXACT
from tiebreak.golden import kernel, oracle
from tiebreak.golden.elements import FloatType, decode, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO, Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES

OPERATOR = "openvino.FakeQuantize"
EVEN, AWAY, DOWN = "ROUND_NEAREST_TOWARD_EVEN", "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_DOWNWARD"
Limits = tuple[object, object, object, object]


def case_of(x: object, limits: Sequence[object], levels: int, real: str = "float32", rule: str | None = None) -> Case:
    attributes = {"levels": levels} | ({"auto_broadcast": rule} if rule else {})
    node = make_node(OPERATOR, real=real, attributes=attributes)
    return Case("c", node, tuple(np.asarray(np.asarray(v, np.float64).astype(numpy_dtype(real))) for v in (x, *limits)))


def solved(case: Case, *, working: bool, mode: str = EVEN) -> tuple[list[float | None], Array]:
    """The oracle's values (None where undefined) and states; the kernel must say the same."""
    (problem,) = problems_of(case)
    codes, states = oracle.solve(problem, working=working, mode=mode)
    again = kernel.solve(problem, working=working, mode=mode)
    assert np.array_equal(codes, again[0]) and np.array_equal(states, again[1])
    kind = problem.result
    assert isinstance(kind, FloatType)
    bits = [code & ((1 << kind.bits) - 1) for code in codes.tolist()]
    values = [None if state == UNDEFINED else float(decode(b, kind)) for b, state in zip(bits, states, strict=True)]
    return values, states


def exact(
    x: object, limits: Sequence[object], levels: int, real: str = "float32", mode: str = EVEN
) -> list[float | None]:
    return solved(case_of(x, limits, levels, real), working=False, mode=mode)[0]


def working(
    x: object, limits: Sequence[object], levels: int, real: str = "float32", mode: str = EVEN
) -> list[float | None]:
    return solved(case_of(x, limits, levels, real), working=True, mode=mode)[0]


def channels(*values: float) -> Array:
    return np.array(values).reshape(-1, 1, 1)


# OpenVINO, op_reference/fake_quantize.cpp (Apache-2.0): x counts up from 0; shape, levels, limits, expected values.
PUBLIC: tuple[tuple[tuple[int, ...], int, Limits, list[float]], ...] = (
    ((1, 2, 3, 4), 4, (0, 23, 2, 16), [2.0] * 4 + [6.6666669] * 8 + [11.33333301] * 8 + [16.0] * 4),
    ((1, 2, 3, 4), 5, (3, 17, 2, 16), [2.0] * 5 + [5.5] * 4 + [9.0] * 3 + [12.5] * 4 + [16.0] * 8),
    (
        (1, 2, 5, 5),
        5,
        (channels(5, 30), channels(10, 40), channels(0, 50), channels(20, 70)),
        [0.0] * 6 + [5.0, 10.0, 10.0, 15.0] + [20.0] * 15
        + [50.0] * 7 + [55.0] * 2 + [60.0] * 3 + [65.0] * 2 + [70.0] * 11,
    ),
)  # fmt: skip


@pytest.mark.parametrize("real", ["float32", "float16"])
@pytest.mark.parametrize(("shape", "levels", "limits", "expected"), PUBLIC)
def test_openvinos_own_expected_values(
    shape: tuple[int, ...], levels: int, limits: Limits, expected: list[float], real: str
) -> None:
    """None of their inputs is a tie, so every nearest rule gives them: in one of both forms, bit for bit."""
    case = case_of(np.arange(math.prod(shape)).reshape(shape), limits, levels, real)
    wanted = np.array(expected, np.float32).astype(numpy_dtype(real)).astype(float).tolist()
    for mode in case.node.modes:
        forms = [solved(case, working=form, mode=mode)[0] for form in (False, True)]
        assert all(w in pair for w, *pair in zip(wanted, *forms, strict=True)), mode


def test_branches_copy_the_output_limits() -> None:
    limits = (-1, 3, -0.7, 0.1)
    x = [-2, -1, 3.0000002384185791, 99, -math.inf, math.inf]
    low, high = float(np.float32(-0.7)), float(np.float32(0.1))
    for form in (exact, working):
        assert form(x, limits, 5) == [low, low, high, high, low, high]


def test_formula_by_hand() -> None:
    """(1 - 0) / 4 * 8 = 2; 2 / 8 * (5 - 1) + 1 = 2, and so on."""
    assert exact([1, 1.2, 1.3, 4], (0, 4, 1, 5), 9) == [2, 2, 2.5, 5]
    assert working([1, 1.2, 1.3, 4], (0, 4, 1, 5), 9) == [2, 2, 2.5, 5]


def test_last_addend_and_product() -> None:
    """1/3 of 7 plus -2, rounded once or at each step."""
    third, product = np.float32(1) / np.float32(3), np.float32(1) / np.float32(3) * np.float32(7)
    assert exact([1], (0, 3, -2, 5), 4) == [float(np.float32(1 / 3))]
    assert working([1], (0, 3, -2, 5), 4) == [float(product + np.float32(-2))]
    assert float(product + np.float32(-2)) != float(third)


def test_working_precision_follows_the_formulas_order() -> None:
    """What OpenVINO's reference kernel gives for these."""
    assert working([7, 14, 15], (0, 23, 0, 23), 24) == [6.999999523162842, 13.999999046325684, 15.000000953674316]
    assert exact([7, 14, 15], (0, 23, 0, 23), 24) == [7, 14, 15]


def test_ties_are_open_and_only_they() -> None:
    results = {mode: exact([0.5, 1.5, 2.5, 2.4999998], (0, 8, 0, 8), 9, mode=mode) for mode in ROUND_MODES}
    assert results[EVEN] == [0, 2, 2, 2]
    assert results[AWAY] == [1, 2, 3, 2]
    assert results[DOWN] == [0, 1, 2, 2]
    assert set(make_node(OPERATOR, attributes={"levels": 2}).modes) == {m for m in ROUND_MODES if "NEAREST" in m}


@pytest.mark.parametrize("levels", [2, 5, 256])
def test_equal_input_limits_binarize_whatever_the_levels(levels: int) -> None:
    for form in (exact, working):
        assert form([0.5, 1, 1.0000001192092896, 9], (1, 1, -5, 7), levels) == [-5, -5, 7, 7]


def test_reversed_input_limits() -> None:
    """Between them (x - 2) / (1 - 2) falls from 1 to 0; outside, min and max decide."""
    for form in (exact, working):
        assert form([0, 1, 1.25, 1.5, 2, 2.25], (2, 1, 0, 4), 5) == [0, 0, 3, 2, 0, 4]


def test_reversed_and_equal_output_limits() -> None:
    """The document calls them minimum and maximum: what is reversed is open."""
    for form in (exact, working):
        assert form([0, 0.5, 1, 2, 3], (0, 2, 4, 0), 5) == [None] * 5
    assert exact([0, 0.5, 1, 2, 3], (0, 2, 0.375, 0.375), 16) == [0.375] * 5


@pytest.mark.parametrize("levels", [65536, (1 << 24) + 2, (1 << 62) + 3])
def test_many_levels(levels: int) -> None:
    """A level is nearer to x than half a step, in real numbers."""
    (got,) = exact([0.7], (0, 1, 0, 1), levels, "float64")
    assert got is not None
    assert abs(got - 0.7) <= 0.5 / (levels - 1) + 2.0**-54


def test_levels_are_held_in_the_type_in_working_precision() -> None:
    """65535 is 65536 in bfloat16, and beyond float16."""
    assert working([0.5], (0, 1, 0, 1), 65536, "bfloat16") == [0.5]
    (held,) = working([0.5], (0, 1, 0, 1), 65536, "float16")
    assert held is not None
    assert math.isnan(held), "infinite levels over infinite levels, as IEEE 754 has it"
    assert exact([0.5], (0, 1, 0, 1), 65536, "float16") == [0.5]


def test_signs_of_zero_are_not_told_apart() -> None:
    case = case_of([-3.0, 0.0, 3.0], (-1, 1, -0.0, 4), 5)
    assert solved(case, working=False)[1].tolist() == [ZERO, IN_RANGE, IN_RANGE]
    assert solved(case_of([0.0], (-1, 1, -1, 1), 3), working=True)[1].tolist() == [ZERO]


def test_what_the_document_is_silent_on() -> None:
    assert exact([math.nan], (0, 4, 0, 4), 5) == [None]
    for position in range(4):
        for special in (math.nan, math.inf, -math.inf):
            limits = [0.0, 4.0, 0.0, 4.0]
            limits[position] = special
            if position in (0, 1) and math.isnan(special):
                assert exact([1, -1], limits, 5) == [None, None]
            assert exact([1], limits, 5) == [None] or (position < 2 and abs(special) == math.inf)


def test_a_branch_asks_only_for_the_limits_that_it_uses() -> None:
    assert exact([-5], (0, 1, 3, math.inf), 5) == [3]
    assert exact([5], (-math.inf, 1, 3, 4), 5) == [4]
    (copied,) = exact([-5], (0, 1, math.nan, 4), 5)
    assert copied is not None
    assert math.isnan(copied)


def test_range_wider_than_the_type_overflows_in_working_precision() -> None:
    largest = float(np.finfo(np.float32).max)
    assert exact([1], (-largest, largest, -1, 1), 3) == [0]
    assert working([1], (-largest, largest, -1, 1), 3) == [-1]
    (got,) = working([0.25], (0, 1, -largest, largest), 3)
    assert got is not None
    assert not math.isfinite(got)


def test_each_limit_is_broadcast_on_its_own() -> None:
    x = np.full((2, 3), 9.0)
    limits = (np.zeros((2, 1)), np.ones(3), 0.0, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert exact(x, limits, 2) == [1, 2, 3, 4, 5, 6]
    below = (np.ones((2, 1)), np.ones(1), np.array([[7.0], [8.0]]), 9.0)
    assert exact(np.zeros((2, 3)), below, 2) == [7, 7, 7, 8, 8, 8]


@pytest.mark.parametrize(
    ("limit_shape", "rule", "fits"),
    [
        ((3,), None, True), ((2, 1), None, True), ((), None, True), ((1, 1), "numpy", True), ((2, 3), "none", True),
        ((2,), None, False), ((1, 2, 3), None, False), ((3, 3), None, False), ((3,), "none", False),
        ((), "none", False),
    ],
)  # fmt: skip
def test_shapes_that_fit(limit_shape: tuple[int, ...], rule: str | None, fits: bool) -> None:
    rest = np.zeros((2, 3)) if rule == "none" else 0.0
    case = case_of(np.zeros((2, 3)), (rest, np.ones(limit_shape), rest, rest), 4, rule=rule)
    if fits:
        assert problems_of(case)[0].shape == (2, 3)
        return
    with pytest.raises(InvalidInput, match="input_high"):
        problems_of(case)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "needs the attribute 'levels'"),
        ({"levels": 1}, "1 is less than 2"),
        ({"levels": 4.0}, "not an integer"),
        ({"levels": True}, "not an integer"),
        ({"levels": 4, "auto_broadcast": "pdpd"}, "numpy, none"),
        ({"levels": 4, "round_mode": EVEN}, "no attribute 'round_mode'"),
    ],
)
def test_what_is_not_allowed(attributes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make_node(OPERATOR, attributes=attributes)


def test_integers_are_not_allowed() -> None:
    with pytest.raises(InvalidInput, match="real type"):
        make_node(OPERATOR, real="int8", attributes={"levels": 4})


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(cases(operator=OPERATOR))
def test_oracle_and_kernel_agree(case: Case) -> None:
    (problem,) = problems_of(case)
    for mode in ROUND_MODES:
        for form in (False, True):
            wanted, got = (truth.solve(problem, working=form, mode=mode) for truth in (oracle, kernel))
            assert np.array_equal(wanted[0], got[0]) and np.array_equal(wanted[1], got[1]), (mode, form)


@pytest.fixture(scope="module", params=["OpenVino", "as_shipped", "limits_as_inputs"])
def openvino(request: pytest.FixtureRequest) -> Iterator[IsolatedBackend]:
    isolated = IsolatedBackend(f"tiebreak.adapters.openvino:{request.param}", time_limit=60)
    isolated.start()
    yield isolated
    isolated.close()


def test_openvino_runs_a_compiled_model(openvino: IsolatedBackend) -> None:
    """Ties to even, limits of different shapes, two sets of limits for one node."""
    case = case_of([0.5, 1.5, 2.5, -1, 99], (0, 8, 0, 8), 9)
    first = openvino.run(case)
    assert first.status == "ok", first.message
    assert first.outputs[0].tolist() == [0, 2, 2, 0, 8]
    x, high = np.arange(6.0).reshape(2, 3), np.array([[1.0], [2.0]])
    second = openvino.run(case_of(x, (0, high, 0, high * 4), 9))
    assert second.outputs[0].tolist() == [[0, 4, 4], [8, 8, 8]]
    assert second.outputs[0].dtype == np.float32
    given = "inputs" if "inputs" in openvino.name else "constants"
    assert f"FakeQuantize: static, its limits {given}" in openvino.attestation([case.node.key])["shapes"]


@pytest.mark.parametrize("real", ["float16", "bfloat16", "float64"])
def test_openvino_gives_the_nodes_type(openvino: IsolatedBackend, real: str) -> None:
    """Not with an output step of 1 from 0 on: there OpenVINO 2026.4 does not round in bfloat16."""
    outcome = openvino.run(case_of([0.5, 1.5, 2.5, 3.25, -1, 99], (0, 8, -1, 7), 9, real))
    assert outcome.status == "ok", outcome.message
    assert outcome.outputs[0].dtype == numpy_dtype(real)
    assert outcome.outputs[0].astype(float).tolist() == [-1, 1, 1, 2, -1, 7]


def test_limits_of_single_elements_may_fall_in_exact_arithmetic() -> None:
    """Recorded cases with several output limits are one probe: some rise, and some fall."""
    arithmetic = arithmetic_of(make_node(OPERATOR, real="float32", attributes={"levels": 5}))
    exact = (EXACT, *arithmetic.documented[1:])
    x, ends = np.linspace(-2, 3, 12, dtype=np.float32), np.array([-1, 2], np.float32)
    falls = np.arange(x.size) % 2 == 1
    limits = np.where(falls, [[7], [-3]], [[-3], [7]]).astype(np.float32)
    (found,) = arithmetic.staged(Probe(x, (*(np.full(x.shape, end) for end in ends), *limits)), [exact])
    for number, pair in enumerate(np.array([[-3, 7], [7, -3]], np.float32)):
        (alone,) = arithmetic.staged(Probe(x, tuple(np.asarray(limit) for limit in (*ends, *pair))), [exact])
        for one, other in zip(found, alone, strict=True):
            assert one[falls == number].tolist() == other[falls == number].tolist()
