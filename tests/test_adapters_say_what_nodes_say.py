"""Every adapter is handed every forbidden call, and others. Its library hears what the node says, or nothing.

What a node says is worked out here from the node and its inputs, without a look at the adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import handed_over
import ml_dtypes
import numpy as np
import pytest
from calls_of_operators import ALLOWED, POWER, WEIGHT, WRONG
from handed_over import Facts, Listener, heard_by, tensor

from tiebreak.adapters.claims import claims_of
from tiebreak.adapters.registry import load_backend, registered
from tiebreak.adapters.tensorflow_source import ONEDNN
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.running.forbidden import calls_of_operators, forbidden_case
from tiebreak.golden.elements import INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput, NoDevice
from tiebreak.golden.nodes import Case, Node, with_constants
from tiebreak.golden.onnx_types import E8M0, FLOAT8
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Types
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN, ROUND_MODES

NO_WORDS: Facts = {}  # the library's interface can't say it: it must hear nothing
LINEAR_WORDS = {"axis", "axes", "type", "output_dtype", "round_mode"}


# What a node of one of the four linear operators says.


def said_axis(case: Case) -> int | None:
    """The axis, by the node or else by ONNX's default; None if one scale serves all and no axis is named."""
    given = case.node.attributes
    if case.node.operator.startswith("ngraph."):
        return next(iter(given.get("axes", ())), None)
    x, scale = case.inputs[:2]
    one = scale.shape == () or (scale.shape == (1,) and x.ndim == 1 and "block_size" not in given)
    axis: int | None = given.get("axis", None if one else 1)
    return axis


def has_words(case: Case, known: set[str], most_axes: int = 1) -> bool:
    """Whether a library can say it that knows these attributes, one type of each kind, and no operator sets.

    An axis of nGraph is no other one from the back.
    """
    node, axes = case.node, case.node.attributes.get("axes", ())
    back = "Dequantize" in node.operator
    quantized, real = (node.input_type, node.output_type)[:: 1 if back else -1]
    kinds = [kind.dtype.name for kind in node.inputs]
    named = node.attributes.get("type", node.attributes.get("output_dtype", node.output_type))
    plain = not set(node.attributes) - known and named == node.output_type
    typed = all(kind == quantized for kind in kinds[2:]) and in_its_document(case, real, quantized)
    rounds = node.round_mode in ("", EVEN) or most_axes > 1
    return rounds and plain and typed and len(axes) <= most_axes and all(axis >= 0 for axis in axes)


def in_its_document(case: Case, real: str, quantized: str) -> bool:
    node, scale = case.node, case.node.inputs[1].dtype.name
    types = Types(real, quantized, scale, len(node.inputs) == 3, node.opset)
    if 0 < node.opset < 13 and said_axis(case) is not None:
        return False
    try:
        get_operator(node.operator).signature(types, node.attributes)
    except InvalidInput:
        return False
    return True


def zero_point_of(case: Case) -> Array:
    return case.inputs[2] if len(case.inputs) == 3 else np.zeros(case.inputs[1].shape, np.int64)


# What a node of Cast says.


def has_words_for_cast(case: Case, saturating: tuple[str, ...] = ()) -> bool:
    """Whether a library can say it that has one conversion to each type, rounding to nearest, and no operator sets.

    It saturates in some types; in the other float 8 types it does not.
    """
    node = case.node
    said = {name: value for name, value in node.attributes.items() if name != "to"}
    plain = {} if node.output_type not in (*FLOAT8, *E8M0) or node.output_type in saturating else {"saturate": False}
    meant = POWER if node.output_type in E8M0 else plain
    if said != meant or node.value("to") != node.output_type or node.opset not in get_operator(node.operator).opsets:
        return False
    try:
        get_operator(node.operator).signature(Types(node.input_type, node.output_type, opset=node.opset), said)
    except InvalidInput:
        return False
    return True


def for_astype(case: Case, saturating: tuple[str, ...] = ()) -> Facts:
    if not has_words_for_cast(case, saturating):
        return NO_WORDS
    return {"x": tensor(case.inputs[0]), "dtype": case.node.output_type}


def for_tensor_to(case: Case) -> Facts:
    """The torch that is installed saturates in one type."""
    if not has_words_for_cast(case, ("float8_e4m3fn",)):
        return NO_WORDS
    return {"function": "Tensor.to", "x": tensor(case.inputs[0]), "dtype": case.node.output_type}


def for_tf_cast(case: Case) -> Facts:
    named = {"x": tensor(case.inputs[0]), "DstT": case.node.output_type}
    return {"operation": "Cast", **named} if has_words_for_cast(case) else NO_WORDS


# What each library should hear.

PADDLE = ("float8_e4m3fn", "float8_e5m2")
NUMBERS_OF_PADDLE = ("float64", "float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32")


def said(value: Any) -> Any:
    """A number, or a list of numbers."""
    return list(value) if isinstance(value, tuple) else int(value)


