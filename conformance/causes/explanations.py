"""Why an element deviates: compares the predictions of common mistakes with the backend's outputs.

Every hypothesis predicts a whole case. If it contradicts an element on which the backend conforms, it is named only
where nothing better explains a deviating element.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.places import WIDTHS, Span, contradicted_places, may_be_placed, span_of
from tiebreak.conformance.judging.judge import Judgement, codes_of_outputs, output_problem
from tiebreak.conformance.judging.operands import PARAMETER_KEYS, QuantizationOperands, operands_along, wrong_parameters
from tiebreak.conformance.judging.truths import Truth, Truths
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES, Predict
from tiebreak.conformance.operators.quantize_pairs import mode_cause, pairs_of
from tiebreak.conformance.semantics.causes import JOINT, keys_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import DEVIATES, UNEXPLAINED, UNSPECIFIED

T = TypeVar("T")
STAGE = "known mistakes"
FEWEST_BY_POSITION = 30  # elements; fewer may fit some pattern of positions by chance
FEWEST_OF_PAIRS = 3  # elements; one of some hundred pairs of mistakes fits fewer by chance
MOST_LIKELY_OF_PAIRS = 4  # single mistakes with which pairs are tried in a case that none explains
NO_CAUSE = Cause(UNEXPLAINED, "mode")
NOTHING: Mapping[bool, Counter[Cause]] = {False: Counter(), True: Counter()}
FIRST_PAIR = 1000  # the rank of two mistakes at once
OF_QUANTIZERS = frozenset((*(cause.id for cause, _ in HYPOTHESES), *PARAMETER_KEYS))  # named by the shared tables


Predictions = Iterator[tuple[Cause, Callable[[], Array | None]]]  # None: the mistake does not apply to this case


def predictions(
    case: Case, truths: Truths, errors: ExplanationErrors, about: str, *, among: Set[str] | None = None
) -> list[tuple[Cause, Array]]:
    """Each hypothesis with its prediction (int64 codes, one-dimensional), the simplest explanations first.

    A hypothesis that raises is noted and left out. If making a table raises, the rest of the table is left out. With
    `among`, only causes with these ids are predicted.
    """
    tables = hypothesis_tables(case, truths)
    if among is not None:
        tables = ((entry for entry in table if entry[0].id in among) for table in tables)
    return predicted_by(tables, errors, about)


def predictions_of_pairs(
    case: Case, truths: Truths, errors: ExplanationErrors, about: str, among: frozenset[str]
) -> list[tuple[Cause, Array]]:
    """As predictions, of two mistakes at once, of which one has one of these ids."""
    return predicted_by(pair_tables(case, truths, lambda pairs: pairs.with_one_of(among)), errors, about)


def predictions_with_id(case: Case, truths: Truths, errors: ExplanationErrors, about: str, id_: str) -> list[Array]:
    """As predictions, of one id but no mode's: several if tables have it several times, none if it does not apply."""
    return [codes for _, codes in predicted_by(tables_with_id(case, truths, id_), errors, about)]


def tables_with_id(case: Case, truths: Truths, id_: str) -> Iterator[Predictions]:
    """The entries for an id. Those of all ids would take a hundred times as long."""
    (problem, *_), record = truths.problems, TESTED[case.node.operator]
    is_quantizer = isinstance(problem, Quantization)
    if isinstance(problem, Quantization):
        if found := [entry for entry in HYPOTHESES if entry[0].id == id_]:
            own = operands_along(case, problem, problem.axes)
            yield ((cause, partial(predict, own)) for cause, predict in found)
        if id_ in PARAMETER_KEYS:
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


def hypothesis_tables(case: Case, truths: Truths) -> Iterator[Predictions]:
    """The tables of hypotheses that apply to a case."""
    yield mode_predictions(case, truths)
    (problem, *_) = truths.problems
    first = 2
    if isinstance(problem, Quantization):
        yield quantize_predictions(case, problem)
        yield vector_loop_predictions(case, truths)
        yield parameter_predictions(case, problem)
        first = len(HYPOTHESES) + 5
    mistakes = TESTED[case.node.operator].mistakes
    if mistakes:
        yield mistake_predictions(mistakes, case, truths, first)


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
            for key in keys_of(cause.id):
                found[key].append(place)
        return found

    def with_one_of(self, ids: frozenset[str]) -> Sequence[int]:
        """The places of pairs with one of some mistakes, and of pairs with these ids."""
        places = {place for one in ids for place in self.by_key.get(one, ())}
        return sorted(places.union(*(self.by_id.get(one, ()) for one in ids)))


