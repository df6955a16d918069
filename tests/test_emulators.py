"""Emulators give what the semantics that they are written from predict, and what the boxes do that were audited."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited_boxes import KNOWN
from auditing import audited, single_changes
from click.testing import CliRunner, Result
from emulated import SCALES, check_as_predicted, every_float16, probes_of, shared_library, written_for

from tiebreak.adapters.registry import load_backend
from tiebreak.cli import main
from tiebreak.conformance.audit.operators import AUDITED, STAGED, arithmetic_of, audited_node
from tiebreak.conformance.emulators import job, running
from tiebreak.conformance.emulators.evidence import one_line
from tiebreak.conformance.emulators.files import Emulated, comment_lines
from tiebreak.conformance.emulators.steps import given
from tiebreak.conformance.semantics.affine_dequantize import affine_dequantize
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node

BOXES = Path(__file__).parent / "audited_backends.py"
QUANTIZE = ("--operator", "onnx.QuantizeLinear", "--type", "int8")
EVEN = {"axes": (), "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
TARGETS = ("numpy", "c", "torch", "onnx")
PAIRS = [
    *(("float32", kind) for kind in ("int8", "uint8", "int16", "int32", "uint32", "int4", "uint2")),
    *(("float16", "int8"), ("float16", "int32"), ("bfloat16", "uint8"), ("bfloat16", "uint4")),
    *(("float64", "int8"), ("float64", "int32")),
]


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


def quantize_node(real: str, quantized: str) -> Node:
    plain = real != "float64" and "32" not in quantized
    operator, attributes = ("onnx.QuantizeLinear", {}) if plain else ("ngraph.Quantize", EVEN)
    return make_node(operator, real=real, quantized=quantized, attributes=attributes)


def draw_specials(arithmetic: QuantizeArithmetic, random: np.random.Generator) -> None:
    """Any values of the special facets: whatever NaN and infinities gave, an emulator gives."""
    arithmetic.seen = {one.name: [one.values[random.integers(len(one.values))]] for one in arithmetic.specials}  # type: ignore[misc]
    arithmetic.as_infinite = bool(random.integers(2))


def skip_without(target: str) -> None:
    if target in ("torch", "onnx"):
        pytest.importorskip(target)


def check_some(pair: tuple[str, str], target: str, count: int) -> int:
    """Semantics drawn from the table of a pair of types, against what the table predicts; how many had a file."""
    arithmetic = arithmetic_of(quantize_node(*pair))
    assert isinstance(arithmetic, QuantizeArithmetic)
    random, probes, held = np.random.default_rng(sum(map(ord, "".join(pair)))), probes_of(arithmetic.node), 0
    every = arithmetic.candidates.all
    for place in random.choice(len(every), count, replace=False):
        draw_specials(arithmetic, random)
        try:
            assert check_as_predicted(arithmetic, every[place], target, probes) > 10_000
            held += 1
        except Unsupported as refusal:
            assert_no_such_step(target, str(refusal))
    return held


def assert_no_such_step(target: str, reason: str) -> None:
    assert target in ("torch", "onnx") and ("float64" in reason or "fused" in reason)


@pytest.mark.few(4)
@pytest.mark.parametrize("pair", PAIRS, ids=":".join)
def test_every_value_of_a_facet_in_numpy(pair: tuple[str, str]) -> None:
    arithmetic, random = arithmetic_of(quantize_node(*pair)), np.random.default_rng(3)
    assert isinstance(arithmetic, QuantizeArithmetic)
    probes, changes = probes_of(arithmetic.node), list(dict.fromkeys(single_changes(arithmetic)))
    assert len(changes) > 25
    for semantics in changes:
        draw_specials(arithmetic, random)
        assert check_as_predicted(arithmetic, semantics, "numpy", probes) > 10_000


@pytest.mark.few(3)
@pytest.mark.parametrize("pair", PAIRS, ids=":".join)
def test_combinations_of_facets_in_numpy(pair: tuple[str, str]) -> None:
    assert check_some(pair, "numpy", 40) == 40


@pytest.mark.few(2, of="target")
@pytest.mark.parametrize("pair", PAIRS, ids=":".join)
@pytest.mark.parametrize("target", TARGETS[1:])
def test_combinations_of_facets_elsewhere(pair: tuple[str, str], target: str) -> None:
    skip_without(target)
    assert check_some(pair, target, 6) >= 3


@pytest.mark.parametrize("special", ["nan", "positive_infinity", "negative_infinity"])
def test_each_code_of_a_special_input(special: str) -> None:
    arithmetic = arithmetic_of(quantize_node("float32", "int8"))
    assert isinstance(arithmetic, QuantizeArithmetic)
    (facet,) = (one for one in arithmetic.specials if one.name == special)
    for number, value in enumerate(facet.values):
        arithmetic.assume()
        arithmetic.seen[special], arithmetic.as_infinite = [value], number % 2 == 0  # type: ignore[list-item]
        probes = list(arithmetic.special_probes())
        assert check_as_predicted(arithmetic, arithmetic.documented, "numpy", probes) == len(probes) == 30


DEQUANTIZERS = [("float32", "int8"), ("float32", "int32"), ("float16", "uint8"), ("bfloat16", "int4")]


@pytest.mark.few(2, of="target")
@pytest.mark.parametrize("pair", DEQUANTIZERS, ids=":".join)
@pytest.mark.parametrize("target", TARGETS)
def test_every_semantics_of_a_dequantizer(pair: tuple[str, str], target: str) -> None:
    skip_without(target)
    real, kind = pair
    operator, attributes = ("ngraph.Dequantize", {"axes": ()}) if kind == "int32" else ("onnx.DequantizeLinear", {})
    node = make_node(operator, real=real, quantized=kind, attributes=attributes)
    arithmetic, probes, refused = affine_dequantize(node), probes_of(node), 0
    for semantics in arithmetic.candidates.all:
        try:
            assert check_as_predicted(arithmetic, semantics, target, probes) > 500
        except Unsupported:
            refused += 1
    assert refused == {"numpy": 0, "c": 0, "torch": 3 if real == "float16" else 0}.get(target, refused)
    assert refused <= 6 < len(arithmetic.candidates.all)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", KNOWN)
def test_every_float16_through_a_box_and_its_emulators(name: str, tmp_path: Path) -> None:
    box, answer, x = KNOWN[name][0], audited(KNOWN[name][0]), every_float16()
    python, c = tmp_path / "emulator.py", tmp_path / "emulator.c"
    for target, path in (("numpy", python), ("c", c)):
        told = written_for(answer, target, path)
        assert told["file"] == str(path) and told["exit"] == 0 and told["elements"] > 40_000, told
    quantize, in_c = running.loaded(python, "quantize"), shared_library(c)
    finite = np.isfinite(x)
    for number, scale in enumerate(SCALES):
        zero_point = (0, 5, -128, 127)[number % 4]
        operands = x, np.asarray(scale, np.float32), np.asarray(zero_point, np.int8)
        with np.errstate(all="ignore"):
            wanted = box(*operands)
        assert wanted.dtype == np.int8 and np.unique(wanted[finite]).size > 10
        assert np.array_equal(quantize(*operands), wanted)
        assert np.array_equal(in_c(x, scale, zero_point), wanted)


def test_the_command_writes_a_file_with_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    result = cli(f"{BOXES}:upgraded", *QUANTIZE, "--emulator", "numpy", "-o", str(path))
    assert result.exit_code == 0, result.stderr
    assert f"{path}: an emulator, which gives what the backend gave for 47,817 elements" in result.stdout.replace(
        "\n", ""
    )
    text = path.read_text()
    for line in (
        "# backend: plain 1.0",
        "# node: onnx.QuantizeLinear, x float32, y_scale float32, y_zero_point int8, y int8",
        "# round mode: ROUND_NEAREST_TOWARD_INFINITY (to nearest, ties away from zero)",
        "# evidence: the backend answered 47,817 elements, and this file gives the same for each of them",
    ):
        assert line in text.splitlines()
    imported = {name.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for name in node.names}
    assert imported == {"numpy"} and "reciprocal" not in text.split("import")[1]
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import mine; print(mine.quantize([0.5, 1.5], 1.0, 3))"
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert alone.stdout == "[4 5]\n"


def test_the_program_in_c_reads_lines(tmp_path: Path) -> None:
    """And says which one is wrong, instead of a result for a number that a type lacks."""
    path, program = tmp_path / "mine.c", tmp_path / "mine"
    assert cli(f"{BOXES}:upgraded", *QUANTIZE, "--emulator", "c", "-o", str(path)).exit_code == 0
    subprocess.run(["cc", "-std=c99", "-O2", "-ffp-contract=off", "-o", str(program), str(path), "-lm"], check=True)

    def run(text: str) -> tuple[int, str, str]:
        done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    assert run("0.5 1 3\n 1.5 1 -128 \r\n") == (0, "4\n-126\n", "")
    few, more = "line 2 is not 3 numbers\n", "line 1 is not 3 numbers\n"
    assert run("0.5 1 3\n1 2\n3\n") == run("0.5 1 3\nabc\n") == (2, "4\n", few)
    assert run("1 2 3 4\n") == (2, "", more) and run("1 1 " + "0" * 2000 + "\n") == (2, "", "line 1 is too long\n")
    assert run("0.5 1 3") == (0, "4\n", "")
    for wrong in ("128", "-129", "0.5", "nan"):
        assert run(f"1 1 {wrong}\n") == (2, "", "line 1: zero_point is no int8\n")


def test_the_file_is_a_backend_whose_sweep_is_that_of_the_box(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    node = (*QUANTIZE, "--input-type", "float16")
    result = cli(f"{BOXES}:upgraded", *node, "--emulator", "numpy", "-o", str(path), "--json")
    told = json.loads(result.stdout)["emulator"]
    assert result.exit_code == 0 and told["file"] == str(path) and told["differs"] is None and told["elements"] > 30_000
    swept: list[dict[str, Any]] = []
    for number, backend in enumerate((f"{BOXES}:upgraded", f"{path}:Emulator")):
        operands = ("--input", "y_scale=0.3", "--input", "y_zero_point=5", "-o", str(tmp_path / f"{number}.json"))
        result = CliRunner().invoke(main, ["sweep", backend, *node, *operands, "--json"])
        assert result.exit_code == 1, result.stderr
        swept.append(json.loads(result.stdout))
    for column in ("inputs", "mismatches", "counts", "intervals"):
        assert swept[0][column] == swept[1][column], column
    assert swept[0]["inputs"] == 65_536 and swept[0]["mismatches"] > 10
    refused = CliRunner().invoke(
        main,
        [
            "sweep",
            f"{path}:Emulator",
            *QUANTIZE,
            "--input",
            "y_scale=1",
            "--input",
            "y_zero_point=0",
            "-o",
            str(tmp_path / "2.json"),
        ],
    )
    assert refused.exit_code == 4 and "other types" in refused.output


def test_what_is_left_open_is_said() -> None:
    answer = audited(KNOWN["in_double"][0])
    data = answer.as_data({"backend": "box", "version": "1"})
    semantics, _ = job.shortest(answer, data, "numpy")
    lines = job.header_of(answer, data, semantics, 7, "tiebreak audit")
    assert "left open by the audit: precision is exact or float64" in lines
    assert "precision: float64 (every step is rounded to float64)" in lines
    assert any("every finite float32" in line for line in lines if line.startswith("of these, "))


def test_a_file_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, path = audited(KNOWN["plain"][0]), tmp_path / "wrong.py"
    monkeypatch.setitem(job.FILES, "numpy", lambda *given: job.numpy_file(*given).replace("rint", "floor"))  # type: ignore[arg-type]
    told = written_for(answer, "numpy", path)
    assert told["exit"] == 1 and not path.exists() and told["file"] is None
    assert set(told["differs"]["inputs"]) == {"x", "y_scale", "y_zero_point"}
    assert int(told["differs"]["backend"]) == int(told["differs"]["emulator"]) + 1


WITHOUT = {"onnx.MatMulInteger", "onnx.ConvInteger", "gguf.Quantize"}


@pytest.mark.parametrize("operator", [*AUDITED, *STAGED])
def test_the_page_lists_what_has_an_emulator(operator: str) -> None:
    listed = (Path(__file__).parent.parent / "docs" / "emulators.md").read_text(encoding="utf-8")
    node = audited_node(operator, {}, "", "", 0)
    if operator in WITHOUT:
        with pytest.raises(InvalidInput, match=f"emulators are written of .*, not of {operator}"):
            job.check_emulated(node, "numpy")
    else:
        job.check_emulated(node, "numpy")
        assert operator in listed or operator.removesuffix("V3").removesuffix("V4") + "V2" in listed


def test_the_header_says_what_was_asked(tmp_path: Path) -> None:
    assert written_for(audited(KNOWN["plain"][0]), "numpy", tmp_path / "one.py")["exit"] == 0
    (line,) = (one for one in (tmp_path / "one.py").read_text().splitlines() if one.startswith("# asked of x from "))
    assert "; scale from " in line and line.endswith("; zero_point from -128 to 127")


@pytest.mark.slow
def test_no_emulator_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "none"
    for arguments, code, text in (
        ([f"{BOXES}:tail", *QUANTIZE, "--emulator", "numpy"], 1, "an answer depends on the operand's place"),
        ([f"{BOXES}:odd", *QUANTIZE, "--emulator", "c"], 1, "no known semantics fits"),
    ):
        result = cli(*arguments, "-o", str(path))
        assert result.exit_code == code and f"no emulator was written: {text}" in result.stdout
    for arguments, text in (
        (
            ["onnxruntime", "--operator", "onnx.MatMulInteger", "--emulator", "numpy"],
            "emulators are written of com.microsoft.QLinearAdd, ",
        ),
        (["--matrix", *QUANTIZE, "--emulator", "numpy"], "--matrix is about no backend"),
        ([f"{BOXES}:plain", *QUANTIZE, "-o", str(path)], "-o names the file of an emulator"),
    ):
        result = cli(*arguments)
        assert result.exit_code == 2 and text in result.stderr and result.stderr.count("\n") == 1
    assert not path.exists()


def test_onnx_has_no_fused_step(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    told = written_for(audited(KNOWN["fused"][0]), "onnx", tmp_path / "fused.onnx")
    assert told["exit"] == 4 and told["why"].startswith("ONNX has no operator for a fused multiply-add")
    assert not (tmp_path / "fused.onnx").exists()


def test_an_onnx_file_is_standard_and_says_its_evidence(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "emulator.onnx"
    assert written_for(audited(KNOWN["ties_away"][0]), "onnx", path)["exit"] == 0
    model = onnx.load(path)
    assert {node.domain for node in model.graph.node} == {""} and [one.domain for one in model.opset_import] == [""]
    assert "evidence: the backend answered 47,817 elements" in model.doc_string


@pytest.mark.parametrize("name", ["reciprocal", "in_half", "ties_away"])
def test_an_onnx_file_keeps_its_steps_in_onnx_runtime(name: str, tmp_path: Path) -> None:
    """Whose optimiser makes x * (1 / scale) an x / scale, and might drop a cast."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    path, x, box = tmp_path / "emulator.onnx", every_float16(), KNOWN[name][0]
    assert written_for(audited(box), "onnx", path)["exit"] == 0
    for scale in (0.1, 0.0235, 0.7):
        others = np.array([scale], np.float32), np.array([5], np.int8)
        with np.errstate(all="ignore"):
            wanted = box(x, *others)
        found = running.answers_of_onnxruntime(path, (x, *others))
        assert found is not None and np.array_equal(found, wanted)


