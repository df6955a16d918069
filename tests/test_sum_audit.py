"""Audits of sums of two scaled integers: black boxes, what the table predicts, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from audited_scalings import divide_by_power, doubling_high_mul
from auditing import audited, infer_each_alone, single_changes
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe, silence_of
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.golden import oracle
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Steps = Callable[..., Array]
f32, f64, i64, wide = np.float32, np.float64, np.int64, np.longdouble
ADD = "com.microsoft.QLinearAdd"
KINDS = ("int8", "uint8")


def box(kind: str, steps: Steps, *, whole: Any = np.rint, ends: Any = np.clip, last: bool = False) -> Any:
    """A black box: `steps` make the number to be rounded. With `last` the output's zero point is added after that."""

    def run(*inputs: Array) -> Array:
        a, s_a, z_a, b, s_b, z_b, s_c, z_c = (one.astype(i64) if one.dtype.kind in "iu" else one for one in inputs)
        point = 0 * z_c if last else z_c
        found = whole(steps(a, z_a, b, z_b, s_a, s_b, s_c, point)).astype(i64) + (z_c if last else 0)
        of = np.iinfo(kind)
        return ends(found, of.min, of.max).astype(kind)

    return run


def wrap(values: Array, low: int, high: int) -> Array:
    return (values - low) % 256 + low


def fma(x: Any, y: Any, added: Any) -> Array:
    return (np.asarray(x, wide) * np.asarray(y, wide) + np.asarray(added, wide)).astype(f32)


