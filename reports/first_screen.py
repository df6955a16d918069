"""What a report shows first: a row for each library, and the findings that matter most, each a sentence.

Every output has the same: the page, the terminal and Markdown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import DOMAINS, FAILED, FOREIGN, NO_ELEMENTS, OURS, OWN, REDUCED
from tiebreak.reports.anchors import anchor_of_finding
from tiebreak.reports.libraries import libraries_of, library_of, release
from tiebreak.reports.records import Run
from tiebreak.reports.rows import rows_of
from tiebreak.reports.severity import leading_domain
from tiebreak.reports.story import Chapter, Finding, operator_names, path_text

if TYPE_CHECKING:
    import pandas as pd

MOST = 5  # findings, unless there are more libraries
TOLD = ("itself", "own", "failures"), ("calls", "hazards")  # chapters; the second ones after all of the first
Weight = tuple[int, int, int, int]  # sorts findings: place in TOLD, domain, chapter, place in the chapter
VERBS = {"quantize": "quantizes", "dequantize": "dequantizes", "fake": "quantizes and dequantizes", "cast": "casts"}
DOCUMENTS = {"onnx": "ONNX", "ngraph": "nGraph", "tensorflow": "TensorFlow's text", "openvino": "OpenVINO's text"}
LONGEST_CALL = 90  # characters
COUNTS = ("judged", "deviates", "other_order", "as_written")  # cases with calibrated elements


@dataclass(frozen=True)
class LibraryRow:
    """A library's configurations, and in how many of its cases with calibrated elements these have which result.

    The cases are those of operators that it claims; where it claims none, `foreign` ones that are mapped to it. It has
    `operators` with such cases, and deviates in `deviate_in` of them. `itself` counts the findings that it contradicts
    itself, `failed` its cases that crashed, hung or raised.
    """

    library: str
    versions: tuple[str, ...]
    backends: tuple[str, ...]
    foreign: bool
    judged: int
    as_written: int
    other_order: int
    deviates: int
    operators: int
    deviate_in: int
    itself: int
    failed: int

    @property
    def releases(self) -> tuple[str, ...]:
        """The versions without what follows the numbers, such as a build's name."""
        return tuple(dict.fromkeys(map(release, self.versions)))

    @property
    def exact(self) -> int:
        return self.judged - self.as_written - self.other_order - self.deviates


def library_rows(run: Run, chapters: Sequence[Chapter]) -> list[LibraryRow]:
    """The libraries that ran something, those first of which most is wrong."""
    by_library: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    ran = set(run.results["backend"])
    for one in run.info["backends"]:
        if str(one["name"]) in ran:
            by_library[library_of(one)].append(one)
    own, foreign = (calibrated_cases(run, document) for document in (OWN, FOREIGN))
    claiming = run.results[run.results["document"] == OWN]["backend"]
    is_its_own = run.results["verdict"].isin(FAILED) & ~run.results["fault"].isin(OURS)
    failed = run.results[is_its_own]["backend"].value_counts()
    found = []
    for library, rows in by_library.items():
        names = tuple(str(row["name"]) for row in rows)
        mapped = not claiming.isin(names).any()
        cases = (foreign if mapped else own)[lambda cases, names=names: cases["backend"].isin(names)]
        counts = {name: int(cases[name].sum()) for name in COUNTS}
        operators, wrong = cases["operator"].nunique(), cases[cases["deviates"]]["operator"].nunique()
        itself = sum(bool(set(one.backends) & set(names)) for one in chapters[0].findings)
        crashes = sum(int(failed.get(name, 0)) for name in names)
        versions = tuple(dict.fromkeys(str(row["version"]) for row in rows))
        found.append(
            LibraryRow(
                library,
                versions,
                names,
                mapped,
                **counts,
                operators=operators,
                deviate_in=wrong,
                itself=itself,
                failed=crashes,
            )
        )
    return sorted(found, key=lambda row: (row.foreign, -row.deviates / max(row.judged, 1), -row.itself, row.library))


