"""IREE: MLIR is compiled for the CPU by LLVM and run in IREE's virtual machine.

The MLIR is imported from an ONNX model, or is one operation in the dialects of TOSA and StableHLO.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from tiebreak.adapters import iree_rescale, stablehlo_modules
from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import CLAIMS, MAPS, PAIR_CLAIMS, OnnxNode
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.elements import INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node, TensorType
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array

FLAGS = ("--iree-llvmcpu-target-cpu=host",)
SOURCE = """
from importlib.metadata import version

import iree.compiler
import iree.runtime
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context

info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model))
module = info.create_module(context=Context()).operation
onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
compiled = iree.compiler.compile_str(
    module.get_asm(), input_type="onnx", target_backends=["llvm-cpu"], extra_args={flags}
)
machine = iree.runtime.load_vm_flatbuffer(compiled, driver="local-sync")
# The call.
found = machine.graph({inputs})  # one array, or several
outputs = tuple(np.array(one.to_host()) for one in (found if isinstance(found, tuple) else [found]))
library = f"iree-base-compiler {{version('iree-base-compiler')}}"
"""
OPERATION = """
from importlib.metadata import version

import iree.compiler
import iree.runtime

module = '''
{module}
'''
compiled = iree.compiler.compile_str(
    module, input_type="{dialect}", target_backends=["llvm-cpu"], extra_args={flags}
)
machine = iree.runtime.load_vm_flatbuffer(compiled, driver="local-sync")
outputs = (np.array(machine.graph({inputs}).to_host()).view("{kind}"),)
library = f"iree-base-compiler {{version('iree-base-compiler')}}"
"""


DIALECTS: dict[str, tuple[str, Any]] = {
    iree_rescale.ID: ("tosa", iree_rescale),
    **dict.fromkeys(stablehlo_modules.OPERATORS, ("stablehlo", stablehlo_modules)),
}
STABLEHLO = f"{stablehlo_modules.DOCUMENT}, whose dialect IREE's compiler takes as input"


class Iree:
    """Compiles each model in a process of IREE's own compiler."""

    def __init__(self) -> None:
        import onnx
        from iree import compiler, runtime
        from iree.compiler import ir
        from iree.compiler.extras import onnx_importer

        self.compiler, self.runtime, self.importer, self.context = compiler, runtime, onnx_importer, ir.Context
        self.inferred = onnx.shape_inference.infer_shapes
        self.version = version("iree-base-compiler")

    def prepare(self, model: Any) -> Prepared:
        types = [numpy_dtype(NUMBERS[value.type.tensor_type.elem_type]) for value in model.graph.output]
        return self.compiled(lambda: self.imported(model), "onnx", types)

    def compiled(self, text: Callable[[], str], dialect: str, types: Sequence[Any]) -> Prepared:
        """What runs the function graph of a module, given as MLIR's text in a dialect; `types` are its results'."""
        try:
            binary = self.compiler.compile_str(
                text(), input_type=dialect, target_backends=["llvm-cpu"], extra_args=list(FLAGS)
            )
        except Exception as refusal:  # the importer and the compiler raise all kinds
            raise Unsupported(reason(refusal)) from None
        machine = self.runtime.load_vm_flatbuffer(binary, driver="local-sync")

        def run(inputs: Sequence[Array]) -> list[Array]:
            try:
                found = machine.graph(*inputs)  # one array, or several
                arrays = [np.array(one.to_host()) for one in (found if isinstance(found, tuple) else [found])]
            except (RuntimeError, ValueError, TypeError, KeyError, NotImplementedError) as refusal:
                raise Unsupported(reason(refusal)) from None
            return [signed(array, kind) for array, kind in zip(arrays, types, strict=True)]

        return run

    def imported(self, model: Any) -> str:
        """The model as MLIR's text."""
        info = self.importer.ModelInfo(self.inferred(model))
        module = info.create_module(context=self.context()).operation
        self.importer.NodeImporter.define_function(info.main_graph, module).import_all()
        return str(module.get_asm())

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        return SOURCE.format(inputs=", ".join(free), flags=list(FLAGS))

    def facts(self) -> dict[str, str]:
        return {
            "library": str(self.compiler.__file__),
            "iree-base-compiler": self.version,
            "iree-base-runtime": version("iree-base-runtime"),
            "target": " ".join(("llvm-cpu", *FLAGS)),
            "driver": "local-sync",
            "instruction sets": instruction_sets(),
        }


def signed(array: Array, kind: Any) -> Array:
    """A copy's bits as the output's type: MLIR's integers have no sign."""
    return array.view(kind) if array.dtype.itemsize == kind.itemsize else array


def reason(refusal: Exception) -> str:
    """The first line with an error of the compiler, or the message's first line."""
    lines = [line.strip() for line in str(refusal).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), f"{type(refusal).__name__}: {(lines or ['none'])[0]}")


class IreeNodes:
    """Nodes of ONNX's operators as models; RESCALE and StableHLO's as they are."""

    name, maps, takes_constants = "iree", MAPS, True
    claims: Mapping[str, str] = {
        **CLAIMS,
        **PAIR_CLAIMS,
        iree_rescale.ID: iree_rescale.CLAIM,
        **dict.fromkeys(stablehlo_modules.OPERATORS, STABLEHLO),
    }
    always_constant = frozenset(stablehlo_modules.OPERATORS)  # scales and zero points are parts of types

    def __init__(self) -> None:
        self.library = Iree()
        self.version, self.models = self.library.version, Recent()
        self.onnx = OnnxLoaded(self.name, self.library, free_shapes=True, further=PAIR_CLAIMS)

    def compile(self, node: Node) -> Run:
        if node.operator not in DIALECTS:
            return self.onnx.compile(node)
        dialect, operation = DIALECTS[node.operator]
        operation.refuse(node)

        def run(*inputs: Array) -> tuple[Array, ...]:
            text = operation.module_of(node, inputs)
            prepared = self.models.get(
                text, lambda: self.library.compiled(lambda: text, dialect, [node.outputs[0].dtype])
            )
            return tuple(prepared(operation.free_inputs(node, inputs)))

        return run

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that compile and run the same MLIR; see protocol.Backend."""
        if node.operator not in DIALECTS:
            return self.onnx.reproducer(node, inputs)
        dialect, operation = DIALECTS[node.operator]
        operation.refuse(node)
        kind = node.outputs[0].dtype.name
        given = [as_given(tensor) for tensor in operation.free_tensors(node)]
        module = operation.module_of(node, inputs).strip()
        return OPERATION.format(module=module, dialect=dialect, flags=list(FLAGS), inputs=", ".join(given), kind=kind)

    def attest(self) -> dict[str, str]:
        return {
            **self.onnx.attest(),
            "TOSA": "RESCALE alone; an input without sizes; parameters as the node has them",
            "StableHLO": "one operation of static shapes; scales and zero points in the types",
        }


def as_given(tensor: TensorType) -> str:
    """Source for an input of the function: integers as signed ones of their bits."""
    integer = tensor.dtype.name in INTEGER_TYPES
    return f'{tensor.name}.view(f"int{{8 * {tensor.name}.itemsize}}")' if integer else tensor.name