def test_names_of_backends_stay_in_comments(tmp_path: Path) -> None:
    hostile = '*/ int x[\n??/\n"""\\ coding: utf-7 */ \u202e'
    assert "*/" not in one_line(hostile) and "??/" not in one_line(hostile) and one_line(hostile).isprintable()
    answer = audited(KNOWN["plain"][0])
    for target, path in (("numpy", tmp_path / "one.py"), ("c", tmp_path / "two.c")):
        assert written_for(answer, target, path, hostile)["exit"] == 0
    lines = (tmp_path / "one.py").read_text(encoding="utf-8").splitlines()
    assert not any("coding" in line for line in lines[:2]) and comment_lines(["", "a"]) == ["#", "# a"]
    module = ast.parse("\n".join(lines))
    assert [type(node).__name__ for node in module.body] == [
        "Import",
        "Assign",
        "Assign",
        "FunctionDef",
        "Try",
        "ClassDef",
    ]


def test_tools_that_are_missing_are_told_before_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.shutil, "which", lambda name: None)
    with pytest.raises(InvalidInput, match="there is no C compiler"):
        running.check_tools("c")
    monkeypatch.setattr(running.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="pip install"):
        running.check_tools("torch")
    running.check_tools("numpy")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["onnxruntime", "torch", "openvino"])
