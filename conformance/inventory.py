"""Installed backends and what they accept, found by running cases; what is missing, with the command to type."""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from rich.console import Console
from rich.table import Table

from tiebreak.adapters.claims import Claims
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import (
    BY_ENVIRONMENT,
    FOR_DEVICES,
    ON_REQUEST,
    OWN,
    WITHOUT_LIBRARY,
    check_spec,
    entry_point,
    environment_of,
    extra_of,
    install_command,
    library_of,
    registered,
    release_beside,
    usual,
)
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.case_cache import CaseCache
from tiebreak.golden.errors import MachineryFailed, TiebreakError
from tiebreak.golden.exit_codes import EXIT_CONFORMS, EXIT_FAILED
from tiebreak.golden.nodes import Case
from tiebreak.golden.vector_index import NODES_EACH, plainest_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.reports.console import terminal_label
from tiebreak.reports.progress import DoneLines

ASKED_AT_ONCE = 3
ASKED_SECONDS = 30.0  # a backend that compiles each node with a C compiler would take minutes
AT_ONCE = 12
NOT_INSTALLED = "is not installed"
PYTHON = ".".join(map(str, sys.version_info[:3]))
SLOW = ("tensorflow", "torch", "openvino")  # to load or to ask: they begin first, so that no core waits for one
Types = tuple[str, str, str]  # operator, input type, output type
Questions = Mapping[Types, Sequence[Case]]


Tell = Callable[["FoundBackend"], None]


@dataclass
class FoundBackend:
    """A backend as it answered: `problem` says why it did not load, `accepts` lists the types it ran, by operator."""

    spec: str
    name: str = ""
    version: str = ""
    problem: str = ""
    accepts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    on_request: bool = False  # not asked
    claims: Claims = field(default_factory=Claims)
    python: str = ""  # the version of its interpreter
    environment: str = ""  # the name of its own environment, if it has one
    unasked: int = 0  # pairs of types that were not asked, or not often enough to say that they are refused

    @property
    def command(self) -> str:
        """The command that installs it; empty if it is installed."""
        return install_command(self.spec) if NOT_INSTALLED in self.problem else ""

    @property
    def device(self) -> str:
        return "CUDA" if self.spec in FOR_DEVICES else "CPU"

    @property
    def whereabouts(self) -> str:
        """Release, environment, Python and device, in a few words."""
        python = f"Python {self.python}" if self.python else ""
        return ", ".join(text for text in (self.version, self.environment, python, self.device) if text)


def questions() -> Questions:
    """A few golden vectors of different nodes for every operator and pair of types."""
    found: dict[Types, list[Case]] = {}
    for operator, input_type, output_type in all_files():
        plain_type = output_type.partition("-")[0]
        cases = plainest_cases(VECTORS / file_name(operator, input_type, output_type), NODES_EACH)
        found.setdefault((operator, input_type, plain_type), []).extend(cases)
    return found


def ask_library(specs: Sequence[str], to_ask: Future[Questions], tell: Tell, seconds: float) -> list[FoundBackend]:
    """Ask a library's configurations one after the other, in one process: to import it takes longer than to ask."""
    found, last = [], IsolatedBackend(specs[0])
    try:
        for spec in specs:
            before, last = last, IsolatedBackend(spec)
            found.append(ask(last, before, to_ask, seconds))
            tell(found[-1])
    finally:
        end(last)
    return found


def ask(backend: IsolatedBackend, before: IsolatedBackend, to_ask: Future[Questions], seconds: float) -> FoundBackend:
    """Start the backend and run the cases of each pair of types until one succeeds, or until the time is over."""
    problem, asked = problem_of_start(backend, before), to_ask.result()
    own = None if problem else environment_of(backend.spec)
    found = FoundBackend(backend.spec, backend.name, backend.version, problem)
    if not problem:
        found.claims, found.python = backend.claims, own.python if own else PYTHON
        found.environment = f"environment {own.name}" if own else ""
    taken, found.unasked = (set(), 0) if problem else accepted(backend, asked, seconds)
    for operator, input_type, output_type in asked:
        if (operator, input_type, output_type) in taken:
            found.accepts[operator].append(f"{input_type} to {output_type}")
    return found


