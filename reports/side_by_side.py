"""What every backend gives for the same elements: which deviate where others are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import FAILED
from tiebreak.reports.records import Run
from tiebreak.reports.rows import decimal_result

if TYPE_CHECKING:
    import pandas as pd

# What a backend did with an element: it deviates, is exact, conforms in a case that is not exact throughout, refuses
# the case, failed in it, or was not asked.
DEVIATES, EXACT, CONFORMS, UNSUPPORTED, FAILS, NOT_ASKED = STATUSES = b"decuf-"
MOST_PATTERNS = 12  # of a cause
GOT = ("result_type", "got", "got_bits")


@dataclass(frozen=True)
class SideBySide:
    """Every element that deviates somewhere, with the status of each backend.

    `element` are the elements' numbers by discrepancy; `status` has a row for each of them and a column for each name.
    """

    discrepancies: pd.DataFrame
    names: tuple[str, ...]
    element: Array
    status: Array

    def patterns(self, places: Array, most: int = MOST_PATTERNS) -> list[tuple[str, int]]:
        """The commonest rows of statuses among discrepancies, and how many of these have each."""
        if not self.names:
            return []
        rows = np.ascontiguousarray(self.status[self.element[places]])
        found, counts = np.unique(rows.view(f"S{rows.shape[1]}").reshape(-1), return_counts=True)
        both = zip(found.tolist(), counts.tolist(), strict=True)
        return [(text.decode(), int(count)) for text, count in Counter(dict(both)).most_common(most)]

    def answers(self, place: int) -> list[tuple[str, list[int]]]:
        """For a discrepancy what each backend gives, with the positions of those that give it.

        A result is decimal text; a status in words stands for none, and for the expected one.
        """
        number, found = int(self.element[place]), dict[str, list[int]]()
        at = self.places_of(number)[: len(self.names)]
        rows = zip(*(column[at].tolist() for column in self.got), strict=True)
        got = {position: decimal_result(dict(zip(GOT, row, strict=True)), "got") for position, *row in rows}
        for position, status in enumerate(self.status[number].tolist()):
            if status != NOT_ASKED:
                found.setdefault(got.get(position, chr(status)), []).append(position)
        return list(found.items())

    @cached_property
    def got(self) -> tuple[Array, ...]:
        """The position of each discrepancy's backend, and the columns GOT: rows of a table would take far longer."""
        backends, codes = numbered(self.discrepancies["backend"])
        types, of = numbered(self.discrepancies["result_type"])
        positions = np.array([self.names.index(name) for name in backends], np.int32)
        values = (self.discrepancies[name].to_numpy() for name in GOT[1:])
        return positions[codes], np.array(types, object)[of], *values

    def places_of(self, number: int) -> Array:
        """The discrepancies of an element."""
        order, ordered = self.in_order
        return order[np.searchsorted(ordered, number) : np.searchsorted(ordered, number, side="right")]

    @cached_property
    def in_order(self) -> tuple[Array, Array]:
        """The discrepancies in order of their elements, and the elements' numbers in that order."""
        order = np.argsort(self.element, kind="stable").astype(np.int32)
        return order, self.element[order]


def side_by_side(run: Run, names: Sequence[str]) -> SideBySide:
    """The statuses of all backends for each element that deviates on one of them."""
    found = run.discrepancies
    first, element, cases, case = elements_of(found)
    status = statuses_of_cases(run, cases, names)[case] if len(found) else no_status(0, names)
    exact = found["expected_bits"].to_numpy()[first] == found["working_bits"].to_numpy()[first]
    status[exact] = np.where(status[exact] == CONFORMS, EXACT, status[exact])
    backends, codes = numbered(found["backend"])
    positions = np.array([names.index(name) for name in backends], np.int32)
    status[element, positions[codes]] = DEVIATES
    return SideBySide(found, tuple(names), element, status)


def elements_of(found: pd.DataFrame) -> tuple[Array, Array, list[str], Array]:
    """The first discrepancy of each element, each discrepancy's element, the cases' names, and each element's case."""
    cases, case = numbered(found["case"])
    outputs, output = numbered(found["output"])
    index = found["index"].to_numpy()
    key = case.astype(np.int64)  # and then in place: this may be a million rows
    for size, number in ((max(1, len(outputs)), output), (1 + index.max(initial=0), index)):
        key *= size
        key += number
    order = np.argsort(key, kind="stable").astype(np.int32)  # what np.unique does, in less memory
    begins = np.diff(key[order], prepend=-1) != 0
    element = np.empty(len(order), np.int32)
    element[order] = np.cumsum(begins, dtype=np.int32) - 1
    first = order[begins]
    return first, element, cases, case[first]


def numbered(texts: pd.Series[str]) -> tuple[list[str], Array]:
    """The distinct texts of a column, and the place of each row's among them."""
    categories = texts.astype("category")
    return [str(one) for one in categories.cat.categories], categories.cat.codes.to_numpy(np.int32)


def no_status(rows: int, names: Sequence[str]) -> Array:
    return np.full((rows, len(names)), NOT_ASKED, np.uint8)


def statuses_of_cases(run: Run, cases: Any, names: Sequence[str]) -> Array:
    """The status of each backend for the elements of a case that do not deviate."""
    rows = run.results[run.results["case"].isin(cases)]
    numbers: Mapping[str, int] = {str(case): number for number, case in enumerate(cases)}
    positions = {name: position for position, name in enumerate(names)}
    status = no_status(len(numbers), names)
    for case, backend, verdict in zip(rows["case"], rows["backend"], rows["verdict"], strict=True):
        status[numbers[case], positions[backend]] = status_of(str(verdict))
    return status


def status_of(verdict: str) -> int:
    if verdict == "exact":
        return EXACT
    return UNSUPPORTED if verdict == "unsupported" else FAILS if verdict in FAILED else CONFORMS
