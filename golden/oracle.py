"""The exact oracle: rational arithmetic, slow, and short enough to hold beside the documents.

The formulas are in golden/formulas/, one file an operator. This module decodes the operands of each element and hands
them to the operator's formula.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from tiebreak.golden.elements import FloatType, Real, decode
from tiebreak.golden.formulas import FORMULAS
from tiebreak.golden.formulas.ngraph_quantize import quantize, quantize_quotient, quotient
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise, Problem, Quantization

__all__ = ["quantize", "quantize_quotient", "quotient", "solve"]


def solve(problem: Problem, *, working: bool, mode: str | None = None) -> tuple[Array, Array]:
    """(codes int64, states uint8), flat, exactly or in working precision; `mode` replaces the problem's own."""
    if isinstance(problem, Quantization):
        values, states = quantize(problem, working=working, mode=mode)
        return values.reshape(-1), states.reshape(-1)
    return solve_elementwise(problem, Steps(problem.working if working else None, mode or problem.mode))


def solve_elementwise(problem: Elementwise, steps: Steps) -> tuple[Array, Array]:
    formula, read = FORMULAS[problem.formula], signed_value_of if problem.signed_zeros else value_of

    @lru_cache(maxsize=1 << 14)
    def element(codes: tuple[int, ...]) -> Result:
        try:
            return formula(steps, problem, *map(read, codes, problem.kinds))
        except UndefinedResult:
            return 0, UNDEFINED

    results = [element(codes) for codes in zip(*(operand.tolist() for operand in problem.operands), strict=True)]
    codes = np.array([code for code, _ in results], np.uint64 if is_wide(problem) else np.int64).view(np.int64)
    return codes, np.array([state for _, state in results], np.uint8)


def is_wide(problem: Elementwise) -> bool:
    return isinstance(problem.result, FloatType) and problem.result.bits == 64


def value_of(code: int, kind: object) -> Real:
    return decode(code, kind) if isinstance(kind, FloatType) else Fraction(code)


def signed_value_of(code: int, kind: object) -> Real:
    """As value_of, but the negative zero is the float -0.0: no fraction can hold it."""
    return -0.0 if isinstance(kind, FloatType) and is_negative_zero(code, kind) else value_of(code, kind)


def is_negative_zero(code: int, kind: FloatType) -> bool:
    return code == 1 << (kind.bits - 1) and kind.specials not in ("fnuz", "e8m0")
