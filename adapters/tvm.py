"""Apache TVM: an ONNX model is imported to Relax, compiled by LLVM and run in Relax's virtual machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import OnnxNode, types_of
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.golden.elements import NUMPY_OWN
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

TARGET = "llvm"
SOURCE = """
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), target="llvm"), tvm.cpu())
# The call.
found = machine["main"]({inputs})  # one tensor, or several
outputs = tuple(one.numpy() for one in ([found] if hasattr(found, "numpy") else found))
library = f"tvm {{tvm.__version__}}"
"""


class Tvm:
    def __init__(self) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx

        self.library, self.version = tvm, str(tvm.__version__)
        self.imported, self.cpu = from_onnx, tvm.cpu()
        self.machine: Any = relax.VirtualMachine  # annotated for tvm.runtime's Device, which tvm.cpu() is not

    def prepare(self, model: Any) -> Prepared:
        try:
            compiled = self.library.compile(self.imported(model), target=TARGET)
        except Exception as refusal:  # its passes raise all kinds
            raise Unsupported(reason(refusal)) from None
        main, tensor = self.machine(compiled, self.cpu)["main"], self.library.runtime.tensor

        plain = types_of(model) <= set(NUMPY_OWN)

        def run(inputs: Sequence[Array]) -> list[Any]:
            try:
                found = main(*map(tensor, inputs))  # one tensor, or several
                return [one.numpy() for one in ([found] if hasattr(found, "numpy") else found)]
            except Exception as refusal:
                if plain:
                    raise
                raise Unsupported(reason(refusal)) from None  # no tensors of fewer than 8 bits in the virtual machine

        return run

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        return SOURCE.format(inputs=", ".join(f"tvm.runtime.tensor({name})" for name in free))

    def facts(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tvm": self.version,
            "target": f"{TARGET}, Relax's default pipeline",
            "LLVM": str(self.library.support.libinfo().get("LLVM_VERSION", "unknown")),
            "instruction sets": instruction_sets(),
        }


def reason(refusal: Exception) -> str:
    """The kind of error and the last line of its message, which follows TVM's own traceback."""
    lines = [line.strip() for line in str(refusal).splitlines() if line.strip()]
    return f"{type(refusal).__name__}: {lines[-1] if lines else 'no message'}"


def backend() -> OnnxLoaded:
    return OnnxLoaded("tvm", Tvm())
