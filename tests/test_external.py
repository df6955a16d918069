"""Programs on the other side of a pipe: sound, wrong and broken ones, and the documents' bytes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters import frames
from tiebreak.adapters.external import External
from tiebreak.adapters.external_process import ProgramError
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.process import WorkerProcess
from tiebreak.adapters.program import array_from_words, dtype_named, raw
from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.judging.judge import output_problem
from tiebreak.golden.errors import InvalidInput, MachineryFailed, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node, TensorType

FAULTY = Path(__file__).parent / "faulty_program.py"
PAGE = (Path(__file__).parent.parent / "docs" / "external-programs.md").read_text(encoding="utf-8")
NODE = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")


def faulty(*words: str | Path) -> str:
    return shlex.join([sys.executable, "-S", "-E", str(FAULTY), *map(str, words)])


def inputs(size: int) -> tuple[np.ndarray, ...]:
    return np.zeros(size, np.float32), np.array(1, np.float32), np.array(5, np.uint8)


def case(size: int) -> Case:
    return Case(f"case-{size}", NODE, inputs(size))


@pytest.fixture
def started() -> Iterator[list[External]]:
    """Programs to close."""
    programs: list[External] = []
    yield programs
    for program in programs:
        program.close()


# Faults after which the program is another one, or the same.
GARBAGE = {
    "garbage": r"wrote '\\x00�rubbish\\n' where a reply begins",
    "no newline": "wrote 'Segmentation' where a reply begins",
    "endless": "header line of more than 1048576 bytes",
    "deep": "which is not the reply: maximum recursion",
    "not json": r"wrote '\{status: ok\}\\n', which is not the reply: Expecting property name",
    "no id": "a reply without 'id'",
    "no status": "a reply without 'status'",
    "another status": "status 'fine' is none of ok, unsupported, error",
    "huge": "1000000000000",
    "huge together": "3221225472 bytes of tensors",
    "negative": r"shape \[-7\]",
    "fraction": r"shape \[7.0\]",
    "text for a shape": r"shape \['7'\]",
    "many dimensions": "dimension",
    "objects": "element type 'object'",
    "no type": "a reply without 'dtype'",
    "no int4": "a byte that is no int4",
    "closes": "closed its standard output or input and did not end",
}


@pytest.mark.few(6)
@pytest.mark.parametrize("fault", GARBAGE)
def test_what_is_no_reply_is_an_error_and_the_next_case_has_a_new_program(started: list[External], fault: str) -> None:
    started.append(external := External(faulty(fault)))
    run = external.compile(NODE)
    assert run(*inputs(6))[0].tolist() == [5] * 6
    before = external.program
    with pytest.raises(ProgramError, match=GARBAGE[fault]) as raised:
        run(*inputs(7))
    assert "\n" not in str(raised.value)
    assert run(*inputs(6))[0].tolist() == [5] * 6
    assert external.program is not before


def test_what_the_program_says_is_the_reason_and_it_goes_on(started: list[External]) -> None:
    for fault, error, message in (
        ("says error", ProgramError, "the device\nis on fire"),
        ("says unsupported", Unsupported, "seven"),
    ):
        started.append(external := External(faulty(fault)))
        run, before = external.compile(NODE), external.program
        with pytest.raises(error, match=message):
            run(*inputs(7))
        assert run(*inputs(6))[0].tolist() == [5] * 6
        assert external.program is before
        with pytest.raises(Unsupported, match="gave no reason"):
            external.compile(make_node("onnx.QuantizeLinear", attributes={"axis": 0}))


def test_a_second_reply_is_not_taken_for_the_next_answer(started: list[External]) -> None:
    started.append(external := External(faulty("twice")))
    run = external.compile(NODE)
    assert run(*inputs(7))[0].tolist() == [5] * 7
    with pytest.raises(ProgramError, match="id 3, not 4"):
        run(*inputs(6))
    assert run(*inputs(6))[0].tolist() == [5] * 6


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        ("aborts", "crash", "killed by SIGABRT.*last words.*faulty_program.py aborts was killed by SIGABRT"),
        ("is killed", "crash", "killed by SIGKILL"),
        ("exits 0", "crash", "exit status 0.*faulty_program.py exits 0 ended with exit status 0"),
        ("half a frame", "crash", "exit status 0"),
        ("garbage", "error", r"^ProgramError: the program wrote .*rubbish\\n' where a reply begins$"),
    ],
)
def test_a_fault_costs_its_case(fault: str, status: str, message: str) -> None:
    backend = IsolatedBackend(f"exec:{faulty(fault)}", 30.0)
    try:
        backend.start()
        outcome = backend.run(case(7))
        assert outcome.status == status
        assert re.search(message, outcome.message), outcome.message
        after = backend.run(case(6))
        assert (after.status, after.outputs[0].tolist()) == ("ok", [5] * 6)
    finally:
        backend.close()


@pytest.mark.parametrize(("written", "quoted"), [(4, 4), (0, 0), (-1, 15), (99, 15), ("4", 15), (None, 15), (True, 15)])
def test_last_words_begin_where_the_worker_says_however_late_we_read(written: Any, quoted: int, tmp_path: Path) -> None:
    """It runs ahead of us: a program may have died before we read the answer before. Nonsense counts as unknown."""
    (tmp_path / "errors").write_text("old\nlast words\n")
    with (tmp_path / "errors").open() as errors:
        worker: Any = SimpleNamespace(errors=errors)
        assert WorkerProcess.errors_before(worker, written) == quoted


def test_no_answer_is_a_timeout_and_the_program_is_gone(tmp_path: Path) -> None:
    backend = IsolatedBackend(f"exec:{faulty('short', tmp_path / 'pid')}", 1.0)
    try:
        backend.start()
        assert backend.run(case(7)).status == "timeout"
        assert is_gone(int((tmp_path / "pid").read_text(encoding="utf-8")))
        assert backend.run(case(6)).status == "ok"
    finally:
        backend.close()


def is_gone(pid: int) -> bool:
    """Whether a process ends within a second; one that nobody waited for yet has ended too."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_outputs_of_another_type_are_seen_and_standard_error_is_free() -> None:
    for fault, problem in (("wrong type", "output of type int8, the node says uint8"), ("stderr", "")):
        backend = IsolatedBackend(f"exec:{faulty(fault)}")
        outcome = backend.run(case(7))
        backend.close()
        assert outcome.status == "ok"
        assert output_problem(case(7), outcome.outputs) == problem


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("banner", r"wrote 'NPU driver 1.0\\n' where a reply begins"),
        ("nameless", "lacks a name, a text not empty; it has None"),
        ("protocol 2", "speaks protocol 2, not 1"),
        ("operators", "operators are no list"),
        ("refuses", "no licence"),
        ("ends", r"faulty_program\.py ends ended with exit status 0"),
    ],
)
def test_a_program_that_does_not_say_hello_is_no_backend(fault: str, message: str) -> None:
    with pytest.raises((ProgramError, Unsupported, InvalidInput), match=message):
        External(faulty(fault))