Choose = Callable[[Pairs[Any]], Sequence[int]]


@cache
def pairs_of_quantizers(mode: str) -> Pairs[Predict]:
    """The shared pairs and, of operands from wrong places, those with another rounding mode."""
    return Pairs(tuple(ranked(pairs_of(mode), FIRST_PAIR)))


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
    return Pairs(tuple(ranked(TESTED[operator].pairs, FIRST_PAIR)))


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


def quantize_predictions(case: Case, problem: Quantization) -> Predictions:
    own = operands_along(case, problem, problem.axes)
    for cause, predict in ranked(HYPOTHESES, 3):
        yield cause, partial(predict, own)


def ranked(table: Sequence[tuple[Cause, T]], first: int) -> Iterator[tuple[Cause, T]]:
    """The entries of a table with their causes ranked from `first`. Entries for one id are one cause."""
    ranks: dict[str, int] = {}
    for rank, (cause, predict) in enumerate(table, start=first):
        yield replace(cause, rank=ranks.setdefault(cause.id, rank)), predict


def parameter_predictions(case: Case, problem: Quantization) -> Predictions:
    for key, other in wrong_parameters(case, problem):
        yield Cause(key, "projection", 2), partial(codes_of_quotients, other)


def codes_of_quotients(own: QuantizationOperands) -> Array:
    return own.finish(own.quotient())


def mistake_predictions(
    mistakes: Sequence[tuple[Cause, Mistake]], case: Case, truths: Truths, first: int
) -> Predictions:
    """What small backends give that each make a common mistake; the causes are ranked from `first`.

    A quantizer's are left out where the shared tables have them already.
    """
    shared = OF_QUANTIZERS if isinstance(truths.problems[0], Quantization) else frozenset[str]()
    for cause, run in ranked(mistakes, first):
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


@dataclass(frozen=True)
class Explanation:
    """The causes that predict one deviating element.

    `matching`: all of them. `consistent`: those that also predict every conforming element of the case. Of an element
    that is not `pathological` only the others like it count: an environment that flushes subnormals changes no others.
    """

    consistent: frozenset[Cause] = frozenset()
    matching: frozenset[Cause] = frozenset()
    pathological: bool = False


@dataclass(frozen=True)
class CaseExplanations:
    """What known mistakes say of one case's outputs.

    `distinct` are the explanations that occur, `numbers` each deviating element's place in it, in order. The others are
    by cause: under True for all elements, under False for those that are not pathological. `against` says how many
    conforming elements contradict it, `third` to how many deviating ones it would give a third result. `places` has the
    bits of the places in which it is contradicted. `needs` has by pair of mistakes those without which an element that
    it gives would be another.
    """

    distinct: tuple[Explanation, ...]
    numbers: Array
    against: Mapping[bool, Counter[Cause]]
    third: Mapping[bool, Counter[Cause]]
    places: Mapping[bool, Mapping[Cause, int]]
    needs: Mapping[Cause, Set[str]] = field(default_factory=dict)


def no_explanations(elements: int) -> CaseExplanations:
    return CaseExplanations((Explanation(),), np.zeros(elements, np.int64), NOTHING, NOTHING, {})


PairsAmong = Callable[[frozenset[str]], Sequence[tuple[Cause, Array]]]


def no_pairs(among: frozenset[str]) -> Sequence[tuple[Cause, Array]]:
    return ()


