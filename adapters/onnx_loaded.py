"""Libraries that load an ONNX model: what their adapters share. Each library says how it prepares and runs a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tiebreak.adapters.onnx_models import (
    CLAIMS,
    MAPS,
    MATRICES,
    OnnxNode,
    check_inputs,
    onnx_model,
    onnx_node,
)
from tiebreak.adapters.onnx_source import model_source, with_imports
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Prepared = Callable[[Sequence[Array]], Sequence[Any]]  # all outputs for the model's inputs, both in order


class Library(Protocol):
    """A library that prepares an onnx.ModelProto. What it refuses is Unsupported in its own words.

    `version` is its release.
    """

    version: str

    def prepare(self, model: Any) -> Prepared:
        """What runs the model."""
        ...

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        """Python lines that run `model` on arrays bound to the names of its inputs; they set outputs and library."""
        ...

    def facts(self) -> Mapping[str, str]:
        """What is attested."""
        ...


class OnnxLoaded:
    """A backend that prepares each model for the shapes that it gets, or with `free_shapes` for their ranks.

    Of the operators `in_model` scale and zero point are always initializers, whether the node has them as constants or
    as inputs: the library takes them in no other way. `further` are claims beside those of ONNX's own operators.
    """

    claims: Mapping[str, str] = CLAIMS
    maps = MAPS
    takes_constants = True  # as initializers

    def __init__(
        self,
        name: str,
        library: Library,
        *,
        in_model: Collection[str] = (),
        free_shapes: bool = False,
        further: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.version, self.library = name, library.version, library
        self.claims = {**CLAIMS, **(further or {})}
        self.always_constant, self.free_shapes = frozenset(in_model), free_shapes
        self.opsets: set[int] = set()
        self.models = Recent()

    def compile(self, node: Node) -> Run:
        written = onnx_node(node)

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            constants = self.constants_of(node, written, inputs)
            shapes = self.shapes_of(inputs)
            key = node.key, *shapes, *map(bits_of, constants.values())
            prepared = self.models.get(key, lambda: self.library.prepare(model_for(written, shapes, constants)))
            self.opsets.add(written.opset)
            free = zip(written.names, inputs, strict=False)
            outputs = prepared([array for name, array in free if name not in constants])
            return tuple(np.asarray(output) for output in outputs)

        return run

    def constants_of(self, node: Node, written: OnnxNode, inputs: Sequence[Array]) -> Mapping[str, Array]:
        """The inputs that are initializers, by name."""
        if node.operator not in self.always_constant:
            return node.constants
        matrices = MATRICES.get(written.operator, ())
        parameters = list(zip(written.names, inputs, strict=False))[1:]
        return {**node.constants, **{name: array for name, array in parameters if name not in matrices}}

    def shapes_of(self, inputs: Sequence[Array]) -> list[tuple[int | None, ...]]:
        """The shapes that the model declares; None is a size that is free."""
        return [(None,) * array.ndim if self.free_shapes else array.shape for array in inputs]

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call onnx's and the library's own API; see protocol.Backend."""
        written = onnx_node(node)
        constants = self.constants_of(node, written, inputs)
        free = [name for name in written.names if name not in constants]
        model = model_for(written, self.shapes_of(inputs), constants)
        return with_imports(f"{model_source(model)}\n{self.library.source(written, free)}")

    def attest(self) -> dict[str, str]:
        built_in = ", ".join(sorted(self.always_constant))
        parameters = f"parameters of {built_in} are initializers" if built_in else "parameters as the node has them"
        shapes = "ranks without sizes" if self.free_shapes else "static shapes"
        opsets = ", ".join(map(str, sorted(self.opsets)))
        return {**self.library.facts(), "opset": opsets, "model": f"{shapes}; {parameters}"}


def model_for(written: OnnxNode, shapes: Sequence[tuple[int | None, ...]], constants: Mapping[str, Array]) -> Any:
    return onnx_model(written, shapes=shapes, constants=constants)


def bits_of(array: Array) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.name, array.shape, array.tobytes()
