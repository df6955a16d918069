"""What a run found, in the order in which a maintainer can't dispute it: every output tells it in this order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from tiebreak.golden.messages import gist
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import FOREIGN, NOT_ASKED, NOT_DETERMINISTIC, OURS, OWN
from tiebreak.reports.folding import FoldedCause, folded_causes
from tiebreak.reports.libraries import folded_name, libraries_of
from tiebreak.reports.records import Run
from tiebreak.reports.root_cause import UNWRITTEN, UNWRITTEN_TEXT
from tiebreak.reports.severity import severity, share_text

Key = TypeVar("Key", bound=Hashable)
Groups = list[tuple[Key, list[Mapping[str, Any]]]]
MOST_FEATURES = 4  # of a path, in one line
CHAPTERS = {  # by id: the title, a short one, and what the chapter has
    "itself": (
        "Contradicts itself",
        "contradicts itself",
        "The same library gives the same numbers another answer. No document is needed to see that.",
    ),
    "own": (
        "Contradicts its own document",
        "contradicts its document",
        "Elements that differ from the document that the backend claims.",
    ),
    "failures": (
        "Crashes, hangs and wrong shapes",
        "crashes, hangs, wrong shapes",
        "Valid cases without a usable result. No result was compared in them.",
    ),
    "calls": (
        "Takes what its document forbids, refuses what it allows",
        "forbidden taken, valid refused",
        "Calls that a claimed document excludes but the backend answers, and valid nodes that it refuses.",
    ),
    "hazards": (
        "Conversion hazards",
        "conversion hazards",
        "Deviations from a document that the backend does not claim: what happens to a model that moves.",
    ),
    "silent": (
        "Where the document is silent",
        "where the document is silent",
        "What backends give for unspecified elements. Never a failure.",
    ),
}


@dataclass(frozen=True)
class Finding:
    """One line of a chapter: which backends, asked for which operators, do what, and how often.

    `ids` are those of run.json. `shown` are the operands of one element, with their bits, and two answers to them.
    """

    backends: tuple[str, ...]
    operators: tuple[str, ...]
    what: str
    how_much: str
    ids: tuple[str, ...] = ()
    cause: FoldedCause | None = None
    shown: str = ""

    @property
    def who(self) -> str:
        return folded_name(self.backends)


@dataclass(frozen=True)
class Chapter:
    """`text` says in a sentence what the findings have in common; `short` is the title in at most 30 characters."""

    id: str
    title: str
    short: str
    text: str
    findings: tuple[Finding, ...]


def story(run: Run) -> list[Chapter]:
    """The six chapters, in order; those without findings, too."""
    info, causes = run.info, folded_causes(run)
    found: dict[str, Iterator[Finding]] = {
        "itself": chain(contradictions(info), (cause_finding(one) for one in causes if is_unwritten(one))),
        "own": (cause_finding(one) for one in causes if one.document == OWN and not is_unwritten(one)),
        "failures": failures(run),
        "calls": calls(run),
        "hazards": (cause_finding(one) for one in causes if one.document == FOREIGN and not is_unwritten(one)),
        "silent": silent(info),
    }
    return [Chapter(name, *CHAPTERS[name], tuple(found[name])) for name in CHAPTERS]


def is_unwritten(cause: FoldedCause) -> bool:
    """Whether a cause is memory that nobody wrote: another call before, another result."""
    return cause.row.get("cause_id") == UNWRITTEN


def cause_finding(cause: FoldedCause) -> Finding:
    row = cause.row
    how_much = f"{severity(row)}, {share_text(row)}"
    return Finding(tuple(cause.backends), tuple(cause.operators), str(row["cause"]), how_much, tuple(cause.ids), cause)


def contradictions(info: Mapping[str, Any]) -> Iterator[Finding]:
    """Another answer in another process, in a second call, by path, by configuration, or as a constant."""
    for found in CONTRADICTIONS.values():
        yield from found(info)


def other_processes(info: Mapping[str, Any]) -> Iterator[Finding]:
    differing = [row for row in info.get("repeated", []) if row["differ"]]
    for _, rows in by_library(info, differing, lambda row: (row["operator"], row["first"])):
        differ, cases = (sum(row[name] for row in rows) for name in ("differ", "cases"))
        what = f"another answer in another process, first {rows[0]['first']}"
        how_much = f"{differ:,} of {plural(cases, 'case')}"
        yield Finding(*who_and_operators(rows), what, how_much, row_ids(rows), shown=shown(rows))


def row_ids(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The ids of rows; older runs have none."""
    return tuple(str(row["id"]) for row in rows if "id" in row)


