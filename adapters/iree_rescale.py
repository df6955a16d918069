"""RESCALE in MLIR's dialect of TOSA, as IREE compiles it.

MLIR's integers have no sign: attributes of the operation say how their bits are read. Sizes of the
input are free. Multiplier, shift and zero points are inputs of the function too, or constants in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node, TensorType
from tiebreak.golden.operators import tosa_rescale
from tiebreak.golden.problem import Array

ID = tosa_rescale.ID
CLAIM = (
    "the TOSA specification, which MLIR's TOSA dialect says that it implements (llvm-project, "
    "mlir/docs/Dialects/TOSA.md); IREE's compiler takes the dialect as input"
)
ATTRIBUTES = {attribute.name for attribute in tosa_rescale.OPERATOR.attributes}
MODULE = """module {{
  func.func @graph({inputs}) -> {result} {{
{constants}    %found = "tosa.rescale"({operands}) <{{{attributes}}}> : ({types}) -> {result}
    return %found : {result}
  }}
}}
"""
CONSTANT = '    %{name} = "tosa.const"() <{{values = dense<{values}> : {type}}}> : () -> {type}\n'


def refuse(node: Node) -> None:
    """Raise Unsupported for attributes that the operation lacks."""
    if unknown := sorted(set(node.attributes) - ATTRIBUTES):
        raise Unsupported(f"tosa.rescale has no {', '.join(unknown)}")


def module_of(node: Node, inputs: Sequence[Array]) -> str:
    """MLIR's text of a module with one function, graph, for an input of this rank and parameters of these sizes."""
    shapes = [sizes_of(node, inputs[0].shape), *("".join(f"{size}x" for size in one.shape) for one in inputs[1:])]
    types = {one.name: f"tensor<{sizes}{element(one)}>" for one, sizes in zip(node.inputs, shapes, strict=True)}
    result = f"tensor<{shapes[0]}{element(node.outputs[0])}>"
    free = [name for name in types if name not in node.constants]
    return MODULE.format(
        inputs=", ".join(f"%{name}: {types[name]}" for name in free),
        result=result,
        constants="".join(constant(name, types[name], array) for name, array in node.constants.items()),
        operands=", ".join(f"%{name}" for name in types),
        attributes=", ".join(f"{name} = {value}" for name, value in attributes(node).items()),
        types=", ".join(types.values()),
    )


def sizes_of(node: Node, shape: tuple[int, ...]) -> str:
    """Free sizes, but for the last of channels: the dialect compares it with the number of multipliers."""
    channels = bool(node.value("per_channel")) and bool(shape)
    return "?x" * (len(shape) - channels) + (f"{shape[-1]}x" if channels else "")


def element(tensor: TensorType) -> str:
    return f"i{INTEGER_TYPES[tensor.element].bits}"


def constant(name: str, kind: str, array: Array) -> str:
    return CONSTANT.format(name=name, values=signed(array).tolist(), type=kind)


def attributes(node: Node) -> dict[str, str]:
    unsigned = (str(name.startswith("u")).lower() for name in (node.input_type, node.output_type))
    given = {name: str(bool(node.value(name))).lower() for name in ("scale32", "per_channel")}
    mode = f"#tosa.rounding_mode<{node.value('rounding_mode')}>"
    return {**given, "rounding_mode": mode, **dict(zip(("input_unsigned", "output_unsigned"), unsigned, strict=True))}


def signed(array: Array) -> Array:
    """The same bits in NumPy's signed type: IREE's functions take no other."""
    return array.view(np.dtype(f"int{8 * array.itemsize}"))


def free_tensors(node: Node) -> list[TensorType]:
    """The inputs that are not constants in the function."""
    return [tensor for tensor in node.inputs if tensor.name not in node.constants]


def free_inputs(node: Node, inputs: Sequence[Array]) -> list[Array]:
    """What the function gets: the inputs that are not constants in it."""
    named = zip(node.inputs, inputs, strict=True)
    return [signed(np.require(array, requirements="C")) for tensor, array in named if tensor.name not in node.constants]
