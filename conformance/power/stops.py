"""Which wrong arithmetics a case stops: a result of theirs deviates and the suite's runner sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.truths import Truths
from tiebreak.conformance.power.arithmetics import Answered, WrongArithmetic
from tiebreak.conformance.power.suites import Near
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor
from tiebreak.golden.verdicts import DEVIATES


@dataclass(frozen=True)
class Stopping:
    """A case with what it stops: exactly compared, and with the suite's tolerance; and what applies to it at all."""

    case: Case
    exactly: frozenset[WrongArithmetic]
    seen: frozenset[WrongArithmetic]
    applies: frozenset[WrongArithmetic]


def stopping(one: Answered, near: Near | None) -> Stopping:
    """What a case stops where its runner takes `near` results for the expected ones."""
    exactly, seen = set[WrongArithmetic](), set[WrongArithmetic]()
    for arithmetic, codes in one.codes.items():
        wrong = judge(codes, one.truths.judged_by, one.truths).grades == DEVIATES
        if wrong.any():
            exactly.add(arithmetic)
            if near is None or np.any(wrong & ~near_elements(one.case, one.truths, codes, near)):
                seen.add(arithmetic)
    return Stopping(one.case, frozenset(exactly), frozenset(seen), frozenset(one.codes))


def near_elements(case: Case, truths: Truths, codes: Array, near: Near) -> Array:
    """Where a suite takes an arithmetic's codes for the exact result, flat, output by output."""
    expected = values_of(case, truths, truths.judged_by.exact)
    got = values_of(case, truths, codes)
    both = zip(case.node.outputs, expected, got, strict=True)
    return np.concatenate([near(str(tensor.element), right, given) for tensor, right, given in both])


def values_of(case: Case, truths: Truths, codes: Array) -> Iterator[Array]:
    """Each output's values in float64, flat, from the codes of all outputs."""
    sizes = [int(np.prod(problem.shape, dtype=np.int64)) for problem in truths.problems]
    for tensor, part in zip(case.node.outputs, np.split(codes, np.cumsum(sizes)[:-1]), strict=True):
        yield decoded(str(tensor.element), part)


def decoded(kind: str, codes: Sequence[int] | Array) -> Array:
    """The values of codes of an element type, in float64."""
    element = ELEMENT_TYPES[kind]
    if not isinstance(element, FloatType):
        return np.asarray(codes, np.float64)
    mask = (1 << element.bits) - 1
    bits = [int(code) & mask for code in codes]
    return Tensor(kind, (len(bits),), bits).array().astype(np.float64)
