"""Whether semantics are the same for every input: the comparison by halves, and what an audit does with it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from auditing import INT8
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.halving import from_ordinals
from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.audit.proof import (
    EXHAUSTIVE,
    Comparison,
    all_finite_inputs,
    separate_remaining,
    settings_of,
)
from tiebreak.conformance.semantics.model import Arithmetic, Probe, Semantics, semantics_of
from tiebreak.conformance.semantics.quantize_facets import FACETS
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node

EVEN = {"axes": (), "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
SMALL = [  # whose inputs can all be gone through
    ("onnx.QuantizeLinear", {}, "float16", "int8"),
    ("onnx.QuantizeLinear", {}, "bfloat16", "uint8"),
    ("ngraph.Quantize", EVEN, "float16", "int32"),
    ("openvino.FakeQuantize", {"levels": 256}, "float16", ""),
    ("openvino.FakeQuantize", {"levels": 16}, "bfloat16", ""),
]
USUAL = [
    ("onnx.QuantizeLinear", {}, "", "int8"),
    ("onnx.QuantizeLinear", {}, "", "uint16"),
    ("openvino.FakeQuantize", {"levels": 256}, "", ""),
    ("openvino.FakeQuantize", {"levels": 16}, "", ""),
    ("tensorflow.QuantizeV2", {"mode": "MIN_FIRST"}, "", "uint8"),
    ("tensorflow.QuantizeV2", {"mode": "SCALED"}, "", "int8"),
]


def ready(node: Node) -> Arithmetic:
    arithmetic = arithmetic_of(node)
    arithmetic.assume()
    return arithmetic


def inference_of(node: Node, truth: Semantics) -> Inference:
    """An audit of a box that does just what one semantics of the table says."""
    box = ready(node)
    inference = Inference(arithmetic_of(node), lambda probes: [next(iter(box.predict(p, [truth]))) for p in probes])
    inference.run()
    return inference


def by_halves(comparison: Comparison, pair: list[Semantics], setting: Probe) -> str:
    for _, agree, known in comparison.halved(pair, setting):
        if not agree:
            return "differ"
        if not known:
            return "not known"
    return "same"


@pytest.mark.few(2)
@pytest.mark.parametrize(("operator", "attributes", "real", "kind"), SMALL)
def test_halves_say_what_going_through_all_inputs_says(
    operator: str, attributes: dict[str, Any], real: str, kind: str
) -> None:
    arithmetic, choose = ready(audited_node(operator, attributes, real, kind, 0)), random.Random(3)
    everything = arithmetic.candidates.all
    settings, x, told = settings_of(list(arithmetic.first_probes())), all_finite_inputs(arithmetic), []
    for _ in range(80):
        one, setting = choose.choice(everything), choose.choice(settings)
        near = [other for other in everything if sum(a != b for a, b in zip(one, other, strict=True)) in (1, 2)]
        pair = sorted([one, choose.choice(near)], key=everything.index)
        first, second = arithmetic.predict(Probe(x, setting.others), pair)
        told.append(by_halves(Comparison(arithmetic, None), pair, setting))
        assert told[-1] in ("not known", "same" if np.array_equal(first, second) else "differ"), (pair, setting)
    assert told.count("same") > 2 and told.count("differ") > 40 and told.count("not known") < 12


@pytest.mark.parametrize(("operator", "attributes", "real", "kind"), [*SMALL, *USUAL[-2:]])
def test_stages_never_fall_and_codes_change_only_where_they_rise(
    operator: str, attributes: dict[str, Any], real: str, kind: str
) -> None:
    """For finite numbers in order: every one of a 16-bit type, the top 16 bits of every other."""
    arithmetic, choose = ready(audited_node(operator, attributes, real, kind, 0)), random.Random(5)
    bits = arithmetic.node.real.bits
    steps = np.arange(arithmetic.node.real.infinity_bits >> (bits - 16)) << (bits - 16)
    x = from_ordinals(np.unique(np.concatenate([-steps, steps])), arithmetic)
    everything, probes, changes = arithmetic.candidates.all, list(arithmetic.first_probes()), 0
    for _ in range(150):
        one, setting = choose.choice(everything), choose.choice(probes)
        ((codes, stage),) = arithmetic.staged(Probe(x, setting.others), [one])
        if np.isnan(stage).any():
            continue
        assert (stage[1:] >= stage[:-1]).all(), (one, setting.others)
        changed = codes[1:] != codes[:-1]
        assert (stage[1:] > stage[:-1])[changed].all(), (one, setting.others)
        changes += np.count_nonzero(changed)
    assert changes > 1000


@pytest.mark.parametrize(
    ("real", "quantized"), [("float32", "int8"), ("float32", "int16"), ("float16", "int8"), ("float64", "int8")]
)
def test_only_what_is_equal_for_every_input_counts_as_equal(real: str, quantized: str) -> None:
    operator, attributes = ("ngraph.Quantize", EVEN) if real == "float64" else ("onnx.QuantizeLinear", {})
    arithmetic = ready(make_node(operator, real=real, quantized=quantized, attributes=attributes))
    setting = settings_of(list(arithmetic.first_probes()))[0]
    plain = semantics_of(FACETS, ("float64", "divide", "kept", "after-rounding", "ROUND_NEAREST_UPWARD", "saturate"))
    same, tie = (*plain[:4], FLOOR, plain[5]), (*plain[:4], MODES["ROUND_NEAREST_DOWNWARD"], plain[5])
    if real != "float64":  # where 0.49999999999999994 + 0.5 is 1
        assert Comparison(arithmetic).compare([plain, same], setting) == (True, None)
    equal, witness = Comparison(arithmetic).compare([plain, tie], setting)
    assert not equal and (witness is not None or real in ("float32", "float64"))
    setting = Probe(setting.x, (np.asarray(0.5).astype(setting.others[0].dtype), setting.others[1]))
    equal, witness = Comparison(arithmetic).compare([plain, tie], setting)
    assert not equal and witness is not None and witness.others == setting.others
    first, second = arithmetic.predict(witness, [plain, tie])
    assert (first != second).all()


@pytest.mark.parametrize("real", ["bfloat16", "float32", "float64"])
def test_ordinals_count_all_numbers_in_order(real: str) -> None:
    arithmetic = arithmetic_of(make_node("ngraph.Quantize", real=real, quantized="int8", attributes=EVEN))
    most = arithmetic.node.real.infinity_bits - 1
    x = from_ordinals(np.array([-most, -2, -1, 0, 1, 2, most]), arithmetic).astype(np.float64)
    assert (np.diff(x) > 0).all() and np.isfinite(x).all() and x[3] == 0 and (x == -x[::-1]).all()


@pytest.mark.few(5)
@pytest.mark.parametrize(("operator", "attributes", "real", "kind"), USUAL)
def test_what_is_left_of_any_semantics_is_itself_and_what_is_shown_to_be_equal(
    operator: str, attributes: dict[str, Any], real: str, kind: str
) -> None:
    node, choose = audited_node(operator, attributes, real, kind, 0), random.Random(7)
    table = [one for one in arithmetic_of(node).candidates.all if not one[-1].id.endswith("wrap")]
    for truth in choose.sample(table, 3 if kind != "uint16" else 2):
        inference = inference_of(node, truth)
        sentences = separate_remaining(inference)
        assert truth in inference.alive
        assert len(inference.alive) == 1 or any("every finite float32" in one for one in sentences), truth


def test_an_input_that_only_the_comparison_finds_is_asked() -> None:
    """Next to a tie at 0 a tiny number is lost by every sum; no witnesses are kept for so many levels."""
    node = audited_node("openvino.FakeQuantize", {"levels": 18}, "", "", 0)
    rest = ("as-given", "selected", "divide-multiply", "ROUND_NEAREST_TOWARD_INFINITY", "kept", "as-given")
    both = ("float64", *rest, "step"), ("exact", *rest, "divide-multiply")
    truth, exact = (semantics_of(arithmetic_of(node).facets, ids) for ids in both)
    inference = inference_of(node, truth)
    assert exact in inference.alive
    separate_remaining(inference)
    assert truth in inference.alive and exact not in inference.alive
    witness = inference.refuted[exact]
    assert 0 < abs(float(witness.probe.x[0])) < 1e-20 and witness.expected != witness.got


def test_what_takes_too_long_is_not_said_to_be_shown_unless_it_is_asked_for() -> None:
    ids = ("float64", "divide", "kept", "after-rounding", "ROUND_NEAREST_TOWARD_EVEN", "saturate")
    truth = semantics_of(FACETS, ids)
    inference, begun = inference_of(INT8, truth), list[tuple[int, int]]()
    assert len(inference.alive) == 2
    assert "not shown for every input" in separate_remaining(inference, most=1000)[-1]
    told = separate_remaining(inference, most=1000, exhaustive=lambda number, of: begun.append((number, of)))
    assert begun == [(n, EXHAUSTIVE) for n in range(1, EXHAUSTIVE + 1)]
    assert f"every finite float32 gives the same in {EXHAUSTIVE} settings" in told[-1]


@pytest.mark.slow
def test_all_results_of_32_bits_are_compared_if_asked_for() -> None:
    """About two minutes: a float64 quotient plus 0.5 of its sign, cut off, against ties away from zero."""
    node = audited_node("ngraph.Quantize", EVEN, "", "int32", 0)
    ids = ("float64", "divide", "kept", "after-rounding", "ROUND_NEAREST_TOWARD_INFINITY", "saturate")
    truth = semantics_of(FACETS, ids)
    inference, begun = inference_of(node, truth), list[int]()
    told = separate_remaining(inference, exhaustive=lambda number, _: begun.append(number))
    assert len(begun) == EXHAUSTIVE and len(inference.alive) == 2 and "every finite float32" in told[-1]


def test_matrix_takes_no_backends_options() -> None:
    result = CliRunner().invoke(main, ["audit", "--operator", "onnx.QuantizeLinear", "--matrix", "--exhaustive"])
    assert result.exit_code == 2 and "--exhaustive" in result.stderr
