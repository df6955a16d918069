"""The same numbers are the same bits: a box that computes anything of them, but the same each time, is consistent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.brief import BRIEF
from tiebreak.conformance.cases.path_probes import path_cases
from tiebreak.conformance.paths.dependence import path_rows
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, codes_of

MOST = 700  # elements of a case
Box = Callable[..., Array]


def product_of_odd_bits(a: Array, b: Array, a_zero_point: Array, b_zero_point: Array) -> Array:
    """No product of the differences, but of the numbers themselves: -255 has as many answers as factors."""
    left, right = (np.asarray(one, np.int64) for one in (a, b))
    return np.asarray((left * 5 + a_zero_point) @ (right * 3 + b_zero_point), np.int64)


def by_the_least_number(x: Array) -> Array:
    """A range that is not extended to 0: no two tensors of positive numbers with other minima are one."""
    low = np.nanmin(x)
    return np.asarray(np.nan_to_num(np.rint((x - low) * 7), posinf=1, neginf=2), np.int64)


def of_blocks(size: int) -> Box:
    """A scale by the sum of a block, which two blocks of one greatest magnitude need not share."""

    def box(x: Array) -> Array:
        filled = np.zeros((*x.shape[:-1], -(-x.shape[-1] // size) * size))
        filled[..., : x.shape[-1]] = np.clip(np.nan_to_num(x.astype(np.float64)), -1e6, 1e6)
        blocks = filled.reshape(*x.shape[:-1], -1, size)
        sums = np.abs(blocks).sum(-1, keepdims=True)
        elements = np.rint(np.divide(blocks, sums, out=np.zeros_like(blocks), where=sums > 0) * 100)
        own = elements.reshape(filled.shape)[..., : x.shape[-1]]
        return np.concatenate([own.reshape(-1), np.rint(sums.reshape(-1))]).astype(np.int64)

    return box


def range_and_ends(x: Array) -> Array:
    return np.concatenate([by_the_least_number(x).reshape(-1), codes_of(np.nanmin(x, keepdims=False).reshape(1)), [0]])


BOXES: dict[str, Box] = {
    "onnx.MatMulInteger": product_of_odd_bits,
    "onnx.DynamicQuantizeLinear": range_and_ends,
    "gguf.Quantize": of_blocks(32),
    "ocp.MXQuantize": of_blocks(32),
}


def answers(operator: str) -> tuple[list[Case], dict[str, Array]]:
    cases = [case for case in path_cases((operator,), BRIEF) if case.size <= MOST]
    with np.errstate(all="ignore"):
        found = {case.id: np.asarray(BOXES[operator](*case.inputs), np.int64).reshape(-1) for case in cases}
    return cases, found


@pytest.mark.parametrize("operator", BOXES)
def test_a_consistent_box_never_contradicts_itself(operator: str) -> None:
    cases, found = answers(operator)
    assert len({code for codes in found.values() for code in codes.tolist()}) > 10
    assert path_rows("it", found, cases) == []


@pytest.mark.parametrize("operator", BOXES)
def test_one_that_answers_by_the_place_is_found(operator: str) -> None:
    """The last element is one more: an element of the same numbers stands elsewhere."""
    cases, found = answers(operator)
    rows: list[Any] = path_rows("it", {name: changed(codes, cases, name) for name, codes in found.items()}, cases)
    assert rows
    assert all(len(row["answers"]) > 1 for row in rows)


def changed(codes: Array, cases: list[Case], name: str) -> Array:
    size = next(case.size for case in cases if case.id == name)
    return np.where(np.arange(codes.size) == size - 1, codes + 1, codes)


def test_a_product_of_two_scalars_is_not_told_as_per_axis() -> None:
    """A row of numbers is no parameter of an axis."""
    cases, found = answers("onnx.MatMulInteger")
    rows = path_rows("it", {name: changed(codes, cases, name) for name, codes in found.items()}, cases)
    assert "per axis" not in str(rows)
