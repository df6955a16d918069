"""Faults of every kind: the run ends, the guilty case is named for what it did, and all others are as they would be."""

from __future__ import annotations

import re
import shutil
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from tiebreak.adapters import isolation
from tiebreak.adapters.arena import Arena, WrittenOver
from tiebreak.adapters.faults import CRASHES_AT_FIRST, CRASHES_IN_A_ROW, OF_ONE_NODE, Faults
from tiebreak.adapters.float_mode import LAYOUT
from tiebreak.adapters.isolation import IsolatedBackend, WorkerProcess
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.process_state import ProcessState
from tiebreak.conformance.running import backends
from tiebreak.conformance.running.backends import run_cases
from tiebreak.conformance.running.outcomes import SAMPLE, sample_of
from tiebreak.conformance.running.recorded_tables import CaseTexts, result_table
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.reports.rows import result_rows

HERE = Path(__file__).parent
FAULTS, SPOILERS, SOUND = "sample_faults.py", "sample_spoilers.py", "sample_backends.py"
FINE = ("exact", "", "^$")


def crash(message: str) -> tuple[str, str, str]:
    return "crash", "crash", message


def error(fault: str, message: str) -> tuple[str, str, str]:
    return "error", fault, message


def memory(verdict: str = "crash") -> tuple[str, str, str]:
    return verdict, "out of memory", "MiB of memory, the limit is 700 MiB|MemoryError"


CHANGED = {  # what is left changed and would falsify numbers
    "rounds_upward": error("left changed", r"^run\(\) left the rounding direction changed$"),
    "rounds_toward_zero": error("left changed", r"^run\(\) left the rounding direction changed$"),
    "flushes": error("left changed", r"^run\(\) left the flushing of subnormals changed$"),
}
TABLE: dict[str, tuple[str, dict[str, tuple[str, str, str]]]] = {
    "how a process ends": (
        FAULTS,
        {
            "exits_in_a_thread": crash("ended with exit status 5"),
            **{f"sig{name}": crash(f"killed by SIG{name.upper()}$") for name in ("term", "hup", "alrm", "xcpu")},
            **{f"sig{name}": crash(f"killed by SIG{name.upper()}") for name in ("int", "usr1", "fpe")},
            "sigkill": crash("killed by SIGKILL; perhaps by the system, which so gets memory back"),
            "sigpipe": FINE,
            "overflows_the_stack": crash("killed by SIGSEGV"),
            "outputs_that_kill_when_let_go": crash("killed by SIGABRT"),
            "hangs_when_it_ends": FINE,
            "traps_floating_point": crash("killed by SIGFPE"),
        },
    ),
    "what run raises": (
        FAULTS,
        {
            "system_exit": error("exception", "^SystemExit: 0 "),
            "keyboard_interrupt": error("exception", "^KeyboardInterrupt"),
            "generator_exit": error("exception", "^GeneratorExit"),
            "stop_iteration": error("exception", "^StopIteration"),
            "base_exception": error("exception", "^Lethal"),
            "memory_error": memory("error"),
            "unspeakable": error("exception", r"\(its text can't be had: ValueError\)"),
            "huge_text": error("exception", "^RuntimeError: x{1000}"),
            "group": error("exception", "^ExceptionGroup: many"),
            "broken_pipe": error("exception", "^BrokenPipeError"),
            "time_out": error("exception", "^TimeoutError"),
            "recurses": error("exception", "^RecursionError"),
        },
    ),
    "outputs that are sound": (
        FAULTS,
        dict.fromkeys(
            (
                "subclass", "memmap", "read_only", "strided", "backward", "changes_its_output_later",
                "reuses_its_output", "output_is_an_input", "writes_to_inputs", "resizes_inputs",
            ),
            FINE,
        ),
    ),
    "outputs that are not": (
        FAULTS,
        {
            "masked": error("wrong output", "a masked array"),
            "matrix": error("wrong output", r"shape \[1, 7\]"),
            "structured": error("wrong output", "element type 'void8'"),
            "text": error("wrong output", "element type 'str32'"),
            "dates": error("wrong output", r"element type 'datetime64\[s\]'"),
            "long_double": error("wrong output", "element type"),
            "zero_stride": ("deviates", "", "^$"),
            "ten_gigabytes": error("wrong output", r"shape \[10737418240\], more than 2 GiB"),
            "gigabytes_of_floats": error("wrong output", "more than 2 GiB"),
            "many_outputs": error("wrong output", "returned 1000000 outputs"),
            "generator": error("wrong output", "returned generator"),
            "many_axes": error("wrong output", "shape"),
            "named_tuple": error("wrong output", "returned dict"),
            "lying_tuple": error("exception", "no length"),
        },
    ),
    "what is left changed in the process": (
        SPOILERS,
        {
            **(CHANGED if LAYOUT is not None else {}),
            **dict.fromkeys(
                (
                    "numpy_raises", "warnings_raise", "folder", "removed_folder", "environment", "language", "decimals",
                    "umask", "traced", "profiled", "traces_memory", "no_collection", "seeded", "shallow", "alarm",
                    "deaf", "blocked", "no_files", "no_memory", "no_time", "no_size", "no_cores", "nice", "printing",
                ),
                FINE,
            ),
            "bad_tracer": error("exception", "ZeroDivisionError"),
        },
    ),
    "files, streams and shared memory": (
        SPOILERS,
        {
            "closes_all": crash("exit status 1"),
            **dict.fromkeys(("closes_error", "closes_objects", "replaces_streams", "buffers", "no_sockets"), FINE),
            "speaks_on_every_descriptor": error("garbage", "not a reply"),
            "forges_an_answer": error("garbage", "which runs alone, did not answer well: a reply to another case"),
            "overwrites_the_pipe": crash("exit status 0"),
            "floods_every_stream": FINE,
            "writes_over_shared_memory": error("garbage", "while it ran, the shared memory was written over"),
            **dict.fromkeys(("shrinks_shared_memory", "fills_shared_memory"), FINE),
        },
    ),
    "threads and children": (
        SPOILERS,
        {
            **dict.fromkeys(("spins_in_threads", "waits_in_threads", "holds_the_import_lock", "forks_a_daemon"), FINE),
            **dict.fromkeys(("forks_and_answers_twice", "forks_and_raises", "leaves_a_pool"), FINE),
            "grows_in_a_child": memory(),
            "kills_its_parent": crash("killed by SIGKILL"),
        },
    ),
    "other functions in the place of ours": (
        SPOILERS,
        {
            **dict.fromkeys(("no_json", "no_numpy", "no_copy", "no_buffer", "no_clock", "no_counter"), FINE),
            **dict.fromkeys(("no_identity", "no_parent", "has_everything", "fickle"), FINE),
            "no_isinstance": crash("exit status 1"),
            "no_modules": error("exception", ""),
        },
    ),
}  # fmt: skip
HANGS = {
    FAULTS: ("stops_itself", "endless_text"),
    SPOILERS: ("prints_without_end", "holds_the_interpreter"),
}
# In the order in which they run; at the one of 7 elements each does what it does. One scale is no power of two, so that
# it tells how quotients are rounded, and in one case all is subnormal.
SIZES = (1, 2, 6, 7, 8, 3, 5, 4, 6)


