"""What reaches a library when an adapter runs a case, noted where the library begins. There the call ends.

A listener replaces the library's own functions and notes each call as facts by name. A tensor is its element type, its
shape and its bits. What a library is given to probe its types is not noted.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
import pytest

from tiebreak.adapters import ml_dtypes_blocks, mlx_cast, ngraph, paddle_cast
from tiebreak.adapters.litert_model import CARRIERS
from tiebreak.adapters.openvino_onnx import BY_BITS, PACKED
from tiebreak.adapters.recent import Recent
from tiebreak.adapters.triton import TYPES as TRITON_TYPES
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array

Facts = dict[str, Any]
Listener = Callable[[Any, pytest.MonkeyPatch, list[Facts]], None]
FAKE = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
BOTH_WAYS = tuple(f"QuantizeAndDequantizeV{version}" for version in (2, 3, 4))
RAW = (*FAKE, *BOTH_WAYS, "UniformQuantize", "UniformDequantize", "UniformRequantize")
THREE, ENDS = ("x", "scale", "zero_point"), ("quant_min", "quant_max")
# The functions of torch and the names of their arguments by position.
TORCH = {
    "quantize_per_tensor": (*THREE, "dtype"),
    "quantize_per_channel": (*THREE, "axis", "dtype"),
    "_make_per_tensor_quantized_tensor": THREE,
    "_make_per_channel_quantized_tensor": (*THREE, "axis"),
    "fake_quantize_per_tensor_affine": (*THREE, *ENDS),
    "fake_quantize_per_channel_affine": (*THREE, "axis", *ENDS),
}
DECOMPOSED = {"tensor": (*THREE, *ENDS, "dtype"), "channel": (*THREE, "axis", *ENDS, "dtype")}
OPENVINO_TYPES = {short: name for name, short in {**BY_BITS, **PACKED}.items()}
# The types to which linear operators convert a scale or a zero point before they begin; no allowed Cast has them.
BEFORE_TORCH = ("int64", "float64")


class Stopped(Exception):  # noqa: N818 - no error: the call has been heard
    """Ends a call where the library would begin."""


def tensor(array: Any, kind: str = "") -> tuple[str, tuple[int, ...], str]:
    """Element type, shape and bits. `kind` is the type if the array only carries it."""
    own = np.asarray(array)
    name = kind or own.dtype.name
    return name, own.shape, own.astype(dtype_of(name), copy=False).tobytes().hex()


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of any type's name, int64 too, which no operator has."""
    return np.dtype(getattr(ml_dtypes, name, name))


def heard_by(backend: Any, listener: Listener, case: Case, *, first: bool = False) -> tuple[list[Facts], str]:
    """All facts that the library heard, and why it heard no more: the adapter's reason, or "" for a whole call.

    With `first` it listens from the compilation on.
    """
    heard: list[Facts] = []
    with pytest.MonkeyPatch.context() as patch:
        try:
            if first:
                listener(backend, patch, heard)
            run = backend.compile(case.node)
            if not first:
                listener(backend, patch, heard)
            run(*case.inputs)
        except Unsupported as reason:
            return heard, str(reason) or "no reason"
        except Stopped:
            pass
    return heard, ""


def onnx_facts(model: Any, feeds: Mapping[str, Array] | None = None) -> Facts:
    """The facts of a model's node: of the first of its kind, but the attributes of all of them."""
    from onnx import helper, numpy_helper

    graph = model.graph
    node = tested_node(graph)
    same = [other for other in graph.node if other.op_type == node.op_type]
    found = [{a.name: text_of(helper.get_attribute_value(a)) for a in other.attribute} for other in same]
    beside = [other for other in graph.node if other.op_type == "Cast" and node.op_type != "Cast"]
    casts = {cast.output[0]: (cast.input[0], NUMBERS[cast.attribute[0].i]) for cast in beside}
    fixed = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    attributes = found[0] if all(other == found[0] for other in found) else found
    facts = {"operator": node.op_type, "opset": model.opset_import[0].version, "attributes": attributes}
    if len(graph.output) > 1:
        facts["outputs"] = [NUMBERS[value.type.tensor_type.elem_type] for value in graph.output]
    if feeds is None:
        return facts
    sources = [casts.get(name, (name, "")) for name in node.input if name]  # an input left off has none
    return facts | {"inputs": [tensor((fixed | dict(feeds))[name], kind) for name, kind in sources]}


