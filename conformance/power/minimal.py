"""`tiebreak vectors minimal`: of an operator's vectors the fewest that stop every wrong arithmetic in a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.exported import case_to_export
from tiebreak.conformance.offline.layouts import LAYOUTS
from tiebreak.conformance.power.arithmetics import WrongArithmetic, answered
from tiebreak.conformance.power.cover import fewest_cover
from tiebreak.conformance.power.proved import proved_equal
from tiebreak.conformance.power.stops import Stopping, stopping
from tiebreak.conformance.power.suites import SUITES, Suite
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Case


@dataclass(frozen=True)
class Minimal:
    """The chosen cases, and what becomes of each wrong arithmetic.

    `hidden` are stopped only where results are compared exactly. `unsayable` are stopped only by cases that the suite
    can't hold: how many. `equal` have the right results in every vector, with what is proved of them.
    """

    suite: str
    cases: int
    candidates: int
    reasons: Mapping[str, int]
    chosen: tuple[Stopping, ...]
    at_least: int
    hidden: tuple[WrongArithmetic, ...]
    unsayable: Mapping[WrongArithmetic, int]
    equal: Mapping[WrongArithmetic, str]

    @property
    def is_fewest(self) -> bool:
        return len(self.chosen) == self.at_least

    @property
    def stopped(self) -> frozenset[WrongArithmetic]:
        return frozenset[WrongArithmetic]().union(*(one.seen for one in self.chosen))


def nobody(done: int, of: int) -> None:
    """Is told of each case, and does nothing."""


def fewest_cases(
    cases: Sequence[Case],
    suite: str,
    beyond: frozenset[WrongArithmetic] = frozenset(),
    told: Callable[[int, int], None] = nobody,
) -> Minimal:
    """The fewest of these cases that stop all that any of them stops, without what `beyond` names: stopped already.

    `told` hears how many cases are answered, of how many.

    Raises InvalidInput if the suite can hold none of the cases, or none stops anything.
    """
    said = {case.id: form_problem(case, SUITES[suite]) for case in cases}
    reasons = Counter(reason for reason in said.values() if reason)
    if all(said.values()):
        raise InvalidInput(f"none of the {len(cases)} cases has a form in {suite}: {reasons.most_common(1)[0][0]}")
    found = []
    for number, one in enumerate(answered(cases), 1):
        found.append(stopping(one, SUITES[suite].near))
        told(number, len(cases))
    candidates = sorted((one for one in found if not said[one.case.id]), key=lambda one: (one.case.size, one.case.id))
    names = list(dict.fromkeys(name for one in found for name in sorted_names(one.applies) if name not in beyond))
    numbers = {name: number for number, name in enumerate(names)}
    if not names:
        raise InvalidInput(f"no wrong arithmetics are known of {cases[0].node.operator}")
    cover = fewest_cover([sum(1 << numbers[name] for name in one.seen if name in numbers) for one in candidates])
    chosen = tuple(candidates[place] for place in cover.places)
    if not chosen:
        raise InvalidInput(f"none of the {len(candidates)} cases stops a wrong arithmetic in {suite}")
    seen, exactly = union(candidates, "seen"), union(candidates, "exactly")
    anywhere = Counter(name for one in found for name in one.exactly)
    left = [name for name in names if name not in seen]
    return Minimal(
        suite=suite,
        cases=len(cases),
        candidates=len(candidates),
        reasons=reasons,
        chosen=chosen,
        at_least=cover.at_least,
        hidden=tuple(name for name in left if name in exactly),
        unsayable={name: anywhere[name] for name in left if name not in exactly and name in anywhere},
        equal={name: proved_equal(name, found) for name in left if name not in anywhere},
    )


def union(found: Sequence[Stopping], what: str) -> frozenset[WrongArithmetic]:
    return frozenset[WrongArithmetic]().union(*(getattr(one, what) for one in found))


def sorted_names(names: frozenset[WrongArithmetic]) -> list[WrongArithmetic]:
    return sorted(names, key=lambda name: (name.cause, name.form))


def form_problem(case: Case, suite: Suite) -> str:
    """Why a suite can't hold a case; empty if it can."""
    try:
        LAYOUTS[suite.layout].of_case(0, case_to_export(case, truths_of(case)))
    except Unsupported as reason:
        return " ".join(str(reason).split()) or "no form"
    return ""
