"""Causes of real results: what runtimes were seen to do is named, and by one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from audited_boxes import fake_of_a_compiler
from causes_of_records import causes_of_records

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import OTHER_ORDER

BEFORE = "scale and shift computed beforehand"
REBUILT = f"{BEFORE}, output limits rebuilt"
Box = Callable[[Case], Array | tuple[Array, ...]]


def compiled(case: Case) -> Array:
    """FakeQuantize as OpenVINO compiles it: with 256 levels the output's limits take a way round, with others not."""
    x, *limits = case.inputs
    low, high, first, last = (np.broadcast_to(limit, x.shape) for limit in limits)
    if case.node.attributes["levels"] == 256:
        return np.asarray(fake_of_a_compiler(x, low, high, first, last))
    n = np.float32(case.node.attributes["levels"] - 1)
    factor, step = n / (high - low), (last - first) / n
    level = np.rint(np.minimum(np.maximum(x, low), high) * factor - low * factor)
    return np.asarray((level.astype(np.float64) * step.astype(np.float64) + first).astype(np.float32))


def cast(case: Case) -> Array:
    """As PyTorch: a level is an int64 before it is clamped, which x86 makes the lowest one if it is none."""
    x, low, high = case.inputs
    narrow, bits = case.node.attributes.get("narrow_range", False), case.node.attributes.get("num_bits", 8)
    least, greatest = int(narrow), (1 << bits) - 1
    scale = (high - low) / np.float32(greatest - least)
    zero_point = np.floor(least - low / scale + np.float32(0.5))
    wide = np.rint(x * (np.float32(1) / scale)) + zero_point
    whole = np.array([int(v) if abs(v) < 2**63 else -(2**63) for v in wide.reshape(-1).tolist()], object)
    clamped = np.clip(whole, least, greatest).astype(np.float32).reshape(x.shape)
    return np.asarray((clamped - zero_point) * scale)


def test_output_limits_that_a_compiler_rebuilt_are_named() -> None:
    counts = named("openvino.FakeQuantize", compiled, {"levels": 256})
    assert sum(count for text, count in counts.items() if text.startswith(REBUILT)) >= 0.8 * counts.total() > 0, counts


def test_a_cast_before_the_clamp_is_named() -> None:
    x = np.array([[1e30, 0.5], [-1e30, 3e38], [2.0**62, 1e21], [-7.0, 1e5]], np.float32)
    low, high = np.array([-1.0, -2.0], np.float32), np.array([1.0, 6.0], np.float32)
    case = Case("large", make_node("tensorflow.FakeQuantWithMinMaxVarsPerChannel"), (x, low, high))
    counts = names_of([case], cast)
    assert counts == {"casts to int64 before clamping, which overflows": 4}


def flushing(case: Case) -> tuple[Array, ...]:
    """MIN_COMBINED as TensorFlow's kernel: subnormal numbers count as 0, a range of no width has no ratio."""
    x, low, high = (np.where(np.abs(array) < 2.0**-126, np.float32(0), array) for array in case.inputs)
    with np.errstate(all="ignore"):
        steps = (np.minimum(np.maximum(x, low), high) - low) * (np.float32(255) / (high - low)) - np.float32(128)
    away = np.trunc(steps + np.copysign(0.5, steps).astype(np.float64))
    return np.where(np.isfinite(steps), np.clip(np.nan_to_num(away), -128, 127), -128).astype(np.int8), low, high


def test_flushed_ranges_without_a_ratio_are_named() -> None:
    node = make_node("tensorflow.QuantizeV2", quantized="int8", attributes={"ensure_minimum_range": 0.0})
    ends = [np.array(end * 2.0**-126, np.float32) for end in (-0.25, 0.5, -128.0, 127.0)]
    narrow = Case("narrow", node, (np.linspace(-2e-39, 5e-39, 12).astype(np.float32), *ends[:2]))
    wide = Case("wide", node, (np.linspace(-9e-39, 9e-39, 12).astype(np.float32), *ends[2:]))
    counts = names_of([narrow, wide], flushing)
    assert set(counts) == {"multiplies by a range ratio rounded first, flushes subnormals to zero"}
    assert counts.total() > 12


