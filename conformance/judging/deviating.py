"""The deviating elements of a chunk as columns: where each is, its operands, the expected and the actual result."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from tiebreak.conformance.judging.boundary import (
    NOT_ROUNDED,
    SATURATES,
    UNKNOWN,
    RoundedNumber,
    rounded_in_formula,
)
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.codes import bits_of_codes, values_of_codes
from tiebreak.conformance.judging.families import Family, parts
from tiebreak.conformance.judging.narrow import widened
from tiebreak.conformance.judging.rows import bits_and_decimal, bits_of_code
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.problems import output_slices
from tiebreak.golden.rounding import is_nearest

FARTHEST = 1 << 62  # a distance is cut to this
MOST_ANSWERS = 2  # to the same operands in a case: those of a vector loop and its tail
# The step at which an element's exact result and the given one part, as far as both tell: before an integer is rounded
# to (the given one is no neighbour of the exact argument), there (it is the other neighbour), or where it is limited.
NOT_TOLD, BEFORE, AT_ROUNDING, AT_END = range(4)


@dataclass(frozen=True)
class DeviatingElements:
    """One value for each deviating element. Bits are unsigned, codes int64, texts objects.

    `case` is the case's number among a backend's cases, `domain` a number of DOMAINS, `parted` one of NOT_TOLD and the
    others. See reports/rows.py for the other columns.
    """

    case: Array
    output: Array
    index: Array
    input_bits: Array
    input: Array
    scale_bits: Array
    scale: Array
    zero_point: Array
    operands: Array
    boundary_ulp: Array
    expected: Array
    expected_working: Array
    got: Array
    expected_bits: Array
    working_bits: Array
    got_bits: Array
    distance: Array
    result_type: Array
    domain: Array
    parted: Array

    def __len__(self) -> int:
        return len(self.case)

    @cached_property
    def random(self) -> Array:
        """Whether an element's operands have more answers in its case than any arithmetic of loops and tails gives.

        A library leaves its output's memory as it was. The first operand alone is looked at first: of all operands
        there is a text, which takes longer.
        """
        order = np.lexsort((self.got_bits, self.input_bits, self.case))
        begins = changes(self.case[order], self.input_bits[order])
        answers = np.bincount(begins.cumsum() - 1, weights=begins | changes(self.got_bits[order]))
        found = np.zeros(len(self), bool)
        found[order] = (answers > MOST_ANSWERS)[begins.cumsum() - 1]
        places = np.flatnonzero(found)
        columns = self.case, self.output, self.operands
        operands = list(zip(*(column[places].tolist() for column in columns), strict=True))
        given = Counter(one for one, _ in set(zip(operands, self.got_bits[places].tolist(), strict=True)))
        found[places] = [given[one] > MOST_ANSWERS for one in operands]
        return found


def changes(*columns: Array) -> Array:
    """Which rows differ from the one before; the first one does."""
    found = np.ones(len(columns[0]), bool)
    found[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return found


DTYPES: dict[str, Any] = {
    **dict.fromkeys(("case", "index", "zero_point", "distance"), np.int64),
    **dict.fromkeys(("output", "operands", "result_type"), object),
    **dict.fromkeys(("input_bits", "scale_bits", "expected_bits", "working_bits", "got_bits"), np.uint64),
    **dict.fromkeys(("domain", "parted"), np.uint8),
    **dict.fromkeys(("input", "scale", "boundary_ulp", "expected", "expected_working", "got"), np.float64),
}


def deviating_elements(chunk: Chunk, places: Array, values: Array, first: int) -> DeviatingElements:
    """The columns of the elements at `places` (ascending), where a backend gave `values` (codes of all elements).

    `first` is the number of the chunk's first case among the backend's cases.
    """
    columns = {field.name: np.empty(len(places), DTYPES[field.name]) for field in fields(DeviatingElements)}
    columns["boundary_ulp"][:], columns["parted"][:] = math.nan, NOT_TOLD
    wanted, truth = np.zeros(chunk.size, bool), chunk.judged_by
    wanted[places] = True
    for family, at, problem in parts(chunk.families, wanted):
        own = np.searchsorted(places, at)
        codes = widened(truth.exact[at]), widened(truth.working[at]), values[at]
        found = operand_columns(chunk, family, at, problem) | result_columns(problem.result, *codes)
        found["output"], found["index"] = problem.output, places_in_output(chunk, family, at)
        for name, column in found.items():
            columns[name][own] = column
    columns["case"] = first + chunk.case_of[places]
    columns["domain"] = chunk.domains[places]
    return DeviatingElements(**columns)


def places_in_output(chunk: Chunk, family: Family, at: Array) -> Array:
    """Each element's index in its own output, in row-major order."""
    begins = {number: output_slices(chunk.problems[number])[output].start for number, output in family.slots}
    cases = chunk.case_of[at]
    return np.asarray(at - chunk.starts[cases] - np.array([begins[case] for case in cases.tolist()]))


def operand_columns(chunk: Chunk, family: Family, at: Array, problem: Problem) -> dict[str, Any]:
    """Bits and values of the first operand and of the scale, the zero point, and all operands as JSON text."""
    found = list(zip(family.names, problem.operands, problem.kinds, strict=False))
    _, first, kind = found[0]
    columns: dict[str, Any] = {"input_bits": bits_of_codes(first, kind), "input": values_of_codes(first, kind)}
    scale = next(((codes, kind) for name, codes, kind in found if name.endswith("scale")), None)
    columns["scale_bits"] = bits_of_codes(*scale) if scale else 0
    columns["scale"] = values_of_codes(*scale) if scale else math.nan
    columns["zero_point"] = 0
    real = any(name == "zero_point" and not isinstance(kind, IntegerType) for name, _, kind in found)
    zero_point = next((codes for name, codes, _ in found if name.endswith(("zero_point", "offset"))), None)
    if zero_point is not None and not real:
        columns["zero_point"] = zero_point.astype(np.int64)
    columns["operands"] = operand_texts(chunk, at, found)
    return columns


