"""The files that a backend is started from run as they are, and nothing that exists is touched."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from judged_offline import verify

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.judge import judge_outputs, output_problem
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.export import export
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.new_backend import WAYS, commands, new_backend
from tiebreak.reports.rows import result_rows

PAGE = Path(__file__).parent.parent / "docs" / "external-programs.md"
VECTORS = Selection(operators=("onnx.QuantizeLinear",), input_type="float32", output_type="uint8", level="")


def spec_of(way: str, paths: list[Path]) -> str:
    """What `-b` takes for a way's files, a C program compiled."""
    if way == "python":
        return f"{paths[0]}:backend"
    if way == "program":
        return f"exec:{shlex.join([sys.executable, '-I', '-c', alone(paths[0])])}"
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed, as for the kernel"
    binary = paths[0].with_suffix("")
    words = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", str(binary), str(paths[0]), "-lm"]
    subprocess.run(words, check=True, timeout=120)
    return f"exec:{shlex.quote(str(binary))}"


def alone(path: Path) -> str:
    """Python that runs a file where Tiebreak can't be imported."""
    return (
        "import runpy, sys; sys.modules['tiebreak'] = None; "
        f"sys.path.insert(0, {str(path.parent)!r}); runpy.run_path({str(path)!r}, run_name='__main__')"
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("way", ["python", "program", "c"])
def test_a_starting_file_conforms_where_it_does_not_refuse(tmp_path: Path, way: str) -> None:
    backend = IsolatedBackend(spec_of(way, new_backend("edge-npu", way, tmp_path / "new")))
    verdicts: dict[str, int] = {}
    cases = plan(VECTORS)
    cases.append(Case("int4", make_node("onnx.QuantizeLinear", quantized="int4"), int4_inputs()))
    try:
        backend.start()
        assert (backend.name, backend.version, backend.operators) == ("edge-npu", "0.1", {"onnx.QuantizeLinear"})
        for case in cases:
            outcome = backend.run(case)
            verdict = outcome.status
            if verdict == "ok":
                assert output_problem(case, outcome.outputs) == ""
                verdict = judge_outputs(outcome.outputs, truths_of(case)).verdict
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
        assert set(verdicts) == {"exact", "working-precision", "unspecified", "unsupported"}
        assert verdicts["exact"] > 20
        assert len(backend.attestation([cases[0].node.key])) > 1
    finally:
        backend.close()


def int4_inputs() -> tuple[np.ndarray, ...]:
    zero_point = np.array(0, np.int8).astype(make_node("onnx.QuantizeLinear", quantized="int4").outputs[0].dtype)
    return np.ones(3, np.float32), np.array(1, np.float32), zero_point


@pytest.mark.slow
def test_the_offline_file_runs_exported_cases_without_tiebreak(tmp_path: Path) -> None:
    (path,) = new_backend("edge-npu", "offline", tmp_path)
    export(
        Selection(
            operators=("onnx.QuantizeLinear", "ngraph.Quantize"), input_type="float32", output_type="uint8", level=""
        ),
        tmp_path / "lab",
        "npz",
    )
    code = alone(path).replace("import runpy, sys;", f"import runpy, sys; sys.argv = ['x', {str(tmp_path / 'lab')!r}];")
    subprocess.run([sys.executable, "-I", "-c", code], check=True, timeout=120)
    records = verify(tmp_path / "lab", "edge-npu", "0.1")
    assert records.info["exit"] == 0
    rows = result_rows(records.results)
    verdicts = [row["verdict"] for row in rows]
    assert verdicts.count("exact") > 20
    reasons = {row["message"] for row in rows if row["verdict"] == "unsupported"}
    assert {"no ngraph.Quantize", "no block_size", "one scale for the whole tensor only"} <= reasons


def test_the_page_shows_the_c_file(tmp_path: Path) -> None:
    (path,) = new_backend("mine", "c", tmp_path)
    assert f"```c\n{path.read_text(encoding='utf-8')}```" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("way", WAYS)
def test_the_name_is_everywhere_and_the_commands_name_what_was_written(tmp_path: Path, way: str) -> None:
    paths = new_backend("Edge_npu-2", way, tmp_path)
    text = paths[0].read_text(encoding="utf-8")
    assert not re.search("my[-_]?backend", text, re.IGNORECASE)
    if paths[0].suffix == ".py":
        classes = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
        assert classes == (["Unsupported"] if way == "offline" else ["EdgeNpu2"])
    typed = commands("Edge_npu-2", way)
    assert typed[-1].startswith("tiebreak ")
    assert any(paths[0].name in command for command in typed)
    assert all(command in text for command in typed)


@pytest.mark.slow
def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "edge_program.py").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"edge_program\.py exists already"):
        new_backend("edge", "program", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["edge_program.py"]
    new_backend("other", "program", tmp_path)
    new_backend("third", "program", tmp_path)  # needs the same helper
    (tmp_path / "tiebreak_program.py").write_text("changed", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"tiebreak_program\.py exists already; nothing was written"):
        new_backend("fourth", "program", tmp_path)
    assert not (tmp_path / "fourth_program.py").exists()
    assert (tmp_path / "edge_program.py").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "no name for a backend"),
        ("../evil", "no name for a backend"),
        ("2nd", "no name for a backend"),
        ("ümlaut", "no name for a backend"),
        ("a\n", "no name for a backend"),
        ("x" * 61, "no name for a backend"),
        ("class", "in another sense"),
        ("none", "in another sense"),
        ("unsupported", "in another sense"),
        ("json", "the name of a Python module"),
        ("numpy", "the name of a Python module"),
        ("tiebreak", "the name of a Python module"),
    ],
)
def test_a_name_that_makes_no_file_is_bad_input(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        new_backend(name, "python", tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_way_lists_the_known_and_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="known: python, program, c, offline"):
        new_backend("edge", "rust", tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="file: can't write there"):
        new_backend("edge", "c", tmp_path / "file")