def libraries(specs: Sequence[str]) -> list[list[str]]:
    """The specs whose backends may share a process: configurations of a library, but for what its environment says."""
    found: dict[str, list[str]] = defaultdict(list)
    for spec in slow_first(specs):
        library = extra_of(spec)
        found[spec if library in BY_ENVIRONMENT or ":" in spec else library].append(spec)
    return list(found.values())


def end(backend: IsolatedBackend) -> None:
    """End the worker. Libraries take a second to end by themselves, for nothing; a user's own backend is let do so."""
    if ":" in backend.spec:
        backend.close()
    else:
        backend.stop()


def problem_of_start(backend: IsolatedBackend, before: IsolatedBackend) -> str:
    """Why the backend did not load; empty if it did. It takes the worker of the one `before`, if that has one."""
    try:
        backend.start_in(before)
    except TiebreakError as error:
        return str(error)
    return ""


def accepted(backend: IsolatedBackend, asked: Questions, seconds: float) -> tuple[set[Types], int]:
    """The types of which the backend runs a case: the first cases of all types, then the second ones …

    Also the number of pairs of types that were neither run nor refused when the seconds were over.
    """
    claimed = by_turns([types for types in asked if backend.operators is None or types[0] in backend.operators])
    taken: set[Types] = set()
    ends = monotonic() + seconds
    for number in range(max(map(len, asked.values()), default=0)):
        left = [types for types in claimed if types not in taken and number < len(asked[types])]
        for start in range(0, len(left), AT_ONCE):
            if monotonic() > ends:
                waiting = {*left[start:], *(types for types in left if len(asked[types]) > number + 1)}
                return taken, len(waiting - taken)
            some = left[start : start + AT_ONCE]
            outcomes = backend.run_batch([asked[types][number] for types in some])
            taken |= {types for types, outcome in zip(some, outcomes, strict=True) if outcome.status == "ok"}
    return taken, 0


def by_turns(every: Sequence[Types]) -> list[Types]:
    """The first types of each operator, then the second ones …"""
    of_operator = [[types for types in every if types[0] == name] for name in dict.fromkeys(one[0] for one in every)]
    return [types for row in itertools.zip_longest(*of_operator) for types in row if types is not None]


def ask_all(
    specs: Sequence[str], make: Callable[[], Questions] = dict, seconds: float = math.inf
) -> list[FoundBackend]:
    """Ask backends side by side what `make` gives, which is made while they load; a line tells when each has answered.

    Without questions they only load. `seconds` is the most for one backend, beside one batch of questions.
    """
    one_by_one = Lock()

    def tell(one: FoundBackend) -> None:
        with one_by_one:
            lines.done(f"{one.spec} {one.version or 'is not there'}")

    with DoneLines(len(specs), "backends") as lines, ThreadPoolExecutor(ASKED_AT_ONCE + 1) as pool:
        to_ask = pool.submit(make)
        asked = [pool.submit(ask_library, own, to_ask, tell, seconds) for own in libraries(list(dict.fromkeys(specs)))]
        found = {one.spec: one for future in as_completed(asked) for one in future.result()}
    return [found[spec] for spec in specs]


def slow_first(specs: Iterable[str]) -> list[str]:
    return sorted(specs, key=lambda spec: not spec.startswith(SLOW))


def list_backends(names: Sequence[str], *, every: bool, as_json: bool) -> None:
    """Print the named backends with operators and types, or the registered ones, which are asked only if `every`.

    Raises MachineryFailed at the end if a named one does not load.
    """
    specs = [check_spec(name) for name in names]
    found = ask_all(specs, questions) if names else all_asked() if every else all_installed()
    print_backends(names, found, every=every, as_json=as_json)
    if names and (failed := [backend for backend in found if backend.problem]):
        raise MachineryFailed(failed[0].problem)


