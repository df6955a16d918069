"""Causes at places: what is enough for one, what speaks against it, and which rarer causes make way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest

from benchmarks.known_defects.measure import measured
from benchmarks.unseen_defects.boxes import BOXES, answer
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanations import NO_CAUSE, Explanation
from tiebreak.conformance.causes.placed import NUMBERS, Against, Placed, Unexplained, placed_causes, with_place
from tiebreak.conformance.causes.places import EVERYWHERE, Layout, bits_of_elements
from tiebreak.conformance.causes.placing import PlacedKind
from tiebreak.conformance.causes.rare import FEW_OPERANDS, without_rare
from tiebreak.conformance.judging.deviating import DTYPES, DeviatingElements
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

TRUE, RIVAL = Cause("own-reciprocal", "quotient", rank=5), Cause("flushes-scales", "quotient", rank=2)
THIRD = Cause("wraps", "range", rank=9)
MODE = Cause("rounds:UP", "mode", mode="ROUND_UP")
KNOWN = replace(THIRD, id="divides-in:bfloat16")
SIZE = 70
LAYOUT = Layout(SIZE, SIZE, 1)
TAIL = range(64, SIZE)  # of vectors of 64, 32 and 16


def elements(indices: object, *causes: Cause, copies: int = 10) -> list[Unexplained]:
    """Elements at these indices of several arrays, which these causes predict, each with operands of its own."""
    bits = bits_of_elements(LAYOUT)
    places = [int(bits[index]) for index in np.asarray(indices).tolist()] * copies
    return [Unexplained(one, frozenset(causes), f"operand {n}") for n, one in enumerate(places)]


def against(
    *causes: Cause, outside: str = "tail:64", third: int = 0, refuted: Callable[..., bool] | None = None
) -> Against:
    """Twenty conforming elements contradict the causes, anywhere but at one place."""
    everywhere_else = EVERYWHERE & ~(1 << NUMBERS[outside])
    return Against(
        dict.fromkeys(causes, 20),
        dict.fromkeys(causes, third),
        dict.fromkeys(causes, everywhere_else),
        refuted or (lambda cause, place: False),
    )


def names(found: list[Placed | None]) -> set[str]:
    return {with_place(one, "").id if one else "" for one in found}


def test_a_cause_is_named_at_the_one_place_where_nothing_contradicts_it() -> None:
    assert names(placed_causes(elements(TAIL, TRUE), against(TRUE))) == {"own-reciprocal @ tail:64"}
    assert names(placed_causes(elements(TAIL, TRUE), against(TRUE, outside="body:64"))) == {""}


@pytest.mark.parametrize(
    ("few", "evidence"),
    [
        (elements(TAIL, TRUE, copies=4), against(TRUE)),  # 24 elements
        ([replace(one, operands="the same") for one in elements(TAIL, TRUE)], against(TRUE)),
        (elements(TAIL, TRUE), against(TRUE, third=7)),  # 7 of 60 would get another result
        (elements(TAIL, TRUE), Against({TRUE: 9}, {}, {}, lambda cause, place: False)),
        (elements(TAIL, TRUE), against(TRUE, refuted=lambda cause, place: True)),
    ],
    ids=["few elements", "one operand", "a third result", "hardly contradicted", "refuted where nothing deviates"],
)
def test_little_evidence_names_nothing(few: list[Unexplained], evidence: Against) -> None:
    assert names(placed_causes(few, evidence)) == {""}


def test_what_is_known_from_elsewhere_needs_few_and_comes_before_a_likelier_mistake() -> None:
    both = elements(TAIL, TRUE, RIVAL)
    assert names(placed_causes(both, against(TRUE, RIVAL))) == {"flushes-scales @ tail:64"}
    known = {("own-reciprocal", NUMBERS["tail:64"])}
    assert names(placed_causes(both, against(TRUE, RIVAL), known)) == {"own-reciprocal @ tail:64"}
    assert names(placed_causes(elements(TAIL[:3], TRUE, copies=1), against(TRUE), known)) == {
        "own-reciprocal @ tail:64"
    }


def test_the_next_cause_is_tried_where_the_best_is_refuted() -> None:
    found = placed_causes(
        elements(TAIL, TRUE, RIVAL), against(TRUE, RIVAL, refuted=lambda cause, place: cause == RIVAL)
    )
    assert names(found) == {"own-reciprocal @ tail:64"}


def evidence_of(causes: list[frozenset[Cause]], contradicted: bool = False) -> Evidence:
    """One array of SIZE elements for each of some sets of causes, each of which predicts what deviates: its tail."""
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
    inputs = np.ones(SIZE, np.float32), np.ones((), np.float32), np.zeros((), np.uint8)
    count = len(causes) * len(TAIL)
    columns = {field.name: np.zeros(count, DTYPES[field.name]) for field in fields(DeviatingElements)}
    columns |= {"case": np.repeat(np.arange(len(causes)), len(TAIL)), "index": np.tile(TAIL, len(causes))}
    columns |= {"output": np.full(count, "y", object)}
    columns |= {"operands": np.array([f"operand {number}" for number in range(count)], object)}
    group = ("onnx.QuantizeLinear", node.round_mode, "float32", "uint8"), "one [] []"
    elsewhere = EVERYWHERE & ~(1 << NUMBERS["tail:64"])
    return Evidence(
        cases=[Case(f"c{number}", node, inputs) for number in range(len(causes))],
        sizes=[SIZE] * len(causes),
        deviating=DeviatingElements(**columns),
        candidates=np.repeat(np.arange(len(causes)), len(TAIL)),
        distinct=[Explanation(matching=one) for one in causes],
        against={(group, False): {TRUE: 20, RIVAL: 0}},  # type: ignore[dict-item]
        third={},
        places={(group, False): {TRUE: elsewhere}},
        against_modes={},
        contradicted=lambda *asked: contradicted,
    )


@pytest.mark.parametrize(
    ("of_rarer", "contradicted", "left"),
    [
        (frozenset({TRUE, RIVAL}), False, set()),
        (frozenset({RIVAL}), False, {"flushes-scales"}),
        (frozenset({TRUE, RIVAL}), True, {"flushes-scales"}),
    ],
    ids=["given", "not given", "contradicted"],
)
def test_a_rarer_cause_makes_way_for_one_at_a_place_that_gives_all_of_it(
    of_rarer: frozenset[Cause], contradicted: bool, left: set[str]
) -> None:
    evidence = evidence_of([frozenset({TRUE}), frozenset({TRUE}), of_rarer], contradicted)
    placed, many = with_place((TRUE, NUMBERS["tail:64"]), "per-tensor-"), 2 * len(TAIL)
    kind = PlacedKind(evidence, np.arange(len(evidence.deviating)), [placed] * many + [RIVAL] * len(TAIL))
    kind.name_rarer()
    assert {one.id for one in kind.causes[many:]} == (left or {"own-reciprocal @ tail:64"})
    assert set(kind.causes[:many]) == {placed}


@pytest.mark.parametrize(
    ("many", "of_rarer", "left"),
    [
        (60, {RIVAL, THIRD}, NO_CAUSE),
        (60, {RIVAL}, RIVAL),  # no other mistake fits
        (20, {RIVAL, THIRD}, RIVAL),  # no small part
    ],
    ids=["a small part", "without rivals", "a larger part"],
)
def test_few_operands_beside_a_cause_of_the_kind_are_no_finding(many: int, of_rarer: set[Cause], left: Cause) -> None:
    evidence = evidence_of([frozenset({TRUE})] * many + [frozenset(of_rarer)])
    own = np.arange(len(evidence.deviating))
    of_many, of_few = np.split(own, [many * len(TAIL)])
    assert len(of_few) < FEW_OPERANDS
    together = [TRUE] * len(of_many) + [RIVAL] * len(of_few)
    (found,) = without_rare(evidence, [own], [together])
    assert set(found[: len(of_many)]) == {TRUE} and set(found[len(of_many) :]) == {left}
    apart = without_rare(evidence, [of_many, of_few], [together[: len(of_many)], together[len(of_many) :]])
    assert [set(one) for one in apart] == [{TRUE}, {RIVAL}], "alone in its kind"
    (typed,) = without_rare(replace(evidence, cases=evidence.cases[:20]), [own], [together])
    assert set(typed) == {TRUE, RIVAL}, "in a run of few cases"


def test_a_rival_that_conforming_elements_contradict_is_none() -> None:
    """TRUE is contradicted 20 times."""
    evidence = evidence_of([frozenset({THIRD})] * 60 + [frozenset({RIVAL, TRUE})])
    causes = [THIRD] * (60 * len(TAIL)) + [RIVAL] * len(TAIL)
    (found,) = without_rare(evidence, [np.arange(len(causes))], [causes])
    assert list(found) == causes


@pytest.mark.parametrize(
    ("contradicted", "built_in", "left"),
    [(False, True, KNOWN), (True, True, NO_CAUSE), (False, False, NO_CAUSE)],
    ids=["known", "contradicted", "not built in"],
)
def test_a_case_with_built_in_parameters_takes_a_known_cause_for_a_rare_one(
    contradicted: bool, built_in: bool, left: Cause
) -> None:
    evidence = evidence_of([frozenset({KNOWN})] * 60 + [frozenset({RIVAL, THIRD, KNOWN})], contradicted)
    whole = [replace(one, consistent=one.matching) for one in evidence.distinct]
    always = frozenset({"onnx.QuantizeLinear"} if built_in else ())
    evidence = replace(evidence, distinct=whole, always_constant=always)
    causes = [KNOWN] * (60 * len(TAIL)) + [RIVAL] * len(TAIL)
    (found,) = without_rare(evidence, [np.arange(len(causes))], [causes])
    assert set(found[60 * len(TAIL) :]) == {left}


def test_a_small_part_of_a_kind_that_no_cause_explains_keeps_its_name() -> None:
    evidence = evidence_of([frozenset({TRUE})] * 30 + [frozenset({THIRD})] * 30 + [frozenset({RIVAL, THIRD})])
    causes = [TRUE] * (30 * len(TAIL)) + [THIRD] * (30 * len(TAIL)) + [RIVAL] * len(TAIL)
    (found,) = without_rare(evidence, [np.arange(len(causes))], [causes])
    assert list(found) == causes


@pytest.mark.parametrize(("rest", "left"), [(MODE, NO_CAUSE), (RIVAL, RIVAL)], ids=["another rounding", "another step"])
def test_few_operands_of_a_kind_that_one_rounding_explains_have_no_other(rest: Cause, left: Cause) -> None:
    rounding = Cause("adds-half-and-truncates", "mode")
    pair = Cause(f"scale-of-bits:8 + {rounding.id}", "quotient", rank=1000)
    evidence = evidence_of([frozenset({pair, rounding})] * 60 + [frozenset({rest})])
    causes = [pair] * (60 * len(TAIL)) + [rest] * len(TAIL)
    (found,) = without_rare(evidence, [np.arange(len(causes))], [causes])
    assert set(found[60 * len(TAIL) :]) == {left}


@pytest.mark.parametrize(
    ("nameless", "named", "left"), [(1, 1, RIVAL), (2, 1, NO_CAUSE), (100, 10, RIVAL), (101, 10, NO_CAUSE)]
)
def test_where_more_has_no_cause_few_operands_have_none(nameless: int, named: int, left: Cause) -> None:
    evidence = evidence_of([frozenset({RIVAL})] * (30 + nameless + named))
    assert len(TAIL) < FEW_OPERANDS <= 10 * len(TAIL)
    causes = [NO_CAUSE] * (nameless * len(TAIL)) + [RIVAL] * (named * len(TAIL))
    (found,) = without_rare(evidence, [np.arange(len(causes))], [causes])
    assert set(found[nameless * len(TAIL) :]) == {left}


@pytest.mark.parametrize(("same", "left"), [(True, NO_CAUSE), (False, RIVAL)], ids=["the same sort", "another"])
def test_a_second_fault_in_other_nodes_does_not_take_the_name_of_the_first(same: bool, left: Cause) -> None:
    evidence = evidence_of([frozenset({RIVAL})] * 40)
    varying = evidence.cases[0].inputs[0], np.ones(SIZE, np.float32), np.zeros(SIZE, np.uint8)
    cases = [one if same else replace(one, inputs=varying) for one in evidence.cases[1:]]
    causes = [RIVAL] * len(TAIL) + [NO_CAUSE] * (39 * len(TAIL))
    (found,) = without_rare(replace(evidence, cases=[evidence.cases[0], *cases]), [np.arange(len(causes))], [causes])
    assert set(found[: len(TAIL)]) == {left}


@pytest.mark.parametrize(
    ("bare", "contradicted", "is_placed"),
    [(1, False, True), (2, False, True), (3, False, False), (1, True, False)],
    ids=["fewer operands", "as many", "more", "contradicted at its place"],
)
def test_what_holds_at_a_place_does_not_hold_everywhere_too(bare: int, contradicted: bool, is_placed: bool) -> None:
    evidence = evidence_of([frozenset({TRUE})] * (2 + bare), contradicted)
    placed, many = with_place((TRUE, NUMBERS["tail:64"]), "per-tensor-"), 2 * len(TAIL)
    kind = PlacedKind(evidence, np.arange(len(evidence.deviating)), [placed] * many + [TRUE] * (bare * len(TAIL)))
    kind.place_known()
    assert set(kind.causes[:many]) == {placed}
    assert {one.id for one in kind.causes[many:]} == ({"own-reciprocal @ tail:64"} if is_placed else {TRUE.id})


def test_what_no_cause_at_a_place_gives_keeps_the_bare_cause() -> None:
    evidence = evidence_of([frozenset({TRUE}), frozenset({TRUE}), frozenset({TRUE}), frozenset({RIVAL})])
    placed, many = with_place((TRUE, NUMBERS["tail:64"]), ""), 2 * len(TAIL)
    kind = PlacedKind(evidence, np.arange(len(evidence.deviating)), [placed] * many + [TRUE] * many)
    kind.place_known()
    assert {one.id for one in kind.causes[many:]} == {TRUE.id}


@pytest.mark.slow
def test_a_box_whose_tail_multiplies_by_the_reciprocal_gets_one_cause() -> None:
    (chosen,) = [one for one in BOXES if one.name == "onnx.QuantizeLinear/float32-uint8/mul-inverse@tail64"]
    (tally,) = measured([chosen], "benchmarks.unseen_defects.boxes", answer)
    assert {given for given, *_ in tally.counts} == {"own-reciprocal @ tail:64"}


@pytest.mark.parametrize(("same", "left"), [(True, NO_CAUSE.id), (False, "own-reciprocal @ tail:64")])
def test_what_happens_to_the_same_operands_elsewhere_is_no_matter_of_places(same: bool, left: str) -> None:
    evidence = evidence_of([frozenset({TRUE})] * 2)
    if same:
        evidence.deviating.operands[len(TAIL) :] = evidence.deviating.operands[: len(TAIL)]
    placed = with_place((TRUE, NUMBERS["tail:64"]), "")
    kind = PlacedKind(evidence, np.arange(len(evidence.deviating)), [placed] * len(TAIL) + [NO_CAUSE] * len(TAIL))
    kind.drop_idle()
    assert {one.id for one in kind.causes[: len(TAIL)]} == {left}
