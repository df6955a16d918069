"""Audits of PyTorch's quantizers and fake quantizers: black boxes, what the tables predict, and PyTorch itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited, inference_of, single_changes
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe, silence_of
from tiebreak.conformance.audit.proof import separate_remaining
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import ANYTHING, ids_of, semantics_of
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Whole = Callable[[Array, Array, Array], Array]
f32, f64, i64 = np.float32, np.float64, np.int64
TENSOR, CHANNEL = "torch.quantize_per_tensor", "torch.quantize_per_channel"
FAKE, FAKE_CHANNEL = "torch.fake_quantize_per_tensor_affine", "torch.fake_quantize_per_channel_affine"
SIGNED = {"quant_min": -128, "quant_max": 127}
EVEN = "ROUND_NEAREST_TOWARD_EVEN"


# The sum of the rounded quotient and the zero point, or the rounded sum


def documented(x: Array, scale: Array, point: Array) -> Array:
    return np.rint(x / scale + point.astype(f32)).astype(f64)


def fused(x: Array, scale: Array, point: Array) -> Array:
    product = x.astype(f64) * (f32(1) / scale).astype(f64)  # of 48 bits: exact
    return np.rint((product + point).astype(f32)).astype(f64)  # the sum is exact, or nearly


def last(x: Array, scale: Array, point: Array) -> Array:
    return np.rint(x / scale).astype(f64) + point.astype(f64)


def inverse_last(x: Array, scale: Array, point: Array) -> Array:
    return np.rint(x * (f32(1) / scale)).astype(f64) + point.astype(f64)


def wide(x: Array, scale: Array, point: Array) -> Array:
    return np.rint(x.astype(f64) / scale.astype(f64)) + point.astype(f64)


def away_last(x: Array, scale: Array, point: Array) -> Array:
    quotient = (x / scale).astype(f64)
    return np.copysign(np.floor(np.abs(quotient) + 0.5), quotient) + point.astype(f64)


def through_int64(x: Array, scale: Array, point: Array) -> Array:
    whole = np.rint(x * (f32(1) / scale)).astype(f64)
    return np.where(np.abs(whole) < 2.0**63, whole, -(2.0**63)) + point.astype(f64)


def clamp(whole: Array, low: int, high: int) -> Array:
    return np.clip(np.nan_to_num(whole, nan=low, posinf=1e300, neginf=-1e300), low, high)


def wrapped(x: Array, scale: Array, point: Array, low: int, high: int) -> Array:
    """The low bits of an exact sum."""
    whole = np.nan_to_num(np.rint(x / scale).astype(f64), nan=0.0, posinf=0.0, neginf=0.0)
    total = np.clip(whole, -(2.0**62), 2.0**62).astype(i64) + point.astype(i64)
    return ((total - low) % (high - low + 1) + low).astype(f64)


def level_of(whole: Whole | None, low: int, high: int, *operands: Array) -> Array:
    """Clamped; without steps of their own, sums wrap around."""
    return clamp(whole(*operands), low, high) if whole else wrapped(*operands, low, high)


def quantizer(whole: Whole | None, kind: str) -> Any:
    info = np.iinfo(kind)
    return lambda *operands: level_of(whole, info.min, info.max, *operands).astype(kind)


def fake(whole: Whole | None, low: int, high: int) -> Any:
    def run(x: Array, scale: Array, point: Array) -> Array:
        level = level_of(whole, low, high, x, scale, point)
        return ((level - point.astype(f64)) * scale.astype(f64)).astype(f32)

    return run


FIRST, AFTER = {"zero_point": "before-rounding", "round_mode": EVEN}, {"zero_point": "after-rounding"}
BOXES = [
    (TENSOR, "uint8", {}, quantizer(documented, "uint8"), {"scaling": "divide", "saturation": "saturate", **FIRST}),
    (TENSOR, "int8", {}, quantizer(fused, "int8"), {"scaling": "fused", **FIRST}),
    (CHANNEL, "uint8", {}, quantizer(inverse_last, "uint8"), {"scaling": "reciprocal", **AFTER}),
    (CHANNEL, "int8", {}, quantizer(None, "int8"), {"scaling": "divide", "saturation": "wrap", **AFTER}),
    (FAKE, "", {}, fake(last, 0, 255), {"scaling": "divide", "saturation": "saturate", "round_mode": EVEN, **AFTER}),
    (FAKE, "", SIGNED, fake(away_last, -128, 127), {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY", **AFTER}),
    (FAKE_CHANNEL, "", SIGNED, fake(documented, -128, 127), {"scaling": "divide", **FIRST}),
    (FAKE_CHANNEL, "", {}, fake(through_int64, 0, 255), {"scaling": "reciprocal", "saturation": "int64", **AFTER}),
    (FAKE, "", {}, fake(wide, 0, 255), {"scaling": "divide", **AFTER}),
    (FAKE, "", {"quant_min": 0, "quant_max": 15}, fake(None, 0, 15), {"saturation": "wrap", **AFTER}),
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("operator", "kind", "attributes", "run", "wanted"), BOXES)
def test_black_boxes_are_named(
    operator: str, kind: str, attributes: dict[str, int], run: Any, wanted: dict[str, str]
) -> None:
    answer = audited(run, audited_node(operator, attributes, "", kind, 0))
    found = answer.semantics()
    assert found and {name: found[name] for name in wanted} == wanted, answer.closest()


@pytest.mark.slow
def test_other_products_and_levels_are_not_named() -> None:
    def odd_level(x: Array, scale: Array, point: Array) -> Array:
        level = clamp(last(x, scale, point), 0, 255)
        return ((np.where(level == 7, 8, level) - point) * scale.astype(f64)).astype(f32)

    def apart(x: Array, scale: Array, point: Array) -> Array:
        level = clamp(last(x, scale, point), 0, 255)
        return (level.astype(f32) * scale - point.astype(f32) * scale).astype(f32)

    for run in (odd_level, apart):
        answer = audited(run, audited_node(FAKE, {}, "", "", 0))
        closest = answer.closest()
        assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.few(3)
@pytest.mark.parametrize(("operator", "kind"), [(TENSOR, "int8"), (CHANNEL, "uint8"), (FAKE, ""), (FAKE_CHANNEL, "")])
def test_what_the_document_says_is_the_oracles(operator: str, kind: str) -> None:
    arithmetic, compared = arithmetic_of(audited_node(operator, {}, "", kind, 0)), 0
    for number, probe in enumerate(list(arithmetic.first_probes())[::5]):
        (problem,) = problems_of(case_of_probe(arithmetic.node, probe, number))
        for precision, working in (("float32", True), ("exact", False)):
            ids = (precision, *ids_of(arithmetic.documented)[1:])
            wanted, states = oracle.solve(problem, working=working, mode=EVEN)
            (predicted,) = arithmetic.predict(probe, [semantics_of(arithmetic.facets, ids)])
            said = (predicted != ANYTHING) & (np.asarray(states) != UNDEFINED)
            assert np.array_equal(predicted[said], np.asarray(wanted)[said])
            compared += int(said.sum())
    assert compared > 1000


@pytest.mark.parametrize(("operator", "kind"), [(TENSOR, "int8"), (FAKE, "")])
def test_values_have_causes_and_one_is_the_documents(operator: str, kind: str) -> None:
    arithmetic = arithmetic_of(audited_node(operator, {}, "", kind, 0))
    assert tuple(arithmetic.documented) in arithmetic.candidates.places
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "kind"), [(TENSOR, "int8"), (FAKE, "")])
def test_every_value_of_every_facet_is_inferred(operator: str, kind: str) -> None:
    """Each value where nothing else is unlike the document's; what is left beside it is the same for every input."""
    node, tried = audited_node(operator, {}, "", kind, 0), 0
    for truth in single_changes(arithmetic_of(node)):
        inference = inference_of(node, truth)
        equal = separate_remaining(inference)
        assert truth in inference.alive and (len(inference.alive) == 1 or equal), ids_of(truth)
        tried += 1
    assert tried >= 25