def print_backends(names: Sequence[str], found: Sequence[FoundBackend], *, every: bool, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"backends": [as_row(backend) for backend in found]}))
        return
    table = Table()
    for name in ("backend", "release, Python, device", "accepts, or why it is not there"):
        table.add_column(name, overflow="fold")
    for backend in found:
        accepts = (
            "installed" if not (names or every) else claims_and_types(backend) if names else operators_counted(backend)
        )
        accepts = f"runs where it is named: -b {backend.spec}" if backend.on_request else accepts
        table.add_row(
            terminal_label(backend.spec),
            terminal_label(backend.whereabouts, 200),
            terminal_label(backend.problem, 1000) or accepts,
        )
    Console().print(table)
    if every:
        print("(n): pairs of input and output types; *: no claim of its own, but the same operation")
    if not names:
        print("tiebreak backends -b BACKEND names the types and the documents")


def all_asked() -> list[FoundBackend]:
    """Every registered backend: those that run where none is named, as they answered, then the others."""
    there = usual()
    found = ask_all([*there, *FOR_DEVICES], questions, ASKED_SECONDS)
    found += [absent(spec) for spec in registered() if spec not in (*there, *ON_REQUEST)]
    return found + [not_asked(spec, found) for spec in ON_REQUEST if spec not in FOR_DEVICES]


def all_installed() -> list[FoundBackend]:
    """Every registered backend, those that are installed first."""
    return sorted(map(installed, registered()), key=lambda one: bool(one.problem))


def installed(spec: str) -> FoundBackend:
    """A registered backend as metadata tell it: a start of its library takes seconds, so nothing is started."""
    try:
        own = environment_of(spec)
    except TiebreakError as error:
        return FoundBackend(spec, spec, problem=str(error))
    on_request, point = spec in ON_REQUEST, registered()[spec]
    if own:
        return FoundBackend(
            spec, spec, own.version, python=own.python, environment=f"environment {own.name}", on_request=on_request
        )
    if spec in WITHOUT_LIBRARY:
        release = ""
    elif not entry_point(spec).startswith(OWN):
        release = point.dist.version if point.dist else ""
    elif not (release := release_beside(spec)):
        return absent(spec)
    return FoundBackend(spec, spec, release, python=PYTHON, on_request=on_request)


def not_asked(spec: str, found: Sequence[FoundBackend]) -> FoundBackend:
    """A backend that runs only where it is named: its library is there, or not, as another one's is."""
    other = next(one for one in found if one.spec == library_of(spec))
    return FoundBackend(spec, spec, other.version, other.problem, on_request=True)


def absent(spec: str) -> FoundBackend:
    """A backend with a library in APART that is not installed."""
    return FoundBackend(spec, spec, problem=f"{NOT_INSTALLED}: {install_command(spec)}")


def as_row(backend: FoundBackend) -> dict[str, object]:
    return {
        "backend": backend.spec,
        "installed": not backend.problem,
        "on_request": backend.on_request,
        "version": backend.version,
        "python": backend.python,
        "environment": backend.environment.removeprefix("environment "),
        "device": backend.device,
        "claims": dict(backend.claims.documents),
        "maps": dict(backend.claims.maps),
        "operators": sorted(backend.accepts),
        "accepts": dict(backend.accepts),
        "not_asked": backend.unasked,
        "message": backend.problem,
        "install": backend.command,
    }


def operators_counted(backend: FoundBackend) -> str:
    """Operators with their number of pairs of types, for the list of all backends; -b names the types."""
    counted = (
        f"{operator}{mapped_mark(backend, operator)} ({len(types)})" for operator, types in backend.accepts.items()
    )
    asked = ", ".join(counted) or "nothing"
    more = f"; {backend.unasked} more to ask, in longer than {ASKED_SECONDS:g} s: -b {backend.spec}"
    return asked + (more if backend.unasked else "")


def mapped_mark(backend: FoundBackend, operator: str) -> str:
    return "*" if operator in backend.claims.maps else ""


def claims_and_types(backend: FoundBackend) -> str:
    """Operators with their types, then by which document each is judged."""
    claimed = [f"claims {operator}: {document}" for operator, document in backend.claims.documents.items()]
    mapped = [f"no claim, but the same as {operator}: {why}" for operator, why in backend.claims.maps.items()]
    shown = (terminal_label(line, 400) for line in (*claimed, *mapped))
    return "\n".join((types_by_operator(backend), *shown))


