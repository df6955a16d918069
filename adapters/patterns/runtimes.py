"""The runtimes that run patterns, by name."""

from __future__ import annotations

import importlib
from typing import cast

from tiebreak.adapters.patterns.model import PatternRuntime
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.untrusted_text import printable

RUNTIMES = {
    "onnxruntime": "tiebreak.adapters.patterns.onnxruntime:OnnxRuntime",
    "openvino": "tiebreak.adapters.patterns.openvino:OpenVino",
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


def script_lines(name: str) -> str:
    """Python lines that give `shipped`, `unfused` and `library`, where `model` and `feeds` are bound."""
    module = RUNTIMES[check_runtime(name)].partition(":")[0]
    return str(importlib.import_module(module).SCRIPT)
