"""The findings of a run as the cards of the HTML report: in the order of the story, by library."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import FOREIGN
from tiebreak.reports.anchors import anchor_of_finding, ids_of, is_id
from tiebreak.reports.findings import issue_of
from tiebreak.reports.first_screen import paths_of, plainness
from tiebreak.reports.folding import FoldedCause, folded_causes
from tiebreak.reports.libraries import libraries_of
from tiebreak.reports.records import Run
from tiebreak.reports.report_data import (
    MOST_SORTS,
    Members,
    Names,
    Sort,
    anchor_of,
    by_root_cause,
    cause_name,
    contests_of,
    distance_text,
    example_of,
    judged_counts,
    key_of,
    numbers_text,
    places_of_ids,
    result_text,
    sample_places,
    samples_each,
    sort_row,
    text_of_clause,
    witness_of,
)
from tiebreak.reports.rows import Example, rows_of
from tiebreak.reports.severity import severity, share_text
from tiebreak.reports.side_by_side import SideBySide, side_by_side
from tiebreak.reports.story import Chapter, Finding
from tiebreak.reports.summary import boundary_grade

SIGNS = {"itself": "≠", "own": "✗", "failures": "!", "calls": "⚠", "hazards": "⇄"}
MOST_WITNESSES = 4  # of a path
Row = dict[str, Any]
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Card:
    """A finding of a chapter: a line that is always there, and what it opens to.

    `at` has its positions in the filters, by the filter's letter. `kind` says what `facts` are: those of a "cause", a
    "path", a "failure", or a "call". `data` makes the JSON that the page draws from: at most so many samples, and a
    picture or none, and what was asked for in any case.
    """

    chapter: str
    kind: str
    anchor: str
    library: str
    finding: Finding
    at: Mapping[str, str]
    facts: Mapping[str, Any]
    others: Sequence[str] = ()  # ids that open it, too
    sorts: str = "[]"
    patterns: str = "[]"
    total: int = 0
    data: Callable[[int, bool], Row | None] = field(default=lambda samples, picture: None)

    @property
    def sign(self) -> str:
        return SIGNS[self.chapter]


def cards_of(run: Run, chapters: Sequence[Chapter], names: Names, asked: Sequence[Example] = ()) -> list[Card]:
    """The cards of all chapters but the last, which has a table; in a chapter by library.

    They show the discrepancies that are `asked` for, and others.
    """
    libraries = libraries_of(run.info)
    causes = CauseCards(run, names, asked)
    found: list[Card] = []
    for chapter in chapters:
        if chapter.id in SIGNS:
            made = [card_of(run, chapter.id, one, names, libraries, causes) for one in chapter.findings]
            own = [causes.unfolded(key, libraries) for key in causes.untold] if chapter.id == "own" else []
            found += by_library([*made, *own])
    return found


def by_library(cards: Sequence[Card]) -> list[Card]:
    """The cards with those of one library together, the library of the first card first."""
    order = {library: number for number, library in enumerate(dict.fromkeys(card.library for card in cards))}
    return sorted(cards, key=lambda card: order[card.library])


def card_of(
    run: Run, chapter: str, finding: Finding, names: Names, libraries: Mapping[str, str], causes: CauseCards
) -> Card:
    library = libraries.get(finding.backends[0], finding.backends[0])
    if finding.cause is not None:
        return causes.card(chapter, finding, finding.cause, library)
    at = {"b": positions(names, "backend", finding.backends), "o": positions(names, "operator", finding.operators)}
    kind, facts, more = KINDS[chapter](run, finding, names)
    anchor = anchor_of_finding(chapter, library, finding)
    return Card(chapter, kind, anchor, library, finding, {**at, **more}, facts, ids_of(finding)[1:])


def positions(names: Names, kind: str, values: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(str(names.at(kind, value)) for value in values))


def itself_facts(run: Run, finding: Finding, names: Names) -> tuple[str, Row, dict[str, str]]:
    """The operands with several answers that a finding by path is about, the plainest first."""
    rows = plain_and_varied(paths_of(run, finding))
    if not rows:
        return "plain", {}, {}
    types = positions(names, "type", (str(row[name]) for row in rows for name in ("input_type", "output_type")))
    return "path", {"rows": rows[:MOST_WITNESSES], "more": len(rows) - len(rows[:MOST_WITNESSES])}, {"t": types}


def plain_and_varied(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The plainest rows first, one of each operator in turn; of what configurations have in common the first only."""
    by_operator: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in sorted(rows, key=plainness):
        key = json.dumps([row["operands"], row["input_type"], row["output_type"]])
        by_operator.setdefault(str(row["operator"]), {}).setdefault(key, row)
    turns = zip_longest(*(own.values() for own in by_operator.values()))
    return [row for turn in turns for row in turn if row is not None]


