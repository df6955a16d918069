"""LiteRT (ai-edge-litert): runs models of one operator on the CPU, such as QUANTIZE, DEQUANTIZE, FAKE_QUANT or CAST."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from tiebreak.adapters.litert_model import (
    CARRIERS,
    MAPS,
    OPERATIONS,
    has_axis,
    model_run_source,
    operation,
    refuse_node,
    tflite_model,
)
from tiebreak.adapters.litert_requantize import model_shape
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

AS_SHIPPED, NO_DELEGATE, REFERENCE = "AUTO", "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "BUILTIN_REF"
MOST_PREPARED = 8  # interpreters kept, one per model; each holds its tensors
THREADS = 1  # the default as shipped
FIRST_WITH_AXIS = 13  # the operator set; it has all types of the one before


class LiteRt:
    """`resolver` names an OpResolverType: AUTO applies the default delegate, XNNPACK, where it can.

    Scale, zero point and limits are constants of a model. So each set of them, and each shape, needs its own model,
    whether the node has them as constants or as inputs.
    """

    maps = MAPS
    configuration_of = "litert"
    always_constant = frozenset(OPERATIONS)
    takes_constants = True

    def __init__(self, name: str = "litert", *, resolver: str = AS_SHIPPED) -> None:
        import ai_edge_litert
        import flatbuffers  # noqa: F401 - fail now, not at the first node
        from ai_edge_litert import interpreter

        self.name, self.resolver = name, resolver
        self.package, self.library = ai_edge_litert, interpreter
        self.version = str(ai_edge_litert.__version__)
        self.nodes: dict[tuple[str, str, str], Node] = {}  # by operation and types: a node to probe
        self.prepared = lru_cache(MOST_PREPARED)(self.prepare)

    def compile(self, node: Node) -> Run:
        refuse_node(node)
        self.answer(node, *probe_model(node))  # fails now if the runtime can't run these types

        def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
            return (self.answer(node, tflite_model(node, x.shape, parameters), x),)

        self.nodes.setdefault((operation(node), node.input_type, node.output_type), node)
        return run

    def answer(self, node: Node, model: bytes, x: Array) -> Array:
        """The output; Unsupported with the runtime's own message if it refuses the model or the input."""
        interpreter = self.interpreter_for(node, model)
        try:
            carried = x.astype(CARRIERS.get(node.input_type, x.dtype), copy=False)
            interpreter.set_tensor(0, carried.reshape(model_shape(node, x.shape)))
            interpreter.invoke()
        except (RuntimeError, ValueError) as error:
            self.prepared.cache_clear()  # a failed interpreter repeats all its messages
            raise Unsupported(str(error)) from None
        output: Array = interpreter.get_tensor(1)
        return output.astype(node.outputs[0].dtype, copy=False).reshape(x.shape)

    def interpreter_for(self, node: Node, model: bytes) -> Any:
        """An interpreter with allocated tensors. Unsupported if its output has another type than the node's."""
        interpreter = self.prepared(model)
        given, asked = np.dtype(interpreter.get_output_details()[0]["dtype"]).name, node.output_type
        if given != CARRIERS.get(asked, asked):
            raise Unsupported(f"{operation(node)} makes its output {given}, not {asked}")
        return interpreter

    def prepare(self, model: bytes) -> Any:
        """A new interpreter with allocated tensors; Unsupported with the runtime's own message."""
        resolver = getattr(self.library.OpResolverType, self.resolver)
        try:
            interpreter = self.library.Interpreter(
                model_content=model, num_threads=THREADS, experimental_op_resolver_type=resolver
            )
            interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            raise Unsupported(str(error)) from None
        return interpreter

    def attest(self) -> dict[str, str]:
        """Library, settings, the delegate's name, and which probes the delegate or the built-in kernels run."""
        return {
            "library": str(self.package.__file__),
            "ai-edge-litert": self.version,
            "op resolver": self.resolver,
            "default delegate": self.delegate(),
            "threads": str(THREADS),
            "model": "static shape; scale, zero point, axis, min and max are constants",
            "instruction sets": instruction_sets(),
            "probes run by the delegate": self.probed(delegated=True),
            "probes run by built-in kernels": self.probed(delegated=False),
        }

    def delegate(self) -> str:
        """The delegate's name, taken from its error about a NaN scale; "none" if no delegate refuses one."""
        node = make_node("onnx.DequantizeLinear", quantized="int8")
        try:
            self.prepare(tflite_model(node, (2,), (np.array(np.nan, np.float32),)))
        except Unsupported as reason:
            named = re.search(r"\((\w+)\) failed to prepare", str(reason))
            return named[1] if named else str(reason)
        return "none"

    def probed(self, *, delegated: bool) -> str:
        """Operators and types of the compiled nodes whose probe runs in the delegate, or does not."""
        found: dict[str, list[str]] = {}
        for (name, *types), node in sorted(self.nodes.items(), key=lambda item: item[0]):
            for axis in (False, True) if has_axis(node) else (False,):
                if self.runs_delegated(node, axis=axis) is delegated:
                    found.setdefault(f"{name}{' per axis' if axis else ''}", []).append(" to ".join(types))
        return "; ".join(f"{name}: {', '.join(types)}" for name, types in found.items()) or "nothing"

    def runs_delegated(self, node: Node, *, axis: bool) -> bool | None:
        """Whether the execution plan of the node's probe has a delegate; None if the probe is refused."""
        model, x = probe_model(node, axis=axis)
        try:
            self.answer(node, model, x)
        except Unsupported:
            return None
        return "DELEGATE" in {op["op_name"] for op in self.prepared(model)._get_ops_details()}

    def reproducer(self, node: Node, inputs: tuple[Array, ...]) -> str:
        """Python lines that run the model, embedded as bytes, on the node's first input."""
        refuse_node(node)
        return model_run_source(node, inputs, self.resolver, THREADS)


def without_xnnpack() -> LiteRt:
    return LiteRt("litert-no-xnnpack", resolver=NO_DELEGATE)


def reference_kernels() -> LiteRt:
    return LiteRt("litert-reference", resolver=REFERENCE)


def probe_model(node: Node, *, axis: bool = False) -> tuple[bytes, Array]:
    """A model of the node for two elements, and that input. Scales 1 and zero points 0, or limits 0 and 6."""
    values = (0, 6) if operation(node) == "FAKE_QUANT" else (1, 0, 1, 0)
    parameters = [
        np.full((2,) * axis, value).astype(t.dtype) for value, t in zip(values, node.inputs[1:], strict=False)
    ]
    return tflite_model(probe_node(node, axis=axis), (2,), parameters), np.zeros(2).astype(node.inputs[0].dtype)


def probe_node(node: Node, *, axis: bool) -> Node:
    """The node with axis 0 or none, whatever its own is, in an operator set that has axes."""
    others = {name: value for name, value in node.attributes.items() if name not in ("axis", "axes")}
    if not axis:
        return replace(node, attributes=others)
    if node.operator.startswith("ngraph."):
        return replace(node, attributes={**others, "axes": (0,)})
    return replace(node, attributes={**others, "axis": 0}, opset=max(node.opset, FIRST_WITH_AXIS))
