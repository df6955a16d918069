"""ONNX models of one node, for the runtimes that load them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_axes_from_front, check_output_type, check_scale_has_axes
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import LARGEST_FOR_INFINITY, ONE_ZERO, OPSETS, SINCE
from tiebreak.golden.operators import (
    get_operator,
    microsoft_matmul_nbits,
    microsoft_qgemm,
    microsoft_qlinear,
    microsoft_qlinear_add,
    microsoft_qlinear_mul,
    onnx_cast,
    onnx_conv_integer,
    onnx_dynamic_quantize_linear,
    onnx_matmul_integer,
    onnx_qlinear_conv,
    onnx_qlinear_matmul,
)
from tiebreak.golden.operators.onnx_convolution import ATTRIBUTES as OF_CONVOLUTIONS
from tiebreak.golden.operators.onnx_convolution import output_shape
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array
from tiebreak.golden.products import product_shape
from tiebreak.golden.rounding import EVEN

OPSET = 21  # for nGraph nodes: the first operator set with 4- and 16-bit types
OLDEST = 13  # for nodes of other domains: the first operator set with bfloat16, in files that onnxruntime 1.17 reads
IR_VERSIONS = {10: 5, 13: 7, 19: 9, 21: 10, 23: 11, 24: 12, 25: 13, 28: 14}
ATTRIBUTES_SINCE = {"axis": 13, "saturate": 19, "block_size": 21, "output_dtype": 21, "precision": 23, "round_mode": 24}
MICROSOFT = "com.microsoft"
TYPE_ATTRIBUTES = ("to", "output_dtype", "precision")
CAST, DYNAMIC, QLINEAR_MATMUL = "Cast", "DynamicQuantizeLinear", "QLinearMatMul"
MATMUL_INTEGER, QGEMM, NBITS = "MatMulInteger", "QGemm", "MatMulNBits"
# Products of two of their inputs: no output has the first input's shape.
MATRICES = {QLINEAR_MATMUL: ("a", "b"), MATMUL_INTEGER: ("A", "B"), QGEMM: ("A", "B")}
LINEAR_CLAIMS = {
    "onnx.QuantizeLinear": "ONNX operator schemas QuantizeLinear-10 to -28",
    "onnx.DequantizeLinear": "ONNX operator schemas DequantizeLinear-10 to -28",
}
CAST_CLAIM = "ONNX operator schemas Cast-19 to -28, and ONNX's technical pages about their types"
DYNAMIC_CLAIMS = {onnx_dynamic_quantize_linear.ID: "ONNX operator schema DynamicQuantizeLinear-11"}
PRODUCT_CLAIMS = {
    onnx_qlinear_matmul.ID: "ONNX operator schemas QLinearMatMul-10 and -21",
    onnx_matmul_integer.ID: "ONNX operator schema MatMulInteger-10",
}
CONVOLUTION_CLAIMS = {
    onnx_qlinear_conv.ID: "ONNX operator schema QLinearConv-10",
    onnx_conv_integer.ID: "ONNX operator schema ConvInteger-10",
}
CONVOLUTIONS = ("QLinearConv", "ConvInteger")
PROBED_SHAPES = {"x": (1, 1, 3), "w": (1, 1, 1), "B": (1,)}  # of a small convolution; its other inputs are scalars
# Inputs of operators that may lack one before another, as it may be left off.
EVERY_INPUT = {
    QGEMM: microsoft_qgemm.FORMS[0],
    NBITS: microsoft_matmul_nbits.EVERY_INPUT,
    MATMUL_INTEGER: onnx_matmul_integer.FORMS[0],
    "ConvInteger": onnx_conv_integer.FORMS[0],
}
SUMMED = MATRICES | dict.fromkeys(CONVOLUTIONS, ("x", "w"))  # the inputs whose products are summed up
OF_SUMS = {**PRODUCT_CLAIMS, **CONVOLUTION_CLAIMS}
PAIR_CLAIMS = {
    spec.ID: f"{spec.PAGE}, version 1 of com.microsoft" for spec in (microsoft_qlinear_add, microsoft_qlinear_mul)
}
NBITS_CLAIMS = {microsoft_matmul_nbits.ID: f"{microsoft_matmul_nbits.DOCUMENT}, version 1 of com.microsoft"}
QGEMM_CLAIM = {microsoft_qgemm.ID: f"{microsoft_qlinear.PAGE}, version 1 of com.microsoft"}
MICROSOFT_CLAIMS = {**PAIR_CLAIMS, **QGEMM_CLAIM}
CLAIMS = {**LINEAR_CLAIMS, onnx_cast.ID: CAST_CLAIM, **DYNAMIC_CLAIMS, **OF_SUMS}
MAPS = {
    "ngraph.Quantize": "QuantizeLinear: both give round(x / scale) + zero_point, clamped, ties to even",
    "ngraph.Dequantize": "DequantizeLinear: both give (x - zero_point) * scale",
}


@dataclass(frozen=True)
class OnnxNode:
    """A node as a model holds it: its name, attributes, inputs' names and types, output's type, and operator set.

    `further` are names and types of the outputs after the first, which is always y. `domain` is empty for ONNX's own
    operators. `broadcast` are the places of the inputs that broadcast to the shape of y.
    """

    operator: str
    attributes: dict[str, Any]
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    output: str
    opset: int
    further: tuple[tuple[str, str], ...] = ()
    domain: str = ""
    broadcast: tuple[int, ...] = (0,)

    @property
    def outputs(self) -> list[str]:
        """The names of all outputs."""
        return ["y", *(name for name, _ in self.further)]

    def value(self, attribute: str) -> Any:
        """A convolution's attribute, or its default."""
        defaults = {one.name: one.default for one in OF_CONVOLUTIONS}
        return self.attributes.get(attribute, defaults[attribute])


