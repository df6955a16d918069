"""tensorflow.UniformRequantize as XLA compiles it: subnormal scales are 0, and an int32 is clamped to no ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of
from test_tensorflow_requantize import BYTES, TO_BYTE, case_of

from tiebreak.adapters.registry import load_backend
from tiebreak.conformance.operators.tensorflow_uniform_requantize_variants import MISTAKES
from tiebreak.conformance.semantics.causes import JOINT, sentence_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

WORDS = ("int32", "int32")
SUBNORMAL, TWICE = np.float32(3e-45), np.float32(6e-45)


def within(low: int, high: int, *sides: str) -> dict[str, int]:
    """The ends of the output, or of the sides."""
    found = {}
    for side in sides or ("output",):
        found |= {f"{side}_quantization_min_val": low, f"{side}_quantization_max_val": high}
    return found


BEYOND = [-1000, 1000, 5, -6]
FLUSHED = (
    case_of(BYTES, [4, 2, 9, -1], TWICE, 3, SUBNORMAL, -5),
    case_of(BYTES, [7, -7, 1], SUBNORMAL, 0, TWICE, 4),
    case_of(
        WORDS, [356646, 3, -9], TWICE, 156, SUBNORMAL, 156, **within(-2000, 2000, "input", "output")
    ),  # as they are
    case_of(WORDS, [356646, 3, -9], TWICE, 156, SUBNORMAL, 156, **within(-2000, 2000)),  # 0 / 0
)
UNBOUNDED = (
    case_of(WORDS, BEYOND, 1.0, 0, 2.0, 0, **within(0, 0)),
    case_of(WORDS, [77, -31], 0.25, 3, 0.5, 0, **within(-3, 3)),
    case_of(WORDS, BEYOND, 1.0, 0, 2.0, 1, **within(-3, 100)),
    case_of(WORDS, [2147483647, -2147483648, 1000], 1.0, 0, 0.5, 0, **within(-3, 3)),  # saturates, and does not wrap
    case_of(WORDS, [16777217, 33554435], 1.0, 1, 0.5, 0, **within(-3, 3)),  # in float32
)
SIDES = ("input", "output")
ALONE = (case_of(("int8", "int32"), [-128, 100], 0.5, 0, 0.5, 0, **within(0, 0, *SIDES)),)
BOUNDED = case_of(TO_BYTE, BEYOND, 1.0, 0, 2.0, 0, **within(-3, 3))
FUSED = (case_of(WORDS, [16777217, 33554435], 1.0, 1, 0.5, 0), case_of(BYTES, [9, 3, -7], 0.25, 1, 0.5, 0))


def like_xla(node: Any, x: Array, s_in: Array, z_in: Array, s_out: Array, z_out: Array) -> tuple[Array, ...]:
    """ratio * x + shift, rounded once to float32, in Python's own steps."""
    kind = np.iinfo(node.outputs[0].dtype)
    low, high = (int(node.value(f"output_quantization_{end}_val")) for end in ("min", "max"))
    alike = all(node.value(f"input_quantization_{end}_val") == one for end, one in (("min", low), ("max", high)))
    low, high = (int(kind.min), int(kind.max)) if kind.bits == 32 else (low, high)
    first, last = (np.float32(0) if 0 < scale < 2.0**-126 else np.float32(scale) for scale in (s_in, s_out))
    if alike and x.dtype == node.outputs[0].dtype and first == last and z_in == z_out:
        return (x,)
    with np.errstate(all="ignore"):
        ratio = first / last
        shift = np.float32(z_out) - np.float32(z_in) * ratio
        total = [float(np.float32(np.longdouble(np.float32(one)) * ratio + shift)) for one in x]
    whole = [0 if np.isnan(one) else round(min(max(one, low), high)) for one in total]
    return (np.array([min(max(one, int(kind.min)), int(kind.max)) for one in whole]).astype(kind.dtype),)


@pytest.mark.parametrize("case", [*FLUSHED, *UNBOUNDED, *FUSED, *ALONE, BOUNDED])
def test_xla_does_it(case: Case) -> None:
    (found,) = load_backend("tensorflow-xla").compile(case.node)(*case.inputs)
    assert found.tolist() == like_xla(case.node, *case.inputs)[0].tolist()


@pytest.mark.parametrize(
    ("key", "cases"),
    [("flushes-scales", (*FLUSHED, *FUSED)), ("no-ends-of-int32", (*UNBOUNDED, *FUSED))],
)
def test_it_has_a_cause(key: str, cases: tuple[Case, ...]) -> None:
    found = set(causes_of(like_xla, [replace(case, id=str(number)) for number, case in enumerate(cases)]))
    wanted = {sentence_of(f"{key}{JOINT}ratio-and-shift-or-input"), sentence_of("ratio-and-shift-or-input")}
    assert found <= wanted and sentence_of(f"{key}{JOINT}ratio-and-shift-or-input") in found


def test_a_case_with_a_subnormal_scale_has_one_cause_alone() -> None:
    """Ends that an int32 has not are no mistake of their own there: the case of flushed scales leaves them off, too."""
    without_ends = next(run for cause, run in MISTAKES if cause.id.startswith("no-ends-of-int32"))
    case = case_of(("int8", "int32"), [9, 7, -3, 1], TWICE, 3, SUBNORMAL, 5, **within(-9, 9, *SIDES))
    with pytest.raises(NotImplementedError):
        without_ends(case.node, *case.inputs)
    (found,) = without_ends(ALONE[0].node, *ALONE[0].inputs)
    assert found.tolist() == [-128, 100]
