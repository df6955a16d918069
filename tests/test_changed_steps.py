"""What no table names is named by the one change that gives it, of a step or of the inputs, and by nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of_records

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.causes.changed_steps import CausesByChange, ChangeSearch
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.term_elements import Candidate
from tiebreak.conformance.judging.rows import kind_of_node
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import AT, keys_of, sentence_of
from tiebreak.conformance.variants.changes import spoken
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.input_changes import input_changes
from tiebreak.conformance.variants.single_changes import changes_of_absent, single_changes
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import steps_of
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

F = np.float32
Run = Callable[..., Any]


def vectors(operator: str, *types: str) -> list[Case]:
    return [case for case in indexed_cases(VECTORS / file_name(operator, *types)) if case.size]


def recorded(run: Run, cases: Sequence[Case]) -> BackendRecords:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    for case in cases:
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return records


def changes_of(records: BackendRecords) -> CausesByChange:
    return CausesByChange(records.cases, records.outputs, records.grades, records.errors, "it")


def named(run: Run, cases: Sequence[Case]) -> Counter[str]:
    """The causes with how many elements each has, of a backend that runs some cases."""
    records = recorded(run, cases)
    return causes_of_records(records, refine=changes_of(records).refine)


def shifted(values: Array, bits: int) -> Array:
    """Integers without so many low bits, halves up."""
    return (values + (1 << (bits - 1))) >> bits


def clipped(values: Array, like: Array) -> Array:
    ends = np.iinfo(like.dtype)
    return np.clip(np.nan_to_num(values), ends.min, ends.max).astype(like.dtype)


def of_add(node: Node, inputs: Sequence[Array]) -> list[Array]:
    """QLinearAdd's eight inputs; a zero point that is left off is 0."""
    given = dict(zip([tensor.name for tensor in node.inputs], inputs, strict=True))
    form = OPERATORS["com.microsoft.QLinearAdd"].forms[0]
    return [given.get(name, np.zeros((), inputs[0].dtype)) for name in form]


def added_one_by_one(node: Node, *inputs: Array) -> tuple[Array, ...]:
    """QLinearAdd that brings each operand to the result's scale, and rounds it, before it adds."""
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = of_add(node, inputs)
    operands = ((a, a_scale, a_zero), (b, b_scale, b_zero))
    levels = [np.rint((x.astype(F) - zero.astype(F)) * scale / c_scale) for x, scale, zero in operands]
    return (clipped(levels[0] + levels[1] + c_zero.astype(F), c_zero),)


def added_in_fixed_point(node: Node, *inputs: Array) -> tuple[Array, ...]:
    """QLinearAdd by ratios of the scales with 8 fractional bits, halves up."""
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = of_add(node, inputs)
    total: Any = 0
    for x, scale, zero in ((a, a_scale, a_zero), (b, b_scale, b_zero)):
        ratio = np.clip(np.nan_to_num(np.rint(np.float64(scale) / np.float64(c_scale) * 256)), -(2**40), 2**40)
        total = total + (x.astype(np.int64) - zero.astype(np.int64)) * ratio.astype(np.int64)
    return (clipped(shifted(total, 8) + c_zero.astype(np.int64), c_zero),)


def dequantized_around_128(node: Node, x: Array, scale: Array, *zero_point: Array) -> tuple[Array, ...]:
    """DequantizeLinear per tensor that takes 128 for a zero point that is left off."""
    point = zero_point[0].astype(np.int64) if zero_point else np.int64(128)
    return (((x.astype(np.int64) - point).astype(F) * scale).astype(F),)


def per_tensor(case: Case) -> bool:
    return all(array.size == 1 for array in case.inputs[1:])


def test_operands_that_are_rounded_one_by_one_have_that_cause() -> None:
    found = named(added_one_by_one, vectors("com.microsoft.QLinearAdd", "float32", "int8"))
    (text,) = found
    assert "computed as round(a_scale * (a - a_zero) / c_scale)+round(b_scale * (b - b_zero) / c_scale)" in text
    assert found[text] > 100


def test_a_multiplier_of_few_bits_has_that_cause_with_the_way_it_rounds() -> None:
    found = named(added_in_fixed_point, vectors("com.microsoft.QLinearAdd", "float32", "int8"))
    ratios = "a_scale / c_scale and b_scale / c_scale rounded to 8 fractional bits"
    assert sum(count for text, count in found.items() if text.startswith(ratios)) > 0.9 * found.total()
    assert any("wrong tie rule: NEAREST_UPWARD" in text for text in found)


def test_another_default_is_told_from_another_zero_point() -> None:
    cases = [case for case in vectors("onnx.DequantizeLinear", "uint8", "float32") if per_tensor(case)]
    assert {len(case.inputs) for case in cases} == {2, 3}
    assert set(named(dequantized_around_128, cases)) == {sentence_of("number-taken-as:an absent x_zero_point,128")}


def test_the_tail_of_an_inner_axis_that_is_left_out_has_that_cause() -> None:
    def run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        changed = dict(input_changes(node, inputs)).get("tail-is-zero:A,4", inputs)
        a, b, *points = (one.astype(np.int64) for one in changed)
        named_points = dict(zip([tensor.name for tensor in node.inputs][2:], points, strict=True))
        a_point, b_point = (named_points.get(name, np.int64(0)) for name in ("a_zero_point", "b_zero_point"))
        a_point = a_point[:, np.newaxis] if a_point.ndim == 1 and a.ndim == 2 else a_point
        return ((np.matmul(a - a_point, b - b_point)).astype(np.int32),)

    cases = [case for case in vectors("onnx.MatMulInteger", "int8", "int32") if case.inputs[0].ndim == 2]
    assert named(run, cases).most_common(1)[0][0] == sentence_of("tail-is-zero:A,4")