def onnx_node(node: Node) -> OnnxNode:
    """The node as an ONNX node. Unsupported for an nGraph node that is not exactly one of the two operators."""
    operator = operator_of(node)
    own = not node.operator.startswith("ngraph.")
    domain = MICROSOFT if node.operator.startswith(MICROSOFT) else ""
    types = tuple(str(kind.dtype.name) for kind in node.inputs)
    attributes = onnx_attributes(node) if own else {} if ngraph_axis(node) is None else {"axis": ngraph_axis(node)}
    for name in (*types, node.output_type):
        onnx_type(name, operator)
    if operator != CAST and "float64" in (*types, node.output_type):
        raise Unsupported(f"{operator} takes no float64")
    names = tuple(tensor.name for tensor in node.inputs)
    further = tuple((tensor.name, str(tensor.dtype.name)) for tensor in node.outputs[1:])
    opset = node.opset or (oldest_file((*types, node.output_type)) if domain else OPSET)
    places = broadcast_inputs(node)
    return OnnxNode(operator, attributes, names, types, node.output_type, opset, further, domain, places)


def oldest_file(types: Sequence[str]) -> int:
    """The first operator set whose files hold these types: of a node of another domain nothing else depends on it."""
    return max(OLDEST, *(SINCE.get(name, OLDEST) for name in types))


def operator_of(node: Node) -> str:
    """The name of the ONNX operator: QuantizeLinear is that of ngraph.Quantize, too."""
    source, _, name = node.operator.rpartition(".")
    return f"{name}Linear" if source == "ngraph" else name


def broadcast_inputs(node: Node) -> tuple[int, ...]:
    """The places of the inputs that broadcast to the shape of the output."""
    return (microsoft_qlinear.FIRST, microsoft_qlinear.SECOND) if node.operator in PAIR_CLAIMS else (0,)


def places_of(written: OnnxNode) -> tuple[str, ...]:
    """The names of the inputs in the places that the schema gives them; empty for one that is left off."""
    every = EVERY_INPUT.get(written.operator, written.names)
    return tuple(name if name in written.names else "" for name in every[: every.index(written.names[-1]) + 1])


def as_old_as(written: OnnxNode) -> Iterator[OnnxNode]:
    """The node at its own operator set, then at each earlier one in which it means the same.

    Later versions of these operators add types and attributes and change nothing else, but for what Cast's tables make
    of an infinity. So a release that does not know the node's own operator set may run the node at an earlier one.
    """
    yield written
    for opset in reversed(OPSETS):
        if earliest_opset(written) <= opset < written.opset:
            yield replace(written, opset=opset)


def earliest_opset(written: OnnxNode) -> int:
    """The first operator set that has the node's types and attributes."""
    if written.operator in (DYNAMIC, MATMUL_INTEGER) or written.operator in CONVOLUTIONS or written.domain:
        return written.opset
    if written.operator == QLINEAR_MATMUL:
        return 10 if written.inputs[1] == "float32" else 21
    return earliest_of_cast(written) if written.operator == CAST else earliest_of_linear(written)


def earliest_of_cast(written: OnnxNode) -> int:
    """The same for a Cast: in a type with one zero an infinity means another number from LARGEST_FOR_INFINITY on."""
    since = [onnx_cast.SINCE.get(name, 19) for name in (*written.inputs, written.output)]
    since += [ATTRIBUTES_SINCE.get(name, 19) for name in written.attributes]
    return max(since + changed_infinities(written))