def for_onnx(case: Case) -> Facts:
    node = case.node
    name = node.operator.rpartition(".")[2]
    if node.operator.startswith("com.microsoft."):
        types = {str(kind.dtype.name) for kind in (*node.inputs, *node.outputs)}
        opset = 21 if types & {"int16", "uint16"} else 13  # of the file: the oldest in which these types are quantized
        inputs = [*map(tensor, case.inputs)]
        every = {one.name: node.value(one.name) for one in get_operator(node.operator).attributes}
        return {"operator": name, "opset": opset, "attributes": every, "inputs": inputs}
    operator = name if node.operator.startswith("onnx.") else f"{name}Linear"
    if node.operator.startswith("onnx."):
        numbers = {name: number for number, name in NUMBERS.items()}
        given = {k: numbers.get(v, v) if isinstance(v, str) else said(v) for k, v in node.attributes.items()}
        whole = {"operator": operator, "opset": node.opset, "attributes": given}
        results = [str(kind.dtype.name) for kind in node.outputs]
        return whole | {"inputs": [*map(tensor, case.inputs)]} | ({"outputs": results} if len(results) > 1 else {})
    axis = said_axis(case)
    if not has_words(case, LINEAR_WORDS):
        return NO_WORDS
    model = {"operator": operator, "opset": 21, "attributes": {} if axis is None else {"axis": axis}}
    spread = case.inputs[1].ndim == len(node.attributes.get("axes", ()))
    return model | ({"inputs": [*map(tensor, case.inputs)]} if spread else {})


def for_tool(case: Case) -> Facts:
    """The output's type and one scale and zero point; an absent zero point is 0, as ONNX says."""
    if not has_words(case, LINEAR_WORDS - {"axis"}) or said_axis(case) is not None:
        return NO_WORDS
    numbers = {name: number for number, name in NUMBERS.items()}
    given = [*map(tensor, case.inputs), *([0] if len(case.inputs) < 3 else [])]
    return {"type": numbers[case.node.output_type], "inputs": given}


def for_openvino(case: Case) -> Facts:
    if case.node.operator.startswith(("onnx.", "com.microsoft.")):
        return for_onnx(case)
    return {"attributes": dict(case.node.attributes), "inputs": [*map(tensor, case.inputs)]}


def for_tensorflow(case: Case) -> Facts:
    node, operation = case.node, case.node.operator.partition(".")[2]
    if node.operator in ("ngraph.Quantize", "onnx.Cast"):
        return for_scaled_mode(case) if node.operator == "ngraph.Quantize" else for_tf_cast(case)
    given = dict(node.attributes) | dict(
        zip((kind.name for kind in node.inputs), map(tensor, case.inputs), strict=True)
    )
    if operation == "FakeQuantWithMinMaxVars" and [end.shape for end in node.constants.values()] == [(), ()]:
        operation = "FakeQuantWithMinMaxArgs"
        given |= {name: float(end) for name, end in node.constants.items()}
    if operation == "QuantizeV2":
        given["T"] = f"q{given['T']}"
    if operation.startswith("Uniform"):
        quantized = node.output_type in INTEGER_TYPES
        given["Tout"] = f"q{node.output_type}" if quantized else node.output_type
    if operation == "Dequantize" and node.output_type != "float32":
        given["dtype"] = node.output_type
    return {"operation": operation, **given}


def for_scaled_mode(case: Case) -> Facts:
    """QuantizeV2's range for a scale: the quantized type's ends by the scale. There is no zero point."""
    x, scale, zero_point = case.inputs
    if not has_words(case, LINEAR_WORDS) or np.any(zero_point) or zero_point.shape != scale.shape:
        return NO_WORDS
    kind, axis = INTEGER_TYPES[case.node.output_type], said_axis(case)
    ends = {"min_range": tensor(kind.lowest * scale), "max_range": tensor(kind.highest * scale)}
    mode = {"mode": "SCALED", "round_mode": "HALF_TO_EVEN", "ensure_minimum_range": 0.0}
    named = {"operation": "QuantizeV2", "input": tensor(x), "T": f"q{case.node.output_type}"}
    return named | ends | mode | ({} if axis is None else {"axis": axis})


def for_litert(case: Case) -> Facts:
    node, (x, *parameters) = case.node, case.inputs
    if node.operator.startswith("tensorflow."):
        return for_fake_quant(case)
    if node.operator == "onnx.Cast":
        return for_cast_of_litert(case)
    if node.operator == "tflite.Requantize":
        return for_requantization(case)
    scale, zero_point = parameters[0], zero_point_of(case)
    real = node.output_type if "Dequantize" in node.operator else node.input_type
    shapes = scale.ndim < 2 and zero_point.ndim < 2 and (scale.shape, zero_point.shape) != ((1,), ())
    if not has_words(case, LINEAR_WORDS) or not shapes or scale.dtype.name != real:
        return NO_WORDS
    if node.operator.startswith("ngraph.") and scale.ndim != len(node.attributes.get("axes", ())):
        return NO_WORDS
    lists = {"scale": scale.reshape(-1).tolist(), "zero_point": zero_point.astype(int).reshape(-1).tolist()}
    return {"x": tensor(x), "output": node.output_type, "dimension": said_axis(case) or 0, **lists}


def for_fake_quant(case: Case) -> Facts:
    x, low, high = case.inputs
    if low.shape or high.shape:
        return NO_WORDS
    options = {"numBits": case.node.value("num_bits"), "narrowRange": case.node.value("narrow_range")}
    return {"x": tensor(x), "output": case.node.output_type, "min": float(low), "max": float(high), **options}


