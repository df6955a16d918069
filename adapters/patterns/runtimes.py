"""The runtimes that run patterns, by name."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import cast

from tiebreak.adapters.patterns.model import PatternRuntime, ScriptMaker
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.untrusted_text import printable

RUNTIMES = {
    "onnxruntime": "tiebreak.adapters.patterns.onnxruntime:OnnxRuntime",
    "openvino": "tiebreak.adapters.patterns.openvino:OpenVino",
    "litert": "tiebreak.adapters.patterns.litert:LiteRtPatterns",
    "torch": "tiebreak.adapters.patterns.torch:TorchPatterns",
}


def check_runtime(name: str) -> str:
    """The name, if a runtime of it runs patterns. InvalidInput with the known ones."""
    if name not in RUNTIMES:
        raise InvalidInput(f"backend {printable(name, 80)!r} runs no patterns; these do: {', '.join(RUNTIMES)}")
    return name


def load_runtime(name: str) -> PatternRuntime:
    """The runtime. ModuleNotFoundError if its library is not installed."""
    module, _, attribute = RUNTIMES[check_runtime(name)].partition(":")
    return cast(PatternRuntime, getattr(importlib.import_module(module), attribute)())


def own_script(name: str) -> ScriptMaker | None:
    """What makes a script's lines of a runtime that takes no ONNX models; None of one that does."""
    return cast("ScriptMaker | None", getattr(module_of(name), "script", None))


def script_lines(name: str) -> str:
    """Python lines that give `shipped`, `unfused` and `library`, where `model` and `feeds` are bound."""
    return str(module_of(name).SCRIPT)


def module_of(name: str) -> ModuleType:
    return importlib.import_module(RUNTIMES[check_runtime(name)].partition(":")[0])
