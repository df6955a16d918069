"""Python source that calls a raw operator in TensorFlow's own API, for standalone scripts."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.adapters.reproducer import CALL
from tiebreak.adapters.tensorflow_fake import ARGS, VARS, is_args
from tiebreak.adapters.tensorflow_ngraph import ROUND_MODES, ranges_that_are_constants
from tiebreak.adapters.tensorflow_quantize import named_dtype
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.operators import onnx_cast

ONEDNN = "TF_ENABLE_ONEDNN_OPTS"
GRAPH = "autograph=False"  # how a tf.function is made


def raw_operator_source(node: Node, *, graph: bool = False, xla: bool = False, device: str = "/CPU:0") -> str:
    """Source that assigns `outputs` and `library`. It sets oneDNN as in this process.

    With `graph` or `xla` the call is a tf.function's, for the latter compiled by XLA.
    """
    write = {
        "ngraph.Quantize": scaled_lines,
        "tensorflow.QuantizeV2": quantize_v2_lines,
        "tensorflow.Dequantize": dequantize_lines,
        "tensorflow.UniformQuantize": uniform_quantize_lines,
        "tensorflow.UniformDequantize": uniform_dequantize_lines,
        "tensorflow.UniformRequantize": uniform_requantize_lines,
        onnx_cast.ID: cast_lines,
    }
    text = "\n".join(
        (
            environment_lines(),
            "import tensorflow as tf\n",
            f'with tf.device("{device}"):',
            *(f"    {line}" for line in write.get(node.operator, fake_quant_lines)(node, graph or xla)),
            'library = f"tensorflow {tf.__version__}"\n',
        )
    )
    return text.replace(GRAPH, f"{GRAPH}, jit_compile=True") if xla else text


def environment_lines() -> str:
    """Source that sets the environment before TensorFlow is imported."""
    value = os.environ.get(ONEDNN)
    onednn = f'os.environ["{ONEDNN}"] = "{value}"' if value is not None else f'os.environ.pop("{ONEDNN}", None)'
    return f'import os\n\nos.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")\n{onednn}'


def fake_quant_lines(node: Node, graph: bool) -> list[str]:
    """Lines for an operator with one real output."""
    named = {tensor.name: tensor.name for tensor in node.inputs} | attribute_sources(node)
    operation = short_name(node.operator)
    if operation == VARS and is_args(node):
        named |= {name: f"float({name})" for name in node.constants}
        return [call_source(ARGS, named, ("inputs",) if graph else ()), "outputs = (result.numpy(),)"]
    return [call_source(operation, named, free_inputs(node, named, graph)), "outputs = (result.numpy(),)"]


def quantize_v2_lines(node: Node, graph: bool) -> list[str]:
    ranges = ("min_range", "max_range")
    named = {"input": node.inputs[0].name} | {name: name for name in ranges} | attribute_sources(node)
    return [
        call_source("QuantizeV2", named | {"T": f"tf.q{node.output_type}"}, free_inputs(node, named, graph)),
        f"quantized = tf.bitcast(result.output, tf.{node.output_type})",
        "outputs = (quantized.numpy(), result.output_min.numpy(), result.output_max.numpy())",
    ]


def dequantize_lines(node: Node, graph: bool) -> list[str]:
    names = [tensor.name for tensor in node.inputs]
    inputs = dict(zip(("input", "min_range", "max_range"), ("quantized", *names[1:]), strict=True))
    named, dtype = inputs | attribute_sources(node), named_dtype(node)
    return [
        f"quantized = tf.bitcast({names[0]}, tf.q{node.input_type})",
        call_source("Dequantize", named | ({"dtype": f"tf.{dtype}"} if dtype else {}), free_inputs(node, named, graph)),
        "outputs = (result.numpy(),)",
    ]


def uniform_quantize_lines(node: Node, graph: bool) -> list[str]:
    named = {name: name for name in ("input", "scales", "zero_points")} | attribute_sources(node)
    return [
        call_source("UniformQuantize", named | {"Tout": f"tf.q{node.output_type}"}, free_inputs(node, named, graph)),
        f"outputs = (tf.bitcast(result, tf.{node.output_type}).numpy(),)",
    ]


def uniform_dequantize_lines(node: Node, graph: bool) -> list[str]:
    named = {"input": "quantized", "scales": "scales", "zero_points": "zero_points"} | attribute_sources(node)
    named["Tout"] = f"tf.{node.output_type}"
    return [
        f"quantized = tf.bitcast(input, tf.q{node.input_type})",
        call_source("UniformDequantize", named, free_inputs(node, named, graph)),
        "outputs = (result.numpy(),)",
    ]


def uniform_requantize_lines(node: Node, graph: bool) -> list[str]:
    named = {tensor.name: tensor.name for tensor in node.inputs} | attribute_sources(node)
    named |= {"input": "quantized", "Tout": f"tf.q{node.output_type}"}
    return [
        f"quantized = tf.bitcast(input, tf.q{node.input_type})",
        call_source("UniformRequantize", named, free_inputs(node, named, graph)),
        f"outputs = (tf.bitcast(result, tf.{node.output_type}).numpy(),)",
    ]


def cast_lines(node: Node, graph: bool) -> list[str]:
    named = {"x": node.inputs[0].name, "DstT": f'tf.as_dtype("{node.output_type}")'}
    return [call_source("Cast", named, ("x",) if graph else ()), "outputs = (result.numpy(),)"]


def scaled_lines(node: Node, graph: bool) -> list[str]:
    """Lines that call QuantizeV2 in SCALED mode, as tensorflow_ngraph does."""
    x, scale = node.inputs[0].name, node.inputs[1].name
    kind, axes = INTEGER_TYPES[node.output_type], node.attributes.get("axes", ())
    named = {"input": x, "min_range": "low", "max_range": "high", "T": f"tf.q{node.output_type}", "mode": '"SCALED"'}
    named |= {"round_mode": f'"{ROUND_MODES[node.round_mode]}"', "ensure_minimum_range": "0.0"}
    named |= {"axis": str(axes[0])} if axes else {}
    return [
        f"low, high = np.float32({kind.lowest}) * {scale}, np.float32({kind.highest}) * {scale}",
        call_source("QuantizeV2", named, ("input",) if ranges_that_are_constants(node) else ()),
        f"outputs = (tf.bitcast(result.output, tf.{node.output_type}).numpy(),)",
    ]


def attribute_sources(node: Node) -> dict[str, str]:
    return {name: literal_source(value) for name, value in node.attributes.items()}


def literal_source(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f'float("{value}")' if isinstance(value, float) and not math.isfinite(value) else repr(value)


def free_inputs(node: Node, named: Mapping[str, str], graph: bool) -> tuple[str, ...]:
    """The arguments that are inputs of the graph if there is one: if it is asked for, or the node has constants."""
    inputs = ("input", *(tensor.name for tensor in node.inputs))
    return tuple(name for name in named if name in inputs and name not in node.constants) if graph or node.baked else ()


def call_source(operator: str, named: Mapping[str, str], free: Sequence[str] = ()) -> str:
    """`result = tf.raw_ops.…(…)`, one argument per line; of a graph if some arguments are `free` inputs of it.

    The others are arrays when the graph is made, and become its constants.
    """
    arguments = "".join(f"        {name}={name if name in free else value},\n" for name, value in named.items())
    if not free:
        return f"{CALL}\n    result = tf.raw_ops.{operator}(\n{arguments}    )"
    given = ", ".join(f"{name}={named[name]}" for name in free)
    head = f"graph = tf.function(lambda {', '.join(free)}: tf.raw_ops.{operator}(\n"
    return f"{head}{arguments}    ), {GRAPH})\n    {CALL}\n    result = graph({given})"