def for_requantization(case: Case) -> Facts:
    """Each tensor's scale and zero point; beside the input of MUL a 1, of ADD its zero point, a weight of 1."""
    node, (x, *parameters) = case.node, case.inputs
    through, rounding = node.value("through"), node.value("rounding")
    named = set(node.attributes) <= {"through", "rounding"} and rounding in ("nearest", "double")
    if not named or any(one.shape for one in parameters) or through not in ("QUANTIZE", "MUL", "ADD", WEIGHT):
        return NO_WORDS
    s_in, z_in, s_out, z_out = (float(one) for one in parameters)
    own, one = (s_in, z_in, z_in), (1.0, 0.0, 1.0)
    others = {"QUANTIZE": [], "ADD": [own]}.get(through, [one])
    column = x.reshape(-1, 1) if through == WEIGHT else x
    return {
        "x": tensor(column),
        "output": node.output_type,
        "operator": through,
        "scale": [[s_in], [s_out], *([scale] for scale, *_ in others)],
        "zero_point": [[z_in], [z_out], *([zero] for _, zero, _ in others)],
        "constants": [[value] for *_, value in others],
    }


def for_cast_of_litert(case: Case) -> Facts:
    """The options of CAST repeat the types of its tensors."""
    node = case.node
    if not has_words_for_cast(case):
        return NO_WORDS
    return {"x": tensor(case.inputs[0]), "output": node.output_type, "options": [node.input_type, node.output_type]}


def torch_operands(case: Case, *, numbers: bool) -> Facts:
    """x, scale, zero point and axis. A zero point is int64; with `numbers` one scale and its zero point are no tensors.

    All real types are one, and one scale has no axis.
    """
    axis, (x, scale, *_), zero = said_axis(case), case.inputs, zero_point_of(case).astype(np.int64)
    onnx = case.node.operator.startswith("onnx.")
    if not has_words(case, LINEAR_WORDS) or (onnx and axis is not None and scale.shape == ()):
        return NO_WORDS
    if axis is not None:
        return {"x": tensor(x), "scale": tensor(scale), "zero_point": tensor(zero), "axis": axis}
    if not numbers:
        return {"x": tensor(x), "scale": tensor(scale), "zero_point": tensor(zero)}
    if any(p.shape != () and (p.shape != (1,) or not onnx) for p in (scale, zero)):
        return NO_WORDS
    return {"x": tensor(x), "scale": scale.item(), "zero_point": zero.item()}


def for_torch(case: Case) -> Facts:
    """The classic functions. The one that makes a tensor of integers takes one scale as a number only."""
    back, way = "Dequantize" in case.node.operator, "tensor" if said_axis(case) is None else "channel"
    operands = torch_operands(case, numbers=back or bool(case.node.constants))
    if back:
        return operands and {"function": f"_make_per_{way}_quantized_tensor", **operands}
    return operands and {"function": f"quantize_per_{way}", "dtype": f"q{case.node.output_type}", **operands}


def for_decomposed(case: Case) -> Facts:
    """The functions on plain tensors, with the ends of the quantized type."""
    node, way = case.node, "tensor" if said_axis(case) is None else "channel"
    operands = torch_operands(case, numbers=bool(node.constants))
    if "Dequantize" in node.operator:
        ends, out = quantized_ends(node.input_type), {"out_dtype": node.output_type}
        return operands and {"function": f"dequantize_per_{way}", **operands, **ends, **out}
    return operands and {"function": f"quantize_per_{way}", **operands, **quantized_ends(node.output_type)}


def quantized_ends(kind: str) -> Facts:
    info: Any = (ml_dtypes.iinfo if kind in INTEGER_TYPES else ml_dtypes.finfo)(numpy_dtype(kind))
    return {"quant_min": int(info.min), "quant_max": int(info.max), "dtype": kind}


def for_own_torch(case: Case) -> Facts:
    """torch's own functions: parameters are tensors, or numbers if all are constants of a node of one scale."""
    node, (x, scale, zero_point) = case.node, case.inputs
    function = node.operator.removeprefix("torch.")
    numbers = bool(node.constants) and function.endswith(("_tensor", "_tensor_affine"))
    if numbers and (scale.shape or zero_point.shape):
        return NO_WORDS
    axis = {"axis": node.value("axis")} if "channel" in function else {}
    ends = {"quant_min", "quant_max"} if function.startswith("fake") else set()
    if set(node.attributes) - ends - set(axis) - ({"zero_point_type"} if axis else set()):
        return NO_WORDS
    if ends:
        if node.output_type != "float32":
            return NO_WORDS
        scales, zeros = (array.reshape(-1).tolist() for array in (scale, zero_point))
        given = {"scales": scales, "zeros": zeros, **{end: node.value(end) for end in sorted(ends)}}
        return {"function": function, "x": tensor(x), **axis, **given}
    if node.output_type not in ("int8", "uint8", "int32"):
        return NO_WORDS
    zeros = zero_point if zero_point.dtype.kind == "f" else zero_point.astype(np.int64)
    given = {"scale": tensor(scale), "zero_point": tensor(zeros)}
    given = {"scale": scale.item(), "zero_point": int(zero_point)} if numbers else given
    return {"function": function, "x": tensor(x), **axis, **given, "dtype": f"q{node.output_type}"}