def lite(case: Case) -> Array:
    """As TensorFlow Lite: times 1 / scale, and nudged_min is added last."""
    x, low, high = case.inputs
    scale = (high - low) / np.float32(255)
    zero_point = np.clip(np.floor(-low / scale + np.float32(0.5)), 0, 255).astype(np.float32)
    bottom, top = -zero_point * scale, (np.float32(255) - zero_point) * scale
    steps = np.floor((np.clip(x, bottom, top) - bottom) * (np.float32(1) / scale) + np.float32(0.5))
    return np.asarray(steps * scale + bottom)


def test_the_arithmetic_of_tensorflow_lite_is_another_order_and_has_no_cause() -> None:
    """It multiplies by the reciprocal of the scale, and its result is q * scale + min_adj."""
    _, low, high = values_in(-0.5, 0.8)
    scale = (high - low) / np.float32(255)
    bottom = -np.floor(-low / scale + np.float32(0.5)) * scale
    ties = bottom + (np.arange(255, dtype=np.float32) + np.float32(0.5)) * scale
    near = np.concatenate([np.nextafter(ties, low), ties, np.nextafter(ties, high)])  # where the reciprocal shows
    case = Case("lite", make_node("tensorflow.FakeQuantWithMinMaxVars"), (near, low, high))
    assert not names_of([case], lite)
    assert judge_outputs((lite(case).astype(np.float32),), truths_of(case)).count(OTHER_ORDER) > 100


def values_in(low: float, high: float) -> tuple[Array, ...]:
    x = np.random.default_rng(3).uniform(low, high, 200).astype(np.float32)
    return x, np.array(low, np.float32), np.array(high, np.float32)


def one_level_fewer(case: Case) -> Array:
    x, low, high, first, last = case.inputs
    n = np.float32(case.node.attributes["levels"] - 2)
    inside = np.rint((x - low) / (high - low) * n) / n * (last - first) + first
    return np.where(x <= low, first, np.where(x > high, last, inside))


def test_a_level_fewer_is_named_and_nothing_else() -> None:
    x, *ends = values_in(-1.0, 1.5)
    case = Case("fewer", make_node("openvino.FakeQuantize", attributes={"levels": 100}), (x, *ends, *ends))
    assert set(names_of([case], one_level_fewer)) == {"a level fewer"}


@pytest.mark.slow
def test_a_name_of_the_table_is_kept_where_another_is_there_too() -> None:
    """Small cases fit many semantics by chance: the engine names real results only where nothing else does."""
    counts = named("openvino.FakeQuantize", compiled, {})
    texts = [text for text, _ in counts.most_common(2)]
    assert set(texts) == {
        f"{REBUILT} from a zero point and a scale, whatever the limits",
        f"{BEFORE}, the last product and sum fused",
    }, counts
    assert sum(counts[text] for text in texts) >= 0.8 * counts.total()


def in_double(case: Case) -> tuple[Array, ...]:
    """DequantizeLinear of int32 by a float32 scale, as NumPy multiplies them."""
    x, scale, _ = case.inputs
    return (np.asarray((x.astype(np.float64) * scale.reshape(-1, 1)).astype(np.float16)),)


def test_a_product_in_float64_is_named_where_that_rounds_it_onto_a_midpoint() -> None:
    every = indexed_cases(VECTORS / file_name("onnx.DequantizeLinear", "int32", "float16"))
    (case,) = [case for case in every if case.id.endswith("/rounded-once-wider-scale")]
    assert names_of([case], in_double) == {"multiplies in float64 and rounds again": 2}