def changed_infinities(written: OnnxNode) -> list[int]:
    changed = written.output in ONE_ZERO and written.opset >= LARGEST_FOR_INFINITY
    return [LARGEST_FOR_INFINITY] if changed else []


def earliest_of_linear(written: OnnxNode) -> int:
    quantizes = written.operator == "QuantizeLinear"
    quantized = written.output if quantizes else written.inputs[0]
    reals = {written.inputs[0], written.inputs[1]} if quantizes else {written.inputs[1], written.output}
    if len(reals) > 1 or quantized not in SINCE:
        return written.opset
    needs = [SINCE[quantized], 10 if reals == {"float32"} else 19]
    needs += [ATTRIBUTES_SINCE[name] for name in written.attributes]
    return max(needs + (changed_infinities(written) if quantizes else []))


def onnx_attributes(node: Node) -> dict[str, Any]:
    """Attributes as a model holds them: types by number, booleans as 0 or 1, everything else as it is."""
    said = all_attributes(node) if node.operator.startswith(MICROSOFT) else node.attributes
    named = {name: value for name, value in said.items() if name in TYPE_ATTRIBUTES}
    types = {name: onnx_type(value, name) for name, value in named.items() if isinstance(value, str)}
    flags = {name: int(value) for name, value in said.items() if isinstance(value, bool)}
    return {**said, **types, **flags}


def all_attributes(node: Node) -> dict[str, Any]:
    """The attributes, defaults too: the domain has one version, in which an older release may require what is now one.

    onnxruntime 1.17.0 so requires MatMulNBits's bits.
    """
    values = {one.name: node.value(one.name) for one in get_operator(node.operator).attributes}
    return {**{name: value for name, value in values.items() if value is not None}, **node.attributes}


def ngraph_axis(node: Node) -> int | None:
    """The axis of an nGraph node; None if its scale is a scalar. Unsupported if ONNX has no such node.

    ngraph.Quantize equals QuantizeLinear if it rounds to nearest even and has at most one axis. ngraph.Dequantize
    equals DequantizeLinear if it has at most one axis.
    """
    operator = "QuantizeLinear" if node.operator == "ngraph.Quantize" else "DequantizeLinear"
    if operator == "QuantizeLinear" and node.round_mode != EVEN:
        raise Unsupported(f"QuantizeLinear has no {node.round_mode}, only round to nearest even")
    if operator == "QuantizeLinear" and "32" in node.output_type:
        raise Unsupported(f"QuantizeLinear takes no {node.output_type}")
    check_output_type(node, operator)
    check_axes_from_front(node, operator)
    axes = node.attributes.get("axes", ())
    return int(axes[0]) if axes else None


def check_inputs(node: Node, inputs: Sequence[Array]) -> None:
    """Raise Unsupported for inputs with which an nGraph node differs from the ONNX node."""
    if len(inputs) == 1 or node.operator in {**OF_SUMS, **NBITS_CLAIMS, **QGEMM_CLAIM}:
        return
    check_scale_has_axes(node, inputs[1].shape, "ONNX")
    if node.operator == "ngraph.Dequantize" and node.input_type == "int32" and np.any(inputs[2]):
        raise Unsupported("DequantizeLinear has no zero point for int32")


def onnx_model(
    written: OnnxNode,
    carriers: Mapping[str, str] | None = None,
    shapes: Sequence[Sequence[int | None] | None] | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Any:
    """An onnx.ModelProto with the node's inputs and outputs. Shapes are free unless given, as is a size of None.

    y has a shape where all inputs have one.

    `carriers` maps a type to the type in which its tensors enter and leave, through a Cast node on either side.
    `constants` are the inputs that become initializers, by name.
    """
    from onnx import helper

    carriers, constants = carriers or {}, constants or {}
    kinds = dict(zip(written.names, written.inputs, strict=True))
    free = [name for name in written.names if name not in constants]
    inner = {name: f"{name}_inner" for name in free if kinds[name] in carriers}
    outer = {name: carriers.get(kinds[name], kinds[name]) for name in free}
    out, y = ("y_inner", carriers[written.output]) if written.output in carriers else ("y", written.output)
    nodes = [helper.make_node("Cast", [name], [inner[name]], to=onnx_type(kinds[name])) for name in inner]
    named = [inner.get(name, name) for name in places_of(written)]
    nodes.append(
        helper.make_node(
            written.operator, named, [out, *written.outputs[1:]], domain=written.domain, **written.attributes
        )
    )
    if out != "y":
        nodes.append(helper.make_node("Cast", [out], ["y"], to=onnx_type(y)))
    known = dict(zip(written.names, shapes or (), strict=False))
    if shapes and None not in shapes:
        known["y"] = shape_of_y(written, {name: shape for name, shape in known.items() if shape is not None})
    return model_of(nodes, outer, y, written.opset, constants, known, written.further, written.domain)


def broadcast_shape(shapes: Sequence[Sequence[int | None]]) -> tuple[int | None, ...]:
    """The shape to which shapes broadcast; a size that is free stays so. Unsupported if they do not fit."""
    rank = max(map(len, shapes))
    columns = list(zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes), strict=True))
    if any(len({size for size in column if size not in (1, None)}) > 1 for column in columns):
        raise Unsupported(f"shapes {' and '.join(str(list(shape)) for shape in shapes)} do not broadcast")
    return tuple(None if None in column else size_of(column) for column in columns)


