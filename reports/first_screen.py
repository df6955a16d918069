"""What a report shows first: a row for each library, and the findings that matter most, each a sentence.

Every output has the same: the page, the terminal and Markdown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import DOMAINS, FAILED, FOREIGN, OWN
from tiebreak.reports.anchors import anchor_of_finding
from tiebreak.reports.folding import Row
from tiebreak.reports.libraries import libraries_of, library_of, release
from tiebreak.reports.records import Run
from tiebreak.reports.rows import rows_by_key
from tiebreak.reports.severity import leading_domain
from tiebreak.reports.story import Chapter, Finding, operator_names, path_text

MOST = 5  # findings
TOLD = ("itself", "own", "failures"), ("calls", "hazards")  # chapters; the second ones only where the first have few
VERBS = {"quantize": "quantizes", "dequantize": "dequantizes", "fake": "quantizes and dequantizes", "cast": "casts"}
DOCUMENTS = {"onnx": "ONNX", "ngraph": "nGraph", "tensorflow": "TensorFlow's text", "openvino": "OpenVINO's text"}
LONGEST_CALL = 90  # characters
COUNTS = ("judged", "deviates", "as_written")  # of the calibrated domain


@dataclass(frozen=True)
class LibraryRow:
    """A library's configurations, and how many of its elements in the calibrated domain have which result.

    The elements are those of operators that it claims; where it claims none, `foreign` ones that are mapped to it.
    `itself` counts the findings that it contradicts itself, `failed` its cases that crashed, hung or raised.
    """

    library: str
    versions: tuple[str, ...]
    backends: tuple[str, ...]
    foreign: bool
    judged: int
    as_written: int
    deviates: int
    itself: int
    failed: int

    @property
    def releases(self) -> tuple[str, ...]:
        """The versions without what follows the numbers, such as a build's name."""
        return tuple(dict.fromkeys(map(release, self.versions)))

    @property
    def exact(self) -> int:
        return self.judged - self.as_written - self.deviates


def library_rows(run: Run, chapters: Sequence[Chapter]) -> list[LibraryRow]:
    """The libraries that ran something, those first of which most is wrong."""
    by_library: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    ran = set(run.results["backend"])
    for one in run.info["backends"]:
        if str(one["name"]) in ran:
            by_library[library_of(one)].append(one)
    own, foreign = (calibrated_counts(run, document) for document in (OWN, FOREIGN))
    failed = run.results[run.results["verdict"].isin(FAILED)]["backend"].value_counts()
    found = []
    for library, rows in by_library.items():
        names = tuple(str(row["name"]) for row in rows)
        mapped = not any(own[name]["judged"] for name in names)
        counts = {key: sum((foreign if mapped else own)[name][key] for name in names) for key in COUNTS}
        itself = sum(bool(set(one.backends) & set(names)) for one in chapters[0].findings)
        crashes = sum(int(failed.get(name, 0)) for name in names)
        versions = tuple(dict.fromkeys(str(row["version"]) for row in rows))
        found.append(LibraryRow(library, versions, names, mapped, **counts, itself=itself, failed=crashes))
    return sorted(found, key=lambda row: (row.foreign, -row.deviates / max(row.judged, 1), -row.itself, row.library))


def calibrated_counts(run: Run, document: str) -> dict[str, dict[str, int]]:
    """By backend, of operators whose document this is; cases count that have elements which no document decides."""
    columns = {"judged": "judged_calibrated", "deviates": "deviates_calibrated", "as_written": "working_calibrated"}
    keys = ["backend", "operator", "document"]
    sums = rows_by_key(run.results.groupby(keys, observed=True)[list(columns.values())].sum())
    asked = {key[:2] for key in sums if key[2] == document}
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for key, row in sums.items():
        if key[:2] in asked:
            own = found[str(key[0])]
            found[str(key[0])] = {name: own[name] + int(row[column]) for name, column in columns.items()}
    return found


@dataclass(frozen=True)
class News:
    """The ids of the findings that a baseline does not have, and what the baseline is called."""

    baseline: str
    ids: frozenset[str]

    def has(self, finding: Finding) -> bool:
        return not self.ids.isdisjoint(finding.ids)


@dataclass(frozen=True)
class Headline:
    """A finding in a sentence: who does what, in one example. `why` is its cause, `anchor` where the page has it."""

    chapter: str
    finding: Finding
    text: str
    why: str
    anchor: str


def headlines(run: Run, chapters: Sequence[Chapter], news: News | None = None, *, most: int = MOST) -> list[Headline]:
    """The findings that matter most: each library's worst of a chapter in turn, in the order of the story.

    Nothing that is pathological only is among them while anything else is there. What is new comes before the rest.
    """
    if news is not None:
        parts = split(chapters, news)
        first = headlines(run, parts[0], most=most)
        return [*first, *headlines(run, parts[1], most=most - len(first))]
    libraries, chosen = libraries_of(run.info), list[tuple[int, str, Finding]]()
    for told in TOLD:
        turns = [(number, one.id, ordered(one)) for number, one in enumerate(chapters) if one.id in told]
        seen: set[tuple[int, str]] = set()
        while len(chosen) < most and any(findings for _, _, findings in turns):
            for number, chapter, findings in turns:
                if findings and len(chosen) < most:
                    fresh = (one for one in findings if (number, libraries.get(one.backends[0], "")) not in seen)
                    finding = next(fresh, findings[0])
                    findings.remove(finding)
                    seen.add((number, libraries.get(finding.backends[0], "")))
                    chosen.append((number, chapter, finding))
    chosen.sort(key=lambda one: one[0])
    return [headline(run, chapter, finding) for _, chapter, finding in chosen]


