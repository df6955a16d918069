"""The pytest suite's tests: each kind of node runs once, and its rows are divided among its tests.

The tests' names depend only on the stored vectors and the documents' clauses, so that all workers of pytest-xdist
collect the same tests. Each worker generates cases when it first needs them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.cases.path_probes import path_cases
from tiebreak.conformance.cases.plan import Selection, generated_cases, stored_cases
from tiebreak.conformance.cases.relations import related_cases
from tiebreak.conformance.gate.waivers import Waiver, entries_of, read_waivers, waiver_of
from tiebreak.conformance.judging.chunk import Chunks, chunks_of
from tiebreak.conformance.judging.rows import Kind
from tiebreak.conformance.pytest_plugin.assertions import is_stored, printable_message
from tiebreak.conformance.pytest_plugin.findings import (
    CaseRows,
    SuiteOutcome,
    is_valid,
    outcome_of_rows,
    replay_command,
    with_waivers,
)
from tiebreak.conformance.running.assembling import assemble
from tiebreak.conformance.running.backends import run_backend
from tiebreak.conformance.running.watching import Unwatched
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.places import check_writable
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.reports.records import RunRecords, as_run, write_run
from tiebreak.reports.rows import discrepancy_rows, result_rows

if TYPE_CHECKING:
    import pytest

REST = "other-types"  # the test of generated cases whose types no stored vector has


@dataclass(frozen=True)
class SuiteOptions:
    """The suite's options, checked."""

    backends: tuple[str, ...]
    operators: tuple[str, ...]
    level: str  # empty: no generated cases
    waivers: tuple[Waiver, ...]
    time_limit: float


@dataclass(frozen=True)
class SuiteTest:
    """One test: the cases of a kind of node that exercise a clause. The kind of the REST test has no types."""

    __test__ = False  # pytest takes classes of this name for its own

    kind: Kind
    clause: str

    @property
    def name(self) -> str:
        operator, mode, *types = self.kind
        return "-".join(part for part in (operator, short_mode(mode) if mode else "", *types, self.clause) if part)


def options_of(config: pytest.Config) -> SuiteOptions:
    """The suite's options. InvalidInput for an invalid backend spec, an unknown operator or an invalid waiver file."""

    def option(name: str) -> Any:
        return config.getoption(name)

    named = [get_operator(name).id for name in option("tiebreak_operator")]
    path, seconds = option("tiebreak_waivers"), option("tiebreak_timeout")
    if not 0 < seconds < math.inf:
        raise InvalidInput(f"--tiebreak-timeout {seconds}: a positive number of seconds is wanted")
    return SuiteOptions(
        tuple(check_spec(spec) for spec in dict.fromkeys(option("tiebreak_backend"))),
        tuple(dict.fromkeys(named)) or tuple(OPERATORS),
        option("tiebreak_level").replace("vectors", ""),
        tuple(waivers_in(Path(path))) if path else (),
        seconds,
    )


def waivers_in(path: Path) -> list[Waiver]:
    """The file's waivers for all backends: one file may serve sessions with different backends."""
    entries = enumerate(entries_of(path), start=1)
    return read_waivers(path, [waiver_of(path, number, entry).backend for number, entry in entries])


def suite_tests(operators: Sequence[str], level: str) -> list[SuiteTest]:
    """Every test of these operators, kind by kind."""
    kinds: list[Kind] = []
    for operator in operators:
        kinds += [*stored_kinds(operator), *([(operator, "", "", "")] if level else [])]
    return [test for kind in kinds for test in tests_of(kind)]


def tests_of(kind: Kind) -> list[SuiteTest]:
    """One test for each clause that a case of the kind may exercise."""
    return [SuiteTest(kind, clause) for clause in (clauses_of_kind(kind) if kind[2] else [REST])]


@cache
def stored_kinds(operator: str) -> tuple[Kind, ...]:
    """The kinds of node of an operator that have stored vectors, read from the files without parsing tensors."""
    files = [(path, a, b.partition("-")[0]) for path, a, b in files_of(operator)]
    modes_of = get_operator(operator).modes_of
    found = set()
    for path, input_type, output_type in files:
        for group in json.loads(path.read_text(encoding="utf-8"))["groups"]:
            modes = [modes_of({**group["attributes"], **vector["attributes"]}) for vector in group["vectors"]]
            found |= {(input_type, output_type, only[0] if len(only) == 1 else "") for only in modes}
    return tuple((operator, mode, a, b) for a, b, mode in sorted(found))


def files_of(operator: str) -> list[tuple[Path, str, str]]:
    return [(VECTORS / file_name(*file), *file[1:]) for file in all_files() if file[0] == operator]


def clauses_of_kind(kind: Kind) -> list[str]:
    """The operator's clauses, without those on other rounding modes than the kind's."""
    operator, mode, _, _ = kind
    spec = get_operator(operator)
    of_modes = {spec.mode_clause(name) for name in spec.modes} if mode else set()
    return [clause.id for clause in spec.clauses if clause.id not in of_modes - {spec.mode_clause(mode)}]


