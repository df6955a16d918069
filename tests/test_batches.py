"""What shared mistakes give in many cases at once is what they give in each alone."""

from __future__ import annotations

import numpy as np
import pytest

from test_wrong_backends import vectors
from tiebreak.conformance.causes.batches import runs_of
from tiebreak.conformance.judging.operands import QuantizationOperands, operands_along
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.problems import problems_of


def cases_of(*types: tuple[str, str]) -> list[Case]:
    """Small cases of several types and modes, mixed, and one that is no quantization."""
    every = [[case for case, *_ in vectors("ngraph.Quantize", *pair) if case.size < 100][:60] for pair in types]
    other = make_node("onnx.DequantizeLinear", real="float32", quantized="uint8", zero_point=False)
    no_quantization = Case("other", other, (np.arange(4, dtype=np.uint8), np.array(0.5, np.float32)))
    return [*(case for some in zip(*every, strict=True) for case in some), no_quantization]


def own_of(case: Case) -> QuantizationOperands | None:
    problem = problems_of(case)[0]
    return operands_along(case, problem, problem.axes) if isinstance(problem, Quantization) else None


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return cases_of(("float32", "int8"), ("float32", "uint8"), ("float16", "int8"))


def test_a_mistake_gives_the_same_in_many_cases_at_once(cases: list[Case]) -> None:
    runs = list(runs_of(cases, [problems_of(case) for case in cases]))
    compared = 0
    with np.errstate(all="ignore"):
        for case, run in zip(cases, runs, strict=True):
            own = own_of(case)
            assert (run is None) == (own is None)
            if run is None or own is None:
                continue
            for cause, predict in HYPOTHESES:
                alone, at_once = predict(own), run(predict)
                assert (alone is None) == (at_once is None), cause.id
                if alone is not None and at_once is not None:
                    assert alone.tolist() == at_once.tolist(), cause.id
                    compared += alone.size
    assert compared > 100_000


def test_a_mistake_that_raises_does_so_in_each_case_and_is_tried_once_for_all(cases: list[Case]) -> None:
    asked = []

    def fails(own: QuantizationOperands) -> Array:
        asked.append(own.x.dtype)
        raise ValueError(f"of {own.x.dtype}")

    runs = [run for run in runs_of(cases, [problems_of(case) for case in cases]) if run is not None]
    for run in runs:
        with pytest.raises(ValueError, match=r"^of float(16|32)$"):
            run(fails)
    assert len(runs) == 180
    assert len(asked) < len(runs)
