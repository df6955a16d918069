"""Names causes at places for what has no other cause, and for what a cause at a place says already."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.placed import NUMBERS, Against, Placed, Unexplained, placed_causes, with_place
from tiebreak.conformance.judging.rows import Group, is_varying
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import AT, PER_TENSOR
from tiebreak.golden.problem import Array

Path = tuple[Group, bool]  # a kind of node and its path; whether its elements are pathological


def with_placed_causes(
    evidence: Evidence, places: Sequence[Array], named: Sequence[Sequence[Cause]]
) -> list[list[Cause]]:
    """The causes of each kind's elements (indices), where one has none that of a place, as in a vector loop.

    Each path is looked at alone, then all paths of a kind together; what is found on one may explain few on another.
    Elements that are not pathological come first. A cause of few elements goes if one at a place gives them all.
    """
    found = [list(causes) for causes in named]
    for own, causes in zip(places, found, strict=True):
        kind = PlacedKind(evidence, own, causes)
        kind.name_each_path()
        kind.name_all_paths()
        kind.name_rarer()
        kind.place_known()
        kind.drop_idle()
    return found


@dataclass
class PlacedKind:
    """The elements of one kind of node (places in the evidence) with their causes, which are replaced."""

    evidence: Evidence
    own: Array
    causes: list[Cause]
    known: Counter[tuple[str, int]] = field(init=False)  # how many elements each explains

    def __post_init__(self) -> None:
        """The audit's engine has named some at places."""
        self.known = Counter()
        for cause, count in Counter(self.causes).items():
            id_, _, place = cause.id.partition(AT)
            if place.removeprefix(PER_TENSOR) in NUMBERS:
                self.known[id_, NUMBERS[place.removeprefix(PER_TENSOR)]] += count

    @cached_property
    def paths(self) -> Mapping[Path, list[int]]:
        """The numbers of the elements that may be placed, by path: those that are not pathological first."""
        found: dict[Path, list[int]] = defaultdict(list)
        known = dict[tuple[int, str, int], list[int] | None]()
        deviating = self.evidence.deviating
        columns = (one[self.own].tolist() for one in (deviating.case, deviating.output, self.evidence.candidates))
        for number, key in enumerate(zip(*columns, strict=True)):
            if key not in known:
                known[key] = found[path] if (path := self.path_of(int(self.own[number]))) else None
            if (numbers := known[key]) is not None:
                numbers.append(number)
        return dict(sorted(found.items(), key=lambda entry: entry[0][1]))

    def path_of(self, place: int) -> Path | None:
        """The path of an element; None if it may not be placed."""
        if not self.evidence.may_be_placed(place):
            return None
        strange = self.evidence.distinct[int(self.evidence.candidates[place])].pathological
        return self.evidence.group_of(place), strange

    @cached_property
    def varies(self) -> bool:
        """Whether the kind has nodes whose parameters have several values."""
        own = {self.evidence.kinds[int(self.evidence.deviating.case[place])] for place in self.own[:1].tolist()}
        return any(kind in own and is_varying(path) for kind, path in self.evidence.groups)

    def nameless(self, path: Path) -> list[int]:
        return [number for number in self.paths[path] if self.causes[number] == NO_CAUSE]

    def name_each_path(self) -> None:
        for path in self.paths:
            prefix = PER_TENSOR if self.varies and not is_varying(path[0][1]) else ""
            self.name(self.nameless(path), [path], prefix)

    def name_all_paths(self) -> None:
        for strange in (False, True):
            together = [path for path in self.paths if path[1] == strange]
            self.name([number for path in together for number in self.nameless(path)], together, "")

    def name(self, numbers: Sequence[int], paths: Sequence[Path], prefix: str) -> None:
        """Give elements of some paths causes at places. See placed_causes."""
        elements = [self.evidence.unexplained(int(self.own[number])) for number in numbers]
        against = against_of(self.evidence, paths)
        for number, better in zip(numbers, placed_causes(elements, against, frozenset(self.known)), strict=True):
            if better is not None:
                self.causes[number] = with_place(better, prefix)
                self.known[better[0].id, better[1]] += 1

    def name_rarer(self) -> None:
        """Replace a cause by one at a place that gives each of its elements, and has more elsewhere."""
        if not self.known:
            return
        elements: dict[Cause, list[tuple[Path, int]]] = defaultdict(list)
        for path, numbers in self.paths.items():
            for number in numbers:
                elements[self.causes[number]].append((path, number))
        whole = Counter(self.causes)
        for cause, own in elements.items():
            known = {one for one, count in self.known.items() if count > whole[cause]}
            if cause != NO_CAUSE and len(own) == whole[cause] and (better := self.given_by_one(own, known)):
                for _, number in own:
                    self.causes[number] = with_place(better, "")

    def place_known(self) -> None:
        """Give a cause its place where it has one elsewhere with as many operands, if causes at places give the rest.

        Where only elements at its place are seen, or others that it gives by chance, it seems to hold everywhere.
        """
        elements: dict[str, list[tuple[Path, int]]] = defaultdict(list)
        for path, numbers in self.paths.items():
            for number in numbers:
                elements[self.causes[number].id].append((path, number))
        for id_ in {id_ for id_, _ in self.known} & elements.keys():
            placed = [n for key, own in elements.items() if key.startswith(f"{id_}{AT}") for _, n in own]
            if self.operands([n for _, n in elements[id_]]) > self.operands(placed):
                continue
            alike: dict[tuple[Path, Unexplained], list[int]] = defaultdict(list)
            for path, number in elements[id_]:
                one = self.evidence.unexplained(int(self.own[number]))
                alike[path, replace(one, operands="")].append(number)
            given = {key: self.given_by_one([(key[0], some[0])], self.known.keys()) for key, some in alike.items()}
            better = {key: with_place(one, "") for key, one in given.items() if one is not None}
            for key, some in alike.items() if len(better) == len(alike) else ():
                for number in some:
                    self.causes[number] = better[key]

    def drop_idle(self) -> None:
        """Take a cause at a place away where it gives an element elsewhere, too, with operands that it has there.

        Then it is no matter of places. Such an element has no cause, since others contradict this one.
        """
        inside: dict[str, list[int]] = defaultdict(list)
        nameless: list[int] = []
        for number in (number for numbers in self.paths.values() for number in numbers):
            id_, at, _ = self.causes[number].id.partition(AT)
            if at:
                inside[id_].append(number)
            elif self.causes[number] == NO_CAUSE:
                nameless.append(number)
        operands = self.evidence.deviating.operands
        elsewhere: dict[str, set[str]] = defaultdict(set)
        for number in nameless if inside else ():
            one = self.evidence.unexplained(int(self.own[number]))
            for cause in one.matching:
                elsewhere[cause.id].add(one.operands)
        for id_, numbers in inside.items():
            if not elsewhere[id_].isdisjoint(operands[self.own[numbers]].tolist()):
                for number in numbers:
                    self.causes[number] = NO_CAUSE

    def operands(self, numbers: Sequence[int]) -> int:
        """How many different operands some elements have."""
        return len(set(self.evidence.deviating.operands[self.own[numbers]].tolist()))

    def given_by_one(self, own: Sequence[tuple[Path, int]], known: Set[tuple[str, int]]) -> Placed | None:
        """The known cause at a place that gives all of some elements and that nothing on their paths contradicts."""
        possible: set[Placed] | None = None
        for _, number in own:
            one = self.evidence.unexplained(int(self.own[number]))
            by_id = {cause.id: cause for cause in one.matching}
            here = {(by_id[id_], at) for id_, at in known if id_ in by_id and one.places >> at & 1}
            possible = here if possible is None else possible & here
            if not possible:
                return None
        against = against_of(self.evidence, list(dict.fromkeys(path for path, _ in own)))
        fits = [
            (cause, at)
            for cause, at in possible or ()
            if not against.places.get(cause, 0) >> at & 1 and not against.refuted(cause, at)
        ]
        return min(fits, key=lambda one: (-self.known[one[0].id, one[1]], one[0].rank, one[0].id, one[1]), default=None)


def against_of(evidence: Evidence, paths: Sequence[Path]) -> Against:
    """What speaks against causes on some paths."""
    conforming, third, places = Counter[Cause](), Counter[Cause](), dict[Cause, int]()
    for path in paths:
        conforming.update(evidence.against.get(path, {}))
        third.update(evidence.third.get(path, {}))
        for cause, bits in evidence.places.get(path, {}).items():
            places[cause] = places.get(cause, 0) | bits

    def refuted(cause: Cause, place: int) -> bool:
        return any(evidence.contradicted(group, strange, cause, place) for group, strange in paths)

    return Against(conforming, third, places, refuted)
