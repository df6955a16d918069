"""What shows a root cause: the answer of every rounding mode for a few of its elements, and the numbers of a picture.

The numbers are the oracle's. A picture has the results on either side of the witness, so that its decision boundary,
or how far the backend is from the right number, is seen. Nothing here decides anything.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.judging.both_answers import example_of_change, with_example
from tiebreak.conformance.judging.boundary import heard_in_formula
from tiebreak.conformance.judging.families import family_key, joined
from tiebreak.conformance.running.watching import Watch, each_told
from tiebreak.golden.elements import FloatType, IntegerType, decimal, decode, encode, neighbour
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.oracle import results_of, solve
from tiebreak.golden.problem import UNDEFINED, Array, Problem, Quantization, codes_of, kind_of
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.verdicts import NOT_DETERMINISTIC
from tiebreak.reports.folding import folded_causes
from tiebreak.reports.records import Run
from tiebreak.reports.report_data import Members, key_of, places_by, root_cause_places, sample_places, samples_each
from tiebreak.reports.rows import Example, Picture, PicturePoint, decimal_result, rows_of

NEAR = 12  # floats between the witness and its decision boundary that still are drawn one by one
BESIDE = 3  # floats beyond both
POINTS = 25  # of a picture that does not draw each float
STEPS = Fraction(9, 4)  # half of the picture's width, in steps of the result
REAL_ULPS = 16  # a real result at most that far off is shown among its neighbours
MOST_FLOATS = 64  # from the least to the greatest of the results, where all floats between are drawn
FARTHEST = 40  # powers of two that a search for a decision boundary takes
MOST_VALUES = 4  # of an input of a failed call
SHARED = ("round_mode", "input_type", "output_type", "output", "result_type")
MOST_RECORDED = 24  # results of other discrepancies in a picture
Kind = FloatType | IntegerType


def with_illustrations(run: Run, cases: Iterable[Case], errors: ExplanationErrors, watch: Watch) -> None:
    """Add what a report shows to run.json: of root causes `examples`, `picture` and attributes, the `call` of failures.

    One that raises has none.
    """
    shown = {str(one.row["id"]) for one in folded_causes(run)}
    by_id, places = {case.id: case for case in cases}, root_cause_places(run.discrepancies)
    errors.attempt("illustrations", "failures", partial(with_calls, run, by_id), None)
    numbers = {name: at for at, name in enumerate(run.discrepancies["id"].tolist())}
    every = places_by(run.discrepancies, ["backend", "operator"])
    most = samples_each(len(shown))
    for row in run.info["clusters"]:
        if (case := by_id.get(row["witness"]["case"])) is not None:
            row["witness"]["attributes"] = attribute_texts(case)
    for row in each_told(run.info["clusters"], watch, lambda row: f"finding examples of {row['id']}"):
        if row["id"] in shown and key_of(row) in places:
            members = Members(run.discrepancies, places[key_of(row)])
            backend = Members(run.discrepancies, every[key_of(row)[:2]])
            chosen = sample_places(members, most, numbers.get(row["witness"]["id"], -1))
            add = partial(illustrate, row, by_id, rows_of(members.rows(chosen)), backend)
            errors.attempt("illustrations", str(row["id"]), add, None)


def illustrate(
    row: dict[str, Any], cases: Mapping[str, Case], rows: Sequence[Mapping[str, Any]], backend: Members
) -> None:
    problems = [element_of(one, cases) for one in rows]
    row["examples"] = examples(rows, problems)
    row["picture"] = picture(rows[0], problems[0], backend)


def with_calls(run: Run, by_id: Mapping[str, Case]) -> None:
    """Add to the witness of each kind of failure what was asked: attributes, and inputs with their first values.

    Of outputs that change, the row has the element that does as `example`, with its operands.
    """
    for row in run.info["failures"]:
        if (case := by_id.get(row["witness"]["case"])) is not None:
            row["witness"]["call"] = call_text(case)
            changed = row["fault"] == NOT_DETERMINISTIC
            row |= with_example({}, example_of_change(case, row["witness"]["message"]) if changed else None)


def call_text(case: Case) -> str:
    pairs = zip(case.node.inputs, case.inputs, strict=True)
    return "; ".join([*attribute_texts(case), *(input_text(wanted.name, array) for wanted, array in pairs)])


def attribute_texts(case: Case) -> list[str]:
    """The attributes that a case gives, by name: they are drawn in any order."""
    return [f"{name}={value}" for name, value in sorted(case.node.attributes.items())]


def input_text(name: str, array: Array) -> str:
    """An input in short: its name, type, shape and first values."""
    kind = kind_of(array)
    values = [code_text(int(code), kind) for code in codes_of(array).reshape(-1)[:MOST_VALUES]]
    more = " …" if array.size > MOST_VALUES else ""
    return f"{name} {kind.name} {list(array.shape)}" + (f": {', '.join(values)}{more}" if values else "")


def element_of(row: Mapping[str, Any], cases: Mapping[str, Case]) -> Problem:
    """The problem of the one element that a discrepancy is about."""
    problem = next(one for one in problems_of(cases[row["case"]]) if one.output == row["output"])
    return problem.some(np.array([row["index"]]))


def examples(rows: Sequence[Mapping[str, Any]], problems: Sequence[Problem]) -> list[Example]:
    """The exact number of each element that is rounded, and what each of the nine modes makes of it, exactly.

    Elements that differ in their operands only are asked together.
    """
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for place, problem in enumerate(problems):
        alike[family_key(problem, ()), problem.mode].append(place)
    found: dict[int, Example] = {}
    for own in alike.values():
        problem = joined([problems[place] for place in own])
        numbers = rounded_numbers(problem)
        wanted = ROUND_MODES if any(number is not None for number in numbers) else ()
        solved = [solve(problem, working=False, mode=mode) for mode in wanted]
        for at, (place, number) in enumerate(zip(own, numbers, strict=True)):
            modes = [] if number is None else [result_text(*one, problem.result, at) for one in solved]
            found[place] = {"id": str(rows[place]["id"]), "rounded": fraction_text(number), "modes": modes}
    return [found[place] for place in range(len(rows))]


def rounded_numbers(problem: Problem) -> list[Fraction | None]:
    """What the document's last round() is given for each element; None if it rounds none, or no number."""
    hear = heard_in_formula(problem, problem.mode)
    last = (hear(codes)[0][-1:] for codes in zip(*(operand.tolist() for operand in problem.operands), strict=True))
    return [one[0] if one and isinstance(one[0], Fraction) else None for one in last]


