"""MatMulNBits: wrong backends get their causes and no others, and every mistake of a bias shows in a vector."""

from __future__ import annotations

import numpy as np
import pytest
import wrong_microsoft_matmul_nbits as wrong
from causes_of_records import causes_of

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.microsoft_matmul_nbits_mistakes import BIASES, MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

BOXES = {box.name.removeprefix("matmul-nbits: "): box.run for box in wrong.WRONG}
MISTAKE = {cause.id: run for cause, run in MISTAKES}
NAMED = (
    ("no bias", "ignores:the bias"),
    ("the bias subtracted", "bias-subtracted"),
    ("a bias in bfloat16", "bias-to:bfloat16"),
    ("the first bias for all", "column-bias-of:the first one"),
    ("the next column's bias", "column-bias-of:the one after it"),
)

# So of weights, in vectors of float32 in which any order of a sum gives the same.
OF_WEIGHTS = (
    ("the upper bits first", "nibbles-swapped"),
    ("the product in float16", "product-in:float16"),
    ("the first block's scale", "first-block-for-all"),
)


def with_bias(kind: str) -> list[Case]:
    vectors = indexed_cases(VECTORS / file_name(wrong.OPERATOR, kind, kind))
    return [case for case in vectors if "ColumnBias" in case.flags and "PrecisionSensitive" not in case.flags]


@pytest.mark.parametrize(("name", "key"), NAMED, ids=[name for name, _ in NAMED])
def test_a_wrong_bias_gets_its_cause_and_no_other(name: str, key: str) -> None:
    assert set(causes_of(BOXES[name], with_bias("float32"))) == {sentence_of(key)}


@pytest.mark.parametrize(("name", "key"), OF_WEIGHTS, ids=[name for name, _ in OF_WEIGHTS])
def test_a_wrong_weight_gets_its_cause_and_no_other(name: str, key: str) -> None:
    vectors = indexed_cases(VECTORS / file_name(wrong.OPERATOR, "float32", "float32"))
    assert set(causes_of(BOXES[name], vectors)) == {sentence_of(key)}


@pytest.mark.parametrize("key", [step.id for step in BIASES])
def test_every_mistake_of_a_bias_differs_in_a_vector(key: str) -> None:
    """A cause that nothing shows could be given to nobody."""
    found = [judge_outputs(MISTAKE[key](case.node, *case.inputs), truths_of(case)) for case in finite("float32")]
    assert sum(verdicts.count(DEVIATES) for verdicts in found) > 5


def finite(kind: str) -> list[Case]:
    """The vectors with a bias of numbers alone."""
    return [case for case in with_bias(kind) if np.isfinite(case.inputs[-1].astype(np.float64)).all()]