def shown(rows: Iterable[Mapping[str, Any]]) -> str:
    """The first row's element: its operands with their bits, and two answers to them, each with where it is given."""
    found = next((row.get("example", row) for row in rows if "operands" in row.get("example", row)), None)
    if found is None:
        return ""
    operands = ", ".join(f"{name} = {with_bits(value, bits)}" for name, bits, value in found["operands"])
    answers = (f"{with_bits(one['value'], one['bits'])} {where_given(one)}" for one in found["answers"][:2])
    return f"{operands}: {', '.join(map(str.strip, answers))}"


def with_bits(value: str, bits: str) -> str:
    return value if value == bits else f"{value} ({bits})"


def where_given(answer: Mapping[str, Any]) -> str:
    """Where an answer is given: a place, or a configuration."""
    return str(answer["paths"][0]) if answer.get("paths") else f"by {answer['backend']} in {answer['case']}"


def second_calls(info: Mapping[str, Any]) -> Iterator[Finding]:
    """What changes from a call to the next, once for a library and its cause, or what it says."""
    changing = [row for row in info.get("failures", []) if row["fault"] == NOT_DETERMINISTIC]
    for what, rows in by_library(info, changing, why_it_changes):
        ids, cases = tuple(str(row["id"]) for row in rows), sum(row["cases"] for row in rows)
        yield Finding(*who_and_operators(rows), what, plural(cases, "case"), ids, shown=shown(rows))


def why_it_changes(row: Mapping[str, Any]) -> str:
    return UNWRITTEN_TEXT if row.get("cause_id") == UNWRITTEN else gist(str(row["message"]))


def by_path(info: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for a library's operators and the features of a layout by which its answers differ."""
    groups = by_library(info, info.get("paths", []), path_text)
    for what, rows in sorted(groups, key=lambda group: -len(group[1])):
        how_much = plural(len(rows), "set") + " of operands"
        yield Finding(*who_and_operators(rows), what, how_much, row_ids(rows), shown=shown(rows))


def path_text(row: Mapping[str, Any]) -> str:
    """What the answers to a row's operands depend on."""
    features = sorted({str(answer["paths"][0]) for answer in row["answers"] if answer["paths"]})
    return f"another answer by path: {'; '.join(features[:MOST_FEATURES])}"


def by_configuration(info: Mapping[str, Any]) -> Iterator[Finding]:
    """Configurations of one library whose results differ, each pair once for all operators."""
    libraries = libraries_of(info)
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in info.get("pairs", []):
        if row["differ"] and libraries.get(row["a"]) == libraries.get(row["b"]):
            groups[row["a"], row["b"]].append(row)
    for (a, b), rows in groups.items():
        differ, elements = (sum(row[name] for row in rows) for name in ("differ", "elements"))
        what = f"another answer as {b} than as {a}"
        operators, how_much = tuple(str(row["operator"]) for row in rows), f"{differ:,} of {elements:,} elements"
        yield Finding((a, b), operators, what, how_much, row_ids(rows), shown=shown(rows))


def by_relation(info: Mapping[str, Any]) -> Iterator[Finding]:
    """One operator that is asked the same numbers in two ways, once for a library. Other relations need documents."""
    broken = [row for row in info.get("relations", []) if row["differ"] and row.get("itself")]
    groups = by_library(info, broken, lambda row: (row["relation"], tuple(row.get("operators", ()))))
    for (relation, operators), rows in groups:
        differ, elements = (sum(row[name] for row in rows) for name in ("differ", "elements"))
        names = tuple(dict.fromkeys(str(row["backend"]) for row in rows))
        how_much = f"{differ:,} of {elements:,} elements"
        yield Finding(names, operators, f"breaks: {relation}", how_much, row_ids(rows), shown=shown(rows))


CONTRADICTIONS: dict[str, Callable[[Mapping[str, Any]], Iterator[Finding]]] = {
    "process": other_processes,
    "call": second_calls,
    "path": by_path,
    "configuration": by_configuration,
    "relation": by_relation,
}


def failures(run: Run) -> Iterator[Finding]:
    """One finding for what a library's configurations and operators have in common: the kind of failure."""
    tried = cases_tried(run)
    failed = [row for row in run.info.get("failures", []) if row["fault"] not in (NOT_DETERMINISTIC, *OURS)]
    for kind, rows in by_library(run.info, failed, kind_of_failure):
        pairs = {(str(row["backend"]), str(row["operator"])) for row in rows}
        how_much = f"{sum(row['cases'] for row in rows):,} of {sum(tried[pair] for pair in pairs):,} cases"
        what = f"{kind}: {gist(str(rows[0]['message']))}"
        yield Finding(*who_and_operators(rows), what, how_much, tuple(str(row["id"]) for row in rows))


def kind_of_failure(row: Mapping[str, Any]) -> str:
    return str(row["verdict"]) if row["fault"] in ("", row["verdict"]) else f"{row['verdict']} ({row['fault']})"


def by_library(info: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], key: Callable[..., Key]) -> Groups[Key]:
    """Rows that one library and one key have in common, with the key, in the order of the first ones."""
    libraries, groups = libraries_of(info), defaultdict[tuple[str, Key], list[Mapping[str, Any]]](list)
    for row in rows:
        groups[libraries[row["backend"]], key(row)].append(row)
    return [(own, found) for (_, own), found in groups.items()]


