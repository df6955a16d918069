"""A run as JUnit XML, for the test pages of CI servers.

JUnit XML has no single standard. These documents are valid by both common schemas: Jenkins's, and the stricter one of
Apache Ant, which allows one outcome per test case and prescribes the order of a suite's parts.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import FAILED, HAZARD, RAN, SHOWN, shown_verdict
from tiebreak.reports.records import Run, write_aside
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.rows import discrepancy_rows, rows_of, values_by_key
from tiebreak.reports.tables import Tables, as_tables

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["backend", "operator", "round_mode", "input_type", "output_type"]
NO_OUTCOME = ("other-order", "unspecified", HAZARD, "unsupported")
OUTCOMES = ("error", "failure", "", "skipped")  # the worst first
LONGEST = 300  # characters of a text that a backend chose
LONGEST_FOLDER = 4096
MOST_CAUSES = 10
MOST_TESTS = 5000  # of one backend
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0, Char
CREATED = re.compile(r"\d{4}-(0\d|1[0-2])-([0-2]\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d", re.ASCII)
UNKNOWN_TIME = "1970-01-01T00:00:00"


@dataclass
class Cases:
    """Counts for the cases of one test; messages, and each one's first case, separately for failed and unsupported."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    messages: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    first: dict[tuple[bool, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class JUnitTest:
    """The cases of one backend, operator, mode and pair of types. `outcome` is failure, error, skipped or empty."""

    __test__ = False  # no test of pytest's

    classname: str
    name: str
    seconds: float
    outcome: str
    kind: str
    message: str
    text: str
    counts: Counter[str]


def write_junit(path: Path, run: Run, folder: str = "RUN_DIR") -> None:
    """Write `run` as JUnit XML; `folder` is what its commands call the run. DamagedFile as `load`."""
    tree = ET.ElementTree(junit_document(as_tables(run, f"{folder}/run.json"), folder))
    ET.indent(tree)
    write_aside(path, lambda aside: tree.write(aside, encoding="utf-8", xml_declaration=True))


def junit_document(tables: Tables, folder: str) -> ET.Element:
    """A document with a test suite for each backend, even for one that ran nothing."""
    root = ET.Element("testsuites")
    told = folder if xml_text(folder, LONGEST_FOLDER) == folder else "RUN_DIR"
    witnesses = witness_texts(tables, told)
    tests: dict[str, list[JUnitTest]] = defaultdict(list)
    foreign = tables.info.get("judge_foreign") is True
    for key, cases in cases_by_test(tables.results, judge_foreign=foreign).items():
        tests[key[0]].append(test_of(key, cases, witnesses.get(key, ""), strict=tables.info.get("strict") is True))
    stamp = CREATED.match(str(tables.info.get("created", "")))
    for number, backend in enumerate(rows_of(tables.backends)):
        own = sorted(tests[backend["name"]], key=lambda test: OUTCOMES.index(test.outcome))
        add_suite(root, number, backend, own, stamp[0] if stamp else UNKNOWN_TIME)
    return root


def cases_by_test(results: pd.DataFrame, *, judge_foreign: bool) -> dict[tuple[str, ...], Cases]:
    """The cases by KEYS, sorted. Row by row: faster than pandas for many small groups.

    Without `judge_foreign` a deviation from a document that the backend does not claim counts as a hazard.
    """
    found: dict[tuple[str, ...], Cases] = defaultdict(Cases)
    columns = [results[name].tolist() for name in (*KEYS, "verdict", "document", "message", "case", "seconds")]
    for *key, verdict, document, message, case, seconds in zip(*columns, strict=True):
        cases = found[tuple(key)]
        cases.counts[verdict if judge_foreign else shown_verdict(verdict, document)] += 1
        cases.seconds += seconds if 0 <= seconds < 1e6 else 0.0  # a damaged time counts as none
        if verdict not in RAN:
            cases.messages[verdict in FAILED][message] += 1
            cases.first.setdefault((verdict in FAILED, message), case)
    return dict(sorted(found.items()))


def test_of(key: tuple[str, ...], cases: Cases, witness: str, *, strict: bool) -> JUnitTest:
    backend, operator, mode, input_type, output_type = map(xml_text, key)
    counts, total = cases.counts, cases.counts.total()
    failed, ran = (sum(counts[name] for name in some) for some in (FAILED, (*RAN, HAZARD)))
    shared = (f"{backend}.{operator}", f"{mode or 'no mode'}: {input_type} to {output_type}", cases.seconds)
    told = ", ".join(f"{counts[name]:,} {name}" for name in SHOWN if counts[name])
    told = f"{told}; of {total:,} cases {ran:,} ran"
    if failed:
        kind = next(name for name in ("crash", "timeout", "error") if counts[name])
        return JUnitTest(
            *shared,
            "error",
            kind,
            told,
            "\n".join(filter(None, (told, commonest_message(cases, True), witness))),
            counts,
        )
    if counts["deviates"]:
        return JUnitTest(*shared, "failure", "deviates", told, f"{told}\n{witness}", counts)
    if strict and counts["other-order"]:
        return JUnitTest(*shared, "failure", "other-order", told, told, counts)
    if not ran:
        return JUnitTest(*shared, "skipped", "unsupported", commonest_message(cases, False), "", counts)
    return JUnitTest(*shared, "", "", told, "", counts)


def commonest_message(cases: Cases, failed: bool) -> str:
    """The commonest message of the failed, or else of the unsupported cases, and the first case with it."""
    (message, _), *others = cases.messages[failed].most_common() or [("", 0)]
    more = f"; {plural(len(others), 'other message')}" if others else ""
    return f"{xml_text(message) or 'no reason given'} (first {xml_text(cases.first.get((failed, message), ''))}{more})"