def fraction_text(value: Fraction | None) -> str:
    """A fraction as "numerator/denominator"; empty if there is none or it takes too many digits to read."""
    text = "" if value is None else str(value)
    return text if len(text) <= 60 else ""


def result_text(codes: Any, states: Any, kind: Kind, at: int = 0) -> str:
    """A result as decimal; empty where the document defines none."""
    return "" if states[at] == UNDEFINED else code_text(int(codes[at]), kind)


def code_text(code: int, kind: Kind) -> str:
    if isinstance(kind, IntegerType):
        return str(code)
    return decimal(code & ((1 << kind.bits) - 1), kind)  # 64 bits come as a signed number


def bits_text(code: int, kind: Kind) -> str:
    return str(code) if isinstance(kind, IntegerType) else f"0x{code:0{-(-kind.bits // 4)}x}"


def picture(row: Mapping[str, Any], problem: Problem, members: Members) -> Picture | None:
    """The results around the witness: of its neighbours among the inputs, or of the neighbours of its result."""
    if OPERATORS[row["operator"]].family != "quantize" and abs(int(row["distance"])) <= REAL_ULPS:
        return neighbours_of_result(row, problem.result)
    x, kind = int(witness_code(problem)), problem.kinds[0]
    if not isinstance(number(x, kind), Fraction):
        return None
    exact = exact_results(problem)
    boundaries = [found for step in (-1, 1) if (found := boundary(x, kind, exact, step)) is not None]
    near = [one for one in boundaries if abs(ordinal(one, kind) - ordinal(x, kind)) <= NEAR]
    codes = each_float(x, near, kind) if near or not boundaries else spread(x, boundaries, kind, exact)
    recorded = recorded_results(row, members)
    codes = in_order({*codes, *(recorded if not near else {})}, kind)
    points = [point for point in picture_points(problem, codes, recorded, kind) if point["exact"]]
    apart = 1 if near or not boundaries else 0
    return {"kind": "steps", "operand": first_operand(row), "apart": apart, "points": points, "x": code_text(x, kind)}


