"""The exact oracle: rational arithmetic, slow, and short enough to hold beside the documents.

An operator's formula is a term, which stands beside its clauses in golden/operators. This module decodes the operands
of each element; arithmetic/real.py says what the term gives for them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from tiebreak.golden import operators
from tiebreak.golden.arithmetic.real import RealEvaluation
from tiebreak.golden.arithmetic.results import Result, UndefinedResult
from tiebreak.golden.arithmetic.term import Formula, Term, operand
from tiebreak.golden.discovery import declared_entries
from tiebreak.golden.elements import FloatType, Real, decode
from tiebreak.golden.problem import UNDEFINED, Array, Problem, Quantization

# By operator id; an operator's further outputs as "id:output". A module of operators/ declares its own TERMS.
TERMS: dict[str, Formula] = declared_entries(operators.__name__, operators.__path__, "TERMS")
PLAIN = "ngraph.Quantize"


def solve(problem: Problem, *, working: bool, mode: str | None = None) -> tuple[Array, Array]:
    """(codes int64, states uint8), flat, exactly or in working precision; `mode` replaces the problem's own."""
    posed = replace(problem, mode=mode) if mode else problem
    element = lru_cache(maxsize=1 << 14)(results_of(posed, working=working))
    results = [element(codes) for codes in zip(*(operand.tolist() for operand in problem.operands), strict=True)]
    codes = np.array([code for code, _ in results], np.uint64 if is_wide(problem) else np.int64).view(np.int64)
    return codes, np.array([state for _, state in results], np.uint8)


def results_of(
    problem: Problem, *, working: bool, hear: Callable[[Real], None] | None = None
) -> Callable[[tuple[int, ...]], Result]:
    """What a problem's document gives for operands with these codes.

    `hear` is told of each number that the formula rounds to an integer, in their order.
    """
    evaluate = RealEvaluation(term_of(problem, formula_of(problem)), problem.working if working else None, hear)
    read = reader_of(problem)

    def element(codes: tuple[int, ...]) -> Result:
        try:
            return evaluate([read(code, kind) for code, kind in zip(codes, problem.kinds, strict=True)])
        except UndefinedResult:
            return 0, UNDEFINED

    return element


def formula_of(problem: Problem) -> Formula:
    return TERMS[PLAIN if isinstance(problem, Quantization) else problem.formula]


def term_of(problem: Problem, formula: Formula) -> Term:
    """A formula for what a problem asks, as a term of its operands."""
    return formula(problem, *(operand(place, name) for place, name in enumerate(operand_names(problem, formula))))


def operand_names(problem: Problem, formula: Formula) -> list[str]:
    """The names of a problem's operands in a formula: of those that this does not name the problem's own."""
    own = getattr(problem, "named", ())
    names = names_of(formula, len(problem.kinds))
    return [own[place] if name.isdigit() and place < len(own) else name for place, name in enumerate(names)]


@cache
def names_of(formula: Formula, count: int) -> list[str]:
    """The names of a formula's operands: those of its parameters, and numbers for the rest."""
    parameters = list(inspect.signature(formula).parameters.values())[1:]
    named = [one.name for one in parameters if one.kind is not one.VAR_POSITIONAL]
    return [*named, *map(str, range(len(named), count))][:count]


def reader_of(problem: Problem) -> Callable[[int, object], Real]:
    """What gives the value of an operand's code of a type."""
    return signed_value_of if has_signed_zeros(problem) else value_of


def has_signed_zeros(problem: Problem) -> bool:
    return not isinstance(problem, Quantization) and problem.signed_zeros


def is_wide(problem: Problem) -> bool:
    return isinstance(problem.result, FloatType) and problem.result.bits == 64


def value_of(code: int, kind: object) -> Real:
    return decode(code, kind) if isinstance(kind, FloatType) else Fraction(code)


def signed_value_of(code: int, kind: object) -> Real:
    """As value_of, but the negative zero is the float -0.0: no fraction can hold it."""
    return -0.0 if isinstance(kind, FloatType) and is_negative_zero(code, kind) else value_of(code, kind)


def is_negative_zero(code: int, kind: FloatType) -> bool:
    return code == 1 << (kind.bits - 1) and kind.specials not in ("fnuz", "e8m0")
