"""What known mistakes predict for a case: tables of single ones, and of two at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, Generic, TypeVar

import numpy as np

from tiebreak.conformance.causes.batches import Run
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.places import WIDTHS
from tiebreak.conformance.judging.chained import chained
from tiebreak.conformance.judging.judge import codes_of_outputs, output_problem
from tiebreak.conformance.judging.operands import (
    PARAMETER_KEYS,
    QuantizationOperands,
    is_of_parameters,
    operands_along,
    wrong_parameters,
)
from tiebreak.conformance.judging.truths import Truths
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_pairs import pairs_of
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.conformance.semantics.causes import JOINT, mistakes_of, without_forms
from tiebreak.conformance.semantics.facet_causes import mode_cause
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES, short_mode

T = TypeVar("T")
STAGE = "known mistakes"
FIRST_PAIR = 1000  # the rank of two mistakes at once
OF_QUANTIZERS = frozenset((*(cause.id for cause, _ in HYPOTHESES), *PARAMETER_KEYS))  # named by the shared tables
Predictions = Iterator[tuple[Cause, Callable[[], Array | None]]]  # None: the mistake does not apply to this case


def predictions(
    case: Case,
    truths: Truths,
    errors: ExplanationErrors,
    about: str,
    *,
    among: Set[str] | None = None,
    run: Run | None = None,
) -> list[tuple[Cause, Array]]:
    """Each hypothesis with its prediction (int64 codes, one-dimensional), the simplest explanations first.

    A hypothesis that raises is noted and left out. If making a table raises, the rest of the table is left out. With
    `among`, only causes with these ids are predicted. `run` has the shared mistakes of quantization for many cases.
    """
    tables = hypothesis_tables(case, truths, run)
    if among is not None:
        tables = ((entry for entry in table if entry[0].id in among) for table in tables)
    return predicted_by(tables, errors, about)


def predictions_of_chain(case: Case, truths: Truths, outputs: Array) -> list[tuple[Cause, Array]]:
    """What follows from a backend's own outputs (codes), for an operator with outputs that follow from others.

    What follows from nothing is predicted as the document has it: this is no cause of a wrong scale.
    """
    found = chained(case, outputs)
    if found is None:
        return []
    names = " and ".join(get_operator(case.node.operator).outputs[1:])
    cause = Cause(f"follows-from:{names}", "mode", FIRST_PAIR - 1)
    right = truths.judged_by
    return [
        (cause, np.where(found.follows, codes, own))
        for codes, own in ((found.exact, right.exact), (found.working, right.working))
    ]


def predictions_of_pairs(
    case: Case, truths: Truths, errors: ExplanationErrors, about: str, among: frozenset[str]
) -> list[tuple[Cause, Array]]:
    """As predictions, of two mistakes at once, of which one has one of these ids."""
    return predicted_by(pair_tables(case, truths, lambda pairs: pairs.with_one_of(among)), errors, about)


def predictions_with_id(case: Case, truths: Truths, errors: ExplanationErrors, about: str, id_: str) -> list[Array]:
    """As predictions, of one id but no mode's: none if it does not apply, several if several tables have it."""
    return [codes for _, codes in predicted_by(tables_with_id(case, truths, id_), errors, about)]


def tables_with_id(case: Case, truths: Truths, id_: str) -> Iterator[Predictions]:
    """The entries for an id. Those of all ids would take a hundred times as long."""
    (problem, *_), record = truths.problems, TESTED[case.node.operator]
    is_quantizer = isinstance(problem, Quantization)
    if isinstance(problem, Quantization):
        if found := [entry for entry in HYPOTHESES if entry[0].id == id_]:
            own = operands_along(case, problem, problem.axes)
            yield ((cause, partial(predict, own)) for cause, predict in found)
        if is_of_parameters(id_):
            yield (entry for entry in parameter_predictions(case, problem) if entry[0].id == id_)
    if not (is_quantizer and id_ in OF_QUANTIZERS):
        every = record.mistakes or ()
        yield ((cause, partial(codes_of_mistake, run, case, truths)) for cause, run in every if cause.id == id_)
    if JOINT in id_:
        yield from pair_tables(case, truths, lambda pairs: pairs.by_id.get(id_, []))