def calibrated_cases(run: Run, document: str) -> pd.DataFrame:
    """A row for each case with calibrated elements, of pairs of backend and operator whose document this is.

    Columns backend, operator, and COUNTS: whether it was judged, deviates, is right in another order of steps only, or
    as written only.
    """
    rows, keys = run.results, ["backend", "operator"]
    asked = rows[rows["document"] == document][keys].drop_duplicates()
    judged = rows[rows["judged_calibrated"] > 0].merge(asked, on=keys)
    deviates = judged["deviates_calibrated"] > 0
    other_order = (judged["other_order_calibrated"] > 0) & ~deviates
    as_written = (judged["working_calibrated"] > 0) & ~other_order & ~deviates
    return judged[keys].assign(judged=True, deviates=deviates, other_order=other_order, as_written=as_written)


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
    shown: str = ""  # the id of the example, if it is not the finding's first

    @property
    def id(self) -> str:
        """What `repro` takes; empty if there is none."""
        return self.shown or next(iter(self.finding.ids), "")


def headlines(run: Run, chapters: Sequence[Chapter], news: News | None = None) -> list[Headline]:
    """The findings that matter most: the worst of each library first, MOST in all or as many as there are libraries.

    What is new comes before the rest.
    """
    parts = [chapters] if news is None else split(chapters, news)
    told = [one for part in parts for one in worst_first(run, part)]
    libraries = {library_names(run).get(finding.backends[0], "") for _, finding in told}
    return [headline(run, chapter, finding) for chapter, finding in told[: max(MOST, len(libraries))]]


def worst_first(run: Run, chapters: Sequence[Chapter]) -> Iterator[tuple[str, Finding]]:
    """Findings with their chapters: each library's worst, then its second of what is told first, and so on."""
    turns = [
        ((1, weight[0], turn, weight) if turn else (0, 0, 0, weight), chapter, finding)
        for own in findings_by_library(run, chapters).values()
        for turn, (weight, chapter, finding) in enumerate(own)
    ]
    for _, chapter, finding in sorted(turns, key=itemgetter(0)):
        yield chapter, finding


def findings_by_library(run: Run, chapters: Sequence[Chapter]) -> dict[str, list[tuple[Weight, str, Finding]]]:
    """By library: its findings with their chapters, the worst first; of equal ones of several operators the first.

    None that the library's documentation says of its defaults, and none of an empty tensor.
    """
    libraries, reduced = library_names(run), reduced_by_default(run)
    found: dict[str, list[tuple[Weight, str, Finding]]] = defaultdict(list)
    for number, chapter in enumerate(chapters):
        tier = next((tier for tier, told in enumerate(TOLD) if chapter.id in told), None)
        for place, finding in enumerate(chapter.findings):
            if tier is not None and not is_documented(chapter, finding, reduced):
                rank = everyday_rank(run, finding)
                if rank < len(DOMAINS):
                    weight = (tier, rank, number, place)
                    found[libraries.get(finding.backends[0], "")].append((weight, chapter.id, finding))
    return {library: list(one_kernel_each(sorted(own, key=itemgetter(0)))) for library, own in found.items()}


def one_kernel_each(findings: Iterable[tuple[Weight, str, Finding]]) -> Iterator[tuple[Weight, str, Finding]]:
    """The first finding of each kind: operators of a library that go wrong in the same words share a kernel."""
    seen: set[tuple[str, str]] = set()
    for weight, chapter, finding in findings:
        if (chapter, finding.what) not in seen:
            seen.add((chapter, finding.what))
            yield weight, chapter, finding