def split(chapters: Sequence[Chapter], news: News) -> tuple[list[Chapter], list[Chapter]]:
    """The chapters with what is new only, and with the rest."""
    new, old = (
        [
            replace(one, findings=tuple(finding for finding in one.findings if news.has(finding) == wanted))
            for one in chapters
        ]
        for wanted in (True, False)
    )
    return new, old


def ordered(chapter: Chapter) -> list[Finding]:
    """The findings of a chapter, what is pathological only last."""
    return sorted(chapter.findings, key=lambda one: is_pathological(one.cause.row) if one.cause else False)


def is_pathological(row: Row) -> bool:
    return leading_domain(row) == DOMAINS[-1]


def headline(run: Run, chapter: str, finding: Finding) -> Headline:
    anchor = anchor_of_finding(chapter, libraries_of(run.info).get(finding.backends[0], ""), finding)
    who = who_does(run, finding)
    if finding.cause is not None and finding.cause.row.get("witness"):
        row = finding.cause.row
        says = "not" if finding.cause.document == FOREIGN else f"where {document_of(row['operator'])} says"
        witness = row["witness"]
        gives = f"{witness['got']}, {says} {witness['expected']}" if says == "not" else None
        text = gives or f"{witness['got']} {says} {witness['expected']}"
        return Headline(chapter, finding, f"{who} {turns_into(row, witness, [text])}", finding.what, anchor)
    if chapter == "itself" and (path := plainest_path(run, finding)):
        answers = [f"{answer['value']} {answer['paths'][0]}" for answer in path["answers"][:2] if answer["paths"]]
        text = f"{who} {turns_into(path, path, answers)}"
        return Headline(chapter, finding, text, f"{finding.what}, {finding.how_much}", anchor)
    text = f"{who}, {operator_names(finding.operators)}: {finding.what}"
    return Headline(chapter, finding, text, ", such as ".join([finding.how_much, *failed_call(run, finding)]), anchor)


def failed_call(run: Run, finding: Finding) -> Iterator[str]:
    """What was asked in the smallest case of a failure, in short; nothing where it is not known."""
    for row in run.info.get("failures", []):
        if finding.ids and row["id"] == finding.ids[0] and row.get("witness", {}).get("call"):
            call = str(row["witness"]["call"])
            yield call if len(call) <= LONGEST_CALL else f"{call[: LONGEST_CALL - 1]}…"


def who_does(run: Run, finding: Finding) -> str:
    """The library, if all of its configurations that ran do what a finding says; else those that do."""
    ran, library = set(run.results["backend"]), library_names(run)
    own = [name for name in library if library[name] == library.get(finding.backends[0]) and name in ran]
    return library[own[0]] if len(own) > 1 and set(own) <= set(finding.backends) else finding.who


def library_names(run: Run) -> dict[str, str]:
    return {str(one["name"]): library_of(one) for one in run.info["backends"]}


def turns_into(row: Mapping[str, Any], element: Mapping[str, Any], answers: Sequence[str]) -> str:
    """What an element's operands are turned into; of an output beside the first, its name comes first."""
    operator, output = str(row["operator"]), str(element.get("output", ""))
    if operator in OPERATORS and output in OPERATORS[operator].outputs[1:]:
        words = listed(f"{name} {value}" for name, _, value in element["operands"])
        return f"gives {output} {' and '.join(answers)} for {words}"
    return f"{does(row, element['operands'])} to {' and to '.join(answers)}"


def does(row: Mapping[str, Any], operands: Sequence[Sequence[str]]) -> str:
    """What is quantized, with which parameters."""
    operator = str(row["operator"])
    (_, _, value), *parameters = operands or [("", "", "nothing")]
    verb = VERBS[OPERATORS[operator].family] if operator in OPERATORS else f"({operator}) takes"
    words = listed(f"{name} {text}" for name, _, text in parameters)
    return f"{verb} {value}{f' with {words}' if words else ''}"


def listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def document_of(operator: str) -> str:
    source = source_of(operator)
    return DOCUMENTS.get(source, source)


def plainest_path(run: Run, finding: Finding) -> Mapping[str, Any] | None:
    """The operands with several answers that a finding is about: of them plain numbers that are short to write."""
    return min(paths_of(run, finding), key=plainness, default=None)


def plainness(row: Mapping[str, Any]) -> tuple[int, int]:
    """Sorts NaN, infinities and powers of ten last, then long decimals."""
    texts = [str(one[2]) for one in row["operands"]]
    return sum(not text.lstrip("-").replace(".", "", 1).isdigit() for text in texts), sum(map(len, texts))


def paths_of(run: Run, finding: Finding) -> Iterator[Mapping[str, Any]]:
    """The rows of run.json that a finding by path folds."""
    for row in run.info.get("paths", []):
        if row["backend"] in finding.backends and finding.what == path_text(row):
            yield row


def what_ran(run: Run, libraries: Sequence[LibraryRow]) -> str:
    """What ran, in one line."""
    info, backends = run.info, sum(len(row.backends) for row in libraries)
    parts = (
        "1 library" if len(libraries) == 1 else f"{len(libraries):,} libraries",
        plural(backends, "configuration"),
        plural(run.results["operator"].nunique(), "operator"),
        plural(run.results["case"].nunique(), "case"),
        f"level {info['level']}, seed {info['seed']}",
        str(info["created"])[:16].replace("T", " "),
        str(info["machine"]),
    )
    return " · ".join(parts)
