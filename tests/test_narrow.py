"""Codes in narrow types, as judging holds them."""

from __future__ import annotations

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.chunk import Chunk, Chunks, chunks_of
from tiebreak.conformance.judging.narrow import NarrowCodes, narrow, widened
from tiebreak.conformance.judging.truths import kernel_truth
from tiebreak.golden.problem import Array

ENDS = [0, -1, 127, -128, 128, 255, -129, 256, 2**15, -(2**15) - 1, 2**16, 2**31, -(2**31) - 1, 2**32]
ENDS += [2**63 - 1, -(2**63)]


@pytest.mark.parametrize("end", ENDS)
def test_every_code_stays_and_its_type_is_the_narrowest(end: int) -> None:
    codes = np.array([0, end, 1], np.int64)
    held = narrow(codes)
    assert held.tolist() == codes.tolist() and widened(held).dtype == np.int64
    assert held.dtype.kind in "iu" and held.dtype != np.uint64, "which compares with int64 as floats"
    if held.dtype.itemsize > 1:
        smaller = [np.iinfo(f"{sign}{held.dtype.itemsize // 2}") for sign in "iu"]
        assert not any(kind.min <= min(0, end) and max(1, end) <= kind.max for kind in smaller)
    others = np.array([-1, 0, 255, 2**32, end], np.int64)
    assert [(held == other).tolist() for other in others] == [(codes == other).tolist() for other in others]


def test_nothing_is_narrow_too() -> None:
    assert narrow(np.zeros(0, np.int64)).size == 0


def test_codes_by_case_come_back_wide() -> None:
    codes = NarrowCodes()
    codes["a"], codes["b"] = np.array([-1, 200]), np.array([], np.int64)
    assert codes["a"].tolist() == [-1, 200] and codes["a"].dtype == codes["b"].dtype == np.int64
    assert codes.held["a"].nbytes == 4
    assert list(codes) == ["a", "b"] and len(codes) == 2 and "c" not in codes and codes.get("c") is None
    del codes["a"]
    assert list(codes) == ["b"]
    with pytest.raises(KeyError):
        codes["a"]


def chunks() -> list[Chunk]:
    names = ("onnx.QuantizeLinear", "onnx.DequantizeLinear", "ngraph.Quantize", "openvino.FakeQuantize")
    found = [Chunk(own) for own in chunks_of(plan(Selection(names, level="")))]
    return [next(chunk for chunk in found if chunk.operator == name) for name in names]


@pytest.mark.slow
def test_the_truths_of_a_chunk_are_those_of_its_cases() -> None:
    for chunk in chunks():
        for number in range(0, len(chunk.cases), 37):
            truths = chunk.truths_of(number)
            for mode, found in truths.by_mode.items():
                wanted = kernel_truth(chunk.cases[number], truths.problems, mode)
                for name in ("exact", "working", "exact_specified", "working_specified", "zero"):
                    ours, theirs = getattr(found, name), getattr(wanted, name)
                    assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs), (chunk.cases[number].id, name)


@pytest.mark.slow
def test_modes_share_what_they_specify_and_hold_narrow_codes() -> None:
    (chunk, *_) = chunks()
    held: list[Array] = [truth.exact for truth in chunk.by_mode.values()]
    assert len(held) == 9 and all(codes.dtype == narrow(codes).dtype for codes in held)
    masks = [truth.exact_specified for truth in chunk.by_mode.values()]
    assert len({id(mask) for mask in masks}) == len({mask.tobytes() for mask in masks}) < 9


def test_a_chunk_is_dropped_when_the_last_backend_is_done_with_it() -> None:
    first, second = list(chunks_of(plan(Selection(("ngraph.Quantize",), level=""))))[:2]
    kept = Chunks()
    kept.expect([first, second])
    kept.expect([first])
    chunk = kept.of(first)
    kept.of(second)
    kept.done(first)
    assert kept.of(first) is chunk
    kept.done(second)
    kept.done(first)
    assert not kept.kept
    unexpected = kept.of(second)
    assert kept.of(second) is unexpected, "nobody is known to be the last"
