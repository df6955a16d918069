"""Claims at random against trying everything in another way: no false PROVED, no false REFUTED, no false zero point."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.conformance.proof_checker import check
from tiebreak.conformance.proving.job import ClaimDomain, prove_job

BF16 = np.dtype(ml_dtypes.bfloat16)
ENDS = {"uint4": (0, 15), "int4": (-8, 7)}
CHANGES = [
    ("Relu(DQ(a, s))", "DQ(a, s)"),
    ("DQ(a, s)", "Relu(DQ(a, s))"),
    ("DQ(a, s)", "DQ(b, s)"),
    ("DQ(b, s)", "Relu(DQ(b, s))"),
    ("exact(", "("),
]


def number(draw: random.Random, depth: int) -> str:
    """A float of codes a and b."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["DQ(a, s)", "DQ(b, s)"])
    operation = draw.choice(["Relu", "Add", "Sub", "AveragePool", "MaxPool"])
    parts = [number(draw, depth - 1) for _ in range(1 if operation == "Relu" else 2)]
    inner = ", ".join(parts)
    return f"{operation}(Concat({inner}))" if operation.endswith("Pool") else f"{operation}({inner})"


def claim(draw: random.Random) -> tuple[str, str]:
    if draw.random() < 0.4:  # a step that moves, or operands that change places
        a, b = number(draw, 1), number(draw, 1)
        operation = draw.choice(["Add", "Sub"])
        return draw.choice(
            [
                (f"Q(MaxPool(Concat({a}, {b})), s)", f"MaxPool(Concat(Q({a}, s), Q({b}, s)))"),
                (f"Q({operation}({a}, {b}), s)", f"Q({operation}({b}, {a}), s)"),
            ]
        )
    left = f"Q({number(draw, draw.randint(1, 3))}, s)"
    left = f"exact({left})" if draw.random() < 0.2 else left
    old, new = draw.choice(CHANGES)
    if old in left and draw.random() < 0.7:
        return left, left.replace(old, new, 1)
    alone = ["a"] if "DQ(a, s)" in left else []
    return left, draw.choice([*alone, f"Q({number(draw, 2)}, s)"])


def results(side: str, codes: dict[str, Any], scales: Any, zero: int, ends: tuple[int, int]) -> Any:
    """A side's codes, [combinations, scales]; real arithmetic in float64, which holds sums of these numbers."""
    is_exact = side.startswith("exact(")
    kind = np.dtype(np.float64) if is_exact else BF16
    wide = scales.astype(kind)

    def quantized(x: Any, s: str) -> Any:
        if not is_exact:
            return np.clip(np.rint((x / wide).astype(np.float64)) + zero, *ends)
        x, size = x * np.sign(wide), np.abs(wide)
        below = np.floor(x / size)
        below = below - (x < below * size) + (x >= (below + 1) * size)
        twice = 2 * (x - below * size)
        return np.clip(below + ((twice > size) | ((twice == size) & (below % 2 == 1))) + zero, *ends)

    functions: dict[str, Callable[..., Any]] = {
        "exact": lambda x: x,
        "Q": quantized,
        "DQ": lambda q, s: (q - zero).astype(np.float32).astype(kind) * wide,
        "Relu": lambda x: np.where(x > 0, x, kind.type(0)),
        "Add": lambda a, b: a + b,
        "Sub": lambda a, b: a - b,
        "Concat": lambda a, b: (a, b),
        "MaxPool": lambda two: np.where(two[0] > two[1], two[0], two[1]),
        "AveragePool": lambda two: (two[0] + two[1]) / kind.type(2),
    }
    return eval(side, {"__builtins__": {}}, {**functions, **codes, "s": "s"})  # noqa: S307 - this file's own text


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_decided_is_so(seed: int) -> None:
    draw = random.Random(seed)
    left, right = claim(draw)
    kind, sign = draw.choice(["uint4", "int4"]), draw.choice(["positive", "positive", "negative"])
    where = ClaimDomain(kind, "bfloat16", sign)
    data = prove_job(f"{left} = {right}", where, None, lambda done, of: None)
    lowest, highest = ENDS[kind]
    every = np.arange(lowest, highest + 1)
    pairs = {"a": np.repeat(every, 16)[:, None], "b": np.tile(every, 16)[:, None]}
    scales = ((np.arange(128) / 128 + 1) * (1 if sign == "positive" else -1)).astype(BF16)
    differs = set()
    for zero in every.tolist():
        sides = [results(side, pairs, scales, zero, ENDS[kind]) for side in (left, right)]
        if (sides[0] != sides[1]).any():
            differs.add(zero)
    assert data["verdict"] in ("UNKNOWN", "REFUTED" if differs else "PROVED")
    if data["verdict"] == "UNKNOWN":
        return
    assert check(data, seconds=0)
    holds = {zero for first, last in data["holds"] for zero in range(first, last + 1)}
    assert holds == set(every.tolist()) - differs or not (data["holds"] or data["differs"])
    if example := data["counterexample"]:
        codes = {name: np.array([[int(text)]]) for name, text in example["operands"].items()}
        scale = np.array([float(example["scales"]["s"])]).astype(BF16)
        zero = example["zero_points"]["s"]
        assert [int(np.asarray(results(side, codes, scale, zero, ENDS[kind])).item()) for side in (left, right)] == [
            int(example["left"]),
            int(example["right"]),
        ]
