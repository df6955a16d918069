"""Known mistakes get their names, whole records of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of_records

import arithmetic_of_mistakes as wb
from test_wrong_backends import operands, vectors
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.causes.cover import greedy_cover
from tiebreak.conformance.causes.explanations import Explanation
from tiebreak.conformance.judging.boundary import rounded_in_formula
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.onnx_linear import spread_over_input
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.builder import file_name
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, parse_real
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Quantization
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import UNEXPLAINED


def named(
    arithmetic: wb.Arithmetic, operator: str = "ngraph.Quantize", types: tuple[str, str] = ("float32", "int8")
) -> Counter[str]:
    """The causes given to a backend that runs all vectors of a pair of types, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [operator]})
    for case, _, _ in vectors(operator, *types):
        if case.node.round_mode == "ROUND_NEAREST_TOWARD_EVEN":
            with np.errstate(all="ignore"):
                values = np.asarray(arithmetic(operands(case)), np.int64).reshape(case.inputs[0].shape)
            record(records, case, Outcome("ok", (values.astype(case.node.outputs[0].dtype),)))
    return causes_of_records(records)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("arithmetic", "cause"),
    [
        (wb.with_mode("ROUND_NEAREST_TOWARD_INFINITY"), "wrong tie rule: NEAREST_TOWARD_INFINITY"),
        (wb.with_mode("ROUND_TOWARD_ZERO"), "wrong rounding: TOWARD_ZERO"),
        (wb.reciprocal_in(None), "multiplies by the reciprocal rounded to the input's type"),
        (wb.zero_point_first, "adds the zero point before rounding, in the input's type"),
        (wb.clamp_first, "clamps before the zero point is added"),
        (wb.narrow_low, "narrow range: the lowest value is never used"),
        (wb.no_zero_point, "ignores the zero point"),
        (wb.minus_zero_point, "subtracts the zero point"),
        (wb.quotient_in(ml_dtypes.bfloat16), "divides in bfloat16"),
        (wb.flush_inputs, "flushes subnormal inputs to zero"),
        (wb.swapped_axes, "axes swapped"),
        (wb.first_scale, "one scale for all"),
    ],
)
def test_mistake_is_named(arithmetic: wb.Arithmetic, cause: str) -> None:
    counts = named(arithmetic)
    assert max(counts, key=lambda name: counts[name]) == cause, counts
    assert counts[cause] > 0.9 * sum(counts.values())


WIDER = "casts to int32, which overflows, before a wider sum is clamped"


@pytest.mark.parametrize(
    ("arithmetic", "cause"),
    [(wb.no_clamp, "no clamp: wraps around, through int64"), (wb.cast_first(32), WIDER)],
)
def test_mistake_beyond_the_range_is_named_where_the_spec_says_saturate(arithmetic: wb.Arithmetic, cause: str) -> None:
    counts = named(arithmetic, "onnx.QuantizeLinear")
    assert max(counts, key=lambda name: counts[name]) == cause, counts


def to_odd(o: wb.Operands) -> wb.Array:
    q = wb.own(o)
    whole = np.rint(q)
    even_tie = (np.abs(q - np.trunc(q)) == 0.5) & (np.mod(whole, 2) == 0)
    return wb.clamp(np.where(even_tie, whole + np.copysign(1, q - whole), whole) + o.zero_point, o)


def guarded(guard: str, *, added: bool) -> wb.Arithmetic:
    """A scale that no division by zero comes of: a number added to it, or the least that it can be."""

    def quantize(o: wb.Operands) -> wb.Array:
        number = np.float32(guard)
        scale = o.scale + number if added else np.maximum(o.scale, number)
        return wb.clamp(np.rint(np.asarray(o.x / scale, np.float64)) + o.zero_point, o)

    return quantize


def zero_point_as_signed(o: wb.Operands) -> wb.Array:
    return wb.clamp(np.rint(wb.own(o)) + o.zero_point.astype(np.uint8).view(np.int8), o)


def next_channel(o: wb.Operands) -> wb.Array:
    scale, zero = (np.roll(p.reshape(-1), -1).reshape(p.shape) for p in (o.raw_scale, o.raw_zero_point))
    kept = [size if axis in o.axes else 1 for axis, size in enumerate(o.x.shape)]
    scales, zeros = (p.reshape(kept) if p.size != 1 else p for p in (scale, zero))
    return wb.clamp(np.rint(np.asarray(o.x / scales, np.float64)) + zeros, o)


