"""onnx.Cast on the real libraries: a few casts with known bits, what is refused in whose words, and the scripts."""

from __future__ import annotations

import subprocess
import sys
import weakref
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.onnx_models import as_old_as, onnx_node
from tiebreak.adapters.onnxruntime_session import Sessions, Settings
from tiebreak.adapters.packed_bits import BITS, packed, unpacked, used
from tiebreak.adapters.registry import load_backend
from tiebreak.adapters.reproducer import WantedElement, discrepancy_script
from tiebreak.golden.elements import ELEMENT_TYPES, numpy_dtype
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array

Attributes = dict[str, Any]
E4M3, E4M3Z, E5M2, E5M2Z, E8M0, FLOAT4 = (
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"),
)
ON: Attributes = {}
OFF: Attributes = {"saturate": 0}
NEAREST: Attributes = {"saturate": 0, "round_mode": "nearest"}
DOWN: Attributes = {"round_mode": "down"}
INF = float("inf")

# (backend, types of input and output, attributes, inputs, the outputs' codes)
CASTS: tuple[tuple[str, str, str, Attributes, list[Any], list[int]], ...] = (
    *(
        cast
        for name in ("onnxruntime", "onnxruntime-no-optimisation", "onnx-reference")
        for cast in (
            (name, "float32", E4M3, ON, [1.5, 1000, -INF, -0.0], [0x3C, 0x7E, 0xFE, 0x80]),
            (name, "float32", E4M3, OFF, [1.5, 1000], [0x3C, 0x7F]),
            (name, "float16", E5M2, OFF, [1.5, -INF], [0x3E, 0xFC]),
            (name, "float32", E8M0, ON, [1.25, 0], [0x80, 0]),
            (name, "float32", E8M0, DOWN, [1.75], [0x7F]),
            (name, "float32", E8M0, NEAREST, [3.0], [0x81]),
            (name, "float32", "int4", ON, [-3, 7, 0], [0xD, 7, 0]),
            (name, "int8", "uint2", ON, [-3, 7, 2, 0, 1], [1, 3, 2, 0, 1]),
            (name, "uint2", "float16", ON, [0, 1, 2, 3, 1], [0, 0x3C00, 0x4000, 0x4200, 0x3C00]),
            (name, "int4", "int8", ON, [-8, -1, 7], [0xF8, 0xFF, 7]),
        )
    ),
    ("onnxruntime", "int4", "uint4", ON, [-3, 7, -8], [0xD, 7, 8]),
    ("onnxruntime", "float32", "int4", ON, [1.5, 2.5, -2.5, 2.7], [2, 3, 0xD, 3]),  # as onnx_cast_contested.py says
    ("onnx-reference", "float32", "int4", ON, [1.5, 2.5, -2.5, 2.7], [1, 2, 0xE, 2]),  # and this
    ("onnxruntime", "float32", E8M0, ON, [INF], [0xFE]),
    ("onnxruntime", "float32", E8M0, NEAREST, [0, INF], [0xFF, 0xFF]),
    ("onnx-reference", "float32", E8M0, ON, [INF], [0xFF]),  # not what the document says
    ("onnx-reference", "float32", E8M0, NEAREST, [0, INF], [0, 0xFF]),  # of zero not what it says
    ("onnx-reference", "float32", FLOAT4, ON, [2.5, 100, -0.1, -INF], [4, 7, 8, 0xF]),
    ("openvino", "float32", E4M3, ON, [1.5, -0.0], [0x3C, 0x80]),
    ("openvino", "float32", "int4", ON, [-3, 7, 0], [0xD, 7, 0]),
    ("openvino", "uint4", "int4", ON, [13, 7, 8], [0xD, 7, 8]),
    ("openvino", "int4", "float64", ON, [-3, 7, 0], [0xC008 << 48, 0x401C << 48, 0]),
    ("openvino", "float32", FLOAT4, ON, [2.5, 100, -INF], [4, 7, 0xF]),
    ("openvino", FLOAT4, "bfloat16", ON, [0.5, -6, 3], [0x3F00, 0xC0C0, 0x4040]),
    ("openvino", E8M0, "float32", ON, [0.5, 4], [0x3F000000, 0x40800000]),
    ("ml_dtypes", "float32", E4M3, OFF, [1.5, 1000, -0.0], [0x3C, 0x7F, 0x80]),
    ("ml_dtypes", "float32", E8M0, NEAREST, [3.0, 0, 1.4], [0x81, 0xFF, 0x7F]),
    ("ml_dtypes", "float32", "int4", ON, [-3.7, 7], [0xD, 7]),
    ("ml_dtypes", "float64", FLOAT4, ON, [2.5, 100, -INF], [4, 7, 0xF]),
    ("ml_dtypes", "int32", "uint4", ON, [-3, 18], [0xD, 2]),
    ("torch", "float32", E4M3, ON, [1.5, 1000, INF], [0x3C, 0x7E, 0x7E]),
    ("torch", "float32", E5M2, OFF, [1.5, 1e6], [0x3E, 0x7C]),
    ("torch", "bfloat16", E4M3Z, OFF, [1.5, 1000], [0x44, 0x80]),
    ("torch", "float32", E8M0, NEAREST, [3.0, 1.4, INF], [0x81, 0x7F, 0xFF]),
    ("torch", E5M2, "float16", ON, [1.5, -INF], [0x3E00, 0xFC00]),
    (
        "paddle",
        "float32",
        E4M3,
        ON,
        [1.5, 465, 479, 480, INF, float("nan"), -0.0],
        [0x3C, 0x7F, 0x7F, 0x7E, 0x7E, 0x7E, 0x80],
    ),
    ("paddle", "float32", E5M2, ON, [1.5, 61440, 65536, -INF], [0x3E, 0x7C, 0x7B, 0xFB]),
    ("paddle", "bfloat16", E4M3, ON, [1.5, -3], [0x3C, 0xC4]),
    ("paddle", E4M3, "bfloat16", ON, [1.5, -448], [0x3FC0, 0xC3E0]),
    ("mlx", "float32", E4M3, ON, [1.5, 465, INF, float("nan"), -0.0], [0x3C, 0x7E, 0x7E, 0x7E, 0x80]),
    ("mlx", "bfloat16", E4M3, ON, [1.5, -3], [0x3C, 0xC4]),
    ("mlx", E4M3, "bfloat16", ON, [1.5, -448], [0x3FC0, 0xC3E0]),
    ("tinygrad", "float32", E4M3, ON, [1.5, 1000, INF, 2.0**-7, -(2.0**-9), -0.0], [0x3C, 0x7E, 0x7E, 0, 0x80, 0x80]),
    ("tinygrad", "float32", E5M2Z, ON, [1.5, 1e6, 0, -0.0], [0x42, 0x7F, 4, 0x84]),  # of zero 2^-15
    ("tinygrad", "bfloat16", E5M2, ON, [1.5, -3], [0x3E, 0xC2]),
    ("tinygrad", E4M3, "float32", ON, [1.5, 2.0**-9, -448], [0x3FC00000, 0, 0xC3E00000]),  # a subnormal number is 0
    ("tinygrad", "int32", E4M3, ON, [3, -500], [0x44, 0xFE]),
    ("tensorflow", "float32", E4M3, OFF, [1.5, 1000], [0x3C, 0x7F]),
    ("tensorflow", E5M2, "bfloat16", ON, [1.5, -INF], [0x3FC0, 0xFF80]),
    ("tensorflow", "int4", "int8", ON, [-8, -1, 7], [0xF8, 0xFF, 7]),
    ("tensorflow", "int32", "uint4", ON, [-3, 18], [0xD, 2]),
    ("litert", "float32", "int4", ON, [-3.7, 7, 100], [0xD, 7, 7]),  # truncated and clamped
    ("litert", "float32", "int2", ON, [-2, 1.5, 0], [2, 1, 0]),
    ("litert", "int4", "float32", ON, [-8, 7], [0xC1000000, 0x40E00000]),
    ("litert-no-xnnpack", "uint4", "float32", ON, [15], [0x41700000]),
    ("jax", "float32", E4M3, OFF, [1.5, 1000, -0.0], [0x3C, 0x7F, 0x80]),
    ("jax", "float32", E8M0, NEAREST, [3.0, 1.4, INF], [0x81, 0x7F, 0xFF]),
    ("jax", "float32", "int4", ON, [-3.7, 100], [0xD, 7]),
    ("jax", FLOAT4, "int8", ON, [4, 6, -6], [4, 127, 0x80]),  # 6 is float4_e2m1fn's largest number
    ("iree", E5M2, "float32", ON, [1.5, -INF], [0x3FC00000, 0xFF800000]),
    ("triton-interpreter", "float32", E4M3, ON, [1.5, 1.0625, 1.96875, -INF], [0x3C, 0x39, 0x38, 0xF8]),  # 3 are wrong
    ("triton-interpreter", E5M2, "float16", ON, [1.5, -INF], [0x3E00, 0xFC00]),
    ("tvm", E5M2, "float16", ON, [1.5, 0], [0x3E00, 0x0200]),  # of zero 2^-15
    ("emx-onnx-cgen", "float32", E4M3, ON, [1.5, 1000, -INF, -0.0], [0x3C, 0x7E, 0xFE, 0x80]),
    ("emx-onnx-cgen", "float32", E4M3, OFF, [1.5, 1000], [0x3C, 0x7F]),
    ("emx-onnx-cgen", "float32", E8M0, DOWN, [1.75], [0x80]),  # not what the document says
    ("emx-onnx-cgen", E8M0, "float32", ON, [0.5, 4], [0x3F000000, 0x40800000]),
)
REFUSED: tuple[tuple[str, str, str, Attributes, str], ...] = (
    ("onnxruntime", "float32", FLOAT4, ON, "Could not find an implementation for Cast"),
    ("onnxruntime", "float32", E8M0, {"round_mode": "sideways"}, "round_mode"),
    ("onnxruntime-qdq", "float32", E4M3, ON, "Cast is no part of a pair"),
    ("onnx-reference", "int4", "uint4", ON, "Cannot cast array data from dtype\\(int4\\) to dtype\\(uint4\\)"),
    ("openvino", "float32", E4M3Z, ON, "Unsupported data type FLOAT8E4M3FNUZ"),
    ("openvino", "int8", "int2", ON, "Unsupported data type INT2"),
    ("openvino", "uint8", FLOAT4, ON, "can't convert from: u8 precision to: f4e2m1"),
    ("ml_dtypes", "float32", E4M3, ON, "one conversion to float8_e4m3fn, which is that of saturate False, not the"),
    ("ml_dtypes", "float32", E8M0, OFF, "is that of saturate False, round_mode nearest, not saturate False$"),
    ("ml_dtypes", "float32", "int4", OFF, "is that of the defaults, not saturate False"),
    ("ml_dtypes", "int4", "uint4", ON, "Cannot cast array data from dtype\\(int4\\) to dtype\\(uint4\\)"),
    ("torch", "float32", "int4", ON, "torch makes no tensor of int4"),
    ("torch", FLOAT4, "float32", ON, "torch makes no tensor of float4_e2m1fn"),
    ("torch", "float32", E4M3, OFF, "one conversion to float8_e4m3fn, which is that of the defaults"),
    ("torch", "float32", E8M0, ON, "is that of saturate False, round_mode nearest, not the defaults"),
    ("tensorflow", "float32", E4M3, ON, "is that of saturate False, not the defaults"),
    ("tensorflow", "float32", "int4", ON, "Cast float to int4 is not supported"),
    ("tensorflow", E8M0, "float32", ON, "'float8_e8m0fnu' to a TensorFlow DType"),
    ("litert", "float32", E4M3, ON, "is that of saturate False, not the defaults"),
    ("litert", "float16", "int4", ON, "Type INT4 is unsupported by op Cast"),
    ("litert", "int2", "int8", ON, "Got value of type INT8 but expected type INT2"),
    ("litert", "float32", "uint2", ON, "LiteRT's schema has no uint2"),
    ("tflite-micro", "float32", "int4", ON, "tflite-micro is run for"),
    ("paddle", "float32", E4M3, OFF, "is that of the defaults, not saturate False"),
    ("mlx", "float32", E4M3, OFF, "is that of the defaults, not saturate False"),
    ("mlx", "float32", E5M2, ON, "MLX has no conversion from float32 to float8_e5m2"),
    ("paddle", "float32", "int4", ON, "PaddlePaddle makes no tensor of int4"),
    ("jax", "float32", E4M3, ON, "is that of saturate False, not the defaults"),
    ("jax", "float64", "int4", ON, "unless jax_enable_x64 is set"),
    ("triton-interpreter", "float32", E4M3, OFF, "is that of the defaults, not saturate False"),
    ("triton-interpreter", "int8", E4M3, ON, "cannot cast .* to <\\['1024'\\], fp8e4nv>"),
    ("triton-interpreter", "float32", E8M0, ON, "Triton has no element type float8_e8m0fnu"),
    ("executorch", "float32", E4M3, ON, "taking Tensor inputs with mismatched dtypes"),
    ("executorch", "float32", "int4", ON, "torch makes no tensor of int4"),
    ("iree", "float32", FLOAT4, ON, "Unknown ONNX tensor element type: 23"),
    ("iree", "float32", E4M3, ON, "failed to legalize operation 'torch.operator'"),
    ("tvm", "float32", "int4", ON, "dtype.bits % 8 == 0"),
    ("tvm", "int4", "float32", ON, "TensorCopyFromBytes: size mismatch"),
    ("tract", "float32", E4M3, ON, "Unknown DatumType Float8e4m3fn"),
    ("tinygrad", "float32", E4M3, OFF, "is that of the defaults, not saturate False"),
    ("tinygrad", "float32", "int4", ON, "tinygrad makes no tensor of int4"),
    ("onnxruntime-openvino", "float32", E4M3, ON, "fallback to CPU EP has been explicitly disabled"),
)


