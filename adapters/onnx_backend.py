"""Any runtime with the interface of onnx.backend.base: a module or class with `prepare(model, device)` and its `run`.

Named as onnx-backend:MODULE, or onnx-backend:MODULE:CLASS.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import CLAIMS, MAPS, Linear, check_inputs, linear_model, linear_node
from tiebreak.adapters.onnx_source import model_source, with_imports
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.elements import NUMPY_OWN
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

DEVICE = "CPU"


class OnnxBackend:
    """The backend of an imported module. What `prepare` raises is a refusal; what `run` raises is an error."""

    claims, maps = CLAIMS, MAPS
    takes_constants = True  # as initializers

    def __init__(self, spec: str, module: Any) -> None:
        self.name, self.place, self.module = spec, spec.partition(":")[2], module
        path, _, attribute = self.place.partition(":")
        self.backend: Any = getattr(module, attribute, None) if attribute else module
        if not callable(getattr(self.backend, "prepare", None)):
            raise InvalidInput(f"backend {spec}: no prepare(model, device) there, as onnx.backend.base has")
        library = importlib.import_module(path.partition(".")[0])
        self.version = str(getattr(library, "__version__", "unknown"))
        self.library = str(getattr(library, "__file__", library))
        self.opsets: set[int] = set()
        self.models = Recent()

    def compile(self, node: Node) -> Run:
        linear = linear_node(node)
        free = [number for number, name in enumerate(linear.names) if name not in node.constants]

        # The interface passes NumPy's arrays: a runtime need not know types that NumPy lacks.
        plain = {*linear.inputs, linear.output} <= set(NUMPY_OWN)

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            shapes = tuple(array.shape for array in inputs)
            prepared = self.models.get((node.key, shapes), lambda: self.prepared(linear, node, shapes))
            try:
                found = prepared.run([inputs[number] for number in free])
            except NotImplementedError as refusal:
                raise Unsupported(str(refusal)) from None
            except Exception as refusal:
                if plain:
                    raise
                raise Unsupported(f"{type(refusal).__name__}: {refusal}") from None
            return (np.asarray(found[0]),)

        return run

    def prepared(self, linear: Linear, node: Node, shapes: Sequence[Sequence[int]]) -> Any:
        """The prepared model; shapes are given, since ONNX's checker, which some call, wants them."""
        model = linear_model(linear, shapes=shapes, constants=node.constants)
        try:
            compatible = getattr(self.backend, "is_compatible", lambda *given: True)(model, DEVICE)
            prepared = self.backend.prepare(model, DEVICE) if compatible else None
        except Exception as refusal:  # each runtime has its own
            raise Unsupported(f"{type(refusal).__name__}: {refusal}") from None
        if prepared is None:
            raise Unsupported("is_compatible(model) is false")
        self.opsets.add(linear.opset)
        return prepared

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call the module's own API; see protocol.Backend."""
        linear, path = linear_node(node), self.place.partition(":")[0]
        library, free = path.partition(".")[0], [name for name in linear.names if name not in node.constants]
        shapes = [array.shape for array in inputs]
        model = model_source(linear_model(linear, shapes=shapes, constants=node.constants))
        call = (
            f'prepared = {self.place.replace(":", ".")}.prepare(model, "{DEVICE}")\n'
            f"outputs = (np.asarray(prepared.run([{', '.join(free)}])[0]),)\n"
            f'library = "{library}", getattr({library}, "__version__", "")\n'
        )
        return "\n".join((f"import {path}", with_imports(f"{model}\n{call}")))

    def attest(self) -> dict[str, str]:
        opsets = ", ".join(map(str, sorted(self.opsets)))
        return {"library": self.library, "interface": "onnx.backend.base", "device": DEVICE, "opset": opsets}
