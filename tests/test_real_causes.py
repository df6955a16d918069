"""Causes of real results: what runtimes were seen to do is named, and by one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from audited_boxes import fake_of_a_compiler
from causes_of_records import causes_of_records

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

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


def test_the_arithmetic_of_tensorflow_lite_is_named() -> None:
    _, low, high = values_in(-0.5, 0.8)
    scale = (high - low) / np.float32(255)
    bottom = -np.floor(-low / scale + np.float32(0.5)) * scale
    ties = bottom + (np.arange(255, dtype=np.float32) + np.float32(0.5)) * scale
    near = np.concatenate([np.nextafter(ties, low), ties, np.nextafter(ties, high)])  # where the reciprocal shows
    counts = names_of([Case("lite", make_node("tensorflow.FakeQuantWithMinMaxVars"), (near, low, high))], lite)
    assert set(counts) == {"multiplies by the reciprocal of the scale, q * scale + min_adj, each step in float32"}


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


def test_a_name_of_the_table_is_kept_where_another_is_there_too() -> None:
    """Small cases fit many semantics by chance: the engine names real results only where nothing else does."""
    counts = named("openvino.FakeQuantize", compiled, {})
    texts = [text for text, _ in counts.most_common(2)]
    assert set(texts) == {f"{REBUILT} from a zero point and a scale", f"{BEFORE}, the last product and sum fused"}, (
        counts
    )
    assert sum(counts[text] for text in texts) >= 0.8 * counts.total()


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