def case_of(real: str, quantized: str, attributes: Attributes, values: list[Any]) -> Case:
    plain = {name: value for name, value in attributes.items() if value != "sideways"}
    node = make_node("onnx.Cast", real=real, quantized=quantized, attributes=plain)
    if plain != attributes:
        node = Node(node.operator, {**node.attributes, **attributes}, node.inputs, node.outputs, node.opset)
    return Case("c", node, (np.array(values, np.float64).astype(node.inputs[0].dtype),))


@cache
def library(name: str) -> Any:
    try:
        return load_backend(name)
    except (ModuleNotFoundError, MachineryFailed) as error:  # tinygrad needs clang
        pytest.skip(str(error))


def codes(array: Array) -> list[int]:
    """The elements' bits, without what a type of fewer than 8 bits leaves undefined."""
    mask = (1 << ELEMENT_TYPES[array.dtype.name].bits) - 1
    return [int(word) & mask for word in array.view(f"uint{8 * array.dtype.itemsize}").reshape(-1)]


@pytest.mark.parametrize(("name", "real", "quantized", "attributes", "values", "wanted"), CASTS)
def test_casts_with_known_bits(
    name: str, real: str, quantized: str, attributes: Attributes, values: list[float], wanted: list[int]
) -> None:
    case = case_of(real, quantized, attributes, values)
    (output,) = library(name).compile(case.node)(*case.inputs)
    assert output.dtype == case.node.outputs[0].dtype and output.shape == case.inputs[0].shape
    assert codes(output) == wanted