def types_by_operator(backend: FoundBackend) -> str:
    """Operators with their pairs of types, grouped by input type."""
    return "\n".join(f"{operator}: {types_by_input(types)}" for operator, types in backend.accepts.items()) or "nothing"


def types_by_input(types: Sequence[str]) -> str:
    pairs = [text.split(" to ") for text in types]
    groups = itertools.groupby(sorted(pairs), key=lambda pair: pair[0])
    return "; ".join(f"{source} to {', '.join(target for _, target in group)}" for source, group in groups)


@dataclass(frozen=True)
class Checkup:
    """One thing that the doctor checked. `state` is ok, missing, changed or broken; `advice` is what to type."""

    what: str
    state: str
    advice: str = ""


def diagnose(*, as_json: bool) -> int:
    """Print what is missing, and settings that may change results; exit code 3 if something installed is broken."""
    findings = list(findings_here())
    if as_json:
        print(json.dumps({"findings": [vars(finding) for finding in findings]}))
    else:
        table = Table()
        for name in ("what", "state", "what to type"):
            table.add_column(name, overflow="fold")
        for finding in findings:
            table.add_row(terminal_label(finding.what, 300), finding.state, terminal_label(finding.advice, 300))
        Console().print(table)
    return EXIT_FAILED if any(finding.state == "broken" for finding in findings) else EXIT_CONFORMS


def findings_here() -> Iterator[Checkup]:
    yield Checkup(f"Python {PYTHON}", "ok" if sys.version_info >= (3, 11) else "broken", "")
    yield kernel_finding()
    yield cache_finding(CaseCache())
    yield from backend_findings()
    yield from setting_findings()
    compiler = shutil.which("cc")
    yield Checkup(
        "C compiler (for exec: programs in C)", "ok" if compiler else "missing", "" if compiler else INSTALL_CC
    )


INSTALL_CC = "apt install gcc"
KERNEL = "reference kernel and golden vectors"
# Environment variables that change what the runtimes do, also in a worker.
SETTINGS = ("TF_ENABLE_ONEDNN_OPTS", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "OMP_NUM_THREADS", "MKL_CBWR")


def kernel_finding() -> Checkup:
    """Whether the compiled kernel gives the results of a stored golden vector."""
    from tiebreak.conformance.judging.truths import truths_of
    from tiebreak.golden.operators.onnx_quantize_linear import OPERATOR

    try:
        case = plainest_cases(VECTORS / file_name(OPERATOR.id, "float32", "uint8"), 1)[0]
        truths_of(case)
    except (TiebreakError, ImportError, OSError) as error:
        return Checkup(
            f"reference kernel and golden vectors: {error}", "broken", "pip install --force-reinstall tiebreak"
        )
    return Checkup("reference kernel and golden vectors", "ok")


def cache_finding(cache: CaseCache) -> Checkup:
    """Where cases are kept that need not be made again, and how much that is."""
    if cache.writable_folder() is None:
        return Checkup(f"cache of cases, can't be written: {cache.folder}", "missing", "export XDG_CACHE_HOME=FOLDER")
    size = sum(size for _, _, size in cache.entries())
    return Checkup(f"cache of cases, {size / 1e6:.0f} MB: {cache.folder}", "ok")


def backend_findings() -> Iterator[Checkup]:
    for found in ask_all(usual()):
        if not found.problem:
            yield Checkup(f"{found.spec} {found.version}", "ok")
        elif found.command:
            yield Checkup(found.spec, "missing", found.command)
        else:
            yield Checkup(f"{found.spec}: {found.problem}", "broken", f"pip install --force-reinstall {found.spec}")


def setting_findings() -> Iterator[Checkup]:
    for name in SETTINGS:
        if name in os.environ:
            yield Checkup(f"{name}={os.environ[name]} may change what runtimes do", "changed", f"unset {name}")
    if os.environ.get("PYTHONPATH"):
        yield Checkup("PYTHONPATH is set: workers import from there too", "changed", "unset PYTHONPATH")