def tested_node(graph: Any) -> Any:
    """The first linear operator, or else the only node: a Cast has none beside it."""
    linear = [node for node in graph.node if node.op_type.endswith("Linear")]
    assert linear or len(graph.node) == 1
    return linear[0] if linear else graph.node[0]


def text_of(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def onnxruntime_session(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    import onnx

    library = backend.sessions.library
    make = library.InferenceSession

    class Session:
        def __init__(self, content: bytes, *options: Any, **providers: Any) -> None:
            self.model = onnx.load_model_from_string(content)
            heard.append(onnx_facts(self.model))
            self.get_providers = make(content, *options, **providers).get_providers

        def run(self, names: Sequence[str], feeds: Mapping[str, Array]) -> NoReturn:
            heard.append(onnx_facts(self.model, feeds))
            raise Stopped

        def io_binding(self) -> Any:
            self.bound: dict[str, Array] = {}
            keep = lambda name, value: self.bound.update({name: array_of_ort(value)})  # noqa: E731
            return SimpleNamespace(
                bind_ortvalue_input=keep, bind_ortvalue_output=lambda *_: None, bind_output=lambda _: None
            )

        def run_with_iobinding(self, binding: Any) -> NoReturn:
            self.run([], self.bound)

    patch.setattr(library, "InferenceSession", Session)


def array_of_ort(value: Any) -> Array:
    content = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return array_of_content(content, NUMBERS[value.element_type()], value.shape())


def array_of_content(content: bytes, name: str, shape: Sequence[int]) -> Array:
    """The array that a runtime holds so: types of 2 and 4 bits have several elements in a byte, the first lowest."""
    bits = ELEMENT_TYPES[name].bits
    if bits >= 8:
        return np.frombuffer(content, dtype_of(name)).reshape(shape)
    whole, half = int.from_bytes(content, "little"), 1 << (bits - 1)
    words = [whole >> (bits * k) & (2 * half - 1) for k in range(math.prod(shape))]
    if name.startswith("float"):
        return np.array(words, np.uint8).view(dtype_of(name)).reshape(shape)
    signed = [word - 2 * half if word >= half and name.startswith("int") else word for word in words]
    return np.array(signed, np.int64).astype(dtype_of(name)).reshape(shape)


def onnx_evaluator(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    def evaluator(model: Any) -> Any:
        heard.append(onnx_facts(model))

        def run(names: Sequence[str], feeds: Mapping[str, Array]) -> NoReturn:
            heard.append(onnx_facts(model, feeds))
            raise Stopped

        return SimpleNamespace(run=run)

    patch.setattr(backend, "evaluator", evaluator)


def onnxruntime_function(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    def quantize_nparray(kind: int, *inputs: Any) -> NoReturn:
        heard.append({"type": kind, "inputs": [one if isinstance(one, int) else tensor(one) for one in inputs]})
        raise Stopped

    patch.setattr(backend, "quantize", quantize_nparray)


def onnx_prepared(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Replaces what prepares models, and forgets those that are prepared."""

    def prepare(model: Any) -> Callable[[Sequence[Array]], NoReturn]:
        names = [value.name for value in model.graph.input]

        def run(inputs: Sequence[Array]) -> NoReturn:
            heard.append(onnx_facts(model, dict(zip(names, inputs, strict=True))))
            raise Stopped

        return run

    patch.setattr(backend.library, "prepare", prepare)
    patch.setattr(backend, "models", Recent())


def iree_modules(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """The same of ONNX's models; of other operations what the module's text says, and what the function gets."""
    onnx_prepared(backend.onnx, patch, heard)

    def compiled(text: Callable[[], str], dialect: str, types: Sequence[Any]) -> Callable[[Sequence[Array]], NoReturn]:
        facts = stablehlo_facts(text()) if dialect == "stablehlo" else rescale_facts(dialect, text())

        def run(inputs: Sequence[Array]) -> NoReturn:
            heard.append({**facts, "inputs": [tensor(array) for array in inputs]})
            raise Stopped

        return run

    patch.setattr(backend.library, "compiled", compiled)
    patch.setattr(backend, "models", Recent())


def stablehlo_modules(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """What the module's text says, and what becomes the attribute that its function gets."""

    def evaluated(text: str, given: Array) -> NoReturn:
        heard.append({**stablehlo_facts(text), "inputs": [tensor(given)]})
        raise Stopped

    patch.setattr(backend, "constant", lambda array, kind: array)
    patch.setattr(backend, "evaluated", evaluated)


def stablehlo_facts(text: str) -> Facts:
    """The operation, and both types in their parts: sizes, storage, ends, expressed type, dimension and pairs."""
    ((name, operand, result),) = re.findall(r"stablehlo\.(\w+) %operand : \((.*)\) -> (.*)", text)
    return {"operation": name, "types": [parts_of_type(operand), parts_of_type(result)]}


def parts_of_type(text: str) -> Facts:
    ((sizes, element),) = re.findall(r"^tensor<((?:\d+x)*)(.*)>$", text)
    found = re.fullmatch(r"!quant\.uniform<([iu]\d+)(?:<(.*?)>)?:(\w+)(?::(\d+))?, \{?(.*?)\}?>", element)
    if found is None:
        return {"sizes": sizes, "element": element}
    storage, ends, real, axis, pairs = found.groups()
    numbers = [(float(scale), int(point)) for scale, point in (pair.split(":") for pair in pairs.split(","))]
    return {"sizes": sizes, "storage": storage, "ends": ends, "element": real, "dimension": axis, "pairs": numbers}


def rescale_facts(dialect: str, text: str) -> Facts:
    (operation,) = re.findall(r'"(tosa\.rescale)"\((.*?)\) <\{(.*?)\}> : \((.*?)\) -> (\S+)', text)
    name, operands, attributes, kinds, result = operation
    return {
        "operation": (dialect, name, operands.split(", ")),
        "attributes": dict(one.split(" = ") for one in attributes.split(", ")),
        "types": [*kinds.split(", "), result],
        "constants": dict(re.findall(r"%(\w+) = .*?dense<(.*?)>", text)),
    }


def openvino_convolution(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where FakeQuantize is made."""
    from openvino import opset1

    def fake_quantize(x: Any, *ends: Any, **attributes: Any) -> NoReturn:
        heard.append({"attributes": attributes, "size": x.shape[3], "limits": [tensor(end.data) for end in ends]})
        raise Stopped

    patch.setattr(opset1, "fake_quantize", fake_quantize)
    patch.setattr(backend, "models", Recent())


def formula_of_jax(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Lets the compiled formula note its operands, those that are built in and those that it is given.

    That of a Cast stays: the function that converts notes what it is given.
    """
    own = backend.formula

    def convert_element_type(x: Array, dtype: Any) -> NoReturn:
        heard.append({"x": tensor(x), "dtype": np.dtype(dtype).name})
        raise Stopped

    def formula(node: Node, names: Sequence[str], fixed: Mapping[str, Array]) -> Callable[..., NoReturn]:
        if node.operator == "onnx.Cast":
            return own(node, names, fixed)  # type: ignore[no-any-return]

        def called(*free: Array) -> NoReturn:
            rest = iter(free)
            given = {name: fixed[name] if name in fixed else next(rest) for name in names}
            heard.append({name: (array.shape, array.astype(float).tolist()) for name, array in given.items()})
            raise Stopped

        return called

    patch.setattr(backend, "formula", formula)
    patch.setattr(backend.library.lax, "convert_element_type", convert_element_type)
    patch.setattr(backend, "functions", Recent())
    patch.setattr(backend.library, "jit", lambda function: function)


def int8_by_factor(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Replaces the call of the library: (layer, factor, x) in ncnn, (x, factor) in MNN."""

    def answer(*given: Any) -> NoReturn:
        x, factor = (given[2], given[1]) if len(given) == 3 else given
        heard.append({"x": tensor(x), "factor": float(factor)})
        raise Stopped

    patch.setattr(backend, "answer", answer)


def openvino_core(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Replaces the core, forgets the models that another one made, and listens where FakeQuantize is made."""
    import onnx
    from openvino import opset1

    make = opset1.fake_quantize
    built_in: list[Any] = []

    def fake_quantize(*sources: Any, **attributes: Any) -> Any:
        built_in[:] = [tensor(s.data) if s.get_type_name() == "Constant" else None for s in sources]
        heard.append({"attributes": attributes})
        return make(*sources, **attributes)

    def compile_model(model: Any, *settings: Any) -> Any:
        def infer(fed: Any) -> NoReturn:
            if isinstance(fed, dict):
                heard.append(onnx_facts(model, {name: array_of_openvino(t) for name, t in fed.items()}))
            else:
                rest = iter(fed)
                heard.append({"inputs": [known or tensor(array_of_openvino(next(rest))) for known in built_in]})
            raise Stopped

        names = [port.name for port in model.graph.input] if isinstance(model, onnx.ModelProto) else []
        ports = [SimpleNamespace(get_any_name=lambda name=name: name) for name in names]
        return SimpleNamespace(inputs=ports, create_infer_request=lambda: SimpleNamespace(infer=infer))

    def read_model(content: bytes) -> Any:
        model = onnx.load_model_from_string(content)
        heard.append(onnx_facts(model))
        return model

    patch.setattr(backend, "core", SimpleNamespace(read_model=read_model, compile_model=compile_model))
    patch.setattr(backend, "models", Recent())
    patch.setattr(opset1, "fake_quantize", fake_quantize)


def array_of_openvino(given: Any) -> Array:
    short = given.element_type.get_type_name()
    found = np.array(given.data)
    return array_of_content(found.tobytes(), OPENVINO_TYPES.get(short, found.dtype.name), tuple(given.shape))


def tensorflow_raw(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    def listening(operation: str) -> Callable[..., NoReturn]:
        def call(**arguments: Any) -> NoReturn:
            given = {name: plain_of_tensorflow(value) for name, value in arguments.items()}
            heard.append({"operation": operation, **given})
            raise Stopped

        return call

    for operation in ("QuantizeV2", "Dequantize", "Cast", *RAW):
        patch.setattr(backend.library.raw_ops, operation, listening(operation))
    patch.setattr(backend, "graphs", {})
    patch.setattr(backend.library, "function", lambda run, **settings: run)  # a graph's operators hear arrays, too


def plain_of_tensorflow(value: Any) -> Any:
    """A tensor, a type's name, or the value itself. A quantized tensor has the same type without q."""
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    if not hasattr(value, "shape"):
        return value
    array = value if isinstance(value, np.ndarray) else value.numpy()
    name = value.dtype.name.removeprefix("q")
    return tensor(array.view(dtype_of(name)))


def torch_functions(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    torch = backend.library

    def listening(function: str, names: Sequence[str]) -> Callable[..., NoReturn]:
        def call(*arguments: Any, **named: Any) -> NoReturn:
            given = {**dict(zip(names, arguments, strict=True)), **named}
            facts = {"function": function} | {name: plain_of_torch(value) for name, value in given.items()}
            heard.append(limits_of_torch(facts) if function.startswith("fake") else facts)
            raise Stopped

        return call

    for function, names in TORCH.items():
        patch.setattr(torch, function, listening(function, names))
    convert, cast = torch.Tensor.to, listening("Tensor.to", ("x", "dtype"))
    before = [getattr(torch, name) for name in BEFORE_TORCH]
    patch.setattr(torch.Tensor, "to", lambda x, dtype: (convert if dtype in before else cast)(x, dtype))
    if backend.compiler is not None:  # what it would compile is called
        patch.setattr(torch, "compile", lambda function, **options: function)
        patch.setattr(backend.compiler, "functions", {})
    if backend.modules:
        space = torch.ops.quantized_decomposed
        for way in ("quantize", "dequantize"):
            one = listening(f"{way}_per_tensor", DECOMPOSED["tensor"])
            patch.setattr(space, f"{way}_per_tensor", SimpleNamespace(default=one, tensor=one))
            patch.setattr(space, f"{way}_per_channel", listening(f"{way}_per_channel", DECOMPOSED["channel"]))


def exported_functions(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Notes the calls that would be exported."""
    names = {"tensor": DECOMPOSED["tensor"], "channel": DECOMPOSED["channel"]}

    def result(call: Any) -> NoReturn:
        if call.function == "Tensor.to":
            x, dtype = (plain_of_torch(one.value) for one in call.arguments)
            heard.append({"function": call.function, "x": x, "dtype": dtype})
            raise Stopped
        way = call.function.split("quantized_decomposed.")[1].partition(".")[0]
        given = dict(zip(names[way.rpartition("_")[2]], (one.value for one in call.arguments), strict=True))
        given |= {name: one.value for name, one in call.keywords.items()}
        heard.append({"function": way} | {name: plain_of_torch(value) for name, value in given.items()})
        raise Stopped

    patch.setattr(backend.compiler, "result", result)
    patch.setattr(backend, "plan", unprobed(backend.plan))


def unprobed(plan: Callable[[Node], Any]) -> Callable[[Node], Any]:
    """Plans whose probe does nothing."""

    def planned(node: Node) -> Any:
        return dataclasses.replace(plan(node), probe=SimpleNamespace(run=lambda library: None))

    return planned


def plain_of_torch(value: Any) -> Any:
    import torch

    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if not isinstance(value, torch.Tensor):
        return value
    bits = value.contiguous().view(getattr(torch, f"uint{8 * value.element_size()}")).numpy()
    return tensor(bits.view(dtype_of(str(value.dtype).removeprefix("torch."))))


def limits_of_torch(facts: Facts) -> Facts:
    """The facts with scale and zero point as numbers."""
    scales, zeros = (array_of(facts.pop(name)).tolist() for name in ("scale", "zero_point"))
    return facts | {"scales": [np.float32(scale).item() for scale in scales], "zeros": [int(zero) for zero in zeros]}


def array_of(given: Any) -> Array:
    """The elements of a noted tensor, or a number as an array of one."""
    if not isinstance(given, tuple):
        return np.array([given])
    return np.frombuffer(bytes.fromhex(given[2]), dtype_of(given[0]))


def litert_interpreter(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    class Interpreter:
        def __init__(self, model_content: bytes, **settings: Any) -> None:
            self.facts, self.types = litert_facts(model_content)
            heard.append(self.facts)

        def allocate_tensors(self) -> None:
            """There is nothing to allocate."""

        def get_output_details(self) -> list[Facts]:
            return [{"dtype": dtype_of(CARRIERS.get(self.types[1], self.types[1]))}]

        def set_tensor(self, place: int, x: Array) -> None:
            heard.append(self.facts | {"x": tensor(x, self.types[place])})

        def invoke(self) -> NoReturn:
            raise Stopped

    backend.prepared.cache_clear()
    patch.setattr(backend.library, "Interpreter", Interpreter)


def micro_interpreter(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    class Interpreter:
        @staticmethod
        def from_bytes(model: bytes, **settings: Any) -> Any:
            from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

            facts, types = litert_facts(model, schema)

            def set_input(x: Array, place: int) -> NoReturn:
                heard.append(facts | {"x": tensor(x, types[place])})
                raise Stopped

            return SimpleNamespace(set_input=set_input)

    patch.setattr(backend.library, "Interpreter", Interpreter)
    patch.setattr(backend, "interpreters", Recent())


def litert_facts(content: bytes, schema: Any = None) -> tuple[Facts, list[str]]:
    """The facts of a model, and the element types of its input and output."""
    if schema is None:
        from ai_edge_litert import schema_py_generated as schema

    graph = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content)).subgraphs[0]
    numbers = {number: name.lower() for name, number in vars(schema.TensorType).items() if name.isupper()}
    types = [numbers[t.type] for t in graph.tensors]
    held = [t.quantization for t in graph.tensors if t.quantization is not None]
    facts: Facts = {"output": types[1]}
    options = graph.operators[0].builtinOptions
    if hasattr(options, "inDataType"):
        return facts | {"options": [numbers[options.inDataType], numbers[options.outDataType]]}, types
    if hasattr(options, "numBits"):
        return facts | {name: getattr(options, name) for name in ("min", "max", "numBits", "narrowRange")}, types
    if len(held) > 1:
        return facts | requantization_facts(schema, content, types), types
    lists = {"scale": held[0].scale.tolist(), "zero_point": held[0].zeroPoint.tolist()}
    return facts | lists | {"dimension": held[0].quantizedDimension}, types


def requantization_facts(schema: Any, content: bytes, types: list[str]) -> Facts:
    """The operator of a model, its tensors' scales and zero points, and the values of its constants."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content))
    names = {number: name for name, number in vars(schema.BuiltinOperator).items() if name.isupper()}
    tensors = model.subgraphs[0].tensors
    return {
        "operator": names[model.operatorCodes[0].builtinCode],
        "scale": [one.quantization.scale.tolist() for one in tensors],
        "zero_point": [one.quantization.zeroPoint.tolist() for one in tensors],
        "constants": [
            np.frombuffer(bytes(model.buffers[one.buffer].data), dtype_of(kind)).tolist()
            for one, kind in zip(tensors[2:], types[2:], strict=True)
        ],
    }


def ngraph_call(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    def call(kernel: Any, inputs: Any, output: Array, axes: tuple[int, ...], *round_mode: int) -> NoReturn:
        heard.append({"inputs": [*map(tensor, inputs)], "axes": axes, "mode": round_mode, "output": output.dtype.name})
        raise Stopped

    patch.setattr(ngraph, "call", call)


def numpy_operands(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Lets the arithmetic itself note its operands: it is the library here."""
    make = backend.compile

    def compile_node(node: Node) -> Callable[..., Any]:
        run, names = make(node), [kind.name for kind in node.inputs]
        return lambda *inputs: run(*(operand(*one, heard) for one in zip(names, inputs, strict=True)))

    patch.setattr(backend, "compile", compile_node)


def astype_of_arrays(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Lets the array itself note what it is converted to."""
    make = backend.compile

    class Converted(np.ndarray):
        def astype(self, dtype: Any, *settings: Any, **named: Any) -> Any:
            assert not settings
            heard.append({"x": tensor(self.view(np.ndarray)), "dtype": np.dtype(dtype).name, **named})
            raise Stopped

    def compile_node(node: Node) -> Callable[..., Any]:
        run = make(node)
        return lambda x: run(x.view(Converted))

    patch.setattr(backend, "compile", compile_node)


def conversions_of_ml_dtypes(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens to arrays, and where the recipe of blocks begins."""

    def in_blocks(x: Array, to: Any) -> NoReturn:
        heard.append({"x": tensor(x.view(np.ndarray)), "dtype": to.name, "block": ml_dtypes_blocks.BLOCK})
        raise Stopped

    patch.setattr(ml_dtypes_blocks, "in_blocks", in_blocks)
    astype_of_arrays(backend, patch, heard)


def torchao_function(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where to_mx and nvfp4_quantize begin."""

    def to_mx(x: Any, element: Any, block: int, mode: Any) -> NoReturn:
        heard.append({"x": plain_of_torch(x), "element": plain_of_torch(element), "block": block, "mode": mode.value})
        raise Stopped

    def nvfp4_quantize(x: Any, block: int, scale: Any = None) -> NoReturn:
        heard.append(
            {"x": plain_of_torch(x), "block": block, "scale": scale if scale is None else plain_of_torch(scale)}
        )
        raise Stopped

    patch.setattr(backend, "to_mx", to_mx)
    patch.setattr(backend, "nvfp4_quantize", nvfp4_quantize)
    patch.setattr(backend, "scale_of", lambda amax: amax)


def mlx_function(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where mx.quantize begins, and casts. An array of bfloat16 is read as its bits, which NumPy lacks."""

    def quantize(x: Any, *, mode: str, stream: Any, global_scale: Any = None) -> NoReturn:
        name = str(x.dtype).rpartition(".")[2]
        words = np.asarray(x.view(getattr(backend.library, f"uint{8 * x.itemsize}")))
        whole = {} if global_scale is None else {"global_scale": tensor(np.array(global_scale))}
        heard.append({"x": tensor(words.view(dtype_of(name))), "mode": mode, **whole})
        raise Stopped

    def cast(function: str) -> Callable[[Any, Array, Any], NoReturn]:
        def call(library: Any, x: Array, dtype: Any) -> NoReturn:
            heard.append({"function": function, "x": tensor(x), "dtype": dtype.name})
            raise Stopped

        return call

    for name in ("to_fp8", "from_fp8"):
        patch.setattr(mlx_cast, name, cast(name))
    facts = {name: getattr(backend.library, name) for name in ("array", "cpu", "float32", "bfloat16")}
    facts |= {"uint16": backend.library.uint16, "uint32": backend.library.uint32}
    patch.setattr(backend, "library", SimpleNamespace(**facts, quantize=quantize))


def triton_kernel(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where the kernel begins. It gets bits, and types by names that are Triton's own."""
    names = {str(getattr(backend.language, own)): name for name, own in TRITON_TYPES.items()}

    def cast(given: Any, held: Any, count: int, x_type: Any, y_type: Any, bits: Any, size: int) -> NoReturn:
        types = [names[str(kind)] for kind in (x_type, y_type)]
        assert count == given.numel() == held.numel() and str(bits) == f"int{8 * held.element_size()}"
        heard.append({"bits": given.cpu().numpy(), "types": types})
        raise Stopped

    patch.setattr(backend, "cast", {(-(-count // 1024),): cast for count in range(1 << 14)})
    compile_node = backend.compile

    def with_shape(node: Node) -> Any:
        run = compile_node(node)

        def with_x(x: Array) -> Any:
            try:
                return run(x)
            except Stopped:
                bits = heard[-1].pop("bits")
                heard[-1]["x"] = tensor(bits.view(dtype_of(heard[-1]["types"][0])).reshape(x.shape))
                raise

        return with_x

    patch.setattr(backend, "compile", with_shape)


def gguf_function(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where quantize and dequantize of gguf.quants begin."""

    def function(x: Any, kind: Any) -> NoReturn:
        heard.append({"x": tensor(x), "type": int(kind)})
        raise Stopped

    patch.setattr(backend, "quantize", function)
    patch.setattr(backend, "dequantize", function)


def ggml_functions(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where ggml_quantize_chunk begins, and where from_float and to_float of type traits do."""

    def memory(address: int, count: int) -> Array:
        held = (ctypes.c_float * count).from_address(address) if count else []
        return np.array(held, np.float32)

    def chunk(kind: int, x: int, held: int, start: int, rows: int, length: int, weights: Any) -> NoReturn:
        assert (start, weights) == (0, None)
        heard.append({"x": memory(x, rows * length).tobytes().hex(), "type": kind, "length": length})
        raise Stopped

    def from_float(number: int) -> Callable[[Array, Array], None]:
        def fill(x: Array, held: Array) -> NoReturn:
            heard.append({"x": x.tobytes().hex(), "type": number, "length": x.shape[-1]})
            raise Stopped

        return fill

    patch.setattr(backend, "base", SimpleNamespace(ggml_quantize_chunk=chunk))
    patch.setattr(backend, "from_float", from_float)
    patch.setattr(backend, "to_float", from_float)


def paddle_layer(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where LinearQuanter is made, and where it is called; and to casts."""

    def layer(scale: Any, **arguments: Any) -> Callable[[Any], NoReturn]:
        heard.append({"Scale": tensor(scale), "ZeroPoint": tensor(arguments.pop("zero_point")), **arguments})

        def call(x: Any) -> NoReturn:
            heard.append({"X": tensor(x)})
            raise Stopped

        return call

    def cast(library: Any, x: Array, dtype: Any) -> NoReturn:
        heard.append({"x": tensor(x), "dtype": dtype.name})
        raise Stopped

    patch.setattr(backend, "layer", layer)
    patch.setattr(backend, "library", SimpleNamespace(to_tensor=lambda x: x))
    patch.setattr(paddle_cast, "cast", cast)


def paddle_program(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where an operator is appended to a program, and where the program is executed."""

    def append_op(*, type: str, inputs: Any, outputs: Any, attrs: Facts) -> None:
        heard.append({"operator": type, "inputs": inputs, "outputs": outputs, "attributes": attrs})

    def run(program: Any, *, feed: Mapping[str, Any], fetch_list: list[Any]) -> NoReturn:
        heard.append({"feed": {name: tensor(array) for name, array in feed.items()}, "fetched": fetch_list})
        raise Stopped

    block = SimpleNamespace(create_var=lambda *, name, dtype, shape: (name, dtype, shape), append_op=append_op)
    static = SimpleNamespace(
        Program=lambda: SimpleNamespace(global_block=lambda: block),
        program_guard=nullcontext,
        data=lambda name, shape, kind: (name, kind, shape),
        Executor=lambda place: SimpleNamespace(run=run),
    )
    patch.setattr(backend, "library", SimpleNamespace(static=static, CPUPlace=lambda: None))
    patch.setattr(backend, "static_mode", nullcontext)


def fields_of(message: bytes) -> list[tuple[int, Any]]:
    """The fields of a protobuf message, numbers and bytes, in order."""
    found, at = [], 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value - (value >> 63 << 64)

    while at < len(message):
        key = varint()
        size = varint()
        if key & 7:
            found.append((key >> 3, message[at : at + size]))
            at += size
        else:
            found.append((key >> 3, size))
    return found


def parts_of(message: bytes, number: int) -> list[Any]:
    return [value for field, value in fields_of(message) if field == number]


def named_parts(message: bytes, number: int) -> dict[str, Any]:
    """Parts that begin with a name; the last field of each is its value."""
    pairs = (fields_of(part) for part in parts_of(message, number))
    return {pair[0][1].decode(): pair[-1][1] for pair in pairs}


def paddle_file(model: bytes) -> Facts:
    """The operators of a PaddlePaddle program, and the dimensions of its float32 tensors."""
    (block,) = parts_of(model, 1)
    operators = []
    for described in parts_of(block, 4):
        (kind,) = parts_of(described, 3)
        ends = ({key: name.decode() for key, name in named_parts(described, side).items()} for side in (1, 2))
        operators.append((kind.decode(), *ends, named_parts(described, 4)))
    shapes = {}
    for variable in parts_of(block, 3):
        for tensors in parts_of(parts_of(variable, 2)[0], 3):
            (kept,) = parts_of(tensors, 1)
            assert parts_of(kept, 1) == [5]
            shapes[parts_of(variable, 1)[0].decode()] = tuple(parts_of(kept, 2))
    return {"operators": operators, "shapes": shapes}


def openvino_paddle(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where OpenVINO reads a program, and where it is executed."""

    def compile_model(model: bytes, device: str, settings: Any) -> Callable[[Mapping[str, Any]], NoReturn]:
        heard.append({**paddle_file(model), "device": device})

        def call(given: Mapping[str, Any]) -> NoReturn:
            heard.append({"given": {name: tensor(array) for name, array in given.items()}})
            raise Stopped

        return call

    patch.setattr(backend, "models", Recent())
    patch.setattr(backend, "core", SimpleNamespace(read_model=lambda model: model, compile_model=compile_model))


def tosa_graph(backend: Any, patch: pytest.MonkeyPatch, heard: list[Facts]) -> None:
    """Listens where the reference model begins, with a serializer that keeps what a graph is made of."""
    real, facts = backend.serializer, dict[str, Any]()

    class Graph:
        def __init__(self) -> None:
            facts.clear()
            facts["constants"] = []

        def addInputTensor(self, given: tuple[Any, ...]) -> None:  # noqa: N802 - the library's name
            facts["input"] = given[1:]

        def addConst(self, shape: list[int], kind: Any, values: Array) -> Any:  # noqa: N802
            assert tuple(shape) == values.shape
            facts["constants"].append((kind.name, tensor(values)))
            return SimpleNamespace(name=f"constant {len(facts['constants'])}")

        def addOutput(self, shape: list[int], kind: Any) -> Any:  # noqa: N802
            facts["output"] = tuple(shape), kind.name
            return SimpleNamespace(name="output")

        def addOperator(self, op: Any, inputs: list[str], outputs: list[str], attribute: Any) -> None:  # noqa: N802
            count = len(facts["constants"])
            assert inputs == ["input", *(f"constant {n + 1}" for n in range(count))] and outputs == ["output"]
            facts["operator"], facts["attributes"] = op.name, attribute.given

        def serialize(self) -> bytes:
            return b""

    class Attribute:
        def RescaleAttribute(self, *given: Any) -> None:  # noqa: N802
            self.given = tuple(getattr(one, "name", one) for one in given)

    def run(graph: bytes, inputs: list[Array], **settings: Any) -> NoReturn:
        heard.append({**facts, "x": [tensor(x) for x in inputs]})
        raise Stopped

    names = {name: getattr(real, name) for name in ("DType", "Op", "RoundingMode")}
    made = {"TosaSerializerTensor": lambda name, shape, kind: (name, tuple(shape), kind.name)}
    fake = SimpleNamespace(TosaSerializer=Graph, TosaSerializerAttribute=Attribute, **names, **made)
    patch.setattr(backend, "serializer", fake)
    patch.setattr(backend, "model", SimpleNamespace(run=run))


class Operand(np.ndarray):
    """An array that notes, under its name, with which shape and values it enters arithmetic."""

    name, heard = "", None

    def __array_finalize__(self, origin: Any) -> None:
        self.name, self.heard = getattr(origin, "name", ""), getattr(origin, "heard", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        for operand in inputs:
            if isinstance(operand, Operand) and operand.heard is not None:
                plain = operand.view(np.ndarray)
                operand.heard.append({operand.name: (plain.shape, plain.astype(np.float64).tolist())})
        bare = [operand.view(np.ndarray) if isinstance(operand, Operand) else operand for operand in inputs]
        return getattr(ufunc, method)(*bare, **kwargs)


def operand(name: str, array: Array, heard: list[Facts]) -> Operand:
    made = np.array(array).view(Operand)
    made.name, made.heard = name, heard
    return made
