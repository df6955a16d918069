"""A backend's code may raise anything, and files may name types that are none: one line and a code, never silence."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_offline import SOME

from tiebreak.adapters.failure_reproducer import call_of
from tiebreak.adapters.in_process import InProcessBackend
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.cli import main
from tiebreak.conformance import inventory
from tiebreak.conformance.cases.plan import plan
from tiebreak.conformance.offline.export import export
from tiebreak.conformance.offline.manifest import read_manifest
from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed, Unsupported
from tiebreak.golden.vector_text import parse_tensor
from tiebreak.reports.records import parse_array

BACKENDS = """
def interrupted(*given):
    raise KeyboardInterrupt

class Run:
    name, version = "raises", "1"
    def compile(self, node):
        return interrupted

class Compile(Run):
    compile = interrupted

class Start(Run):
    __init__ = interrupted

class Interrupts(Run):
    reproducer = interrupted

class Nothing(Run):
    def reproducer(self, node, inputs):
        return None

class Empty(Run):
    def reproducer(self, node, inputs):
        return " "

class NoPython(Run):
    def reproducer(self, node, inputs):
        return "outputs = (x,"

class NoOutputs(Run):
    def reproducer(self, node, inputs):
        return "print(outputs)"

class OneLine(Run):
    def reproducer(self, node, inputs):
        return "    outputs, library = (x,), 'mine'"
"""
INT7 = {"name": "x", "type": "int7", "shape": [1], "values": "1"}
ALLOWED = "unknown element type 'int7'; there are .*int8"


@pytest.fixture
def raising(tmp_path: Path) -> str:
    path = tmp_path / "raising.py"
    path.write_text(BACKENDS, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", [InProcessBackend, IsolatedBackend])
def test_an_interrupt_that_a_backend_raises_is_its_own_error(raising: str, kind: type) -> None:
    case = plan(SOME["integers"])[0]
    for name in ("Run", "Compile"):
        backend = kind(f"{raising}:{name}")
        backend.start()
        (outcome,) = backend.run_batch([case])
        backend.close()
        assert outcome.status == "error" and outcome.message.startswith("KeyboardInterrupt"), outcome
    with pytest.raises(MachineryFailed, match="failed to load: KeyboardInterrupt"):
        kind(f"{raising}:Start").start()


def test_only_a_backend_without_reproducer_writes_none(raising: str) -> None:
    case = plan(SOME["integers"])[0]
    for name in ("Interrupts", "Nothing", "Empty"):
        backend = IsolatedBackend(f"{raising}:{name}")
        with pytest.raises(MachineryFailed, match=r"reproducer\(\) (failed|returned)"):
            backend.reproducer(case.node.key, case.inputs)
        backend.close()
    backend = IsolatedBackend(f"{raising}:Run")
    with pytest.raises(Unsupported):
        backend.reproducer(case.node.key, case.inputs)
    backend.close()


def test_lines_that_can_stand_in_no_script_are_refused(raising: str, tmp_path: Path) -> None:
    case = plan(SOME["integers"])[0]
    faults = {"NoPython": r"are no Python: .*never closed", "NoOutputs": "assign no library and no outputs"}
    for name, fault in faults.items():
        refused = pytest.raises(MachineryFailed, match=rf"reproducer\(\) returned lines that {fault}")
        with closing(IsolatedBackend(f"{raising}:{name}")) as backend, refused:
            backend.reproducer(case.node.key, case.inputs)
    with closing(IsolatedBackend(f"{raising}:OneLine")) as backend:
        assert call_of(case.node, backend.reproducer(case.node.key, case.inputs)) == "outputs, library = (x,), 'mine'"
    run, backend = str(tmp_path / "run"), ["-b", f"{raising}:NoOutputs"]
    CliRunner().invoke(main, ["run", "--case", case.id, "-o", run, *backend])
    done = CliRunner().invoke(main, ["repro", "F001", "--run", run, *backend])
    assert done.exit_code == MachineryFailed.exit_code, done.output
    assert "reproducer() returned lines that assign no" in done.output and done.output.count("\n") == 1


def test_a_type_that_is_none_is_bad_input_and_what_is_allowed_is_named(tmp_path: Path) -> None:
    for parse in (parse_tensor, parse_array):
        with pytest.raises(InvalidInput, match=ALLOWED):
            parse(INT7)
    export(SOME["integers"], tmp_path, "json")
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace("int8", "int7"), encoding="utf-8")
    with pytest.raises(DamagedFile, match=ALLOWED):
        read_manifest(tmp_path)
    done = CliRunner().invoke(main, ["verify", str(tmp_path), "-o", str(tmp_path / "run")])
    assert done.exit_code == 2, done.output


@pytest.mark.parametrize("as_json", [False, True])
def test_backends_fails_if_a_named_one_does_not_load(
    tmp_path: Path, as_json: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "questions", dict)  # reading every vector file takes a minute, and nothing is asked
    path = tmp_path / "absent.py"
    path.write_text("raise RuntimeError('no such device')", encoding="utf-8")
    with pytest.raises(MachineryFailed, match="no such device"):
        inventory.list_backends([f"{path}:B"], every=False, as_json=as_json)
    if as_json:
        (row,) = json.loads(capsys.readouterr().out)["backends"]
        assert "no such device" in row["message"]