def case(number: int, size: int, quantized: str = "uint8") -> Case:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized=quantized)
    x, scale = np.arange(size, dtype=np.float32) / 2, np.array(1, np.float32)
    if size == 5:
        x, scale = (x * 2 ** np.float32(-148)).astype(np.float32), np.array(2.0**-149, np.float32)
    if size == 8:
        x, scale = x * np.float32(0.1), np.array(0.1, np.float32)
    return Case(f"case-{number}", node, (x, scale, np.array(3).astype(node.inputs[2].dtype)))


CASES = [case(number, size) for number, size in enumerate(SIZES)]
GUILTY = CASES[SIZES.index(7)].id


def rows_of(file: str, names: list[str], cases: list[Case], time_limit: float) -> dict[str, list[dict[str, Any]]]:
    """What a run of these backends side by side records, by attribute."""
    specs = [f"{HERE / file}:{name}" for name in names]
    records = run_cases(specs, cases, time_limit=time_limit, memory_limit=700, facts={})
    rows = [dict(row) for row in result_rows(records.results)]
    given = {str(facts["spec"]).rpartition(":")[2]: facts["name"] for facts in records.info["backends"]}
    return {name: [row for row in rows if row["backend"] == given[name]] for name in names}


def without(row: dict[str, Any]) -> dict[str, Any]:
    """A row but for whose it is and how long it took."""
    return {name: value for name, value in row.items() if name not in ("backend", "version", "seconds")}


@pytest.fixture(scope="module")
def sound() -> list[dict[str, Any]]:
    (found,) = rows_of(SOUND, ["sound"], CASES, 30.0).values()
    assert {row["verdict"] for row in found} <= {"exact", "working-precision"}
    return [without(row) for row in found]


