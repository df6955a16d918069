"""One cause for all elements of a kind of node, found where no case alone shows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of

from benchmarks.known_defects.measure import measured
from benchmarks.unseen_defects.boxes import BOXES, answer
from tiebreak.conformance.causes.whole import fitting_causes
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

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


def test_arrays_that_repeat_operands_do_not_make_a_cause_the_whole_kinds() -> None:
    """2,803 elements of one operand on one path, and 20 others on another, where the cause does not hold."""
    first, second = ("kind", "one"), ("kind", "other")
    case, operands = np.repeat([0, 1], [2803, 20]), np.concatenate([np.zeros(2803, int), np.arange(1, 21)])
    cause = Cause("range-ratio-first", "mode")

    def evidence(operands: Any) -> Any:
        return SimpleNamespace(
            deviating=SimpleNamespace(case=case, operands=operands),
            positions=np.concatenate([np.arange(2803), np.arange(20)]),
            groups=[first, second],
            given_by=lambda case, cause: np.ones(2803, bool) if case == 0 else None,
            contradicted=lambda group, every, cause, place: False,
        )

    own = np.arange(2823)
    assert fitting_causes(evidence(operands), own, [cause]) == {}
    assert fitting_causes(evidence(np.arange(2823)), own, [cause]) == {cause: {first}}


def test_of_names_that_fit_alike_the_one_is_given_that_nothing_on_the_path_contradicts() -> None:
    """The first channel's parameters for all, and ties toward zero: elsewhere "one scale for all" is contradicted."""
    (box,) = [one for one in BOXES if one.name == "ngraph.Quantize/float32-uint8/mode-off-by-one+all-from-first"]
    vectors = indexed_cases(VECTORS / file_name("ngraph.Quantize", "float32", "uint8"))
    cases = [case for case in vectors if case.node.round_mode == "ROUND_NEAREST_TOWARD_INFINITY"]
    tie = "ties:NEAREST_TOWARD_ZERO"
    assert set(causes_of(lambda node, *inputs: box.answer(node, inputs), cases)) == {
        sentence_of(tie),
        sentence_of(f"one-for-all:scale and zero point + {tie}"),
    }


def test_what_a_pathological_element_contradicts_gives_way_to_what_it_does_not() -> None:
    """10^6 is the same cut off to bfloat16 and rounded to it; 4.8e-42 is 0 in bfloat16 alone."""
    (box,) = [one for one in BOXES if one.name == "onnx.QuantizeLinear/int32-int8/scale-cut-bf16"]
    vectors = indexed_cases(VECTORS / file_name("onnx.QuantizeLinear", "int32", "int8"))
    cases = [case for case in vectors if "/ties-scale-1000000" in case.id]
    given = np.zeros(2, np.int32), np.array(4.854e-42, np.float32), np.array(-128, np.int8)
    tiny = Case("tiny", make_node("onnx.QuantizeLinear", real="int32", quantized="int8"), given)

    def found(*some: Case) -> set[str]:
        return set(causes_of(lambda node, *inputs: box.answer(node, inputs), some))

    assert found(*cases) == {sentence_of("scale-in:bfloat16")}
    assert found(*cases, tiny) == {sentence_of("scale-cut-off-to:bfloat16")}
