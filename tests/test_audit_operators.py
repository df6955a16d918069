"""Audits of black boxes of other operators than QuantizeLinear, and what their tables predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audited_boxes import (
    cast_of_float32,
    double_product,
    fake_by_factor,
    fake_flushing,
    fake_flushing_steps,
    fake_nudged,
    fake_nudged_up,
    fake_of_a_compiler,
    fake_of_five,
    quantize_v2_by_magnitude,
    quantize_v2_by_reciprocal_step,
    quantize_v2_combined,
    quantize_v2_first,
)
from auditing import audited

from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.semantics.model import ANYTHING, codes
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden import kernel, oracle
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.problems import problems_of

EVEN = {"axes": (), "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}


OTHERS: list[tuple[str, dict[str, Any], str, Any, dict[str, str]]] = [
    (
        "openvino.FakeQuantize",
        {},
        "",
        fake_by_factor,
        {
            "precision": "float32",
            "range": "as-given",
            "ends": "clamped",
            "position": "factor",
            "round_mode": "ROUND_NEAREST_TOWARD_INFINITY",
            "subnormals": "kept",
            "result": "step",
        },
    ),
    (
        "openvino.FakeQuantize",
        {},
        "",
        fake_nudged,
        {
            "precision": "float32",
            "range": "nudged-to-even",
            "ends": "selected",
            "position": "divide-multiply",
            "round_mode": "ROUND_NEAREST_TOWARD_EVEN",
            "result": "divide-multiply",
        },
    ),
    (
        "tensorflow.QuantizeV2",
        {"mode": "MIN_FIRST"},
        "uint8",
        quantize_v2_first,
        {
            "precision": "float32",
            "formula": "MIN_FIRST",
            "scaling": "as-documented",
            "offset": "on-other-side",
            "round_mode": "ROUND_NEAREST_TOWARD_EVEN",
        },
    ),
    (
        "tensorflow.QuantizeV2",
        {"mode": "MIN_COMBINED"},
        "int8",
        quantize_v2_combined,
        {
            "precision": "float32",
            "formula": "MIN_COMBINED",
            "scaling": "step",
            "offset": "on-other-side",
            "round_mode": "ROUND_NEAREST_TOWARD_INFINITY",
        },
    ),
    (
        "openvino.FakeQuantize",
        {},
        "",
        fake_flushing,
        {"precision": "float32", "ends": "selected", "position": "divide-multiply", "subnormals": "flushed"},
    ),
    (
        "openvino.FakeQuantize",
        {},
        "",
        fake_flushing_steps,
        {"precision": "float32", "ends": "selected", "position": "divide-multiply", "subnormals": "steps-flushed"},
    ),
    (
        "openvino.FakeQuantize",
        {},
        "",
        fake_of_a_compiler,
        {
            "precision": "float32",
            "range": "as-given",
            "ends": "clamped",
            "position": "factor-and-shift",
            "round_mode": "ROUND_NEAREST_TOWARD_EVEN",
            "output_limits": "of-8-bits",
            "result": "fused",
        },
    ),
    (
        "openvino.FakeQuantize",
        {"levels": 16},
        "",
        fake_nudged_up,
        {"precision": "float32", "range": "nudged", "ends": "clamped", "position": "step", "result": "step"},
    ),
    (
        "openvino.FakeQuantize",
        {"levels": 5},
        "",
        fake_of_five,
        {"precision": "float32", "position": "multiply-divide", "result": "multiply-divide"},
    ),
    (
        "tensorflow.QuantizeV2",
        {"mode": "SCALED"},
        "int8",
        quantize_v2_by_reciprocal_step,
        {"precision": "float32", "formula": "scaled-by-magnitude", "scaling": "reciprocal-of-step"},
    ),
    (
        "tensorflow.QuantizeV2",
        {"mode": "SCALED"},
        "int8",
        quantize_v2_by_magnitude,
        {"precision": "float32", "formula": "scaled-by-magnitude", "round_mode": "ROUND_NEAREST_TOWARD_INFINITY"},
    ),
    (
        "onnx.QuantizeLinear",
        {},
        "int8",
        double_product,
        {"precision": "float64", "scaling": "narrow-reciprocal", "zero_point": "after-rounding"},
    ),
    (
        "ngraph.Quantize",
        EVEN,
        "int32",
        cast_of_float32,
        {"precision": "float32", "scaling": "divide", "saturation": "float32-then-cast"},
    ),
]


@pytest.mark.few(5)
@pytest.mark.parametrize(("operator", "attributes", "kind", "box", "wanted"), OTHERS)
def test_black_boxes_of_other_operators(
    operator: str, attributes: dict[str, Any], kind: str, box: Any, wanted: dict[str, str]
) -> None:
    answer = audited(box, audited_node(operator, attributes, "", kind, 0))
    found = answer.semantics()
    assert {name: found.get(name) for name in wanted} == wanted, answer.closest()


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
def test_quantize_v2_as_the_document_says_is_the_oracles(mode: str) -> None:
    node = audited_node("tensorflow.QuantizeV2", {"mode": mode}, "", "int8", 0)
    arithmetic = arithmetic_of(node)
    by_id = arithmetic.facets[0].by_id
    for probe in list(arithmetic.first_probes())[::4]:
        problem = problems_of(Case("", node, (probe.x, *probe.others)))[0]
        for precision, working in (("exact", False), ("float32", True)):
            wanted, states = oracle.solve(problem, working=working)
            (predicted,) = arithmetic.predict(probe, [(by_id[precision], *arithmetic.documented[1:])])
            said = (predicted != ANYTHING) & (np.asarray(states) != UNDEFINED)
            assert np.array_equal(predicted[said], np.asarray(wanted)[said])


def test_fake_quantize_as_the_document_says_is_the_oracles() -> None:
    node = audited_node("openvino.FakeQuantize", {"levels": 17}, "", "", 0)
    arithmetic = arithmetic_of(node)
    by_id = arithmetic.facets[0].by_id
    for probe in list(arithmetic.first_probes())[::4]:
        (problem,) = problems_of(Case("", node, (probe.x, *probe.others)))
        mode = "ROUND_NEAREST_TOWARD_EVEN"
        for precision, working in (("exact", False), ("float32", True)):
            wanted, _ = kernel.solve(problem, working=working, mode=mode)
            semantics = (by_id[precision], *arithmetic.documented[1:4], MODES[mode], *arithmetic.documented[5:])
            (predicted,) = arithmetic.predict(probe, [semantics])
            stored = wanted.astype(np.uint64).astype(np.uint32).view(np.float32)
            assert np.array_equal(predicted, codes(stored))


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST"])
def test_what_a_document_leaves_open_fits_nothing_by_silence(mode: str) -> None:
    """Of int16 the document has no formula: the exact one predicts nothing, and so is not an answer."""

    def box(x: Array, low: Array, high: Array) -> Array:
        clamped = np.minimum(np.maximum(x, low), high)
        q = (clamped - low) / ((high - low) / np.float32(65535))
        if mode == "MIN_FIRST":
            scale = np.float32(65536) / ((high - low) * (np.float32(65536) / np.float32(65535)))
            q = np.floor(clamped * scale) - np.floor(low * scale)
        return np.clip(np.nan_to_num(np.floor(q.astype(np.float64)) - 32768.0), -32768, 32767).astype(np.int16)

    answer = audited(box, audited_node("tensorflow.QuantizeV2", {"mode": mode}, "", "int16", 0))
    modes = {one[-1].id for one in answer.inference.alive}
    assert modes == {"ROUND_DOWN"}