def assert_named_and_nothing_else_touched(
    rows: list[dict[str, Any]], wanted: tuple[str, str, str], sound: list[dict[str, Any]], name: str
) -> None:
    assert [row["case"] for row in rows] == [case.id for case in CASES], name
    (guilty,) = (row for row in rows if row["case"] == GUILTY)
    verdict, fault, message = wanted
    assert (guilty["verdict"], guilty["fault"]) == (verdict, fault), (name, guilty["message"])
    assert re.search(message, guilty["message"]), (name, guilty["message"])
    assert "\n" not in guilty["message"] and len(guilty["message"]) <= 3000, name
    assert all(0 <= row["seconds"] < 600 for row in rows), name
    others = [without(row) for row in rows if row["case"] != GUILTY]
    assert others == [row for row in sound if row["case"] != GUILTY], name


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", TABLE)
def test_a_fault_is_named_and_damages_no_other_case(kind: str, sound: list[dict[str, Any]]) -> None:
    file, faults = TABLE[kind]
    names = list(faults)
    for start in range(0, len(names), 8):
        found = rows_of(file, names[start : start + 8], CASES, 30.0)
        for name, rows in found.items():
            assert_named_and_nothing_else_touched(rows, faults[name], sound, name)


@pytest.mark.few(1)
@pytest.mark.parametrize("file", HANGS)
def test_what_never_answers_is_a_timeout(file: str, sound: list[dict[str, Any]]) -> None:
    for name, rows in rows_of(file, list(HANGS[file]), CASES, 2.0).items():
        assert_named_and_nothing_else_touched(rows, ("timeout", "hang", "no answer within 2 s"), sound, name)


def test_a_daemon_ends_with_the_worker(tmp_path: Path) -> None:
    for file in HERE.glob("sample_*.py"):  # other tests may run the same backend at the same time
        shutil.copy(file, tmp_path)
    own = str(tmp_path / SPOILERS)
    rows_of(own, ["forks_a_daemon"], CASES, 30.0)
    spec = f"{own}:forks_a_daemon"
    started = [found for found in psutil.process_iter(["cmdline"]) if spec in (found.info["cmdline"] or ())]
    _, left = psutil.wait_procs(started, timeout=10)  # what was killed takes a moment to be gone
    assert [found for found in left if found.status() != psutil.STATUS_ZOMBIE] == []