def written(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    return ((a - z_a).astype(f32) * s_a + f32(b - z_b) * s_b) / s_c + f32(z)


def in_doubles(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    return ((a - z_a) * f64(s_a) + (b - z_b) * f64(s_b)) / f64(s_c) + z


def by_ratios(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    return (a - z_a).astype(f32) * (s_a / s_c) + f32(b - z_b) * (s_b / s_c) + f32(z)


def by_inverse(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    return ((a - z_a).astype(f32) * s_a + f32(b - z_b) * s_b) * (f32(1) / s_c) + f32(z)


def fused(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    total = fma(a - z_a, s_a, f32(b - z_b) * s_b)
    return fma(total, f32(1) / s_c, z)


def merged(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    """MLAS's kernel with vectors of four and fused steps."""
    r_a, r_b = s_a / s_c, s_b / s_c
    fixed = f32(z) - (r_a * f32(z_a) + r_b * f32(z_b))
    return fma(a, r_a, fma(b, r_b, fixed))


def merged_plainly(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    r_a, r_b = s_a / s_c, s_b / s_c
    fixed = f32(z) - (r_a * f32(z_a) + r_b * f32(z_b))
    return a.astype(f32) * r_a + (f32(b) * r_b + fixed)


def shifted(bits: int, a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    """Both ratios as whole numbers, the greater one of so many bits."""
    r_a, r_b = s_a / s_c, s_b / s_c
    shift = bits - 1 - int(np.floor(np.log2(f64(max(r_a, r_b)))))
    m_a, m_b = int(np.rint(f64(r_a) * 2.0**shift)), int(np.rint(f64(r_b) * 2.0**shift))
    return ((a - z_a) * m_a + (b - z_b) * m_b) / 2.0**shift + z


def fixed_point(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    """TensorFlow Lite's reference kernel, in gemmlowp's functions. A ratio above 1, which it refuses, shifts left."""
    twice = 2 * max(f64(s_a), f64(s_b))

    def rescale(values: Array, factor: Any) -> Array:
        part, power = np.frexp(factor)
        multiplier = i64(np.floor(part * 2.0**31 + 0.5))
        high = doubling_high_mul(values, np.asarray(multiplier))
        return divide_by_power(high << max(power, 0), np.asarray(max(-power, 0), i64))

    total = rescale((a - z_a) << 20, s_a / twice) + rescale((np.asarray(b - z_b)) << 20, s_b / twice)
    return rescale(total, twice / (2.0**20 * f64(s_c))) + z


def apart(a: Array, z_a: Any, b: Any, z_b: Any, s_a: Any, s_b: Any, s_c: Any, z: Any) -> Array:
    return np.rint((a - z_a) * f64(s_a) / f64(s_c)) + np.rint((b - z_b) * f64(s_b) / f64(s_c))


def cast(values: Array, low: int, high: int) -> Array:
    """Through int32, as x86 converts: its lowest value stands for what it can't hold."""
    lost = (values < -(2**31)) | (values >= 2**31)
    return np.clip(np.where(lost, -(2**31), values), low, high)


def away(values: Array) -> Array:
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


def upward(values: Array) -> Array:
    return np.floor(values + 0.5)


AWAY, UP = "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_UPWARD"
LAST = "after-rounding"
BOXES = [
    ("int8", box("int8", written), {"position": "as-written", "zero_point": "before-rounding"}),
    ("uint8", box("uint8", written, last=True), {"position": "as-written", "zero_point": LAST}),
    ("int8", box("int8", in_doubles), {"position": "exact", "factor": "real"}),
    ("uint8", box("uint8", in_doubles, whole=away, last=True),
     {"position": "exact", "round_mode": AWAY, "zero_point": LAST}),
    ("int8", box("int8", by_ratios, ends=wrap), {"position": "ratios", "saturation": "wrap"}),
    ("uint8", box("uint8", by_inverse), {"position": "reciprocal"}),
    ("int8", box("int8", fused, whole=np.trunc, ends=wrap),
     {"position": "fused-reciprocal", "round_mode": "ROUND_TOWARD_ZERO", "saturation": "wrap"}),
    ("int8", box("int8", merged), {"position": "merged-fused", "saturation": "saturate"}),
    ("uint8", box("uint8", merged_plainly), {"position": "merged"}),
    ("int8", box("int8", partial(shifted, 22), whole=away, last=True), {"factor": "22-bits", "round_mode": AWAY}),
    ("uint8", box("uint8", partial(shifted, 21), whole=upward, last=True), {"factor": "21-bits", "round_mode": UP}),
    ("int8", box("int8", fixed_point), {"position": "three-multipliers", "round_mode": AWAY}),
    ("int8", box("int8", merged, ends=cast), {"position": "merged-fused", "saturation": "int32"}),
    ("int8", box("int8", apart, last=True), {"position": "each-rounded"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "run", "wanted"), BOXES)
def test_black_boxes_are_named(kind: str, run: Any, wanted: dict[str, str]) -> None:
    answer = audited(run, audited_node(ADD, {}, "float32", kind, 0))
    found = answer.semantics()
    assert found and {name: found[name] for name in wanted} == wanted, answer.closest()


@pytest.mark.slow
def test_what_no_table_has_is_not_named() -> None:
    right = box("int8", written)

    def afraid_of_five(*inputs: Array) -> Array:
        found = right(*inputs)
        return np.where(found == 5, 6, found).astype(np.int8)

    answer = audited(afraid_of_five, audited_node(ADD, {}, "float32", "int8", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("working", [True, False])
def test_what_the_document_says_is_the_oracles(kind: str, working: bool) -> None:
    arithmetic, compared = arithmetic_of(audited_node(ADD, {}, "float32", kind, 0)), 0
    exact = arithmetic.documented._replace(position=arithmetic.facets[2].by_id["exact"])  # type: ignore[attr-defined]
    for number, probe in enumerate(list(arithmetic.first_probes())[::9]):
        (problem, *_) = problems_of(case_of_probe(arithmetic.node, probe, number))
        wanted, _ = oracle.solve(problem, working=working)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented if working else exact])
        assert np.array_equal(predicted, np.asarray(wanted).reshape(-1))
        compared += predicted.size
    assert compared > 1000


@pytest.mark.parametrize("kind", KINDS)
def test_values_have_causes_and_the_document_has_one_of_each(kind: str) -> None:
    arithmetic = arithmetic_of(audited_node(ADD, {}, "float32", kind, 0))
    assert tuple(arithmetic.documented) in arithmetic.candidates.places
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values and len(facet.by_id) == len(facet.values)
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_every_facet_is_inferred(kind: str) -> None:
    """Each value where nothing else is unlike the document's, and no other one is left."""
    node = audited_node(ADD, {}, "float32", kind, 0)
    assert infer_each_alone(node, single_changes(arithmetic_of(node))) >= 18


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_onnxruntime_has_another_order_for_one_element(kind: str) -> None:
    """An operand that is one number is added first; the number of all zero points is made with a fused step."""
    run = CliRunner().invoke(main, ["audit", "onnxruntime", "--operator", ADD, "--type", kind, "--json"])
    data = json.loads(run.stdout)
    found = {path: one["semantics"]["position"] for one in data["by_path"] for path in one["paths"]}
    assert run.exit_code == 1 and data["semantics"] == {}
    assert found["one element alone"] != found["in whole vectors"] == found["in arrays of 3"]
    assert all(position.startswith("merged-fused") for position in found.values())


def test_openvino_cuts_off_and_wraps_a_fused_sum() -> None:
    run = CliRunner().invoke(main, ["audit", "openvino", "--operator", ADD, "--json"])
    found = json.loads(run.stdout)["semantics"]
    assert (found["position"], found["round_mode"]) == ("fused-reciprocal", "ROUND_TOWARD_ZERO")
    assert found["saturation"] == "wrap"


def test_an_answer_says_where_the_document_is_silent() -> None:
    assert "how a tie is" in silence_of(audited_node(ADD, {}, "", "", 0))