def away_without_zero_point(o: wb.Operands) -> wb.Array:
    return wb.clamp(wb.round_mode(wb.own(o), "ROUND_NEAREST_TOWARD_INFINITY"), o)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arithmetic", "cause", "share"),
    [
        (to_odd, "ties to odd", 1.0),
        (guarded("1e-12", added=True), "1e-12 is added to the scale", 1.0),
        (guarded("1e-9", added=True), "1e-9 is added to the scale", 1.0),
        (guarded("1e-6", added=True), "1e-6 is added to the scale", 1.0),
        (guarded("1e-8", added=False), "a scale below 1e-8 is raised to it", 0.8),
        (guarded("1e-5", added=False), "a scale below 1e-5 is raised to it", 0.8),
        (zero_point_as_signed, "reads the unsigned zero point as signed", 1.0),
        (next_channel, "each channel takes the next one's scale and zero point", 1.0),
        (away_without_zero_point, "ignores the zero point, wrong tie rule: NEAREST_TOWARD_INFINITY", 0.8),
    ],
)
def test_a_mistake_gets_its_name_and_no_other(arithmetic: wb.Arithmetic, cause: str, share: float) -> None:
    counts = named(arithmetic, types=("float32", "uint8"))
    assert set(counts) <= {cause, UNEXPLAINED}
    assert counts[cause] >= share * sum(counts.values()) > 0, counts


@pytest.mark.slow
def test_an_added_half_is_not_taken_for_a_tie_rule_nor_the_other_way() -> None:
    for arithmetic, cause in (
        (wb.with_mode("ROUND_NEAREST_UPWARD"), "wrong tie rule: NEAREST_UPWARD"),
        (added_half, "floor(q + 0.5) computed in the input's type"),
    ):
        assert set(named(arithmetic)) == {cause}


def added_half(o: wb.Operands) -> wb.Array:
    return wb.clamp(np.floor(np.asarray(o.x / o.scale + np.float32(0.5), np.float64)) + o.zero_point, o)


Dequantize = Callable[[wb.Array, wb.Array, wb.Array], wb.Array]  # of x, scale and zero point, in float64


def single(values: wb.Array) -> wb.Array:
    return values.astype(np.float32).astype(np.float64)


def half(values: wb.Array) -> wb.Array:
    return values.astype(np.float16).astype(np.float64)


@pytest.mark.parametrize(
    ("arithmetic", "key"),
    [
        (lambda x, s, z: single(x * s - single(z * s)), "distributes-scale-fused"),
        (lambda x, s, z: single((x - z) / single(1 / s)), "divides-by-reciprocal"),
        (lambda x, s, z: half(half(x - z) * half(s)), "product-in:float16"),
        (lambda x, s, z: single((np.mod(x + 128, 256) - 128 - z) * s), "input-as-signed"),
        (lambda x, s, z: single((x - 2 * z) * s), "zero-point-twice"),
    ],
)
def test_a_dequantizer_gets_its_mistake_and_no_other(arithmetic: Dequantize, key: str) -> None:
    operator = "onnx.DequantizeLinear"
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [operator]})
    for case in indexed_cases(VECTORS / file_name(operator, "uint8", "float32")):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", (dequantized(case, arithmetic).astype(np.float32),)))
    counts = causes_of_records(records)
    assert counts[sentence_of(key)] == sum(counts.values()) > 0, counts


def test_a_mistake_of_vectors_alone_is_named_with_its_place() -> None:
    """As LiteRT: vectors of 8 distribute the scale, and what is left over is right."""
    rng = np.random.default_rng(8)
    node = make_node("onnx.DequantizeLinear", quantized="uint8")
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [node.operator]})
    for size in (7, 8, 31, 36, 67, 99, 125, 128):
        x, scale, zero = rng.integers(0, 256, size), np.float32(rng.uniform(0.1, 1)), np.uint8(131)
        case = Case(f"of {size}", node, (x.astype(np.uint8), np.array(scale), np.array(zero)))
        left = np.arange(size) >= size - size % 8
        wide = np.float64(scale)
        y = np.where(left, single((x - 131) * wide), single(single(x * wide) - single(131 * wide)))
        record(records, case, Outcome("ok", (y.astype(np.float32),)))
    counts = causes_of_records(records)
    assert set(counts) == {"input * scale - zero_point * scale, in the body of a vector loop of 8"}