def predicted_by(tables: Iterator[Predictions], errors: ExplanationErrors, about: str) -> list[tuple[Cause, Array]]:
    found = []
    with np.errstate(all="ignore"):
        for source in tables:
            for cause, predict in errors.each(STAGE, about, source):
                predicted = errors.attempt(f"{STAGE}: {cause.id}", about, predict, None)
                if predicted is not None:
                    found.append((cause, predicted))
    return found


def hypothesis_tables(case: Case, truths: Truths, run: Run | None = None) -> Iterator[Predictions]:
    """The tables of hypotheses that apply to a case."""
    yield mode_predictions(case, truths)
    (problem, *_) = truths.problems
    first = 2
    if isinstance(problem, Quantization):
        yield quantize_predictions(run or alone(case, problem))
        yield vector_loop_predictions(case, truths)
        yield parameter_predictions(case, problem)
        first = len(HYPOTHESES) + 5
    yield mistake_predictions(case, truths, first)


@dataclass(frozen=True)
class Pairs(Generic[T]):
    """A table of two mistakes at once, with the places of its entries by their ids and by the keys in them."""

    table: Sequence[tuple[Cause, T]]

    @cached_property
    def by_id(self) -> Mapping[str, Sequence[int]]:
        found = defaultdict[str, list[int]](list)
        for place, (cause, _) in enumerate(self.table):
            found[cause.id].append(place)
        return found

    @cached_property
    def by_key(self) -> Mapping[str, Sequence[int]]:
        found = defaultdict[str, list[int]](list)
        for place, (cause, _) in enumerate(self.table):
            for key in mistakes_of(cause.id):
                found[key].append(place)
        return found

    def with_one_of(self, ids: frozenset[str]) -> Sequence[int]:
        """The places of pairs with one of some mistakes, and of pairs with these ids."""
        places = {place for one in ids for place in self.by_key.get(without_forms(one), ())}
        return sorted(places.union(*(self.by_id.get(one, ()) for one in ids)))


Choose = Callable[[Pairs[Any]], Sequence[int]]


def causes_of_pairs(case: Case) -> dict[str, Cause]:
    """The causes in the tables of pairs for a case's node, by id."""
    problem, *_ = problems_of(case)
    tables: list[Pairs[Any]] = [pairs_of_operator(case.node.operator)]
    if isinstance(problem, Quantization):
        tables = [pairs_of_quantizers(problem.mode), misplaced_pairs(problem.mode)]
    return {cause.id: cause for table in tables for cause, _ in reversed(table.table)}


@cache
def pairs_of_quantizers(mode: str) -> Pairs[Predict]:
    """The shared pairs and, of operands from wrong places, those with another rounding mode."""
    return Pairs(ranked(tuple(pairs_of(mode)), FIRST_PAIR))


@cache
def misplaced_pairs(mode: str) -> Pairs[tuple[str, str]]:
    """Wrong parameters, and the rounding of another mode: the key of the first, and the second."""
    seconds = [other for other in ROUND_MODES if other != mode]
    pairs = ((key, other) for key in PARAMETER_KEYS for other in seconds)
    return Pairs(
        tuple(
            (Cause(f"{key}{JOINT}{mode_cause(mode, other).id}", "projection", FIRST_PAIR), (key, other))
            for key, other in pairs
        )
    )


@cache
def pairs_of_operator(operator: str) -> Pairs[Mistake]:
    return Pairs(ranked(tuple(TESTED[operator].pairs), FIRST_PAIR))


