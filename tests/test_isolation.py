"""What a backend does wrong costs one case, in a real worker process."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from tiebreak.adapters import frames
from tiebreak.adapters.answering import copied_outputs
from tiebreak.adapters.arena import Arena, WrittenOver
from tiebreak.adapters.batches import batches
from tiebreak.adapters.faults import CRASHES_IN_A_ROW, HANG_SECONDS, MOST_CRASHES
from tiebreak.adapters.in_process import InProcessBackend
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import check_spec, registered
from tiebreak.conformance.judging.judge import output_problem
from tiebreak.conformance.running.backends import run_cases
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.verdicts import VERDICTS
from tiebreak.reports.rows import result_rows

SAMPLES = Path(__file__).parent / "sample_backends.py"


@contextmanager
def worker(attribute: str, time_limit: float = 30.0, memory_limit: int = 4096) -> Iterator[IsolatedBackend]:
    backend = IsolatedBackend(f"{SAMPLES}:{attribute}", time_limit, memory_limit)
    try:
        backend.start()
        yield backend
    finally:
        backend.close()


def case(size: int, quantized: str = "uint8") -> Case:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized=quantized)
    x = np.arange(size, dtype=np.float32) / 2
    return Case(f"case-{size}", node, (x, np.array(1, np.float32), np.array(3).astype(node.inputs[2].dtype)))


def test_outputs_come_back_bit_for_bit_and_metadata_is_known() -> None:
    with worker("sound") as backend:
        assert (backend.name, backend.version, backend.operators) == ("sound", "1.0", {"onnx.QuantizeLinear"})
        outcome = backend.run(case(6))
        assert outcome.status == "ok"
        assert outcome.outputs[0].tolist() == [3, 3, 4, 5, 5, 5]
        assert output_problem(case(6), outcome.outputs) == ""
        assert backend.run(case(0)).outputs[0].shape == (0,)


def test_a_backend_may_write_into_its_inputs() -> None:
    with worker("writer") as backend:
        assert backend.run(case(6)).status == "ok"


def test_a_function_is_called_for_its_backend() -> None:
    with worker("factory") as backend:
        assert backend.name == "made"


FAULTS = [
    ("aborts", "crash", "crash", "killed by SIGABRT; .*about to abort"),
    ("segfaults", "crash", "crash", "killed by SIGSEGV"),
    ("forks", "crash", "crash", "killed by SIGABRT"),
    ("leaves", "crash", "crash", "exit status 3"),
    ("closes_pipe", "crash", "closed its pipe", "closed its pipe and went on"),
    ("hangs", "timeout", "hang", "no answer within 1.5 s"),
    ("starts_children", "timeout", "hang", "no answer within 1.5 s"),
    ("hogs", "crash", "out of memory", r"the worker held \d+ MiB of memory, the limit is 600 MiB"),
    ("allocates_too_much", "error", "out of memory", "MemoryError"),
    ("flickers", "error", "outputs change", "between two identical calls: output 0, element 3: 0x1, then 0x2"),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("attribute", "status", "fault", "message"), FAULTS)
def test_fault_costs_one_case_of_its_batch_and_is_named(attribute: str, status: str, fault: str, message: str) -> None:
    sizes = [1, 2, 6, 7, 8, 3]
    with worker(attribute, time_limit=1.5 if fault == "hang" else 30.0, memory_limit=600) as backend:
        outcomes = backend.run_batch([case(size) for size in sizes])
        assert [outcome.status for outcome in outcomes] == ["ok", "ok", "ok", status, "ok", "ok"]
        assert (outcomes[3].fault, re.search(message, outcomes[3].message) is not None) == (fault, True), outcomes[3]
        assert [outcome.outputs[0].size for outcome in outcomes if outcome.status == "ok"] == [1, 2, 6, 8, 3]


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("raises", "RuntimeError: <b>no & never</b> second line"),
        ("raises", "(at sample_backends.py:"),
        ("no_tuple", "run() returned str, not a tuple of numpy arrays"),
        ("objects", "element type 'object'"),
        ("compiles_nothing", "compile() returned NoneType, not a function"),
    ],
)
def test_exceptions_and_what_is_no_tensor_are_errors(attribute: str, message: str) -> None:
    with worker(attribute) as backend:
        outcome = backend.run(case(7))
        assert (outcome.status, outcome.fault) == ("error", "exception" if attribute == "raises" else "wrong output")
        assert message in outcome.message


def test_a_node_whose_compilation_crashes_costs_that_node_alone() -> None:
    cases = [case(size, kind) for size in range(60) for kind in ("int8", "uint8")]
    with worker("compiles_badly") as backend:
        outcomes = backend.run_batch(cases)
        assert [outcome.status for outcome in outcomes] == ["crash", "ok"] * 60
        assert "SIGABRT" in outcomes[0].message
        assert "not run, since compiling the node did this" in outcomes[2].message
        assert backend.faults.crashes == 1


def test_outputs_of_another_byte_order_are_the_same_numbers() -> None:
    (output,) = copied_outputs((np.array([1.5, -2.0], ">f4"),))
    assert output.tobytes() == np.array([1.5, -2.0], "<f4").tobytes()


def test_text_that_no_file_can_hold_is_replaced() -> None:
    with worker("surrogates") as backend:
        outcome = backend.run(case(6))
        for text in (backend.name, outcome.message, *backend.attestation([]).values()):
            assert "\ud800" not in text
        assert "bad ? text" in outcome.message


def test_a_child_that_the_backend_forks_and_lets_return_answers_nothing() -> None:
    with worker("forks_and_returns") as backend:
        assert [outcome.status for outcome in backend.run_batch([case(size) for size in (7, 6, 7, 6)])] == ["ok"] * 4


def test_what_a_hanging_backend_started_ends_with_it() -> None:
    with worker("starts_children", time_limit=1.0) as backend:
        assert backend.run(case(6)).status == "ok"
        assert backend.run(case(7)).status == "timeout"
        ours = ["sleep", f"3600.{os.getpid()}"]
        assert [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ours] == []


def test_a_leak_of_many_cases_costs_a_new_worker_and_no_case() -> None:
    with worker("leaks", memory_limit=500) as backend:
        assert backend.run(case(6)).status == "ok"
        assert backend.worker is not None
        first = backend.worker.process
        outcomes = backend.run_batch([case(size) for size in range(1, 40)])
        assert {outcome.status for outcome in outcomes} == {"ok"}
        assert first.poll() is not None


def test_the_case_that_makes_a_later_one_crash_is_found_and_blamed() -> None:
    cases = [case(size) for size in (1, 2, 7, 3, 4, 5, 6, 8)]
    with worker("avenges") as backend:
        outcomes = backend.run_batch(cases)
        assert [outcome.status for outcome in outcomes] == ["ok", "ok", "crash", *["ok"] * 5]
        assert "case-6, which runs alone, ended the worker" in outcomes[2].message
        assert "SIGABRT" in outcomes[2].message


def test_a_culprit_of_an_earlier_batch_is_named_beside_the_case_that_it_broke() -> None:
    with worker("avenges") as backend:
        assert [outcome.status for outcome in backend.run_batch([case(1), case(7)])] == ["ok", "ok"]
        (outcome,) = backend.run_batch([case(6)])
        assert outcome.status == "crash"
        assert "(after case-7; alone it runs)" in outcome.message


def test_what_a_backend_prints_does_not_break_frames() -> None:
    with worker("chatters") as backend:
        assert backend.run(case(6)).status == "ok"


def test_unsupported_carries_the_reason_alone() -> None:
    with worker("sound") as backend:
        outcome = backend.run(case(6, "int16"))
        assert (outcome.status, outcome.message) == ("unsupported", "float32 to 8 bits only")


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        ("wrong_type", "output of type int64, the node says uint8"),
        ("wrong_shape", "output of shape [5], [6] is wanted"),
        ("two_outputs", "2 outputs, the node has 1"),
    ],
)
def test_wrong_number_type_or_shape_is_seen(attribute: str, problem: str) -> None:
    with worker(attribute) as backend:
        assert output_problem(case(6), backend.run(case(6)).outputs) == problem


def test_a_backend_that_keeps_crashing_is_given_up_and_says_so() -> None:
    with worker("aborts") as backend:
        backend.faults.crashes = MOST_CRASHES
        outcome = backend.run(case(6))
        assert (outcome.status, outcome.fault) == ("error", "given up")
        assert f"given up after {MOST_CRASHES} crashes" in outcome.message


def test_crashes_between_answers_do_not_end_the_run_but_those_in_a_row_do() -> None:
    with worker("aborts") as backend:
        backend.faults.crashes = backend.faults.crashes_in_a_row = CRASHES_IN_A_ROW - 1
        assert [outcome.status for outcome in backend.run_batch([case(6), case(7), case(6)])] == ["ok", "crash", "ok"]
        backend.faults.crashes_in_a_row = CRASHES_IN_A_ROW - 1
        found = backend.run_batch([case(7), case(6), case(5)])
        assert [outcome.status for outcome in found] == ["crash", "error", "error"]
        assert f"given up after {CRASHES_IN_A_ROW + 1} crashes" in found[-1].message


def test_hanging_is_given_up_by_the_time_that_it_took() -> None:
    with worker("hangs", time_limit=0.4) as backend:
        backend.faults.hangs = int(HANG_SECONDS / 0.4) - 1
        assert [outcome.status for outcome in backend.run_batch([case(6), case(7), case(6)])] == [
            "ok",
            "timeout",
            "error",
        ]


def test_a_backend_that_does_not_start_again_is_given_up() -> None:
    with worker("sound") as backend:
        backend.stop()
        backend.spec = f"{SAMPLES}:fails"
        outcomes = backend.run_batch([case(size) for size in range(6)])
        assert [outcome.fault for outcome in outcomes] == ["did not start again"] * 3 + ["given up"] * 3
        assert "OSError: no device" in outcomes[0].message
        assert "failed to start 3 times" in outcomes[-1].message


def test_every_planned_case_has_a_verdict_whatever_the_backends_do() -> None:
    cases = [case(size % 11) for size in range(90)]
    cases = [replace(found, id=f"case-{i}") for i, found in enumerate(cases)]
    specs = [
        f"{SAMPLES}:{name}" for name in ("sound", "aborts", "hangs", "flickers", "raises", "avenges", "wrong_shape")
    ]
    records = run_cases(specs, cases, time_limit=0.5, facts={})
    rows = result_rows(records.results)
    counted = Counter(row["backend"] for row in rows)
    assert counted == dict.fromkeys(("sound", "aborts", "hangs", "flickers", "raises", "avenges", "wrong shape"), 90)
    assert {row["verdict"] for row in rows} <= set(VERDICTS)
    named = {(row["backend"], row["fault"]) for row in rows if row["fault"]}
    assert named >= {("hangs", "hang"), ("aborts", "crash"), ("flickers", "outputs change"), ("raises", "exception")}
    assert ("wrong shape", "wrong output") in named


def test_in_process_gives_the_same_outcomes() -> None:
    cases = [case(size, kind) for size in range(9) for kind in ("uint8", "int16")]
    here = InProcessBackend(f"{SAMPLES}:flickers")
    here.start()
    with worker("flickers") as backend:
        pairs = list(zip(here.run_batch(cases), backend.run_batch(cases), strict=True))
    assert [(a.status, a.message, a.fault) for a, _ in pairs] == [(b.status, b.message, b.fault) for _, b in pairs]
    assert all(np.array_equal(a.outputs, b.outputs) for a, b in pairs)


def test_batches_are_short_and_small_and_keep_the_order() -> None:
    cases = [case(size) for size in (1, 2_000_000, 3)] + [case(4)] * 800
    found = list(batches(cases))
    assert [one for batch in found for one in batch] == cases
    assert [len(batch) for batch in found] == [1, 1, 256, 256, 256, 33]


def test_shared_memory_grows_and_refuses_what_is_not_there() -> None:
    arena = Arena()
    arrays = [np.arange(9, dtype=np.int16).reshape(3, 3), np.ones(1 << 21), np.zeros((0, 2), np.uint8)]
    described = [arena.put([array]) for array in arrays]
    together = arena.put(arrays)
    kept = [found for one in (*described, together, arena.put([])) for found in arena.get(one)]
    for found, array in zip(kept, [*arrays, *arrays], strict=True):
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert np.array_equal(found, array)
        assert not found.flags.writeable
    for wrong in (
        {"at": -1},
        {"at": 1 << 40},
        {"at": None},
        {"tensors": 3},
        {"tensors": [["int16"]]},
        {"tensors": [["int16", [1 << 40]]]},
        {"tensors": [["int16", [-1]]]},
        {"tensors": [["int16", [-3, -3]]]},
        {"tensors": [["object", [3, 3]]]},
        {"tensors": [[["int16"], [3, 3]]]},
        {"tensors": [["int16", "x"]]},
        {"tensors": [["int16", 9]]},
        {"tensors": [["int16", [3, 3]], ["int8", [1 << 40]]]},
    ):
        with pytest.raises(frames.BrokenFrame) as refused:
            arena.get(described[0] | wrong)
        assert not isinstance(refused.value, WrittenOver), wrong
    arena.close()


def test_attestation_tells_whether_subnormals_are_flushed() -> None:
    with worker("sound") as backend:
        assert backend.attestation([]) == {"flushes subnormals in the calling thread": "no"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (f"{SAMPLES}:absent", "no 'absent' there; it has: .*sound"),
        (f"{SAMPLES}:nameless", "has no name, version, compile"),
        ("no_such_module_anywhere:x", "no module 'no_such_module_anywhere'"),
    ],
)
def test_what_does_not_name_a_backend_is_bad_input(spec: str, message: str) -> None:
    backend = IsolatedBackend(spec)
    with pytest.raises(InvalidInput, match=message):
        backend.start()
    backend.close()


def test_a_backend_that_fails_to_start_is_a_failure_not_bad_input() -> None:
    backend = IsolatedBackend(f"{SAMPLES}:fails")
    with pytest.raises(MachineryFailed, match="failed to load: OSError: no device"):
        backend.start()
    backend.close()


def test_unknown_names_say_where_the_known_are() -> None:
    with pytest.raises(InvalidInput, match=r"unknown backend 'nosuch'; `tiebreak backends` lists all"):
        check_spec("nosuch")
    with pytest.raises(InvalidInput, match=r"openvino"):
        check_spec("openvin")
    with pytest.raises(InvalidInput, match=r"no file nowhere\.py"):
        check_spec("nowhere.py:x")
    assert check_spec("numpy-naive") in registered()


@pytest.mark.parametrize(
    "data",
    [
        b"not json\n",
        b"[]\n",
        b'{"tensors": 3}\n',
        b'{"tensors": [{"dtype": "object", "shape": [1]}]}\n',
        b'{"tensors": [{"dtype": "int8", "shape": [-1]}]}\n',
        b'{"tensors": [{"dtype": "int8", "shape": [99999999999]}]}\n',
        b"[" * 100000 + b"\n",
    ],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(frames.BrokenFrame):
        frames.decode_frame(lambda: data, lambda count: b"\0" * count)