def named(operator: str, box: Box, attributes: dict[str, Any]) -> Counter[str]:
    """The causes of what differs in vectors with such attributes."""
    every = indexed_cases(VECTORS / file_name(operator, "float32", "float32"))
    return names_of(
        [case for case in every if all(case.node.attributes.get(name) == value for name, value in attributes.items())],
        box,
    )


def names_of(cases: Sequence[Case], box: Box) -> Counter[str]:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [cases[0].node.operator]})
    for case in cases:
        with np.errstate(all="ignore"):
            result = box(case)
        outputs = result if isinstance(result, tuple) else (result.reshape(case.inputs[0].shape).astype(np.float32),)
        record(records, case, Outcome("ok", outputs))
    own = {case.id: case for case in cases}
    return causes_of_records(records, CausesBySemantics(own, records.outputs).refine)


def test_a_scale_and_a_zero_point_by_hand() -> None:
    x = np.float32([0.5, 1.5, 2.5, 300, -3, 1e30, np.nan])
    assert by_parameters("float32", 256, x, 0, 255) == [0, 2, 2, 255, 0, 255, 0]
    assert by_parameters("float64 + casts-to-int64", 256, x, 0, 255) == [0, 2, 2, 255, 0, 0, 0]
    x, low, high = np.float64([-1.27]), -1.27, 1.27  # the float32 scale 0.01 and the zero point 127
    assert by_parameters("float32", 255, x, low, high) == [-1.2699999809265137]
    assert by_parameters("float64 + casts-to-int64", 255, x, low, high) == [-127 * 0.009999999776482582]
    with pytest.raises(ValueError, match="no scale"):
        by_parameters("float32", 256, x, 1, 255)


def by_parameters(how: str, levels: int, x: Array, low: float, high: float) -> list[float]:
    """What FakeQuantize by a scale and a zero point gives, with the limits of the input for the output, too."""
    (run,) = [
        run
        for cause, run in TESTED["openvino.FakeQuantize"].mistakes or ()
        if cause.id.endswith(f"in:{how}") and "scale-and-zero" in cause.id
    ]
    ends = [np.array(end, x.dtype) for end in (low, high, low, high)]
    node = make_node("openvino.FakeQuantize", real=x.dtype.name, attributes={"levels": levels})
    found: list[float] = run(node, x, *ends)[0].tolist()
    return found


def torch_fake(case: Case) -> Array:
    """As torch.fake_quantize_*: per tensor a level is clamped as a float, per channel it becomes an int64 first."""
    x, low, high, *_ = case.inputs
    levels = case.node.attributes["levels"]
    scale = ((high.astype(np.float64) - low) / (levels - 1)).astype(np.float32)
    zero_point = np.rint(-low / scale)
    level = np.rint(x * (np.float32(1) / scale)) + zero_point
    if low.size > 1:
        level = np.where(np.abs(level) < 2.0**63, level, -(2.0**63))
    return np.asarray((np.clip(level, 0, levels - 1) - zero_point).astype(np.float32) * scale, np.float32)


def test_a_layout_is_not_named_after_the_kernel_of_another() -> None:
    node = make_node("openvino.FakeQuantize", attributes={"levels": 16})
    low, high = np.float32(-0.7), np.float32(0.8)
    ties = (np.arange(-7, 8, dtype=np.float32) + np.float32(0.5)) * np.float32(0.1)
    x = np.concatenate([np.nextafter(ties, low), ties, np.nextafter(ties, high)])
    channels = np.stack([x, np.full_like(x, 1e30)])
    ends = [np.full((2, 1), end, np.float32) for end in (low, high)]
    one = Case("one", node, (np.append(x, np.float32(1e30)), *map(np.asarray, (low, high, low, high))))
    two = Case("two", node, (channels, *ends, *ends))
    scale = "a float32 scale and an integer zero point: (clamp(round(x * fl(1 / scale)) + zero point) - zero point) * "
    per_tensor = names_of([one], torch_fake)
    assert set(per_tensor) == {f"{scale}scale, multiplied in float32"}
    both = names_of([one, two], torch_fake)
    cast = f"{scale}scale, multiplied in float64, casts to int64 before clamping, which overflows"
    assert both[f"{scale}scale, multiplied in float32"] == per_tensor.total()
    assert both[cast] == both.total() - per_tensor.total() >= x.size


