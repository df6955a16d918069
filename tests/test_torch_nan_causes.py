"""torch's quantizers by a reciprocal: the cause says what NaN becomes only where numbers give one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.conformance.operators.torch_quantize_variants import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED

TENSOR, CHANNEL = "torch.quantize_per_tensor", "torch.quantize_per_channel"
PLAIN, WITH_NAN = "own-reciprocal", "own-reciprocal + nan-as-processor"
NAN = sentence_of("nan-as-processor")
RUNS = {cause.id: run for cause, run in MISTAKES}
NANS = {(TENSOR, "int8"): 127, (TENSOR, "uint8"): 255, (CHANNEL, "int8"): 0, (CHANNEL, "uint8"): 0}
LEAST = 3e-45  # a scale with an infinite reciprocal


def node_of(operator: str, kind: str) -> Node:
    attributes = {"axis": 0} if operator == CHANNEL else {}
    return make_node(operator, real="float32", quantized=kind, attributes=attributes)


def inputs_of(operator: str, node: Node, x: list[float], scale: float, zero: int) -> tuple[Array, ...]:
    shape = (1, len(x)) if operator == CHANNEL else (len(x),)
    point = np.array(zero, node.inputs[2].dtype)
    own = np.array(scale, np.float32).astype(node.inputs[1].dtype)
    parts = (own.reshape(1), point.reshape(1)) if operator == CHANNEL else (own, point)
    return np.array(x, np.float32).reshape(shape), *parts


def quantized(operator: str, kind: str, x: float, scale: float, zero: int) -> int:
    """By Python's floats and one reciprocal in float32."""
    own = INTEGER_TYPES[kind]
    with np.errstate(all="ignore"):
        total = np.float32(x) * (np.float32(1) / np.float32(scale)) + np.float32(zero)
    if np.isnan(total):
        return NANS.get((operator, kind), -(1 << 31))
    return max(own.lowest, min(own.highest, round(float(np.clip(total, -(2.0**40), 2.0**40)))))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32"])
@pytest.mark.parametrize("operator", [TENSOR, CHANNEL])
def test_what_nan_becomes_is_predicted_only_where_numbers_give_it(operator: str, kind: str) -> None:
    node = node_of(operator, kind)
    with_nan = inputs_of(operator, node, [0.0, 1.0, -1.0], LEAST, 3)
    (found,) = RUNS[WITH_NAN](node, *with_nan)
    assert found.reshape(-1).tolist() == [quantized(operator, kind, x, LEAST, 3) for x in (0.0, 1.0, -1.0)]
    with pytest.raises(ValueError, match="another mistake"):
        RUNS[PLAIN](node, *with_nan)
    for x in ([1.0, -1.0, 7.5], [np.nan, 1.0]):
        without = inputs_of(operator, node, x, 0.3, 3)
        assert RUNS[PLAIN](node, *without)[0].size == len(x)
        with pytest.raises(ValueError, match="nothing to mistake"):
            RUNS[WITH_NAN](node, *without)


def cases_of(node: Node) -> Iterator[Case]:
    """Quotients beside ties, where the reciprocal shows; then a scale without a reciprocal."""
    steps = [n / 2 for n in range(-60, 60)]
    for number, scale in enumerate((0.1, 0.3, 0.7, 1 / 3, 0.01)):
        x = [float(np.float32(scale) * np.float32(step)) for step in steps]
        yield Case(f"typed/{number}", node, inputs_of(CHANNEL, node, x, scale, 0), "typed")
    yield Case("typed/least", node, inputs_of(CHANNEL, node, [0.0, 1.0, -1.0, -0.0] * 9, LEAST, 3), "typed")


def test_each_case_gets_the_cause_that_says_what_it_shows() -> None:
    def box(node: Node, x: Array, scale: Array, zero: Array) -> tuple[Array, ...]:
        found = [quantized(CHANNEL, "int32", one, float(scale[0]), int(zero[0])) for one in x.reshape(-1).tolist()]
        return (np.array(found, np.int32).reshape(x.shape),)

    cases = list(cases_of(node_of(CHANNEL, "int32")))
    named = causes_of(box, cases)
    by_nan = {text: count for text, count in named.items() if NAN in text}
    assert sum(by_nan.values()) == 18  # zeros; numbers beyond int32 saturate either way
    assert named.total() == 24 and sentence_of(UNEXPLAINED) not in named
    assert not any(NAN in text for text in causes_of(box, cases[:-1]))
