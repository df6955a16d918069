"""LiteRT (ai-edge-litert): models of one QUANTIZE, DEQUANTIZE or FAKE_QUANT operator in an Interpreter on the CPU."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from tiebreak.adapters.litert_model import CARRIERS, OPERATIONS, model_of, operation, refuse, source_of
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

AS_SHIPPED, NO_DELEGATE = "AUTO", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
MOST_PREPARED = 8  # interpreters kept, one for each model; each holds its tensors
THREADS = 1  # what it takes as shipped


class LiteRt:
    """`resolver` names an OpResolverType: AUTO applies the default delegate, which is XNNPACK, where it can.

    Scale, zero point and limits are constants of a model, so each set of them and each shape has a model of its own;
    nodes that have them as constants run the same way.
    """

    operators = always_constant = frozenset(OPERATIONS)
    takes_constants = True

    def __init__(self, name: str = "litert", *, resolver: str = AS_SHIPPED) -> None:
        import ai_edge_litert
        import flatbuffers  # noqa: F401 - fail now, not at the first node
        from ai_edge_litert import interpreter

        self.name, self.resolver = name, resolver
        self.package, self.library = ai_edge_litert, interpreter
        self.version = str(ai_edge_litert.__version__)
        self.nodes: dict[tuple[str, str, str], Node] = {}  # by operation and types: one to probe
        self.prepared = lru_cache(MOST_PREPARED)(self.prepare)

    def compile(self, node: Node) -> Run:
        refuse(node)
        self.answer(node, *probe(node))  # the runtime says now if it can't run such types

        def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
            return (self.answer(node, model_of(node, x.shape, parameters), x),)

        self.nodes.setdefault((operation(node), node.input_type, node.output_type), node)
        return run

    def answer(self, node: Node, model: bytes, x: Array) -> Array:
        """The output; Unsupported with the runtime's own message if it refuses the model or the input."""
        interpreter = self.interpreter_for(node, model)
        try:
            interpreter.set_tensor(0, x.astype(CARRIERS.get(node.input_type, x.dtype), copy=False))
            interpreter.invoke()
        except (RuntimeError, ValueError) as error:
            self.prepared.cache_clear()  # an interpreter that failed says all its messages again
            raise Unsupported(str(error)) from None
        output: Array = interpreter.get_tensor(1)
        return output.astype(node.outputs[0].dtype, copy=False)

    def interpreter_for(self, node: Node, model: bytes) -> Any:
        """An interpreter with allocated tensors, whose output has the node's type: kernels may set another."""
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
        """Library, settings, the delegate's own name, and what the execution plans of probes hold."""
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
        """The name by which the runtime calls its delegate when that refuses a scale of NaN; "none" if none does."""
        node = make_node("onnx.DequantizeLinear", quantized="int8")
        try:
            self.prepare(model_of(node, (2,), (np.array(np.nan, np.float32),)))
        except Unsupported as reason:
            named = re.search(r"\((\w+)\) failed to prepare", str(reason))
            return named[1] if named else str(reason)
        return "none"

    def probed(self, *, delegated: bool) -> str:
        """Operators and types of the compiled nodes whose probe the delegate took over, or did not."""
        found: dict[str, list[str]] = {}
        for (name, *types), node in sorted(self.nodes.items(), key=lambda item: item[0]):
            for axis in (False, True) if name != "FAKE_QUANT" else (False,):
                if self.runs_delegated(node, axis=axis) is delegated:
                    found.setdefault(f"{name}{' per axis' if axis else ''}", []).append(" to ".join(types))
        return "; ".join(f"{name}: {', '.join(types)}" for name, types in found.items()) or "nothing"

    def runs_delegated(self, node: Node, *, axis: bool) -> bool | None:
        """Whether a delegate's node stands in the execution plan of the node's probe; None if the probe is refused."""
        model, x = probe(node, axis=axis)
        try:
            self.answer(node, model, x)
        except Unsupported:
            return None
        return "DELEGATE" in {op["op_name"] for op in self.prepared(model)._get_ops_details()}

    def reproducer(self, node: Node, inputs: tuple[Array, ...]) -> str:
        """Lines that run the model, given as its bytes, on the node's first input."""
        refuse(node)
        return source_of(node, inputs, self.resolver, THREADS)


def without_xnnpack() -> LiteRt:
    return LiteRt("litert-no-xnnpack", resolver=NO_DELEGATE)


def probe(node: Node, *, axis: bool = False) -> tuple[bytes, Array]:
    """A model of the node for two elements, and the two: scale 1 and zero point 0, or limits from 0 to 6."""
    values = (0, 6) if operation(node) == "FAKE_QUANT" else (1, 0)
    parameters = [
        np.full((2,) * axis, value).astype(t.dtype) for value, t in zip(values, node.inputs[1:], strict=False)
    ]
    return model_of(node, (2,), parameters), np.zeros(2).astype(node.inputs[0].dtype)