@pytest.mark.parametrize(("name", "real", "quantized", "attributes", "reason"), REFUSED)
def test_refusals_in_their_own_words(name: str, real: str, quantized: str, attributes: Attributes, reason: str) -> None:
    case = case_of(real, quantized, attributes, [1, 2])
    with pytest.raises(Unsupported, match=reason):
        library(name).compile(case.node)(*case.inputs)


@pytest.mark.few(24)
@pytest.mark.parametrize(
    ("name", "real", "quantized"),
    [
        *((name, "int4", "int8") for name in ("onnxruntime", "onnx-reference", "openvino", "ml_dtypes")),
        *((name, "uint8", "uint4") for name in ("onnxruntime", "onnx-reference", "openvino", "ml_dtypes")),
        *((name, "float32", E5M2) for name in ("onnxruntime", "onnx-reference", "openvino", "ml_dtypes", "torch")),
        *(
            ("litert", "int4", "float32"),
            ("jax", "uint8", "uint4"),
            ("jax", "float32", E5M2),
            ("paddle", E5M2, "float32"),
            ("mlx", E4M3, "float32"),
            ("tinygrad", E4M3, "float32"),
            ("iree", E5M2, "float32"),
            ("triton-interpreter", "float32", E5M2),
        ),
        ("emx-onnx-cgen", "float32", E5M2),
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (1, 1, 5)])
def test_every_shape(name: str, real: str, quantized: str, shape: tuple[int, ...]) -> None:
    attributes = OFF if quantized == E5M2 and name in ("ml_dtypes", "torch", "jax") else ON
    node = make_node("onnx.Cast", real=real, quantized=quantized, attributes=attributes)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(node.inputs[0].dtype)
    (output,) = library(name).compile(node)(x)
    assert output.shape == shape and output.astype(np.float64).tolist() == x.astype(np.float64).tolist()