def for_classic_torch(case: Case) -> Facts:
    if case.node.operator.startswith("torch."):
        return for_own_torch(case)
    if case.node.operator in ("openvino.FakeQuantize", "onnx.Cast"):
        return for_tensor_to(case) if case.node.operator == "onnx.Cast" else for_torch_levels(case)
    return for_torch_bits(case) if case.node.operator.startswith("tensorflow.") else for_torch(case)


def for_compiled_torch(case: Case) -> Facts:
    if case.node.operator.startswith("torch."):
        return for_own_torch(case)
    linear = case.node.operator.endswith(("quantize", "Quantize", "Linear")) and "Fake" not in case.node.operator
    return for_decomposed(case) if linear else for_classic_torch(case)


def for_torch_levels(case: Case) -> Facts:
    """OpenVINO's limits, if they are four of one shape that varies along one axis at most."""
    x, low, high, *outputs = case.inputs
    levels, varied = case.node.attributes["levels"], [place for place, size in enumerate(low.shape) if size != 1]
    one_shape = {limit.shape for limit in (low, high, *outputs)} == {low.shape} and low.ndim <= x.ndim
    if "auto_broadcast" in case.node.attributes or not one_shape or len(varied) > 1 or levels == 1:
        return NO_WORDS
    axis = varied[0] + x.ndim - low.ndim if varied else None
    return torch_limits(case, (0, levels - 1), axis)


def for_torch_bits(case: Case) -> Facts:
    """TensorFlow's ranges, if their width has a meaning and nothing moves them."""
    node, (x, low, high) = case.node, case.inputs
    bits, narrow = node.value("num_bits"), int(node.value("narrow_range"))
    if bits not in range(2, 17) or low.shape != high.shape or np.any(low > 0) or np.any(high < 0):
        return NO_WORDS
    axis = x.ndim - 1 if node.operator.endswith("PerChannel") else None
    return torch_limits(case, (narrow, (1 << bits) - 1), axis)


def torch_limits(case: Case, ends: tuple[int, int], axis: int | None) -> Facts:
    """The scales and zero points that the limits mean: the float32 next to each step, and the integer of 0."""
    x, *limits = case.inputs
    low, high = ([*map(Fraction, limit.astype(float).reshape(-1).tolist())] for limit in limits[:2])
    steps = [(last - first) / (ends[1] - ends[0]) for first, last in zip(low, high, strict=True)]
    zeros = [ends[0] - first / step for first, step in zip(low, steps, strict=True)]
    function = f"fake_quantize_per_{'tensor' if axis is None else 'channel'}_affine"
    facts = {"function": function, "x": tensor(x), "zeros": zeros}
    facts["scales"] = [np.float32(float(step)).item() for step in steps]
    return facts | {"quant_min": ends[0], "quant_max": ends[1]} | ({} if axis is None else {"axis": axis})


def for_low_precision(case: Case) -> Facts:
    """One range, by limits of one value each."""
    x, *limits = case.inputs
    if any(limit.size != 1 for limit in limits) or not has_words(case, {"levels", "auto_broadcast"}):
        return NO_WORDS
    return {"attributes": dict(case.node.attributes), "size": x.size, "limits": [*map(tensor, limits)]}


def for_factor(case: Case) -> Facts:
    """The reciprocal of one scale if it is a float32, without a zero point; for int32 the scale itself."""
    x, scale, *zero_point = case.inputs
    dequantizes = "Dequantize" in case.node.operator
    one = all(
        p.shape == () or (p.shape == (1,) and case.node.operator.startswith("onnx.")) for p in (scale, *zero_point)
    )
    if not has_words(case, LINEAR_WORDS - {"axis"}) or said_axis(case) is not None or not one or np.any(zero_point):
        return NO_WORDS
    exact = Fraction(scale.item()) if dequantizes else 1 / Fraction(scale.item())
    return {"x": tensor(x), "factor": float(exact)} if np.float32(float(exact)) == exact else NO_WORDS


def for_exported(case: Case) -> Facts:
    """The functions on plain tensors, with scales of float64; and a cast."""
    if case.node.operator == "onnx.Cast":
        return for_tensor_to(case)
    facts = for_decomposed(case)
    scale = facts.get("scale")
    return facts | {"scale": tensor(array_of_tensor(scale).astype(np.float64))} if isinstance(scale, tuple) else facts


def array_of_tensor(given: tuple[str, tuple[int, ...], str]) -> Array:
    return np.frombuffer(bytes.fromhex(given[2]), handed_over.dtype_of(given[0])).reshape(given[1])


def for_triton(case: Case) -> Facts:
    """Every conversion to a float 8 type saturates."""
    kinds = {
        *FLOAT8,
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
    }
    if not {case.node.input_type, case.node.output_type} <= kinds or not has_words_for_cast(case, tuple(FLOAT8)):
        return NO_WORDS
    return {"x": tensor(case.inputs[0]), "types": [case.node.input_type, case.node.output_type]}