def neighbours_of_result(row: Mapping[str, Any], kind: Kind) -> Picture | None:
    """The floats from the least to the greatest of the results, with two more on either side."""
    if not isinstance(kind, FloatType):
        return None
    ordinals = {name: ordinal(int(row[name]), kind) for name in ("expected_bits", "working_bits", "got_bits")}
    if any(not isinstance(decode(int(row[name]), kind), Fraction) for name in ordinals):
        return None
    least, greatest = min(ordinals.values()), max(ordinals.values())
    if greatest - least > MOST_FLOATS:
        return None  # a sum may cancel: as written and exact are then billions of floats apart
    names = {"expected_bits": "exact", "working_bits": "working", "got_bits": "got"}
    points: list[PicturePoint] = []
    for place in range(least - 2, greatest + 3):
        code = from_ordinal(place, kind)
        point: PicturePoint = {
            "x": [code_text(code, kind), bits_text(code, kind)],
            "exact": "",
            "working": "",
            "got": "",
        }
        for name, key in names.items():
            if ordinals[name] == place:
                point[key] = code_text(code, kind)  # type: ignore[literal-required]
        points.append(point)
    return {"kind": "floats", "operand": str(row["output"]), "apart": 1, "points": points, "x": ""}


def witness_code(problem: Problem) -> Any:
    return problem.operands[0][0]


def first_operand(row: Mapping[str, Any]) -> str:
    return str(json.loads(row["operands"])[0][0])


def with_inputs(problem: Problem, codes: Sequence[int]) -> Problem:
    """The problem of one element for each of these first operands, with the other operands as they are."""
    x, *others = (np.repeat(operand, len(codes)) for operand in problem.operands)
    x = np.array(codes, x.dtype)
    if isinstance(problem, Quantization):
        return replace(problem, axes=(0,), x=x, scale=others[0], zero_point=others[1])
    return replace(problem, shape=x.shape, operands=(x, *others))


def exact_results(problem: Problem) -> Callable[[int], int | None]:
    """A function that gives the exact result for another first operand; None where there is none."""

    element, others = results_of(problem, working=False), [int(operand[0]) for operand in problem.operands[1:]]

    def exact(code: int) -> int | None:
        found, state = element((code, *others))
        return None if state == UNDEFINED else found

    return exact


def number(code: int, kind: Kind) -> Fraction | float:
    return decode(code, kind) if isinstance(kind, FloatType) else Fraction(code)


def ordinal(code: int, kind: Kind) -> int:
    """The place of a code among all of its type, in order of the values."""
    if isinstance(kind, IntegerType):
        return code
    sign = 1 << (kind.bits - 1)
    return -(code - sign) if code & sign else code


def from_ordinal(place: int, kind: Kind) -> int:
    return neighbour(0, kind, place) if isinstance(kind, FloatType) else place


def moved(code: int, kind: Kind, steps: int) -> int | None:
    """The code `steps` values further; None beyond the finite ones."""
    found = from_ordinal(ordinal(code, kind) + steps, kind)
    if isinstance(kind, IntegerType):
        return found if kind.lowest <= found <= kind.highest else None
    return found if isinstance(decode(found, kind), Fraction) else None