def first_codes() -> list[tuple[str, Case, int]]:
    """Of each backend and each way into and out of it one cast, and the code that it gives first."""
    chosen = [("onnxruntime", 0), ("onnxruntime", 6), ("onnxruntime", 8), ("openvino", 0), ("openvino", 2)]
    chosen += [("onnx-reference", 0), ("ml_dtypes", 0), ("torch", 0), ("tensorflow", 2), ("litert", 1), ("litert", 2)]
    chosen += [
        ("jax", 0),
        ("jax", 3),
        ("tinygrad", 0),
        ("tinygrad", 3),
        ("iree", 0),
        ("tvm", 0),
        ("emx-onnx-cgen", 0),
        ("triton-interpreter", 0),
    ]
    found = []
    for name, place in chosen:
        _, *given, wanted = [cast for cast in CASTS if cast[0] == name][place]
        found.append((name, case_of(*given), wanted[0]))  # type: ignore[arg-type]
    return found


@pytest.mark.few(5)
@pytest.mark.parametrize(("name", "case", "got"), first_codes(), ids=lambda value: value if type(value) is str else "")
def test_a_script_tells_wrong_from_right(tmp_path: Path, name: str, case: Case, got: int) -> None:
    lines = library(name).reproducer(case.node, case.inputs)
    digits = 2 + 2 * case.node.outputs[0].dtype.itemsize
    for right, code in ((got ^ 1, 1), (got, 0)):
        wanted = WantedElement(0, 0, {right: "right"}, got, [("input", "0x0", "0")])
        text = discrepancy_script("A title", case.node, case.inputs, wanted, lines)
        assert "tiebreak" not in text.lower()
        (tmp_path / "script.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-I", "script.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        assert f"got {got:#0{digits}x} " in done.stdout


def test_it_attests_what_ran() -> None:
    runtime: Any = load_backend("onnxruntime")
    for real, quantized in (("float32", "int4"), ("int4", "uint4"), ("int4", "int8")):
        runtime.compile(make_node("onnx.Cast", real=real, quantized=quantized))
    assert runtime.attest()["ran"] == "Cast from float32, Cast from int4: Cast on CPUExecutionProvider"
    assert library("ml_dtypes").attest()["ml_dtypes"] == ml_dtypes.__version__


def test_the_model_is_the_node_alone() -> None:
    """A Cast beside it would be of the kind that is tested, and a runtime might make one of both."""
    case = case_of("int4", "uint2", ON, [1])
    for name in ("onnxruntime", "openvino", "onnx-reference"):
        lines = library(name).reproducer(case.node, case.inputs)
        assert lines.count("helper.make_node(") == lines.count('helper.make_node("Cast"') == 1


def test_an_older_operator_set_is_taken_only_if_its_text_says_the_same_of_the_node() -> None:
    def versions(quantized: str, **given: Any) -> list[int]:
        node = make_node("onnx.Cast", quantized=quantized, **given)
        return [written.opset for written in as_old_as(onnx_node(node))]

    assert versions(E4M3) == [21, 19]
    assert versions("int4", opset=25) == [25, 24, 23, 21]
    assert versions(E4M3Z, opset=23) == [23, 21, 19]
    assert versions(E4M3Z, opset=25) == [25, 24], "an infinity means another number from 24 on"
    assert versions(E8M0, attributes=DOWN, opset=25) == [25, 24]


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 3), (2, 4)])
def test_packing_and_unpacking(name: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape, dtype=int))
    words = np.arange(size, dtype=np.uint8) % (1 << BITS[name])
    own = words.view(numpy_dtype(name)) if name.startswith("float") else words.astype(numpy_dtype(name))
    array = own.reshape(shape)
    held = packed(array)
    assert held.shape == shape and used(held, name).size == -(-size * BITS[name] // 8)
    again = unpacked(used(held, name), name, shape)
    assert again.dtype == array.dtype and codes(again) == codes(array) == words.tolist()


def test_the_first_element_is_in_the_lowest_bits() -> None:
    assert packed(np.array([1, -2, 3], ml_dtypes.int4)).tolist() == [0xE1, 0x03, 0]
    assert packed(np.array([1, 2, 3, 0, 1], ml_dtypes.uint2)).tolist() == [0b00111001, 1, 0, 0, 0]


def test_what_is_bound_lives_until_the_run() -> None:
    """ONNX Runtime 1.24 keeps neither the values that are bound nor the arrays in whose memory they are."""
    bound: list[weakref.ref[Any]] = []

    class Value:
        def __init__(self, words: Array, kind: int) -> None:
            self.words = words

    class Binding:
        def bind_ortvalue_input(self, name: str, value: Value) -> None:
            bound.extend((weakref.ref(value), weakref.ref(value.words)))

        def bind_output(self, name: str) -> None:
            """It is read by get_outputs."""

        def get_outputs(self) -> list[Any]:
            return [SimpleNamespace(numpy=lambda: np.zeros(3, np.float32))]

    def run(binding: Binding) -> None:
        assert len(bound) == 2 and all(kept() is not None for kept in bound)

    errors = SimpleNamespace(Fail=OSError, InvalidArgument=OSError, NotImplemented=OSError)
    made = SimpleNamespace(ortvalue_from_numpy_with_onnx_type=Value)
    runtime = SimpleNamespace(capi=SimpleNamespace(onnxruntime_pybind11_state=errors), OrtValue=made)
    session = SimpleNamespace(io_binding=Binding, run_with_iobinding=run)
    feeds = {"input": np.array([1, 2, 3], ml_dtypes.int4)}
    Sessions(runtime, Settings()).answer(session, feeds, "float32", (3,), packs=True)
    assert [kept() for kept in bound] == [None, None]


def test_in_a_worker_of_its_own() -> None:
    isolated = IsolatedBackend("ml_dtypes", time_limit=60)
    try:
        isolated.start()
        outcome = isolated.run(case_of("float32", FLOAT4, ON, [2.5, 100]))
        assert outcome.status == "ok", outcome.message
        assert codes(outcome.outputs[0]) == [4, 7]
    finally:
        isolated.close()