def everyday_rank(run: Run, finding: Finding) -> int:
    """0 for what everyday operands show, more for the edge and for what is pathological, most for empty tensors."""
    known = run.info.get("domains", {})
    found = [known[id_] for id_ in finding.ids if id_ in known]
    if found and all(domain == NO_ELEMENTS for domain in found):
        return len(DOMAINS)
    if finding.cause is not None:
        found = [leading_domain(finding.cause.row)]
    return min((DOMAINS.index(domain) for domain in found if domain in DOMAINS), default=DOMAINS.index("edge"))


def reduced_by_default(run: Run) -> frozenset[str]:
    """The backends that compute in fewer bits than the operands have, as their library documents for its defaults."""
    return frozenset(str(one["name"]) for one in run.info["backends"] if REDUCED in one.get("attestation", {}))


def is_documented(chapter: Chapter, finding: Finding, reduced: frozenset[str]) -> bool:
    """Whether a deviation or a difference is only that of backends that are documented to compute in fewer bits."""
    if chapter.id == "itself" and len(finding.backends) == 2:  # two configurations that differ
        return not reduced.isdisjoint(finding.backends)
    return finding.cause is not None and reduced.issuperset(finding.backends)


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
        text = f"{where(who, finding, types_of(path))}: it {turns_into(path, path, answers)}"
        return Headline(chapter, finding, text, f"{finding.what}, {finding.how_much}", anchor, str(path.get("id", "")))
    text = f"{where(who, finding, types_of_example(run, finding))}: {finding.what}"
    example = [finding.shown] if finding.shown else failed_call(run, finding)
    return Headline(chapter, finding, text, ", such as ".join([finding.how_much, *example]), anchor)


def where(who: str, finding: Finding, types: str) -> str:
    return ", ".join(filter(None, [who, operator_names(finding.operators), types]))


def types_of(row: Mapping[str, Any]) -> str:
    return f"{row['input_type']} to {row['output_type']}" if row.get("input_type") else ""


def types_of_example(run: Run, finding: Finding) -> str:
    """The types of the case that shows a contradiction or a failure."""
    info, ids = run.info, set(finding.ids)
    shown = [row["example"]["answers"][0]["case"] for name in ("repeated", "pairs", "relations")
             for row in info.get(name, []) if row.get("id") in ids and "example" in row]  # fmt: skip
    failed = [row["witness"]["case"] for row in info.get("failures", []) if row["id"] in ids]
    found = run.results[run.results["case"].isin([*shown, *failed][:1])] if "input_type" in run.results else None
    return "" if found is None or found.empty else types_of(rows_of(found)[0])


def failed_call(run: Run, finding: Finding) -> Iterator[str]:
    """What was asked in the smallest case of a failure, in short; nothing where it is not known."""
    for row in run.info.get("failures", []):
        if finding.ids and row["id"] == finding.ids[0] and row.get("witness", {}).get("call"):
            first, *others = str(row["witness"]["call"]).split("; ")
            while others and len("; ".join([first, *others])) > LONGEST_CALL:
                others.pop()
            more = row["witness"]["call"].count("; ") - len(others)
            yield "; ".join([first, *others, *([f"and {plural(more, 'other input')}"] if more else [])])


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
        words = listed([*(f"{name} {value}" for name, _, value in element["operands"]), *attributes_of(element)])
        return f"gives {output} {' and '.join(answers)} for {words}"
    return f"{does(row, element['operands'], attributes_of(element))} to {' and to '.join(answers)}"


def attributes_of(element: Mapping[str, Any]) -> list[str]:
    """Those of the example's case; older runs do not say."""
    return [str(text) for text in element.get("attributes", [])]


def does(row: Mapping[str, Any], operands: Sequence[Sequence[str]], attributes: Sequence[str] = ()) -> str:
    """What is quantized, with which parameters and attributes."""
    operator = str(row["operator"])
    (_, _, value), *parameters = operands or [("", "", "nothing")]
    verb = VERBS[OPERATORS[operator].family] if operator in OPERATORS else f"({operator}) takes"
    words = listed([*(f"{name} {text}" for name, _, text in parameters), *attributes])
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
