"""emx-onnx-cgen: generates C from an ONNX model and compiles it, through its onnx.backend interface.

It makes a Jinja environment for each model, and so compiled its 170 templates again for each: 1.1 of 1.3 seconds. Here
all of its environments share a bytecode cache, Jinja's own means for this. What is left is the C compiler, 0.2 seconds.
Models have static shapes: of a free size the interface makes 10, and gives back 10 elements whatever it is given.
Which types it takes depends on the C compiler that it finds: bfloat16 needs `__bf16`, 2 and 4 bits `_BitInt`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from tiebreak.adapters.onnx_backend import PreparedBy
from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import MICROSOFT_CLAIMS, NBITS_CLAIMS, OnnxNode
from tiebreak.adapters.platform_facts import instruction_sets

NAME, PLACE = "emx-onnx-cgen", "emx_onnx_cgen.onnx_backend"


class EmxOnnxCgen:
    """The package's module for onnx.backend; attests the C compiler, too."""

    def __init__(self) -> None:
        from emx_onnx_cgen import onnx_backend
        from emx_onnx_cgen.codegen import c_emitter

        share_templates(c_emitter)
        self.version = version(NAME)
        self.inner = PreparedBy(PLACE, onnx_backend, self.version)

    def prepare(self, model: Any) -> Prepared:
        return self.inner.prepare(model)

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        return self.inner.source(written, free)

    def facts(self) -> dict[str, str]:
        return {**self.inner.facts(), "C compiler": compiler(), "instruction sets": instruction_sets()}


def templates_in_memory() -> Any:
    """A cache of compiled templates by name and text, for Jinja."""
    from jinja2 import BytecodeCache  # the package needs it, not every worker

    codes: dict[tuple[str, str], Any] = {}

    class InMemory(BytecodeCache):
        def load_bytecode(self, bucket: Any) -> None:
            bucket.code = codes.get((bucket.key, bucket.checksum))

        def dump_bytecode(self, bucket: Any) -> None:
            codes[bucket.key, bucket.checksum] = bucket.code

    return InMemory()


def share_templates(emitter: Any) -> None:
    """Have the environments that this module of the library makes compile each template once."""
    from jinja2 import Environment

    if getattr(emitter, "Environment", None) is Environment:  # else another release, which is slow
        emitter.Environment = partial(Environment, bytecode_cache=templates_in_memory())


def compiler() -> str:
    """The command that the package runs, by CC or the first of these that is there, and what it says of itself."""
    command = (
        shlex.split(os.environ.get("CC", "")) or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    )
    if not command or not shutil.which(command[0]):
        return "none"
    told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return f"{shlex.join(command)}: {told.stdout.splitlines()[0]}"


def backend() -> OnnxLoaded:
    """Needs a C compiler beside the package; without one every model is refused with its message."""
    return OnnxLoaded(NAME, EmxOnnxCgen(), further={**MICROSOFT_CLAIMS, **NBITS_CLAIMS})
