"""One case's outputs against its truths: a grade for each element and a verdict for the case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tiebreak.conformance.judging.truths import Truth, Truths, canonical
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem, codes_of
from tiebreak.golden.problems import problems_of
from tiebreak.golden.verdicts import DEVIATES, EXACT, GRADES, OTHER_ORDER, UNSPECIFIED, WORKING


class BetweenModes(Protocol):
    """Truths by several rounding modes, and the operands: of a case, or of many."""

    def contradicts_all_allowed(self, values: Array) -> Array: ...

    def within_bounds(self, values: Array) -> Array: ...

    def in_other_order(self, values: Array, among: Array) -> Array: ...


@dataclass(frozen=True)
class Judgement:
    """Grades (uint8) and codes (int64) of a case that ran, flat, one output after the other."""

    grades: Array
    values: Array

    @property
    def verdict(self) -> str:
        """The worst grade; a case without elements is exact."""
        return GRADES[int(self.grades.max(initial=EXACT))]

    def count(self, grade: int) -> int:
        return int(np.count_nonzero(self.grades == grade))


def output_problem(case: Case, outputs: Sequence[Array], problems: Sequence[Problem] | None = None) -> str:
    """What is wrong with the number, types or shapes of the outputs; empty if nothing is."""
    node = case.node
    if len(outputs) != len(node.outputs):
        return f"{len(outputs)} outputs, the node has {len(node.outputs)}"
    for wanted, problem, output in zip(node.outputs, problems or problems_of(case), outputs, strict=True):
        name = "output" if len(outputs) == 1 else f"output {wanted.name}"
        if output.dtype != wanted.dtype:
            return f"{name} of type {output.dtype.name}, the node says {wanted.dtype.name}"
        if output.shape != problem.shape:
            return f"{name} of shape {list(output.shape)}, {list(problem.shape)} is wanted"
    return ""


def codes_of_outputs(problems: Sequence[Problem], outputs: Sequence[Array], truth: Truth) -> Array:
    """The outputs as comparable codes (int64, flat): one code for NaN, and one for zero where either zero conforms."""
    codes = [
        canonical(as_int64(codes_of(output)).reshape(-1), problem)
        for problem, output in zip(problems, outputs, strict=True)
    ]
    negative_zeros = [np.full(math.prod(problem.shape), negative_zero(problem), np.int64) for problem in problems]
    values = np.concatenate(codes)
    other_zero = truth.zero & (values == np.concatenate(negative_zeros)) & (values != truth.exact)
    return np.where(other_zero, 0, values)


def as_int64(codes: Array) -> Array:
    return codes if codes.dtype == np.int64 else codes.astype(np.uint64).view(np.int64)


def negative_zero(problem: Problem) -> int:
    """The code of negative zero; 0 if the type has none."""
    if not isinstance(problem.result, FloatType) or problem.result.specials in ("fnuz", "e8m0"):
        return 0
    return int(np.array([1 << (problem.result.bits - 1)], np.uint64).view(np.int64)[0])


def judge(values: Array, truth: Truth, among: BetweenModes | None = None) -> Judgement:
    """Grade each element by equality alone; an element that the spec leaves open never fails.

    Where only the exact form is specified, the exact result is exact and any other one unspecified. Where the spec
    allows several rounding modes that disagree (`among`), the result must be that of one of them. Where it allows all
    integers between two ends, those that are not the exact result count as working precision. Where it names no
    precision, what its formula gives in another order of steps is no deviation.
    """
    values = np.asarray(values, np.int64).reshape(-1)
    grades = np.full(values.shape, DEVIATES, np.uint8)
    grades[~truth.specified] = UNSPECIFIED
    if among is not None:
        grades[among.contradicts_all_allowed(values)] = DEVIATES
        grades[among.within_bounds(values)] = WORKING
    grades[truth.specified & (values == truth.working)] = WORKING
    grades[truth.exact_specified & (values == truth.exact)] = EXACT
    if among is not None:
        grades[among.in_other_order(values, grades == DEVIATES)] = OTHER_ORDER
    return Judgement(grades, values)


def judge_outputs(outputs: Sequence[Array], truths: Truths) -> Judgement:
    """Grade a backend's outputs, which must have the types and shapes that the node says."""
    truth = truths.judged_by
    return judge(codes_of_outputs(truths.problems, outputs, truth), truth, truths)