def explanations(
    case: Case,
    judgement: Judgement,
    truth: Truth,
    predicted: Sequence[tuple[Cause, Array]],
    strange: Array,
    pairs: PairsAmong = no_pairs,
) -> CaseExplanations:
    """Explain the deviating elements of a case by the `predictions` of the known mistakes.

    `strange` masks the pathological elements. `pairs` gives the predictions of two mistakes at once. It is asked only
    where no single one explains all elements, for pairs with one of those that explain the most.
    """
    wrong = judgement.grades == DEVIATES
    right = ~wrong & (judgement.grades != UNSPECIFIED)
    causes: dict[Cause, int] = {}
    matching, consistent = list[Array](), list[Array]()
    against, third = ({False: dict[Cause, int](), True: dict[Cause, int]()} for _ in range(2))
    spans: dict[bool, list[tuple[Cause, Span]]] = {False: [], True: []}
    judged = right | wrong
    given, needs = dict[str, Array](), defaultdict[Cause, set[str]](set)
    single = len(predicted)
    further = further_pairs(causes, consistent, matching, against[True], pairs)
    for order, (cause, codes) in enumerate(chain(predicted, further)):
        match = codes == judgement.values
        if cause.by_position and not (case.size >= 2 * cause.width and match[judged].all()):
            continue
        if order >= single:
            needs[cause] |= needed_of_pair(cause.id, match & judged, given)
        given[cause.id] = given.get(cause.id, False) | match
        number = causes.setdefault(cause, len(causes))
        if number == len(matching):
            matching.append(np.zeros(np.count_nonzero(wrong), bool))
            consistent.append(matching[number].copy())
        matching[number] |= match[wrong]
        other = wrong & ~match & (codes != truth.exact) & (codes != truth.working)
        for every, inside in ((False, ~strange), (True, np.ones_like(strange))):
            contradicted = right & ~match & inside
            for counts, mask in ((against[every], contradicted), (third[every], other & inside)):
                count = int(np.count_nonzero(mask))
                counts[cause] = min(count, counts.get(cause, count))
            if against[every][cause] and may_be_placed(cause):
                spans[every].append((cause, span_of(contradicted)))
            if not contradicted.any():
                consistent[number] |= (match & (strange == every))[wrong]
    if not causes:
        return no_explanations(int(np.count_nonzero(wrong)))
    table = np.concatenate([consistent, matching, [strange[wrong]]])
    first, numbers = distinct_columns(table)
    distinct = [explanation_of(list(causes), table[:, column]) for column in first]
    counted = [{every: Counter(found) for every, found in one.items()} for one in (against, third)]
    places = {every: contradicted_places(found, case.size, against[every]) for every, found in spans.items()}
    return CaseExplanations(tuple(distinct), numbers, counted[0], counted[1], places, needs)


def needed_of_pair(id_: str, match: Array, given: Mapping[str, Array]) -> set[str]:
    """Which of two mistakes change an element that both together give (a mask), by what single ones give.

    One of which nothing is known alone counts as needed.
    """
    first, *others = id_.split(JOINT)
    second = JOINT.join(others)
    needed = {one for one, other in ((first, second), (second, first)) if (match & ~given.get(other, False)).any()}
    return needed | {one for one in (first, second) if one not in given and match.any()}


def further_pairs(
    causes: Mapping[Cause, int],
    consistent: Sequence[Array],
    matching: Sequence[Array],
    against: Mapping[Cause, int],
    pairs: PairsAmong,
) -> Iterator[tuple[Cause, Array]]:
    """The predictions of pairs with a single mistake that explains much, where none explains all elements."""
    if not any(found.all() for found in consistent):
        yield from pairs(likely_of_pairs(causes, matching, against))


def likely_of_pairs(
    causes: Mapping[Cause, int], matching: Sequence[Array], against: Mapping[Cause, int]
) -> frozenset[str]:
    """The ids of the causes that explain the most elements, less those that contradict them."""
    counts = Counter[str]()
    for cause, number in causes.items():
        count = int(np.count_nonzero(matching[number]))
        if count and not cause.by_position:
            counts[cause.id] = max(count - against[cause], counts[cause.id])
    return frozenset(name for name, _ in counts.most_common(MOST_LIKELY_OF_PAIRS))


def distinct_columns(table: Array) -> tuple[Array, Array]:
    """The places of the distinct columns of a table of booleans, and which of them each column is."""
    bits = np.ascontiguousarray(np.packbits(table, axis=0).T)
    _, first, numbers = np.unique(bits.view(f"V{bits.shape[1]}").reshape(-1), return_index=True, return_inverse=True)
    return first, numbers.reshape(-1)


def explanation_of(causes: Sequence[Cause], holds: Array) -> Explanation:
    """The explanation for which `holds` says which causes are consistent, which match, and if it is pathological."""
    *parts, strange = np.split(holds, [len(causes), 2 * len(causes)])
    consistent, matching = (frozenset(causes[i] for i in np.flatnonzero(part).tolist()) for part in parts)
    return Explanation(consistent, matching, bool(strange[0]))