def who_and_operators(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names, operators = (tuple(dict.fromkeys(str(row[name]) for row in rows)) for name in ("backend", "operator"))
    return names, operators


def cases_tried(run: Run) -> Counter[tuple[str, str]]:
    """How many cases of each backend and operator were not refused."""
    tried = run.results[run.results["verdict"] != "unsupported"]
    return Counter(zip(tried["backend"].tolist(), tried["operator"].tolist(), strict=True))


def calls(run: Run) -> Iterator[Finding]:
    """Forbidden calls that are answered, and valid nodes that are refused, where the document is the backend's own.

    Their ids are A001 and R001 and so on, numbered in this order.
    """
    yield from answered_calls(run.info)
    yield from refused_nodes(run)


def answered_calls(info: Mapping[str, Any]) -> Iterator[Finding]:
    own = (row for row in info.get("forbidden", []) if row.get("document", OWN) == OWN)
    answered = [row for row in own if row["answer"] not in ("rejected", NOT_ASKED)]
    groups = by_library(info, answered, lambda row: (row["operator"], row["what"], row["answer"]))
    for number, ((_, what, answer), rows) in enumerate(groups, start=1):
        text, ids = f"forbidden call {answer}: {what}", (f"A{number:03d}",)
        yield Finding(*who_and_operators(rows), text, rows[0]["clause"], ids)


def refused_nodes(run: Run) -> Iterator[Finding]:
    """What each library refuses of an operator that it claims, with the commonest reason."""
    libraries = libraries_of(run.info)
    own = run.results[run.results["document"] == OWN]
    refused = own[(own["verdict"] == "unsupported") & (own["fault"] != NOT_ASKED)]
    groups: dict[tuple[str, str, int, str], list[str]] = defaultdict(list)
    for (backend, operator), rows in refused.groupby(["backend", "operator"], sort=False, observed=True):
        reason = gist(str(rows["message"].mode().iloc[0]))
        groups[libraries[str(backend)], str(operator), len(rows), reason].append(str(backend))
    planned = Counter(zip(own["backend"].tolist(), own["operator"].tolist(), strict=True))
    for number, ((_, operator, cases, reason), names) in enumerate(groups.items(), start=1):
        how_much = f"refused: {cases:,} of {planned[names[0], operator]:,} cases"
        what = f"refuses valid nodes; the commonest reason: {reason}"
        yield Finding(tuple(names), (operator,), what, how_much, (f"R{number:03d}",))


def silent(info: Mapping[str, Any]) -> Iterator[Finding]:
    counts: Counter[tuple[str, str]] = Counter()
    for row in info.get("observed", []):
        counts[str(row["backend"]), str(row["operator"])] += int(row["elements"])
    for (backend, operator), elements in counts.items():
        yield Finding((backend,), (operator,), "observed", plural(elements, "element"))


def finding_text(finding: Finding) -> str:
    """A finding in one line."""
    ids = f"{', '.join(finding.ids)} " if finding.ids else ""
    text = f"{ids}{finding.who}, {operator_names(finding.operators)}: {finding.what} ({finding.how_much})"
    return f"{text}; {finding.shown}" if finding.shown else text


def operator_names(operators: Sequence[str]) -> str:
    """Operators by their short names; by their ids where two sources have the same."""
    short = [short_name(name) for name in operators]
    return ", ".join(short if len(set(short)) == len(short) and set(operators) <= set(OPERATORS) else operators)
