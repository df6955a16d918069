"""StableHLO's two operators: numbers computed by hand, and types that the document excludes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.stablehlo_uniform_quantize_variants import IN_VECTORS
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

QUANTIZE, DEQUANTIZE = "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"


def case_of(operator: str, types: tuple[str, str], *values: Any, **attributes: int) -> Case:
    node = make_node(operator, real=types[0], quantized=types[1], attributes=attributes)
    inputs = tuple(np.array(one).astype(kind.dtype) for one, kind in zip(values, node.inputs, strict=True))
    return Case("a", node, inputs, "typed")


def solved(case: Case, *, working: bool = False) -> tuple[list[int], list[int]]:
    """Codes and states by the oracle, which the kernel gives too."""
    (problem,) = problems_of(case)
    codes, states = oracle.solve(problem, working=working)
    again = kernel.solve(problem, working=working)
    assert (codes == again[0]).all() and (states == again[1]).all()
    return codes.tolist(), states.tolist()


def test_the_zero_point_is_added_before_rounding() -> None:
    """0.5 + 1 and 1.5 + 1 are ties, which go to 2; rounded first they give 0 + 1 and 2 + 1."""
    assert solved(case_of(QUANTIZE, ("float32", "int8"), [0.5, 1.5, -0.5], 1.0, 1))[0] == [2, 2, 0]
    assert solved(case_of(QUANTIZE, ("float32", "int8"), [0.5, 1.5, -0.5], 1.0, 2))[0] == [2, 4, 2]


def test_the_ends_are_those_of_the_type_unless_it_has_others() -> None:
    case = case_of(QUANTIZE, ("float32", "uint8"), [-1, 300, np.inf, 7], 1.0, 0)
    assert solved(case) == ([0, 255, 255, 7], [OUT_OF_RANGE] * 3 + [IN_RANGE])
    narrow = case_of(QUANTIZE, ("float32", "int8"), [-9, 9, 0], 1.0, 0, storage_min=-4, storage_max=6)
    assert solved(narrow)[0] == [-4, 6, 0]


def test_a_quantized_operand_is_the_number_that_it_stands_for() -> None:
    """(q - 1) * 0.5 - 2: -2.5 goes to the even -2, 61.0 is 61, -66.5 goes to -66."""
    case = case_of(QUANTIZE, ("int8", "int8"), [0, 127, -128], 1.0, -2, 0.5, 1)
    assert solved(case)[0] == [-2, 61, -66]


def test_an_end_that_float32_lacks_is_open_in_working_precision_alone() -> None:
    case = case_of(QUANTIZE, ("float32", "int32"), [3e9, -3e9, 5], 1.0, 0)
    assert solved(case)[0] == [2147483647, -2147483648, 5]
    assert solved(case, working=True)[1] == [UNDEFINED, OUT_OF_RANGE, IN_RANGE]


def test_an_end_that_float16_makes_infinite_is_open_in_working_precision_alone() -> None:
    """In float16, -2^31 is minus infinity, as zero point and as end; hypothesis found it."""
    case = case_of(QUANTIZE, ("float16", "int32"), [0.0, 6e-8], 6e-8, -(2**31))
    assert solved(case) == ([-(2**31), 1 - 2**31], [IN_RANGE, IN_RANGE])
    assert solved(case, working=True)[1] == [UNDEFINED, UNDEFINED]


def test_an_end_that_rounds_outward_stays_the_end() -> None:
    """float16 makes -32768 of -32767, which the storage range lacks: no result is outside of it."""
    ends = {"storage_min": -32767, "storage_max": 32765}
    case = case_of(QUANTIZE, ("float16", "int16"), [1, -1], 1.0, -32767, **ends)
    assert solved(case)[0] == [-32766, -32767]
    assert solved(case, working=True)[0] == [-32767, -32767]


def test_nan_is_open() -> None:
    assert solved(case_of(QUANTIZE, ("float32", "int8"), [np.nan, 1], 1.0, 0))[1] == [UNDEFINED, IN_RANGE]


def test_a_difference_has_one_bit_more_than_the_storage_type() -> None:
    """-128 - 127 is -255; no int8 holds it."""
    codes, _ = solved(case_of(DEQUANTIZE, ("float32", "int8"), [-128, 127], 0.5, 127))
    assert np.array(codes, np.uint32).view(np.float32).tolist() == [-127.5, 0.0]


@pytest.mark.parametrize(
    ("scale", "point", "attributes", "message"),
    [
        (0.0, 0, {}, "a scale is positive and finite"),
        (float("nan"), 0, {}, "a scale is positive and finite"),
        (1.0, 5, {"storage_min": -4, "storage_max": 4}, "a zero point is not from -4 to 4"),
    ],
)
def test_parameters_that_no_type_has_are_refused(
    scale: float, point: int, attributes: dict[str, int], message: str
) -> None:
    for operator in (QUANTIZE, DEQUANTIZE):
        with pytest.raises(InvalidInput, match=message):
            problems_of(case_of(operator, ("float32", "int8"), [1], scale, point, **attributes))


def test_ends_that_no_type_has_are_refused() -> None:
    with pytest.raises(InvalidInput, match="4 to -4 are no ends of a type that int8 stores"):
        make_node(QUANTIZE, real="float32", quantized="int8", attributes={"storage_min": 4, "storage_max": -4})


def read_as_signed(x: Any, scale: Any, zero: Any, own_scale: Any, own_zero: Any) -> Any:
    """As IREE 3.13 does it: one factor, one sum, and 128 to 255 are -128 to -1."""
    ratio = own_scale / scale
    shift = np.float32(zero) - np.float32(own_zero) * ratio
    return (np.clip(np.rint(x.view(np.int8).astype(np.float32) * ratio + shift), -128, 127).astype(np.int8),)


def test_an_operand_read_as_signed_is_named_with_the_factor_it_meets() -> None:
    """21 is 53.5 steps of .04 below 128, and 67 is 30.5 below: even results, which steps of numbers do not give."""
    x, halves = np.array([21, 67, 128, 129, 255], np.uint8), [np.float32(one) for one in (0.04, 0.02)]
    assert read_as_signed(x, halves[0], 0, halves[1], 128)[0].tolist() == [-54, -30, -128, -128, -64]
    cases = [case for case in indexed_cases(VECTORS / file_name(QUANTIZE, "uint8", "int8")) if "zp128-zp0" in case.id]
    assert len(cases) > 1
    named = causes_of(lambda node, *inputs: read_as_signed(*inputs), cases)
    assert set(named) == {sentence_of("input-as-signed + ratio-and-shift-in-float32")}


def without_scale(node: Any, x: Any, scale: Any, zero: Any) -> Any:
    """As IREE 3.13 does it with a subnormal scale: 0 / 0 is the lowest int32, which saturates in whole vectors of 4."""
    assert 0 < scale < 2.0**-126 and (np.abs(x) < 2.0**-126).all()
    found = [-(2**31)] * len(x)
    body = len(found) // 4 * 4
    saturated = [min(max(one, -128), 127) for one in found[:body]]
    return (np.array([*saturated, *(one % 256 - 256 * (one % 256 > 127) for one in found[body:])], np.int8),)


def test_a_scale_that_is_flushed_has_a_cause_in_vectors_and_behind_them() -> None:
    """Nine numbers: two vectors of 4 with -128, and one with the low bits of the lowest int32, 0."""
    every = indexed_cases(VECTORS / file_name(QUANTIZE, "float32", "int8"))
    cases = [case for case in every if "scale-subnormal" in case.id]
    assert [case.size for case in cases] == [9]
    assert without_scale(None, *cases[0].inputs)[0].tolist() == [-128] * 8 + [0]
    found = f"flushes-scales + saturates-int32-to-signed:{IN_VECTORS}"
    assert causes_of(without_scale, cases) == {sentence_of(found): 9}


def test_an_end_that_float32_lacks_is_clamped_to_as_float32_has_it() -> None:
    """Both ends are 2^31 in float32, which no int32 holds; StableHLO's interpreter gives 2147483647."""
    ends = {"storage_min": 2147483644, "storage_max": 2147483654}
    case = case_of(QUANTIZE, ("float32", "uint32"), [-1000.0, 0.0], 1.0, 2147483648, **ends)
    mistakes = {cause.id: run for cause, run in TESTED[QUANTIZE].mistakes}
    (found,) = mistakes["highest-of-signed"](case.node, *case.inputs)
    assert found.tolist() == [2147483647, 2147483647] and solved(case, working=True)[0] == [2147483648, 2147483648]


