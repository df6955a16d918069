"""Cases as C++ for OpTester and OpenVINO, compiled against a stand-in that says what it was given."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from exported_cases import QUANTIZE, Array, some, written

from tiebreak.conformance.offline.cpp_text import float_literal, integer_literal
from tiebreak.conformance.offline.export_optester import tensor_line
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import codes_of

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


@pytest.mark.parametrize("kind", ["float8_e8m0fnu", "float4_e2m1fn", "int2"])
def test_a_type_that_cpp_has_not_is_unsupported(kind: str) -> None:
    with pytest.raises(Unsupported, match=f"a tensor of {kind} has no form in this layout"):
        tensor_line("AddInput", "x", np.zeros(2, numpy_dtype(kind)))


def test_openvino_gets_every_tensor_and_reads_the_models(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    found = written(some(QUANTIZE, 9, input_type="float32", output_type="int8", opset=21), tmp_path / "lab", "openvino")
    folder = tmp_path / "lab" / "cases"
    source = (
        (folder / "onnx_import_tiebreak.in.cpp").read_text(encoding="utf-8").replace("${BACKEND_NAME}", "INTERPRETER")
    )
    tests = told(tmp_path, source, OPENVINO)
    assert len(tests) == len(found.kept) > 5
    core, same, refused = openvino.Core(), 0, list[str]()
    for lines, (number, one) in zip(tests, found.kept, strict=True):
        output = one.outputs[0].array("exact")
        expected = [line("in", array, shape=False) for array in one.case.inputs]
        assert [plain(text) for text in lines[1:]] == [*expected, line("out", output)]
        assert lines[0] == f"node tiebreak_{number:06d}.onnx"
        try:
            model = core.compile_model(str(folder / f"tiebreak_{number:06d}.onnx"), "CPU")
        except RuntimeError as error:
            refused.append(str(error))
            continue
        (got,) = model([array.copy() for array in one.case.inputs]).values()
        same += np.count_nonzero(got == output)
    assert same > 0.7 * sum(one.case.size for _, one in found.kept)  # it multiplies by a reciprocal
    assert all("must be divisible by the block size" in message for message in refused)  # ONNX allows parts of blocks


def test_literals_of_cpp_are_exact() -> None:
    assert [float_literal(value, "float", "f") for value in (1.5, -0.0, 0.1, 3.0)] == [
        "0x1.8000000000000p+0f", "-0.0f", "0x1.999999999999ap-4f", "3.0f",
    ]  # fmt: skip
    assert float_literal(-np.inf, "float", "f") == "-std::numeric_limits<float>::infinity()"
    assert [integer_literal(-(1 << 31), "int32"), integer_literal(7, "uint32")] == ["INT32_MIN", "7u"]