def pair_tables(case: Case, truths: Truths, choose: Choose) -> Iterator[Predictions]:
    """The tables of pairs that apply to a case, of each what `choose` says."""
    (problem, *_) = truths.problems
    if not isinstance(problem, Quantization):
        pairs = pairs_of_operator(case.node.operator)
        entries = (pairs.table[place] for place in choose(pairs))
        yield ((cause, partial(codes_of_mistake, run, case, truths)) for cause, run in entries)
        return
    own, shared = operands_along(case, problem, problem.axes), pairs_of_quantizers(problem.mode)
    yield ((cause, partial(predict, own)) for cause, predict in (shared.table[place] for place in choose(shared)))
    misplaced = misplaced_pairs(problem.mode)
    yield misplaced_pair_predictions(case, problem, [misplaced.table[place] for place in choose(misplaced)])


def misplaced_pair_predictions(
    case: Case, problem: Quantization, chosen: Sequence[tuple[Cause, tuple[str, str]]]
) -> Predictions:
    by_key = defaultdict[str, list[tuple[Cause, str]]](list)
    for cause, (key, mode) in chosen:
        by_key[key].append((cause, mode))
    if by_key:
        for key, other in wrong_parameters(case, problem):
            for cause, mode in by_key.get(key, ()):
                yield cause, partial(codes_of_quotients, replace(other, mode=mode))


def mode_predictions(case: Case, truths: Truths) -> Predictions:
    """What each rounding mode gives that the document does not allow: exactly, and step by step."""
    wanted = truths.allowed[0]
    for mode, truth in truths.compared.items():
        if mode not in truths.allowed:
            yield mode_cause(wanted, mode), partial(as_is, truth.exact)
            yield mode_cause(wanted, mode), partial(as_is, truth.working)


def as_is(codes: Array) -> Array:
    return codes


def quantize_predictions(run: Run) -> Predictions:
    for cause, predict in ranked(HYPOTHESES, 3):
        yield cause, partial(run, predict)


def alone(case: Case, problem: Quantization) -> Run:
    own = operands_along(case, problem, problem.axes)
    return lambda predict: predict(own)


@cache
def ranked(table: tuple[tuple[Cause, T], ...], first: int) -> tuple[tuple[Cause, T], ...]:
    """The entries of a table with their causes ranked from `first`."""
    return tuple((replace(cause, rank=rank), predict) for rank, (cause, predict) in enumerate(table, start=first))


def parameter_predictions(case: Case, problem: Quantization) -> Predictions:
    for key, other in wrong_parameters(case, problem):
        yield Cause(key, "projection", 2), partial(codes_of_quotients, other)


def codes_of_quotients(own: QuantizationOperands) -> Array:
    return own.finish(own.quotient())


def mistake_predictions(case: Case, truths: Truths, first: int) -> Predictions:
    """What small backends give that each make a common mistake; the causes are ranked from `first`.

    A quantizer's are left out where the shared tables have them already.
    """
    shared = OF_QUANTIZERS if isinstance(truths.problems[0], Quantization) else frozenset[str]()
    for cause, run in ranked(tuple(TESTED[case.node.operator].mistakes or ()), first):
        if cause.id not in shared:
            yield cause, partial(codes_of_mistake, run, case, truths)


def codes_of_mistake(run: Mistake, case: Case, truths: Truths) -> Array | None:
    """The codes that a small backend gives; None if it cannot run the case."""
    try:
        outputs = run(case.node, *(array.copy() for array in case.inputs))
    except (ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
        return None
    if output_problem(case, outputs, truths.problems):
        return None
    return codes_of_outputs(truths.problems, outputs, truths.judged_by)


def vector_loop_predictions(case: Case, truths: Truths) -> Predictions:
    """Vector loops of which the body or the tail rounds by a mode of its own."""
    wanted, index, by_mode = case.node.round_mode, np.arange(case.size), truths.by_mode
    for width in WIDTHS:
        tail = index >= case.size - case.size % width
        if tail.any():
            for mode in ROUND_MODES:
                for place, where in (("tail", tail), ("body", ~tail)):
                    key = f"rounds-in-{place}:{width},{short_mode(mode)}"
                    mixed = partial(either, where, by_mode[mode].working, by_mode[wanted].working)
                    yield Cause(key, "mode", len(HYPOTHESES) + 4, mode=mode, width=width), mixed


def either(where: Array, inside: Array, outside: Array) -> Array:
    return np.where(where, inside, outside)