def witness_texts(tables: Tables, folder: str) -> dict[tuple[str, ...], str]:
    """By KEYS of the groups that deviate: text with the causes, the smallest witness and the command."""
    columns = ["id", *KEYS, "case", "index", "operands", "cause", "clause", "distance"]
    columns += [f"{name}{of}" for name in ("expected", "got") for of in ("", "_bits")]
    found = tables.discrepancies[columns]
    if found.empty:
        return {}
    sizes = tables.results.drop_duplicates("case").set_index("case")["elements"]
    plainness = {"elements": found["case"].map(sizes).fillna(0), "digits": found["operands"].str.len()}
    ordered = found.assign(**plainness).sort_values(["elements", "digits", "id"], kind="stable")
    specs = dict(zip(tables.backends["name"], tables.backends["spec"], strict=True))
    return {
        tuple(map(str, key)): witness_text(rows, folder, str(specs.get(key[0], "")))
        for key, rows in ordered.groupby(KEYS, sort=False)
    }


def witness_text(rows: pd.DataFrame, folder: str, spec: str) -> str:
    """The text for one group's deviating elements; `rows` has the plainest element first."""
    causes = rows.groupby(["cause", "clause"], sort=False).size().sort_values(ascending=False, kind="stable")
    lines = [f"{plural(len(rows), 'element')} of {plural(rows['case'].nunique(), 'case')} deviate:"]
    lines += [
        f"  {count:,}: {xml_text(cause)} ({xml_text(clause)})"
        for (cause, clause), count in values_by_key(causes[:MOST_CAUSES])
    ]
    lines += [f"  and {plural(len(causes) - MOST_CAUSES, 'other cause')}"] if len(causes) > MOST_CAUSES else []
    one, *_ = discrepancy_rows(rows.head(1))
    bits = f"bits {one['expected_bits']:#x}, got {one['got_bits']:#x}"
    lines.append(f"smallest witness: {xml_text(one['id'])} in {xml_text(one['case'])}, element {one['index']}")
    lines.append(f"  operands (name, bits, value) {xml_text(one['operands'])}")
    lines.append(f"  expected {one['expected']:.17g}, got {one['got']:.17g}; {bits}; distance {one['distance']:,}")
    words = map(shell_word, repro_words(str(one["id"]), folder, spec))
    return "\n".join([*lines, f"show it: {' '.join(words)}"])


def add_suite(root: ET.Element, number: int, backend: Mapping[str, Any], tests: list[JUnitTest], stamp: str) -> None:
    kept = tests[:MOST_TESTS]
    outcomes = Counter(test.outcome for test in kept)
    name = xml_text(f"{backend['name']} {backend['version']}") or "?"
    suite = ET.SubElement(root, "testsuite", name=name, package="tiebreak", id=str(number), hostname="localhost")
    suite.set("timestamp", stamp)
    suite.set("tests", str(len(kept)))
    for attribute, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(outcomes[outcome]))
    suite.set("time", f"{sum(test.seconds for test in kept):.3f}")
    add_properties(suite, backend, tests)
    for test in kept:
        add_test(suite, test)
    ET.SubElement(suite, "system-out").text = "\n".join(notes(tests))
    ET.SubElement(suite, "system-err")


def add_properties(suite: ET.Element, backend: Mapping[str, Any], tests: list[JUnitTest]) -> None:
    """What ran, and how many cases got each verdict."""
    properties = ET.SubElement(suite, "properties")
    totals = sum((test.counts for test in tests), Counter[str]())
    found = {"backend": backend["name"], "version": backend["version"], "spec": backend["spec"]}
    for name, value in (found | {f"cases {verdict}": str(totals[verdict]) for verdict in SHOWN}).items():
        ET.SubElement(properties, "property", name=name, value=xml_text(value))


def add_test(suite: ET.Element, test: JUnitTest) -> None:
    names = {"classname": test.classname, "name": test.name, "time": f"{test.seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", names)
    if test.outcome == "skipped":
        ET.SubElement(case, "skipped", message=test.message)
    elif test.outcome:
        ET.SubElement(case, test.outcome, type=test.kind, message=test.message).text = test.text


def notes(tests: list[JUnitTest]) -> Iterator[str]:
    """What the outcomes do not show: unspecified and unsupported cases of each test, and tests left out."""
    yield "unspecified: the spec is silent on elements of these cases; observed and reported, never a failure."
    yield "other-order: correctly rounded steps in an order that the document leaves open; a failure only by --strict."
    yield "hazard: these cases deviate from a document that the backend does not claim; no failure of its own."
    yield "unsupported: the backend did not run these cases; a test in which none ran is skipped."
    if len(tests) > MOST_TESTS:
        yield f"{len(tests) - MOST_TESTS:,} tests are left out, those that passed or were skipped first."
    for test in tests[:MOST_TESTS]:
        silent = [f"{test.counts[name]:,} {name}" for name in NO_OUTCOME if test.counts[name]]
        if silent:
            yield f"{test.classname} {test.name}: {', '.join(silent)} of {test.counts.total():,} cases"


def shell_word(text: object) -> str:
    return shlex.quote(xml_text(text, LONGEST_FOLDER))


def xml_text(value: object, longest: int = LONGEST) -> str:
    """Untrusted text on one line, bounded, without characters that XML 1.0 forbids or a terminal interprets."""
    return one_line(FORBIDDEN.sub("?", str(value)[: 16 * longest]), longest)