@dataclass
class Checks:
    """A session's backends, each started in a process of its own for its first test, and the outcomes of its tests."""

    options: SuiteOptions
    folder: Path | None  # for the runs of kinds whose generated cases failed, to replay them
    backends: dict[str, IsolatedBackend] = field(default_factory=dict)
    found: dict[tuple[str, SuiteTest], SuiteOutcome] = field(default_factory=dict)
    matched: set[tuple[str, Waiver]] = field(default_factory=set)  # waivers that excused something
    chunks: Chunks = field(default_factory=Chunks)

    def backend(self, spec: str) -> IsolatedBackend:
        """The started backend. InvalidInput or MachineryFailed if it can't be started."""
        if spec not in self.backends:
            backend = IsolatedBackend(spec, self.options.time_limit)
            backend.start()
            self.backends[spec] = backend
        return self.backends[spec]

    def outcome_of_test(self, spec: str, test: SuiteTest) -> SuiteOutcome:
        """The outcome of a test. All cases of its kind run at once, since causes are weighed over all of them."""
        if (spec, test) not in self.found:
            operators = self.backend(spec).operators
            if operators is not None and test.kind[0] not in operators:
                return SuiteOutcome(
                    "skip", f"{printable_message(self.backends[spec].name)} does not claim {test.kind[0]}"
                )
            self.run(spec, test.kind)
        return self.found[spec, test]

    def run(self, spec: str, kind: Kind) -> None:
        """Run a kind of node on a backend; keep the outcomes of its tests and the waivers that were needed."""
        backend, cases = self.backend(spec), cases_of_kind(kind, self.options.level)
        records = run_backend(backend, list(chunks_of(cases)), Unwatched(), self.chunks)
        made = assemble([records], cases, {"level": self.options.level or "vectors", "seed": 0})
        known = with_waivers(discrepancy_rows(made.discrepancies), backend.version, self.options.waivers)
        whole = CaseRows(backend.name, result_rows(made.results), known)
        self.matched |= {(spec, waiver) for _, waiver in known if waiver is not None}
        replay = partial(replay_command, spec, self.kept_run(spec, kind, made, whole))
        for test in tests_of(kind):
            part = whole if test.clause == REST else whole.showing(test.clause)
            self.found[spec, test] = outcome_of_rows(part, replay)

    def kept_run(self, spec: str, kind: Kind, made: RunRecords, whole: CaseRows) -> Path | None:
        """Write the run of a kind if a generated case failed, and return its folder; vectors need none to replay."""
        wrong = [*whole.failed(), *(row for row, _ in whole.discrepancies)]
        if self.folder is None or all(map(is_stored, wrong)):
            return None
        folder = self.folder / re.sub(r"[^A-Za-z0-9.-]+", "_", f"{short_name(spec)}-{SuiteTest(kind, '').name}")
        check_writable(folder)
        write_run(folder, as_run(made), made.generated)
        return folder

    def outcome_of_waiver(self, spec: str, waiver: Waiver) -> SuiteOutcome:
        """The outcome of a waiver's test: a failure if it excuses nothing. Kinds run until one needs the waiver."""
        backend = self.backend(spec)
        idle = why_not_asked(waiver, backend.name, backend.version, self.options.operators)
        if idle:
            return SuiteOutcome("skip", f"{waiver}: {idle}")
        for test in suite_tests([waiver.operator], self.options.level):
            if (spec, waiver) in self.matched:
                return SuiteOutcome("pass")
            self.outcome_of_test(spec, test)
        if (spec, waiver) in self.matched:
            return SuiteOutcome("pass")
        level = self.options.level or "vectors"
        return SuiteOutcome(
            "fail", f"{waiver}: at level {level} nothing deviates so any more: {waiver.reason}, {waiver.link}"
        )

    def close(self) -> None:
        for backend in self.backends.values():
            backend.close()


def short_name(spec: str) -> str:
    """A backend's name in the id of a test: of a path only the file name."""
    return spec.rsplit("/", 1)[-1]


def why_not_asked(waiver: Waiver, backend: str, version: str, operators: Sequence[str]) -> str:
    """Why the session does not test a waiver; empty if it does."""
    if waiver.operator not in operators:
        return f"{waiver.operator} is not tested"
    if not waiver.is_for(backend, version):
        return f"not about {backend} {version}"
    return "" if is_valid(waiver) else f"expired after {waiver.expires}"


def cases_of_kind(kind: Kind, level: str) -> list[Case]:
    """The cases of a kind; for the REST kind, the generated cases of kinds without stored vectors."""
    operator, _, input_type, output_type = kind
    made = unstored_cases(operator, level)
    if not input_type:
        stored = set(stored_kinds(operator))
        return [case for case in made if kind_of_case(case) not in stored]
    return [case for case in (*vectors_of(operator, input_type, output_type), *made) if kind_of_case(case) == kind]


@lru_cache(maxsize=2)  # kinds of the same types follow one another
def vectors_of(operator: str, input_type: str, output_type: str) -> list[Case]:
    return stored_cases(Selection(input_type=input_type, output_type=output_type), [operator])


def kind_of_case(case: Case) -> Kind:
    node = case.node
    return node.operator, node.round_mode, node.input_type, node.output_type


@cache
def unstored_cases(operator: str, level: str) -> list[Case]:
    """The cases that `tiebreak run` adds to an operator's stored vectors at a level."""
    if not level:
        return []
    selection = Selection(level=level)
    return [*generated_cases(operator, selection), *related_cases([operator]), *path_cases([operator], level)]