def test_there_are_many_kinds() -> None:
    assert sum(len(faults) for _, faults in TABLE.values()) + 4 > 90


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "verdict", "fault", "message"),
    [
        ("exits_in_compile", "error", "exception", "SystemExit: 0"),
        ("rounds_in_compile", "error", "left changed", r"compile\(\) left the rounding direction changed"),
        ("interrupts_in_compile", "crash", "crash", "killed by SIGINT"),
        ("hangs_in_compile", "timeout", "hang", "no answer within 3 s"),
    ],
)
def test_a_fault_in_compile_costs_its_node_alone(name: str, verdict: str, fault: str, message: str) -> None:
    cases = [case(number, 3 + number // 2, ("int8", "uint8")[number % 2]) for number in range(8)]
    (rows,) = rows_of(SPOILERS, [name], cases, 3.0).values()
    assert [row["verdict"] for row in rows[1::2]] == ["exact"] * 4
    assert {(row["verdict"], row["fault"]) for row in rows[::2]} == {(verdict, fault)}
    assert all(re.search(message, row["message"]) for row in rows[::2])


def test_a_clock_that_jumps_changes_nothing(monkeypatch: pytest.MonkeyPatch, sound: list[dict[str, Any]]) -> None:
    jumps = iter([0.0, 4e9, -4e9, 1e18] * 100_000)
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    (rows,) = rows_of(SOUND, ["aborts"], CASES, 30.0).values()
    assert_named_and_nothing_else_touched(rows, crash("killed by SIGABRT; about to abort"), sound, "aborts")


# The process's state, in our own process.


def test_nothing_is_lost_where_nothing_changed() -> None:
    assert ProcessState().put_back() == ([], False)


def test_checksums_tell_what_was_written_over() -> None:
    arena = Arena()
    there = arena.put([np.arange(9.0)])
    assert arena.get(there)[0][8] == 8
    arena.memory[there["at"] + 3] ^= 1
    with pytest.raises(WrittenOver):
        arena.get(there)
    arena.close()


# What crashes cost: starts of a worker, since time depends on the machine.


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    found: list[None] = []
    begin = WorkerProcess.__init__

    def counted(*arguments: Any, **named: Any) -> None:
        found.append(None)
        begin(*arguments, **named)

    monkeypatch.setattr(WorkerProcess, "__init__", counted)
    return found


def test_a_backend_that_never_answers_is_given_up_after_a_few_crashes(starts: list[None]) -> None:
    cases = [case(number, 1 + number % 9) for number in range(60)]
    (rows,) = rows_of(SOUND, ["always_aborts"], cases, 30.0).values()
    assert [row["case"] for row in rows] == [case.id for case in cases]
    assert sum(row["verdict"] == "crash" for row in rows) == CRASHES_AT_FIRST
    assert sum(row["fault"] == "given up" for row in rows) == len(cases) - CRASHES_AT_FIRST
    assert len(starts) <= CRASHES_AT_FIRST + 2


def test_those_few_crashes_are_of_cases_from_all_over_the_plan() -> None:
    cases = [case(number, 1) for number in range(1000)]
    sample = [int(found.id.removeprefix("case-")) for found in sample_of(cases)]
    assert (sample[0], sample[-1], len(sample)) == (0, 999, SAMPLE)
    assert max(b - a for a, b in pairwise(sample)) <= 67
    assert sample_of(cases[:5]) == cases[:5]


@pytest.mark.slow
def test_a_crash_of_one_node_costs_a_worker_for_each_case_and_gives_nobody_up(starts: list[None]) -> None:
    many = CRASHES_IN_A_ROW + 2
    cases = [case(number, 2, kind) for number, kind in enumerate(["uint8", *["int8"] * many, "uint8"])]
    (rows,) = rows_of(SOUND, ["aborts_at_int8"], cases, 30.0).values()
    assert [row["verdict"] for row in rows] == ["exact", *["crash"] * many, "exact"]
    assert len(starts) <= many + 3


def test_a_backend_that_spoils_its_process_always_costs_few_workers(
    starts: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "MOST_SPOILED", 2)
    cases = [case(number, 7) for number in range(20)]
    (rows,) = rows_of(SPOILERS, ["closes_objects"], cases, 30.0).values()
    assert {row["verdict"] for row in rows} == {"exact"}
    assert len(starts) == 3


def crashed(faults: Faults, node: str, times: int) -> Faults:
    for _ in range(times):
        faults.note(Outcome("crash", fault="crash"), node)
    return faults


def test_giving_up_goes_by_outcomes_alone() -> None:
    assert not crashed(Faults(), "a", CRASHES_AT_FIRST - 1).too_many(10.0)
    assert crashed(Faults(), "a", CRASHES_AT_FIRST).too_many(10.0)
    alive = Faults()
    alive.note(Outcome("ok"), "a")
    assert not crashed(alive, "a", 10 * CRASHES_IN_A_ROW).too_many(10.0)
    for number in range(CRASHES_IN_A_ROW // OF_ONE_NODE - 1):
        assert not crashed(alive, f"other {number}", OF_ONE_NODE - 1).too_many(10.0)
        crashed(alive, f"other {number}", 1)
    assert alive.too_many(10.0)


def test_a_part_of_a_run_that_was_stopped_counts_when_it_goes_on() -> None:
    backend = IsolatedBackend("never started")
    for number in range(CRASHES_AT_FIRST):
        backend.recall(f"node {number}", Outcome("crash", fault="crash", compiling=not number))
    assert backend.faults.too_many(10.0)
    assert list(backend.refused) == ["node 0"]
    assert (backend.refused["node 0"].refused, backend.refused["node 0"].compiling) == (True, False)


# A run that is stopped after any case and goes on.


def results_of(specs: list[str], cases: list[Case], folder: Path) -> list[dict[str, Any]]:
    with backends.running_backends(specs, time_limit=5.0, memory_limit=4096, in_process=False) as running:
        done = backends.run_all(running, cases, folder)
    return [without(dict(row)) for row in result_rows(result_table(done, CaseTexts(done)))]


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("aborts", "aborts_at_int8", "hangs")]


@pytest.mark.parametrize("name", ["compiles_badly", "always_aborts", *SLOW])
def test_faults_are_the_same_in_a_run_that_was_stopped_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, kinds = f"{HERE / SOUND}:{name}", ("int8", "int8", "uint8")
    cases = [case(number, size, kinds[number % 3]) for number, size in enumerate((2, 3, 1, 4, 7, 6, 8))]
    (tmp_path / "whole").mkdir()
    whole = results_of([spec], cases, tmp_path / "whole")
    assert [row["case"] for row in whole] == [case.id for case in cases]
    assert any(row["fault"] for row in whole)
    written = backends.Journal.add
    for stop in (1, 4):
        folder = tmp_path / str(stop)
        folder.mkdir()
        added: list[None] = []

        def add(*arguments: Any, stop: int = stop, added: list[None] = added) -> None:
            if len(added) == stop:
                raise KeyboardInterrupt
            added.append(None)
            written(*arguments)

        monkeypatch.setattr(backends.Journal, "add", add)
        with pytest.raises(KeyboardInterrupt):
            results_of([spec], cases, folder)
        monkeypatch.setattr(backends.Journal, "add", written)
        assert results_of([spec], cases, folder) == whole