def test_a_program_that_ends_at_once_is_a_failure_that_says_how() -> None:
    backend = IsolatedBackend(f"exec:{faulty('ends')}")
    with pytest.raises(MachineryFailed, match=r"exit status 0.*faulty_program\.py ends ended with exit status 0"):
        backend.start()
    backend.close()


def test_a_command_that_cannot_be_started_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("no program", encoding="utf-8")
    for command, message in (
        ("", "name the program to start"),
        ("./absent --x", "no program './absent'"),
        ("no-such-program-anywhere", "no program 'no-such-program-anywhere' on the PATH"),
        ("./plain", r"\./plain is not executable \(chmod"),
        ("plain", r"on the PATH; the file of that name here is \./plain"),
        (".", "is a folder"),
        ("'unbalanced", "No closing quotation"),
    ):
        with pytest.raises(InvalidInput, match=message):
            check_spec(f"exec:{command}")
    assert check_spec(f"exec:{faulty('x')}")
    (tmp_path / "plain").chmod(0o755)
    with pytest.raises(InvalidInput, match=r"can't start \./plain: Exec format error"):
        External("./plain")


# Bytes.


@pytest.mark.parametrize(
    ("name", "values", "data"),
    [
        ("int4", [-1, 7, -8], "ff 07 f8"),
        ("uint4", [15, 0], "0f 00"),
        ("int2", [-2, 1], "fe 01"),
        ("float4_e2m1fn", [-0.5, 6], "09 07"),
        ("bfloat16", [1.0, -2.0], "80 3f 00 c0"),
        ("float8_e5m2", [1.0], "3c"),
        ("uint16", [258], "02 01"),
        ("bool", [True], "01"),
    ],
)
def test_elements_have_the_documented_bytes(name: str, values: list[float], data: str) -> None:
    array = np.array(values, dtype_named(name))
    assert raw(array) == bytes.fromhex(data)
    assert (array_from_words(array.dtype, [len(values)], bytes.fromhex(data)) == array).all()