@pytest.mark.parametrize("pair", [("float32", "uint8"), ("float32", "int8"), ("float16", "int8")], ids=":".join)
@pytest.mark.parametrize("target", ["numpy", "c"])
def test_every_float16_through_a_real_library(backend: str, pair: tuple[str, str], target: str, tmp_path: Path) -> None:
    pytest.importorskip(backend)
    path, node = tmp_path / job.DEFAULTS[target].name, make_node("onnx.QuantizeLinear", real=pair[0], quantized=pair[1])
    said = ("--operator", "onnx.QuantizeLinear", "--input-type", pair[0], "--type", pair[1])
    result = cli(backend, *said, "--emulator", target, "-o", str(path))
    if result.exit_code == 4:
        pytest.skip(result.stderr)
    assert result.exit_code == 0, result.output
    dtype, kind = node.inputs[0].dtype, node.outputs[0].dtype
    one = Emulated(node, given("x", pair[0]), "quantize", backend, "")  # to run the file, its steps are not needed
    x, compiled = every_float16().astype(dtype), load_backend(backend).compile(node)
    emulate = running.RUNS[target](path, one)
    for scale in SCALES:
        for zero_point in (0, 5, np.iinfo(kind).max):
            others = np.asarray(scale, dtype), np.asarray(zero_point, kind)
            (wanted,) = compiled(x, *others)
            assert np.array_equal(emulate(x, *(np.broadcast_to(other, x.shape) for other in others)), wanted)


def test_an_emulator_refuses_nodes_that_it_is_not_made_for(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    assert written_for(audited(KNOWN["plain"][0]), "numpy", path)["exit"] == 0
    backend = load_backend(f"{path}:Emulator")
    with pytest.raises(Unsupported, match="other types"):
        backend.compile(quantize_node("float32", "int16"))
    run = backend.compile(quantize_node("float32", "int8"))
    x, many = np.ones((2, 2), np.float32), np.ones(2, np.float32)
    with pytest.raises(Unsupported, match="one scale"):
        run(x, many, np.zeros(2, np.int8))
