"""Any runtime with the interface of onnx.backend.base: a module or class with `prepare(model, device)` and its `run`.

Named as onnx-backend:MODULE, or onnx-backend:MODULE:CLASS.
"""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Sequence
from typing import Any

from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import OnnxNode, types_of
from tiebreak.golden.elements import NUMPY_OWN
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.problem import Array

DEVICE = "CPU"


class PreparedBy:
    """A module's backend. What `prepare` raises is a refusal; what `run` raises is an error.

    `place` is the module's name, or MODULE:CLASS. `version` is its release, if it is known.
    """

    def __init__(self, place: str, module: Any, version: str = "") -> None:
        path, _, attribute = place.partition(":")
        self.place, self.path = place, path
        self.backend: Any = getattr(module, attribute, None) if attribute else module
        if not callable(getattr(self.backend, "prepare", None)):
            raise InvalidInput(f"{place}: no prepare(model, device) there, as onnx.backend.base has")
        library = importlib.import_module(path.partition(".")[0])
        self.version = version or str(getattr(library, "__version__", "unknown"))
        self.library = str(getattr(library, "__file__", library))

    def prepare(self, model: Any) -> Prepared:
        try:
            compatible = getattr(self.backend, "is_compatible", lambda *given: True)(model, DEVICE)
            prepared = self.backend.prepare(model, DEVICE) if compatible else None
        except Exception as refusal:  # each runtime has its own
            raise Unsupported(reason(refusal)) from None
        if prepared is None:
            raise Unsupported("is_compatible(model) is false")
        plain = types_of(model) <= set(NUMPY_OWN)

        def run(inputs: Sequence[Array]) -> list[Any]:
            try:
                return list(prepared.run(list(inputs)))
            except NotImplementedError as refusal:
                raise Unsupported(str(refusal)) from None
            except Exception as refusal:
                if plain:
                    raise
                # The interface passes NumPy's arrays: a runtime need not know types that NumPy lacks.
                raise Unsupported(reason(refusal)) from None

        return run

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        library = self.path.partition(".")[0]
        return (
            f"import {self.path}\n\n"
            f'prepared = {self.place.replace(":", ".")}.prepare(model, "{DEVICE}")\n'
            f"outputs = tuple(map(np.asarray, prepared.run([{', '.join(free)}])))\n"
            f"library = f\"{library} {{getattr({library}, '__version__', '{self.version}')}}\"\n"
        )

    def facts(self) -> dict[str, str]:
        return {"library": self.library, "interface": "onnx.backend.base", "device": DEVICE}


def reason(refusal: Exception) -> str:
    """The kind of error and its message, without the random names of folders that hold what was generated."""
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/[^/\s]+/", "", str(refusal))
    return f"{type(refusal).__name__}: {text}"


def named_backend(spec: str, module: Any) -> OnnxLoaded:
    """The backend that onnx-backend:MODULE names, with its loaded module."""
    return OnnxLoaded(spec, PreparedBy(spec.partition(":")[2], module))
