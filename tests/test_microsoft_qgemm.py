"""QGemm: numbers computed by hand, every pair of operands, causes, what ONNX Runtime does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import wrong_microsoft_qgemm as wrong
from causes_of_records import causes_of

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.microsoft_qgemm_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, DOMAINS, OTHER_ORDER, UNEXPLAINED

OPERATOR = wrong.OPERATOR
BOXES = {box.name.removeprefix("qgemm: "): box.run for box in wrong.WRONG}
MISTAKE = {cause.id: run for cause, run in MISTAKES}
EVERY = np.arange(256)
ORDERS = ("folds-scales", "folds-scales-and-reciprocal")  # alone they are another order of the document's steps
APART = {"NearRational", "Overflow", "LongSum"}  # there a cause computes in float32, and a box in fractions
NAMED = (
    ("no C", "ignores:C", "bias-"),
    ("no alpha", "ignores:alpha", "factor-tie"),
    ("transA ignored", "ignores:transA", "transposed"),
    ("transB ignored", "ignores:transB", "transposed"),
    ("no a_zero_point", "ignores:a_zero_point", "zero-points"),
    ("first scale of columns for all", "one-for-all:b_scale", "placed"),
    ("wraps", "wraps", "saturating"),
)


def case_of(
    a: Any, b: Any, scales: Any = (1, 1, 1), points: Any = (0, 0, 0), bias: Any = None, **attributes: Any
) -> Case:
    """A case of uint8, int8 and uint8; without the scale of Y its output is a number."""
    counts = scales[2] is None
    form = (0 if bias is not None else 1) + 2 * counts
    node = make_node(OPERATOR, real="uint8", quantized="float32" if counts else "uint8", operands=("int8",), form=form,
                     attributes=attributes)  # fmt: skip
    given = (a, scales[0], points[0], b, scales[1], points[1])
    given += (() if bias is None else (bias,)) + (() if counts else (scales[2], points[2]))
    arrays = (np.asarray(one, tensor.dtype) for one, tensor in zip(given, node.inputs, strict=True))
    return Case("a", node, tuple(arrays), "typed")


def solved(case: Case, *, working: bool = False) -> tuple[list[int], list[int]]:
    """Results and states by the oracle, which the kernel has too."""
    (problem,) = problems_of(case)
    found = oracle.solve(problem, working=working)
    assert all(np.array_equal(*both) for both in zip(found, kernel.solve(problem, working=working), strict=True))
    return found[0].tolist(), found[1].tolist()


def numbers(case: Case) -> list[float]:
    return np.array(solved(case)[0], np.uint32).view(np.float32).tolist()


def test_a_sum_with_its_bias_is_scaled_and_rounded_once() -> None:
    """((7 - 2) * (3 - 1) + 5) * 0.5 * 0.5 * 3 / 1.5 = 7.5, which goes to 8, and 4 more."""
    case = case_of([[7]], [[3]], (0.5, 3, 1.5), (2, 1, 4), [5], alpha=0.5)
    assert solved(case) == ([12], [IN_RANGE])


def test_without_a_scale_the_output_is_a_number() -> None:
    """(1 * 3 + 2 * 4) * -1 * 0.5 * 0.25, and with a bias of 100 more."""
    a, b, scales = [[1, 2]], [[3], [4]], (0.5, 0.25, None)
    assert numbers(case_of(a, b, scales, alpha=-1.0)) == [-1.375]
    assert numbers(case_of(a, b, scales, bias=100, alpha=-1.0)) == [-13.875]


def test_a_number_of_a_large_sum_is_rounded_once() -> None:
    """2^29 + 2^5 + 1 has 30 bits; times a scale of 24 bits it lies beside the middle of two float32."""
    scale, bias = float(np.float32(1 + 2.0**-23)), (1 << 29) + 33
    (found,) = numbers(case_of([[0]], [[0]], (scale, 1, None), bias=bias))
    exact = Fraction(bias) * Fraction(scale)
    below, above = (np.nextafter(np.float32(found), np.float32(way)) for way in (0, np.inf))
    assert all(abs(exact - Fraction(found)) < abs(exact - Fraction(float(other))) for other in (below, above))


def test_transposed_matrices_and_columns() -> None:
    """[[1, 2], [3, 4]] as [[1, 3], [2, 4]], times [[5, 6], [7, 8]] as [[5, 7], [6, 8]], with scales of 1 and 2."""
    case = case_of([[1, 2], [3, 4]], [[5, 6], [7, 8]], (1, [1, 2], 1), (0, [0, 0], 0), transA=True, transB=True)
    assert solved(case)[0] == [23, 62, 34, 92]


def test_values_saturate_and_open_ones_are_open() -> None:
    assert solved(case_of([[255, 0]], [[2], [1]])) == ([255], [OUT_OF_RANGE])
    assert solved(case_of([[1]], [[1]], (1, 1, 0))) == ([0], [UNDEFINED])
    assert solved(case_of([[1]], [[1]], bias=(1 << 31) - 1)) == ([0], [UNDEFINED])


def test_a_sum_is_open_if_it_leaves_32_bits_in_one_order_with_c() -> None:
    """C + 127 * 127 does, all three terms do not."""
    assert solved(case_of([[127, 127]], [[127], [-127]], bias=(1 << 31) - 1)) == ([0], [UNDEFINED])
    assert solved(case_of([[127, 1]], [[1], [0]], bias=(1 << 31) - 128)) == ([255], [OUT_OF_RANGE])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a": [1]}, r"A of shape \[1\] is no matrix"),
        ({"bias": [1, 2]}, r"C of shape \[2\] does not broadcast to \[1, 1\]"),
        ({"scales": ([1, 2], 1, 1)}, r"a_scale is a scalar, not of shape \[2\]"),
    ],
)
def test_shapes_that_the_document_excludes_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        problems_of(case_of(**{"a": [[1]], "b": [[1]], **given}))


def test_an_output_of_numbers_has_no_scale_and_a_quantized_one_does() -> None:
    with pytest.raises(InvalidInput, match="needs y_scale"):
        make_node(OPERATOR, quantized="uint8", form=3)
    with pytest.raises(InvalidInput, match="y_scale quantizes"):
        make_node(OPERATOR, quantized="float32", form=1)


def every_pair(scales: Any, points: Any) -> Case:
    return case_of(EVERY[:, None], (EVERY - 128)[None, :], scales, points)


@pytest.mark.parametrize("scales", [(0.02, 0.03, 0.04), (0.1, 0.1, 0.2)])
def test_every_pair_is_what_whole_numbers_say(scales: Any) -> None:
    (problem,) = problems_of(every_pair(scales, (128, 0, 128)))
    codes, _ = kernel.solve(problem, working=False)
    a, b, y = (Fraction(float(np.float32(scale))) for scale in scales)
    ratio = a * b / y
    products = ((EVERY - 128)[:, None] * (EVERY - 128)[None, :]).astype(object)
    twice = 2 * (codes.reshape(256, 256).astype(object) - 128) * ratio.denominator - 2 * products * ratio.numerator
    inside = (codes > 0) & (codes < 255)
    assert inside.sum() > 5_000
    assert (np.abs(twice).reshape(-1)[inside] <= ratio.denominator).all()


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "key", "theme"), NAMED, ids=[name for name, *_ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(name: str, key: str, theme: str) -> None:
    vectors = indexed_cases(VECTORS / file_name(OPERATOR, "uint8", "uint8"))
    cases = [case for case in vectors if f"/{theme}" in case.id and not APART & set(case.flags)]
    assert set(causes_of(BOXES[name], cases)) == {sentence_of(key)}


@pytest.mark.parametrize(
    ("weight", "named"),
    [
        (lambda alpha: 1 / alpha, "bias-without-alpha"),
        (lambda alpha: Fraction(2), "bias-twice"),
        (lambda alpha: 3 - 2 * alpha, UNEXPLAINED),
    ],
    ids=["without alpha", "twice", "twice for an alpha of a half alone"],
)
def test_what_holds_for_one_alpha_and_not_for_another_is_no_cause(
    weight: Callable[[Fraction], Fraction], named: str
) -> None:
    def run(node: Any, *inputs: Any) -> Any:
        times = weight(Fraction(node.value("alpha")))
        return wrong.Gemm(bias=lambda total, bias: total + times * bias)(node, *inputs)  # type: ignore[arg-type,return-value]

    products = [[1, 2], [3, 4]], [[5, -6], [7, 8]], (0.5, 0.25, 1), (0, 0, 128), [[40, -24], [16, 56]]
    cases = [replace(case_of(*products, alpha=alpha), id=f"alpha {alpha}") for alpha in (0.5, 1.0, 2.0, 4.0)]
    assert set(causes_of(run, cases)) == {named if named == UNEXPLAINED else sentence_of(named)}


@pytest.mark.few(12)
@pytest.mark.parametrize("key", MISTAKE, ids=str)
def test_a_mistake_differs_in_a_vector(key: str) -> None:
    """A cause that nothing shows could be given to nobody."""
    for types in wrong.EVERY:
        for case in indexed_cases(VECTORS / file_name(OPERATOR, *types)):
            try:
                with np.errstate(all="ignore"):
                    outputs = MISTAKE[key](case.node, *case.inputs)
            except (ValueError, NotImplementedError):
                continue
            judgement = judge_outputs(outputs, truths_of(case))
            if judgement.count(OTHER_ORDER if key in ORDERS else DEVIATES):
                return
    pytest.fail(f"{key} shows in no vector")


@pytest.mark.parametrize("scales", [(0.02, 0.03, 0.04), (0.3, 0.06, 0.1)])
def test_onnxruntime_multiplies_by_one_factor(scales: Any) -> None:
    """Every pair of operands: the sum times alpha * a_scale * b_scale / y_scale in float32."""
    onnxruntime = pytest.importorskip("tiebreak.adapters.onnxruntime")
    case = every_pair(scales, (128, 0, 128))
    found = onnxruntime.OnnxRuntime().compile(case.node)(*case.inputs)
    assert found[0].tolist() == MISTAKE["folds-scales"](case.node, *case.inputs)[0].tolist()
    assert judge_outputs(found, truths_of(case)).count(OTHER_ORDER) > 50


@pytest.mark.parametrize("bias", [None, [[5], [-7]]])
def test_onnxruntime_takes_every_choice_of_inputs(bias: Any) -> None:
    onnxruntime = pytest.importorskip("tiebreak.adapters.onnxruntime")
    for scales in ((1, [1, 2], 1), (1, [1, 2], None)):
        points = (0, [0, 0], 0)
        case = case_of([[1, 2], [3, 4]], [[5, 6], [7, 8]], scales, points, bias, transA=True, transB=True, alpha=0.5)
        found = onnxruntime.OnnxRuntime().compile(case.node)(*case.inputs)
        assert not judge_outputs(found, truths_of(case)).count(DEVIATES)


def test_openvino_knows_no_qgemm() -> None:
    openvino = pytest.importorskip("tiebreak.adapters.openvino")
    case = case_of([[1]], [[1]])
    with pytest.raises(Unsupported, match="QGemm"):
        openvino.OpenVino().compile(case.node)(*case.inputs)


def test_an_output_of_numbers_is_calibrated_by_its_scales_alone() -> None:
    case = case_of([[255]], [[127]], (0.5, 1, None))
    assert problems_of(case)[0].names((), ()) == ("sum", "a_scale", "b_scale")
    assert [DOMAINS[number] for number in Chunk((case,)).domains] == ["calibrated"]