def greedy_cover(
    groups: Sequence[Mapping[Explanation, int]], kinds: Sequence[Hashable] = ()
) -> list[dict[Explanation, Cause]]:
    """One cause for each explanation; a group counts its elements by explanation. `kinds` says which are of one kind.

    In each group, the cause that explains the most elements is named first, then the next. A backend may have two
    faults. So a cause that contradicts elements of a case is still named there if it is named elsewhere without a
    contradiction. A cause that depends on positions is named only where no other fits.

    Of causes that explain as much of a group, the one that explains more of the kind is named. After that a single
    mistake comes before two at once, then what explains more in all groups, then the earlier one in the table.
    """
    plain = [{e: frozenset(c for c in e.consistent if not c.by_position) for e in group} for group in groups]
    pairs = list(zip(groups, plain, strict=True))
    by_group = [counted_ids(group, own) for group, own in pairs]  # by id: tables rank a cause differently
    by_kind: dict[Hashable, Counter[str]] = defaultdict(Counter)
    kinds = kinds or range(len(groups))
    for kind, counts in zip(kinds, by_group, strict=True):
        by_kind[kind].update(counts)
    prior = sum(by_group, Counter[str]())
    accepted = frozenset(
        cause
        for kind, (group, own) in zip(kinds, pairs, strict=True)
        for cause in cover_sets(weighed_sets(group, own), by_kind[kind], prior).values()
    )
    settled = []
    for kind, (group, own) in zip(kinds, pairs, strict=True):
        tiers = {e: own[e] or e.matching & accepted or e.consistent for e in group}
        chosen = cover_sets(weighed_sets(group, tiers), by_kind[kind], prior)
        settled.append({e: chosen[causes] for e, causes in tiers.items()})
    seen: Counter[Cause] = Counter()
    for group, causes_of in zip(groups, settled, strict=True):
        for explanation, count in group.items():
            seen[causes_of[explanation]] += count
    rare = {cause for cause, count in seen.items() if count < fewest_of(cause)}
    none = NO_CAUSE
    return [{e: none if cause in rare else cause for e, cause in one.items()} for one in settled]


def counted_ids(group: Mapping[Explanation, int], sets: Mapping[Explanation, frozenset[Cause]]) -> Counter[str]:
    """How many elements of a group each cause explains, by its id."""
    found: Counter[str] = Counter()
    for explanation, count in group.items():
        for cause in sets[explanation]:
            found[cause.id] += count
    return found


def fewest_of(cause: Cause) -> int:
    """How many elements a cause must explain to be named."""
    return FEWEST_BY_POSITION if cause.by_position else FEWEST_OF_PAIRS if JOINT in cause.id else 1


def weighed_sets(
    group: Mapping[Explanation, int], sets: Mapping[Explanation, frozenset[Cause]]
) -> Counter[frozenset[Cause]]:
    """How many elements of a group have each set of causes."""
    found: Counter[frozenset[Cause]] = Counter()
    for explanation, count in group.items():
        found[sets[explanation]] += count
    return found


def without_causes(explanation: Explanation, refuted: frozenset[Cause]) -> Explanation:
    kept = explanation.consistent - refuted, explanation.matching - refuted
    return replace(explanation, consistent=kept[0], matching=kept[1])


def cover_sets(
    sets: Mapping[frozenset[Cause], int], of_kind: Counter[str], prior: Counter[str]
) -> dict[frozenset[Cause], Cause]:
    """A cause for each set, by greedy set cover: the most frequent first, then the one that greedy_cover says.

    Causes are weighed by their ids: tables rank one cause differently. `of_kind` and `prior` count elements by id.
    """
    left = dict(sets)
    chosen = {frozenset[Cause](): NO_CAUSE}
    left.pop(frozenset(), None)
    while left:
        weight, ranks = Counter[str](), dict[str, int]()
        for causes, count in left.items():
            for name, rank in {cause.id: cause.rank for cause in causes}.items():
                weight[name] += count
                ranks[name] = min(rank, ranks.get(name, rank))
        best = min(weight, key=lambda one: (-weight[one], -of_kind[one], JOINT in one, -prior[one], ranks[one], one))
        named = {causes: [cause for cause in causes if cause.id == best] for causes in left}
        chosen |= {causes: own[0] for causes, own in named.items() if own}
        left = {causes: count for causes, count in left.items() if not named[causes]}
    return chosen