def size_of(column: Sequence[int | None]) -> int:
    """The size that others broadcast to: the one that is not 1, if there is one."""
    return next((size for size in column if size not in (1, None)), 1) or 0


def shape_of_y(written: OnnxNode, shapes: Mapping[str, Sequence[int | None]]) -> Sequence[int | None] | None:
    """The shape of y: that to which inputs broadcast, or that of a product or convolution, free where a size is.

    MatMulNBits says its last size itself. None where a product's or a convolution's inputs do not fit: that is for the
    library to refuse.
    """
    if written.operator == NBITS:
        return [*shapes[written.names[0]][:-1], written.attributes["N"]]
    if written.operator not in SUMMED:
        return broadcast_shape([shapes[written.names[place]] for place in written.broadcast])
    names = SUMMED[written.operator]
    a, b = (tuple(1 if size is None else size for size in shapes[name]) for name in names)
    a, b = (one[::-1] if written.attributes.get(flag) else one for one, flag in ((a, "transA"), (b, "transB")))
    try:
        convolved = written.operator in CONVOLUTIONS
        found = output_shape(written, a, b) if convolved else product_shape(written.operator, a, b)
    except InvalidInput:
        return None
    is_free = any(size is None for name in names for size in shapes[name])
    return [None] * len(found) if is_free else found


def model_of(
    nodes: Sequence[Any],
    inputs: Mapping[str, str],
    output: str,
    opset: int,
    constants: Mapping[str, Array],
    shapes: Mapping[str, Sequence[int | None] | None] | None = None,
    further: Sequence[tuple[str, str]] = (),
    domain: str = "",
) -> Any:
    """An onnx.ModelProto of these nodes: input types by name, the type of the output y, initializers by name.

    `further` are names and types of scalar outputs after y. `domain` is a further one, of version 1.
    """
    from onnx import helper

    known = shapes or {}
    given = [helper.make_tensor_value_info(name, onnx_type(kind), known.get(name)) for name, kind in inputs.items()]
    results = [helper.make_tensor_value_info("y", onnx_type(output), known.get("y"))]
    results += [helper.make_tensor_value_info(name, onnx_type(kind), []) for name, kind in further]
    initializers = [initializer(name, array) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "graph", given, results, initializers)
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version(opset))


def ir_version(opset: int) -> int:
    """The version of the file's form that goes with an operator set, of those from the earliest one on."""
    return max((version for since, version in IR_VERSIONS.items() if since <= opset), default=min(IR_VERSIONS.values()))


def initializer(name: str, array: Array) -> Any:
    """An onnx.TensorProto. Unsupported if the installed onnx can't hold the type."""
    from onnx import numpy_helper

    try:
        return numpy_helper.from_array(np.asarray(array), name)
    except (KeyError, TypeError, ValueError, NotImplementedError) as error:
        raise Unsupported(f"onnx can't hold {array.dtype.name}: {error}") from None


def types_of(model: Any) -> set[str]:
    """The element types of a model's inputs, output and initializers."""
    graph = model.graph
    values = (value.type.tensor_type.elem_type for value in (*graph.input, *graph.output))
    return {NUMBERS[number] for number in (*values, *(tensor.data_type for tensor in graph.initializer))}


def onnx_type(name: str, operator: str = "ONNX") -> int:
    """TensorProto's number for an element type. Unsupported if there is none."""
    for number, known in NUMBERS.items():
        if known == name:
            return number
    raise Unsupported(f"{operator} takes no {name}")