def boundary(x: int, kind: Kind, exact: Callable[[int], int | None], direction: int) -> int | None:
    """The first code in a direction that has another result than the one before it; None if none is found."""
    here = exact(x)
    for power in range(FARTHEST):
        far = moved(x, kind, direction << power)
        if far is None or exact(far) is None:
            return None
        if exact(far) != here:
            low, high = (1 << power) >> 1, 1 << power  # the result changes between them
            while high - low > 1:
                middle = (low + high) // 2
                code = moved(x, kind, direction * middle)
                low, high = (middle, high) if code is not None and exact(code) == here else (low, middle)
            return moved(x, kind, direction * high)
    return None


def each_float(x: int, near: Sequence[int], kind: Kind) -> list[int]:
    """The witness, its decision boundaries close by, all between them and some beside them."""
    places = [ordinal(one, kind) for one in (x, *near)]
    codes = (moved(x, kind, place - places[0]) for place in range(min(places) - BESIDE, max(places) + BESIDE + 1))
    return [code for code in codes if code is not None]


def spread(x: int, boundaries: Sequence[int], kind: Kind, exact: Callable[[int], int | None]) -> list[int]:
    """Inputs some steps of the result around the witness, and both sides of its decision boundaries."""
    middle, ends = number(x, kind), [number(one, kind) for one in boundaries]
    assert isinstance(middle, Fraction)
    found = [end for end in ends if isinstance(end, Fraction)]
    wide = (max(found) - min(found)) if len(found) == 2 else 2 * max(abs(end - middle) for end in found)
    sides = [side for one in boundaries for step in (-1, 0, 1) if (side := moved(one, kind, step)) is not None]
    if not wide:
        return [x, *sides]
    inputs = (middle + STEPS * wide * Fraction(2 * n - POINTS + 1, POINTS - 1) for n in range(POINTS))
    codes = [nearest(value, kind) for value in inputs]
    return [x, *sides, *(code for code in codes if isinstance(number(code, kind), Fraction))]


def nearest(value: Fraction, kind: Kind) -> int:
    return encode(value, kind) if isinstance(kind, FloatType) else max(kind.lowest, min(kind.highest, round(value)))


def in_order(codes: Iterable[int], kind: Kind) -> list[int]:
    """The codes by value, each value once."""
    return list({ordinal(code, kind): code for code in sorted(codes, key=lambda one: ordinal(one, kind))}.values())


def recorded_results(row: Mapping[str, Any], members: Members) -> dict[int, str]:
    """What the backend gave for other first operands where it deviates, where all else is as in the witness.

    `members` are its discrepancies; what they are explained by does not matter.
    """
    columns = members.columns((*SHARED, "operands", "got", "got_bits"))
    same = columns["operands"].astype("string").str.endswith(rest(row["operands"])).to_numpy(bool)
    for name in SHARED:
        same &= (columns[name] == row[name]).to_numpy(bool)
    found = {int(json.loads(row["operands"])[0][1], 0): decimal_result(row, "got")}
    for one in rows_of(columns[same].iloc[:MOST_RECORDED]):
        found.setdefault(int(json.loads(one["operands"])[0][1], 0), decimal_result(one, "got"))
    return found


def rest(operands: str) -> str:
    """The operands' text without the first of them."""
    return operands.partition("], ")[2]


def picture_points(
    problem: Problem, codes: Sequence[int], recorded: Mapping[int, str], kind: Kind
) -> Iterator[PicturePoint]:
    many = with_inputs(problem, codes)
    exact, working = (solve(many, working=which) for which in (False, True))
    for at, code in enumerate(codes):
        texts = (result_text(*found, problem.result, at) for found in (exact, working))
        right, written = texts
        x = [code_text(code, kind), bits_text(code, kind)]
        yield {"x": x, "exact": right, "working": written, "got": recorded.get(code, "")}