def for_jax(case: Case) -> Facts:
    """The operands of a formula, or those of a conversion. JAX is shipped without float64."""
    if case.node.operator != "onnx.Cast":
        return for_numpy(case)
    wide = "float64" in (case.node.input_type, case.node.output_type)
    return NO_WORDS if wide else for_astype(case)


def for_ngraph(case: Case) -> Facts:
    axes, mode = case.node.attributes.get("axes", ()), case.node.attributes.get("round_mode")
    modes = () if mode is None else (tuple(ROUND_MODES).index(mode),)
    return {"inputs": [*map(tensor, case.inputs)], "axes": axes, "mode": modes, "output": case.node.output_type}


SMALL_FLOATS = ("float6", "float4")


def has_words_for_blocks(case: Case) -> bool:
    node = case.node
    mode = node.value("scaling_mode")
    known = set(node.attributes) <= {"to", "scaling_mode"} and mode in ("floor", "ceil", "even", "rceil")
    return known and node.value("to") == node.output_type


def has_words_for_nvfp4(case: Case) -> bool:
    return not case.node.attributes and case.node.output_type == "float4_e2m1fn"


def cast_of_mlx(case: Case) -> Facts:
    e4m3, target = "float8_e4m3fn", case.node.output_type
    ends = {case.node.input_type, target}
    if e4m3 not in ends or not ends & {"float32", "float16", "bfloat16"} or not (said := for_astype(case, (e4m3,))):
        return NO_WORDS
    return {"function": "to_fp8" if target == e4m3 else "from_fp8", **said}


def for_mlx(case: Case) -> Facts:
    """Two element types, and one way to the scale. Casts are between one type, to which they saturate, and floats."""
    if case.node.operator == "onnx.Cast":
        return cast_of_mlx(case)
    if case.node.operator == "nvidia.NVFP4Quantize":
        whole = {"global_scale": tensor(case.inputs[1])} if len(case.inputs) > 1 else {}
        return {"x": tensor(case.inputs[0]), "mode": "nvfp4", **whole} if has_words_for_nvfp4(case) else NO_WORDS
    modes = {"float8_e4m3fn": "mxfp8", "float4_e2m1fn": "mxfp4"}
    if not has_words_for_blocks(case) or case.node.value("scaling_mode") != "rceil":
        return NO_WORDS
    kind = case.node.output_type
    return {"x": tensor(case.inputs[0]), "mode": modes[kind]} if kind in modes else NO_WORDS


def for_ml_dtypes(case: Case) -> Facts:
    """Of blocks the elements that cannot be beyond their type, and one way to the scale."""
    to = case.node.output_type
    if case.node.operator != "ocp.MXQuantize":
        return for_astype(case)
    if not has_words_for_blocks(case) or case.node.value("scaling_mode") != "floor" or not to.startswith(SMALL_FLOATS):
        return NO_WORDS
    return {"x": tensor(case.inputs[0]), "dtype": to, "block": 32}


def for_torchao(case: Case) -> Facts:
    if case.node.operator == "nvidia.NVFP4Quantize":
        scale = tensor(case.inputs[1]) if len(case.inputs) > 1 else None
        return {"x": tensor(case.inputs[0]), "block": 16, "scale": scale} if has_words_for_nvfp4(case) else NO_WORDS
    if not has_words_for_blocks(case):
        return NO_WORDS
    own = {"float6_e3m2fn": "fp6_e3m2", "float6_e2m3fn": "fp6_e2m3", "float4_e2m1fn": "float4_e2m1fn_x2"}
    element = own.get(case.node.output_type, case.node.output_type)
    mode = case.node.value("scaling_mode")
    return {"x": tensor(case.inputs[0]), "element": element, "block": 32, "mode": mode}


GGUF_TYPES = {"int8": 8, "uint4": 2}  # as ggml.h numbers them


def gguf_elements(case: Case) -> str:
    return case.node.input_type if case.node.operator == "gguf.Dequantize" else case.node.output_type


