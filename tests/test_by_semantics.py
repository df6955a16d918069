"""The audit's engine names what the table of hypotheses does not, and nothing that is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from causes_of_records import causes_of_records

from test_wrong_backends import vectors
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.audit.sentences import cause_of
from tiebreak.conformance.judging.operands import QuantizationOperands, operands_along
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.precisions import FLOAT16
from tiebreak.conformance.semantics.quantize_facets import BEFORE
from tiebreak.conformance.semantics.quantize_scaling import FUSED, RECIPROCAL
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import quantization_of
from tiebreak.golden.verdicts import UNEXPLAINED

AWAY = "ROUND_NEAREST_TOWARD_INFINITY"


def inverse(o: QuantizationOperands) -> Array:
    return np.asarray(o.x * (np.float32(1) / o.scale), np.float64)


def three_faults(case: Case, o: QuantizationOperands) -> Array:
    """Multiplies by the reciprocal, rounds ties away, clamps before the zero point is added."""
    return o.clamp(o.clamp(round_array(inverse(o), AWAY)) + o.zero_point)


def odd_tail(case: Case, o: QuantizationOperands) -> Array:
    """Whole vectors of 8 are right; what is left over makes three mistakes."""
    tail = np.arange(o.x.size) >= o.x.size - o.x.size % 8
    return np.where(tail, three_faults(case, o), o.finish(o.quotient()))


def noise(case: Case, o: QuantizationOperands) -> Array:
    """Some results are off by one, by their bits alone."""
    bits = o.x.view(np.uint32).astype(np.uint64) * np.uint64(0x9E3779B1)
    return o.clamp(o.finish(o.quotient()) + ((bits >> np.uint64(7)) % np.uint64(5) == 0))


def through_int32(rounded: Array, o: QuantizationOperands) -> Array:
    """A cast to int32, in which the sum with the zero point wraps, then a clamp."""
    fits = (rounded >= -(2.0**31)) & (rounded < 2.0**31)
    total = np.where(fits, rounded, -(2.0**31)) + o.zero_point
    return o.clamp(np.mod(total + 2.0**31, 2.0**32) - 2.0**31)


def three_kernels(case: Case, o: QuantizationOperands) -> Array:
    """As LiteRT: per axis divided; per tensor the reciprocal in vectors of 8, and what is left divided in float64."""
    if case.inputs[1].size > 1:
        return through_int32(round_array(o.quotient(), AWAY), o)
    whole = through_int32(np.rint(inverse(o)), o)
    tail = np.arange(o.x.size) >= o.x.size - o.x.size % 8
    return np.where(tail, through_int32(round_array(o.quotient(np.float64), AWAY), o), whole)


def records_of(backend: Callable[[Case, QuantizationOperands], Array]) -> tuple[BackendRecords, dict[str, Case]]:
    """The records of a backend that quantizes to int8, and its cases by id."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": ["ngraph.Quantize"]})
    cases = {}
    for case, _, _ in vectors("ngraph.Quantize", "float32", "int8"):
        if case.node.round_mode == "ROUND_NEAREST_TOWARD_EVEN":
            problem = quantization_of(case)
            with np.errstate(all="ignore"):
                values = backend(case, operands_along(case, problem, problem.axes)).reshape(case.inputs[0].shape)
            record(records, case, Outcome("ok", (values.astype(np.int8),)))
            cases[case.id] = case
    return records, cases


def named(backend: Callable[[Case, QuantizationOperands], Array]) -> Counter[str]:
    records, cases = records_of(backend)
    return causes_of_records(records, CausesBySemantics(cases, records.outputs).refine)


FAULTS = (
    "multiplies by the reciprocal rounded to the input's type, clamps before the zero point is added, "
    "wrong tie rule: NEAREST_TOWARD_INFINITY"
)


@pytest.mark.slow
def test_several_facets_at_once_are_one_cause() -> None:
    counts = named(three_faults)
    assert counts[FAULTS] >= 0.95 * counts.total()


@pytest.mark.slow
def test_a_path_is_named_with_what_it_does() -> None:
    counts = named(odd_tail)
    assert set(counts) == {f"{FAULTS}, in the tail of a vector loop of 8"}


def test_each_of_three_kernels_is_named_with_its_place() -> None:
    counts = named(three_kernels)
    body = "multiplies by the reciprocal rounded to the input's type, casts to int32 before clamping, which overflows"
    away = "wrong tie rule: NEAREST_TOWARD_INFINITY"
    assert counts[f"{body}, per tensor, in the body of a vector loop of 8"] > 100, counts
    tails = [text for text in counts if text.endswith(f"{away}, in the tail of a vector loop of 8")]
    assert set(counts) - set(tails) <= {f"{body}, per tensor, in the body of a vector loop of 8", away, UNEXPLAINED}
    assert len(tails) == 1 and counts[UNEXPLAINED] <= 0.01 * counts.total()


@pytest.mark.slow
def test_noise_has_no_cause() -> None:
    counts = named(noise)
    assert counts[UNEXPLAINED] > 0.8 * counts.total(), counts


def test_a_semantics_of_one_facet_is_called_as_the_table_calls_it() -> None:
    arithmetic = arithmetic_of(make_node("onnx.QuantizeLinear", quantized="int8"))
    precision, scaling, subnormals, zero_point, mode, saturation = arithmetic.documented
    texts = [
        cause_of(arithmetic, one).text
        for one in (
            (FLOAT16, scaling, subnormals, zero_point, mode, saturation),
            (precision, RECIPROCAL, subnormals, zero_point, mode, saturation),
            (precision, scaling, subnormals, BEFORE, mode, saturation),
            (precision, scaling, subnormals, zero_point, MODES[AWAY], saturation),
            (precision, FUSED, subnormals, BEFORE, mode, saturation),
        )
    ]
    assert texts == [
        "divides in float16",
        "multiplies by the reciprocal rounded to the input's type",
        "adds the zero point before rounding, in the input's type",
        "wrong tie rule: NEAREST_TOWARD_INFINITY",
        "adds the zero point to x * fl(1 / scale), fused, before rounding",
    ]
