"""The runtimes that run patterns, by name."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import cast

from tiebreak.adapters.patterns.model import PatternRuntime, ScriptMaker
from tiebreak.adapters.registry import load_attribute
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.untrusted_text import printable

RUNTIMES = {
    "onnxruntime": "tiebreak.adapters.patterns.onnxruntime:OnnxRuntimePatterns",
    "openvino": "tiebreak.adapters.patterns.openvino:OpenVinoPatterns",
    "litert": "tiebreak.adapters.patterns.litert:LiteRtPatterns",
    "torch": "tiebreak.adapters.patterns.torch:TorchPatterns",
}


def check_runtime(name: str) -> str:
    """The name of a built-in runtime, or your own as module:attribute or file.py:attribute. InvalidInput otherwise."""
    place, _, attribute = name.rpartition(":")
    if name in RUNTIMES or (
        place and attribute.isidentifier() and (not place.endswith(".py") or Path(place).is_file())
    ):
        return name
    known = ", ".join(RUNTIMES)
    raise InvalidInput(
        f"backend {printable(name, 80)!r} runs no patterns; these do: {known}, or your own as path/to/file.py:attribute"
    )


def load_runtime(name: str) -> PatternRuntime:
    """The runtime. ModuleNotFoundError if its library is not installed."""
    place, _, attribute = RUNTIMES.get(check_runtime(name), name).rpartition(":")
    found = load_attribute(place, attribute)
    return cast(PatternRuntime, found() if callable(found) else found)


def own_script(name: str) -> ScriptMaker | None:
    """What makes a script's lines for a runtime that takes no ONNX models; None for one that does. Unsupported."""
    return cast("ScriptMaker | None", getattr(module_of(name), "script", None))


def script_lines(name: str) -> str:
    """Python lines that give `shipped`, `unfused` and `library`, where `model` and `feeds` are bound. Unsupported."""
    return str(module_of(name).SCRIPT)


def module_of(name: str) -> ModuleType:
    """The module of a built-in runtime."""
    if name not in RUNTIMES:
        raise Unsupported(f"{name} has no script of its own")
    return importlib.import_module(RUNTIMES[name].partition(":")[0])
