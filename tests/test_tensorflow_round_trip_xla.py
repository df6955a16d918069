"""QuantizeAndDequantizeV2 as XLA compiles it: in float16 with no subnormal flushed, in bfloat16 by a division."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.adapters.registry import load_backend
from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_variants import MISTAKES, first_extremes
from tiebreak.conformance.semantics.causes import JOINT, sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR = "tensorflow.QuantizeAndDequantizeV2"
BY_TYPE = {
    "float16": "side-times-inverse-measured",
    "bfloat16": f"side-over-integer-measured:the least for what equals it{JOINT}flushes",
    "float32": f"side-times-inverse-of-integer{JOINT}flushes",
    "float64": f"side-times-inverse-of-integer{JOINT}flushes",
}
GREATEST = {"float16": np.finfo(np.float16).max, "bfloat16": ml_dtypes.finfo(ml_dtypes.bfloat16).max}
TINY = {"float16": 0.0, "bfloat16": 2.0**-126}  # what lies below is 0


def cases_of(kind: str, *words: str) -> list[Case]:
    every = indexed_cases(VECTORS / file_name(OPERATOR, kind, kind))
    return [case for case in every if any(word in case.id for word in words)]


def like_xla(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """One number after the other, in scalars of the type; no infinite factor is the smaller one."""
    given, axis, found = node.attributes.get("range_given", False), int(node.value("axis")), np.empty_like(x)
    for place in np.ndindex(*x.shape):
        own = x if axis < 0 else np.take(x, place[axis], axis)
        at = (place[axis],) if axis >= 0 else ()
        ends = (low[at], high[at]) if given else extremes(own)
        found[place] = one_number(node, x[place], *ends, given)
    return (found,)


def extremes(values: Array) -> tuple[Any, Any]:
    flat = [flushed(one) for one in values.reshape(-1)]
    if any(np.isnan(float(one)) for one in flat):
        return (values.dtype.type(np.nan),) * 2
    return min(flat), max(flat)  # of equal ones the first


def flushed(value: Any) -> Any:
    return value if abs(float(value)) >= TINY[value.dtype.name] else value * type(value)(0)


def one_number(node: Any, x: Any, low: Any, high: Any, given: bool) -> Any:
    kind, (least, most) = x.dtype.type, integers(node)
    x, low, high = flushed(x), flushed(low), flushed(high)
    with np.errstate(all="ignore"):
        none = kind(GREATEST[x.dtype.name])
        factors = [kind(whole / end) if whole * end > 0 else none for whole, end in ((least, low), (most, high))]
        side, whole = (low, least) if factors[0] < factors[1] else (high, most)
        by_inverse = x.dtype == np.float16
        step = flushed(side * (kind(1) / whole) if by_inverse else side / whole)
        first, last = (low, flushed(most * step)) if side is low and whole is least else (flushed(least * step), high)
        if given:
            x = x if first < x else first
            x = last if x > last else x
        product = flushed(x * flushed(min(factors)))
        up = node.value("round_mode") == "HALF_UP"
        return flushed(kind(np.floor(product + kind(0.5)) if up else np.rint(product)) * step)


def integers(node: Any) -> Iterator[Any]:
    kind, signed, bits = node.inputs[0].dtype.type, bool(node.value("signed_input")), int(node.value("num_bits"))
    most = 2 ** (bits - signed) - 1
    with np.errstate(over="ignore"):
        return iter((kind(float(-most - (not node.value("narrow_range"))) if signed else 0), kind(float(most))))


@pytest.mark.parametrize("kind", sorted(TINY))
def test_a_backend_that_does_it_is_named_so(kind: str) -> None:
    """What it does to subnormal ranges shows nowhere: there a factor overflows, which the document leaves open."""
    cases = cases_of(kind, "widths-unsigned", "subnormal-range", "thirds", "measured", "largest-range")
    assert len(cases) >= 30
    named = BY_TYPE[kind] if kind == "float16" else "side-over-integer-measured"
    assert set(causes_of(like_xla, cases)) == {sentence_of(named)}


@pytest.mark.parametrize("kind", sorted(BY_TYPE))
def test_xla_does_it(kind: str) -> None:
    """Where input_max's factor is infinite, input_min decides, divided by 0; a zero takes the sign of the least."""
    if kind == "float16" and "avx512_fp16" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("the processor computes in float16, and XLA lets it: a product is no longer a float32's")
    run = {cause.id: mistake for cause, mistake in MISTAKES}[BY_TYPE[kind]]
    xla = load_backend("tensorflow-xla")
    cases = cases_of(kind, "widths-unsigned-16-even", "widths-unsigned-32-even", "subnormal-range", "thirds-unsigned")
    assert len(cases) > 5
    for case in cases:
        (found,), (given,) = xla.compile(case.node)(*case.inputs), run(case.node, *case.inputs)
        assert np.array_equal(bits(found), bits(given)), case.id


def bits(values: Array) -> Array:
    """The bits of numbers, with one NaN."""
    nan = np.full((), np.nan, values.dtype)
    whole = np.where(np.isnan(values.astype(np.float64)), nan, values)
    return np.ascontiguousarray(whole).view(f"u{values.itemsize}")


def test_of_zeros_the_first_is_the_least_and_the_greatest() -> None:
    low, high = first_extremes(np.array([[-0.0, 0.0], [0.0, -0.0]], np.float32), 0)
    assert np.signbit(low).tolist() == np.signbit(high).tolist() == [True, False]