def with_a_factor(node: Any, x: Any, scale: Any, zero: Any) -> Any:
    """As IREE 3.13 does it, where subnormal numbers are 0: it knows the scale, and 2^127 is 1 / 2^-127."""
    assert scale == np.float32(2.0**-127)
    normal = np.where(np.abs(x) < 2.0**-126, np.float32(0), x)
    return (np.clip(np.rint(normal * np.float32(2.0**127) + np.float32(zero)), -128, 127).astype(np.int8),)


def test_a_subnormal_scale_whose_reciprocal_is_exact_is_a_factor() -> None:
    """2^-125 is 4 steps of 2^-127, and 2^-127, one step, counts as 0; with the scale 2^-128 all are at an end."""
    case = case_of(QUANTIZE, ("float32", "int8"), [2.0**-125, 2.0**-127, -(2.0**-126), 1e-38, 1.0], 2.0**-127, 3)
    assert solved(case)[0] == [7, 4, 1, 5, 127] and with_a_factor(None, *case.inputs)[0].tolist() == [7, 3, 1, 3, 127]
    mistakes = {cause.id: run for cause, run in TESTED[QUANTIZE].mistakes}
    of_factor = mistakes["flushes-inputs-and-scales-but-factors"]
    assert of_factor(case.node, *case.inputs)[0].tolist() == [7, 3, 1, 3, 127]
    assert mistakes["flushes-inputs-and-scales"](case.node, *case.inputs)[0].tolist() != [7, 3, 1, 3, 127]
    smaller = case_of(QUANTIZE, ("float32", "int8"), [2.0**-125, -(2.0**-126), 1.0], 2.0**-128, 3)
    assert of_factor(smaller.node, *smaller.inputs)[0].tolist() == [127, -128, 127]


def test_a_run_names_what_a_scale_that_is_a_factor_does() -> None:
    case = case_of(QUANTIZE, ("float32", "int8"), [2.0**-125, 2.0**-127, -(2.0**-126), 1e-38, 1.0], 2.0**-127, 3)
    named = causes_of(with_a_factor, [case])
    assert named == {sentence_of("flushes-inputs"): 2}