def codes_by(id_: str, node: Any, *inputs: Array) -> list[list[float]]:
    """What the mistakes of an id give: the values of each, flat."""
    found = TESTED[node.operator].mistakes or ()
    with np.errstate(all="ignore"):
        return [
            np.asarray(run(node, *inputs)[0], np.float64).reshape(-1).tolist()
            for cause, run in found
            if cause.id == id_
        ]


def test_halves_of_bytes_that_stand_alone_by_hand() -> None:
    """x / scale is 2^32, which int32 does not hold: the lowest int32 in its place becomes 0."""
    alone = "lone-halves-of-bytes-cast-to-int32"
    node, far = make_node("onnx.QuantizeLinear", quantized="uint4"), np.full(5, 2.0**32, np.float32)
    kind = node.outputs[0].dtype
    assert codes_by(alone, node, far, np.float32(1), np.array(8, kind)) == [[15, 15, 15, 15, 0]]
    by_axis = {axis: make_node("onnx.QuantizeLinear", quantized="uint4", attributes={"axis": axis}) for axis in (0, 1)}
    for axis, size, expected in ((0, 2, [15, 15, 0, 0, 15, 15]), (1, 3, [0] * 6)):
        scale, zero = np.ones(size, np.float32), np.zeros(size, kind)
        assert codes_by(alone, by_axis[axis], np.full((2, 3), 2.0**32, np.float32), scale, zero) == [expected]
    signed = make_node("onnx.QuantizeLinear", quantized="int4")
    lowest = np.array(-8, signed.outputs[0].dtype)
    assert codes_by(alone, signed, -far[:1], np.float32(1), lowest) == [[7]]  # the sum wraps around


def test_a_quotient_in_float64_that_int32_just_holds() -> None:
    node = make_node("onnx.QuantizeLinear", real="int32", quantized="int8")
    operands = np.array([2**31 - 2, 2**31 - 1], np.int32), np.float32(1), np.array(1, np.int8)
    assert codes_by("divides-in:float64 + casts-to-int32", node, *operands) == [[127, -128]]
    assert codes_by("casts-to-int32", node, *operands)[0] == [-128, -128]  # 2^31 - 2 is 2^31 as a float32


def test_a_flushed_factor_makes_a_zero_point_of_zero() -> None:
    """As TensorFlow 2.21: n / (max - min) is subnormal, so that 0 becomes (1 - 0) * scale."""
    node = make_node("tensorflow.FakeQuantWithMinMaxVars", attributes={"num_bits": 2, "narrow_range": True})
    end = np.float32(1.2760589e38)
    assert codes_by("kernel-sums + flushes", node, np.float32([0]), -end, end) == [[float(end)]]
    assert codes_by("kernel-sums", node, np.float32([0]), -end, end) == [[0]]


def test_an_input_rounded_to_float32_before_a_product_rounded_once() -> None:
    """2041522283 becomes 2041522304; times 0x00ab the product is just above 20808, between 20800 and 20816."""
    node = make_node("ngraph.Dequantize", real="float16", quantized="int32")
    scale = np.array(0x00AB, np.uint16).view(np.float16)
    x, zero = np.array([2041522283], np.int32), np.array(0, np.int32)
    assert codes_by("x-in:float32, the rest in float64", node, x, scale, zero)[0] == [20816]
    assert codes_by("multiplies-in:float32", node, x, scale, zero) == [[20800]]


def own(x: Array, scale: float, zero_point: int, kind: tuple[int, int]) -> QuantizationOperands:
    scales = np.full(x.shape, scale, np.float32)
    return QuantizationOperands(x, scales, np.full(x.shape, zero_point), *kind, "ROUND_NEAREST_TOWARD_EVEN")


