"""Claims that the prover once decided wrongly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from proof_certificates import (
    certificate,
    check,
)

from tiebreak.golden.patterns.exact import exact
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.text import pattern_of


def test_a_part_that_one_side_rounds_is_not_generalized() -> None:
    """round(x / s) of a real quotient is not that of a float quotient, though both are written Q(x, s)."""
    data = certificate("exact(Q(DQ(Q(x, s), s), s)) = Q(x, s)", real="float16")
    assert data["verdict"] == "REFUTED"
    assert check(data)


@pytest.mark.slow
def test_the_greatest_number_of_a_negative_scale_has_the_least_code() -> None:
    data = certificate("MaxPool(x) = exact(Q(MaxPool(DQ(x, s)), s))", real="float16", sign="negative")
    assert data["verdict"] == "REFUTED"
    assert check(data)


def test_real_arithmetic_minds_the_sign_of_scales() -> None:
    same = certificate("Q(Relu(DQ(x, s)), s) = exact(Q(Relu(DQ(x, s)), s))", real="float16", sign="negative")
    assert same["verdict"] == "PROVED"
    assert check(same)


def test_zeros_are_one_number() -> None:
    """Relu and MaxPool may give either zero."""
    data = certificate("Relu(DQ(x, s)) = DQ(x, s)", real="bfloat16", zero_points="highest", sign="negative")
    assert data["verdict"] == "PROVED"
    assert check(data)


@pytest.mark.parametrize("operation", ["Relu(DQ(x, s))", "MaxPool(DQ(x, s))", "Clip(DQ(x, s), -3, 5)"])
def test_the_exact_truth_minds_the_sign_of_scales(operation: str) -> None:
    """Each code, in fractions written out here; the search once took a negative scale's greatest for the least."""
    functions: dict[str, Callable[..., Any]] = {
        "DQ": lambda x, s: [(one - 3) * s for one in x],
        "Relu": lambda x: [max(one, Fraction(0)) for one in x],
        "MaxPool": lambda x: [max(x)],
        "Clip": lambda x, low, high: [min(max(one, Fraction(low)), Fraction(high)) for one in x],
    }
    pattern = pattern_of(f"Q({operation}, s)")
    codes = np.random.default_rng(5).integers(0, 256, (64, pattern.operands[0].width))
    found = exact(pattern, {"s": ScalePair(np.float32(-0.75), 3, "uint8")}, {"x": codes.astype(np.uint8)})
    for row, result in zip(codes.tolist(), found.tolist(), strict=True):
        values = eval(operation, {"__builtins__": {}}, {**functions, "x": row, "s": Fraction(-3, 4)})  # noqa: S307
        assert result == [min(max(round(one / Fraction(-3, 4)) + 3, 0), 255) for one in values]


def test_scales_are_counted_where_neither_side_depends_on_them() -> None:
    """The prover once counted one scale of them all."""
    text = "MaxPool(x) = exact(Q(MaxPool(DQ(x, s)), s))"
    data = certificate(text, real="bfloat16", sign="negative", type="uint4")
    assert data["verdict"] == "REFUTED"
    assert [block[1] for block in data["steps"][0]["blocks"]] == [128]
    assert check(data)


@pytest.mark.slow
def test_a_maximum_moves_out_of_what_has_no_scale() -> None:
    """With a negative scale, too."""
    text = "Q(Clip(MaxPool(Concat(DQ(a, s), DQ(b, s))), 1, 2), s) = Q(DQ(a, s), s)"
    data = certificate(text, real="bfloat16", sign="negative", type="uint4", extent="all")
    assert data["verdict"] == "REFUTED"
    assert "maximum" in [step["rule"] for step in data["steps"]]
    assert check(data)
