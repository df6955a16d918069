"""What a backend does wrong costs one case, in a real worker process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tiebreak.adapters import frames
from tiebreak.adapters.isolation import CRASHES_IN_A_ROW, MOST_CRASHES, IsolatedBackend
from tiebreak.adapters.registry import check_spec, registered
from tiebreak.conformance.judge import output_problem
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.nodes import Case, make_node

SAMPLES = Path(__file__).parent / "sample_backends.py"


@contextmanager
def worker(attribute: str, time_limit: float = 30.0) -> Iterator[IsolatedBackend]:
    backend = IsolatedBackend(f"{SAMPLES}:{attribute}", time_limit)
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


@pytest.mark.parametrize(
    ("attribute", "status", "message"),
    [
        ("aborts", "crash", "killed by SIGABRT; .*about to abort"),
        ("leaves", "crash", "exit status 3"),
        ("raises", "error", "RuntimeError: <b>no & never</b> second line"),
        ("no_tuple", "error", "not a tuple of numpy arrays"),
        ("objects", "error", "element type 'object'"),
    ],
)
def test_fault_becomes_its_own_outcome(attribute: str, status: str, message: str) -> None:
    import re

    with worker(attribute) as backend:
        outcome = backend.run(case(7))
        assert outcome.status == status
        assert re.search(message, outcome.message), outcome.message
        if status == "crash":
            assert backend.run(case(6)).status == "ok", "the worker is replaced"


def test_hang_ends_at_the_time_limit_and_the_next_case_runs() -> None:
    with worker("hangs", time_limit=1.0) as backend:
        assert backend.run(case(6)).status == "ok"
        outcome = backend.run(case(7))
        assert (outcome.status, outcome.message) == ("timeout", "no answer within 1 s")
        assert backend.run(case(6)).status == "ok"


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
        backend.crashes = MOST_CRASHES
        outcome = backend.run(case(6))
        assert outcome.status == "error"
        assert "given up after 200 crashes" in outcome.message


def test_crashes_between_answers_do_not_end_the_run_but_those_in_a_row_do() -> None:
    with worker("aborts") as backend:
        backend.crashes = backend.in_a_row = CRASHES_IN_A_ROW - 1
        assert backend.run(case(6)).status == "ok"
        assert backend.run(case(7)).status == "crash"
        assert backend.run(case(6)).status == "ok"
        backend.in_a_row = CRASHES_IN_A_ROW - 1
        assert backend.run(case(7)).status == "crash"
        assert "given up after 21 crashes" in backend.run(case(6)).message


def test_attestation_tells_whether_subnormals_are_flushed() -> None:
    with worker("sound") as backend:
        assert backend.attestation() == {"flushes subnormals in the calling thread": "no"}


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


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(InvalidInput, match=r"known: numpy-naive, .*, openvino, openvino-as-shipped, tensorflow"):
        check_spec("nosuch")
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
        frames.decode(lambda: data, lambda count: b"\0" * count)