def predicted(id_: str, operands: QuantizationOperands) -> list[int]:
    with np.errstate(all="ignore"):
        (found,) = [predict(operands) for cause, predict in HYPOTHESES if cause.id == id_]
    assert found is not None
    return list(found.tolist())


def test_a_zero_point_that_float32_does_not_hold_and_a_quotient_that_is_none() -> None:
    int32 = own(np.float32([0.5]), 1.0, 2**24 + 1, (-(2**31), 2**31 - 1))
    # Exactly 16777217.5, in float32 16777218; with the zero point in float32 16777216.5, in float32 16777216.
    assert predicted("reciprocal-plus-zero-point:rounded once", int32) == [2**24 + 2]
    assert predicted("reciprocal-plus-zero-point", int32) == [2**24]
    none = own(np.float32([0]), 2.0**-149, 0, (-128, 127))  # 0 times 1 / scale, which is infinite
    fused = "reciprocal-plus-zero-point-fused"
    assert predicted(fused, none) == predicted(f"{fused}:zero point in x's type", none) == [0]
    assert predicted(f"{fused}:NaN to the highest", none) == [127]


def test_almost_a_half_and_the_zero_point_added_in_a_fused_step() -> None:
    """As tinygrad does it: the answers are those of its release 0.14."""
    key = "reciprocal-plus-zero-point-and-less-than-half-fused"
    ties = own(np.float32([0.5, 1.5, 2.5, -1.5, 254.75, 2.0**31, np.nan]), 1.0, 1, (0, 255))
    assert predicted(key, ties) == [1, 3, 4, 0, 255, 0, 0]
    tenths = own(np.float32([12.749999, 0.05, 0.15, 0.25, -12.75]), 0.1, 128, (0, 255))
    assert predicted(key, tenths) == [255, 129, 130, 131, 1]
    with np.errstate(all="ignore"):
        (predict,) = [predict for cause, predict in HYPOTHESES if cause.id == key]
    assert predict(own(np.float32([0.5]), 1.0, 1, (-128, 127))) is None


def test_flushed_inputs_of_symmetric_steps() -> None:
    least = own(np.array([0x007FFFFF, 0x00800000], np.uint32).view(np.float32), 2.0**-126, 0, (-128, 127))
    assert predicted("symmetric-steps", least) == [1, 1]
    assert predicted("symmetric-steps + flushes-inputs", least) == [0, 1]


def cast_in_small_arrays(case: Case) -> tuple[Array, ...]:
    """Converts to int32 in arrays of less than 4 elements only."""
    x, scale, zero = case.inputs
    level = np.rint(x / scale)
    if x.size < 4:
        level = np.where(np.abs(level) < 2.0**31, level, -(2.0**31))
    return (np.clip(level + zero, 0, 255).astype(np.uint8),)


def test_a_case_without_deviations_refutes_a_cause_too() -> None:
    node, zero = make_node("onnx.QuantizeLinear"), np.array(0, np.uint8)
    small = Case("small", node, (np.float32([2.0**33, 1, 2]), np.array(1, np.float32), zero))
    large = Case("large", node, (np.float32([2.0**33, 1, 2, 3]), np.array(1, np.float32), zero))
    within = Case("within", node, (np.float32([300, 1, 2, 3]), np.array(1, np.float32), zero))
    assert counted([small, within], cast_in_small_arrays)["unexplained"] == 0
    assert counted([small, large], cast_in_small_arrays) == {"unexplained": 1}


def reciprocal_but_of_scalars(case: Case) -> tuple[Array, ...]:
    x, scale, zero = case.inputs
    q = x * (np.float32(1) / scale) if x.ndim else x / scale
    return (np.clip(np.rint(q) + zero, 0, 255).astype(np.uint8),)