def audit(operator: str, *more: str) -> dict[str, Any]:
    run = CliRunner().invoke(main, ["audit", "torch", "--operator", operator, *more, "--json"])
    assert run.exit_code == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)["semantics"]
    return found


def test_torch_fuses_the_zero_point_into_the_product_with_the_inverse() -> None:
    pytest.importorskip("torch")
    found = audit(TENSOR, "--type", "uint8")
    assert (found["scaling"], found["zero_point"], found["round_mode"]) == ("fused", "before-rounding", EVEN)


@pytest.mark.slow
def test_torchs_fake_quantizers_multiply_by_the_inverse_and_pass_through_int64() -> None:
    pytest.importorskip("torch")
    found = audit(FAKE_CHANNEL)
    assert (found["scaling"], found["zero_point"], found["saturation"]) == ("reciprocal", "after-rounding", "int64")


def test_what_has_no_table_is_refused() -> None:
    points = {"zero_point_type": "float32"}
    for operator in (CHANNEL, FAKE_CHANNEL):
        with pytest.raises(InvalidInput, match="of integer zero points, not of float32"):
            arithmetic_of(audited_node(operator, points, "", "", 0))
    with pytest.raises(InvalidInput, match=r"of levels 0 to 255, .*, not of 0 to 100"):
        arithmetic_of(audited_node(FAKE, {"quant_max": 100}, "", "", 0))


def test_an_answer_says_where_the_document_is_silent() -> None:
    assert all("how a tie is" in silence_of(audited_node(operator, {}, "", "", 0)) for operator in (TENSOR, CHANNEL))
    assert not silence_of(audited_node(FAKE, {}, "", "", 0))
