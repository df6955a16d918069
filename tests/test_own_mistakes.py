"""A look-up that fails in an adapter's own code is Tiebreak's mistake, and no error of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak import adapters
from tiebreak.adapters import own_mistakes
from tiebreak.adapters.answering import Answerer
from tiebreak.adapters.onnx_models import as_old_as, onnx_node
from tiebreak.adapters.outcome import ADAPTER, EXCEPTION
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.conformance.running.repro import reproducer
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.reports.first_screen import library_rows
from tiebreak.reports.records import read_run
from tiebreak.reports.story import story

NODE = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
X = np.ones(1, np.float32)
LIBRARY = """
def fails(name):
    return {"x": 1}[name]
"""
ADAPTER_OF_IT = """
import enum
import operator

class Kind(enum.Enum):
    X = 1

TABLE = {}

class Backend:
    name = version = "1"
    library = None

    def compile(self, node):
        return getattr(self, self.what)

    def key(self, *inputs):
        return TABLE[inputs[0].dtype]

    def index(self, *inputs):
        return inputs[9]

    def attribute(self, *inputs):
        return self.library.youngest_function(*inputs)

    def asked(self, *inputs):
        return getattr(self.library, "youngest")

    def unknown(self, *inputs):
        return no_such_name

    def enumeration(self, *inputs):
        return Kind["Y"]

    def library_raises(self, *inputs):
        return self.library.fails("y")

    def compiled_library_raises(self, *inputs):
        return operator.getitem({}, 1)

    def compiled_library_has_no_index(self, *inputs):
        return [].pop()

    def other(self, *inputs):
        raise RuntimeError("refused")
"""
OWN = ("key", "index", "attribute", "asked", "unknown", "enumeration")
LIBRARYS = ("library_raises", "compiled_library_raises", "compiled_library_has_no_index", "other")


def loaded(source: str, file: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": file.stem}
    exec(compile(source, str(file), "exec"), names)  # noqa: S102 - as if the code was in that file
    return names


def answered(what: str, file: Path) -> Any:
    """The outcome of a backend whose code is in this file."""
    library = loaded(LIBRARY, Path("/usr/lib/python3/site-packages/lib.py"))
    backend = loaded(ADAPTER_OF_IT, file)["Backend"]()
    backend.what, backend.library = what, type("library", (), {"fails": staticmethod(library["fails"])})
    return Answerer(backend).answer(NODE.key, (X, X[0]))


@pytest.mark.parametrize("what", OWN)
def test_an_adapter_s_own_look_up_is_not_the_library_s(what: str) -> None:
    outcome = answered(what, Path(adapters.__file__).parent / "adapter.py")
    assert (outcome.status, outcome.fault) == ("error", ADAPTER)
    assert outcome.message.startswith("Tiebreak's adapter failed: ") and " (at " in outcome.message


@pytest.mark.parametrize("what", LIBRARYS)
def test_what_a_library_raises_stays_the_library_s(what: str) -> None:
    assert answered(what, Path(adapters.__file__).parent / "adapter.py").fault == EXCEPTION


@pytest.mark.parametrize("what", [*OWN, *LIBRARYS])
def test_what_a_user_s_backend_raises_is_its_own(what: str, tmp_path: Path) -> None:
    assert answered(what, tmp_path / "mine.py").fault == EXCEPTION


def test_a_backend_that_is_compiled_code_is_not_tiebreak_s() -> None:
    class Backend:
        name = version = "1"

        def compile(self, node: Any) -> Any:
            return {}.__getitem__

    assert Answerer(Backend()).answer(NODE.key, ("x",)).fault == EXCEPTION  # type: ignore[arg-type]


BOX = """
TABLE = {"float32": 1}

class Box:
    name, version, operators = "box", "1", {"onnx.QuantizeLinear"}

    def compile(self, node):
        return lambda x, *rest: (TABLE[x.dtype.name] * x,) if x.size != 7 else (TABLE["y"],)
"""


def test_a_run_blames_no_library_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "box.py").write_text(BOX)
    monkeypatch.setattr(own_mistakes, "OWN", f"{tmp_path}/")
    selection = Selection(("onnx.QuantizeLinear",), input_type="float16", output_type="uint8", level="brief")
    assert plan(selection)
    assert main_job([f"{tmp_path}/box.py:Box"], selection, tmp_path / "run", RunLimits(in_process=True)) == 3
    said = capsys.readouterr().err
    assert "KeyError: 'float16' (at box.py:" in said and "no library is to blame" in said
    run = read_run(tmp_path / "run")
    chapters = story(run)
    assert {row["fault"] for row in run.info["failures"]} == {ADAPTER}
    assert [chapter for chapter in chapters if chapter.id == "failures" and chapter.findings] == []
    assert [row.failed for row in library_rows(run, chapters)] == [0]
    with pytest.raises(InvalidInput, match="there is no call to show"):
        reproducer(tmp_path / "run", "F001", f"{tmp_path}/box.py:Box")


def test_a_type_that_no_operator_set_has_is_no_key_error() -> None:
    """ONNX's DequantizeLinear has no uint32: a release that does not know the file's version refuses it as it is."""
    written = onnx_node(make_node("ngraph.Dequantize", quantized="uint32", real="float32"))
    assert list(as_old_as(written)) == [written]