def operand_texts(chunk: Chunk, at: Array, found: Sequence[tuple[str, Array, FloatType | IntegerType]]) -> Array:
    """The operands of each element as JSON text: [name, bits, decimal] of each."""
    texts = np.empty(len(at), object)
    for i, place in enumerate(at.tolist()):
        text = chunk.operand_texts.get(place)
        if text is None:
            text = json.dumps([[name, *bits_and_decimal(int(codes[i]), kind)] for name, codes, kind in found])
            chunk.operand_texts[place] = text
        texts[i] = text
    return texts


def result_columns(kind: FloatType | IntegerType, exact: Array, working: Array, got: Array) -> dict[str, Any]:
    """Expected and got as values and as bits; their distance in integers or in units in the last place."""
    return {
        "expected": values_of_codes(exact, kind),
        "expected_working": values_of_codes(working, kind),
        "got": values_of_codes(got, kind),
        "expected_bits": bits_of_codes(exact, kind),
        "working_bits": bits_of_codes(working, kind),
        "got_bits": bits_of_codes(got, kind),
        "distance": distances(exact, got, kind),
        "result_type": kind.name,
    }


def distances(exact: Array, got: Array, kind: FloatType | IntegerType) -> Array:
    """Distances in integers, or counted in values of a real type; at most FARTHEST."""
    if kind.bits == 64:
        return np.array([distance(*pair, kind) for pair in zip(exact.tolist(), got.tolist(), strict=True)], np.int64)
    if isinstance(kind, IntegerType) or kind.specials == "e8m0":
        return got - exact
    return np.asarray(ordinals(got, kind) - ordinals(exact, kind))


def distance(exact: int, got: int, kind: FloatType | IntegerType) -> int:
    """The distance of two codes in integers or values of the type. NaN lies beyond the largest value."""
    found = got - exact
    if isinstance(kind, FloatType) and kind.specials != "e8m0":
        low, high = (ordinal(bits_of_code(code, kind), kind) for code in (exact, got))
        found = high - low
    return max(-FARTHEST, min(FARTHEST, found))


def ordinal(bits: int, kind: FloatType) -> int:
    """The number of a value counted from zero; both zeros are one."""
    sign = 1 << (kind.bits - 1)
    if kind.specials == "fnuz" and bits == sign:
        return sign
    return -(bits - sign) if bits & sign else bits


def ordinals(codes: Array, kind: FloatType) -> Array:
    """`ordinal` of many codes, of a type of less than 64 bits."""
    bits, sign = bits_of_codes(codes, kind).astype(np.int64), 1 << (kind.bits - 1)
    negative = bits >= sign
    if kind.specials == "fnuz":
        negative &= bits != sign
    return np.where(negative, sign - bits, bits)


def add_rounded(found: DeviatingElements, chunk: Chunk, places: Array) -> None:
    """Write each element's distance from a decision boundary in ulp, and the step at which both results part.

    NaN and NOT_TOLD where no integer is rounded to, or no one way.
    """
    wanted = np.zeros(chunk.size, bool)
    wanted[places] = True
    for _, at, problem in parts(chunk.families, wanted):
        if isinstance(problem.result, IntegerType):
            add_rounded_of(chunk, at, problem)
            own, ours = np.searchsorted(places, at), [chunk.rounded[place] for place in at.tolist()]
            found.boundary_ulp[own] = [one.distance for one in ours]
            found.parted[own] = parting(np.array([one.side for one in ours]), found.distance[own])


def parting(sides: Array, distance: Array) -> Array:
    """Where exact and given results part, by the sides of RoundedNumber and the distance of one from the other."""
    known = [sides == UNKNOWN, sides == SATURATES, (sides != 0) & (distance == sides)]
    return np.select(known, [NOT_TOLD, AT_END, AT_ROUNDING], BEFORE)


def add_rounded_of(chunk: Chunk, at: Array, problem: Problem) -> None:
    """Write down what is known of a problem's elements; NOT_ROUNDED where the boundaries of a node's modes differ."""
    by_modes: dict[tuple[str, ...], Callable[[tuple[int, ...]], RoundedNumber]] = {}
    operands = zip(*(operand.tolist() for operand in problem.operands), strict=True)
    for place, codes in zip(at.tolist(), operands, strict=True):
        if place in chunk.rounded:
            continue
        modes = chunk.cases[int(chunk.case_of[place])].node.modes
        if modes not in by_modes:
            one_way = bool(modes) and (len(modes) == 1 or all(map(is_nearest, modes)))
            by_modes[modes] = rounded_in_formula(problem, modes[0]) if one_way else lambda codes: NOT_ROUNDED
        chunk.rounded[place] = by_modes[modes](codes)


def element_row(case: Case, place: int) -> dict[str, Any]:
    """The place and the operands of one element of a case's first output, as a row."""
    chunk = Chunk((case,))
    ((family, at, problem),) = parts(chunk.families, np.arange(chunk.size) == place)
    columns = operand_columns(chunk, family, at, problem)
    found = {name: value[0] if isinstance(value, np.ndarray) else value for name, value in columns.items()}
    return {"output": problem.output, "index": place, **found, "boundary_ulp": math.nan}