def test_every_type_goes_through_a_program_bit_for_bit(tmp_path: Path, started: list[External]) -> None:
    program = tmp_path / "echo.py"
    program.write_text(
        "from tiebreak import serve\n"
        "class Echo:\n"
        "    name, version = 'echo', '1'\n"
        "    def compile(self, node):\n"
        "        print('printed, and no frame')\n"
        "        assert node.attributes == {'axes': (0, 2)} and node.opset == 0\n"
        "        return lambda *inputs: inputs\n"
        "serve(Echo())\n",
        encoding="utf-8",
    )
    started.append(external := External(shlex.join([sys.executable, str(program)])))
    assert external.operators is None
    for name in frames.TYPES + frames.EXTENSION_TYPES:
        dtype = dtype_named(name)
        every = np.arange(256, dtype=np.uint8)
        if name in ("bool", "int4", "uint4", "int2", "uint2"):
            array = every.astype(np.int8).astype(dtype).reshape(2, 1, 128)
        else:
            bits = {"float4": 15, "float6": 63}.get(name.partition("_")[0], 255)
            array = (every & bits).view(dtype).reshape(2, 1, -1)
        wide = TensorType("x", dtype), TensorType("y", dtype)
        run = external.compile(Node("any", {"axes": (0, 2)}, wide, wide))
        first, second = run(array[:, :, ::-1], array[0, 0, 0], None)
        assert first.tobytes() == np.ascontiguousarray(array[:, :, ::-1]).tobytes(), name
        assert (second.shape, second.dtype) == ((), dtype)


EXCHANGES = [
    tuple(
        lines[0].encode() + b"\n" + bytes.fromhex(" ".join(line.partition("#")[0] for line in lines[1:]))
        for lines in (block.splitlines() for block in pair)
    )
    for pair in re.findall(r"```request\n(.*?)```\n.*?```reply\n(.*?)```", PAGE, re.DOTALL)
]

# Insists on the page's requests, byte for byte, and gives the page's replies.
PLAYER = """
import json, os, sys
for request, reply in json.load(open(sys.argv[1])):
    got = b""
    while len(got) < len(bytes.fromhex(request)):
        got += os.read(0, 1)
    assert got.hex() == request, got
    os.write(1, bytes.fromhex(reply))
"""


def test_the_pages_bytes_are_what_tiebreak_sends_and_takes(tmp_path: Path, started: list[External]) -> None:
    assert len(EXCHANGES) == 6
    (tmp_path / "player.py").write_text(PLAYER, encoding="utf-8")
    exchanges = json.dumps([[data.hex() for data in pair] for pair in EXCHANGES])
    (tmp_path / "exchanges").write_text(exchanges, encoding="utf-8")
    started.append(external := External(shlex.join([sys.executable, *map(str, sorted(tmp_path.iterdir())[::-1])])))
    assert (external.name, external.version, external.operators) == ("mine", "0.1", {"onnx.QuantizeLinear"})
    assert external.attest()["compiled"] == "Nov 21 2026"
    run = external.compile(make_node("onnx.QuantizeLinear", attributes={"axis": 0}, opset=21))
    with pytest.raises(Unsupported, match=r"^only float32 to uint8$"):
        external.compile(make_node("onnx.QuantizeLinear", real="float16", zero_point=False, opset=21))
    x = np.array([[0.5, 1.5], [2.5, 300]], np.float32)
    (y,) = run(x, np.array(1, np.float32), np.array(3, np.uint8))
    assert (y.tolist(), y.dtype) == ([[3, 5], [5, 255]], np.uint8)
    with pytest.raises(Unsupported, match="one scale"):
        run(np.ones(2, np.float32), np.array([1, 2], np.float32), np.zeros(2, np.uint8))
    with pytest.raises(ProgramError, match=r"^the device does not answer$"):
        run(np.array([np.nan], np.float32), np.array(1, np.float32), np.array(0, np.uint8))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's C program."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed, as for the kernel"
    folder = tmp_path_factory.mktemp("c program")
    (source,) = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
    (folder / "mine.c").write_text(source, encoding="utf-8")
    words = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", folder / "mine", folder / "mine.c", "-lm"]
    subprocess.run(words, check=True, timeout=120)
    return folder / "mine"


def test_the_pages_c_program_gives_the_pages_replies(compiled: Path) -> None:
    requests = b"".join(request for request, _ in EXCHANGES[:-1])
    replied = subprocess.run([compiled], input=requests, capture_output=True, check=True, timeout=60).stdout
    wanted = b"".join(reply for _, reply in EXCHANGES[:-1])
    date = rb'"compiled": "[^"]*"'
    assert re.sub(date, b"", replied) == re.sub(date, b"", wanted)


def test_the_pages_c_program_is_run_and_conforms(tmp_path: Path, compiled: Path) -> None:
    few = ["--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "uint8", "--level", "quick"]
    command = [sys.executable, "-P", "-c", "from tiebreak.cli import main; main()", "run", "--json"]
    command += ["-b", f"exec:{shlex.quote(str(compiled))}", *few, "-o", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["backends"]["mine"]
    verdicts = told["operators"]["onnx.QuantizeLinear"]["verdicts"]
    assert verdicts["exact"] > 50
    assert verdicts["unsupported"] > 20
