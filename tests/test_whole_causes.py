"""One cause for all elements of a kind of node, found where no case alone shows it."""

from __future__ import annotations

import pytest

from benchmarks.known_defects.measure import measured
from benchmarks.unseen_defects.boxes import BOXES, answer

PLACE = "benchmarks.unseen_defects.boxes"
KIND = "onnx.QuantizeLinear/float32-uint8"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("box", "first", "second"),
    [
        # Each mistake alone explains its cases, and only together they explain what conforms elsewhere.
        ("zp-int8-cast+mul-inverse", "zero-point-as-signed", "own-reciprocal"),
        # Another pair explains more cases than the one at work, if only the likeliest of a case are tried.
        pytest.param(
            *("std-round+mul-inverse-bf16", "reciprocal-rounded-to:bfloat16", "ties:NEAREST_TOWARD_INFINITY"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_two_mistakes_that_give_all_of_a_kind_are_its_cause(box: str, first: str, second: str) -> None:
    (chosen,) = [one for one in BOXES if one.name == f"{KIND}/{box}"]
    (tally,) = measured([chosen], PLACE, answer)
    assert {given for given, *_ in tally.counts} == {first, second, f"{first} + {second}"}