def dequantized(case: Case, arithmetic: Dequantize) -> wb.Array:
    x, scale, *rest = case.inputs
    zero = rest[0] if rest else np.zeros(scale.shape, np.uint8)
    wide = (spread_over_input(case.node, p.reshape(scale.shape), x.shape) for p in (scale, zero))
    scales, zeros = (p.astype(np.float64) for p in wide)
    return np.asarray(arithmetic(x.astype(np.float64), scales, zeros))


def test_a_truncating_tail_is_not_called_truncation() -> None:
    counts = named(wb.in_places(wb.tail(16), wb.with_mode("ROUND_TOWARD_ZERO")))
    assert "wrong rounding: TOWARD_ZERO" not in counts
    # In tensors too short to have a tail, nothing can be said.
    assert counts["the tail of a vector loop of 16 rounds TOWARD_ZERO"] > 30
    assert sum(counts.values()) - counts[UNEXPLAINED] == counts["the tail of a vector loop of 16 rounds TOWARD_ZERO"]


@pytest.mark.parametrize(
    ("operator", "cause"),
    [
        ("onnx.QuantizeLinear", "wrong tie rule: NEAREST_TOWARD_INFINITY"),
        ("ngraph.Quantize", "wrong tie rule: NEAREST_TOWARD_INFINITY"),
    ],
)
def test_another_rule_per_axis_is_not_called_a_vector_loop(operator: str, cause: str) -> None:
    """Every element rounds away there; cases without a tie in the tail do not tell that from a body that does."""
    away, other = wb.with_mode("ROUND_NEAREST_TOWARD_INFINITY"), wb.reciprocal_in(None)
    counts = named(lambda o: away(o) if o.raw_scale.size > 1 else other(o), operator)
    assert set(counts) == {cause, "multiplies by the reciprocal rounded to the input's type"}
    assert counts[cause] > 130


def test_what_nothing_explains_stays_unexplained() -> None:
    counts = named(lambda o: o.lowest + (wb.right_own_type(o) * 37 + 11) % 101)
    assert counts[UNEXPLAINED] > 0.5 * sum(counts.values())


def test_settle_prefers_what_explains_most_and_needs_consistency() -> None:
    often, seldom = Cause("wraps", "range"), Cause("flushes", "quotient")
    both, one = frozenset({often, seldom}), frozenset({often})
    nothing: frozenset[Cause] = frozenset()
    group = [Explanation(both, both), Explanation(one, one), Explanation(nothing, frozenset({seldom}))]
    (chosen,) = greedy_cover([Counter(group)])
    assert [chosen[explanation].id for explanation in group] == ["wraps", "wraps", UNEXPLAINED]


def test_distance_from_a_boundary() -> None:
    real, result = FLOAT_TYPES["float32"], INTEGER_TYPES["int32"]
    one, zero = np.array(parse_real("1", real)), np.array(0)

    def distance(x: str, mode: str) -> float:
        code = parse_real(x, real)
        problem = Quantization(real, result, mode, (), np.array([code]), one, zero)
        return rounded_in_formula(problem, mode)((code, int(one), 0)).distance

    assert distance("2.5", "ROUND_NEAREST_TOWARD_EVEN") == 0
    assert distance("0x3effffff", "ROUND_NEAREST_UPWARD") == 1
    assert distance("3", "ROUND_UP") == 0
    assert distance("2.5", "ROUND_UP") == 2**21
    assert distance("16777216", "ROUND_UP") == np.inf
    assert np.isnan(distance("nan", "ROUND_UP"))


@pytest.mark.parametrize("mode", wb.ALL_MODES)
def test_hypotheses_round_as_the_truths_do(mode: str) -> None:
    edges = [k + d for k in range(-9, 9) for d in (0.0, 0.25, 0.5, 0.75)] + [2.0**52 - 0.5, -(2.0**52) - 1]
    q = np.array([n for e in edges for n in (np.nextafter(e, -np.inf), e, np.nextafter(e, np.inf))])
    wanted = [ROUND_MODES[mode](Fraction(float(value))) for value in q]
    assert round_array(q, mode).tolist() == wanted
    assert wb.round_mode(q, mode).tolist() == wanted
