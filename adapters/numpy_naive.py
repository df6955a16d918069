"""The `clip(rint(x / s) + z)` and `(x - z) * s` that people write by hand in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.adapters.inexpressible import check_axis_in_operator_set, check_operator_set, check_output_type
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_linear import is_one_for_all
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

PLAIN = {"int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32"} | {
    "float16",
    "bfloat16",
    "float32",
    "float64",
}
ROUND = {
    EVEN: np.rint,
    "ROUND_TOWARD_ZERO": np.trunc,
    "ROUND_UP": np.ceil,
    "ROUND_DOWN": np.floor,
}


class NumpyNaive:
    name = "numpy-naive"
    version = np.__version__
    operators = frozenset({"ngraph.Quantize", "ngraph.Dequantize", "onnx.QuantizeLinear", "onnx.DequantizeLinear"})

    def compile(self, node: Node) -> Run:
        plain = all(tensor.dtype.name in PLAIN for tensor in (*node.inputs, *node.outputs))
        if not plain or set(node.attributes) - {"axis", "axes", "round_mode", "type"}:
            raise Unsupported("people write this for plain integers and floats, one scale or one for each axis")
        check_operator_set(node, "NumPy")
        check_output_type(node, "NumPy")
        return dequantize_in_numpy(node) if "Dequantize" in node.operator else quantize_in_numpy(node)

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Source of a script's part in NumPy; see protocol.Backend."""
        calls = formula_source(node, inputs)
        extension = "import ml_dtypes\n\n" if "ml_dtypes." in calls else ""
        return f'{extension}with np.errstate(all="ignore"):\n{calls}library = f"numpy {{np.__version__}}"\n'

    def attest(self) -> dict[str, str]:
        return {"library": np.__file__, "numpy": self.version}


def quantize_in_numpy(node: Node) -> Run:
    if node.round_mode not in ROUND:
        raise Unsupported(f"NumPy has no function for {node.round_mode}")
    round_, kind, dtype = ROUND[node.round_mode], INTEGER_TYPES[node.output_type], node.outputs[0].dtype

    def run(x: Array, scale: Array, zero_point: Array | None = None) -> tuple[Array, ...]:
        check_zero_point(scale, zero_point)
        s = aligned(scale, node, x)
        z = 0 if zero_point is None else aligned(zero_point, node, x)
        with np.errstate(all="ignore"):
            return (np.clip(round_(x / s) + z, kind.lowest, kind.highest).astype(dtype),)

    return run


def dequantize_in_numpy(node: Node) -> Run:
    dtype = node.outputs[0].dtype

    def run(x: Array, scale: Array, zero_point: Array | None = None) -> tuple[Array, ...]:
        check_zero_point(scale, zero_point)
        s = aligned(scale, node, x)
        z = 0 if zero_point is None else aligned(zero_point.astype(np.int64), node, x)
        with np.errstate(all="ignore"):
            return (np.asarray((x.astype(np.int64) - z).astype(dtype) * s).astype(dtype),)

    return run


def check_zero_point(scale: Array, zero_point: Array | None) -> None:
    """Raise Unsupported unless there is one zero point, or one for each scale: it has no axis of its own."""
    if zero_point is not None and zero_point.shape not in (scale.shape, (), (1,)):
        raise Unsupported(f"zero points of shape {list(zero_point.shape)} for scales of shape {list(scale.shape)}")


def aligned(parameter: Array, node: Node, x: Array) -> Array:
    """A parameter reshaped to broadcast against x. 4-bit integers are widened, since NumPy can't add them."""
    parameter = parameter.astype(np.int8) if parameter.dtype.name in ("int4", "uint4") else parameter
    axes, kept = axes_of(node, parameter, x), [1] * x.ndim
    if not axes:
        return parameter
    try:
        for axis in axes:
            kept[axis] = x.shape[axis]
    except IndexError as error:
        raise Unsupported(f"axes {list(axes)} of an input of shape {list(x.shape)}: {error}") from None
    if parameter.shape != tuple(x.shape[axis] for axis in axes):
        raise Unsupported(f"a parameter of shape {list(parameter.shape)} for an input of shape {list(x.shape)}")
    return parameter.reshape(kept)


def axes_of(node: Node, parameter: Array, x: Array) -> tuple[int, ...]:
    """The axes along which a parameter varies, as the node has them; none if it is one for all."""
    if not node.operator.startswith("onnx."):
        axes: tuple[int, ...] = node.value("axes")
        if parameter.ndim != len(axes) or any(axis < 0 for axis in axes):
            raise Unsupported(f"a parameter of shape {list(parameter.shape)} for axes {list(axes)}")
        return axes
    if not is_one_for_all(node.attributes, x.shape, parameter.shape):
        check_axis_in_operator_set(node, "NumPy")
        return (node.value("axis"),)
    if "axis" in node.attributes:
        raise Unsupported("people write no axis for one scale")
    return ()


def formula_source(node: Node, inputs: Sequence[Array]) -> str:
    """Python lines that assign the reshaped parameters and `outputs`."""
    x, dtype = node.inputs[0].name, dtype_attribute(node.output_type)
    shapes = [aligned(array, node, inputs[0]).shape for array in inputs[1:]]
    s, z = [*(f"{kind.name}.reshape({shape})" for kind, shape in zip(node.inputs[1:], shapes, strict=True)), "0"][:2]
    if "Dequantize" in node.operator:
        z = z if z == "0" else f"{z}.astype(np.int64)"
        formula = f"(({x}.astype(np.int64) - z).astype({dtype}) * s).astype({dtype})"
    else:
        z = f"{z}.astype(np.int8)" if node.output_type in ("int4", "uint4") and z != "0" else z
        kind, round_ = INTEGER_TYPES[node.output_type], ROUND[node.round_mode].__name__
        formula = f"np.clip(np.{round_}({x} / s) + z, {kind.lowest}, {kind.highest}).astype({dtype})"
    return f"    s = {s}\n    z = {z}\n    outputs = (np.asarray({formula}),)\n"


def dtype_attribute(name: str) -> str:
    return f"np.{name}" if hasattr(np, name) else f"ml_dtypes.{name}"