def test_a_change_that_a_conforming_element_contradicts_is_no_cause() -> None:
    """All that deviates is as if the zero point were left out; one right answer with a zero point refutes it."""
    cases = [case for case in vectors("onnx.DequantizeLinear", "uint8", "float32") if per_tensor(case)]
    with_point = [case for case in cases if len(case.inputs) == 3 and case.inputs[2].item()]
    right = with_point[-1].id

    def run(node: Node, x: Array, scale: Array, *zero_point: Array) -> tuple[Array, ...]:
        return dequantized_around_128(node, x, scale, *zero_point)

    def ignoring(node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        return dequantized_around_128(node, x, scale, 0 * zero_point)

    for refuted in (False, True):
        records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
        for case in with_point:
            with np.errstate(all="ignore"):
                answer = (run if refuted and case.id == right else ignoring)(case.node, *case.inputs)
            record(records, case, Outcome("ok", answer))
        changes, kind = changes_of(records), kind_of_node(with_point[0].node)
        elements = [
            (case.id, "y", int(index))
            for own in records.deviating
            for case, index in zip((records.cases[n] for n in own.case.tolist()), own.index.tolist(), strict=True)
        ]
        search = ChangeSearch(changes.terms(kind, elements))
        with np.errstate(all="ignore"):
            best = search.best(np.ones(len(elements), bool))
        ignored = Candidate("number-as:x - x_zero_point,x")
        assert (best is not None and best.candidate == ignored) is not refuted


def test_few_elements_have_no_change() -> None:
    """Of five elements, one of thousands of changes gives all by chance."""
    cases = [case for case in vectors("com.microsoft.QLinearAdd", "float32", "int8") if case.size < 200]
    wrong: list[int] = []

    def run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        (right,) = single_right(node, *inputs)
        if len(wrong) < 5 and right.size and abs(int(right.flat[0])) < 100:
            wrong.append(1)
            right = right.copy()
            right.flat[0] += 3
        return (right,)

    assert set(named(run, cases)) == {NO_CAUSE.text}
    assert len(wrong) == 5


def single_right(node: Node, *inputs: Array) -> tuple[Array, ...]:
    """QLinearAdd by its term."""
    (problem,) = problems_of(Case("", node, inputs))
    with np.errstate(all="ignore"):
        codes = evaluation_of(problem).answer(spoken(oracle.term_of(problem, oracle.formula_of(problem))))
    return (codes.reshape(problem.shape).astype(inputs[-1].dtype),)


def evaluation_of(problem: Any) -> BackendEvaluation:
    return BackendEvaluation(problem.operands, problem.kinds, problem.working, oracle.signed_value_of)


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_every_change_of_a_term_has_a_sentence_and_can_be_computed(operator: str) -> None:
    """An id must not hold what joins ids; several changes may have one, and each gives codes for all elements."""
    path = VECTORS / file_name(*next(iter(all_files([operator]))))
    case = next(case for case in indexed_cases(path) if case.size)
    for problem in problems_of(case):
        term = spoken(oracle.term_of(problem, oracle.formula_of(problem)))
        if sum(1 for _ in steps_of(term)) > 100:
            continue
        some = problem.some(np.arange(min(problem.operands[0].size, 5)))
        run, right = evaluation_of(some), evaluation_of(some)
        every = dict(reversed([*changes_of_absent(term, [0]), *single_changes(term, problem)]))
        with np.errstate(all="ignore"):
            base, changed = right.answer(term), 0
            for number, (id_, change) in enumerate(every.items()):
                assert (keys_of(id_), AT in id_, "{}" in sentence_of(id_)) == ([id_], False, False)
                codes = run.answer(change(term))
                assert (codes.dtype, codes.shape) == (np.dtype(np.int64), base.shape), id_
                changed += bool((codes != base).any())
                if number % 20 == 0 and "an absent" not in id_:
                    alone = dict(reversed([*single_changes(term, problem, only=id_)]))
                    assert alone[id_](term) == change(term), id_
        assert changed > 10
    for id_, inputs in input_changes(case.node, case.inputs):
        assert "{}" not in sentence_of(id_)
        assert [(one.dtype, one.shape) for one in inputs] == [(one.dtype, one.shape) for one in case.inputs]


def test_a_rarer_cause_gives_way_to_a_change_that_gives_its_elements_too() -> None:
    cases = vectors("com.microsoft.QLinearAdd", "float32", "int8")
    records = recorded(added_one_by_one, cases)
    kind = kind_of_node(cases[0].node)
    elements = [
        (records.cases[case].id, "C", int(index))
        for own in records.deviating
        for case, index in zip(own.case.tolist(), own.index.tolist(), strict=True)
    ]
    rare = Cause("wraps", "saturation")
    named_before = [rare if number < 3 else NO_CAUSE for number in range(len(elements))]
    (causes,) = changes_of(records).refine({kind: elements}, [named_before])
    assert len(set(causes)) == 1
    assert set(causes) != {rare}
