"""Given causes that are not a box's but can't be told from it: they give the same results in every case of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.known_defects.arithmetic import Use, answer
from benchmarks.known_defects.boxes import Box
from benchmarks.known_defects.defects import how_of
from benchmarks.known_defects.scores import Tally, claims, grade, split_place
from tiebreak.golden.nodes import Case


def alike_causes(box: Box, tally: Tally, cases: Sequence[Case]) -> list[str]:
    """The wrong given causes of a box's tally that one set of the defects that they name bears out."""
    wrong = {given for given, true, *_ in tally.counts if grade(tally, given, true) == "wrong"}
    return sorted(given for given in wrong if is_alike(box, claimed_by(box, given), cases))


def claimed_by(box: Box, given: str) -> Iterable[frozenset[str]]:
    return claims(split_place(given)[0], box.operator) or ()


def is_alike(box: Box, claimed: Iterable[frozenset[str]], cases: Sequence[Case]) -> bool:
    return any(gives_the_same(box, sorted(names), cases) for names in claimed)


def gives_the_same(box: Box, names: Sequence[str], cases: Sequence[Case]) -> bool:
    """Whether these defects, on the box's path, give the box's results in all cases."""
    uses = [Use(name, box.uses[0].path) for name in names]
    try:
        how_of(tuple(names))
    except ValueError:  # two ways to do one step
        return False
    return all(is_same(case, box, uses) for case in cases if box.takes(case.node))


def is_same(case: Case, box: Box, uses: Sequence[Use]) -> bool:
    pairs = zip(answer(case.node, case.inputs, uses), box.answer(case.node, case.inputs), strict=True)
    return all(ours.tobytes() == theirs.tobytes() for ours, theirs in pairs)