def test_a_cause_of_two_tables_is_one() -> None:
    """A plain node's mistakes stand in the table of quantizers, those of a node with output_dtype in the operator's.

    A scalar refutes the cause, so it is looked for in each rank. There all elements must have one cause.
    """
    plain, named = (make_node("onnx.QuantizeLinear", attributes=a) for a in ({}, {"output_dtype": "uint8"}))
    scale, zero = np.array(0.640625, np.float32), np.array(128, np.uint8)
    x = (np.arange(-120, 120, dtype=np.float32) + np.float32(0.5)) * scale
    cases = [Case("plain", plain, (x, scale, zero)), Case("named", named, (x, scale, zero))]
    cases += [Case(f"scalar-{i}", plain, (np.array(v, np.float32), scale, zero)) for i, v in enumerate(x[::3])]
    assert set(counted(cases, reciprocal_but_of_scalars)) == {sentence_of("own-reciprocal")}


def counted(cases: Sequence[Case], box: Callable[[Case], tuple[Array, ...]]) -> Counter[str]:
    """The causes by the tables alone."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [cases[0].node.operator]})
    for case in cases:
        record(records, case, Outcome("ok", box(case)))
    return causes_of_records(records)


def two_loops(case: Case) -> Array:
    """As LiteRT's own kernel for one scale: eight elements at a time by the reciprocal, the rest by a function of C."""
    x, scale, zero = case.inputs
    body, info = x.size // 8 * 8, np.iinfo(zero.dtype)
    flat, least = x.reshape(-1), np.float32(-(2.0**31))
    with np.errstate(all="ignore"):
        product, quotient = flat[:body] * (np.float32(1) / scale), (flat[body:] / scale).astype(np.float64)
        halves = np.trunc(quotient) + np.trunc(2 * (quotient - np.trunc(quotient)))  # ties go away from zero
        whole = np.concatenate([np.rint(product).astype(np.float64), halves])
        whole = np.where(np.abs(whole) < 2.0**31, whole, least)
    total = (whole.astype(np.int64).astype(np.int32) + zero.astype(np.int32)).astype(np.int64)
    return np.asarray(np.clip(total, info.min, info.max).astype(zero.dtype).reshape(x.shape))


@pytest.mark.slow
def test_two_loops_of_a_kernel_have_their_names_in_all_types() -> None:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": ["ngraph.Quantize"]})
    cases: dict[str, Case] = {}
    for quantized in ("int8", "uint8", "int16"):
        for case in indexed_cases(VECTORS / file_name("ngraph.Quantize", "float32", quantized)):
            if case.inputs[1].size == 1 and case.node.round_mode == "ROUND_NEAREST_TOWARD_EVEN" and case.size:
                record(records, case, Outcome("ok", (two_loops(case),)))
                cases[case.id] = case
    counts = causes_of_records(records, CausesBySemantics(cases, records.outputs).refine)
    assert counts.total() > 500
    assert not [text for text in counts if "of a vector loop of 8 rounds" in text], counts


def away_from_zero(case: Case) -> tuple[Array, ...]:
    x, _, zero = case.inputs
    return (np.clip(np.trunc(x + np.copysign(0.5, x)) + zero, 0, 255).astype(np.uint8),)


@pytest.mark.parametrize(("others", "named"), [(19, 0), (20, 1)])
def test_one_tie_among_many_cases_is_no_evidence_for_one_of_many_modes(others: int, named: int) -> None:
    node, one, zero = make_node("onnx.QuantizeLinear"), np.array(1, np.float32), np.array(0, np.uint8)
    cases = [Case(f"no tie {number}", node, (np.float32([number, 0.25]), one, zero)) for number in range(others)]
    tie = Case("tie", node, (np.float32([2.5, 7]), one, zero))
    assert counted([*cases, tie], away_from_zero)["unexplained"] == named
    ties = Case("ties", node, (np.float32([0.5, 2.5, 4.5, 6.5]), one, zero))
    assert counted([*cases, ties], away_from_zero)["unexplained"] == 0