def has_words_for_gguf(case: Case) -> bool:
    """Whether it is a type that ggml has; blocks that are given as such hold 32 elements and have a scale each."""
    node, (x, *scales) = case.node, case.inputs
    whole = not x.shape[-1] % 32 and all(s.shape == (*x.shape[:-1], x.shape[-1] // 32) for s in scales)
    return not node.attributes and gguf_elements(case) in GGUF_TYPES and (whole or not scales)


def bytes_of_blocks(case: Case) -> Any:
    """The bytes of blocks of equal elements: a scale and then 32 integers."""
    x, scales = case.inputs
    bits = {"int8": x.view(np.uint8), "uint4": x.astype(np.uint8) * 17}[x.dtype.name].reshape(-1, 32)
    size = 32 if x.dtype == np.int8 else 16
    held = [scale.tobytes() + row.tobytes()[:size] for scale, row in zip(scales.reshape(-1), bits, strict=True)]
    return np.frombuffer(b"".join(held), np.uint8).reshape(*x.shape[:-1], -1)


def for_gguf(case: Case) -> Facts:
    if not has_words_for_gguf(case):
        return NO_WORDS
    given = bytes_of_blocks(case) if len(case.inputs) > 1 else case.inputs[0]
    return {"x": tensor(given), "type": GGUF_TYPES[gguf_elements(case)]}


def for_ggml(case: Case) -> Facts:
    """The bytes in memory, and the length of a row: of numbers, or of bytes."""
    x = case.inputs[0]
    if not has_words_for_gguf(case) or x.shape[-1] % 32:
        return NO_WORDS
    given = bytes_of_blocks(case) if len(case.inputs) > 1 else x
    return {**for_gguf(case), "x": given.tobytes().hex(), "length": given.shape[-1]}


def for_paddle(case: Case) -> Facts:
    """A layer that has qmin and qmax from bit_length; its quant_axis has another default. Casts to float 8 saturate."""
    if case.node.operator == "onnx.Cast":
        both = {case.node.input_type, case.node.output_type}
        return for_astype(case, PADDLE) if both <= {*PADDLE, *NUMBERS_OF_PADDLE} else NO_WORDS
    node, half = case.node, 1 << (case.node.value("bit_length") - 1)
    known = set(node.attributes) <= {"quant_axis", "bit_length", "qmin", "qmax"}
    if not known or (node.value("qmin"), node.value("qmax")) != (-half, half - 1):
        return NO_WORDS
    bits = {name: value for name, value in node.attributes.items() if name == "bit_length"}
    inputs = {kind.name: tensor(array) for kind, array in zip(node.inputs, case.inputs, strict=True)}
    return {**inputs, "quant_axis": node.value("quant_axis"), **bits}


def for_paddle_program(case: Case) -> Facts:
    node = case.node
    given = {kind.name: array for kind, array in zip(node.inputs, case.inputs, strict=True)}
    y = ("Y", "float32", case.inputs[0].shape)
    return {
        "operator": "quantize_linear",
        "inputs": {name: [(name, "float32", array.shape)] for name, array in given.items()},
        "outputs": {"Y": [y]},
        "attributes": dict(node.attributes),
        "feed": {name: tensor(array) for name, array in given.items()},
        "fetched": [y],
    }


def for_openvino_paddle(case: Case) -> Facts:
    """A program of four operators that holds every attribute, the defaults too."""
    node = case.node
    given = {kind.name: array for kind, array in zip(node.inputs, case.inputs, strict=True)}
    feeds = [("feed", {"X": "feed"}, {"Out": name}, {"col": place}) for place, name in enumerate(given)]
    names = ("quant_axis", "bit_length", "qmin", "qmax", "round_type")
    said = {name: node.value(name) for name in names}
    own = ("quantize_linear", {name: name for name in given}, {"Y": "Y"}, said)
    return {
        "operators": [*feeds, own, ("fetch", {"X": "Y"}, {"Out": "fetch"}, {"col": 0})],
        "shapes": {name: array.shape for name, array in given.items()} | {"Y": case.inputs[0].shape},
        "device": "CPU",
        "given": {name: tensor(array) for name, array in given.items()},
    }


def for_tosa(case: Case) -> Facts:
    """A graph of one operator, with tensors of the signed types; whether they are unsigned its attributes say."""
    node, (x, *parameters) = case.node, case.inputs
    modes = ("SINGLE_ROUND", "DOUBLE_ROUND", "INEXACT_ROUND")
    if set(node.attributes) - {"scale32", "rounding_mode", "per_channel"} or node.value("rounding_mode") not in modes:
        return NO_WORDS
    signed = [array.view(f"int{8 * array.itemsize}") for array in (x, *parameters)]
    unsigned = node.input_type[0] == "u", node.output_type[0] == "u"
    return {
        "operator": "RESCALE",
        "attributes": (node.value("scale32"), node.value("rounding_mode"), node.value("per_channel"), *unsigned),
        "input": (x.shape, signed[0].dtype.name.upper()),
        "x": [tensor(signed[0])],
        "constants": [(array.dtype.name.upper(), tensor(array)) for array in signed[1:]],
        "output": (x.shape, node.output_type.removeprefix("u").upper()),
    }


def for_stablehlo(case: Case) -> Facts:
    """Types with all parameters, and the operand as integers without a sign."""
    node, (x, scales, points, *own) = case.node, case.inputs
    ends = {f"{side}storage_{end}" for side in ("", "operand_") for end in ("min", "max")}
    if set(node.attributes) - ends - {"quantization_dimension", "operand_quantization_dimension"}:
        return NO_WORDS
    for prefix, pair in (("", (scales, points)), ("operand_", own)):
        wanted = 1 if f"{prefix}quantization_dimension" not in node.attributes else pair[0].size
        if any(array.size != wanted for array in pair):
            return NO_WORDS
    sizes, real = "".join(f"{size}x" for size in x.shape), "f32"
    quantizes = node.operator.endswith("uniform_quantize")
    stored = node.outputs[0].dtype if quantizes else x.dtype
    types = [{"sizes": sizes, "element": real}, {"sizes": sizes, **quantized_type(node, stored, scales, points, "")}]
    if own:
        types[0] = {"sizes": sizes, **quantized_type(node, x.dtype, *own, "operand_")}
    given = x.view(f"int{8 * x.itemsize}") if x.dtype.kind in "iu" else x
    operation = node.operator.removeprefix("stablehlo.")
    return {"operation": operation, "types": types if quantizes else types[::-1], "inputs": [tensor(given)]}


def quantized_type(node: Node, stored: Any, scales: Array, points: Array, prefix: str) -> Facts:
    low, high = (node.attributes.get(f"{prefix}storage_{end}", 0) for end in ("min", "max"))
    axis = node.attributes.get(f"{prefix}quantization_dimension")
    pairs = zip(scales.reshape(-1).tolist(), points.reshape(-1).tolist(), strict=True)
    return {
        "storage": f"{'i' if stored.kind == 'i' else 'u'}{8 * stored.itemsize}",
        "ends": f"{low}:{high}" if (low, high) != (0, 0) else None,
        "element": "f32",
        "dimension": None if axis is None else str(axis),
        "pairs": list(pairs),
    }


def for_iree(case: Case) -> Facts:
    """ONNX's model; RESCALE on types without a sign. Sizes are free but for a last axis of channels."""
    node = case.node
    if node.operator.startswith("stablehlo."):
        return for_stablehlo(case)
    if node.operator != "tosa.RESCALE":
        return for_onnx(case)
    if set(node.attributes) - {"scale32", "rounding_mode", "per_channel"}:
        return NO_WORDS
    signed = [array.view(f"int{8 * array.itemsize}") for array in case.inputs]
    free = ["?"] * signed[0].ndim
    if node.value("per_channel") and free:
        free[-1] = str(signed[0].shape[-1])
    bits = [f"i{8 * kind.dtype.itemsize}" for kind in (*node.inputs, node.outputs[0])]
    sizes = [free, *([str(size) for size in array.shape] for array in signed[1:]), free]
    names = [kind.name for kind in node.inputs]
    unsigned = {"input_unsigned": node.input_type, "output_unsigned": node.output_type}
    return {
        "operation": ("tosa", "tosa.rescale", [f"%{name}" for name in names]),
        "attributes": {
            **{name: str(bool(node.value(name))).lower() for name in ("scale32", "per_channel")},
            "rounding_mode": f"#tosa.rounding_mode<{node.value('rounding_mode')}>",
            **{name: str(kind.startswith("u")).lower() for name, kind in unsigned.items()},
        },
        "types": [f"tensor<{'x'.join([*shape, kind])}>" for shape, kind in zip(sizes, bits, strict=True)],
        "constants": {
            name: str(array.tolist()) for name, array in zip(names, signed, strict=True) if name in node.constants
        },
        "inputs": [tensor(array) for name, array in zip(names, signed, strict=True) if name not in node.constants],
    }


def for_numpy(case: Case) -> Facts:
    """The operands: a parameter with axes is laid along them, and one number is what it is."""
    node, (x, *parameters) = case.node, case.inputs
    ngraph, axis = node.operator.startswith("ngraph."), said_axis(case)
    axes = node.attributes.get("axes", ()) if ngraph else () if axis is None else (axis,)
    known = has_words(case, {"axis", "axes", "type", "round_mode"}, most_axes=x.ndim)
    if not known or not all(-x.ndim <= axis < x.ndim for axis in axes):
        return NO_WORDS
    sizes = {axis % x.ndim: x.shape[axis] for axis in axes}
    along, one = (*sizes.values(),), [(), (1,)]
    wanted = [along] if ngraph or "axis" in node.attributes else one if axis is None else [along, ()]
    if any(p.shape not in wanted for p in parameters):
        return NO_WORDS
    laid = [sizes.get(place, 1) for place in range(x.ndim)]
    arrays = [x, *(p.reshape(laid) if axes and p.ndim else p for p in parameters)]
    return {kind.name: (a.shape, a.astype(float).tolist()) for kind, a in zip(node.inputs, arrays, strict=True)}


@dataclass(frozen=True)
class Library:
    """How to listen at a library's door, and what it should hear. `first`: it hears of a node when it is compiled."""

    listener: Listener
    said: Callable[[Case], Facts]
    first: bool = False


LIBRARIES = {
    **dict.fromkeys(
        (
            *("onnxruntime", "onnxruntime-no-optimisation", "onnxruntime-two-threads"),
            *("onnxruntime-basic", "onnxruntime-extended", "onnxruntime-qdq", "onnxruntime-qdq-unfused"),
            "onnxruntime-qdq-no-selectors",
            "onnxruntime-cuda",
            "onnxruntime-tensorrt",
        ),
        Library(handed_over.onnxruntime_session, for_onnx, first=True),
    ),
    "onnxruntime-tool": Library(handed_over.onnxruntime_function, for_tool),
    "onnx-reference": Library(handed_over.onnx_evaluator, for_onnx, first=True),
    **dict.fromkeys(
        ("openvino", "openvino-as-shipped", "openvino-limits-as-inputs"),
        Library(handed_over.openvino_core, for_openvino, first=True),
    ),
    **dict.fromkeys(
        ("tensorflow", "tensorflow-no-onednn", "tensorflow-graph", "tensorflow-xla", "tensorflow-gpu"),
        Library(handed_over.tensorflow_raw, for_tensorflow),
    ),
    **dict.fromkeys(
        ("torch", "torch-fbgemm", "torch-onednn", "torch-qnnpack"),
        Library(handed_over.torch_functions, for_classic_torch),
    ),
    "torch-decomposed": Library(handed_over.torch_functions, for_decomposed),
    **dict.fromkeys(
        ("torch-compiled", "torch-cuda", "torch-cuda-compiled"),
        Library(handed_over.torch_functions, for_compiled_torch),
    ),
    **dict.fromkeys(
        ("litert", "litert-no-xnnpack", "litert-reference"), Library(handed_over.litert_interpreter, for_litert)
    ),
    "tflite-micro": Library(handed_over.micro_interpreter, for_litert),
    **dict.fromkeys(
        ("tract", "tvm", "tinygrad", "emx-onnx-cgen", "onnxruntime-openvino"),
        Library(handed_over.onnx_prepared, for_onnx),
    ),
    **dict.fromkeys(
        ("openvino-low-precision", "openvino-no-low-precision"),
        Library(handed_over.openvino_convolution, for_low_precision),
    ),
    **dict.fromkeys(("ncnn", "mnn"), Library(handed_over.int8_by_factor, for_factor)),
    **dict.fromkeys(("jax", "jax-cuda"), Library(handed_over.formula_of_jax, for_jax)),
    **dict.fromkeys(("triton-interpreter", "triton-cuda"), Library(handed_over.triton_kernel, for_triton, first=True)),
    "executorch": Library(handed_over.exported_functions, for_exported),
    "gguf": Library(handed_over.gguf_function, for_gguf),
    **dict.fromkeys(("ggml", "ggml-cpu"), Library(handed_over.ggml_functions, for_ggml)),
    "mlx": Library(handed_over.mlx_function, for_mlx),
    "openvino-paddle": Library(handed_over.openvino_paddle, for_openvino_paddle),
    "paddle": Library(handed_over.paddle_layer, for_paddle),
    "paddle-program": Library(handed_over.paddle_program, for_paddle_program),
    "torchao": Library(handed_over.torchao_function, for_torchao),
    "iree": Library(handed_over.iree_modules, for_iree),
    "stablehlo-reference": Library(handed_over.stablehlo_modules, for_stablehlo),
    "tosa-reference-model": Library(handed_over.tosa_graph, for_tosa),
    "ngraph": Library(handed_over.ngraph_call, for_ngraph),
    "ml_dtypes": Library(handed_over.conversions_of_ml_dtypes, for_ml_dtypes, first=True),
    "numpy-naive": Library(handed_over.numpy_operands, for_numpy, first=True),
}


@lru_cache
def loaded(name: str) -> Any:
    """The backend, if its library is installed. TensorFlow's switch stays as it was for the tests after this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ONEDNN, "")
        patch.delenv(ONEDNN)
        try:
            return load_backend(name)
        except (ModuleNotFoundError, NoDevice) as error:
            pytest.skip(str(error))


def asked_for(name: str) -> frozenset[str]:
    """The operators that a backend claims or has mapped to its own operations."""
    found = claims_of(loaded(name)).operators
    assert found
    return found


def calls_for(name: str) -> list[tuple[str, ForbiddenCall]]:
    """All calls of the backend's operators: what a document forbids, and the calls above."""
    own = [operator for operator in OPERATORS if operator in asked_for(name)]
    others = [(operator, call) for operator in own for call in (*ALLOWED[operator], *WRONG.get(operator, ()))]
    return [*calls_of_operators(own), *others]


def cases_for(name: str) -> Iterator[tuple[Case, ForbiddenCall]]:
    """The calls as cases; if the backend builds constants in, also with all inputs but the first as constants."""
    for number, (operator, call) in enumerate(calls_for(name)):
        case = forbidden_case(operator, call, number)
        yield case, call
        if getattr(loaded(name), "takes_constants", False):
            named = {kind.name: array for kind, array in zip(case.node.inputs, case.inputs, strict=True)}
            baked = dict(list(named.items())[1:])
            yield replace(case, id=f"{case.id}/constants", node=with_constants(case.node, baked)), call


@pytest.mark.few(3)
@pytest.mark.parametrize("name", registered())
def test_a_library_hears_what_the_node_says_or_nothing(name: str) -> None:
    library, wrong = LIBRARIES[name], {}
    for case, call in cases_for(name):
        heard, reason = heard_by(loaded(name), library.listener, case, first=library.first)
        said = library.said(case)
        whole = {key: value for facts in heard for key, value in facts.items()}
        contradicted = [facts for facts in heard if not facts.items() <= said.items()]
        if contradicted or (not reason and whole != said):
            wrong[case.id, call.what] = said, contradicted or whole, reason
    assert not wrong


@pytest.mark.parametrize("name", registered())
def test_it_hears_an_allowed_call_of_each_of_its_operators(name: str) -> None:
    """Otherwise the test above would be content with adapters that refuse everything."""
    library, heard_whole = LIBRARIES[name], set()
    for operator in asked_for(name):
        for call in ALLOWED[operator]:
            heard, reason = heard_by(
                loaded(name), library.listener, forbidden_case(operator, call, 0), first=library.first
            )
            if heard and not reason:
                heard_whole.add(operator)
    assert heard_whole == asked_for(name)