def failure_facts(run: Run, finding: Finding, names: Names) -> tuple[str, Row, dict[str, str]]:
    rows = [row for row in run.info.get("failures", []) if str(row["id"]) in finding.ids]
    return "failure", {"rows": rows}, {"v": positions(names, "verdict", (str(row["verdict"]) for row in rows))}


def call_facts(run: Run, finding: Finding, names: Names) -> tuple[str, Row, dict[str, str]]:
    """The forbidden call with each configuration's answer; nothing more of valid nodes that are refused."""
    rows = [
        row
        for row in run.info.get("forbidden", [])
        if row["backend"] in finding.backends
        and row["operator"] in finding.operators
        and finding.what == f"forbidden call {row['answer']}: {row['what']}"
    ]
    if not rows:
        return "plain", {}, {"v": str(names.at("verdict", "unsupported"))}
    clause = str(rows[0]["clause"])
    facts = {"clause": clause, "text": text_of_clause(OPERATORS.get(rows[0]["operator"]), clause), "rows": rows}
    return "call", facts, {"c": str(names.at("clause", clause))}


KINDS = {"itself": itself_facts, "failures": failure_facts, "calls": call_facts}


class CauseCards:
    """Makes the cards of root causes: the tables that they need are made once."""

    def __init__(self, run: Run, names: Names, asked: Sequence[Example] = ()) -> None:
        self.run, self.names = run, names
        self.asked = {str(one["id"]): one for one in asked}
        self.asked_places = places_of_ids(run.discrepancies, list(self.asked))
        self.places, self.kinds = by_root_cause(run.discrepancies)
        self.clusters = {key_of(row): row for row in run.info.get("clusters", [])}
        folded = folded_causes(run)
        told = {key_of(row) for one in folded for row in one.rows}
        self.untold = [key for key in self.places if key not in told]
        self.witnesses = places_of_ids(run.discrepancies, [witness_of(row) for row in self.clusters.values()])
        self.judged = judged_counts(run)
        self.beside: SideBySide = side_by_side(run, names.backend)
        self.shown: dict[Key, list[Row]] = {}
        told_or_not = len(folded) + len(self.untold)
        self.most = samples_each(told_or_not)
        self.each = max(4, MOST_SORTS // max(1, told_or_not))

    def card(self, chapter: str, finding: Finding, cause: FoldedCause, library: str) -> Card:
        rows, names = cause.rows, self.names
        keys = [key for key in map(key_of, rows) if key in self.places]
        ids = [str(row["id"]) for row in rows if is_id(str(row["id"]))]
        anchor = anchor_of(key_of(cause.row), cause.row)
        at = {
            "b": positions(names, "backend", cause.backends),
            "o": positions(names, "operator", cause.operators),
            "u": positions(names, "cause", (cause_name(cause.row),)),
            "w": positions(names, "document", (cause.document,)),
            "y": positions(names, "domain", cause.row.get("domains", {})),
            "v": positions(names, "verdict", ("deviates",)),
        }
        kinds = sum((self.kinds[key] for key in keys), Counter[Sort]())
        return Card(
            chapter, "cause", anchor, library, finding, at,
            facts=self.facts(cause, kinds, keys),
            others=[one for one in ids if one != anchor],
            sorts=numbers_text([sort_row(sort, count, names) for sort, count in kinds.most_common(self.each)]),
            patterns=self.patterns(keys),
            total=int(cause.row["elements"]),
            data=lambda samples, picture: self.data(key_of(cause.row), keys, samples, picture),
        )  # fmt: skip

    def unfolded(self, key: Key, libraries: Mapping[str, str]) -> Card:
        """The card of discrepancies whose root cause run.json lacks."""
        found = self.run.discrepancies.iloc[self.places[key]]
        row: Row = {"id": "", "backend": key[0], "operator": key[1], "cause": key[2], "types": [], "boundary_ulp": None}
        row |= {"elements": len(found), "cases": int(found["case"].nunique()), "farthest": 1}
        row |= {"document": str(found["document"].iloc[0]), "clause": str(found["clause"].iloc[0])}
        cause = FoldedCause(row, (row,))
        finding = Finding((key[0],), (key[1],), key[2], plural(len(found), "element"), (), cause)
        chapter = "hazards" if cause.document == FOREIGN else "own"
        return self.card(chapter, finding, cause, libraries.get(key[0], key[0]))

    def patterns(self, keys: Sequence[Key]) -> str:
        """How many of a cause's elements every backend has which status for, as JSON; only where backends differ."""
        if not keys or len(self.names.backend) < 2:
            return "[]"
        places = np.concatenate([self.places[key] for key in keys])
        return json.dumps(self.beside.patterns(places), separators=(",", ":"))

    def facts(self, cause: FoldedCause, kinds: Counter[Sort], keys: Sequence[Key]) -> Row:
        row = cause.row
        operator = OPERATORS.get(str(row["operator"]))
        asked = [OPERATORS[name] for name in cause.operators if name in OPERATORS]
        clauses, types = Counter[str](), Counter[str]()
        for (_, one, other, clause, _), count in kinds.items():
            clauses[clause] += count
            types[f"{one} → {other}"] += count
        clauses = clauses or Counter({str(row["clause"]): int(row["elements"])})
        return {
            "severity": severity(row),
            "share": share_text(row),
            "cases": int(row["cases"]),
            "judged": sum(self.judged.get(key[:2], 0) for key in keys),
            "example": example_of(row),
            "grade": self.grade(keys),
            "clauses": [(one, text_of_any(asked, one), count) for one, count in clauses.most_common()],
            "types": types.most_common(12),
            "contested": contests_of(operator, clauses.most_common(1)[0][0]),
            "issue": issue_of(cause),
            "theorems": row.get("theorems", []),
            "also": [
                f"{one['id']} {one['backend']}, {one['operator']}" for one in cause.rows if one["id"] != row["id"]
            ],
        }

    def grade(self, keys: Sequence[Key]) -> str:
        """How far the elements are from a decision boundary; empty where nothing is known."""
        if not keys:
            return ""
        places = np.concatenate([self.places[key] for key in keys])
        return boundary_grade(self.run.discrepancies["boundary_ulp"].iloc[places].max(skipna=False))

    def data(self, key: Key, keys: Sequence[Key], samples: int, picture: bool) -> Row | None:
        """What the page draws the card's body from: so many samples of one key, and what was asked for of all keys."""
        asked = {str(one["id"]): one for each in keys for one in self.asked_samples(each)}
        if key not in self.places or not (samples or asked):
            return None
        if key not in self.shown:
            self.shown[key] = self.samples(key)
        shown = {**asked, **{str(one["id"]): one for one in self.shown[key][:samples]}}
        drawn = packed(self.clusters.get(key, {}).get("picture")) if picture else None
        return {"samples": list(shown.values()), "picture": drawn, "all": len(self.places[key])}

    def asked_samples(self, key: Key) -> list[Row]:
        """The discrepancies of a root cause that were asked for."""
        if not self.asked:
            return []
        asked = np.array(list(self.asked_places.values()), np.int64)
        places = np.intersect1d(asked, self.places.get(key, asked[:0]))
        rows = rows_of(self.run.discrepancies.iloc[places])
        pairs = zip(rows, places, strict=True)
        return [self.sample(row, int(place), self.asked[str(row["id"])]) for row, place in pairs]

    def samples(self, key: Key) -> list[Row]:
        """Some discrepancies of a root cause, the witness first."""
        recorded = self.clusters.get(key, {})
        members = Members(self.run.discrepancies, self.places[key])
        chosen = sample_places(members, self.most, self.witnesses.get(witness_of(recorded), -1))
        examples = {str(one["id"]): one for one in recorded.get("examples", [])}
        return [
            self.sample(row, int(self.places[key][number]), examples.get(str(row["id"]), {}))
            for row, number in zip(rows_of(members.rows(chosen)), chosen, strict=True)
        ]

    def sample(self, row: Mapping[Any, Any], place: int, example: Mapping[str, Any]) -> Row:
        """A discrepancy with texts, and what every backend gives for the same element."""
        kind, names = ELEMENT_TYPES[row["result_type"]], self.names
        expected = result_text(row["expected"], row["expected_bits"], kind)
        working = result_text(row["expected_working"], row["working_bits"], kind)
        return {
            "id": row["id"],
            "backend": names.at("backend", row["backend"]),
            "place": f"{row['output']}[{row['index']}]",
            "operands": json.loads(row["operands"]),
            "expected": expected,
            "working": working if working != expected else None,
            "got": result_text(row["got"], row["got_bits"], kind),
            "away": distance_text(row, kind),
            "where": boundary_grade(row["boundary_ulp"]),
            "rounded": example.get("rounded", ""),
            "modes": example.get("modes", []),
            "answers": self.beside.answers(place),
            "clause": row["clause"],
            "mode": row["round_mode"],
            "types": f"{row['input_type']} → {row['output_type']}",
            "flags": row["flags"],
            "case": row["case"],
            "m": names.at("mode", row["round_mode"]),
            "t": [names.at("type", row["input_type"]), names.at("type", row["output_type"])],
            "f": [names.at("flag", flag) for flag in row["flags"].split()],
            "c": names.at("clause", row["clause"]),
        }


def text_of_any(operators: Sequence[Operator], clause: str) -> str:
    """The text of a clause that one of these operators has."""
    return next((text for one in operators if (text := text_of_clause(one, clause))), "")


def packed(picture: Mapping[str, Any] | None) -> Row | None:
    """A picture with its points as lists: decimal, bits, exact, as written, this backend."""
    if picture is None:
        return None
    points = [[*point["x"], point["exact"], point["working"], point["got"]] for point in picture["points"]]
    return {**picture, "points": points}
