"""StableHLO's reference interpreter, in jaxlib: a module of one uniform_quantize or uniform_dequantize.

Before it runs such a module, the interpreter lowers it to arithmetic of floats and integers by a pass of StableHLO's
own. It hands over integers of whole bytes alone: 4 bits go through a second module, a convert to i8.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from tiebreak.adapters import stablehlo_modules
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node, TensorType
from tiebreak.golden.problem import Array

# Reading this artifact loads the dialects of functions and quantized types, which have no function that registers them.
TYPED = "module { func.func private @typed(tensor<!quant.uniform<i8:f32, 1.0>>) }"
WIDENED = """module {{
  func.func @graph(%found: tensor<{sizes}i4>) -> tensor<{sizes}i8> {{
    %widened = stablehlo.convert %found : (tensor<{sizes}i4>) -> tensor<{sizes}i8>
    return %widened : tensor<{sizes}i8>
  }}
}}
"""
SOURCE = """
from importlib.metadata import version

import ml_dtypes
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

module = '''
{module}
'''
context = ir.Context()
stablehlo.register_dialect(context)
stablehlo.register_interpreter_dialect(context)


def evaluated(module, given):
    artifact = stablehlo.serialize_portable_artifact_str(module, stablehlo.get_current_version())
    return stablehlo.eval_module(stablehlo.deserialize_portable_artifact(context, artifact), [given])[0]


# The call.
with context:
    x = {given}
    found = evaluated(module, ir.DenseElementsAttr.get(x, type=ir.Type.parse("{kind}"), shape=list(x.shape)))
{widened}found = np.array(found)
outputs = ({output},)
library = f"StableHLO {{stablehlo.get_current_version()}} in jaxlib {{version('jaxlib')}}"
"""
AGAIN = """
# The library hands over no integers of 4 bits: they are converted to 8.
widened = '''
{module}
'''
with context:
    found = evaluated(widened, found)
"""
FOUR_BITS = ("int4", "uint4")


class StableHloReference:
    name = "stablehlo-reference"
    operators = frozenset(stablehlo_modules.OPERATORS)
    always_constant = operators  # scales and zero points are parts of types
    takes_constants = True

    def __init__(self) -> None:
        from jax.extend.mlir import ir
        from jax.extend.mlir.dialects import stablehlo

        self.ir, self.library, self.version = ir, stablehlo, version("jaxlib")
        self.release = f"StableHLO {stablehlo.get_current_version()}"
        claim = f"{stablehlo_modules.DOCUMENT}, by the reference interpreter of {self.release} in jaxlib {self.version}"
        self.claims = dict.fromkeys(stablehlo_modules.OPERATORS, claim)
        self.context, self.errors = ir.Context(), list[str]()
        stablehlo.register_dialect(self.context)
        stablehlo.register_interpreter_dialect(self.context)
        self.context.attach_diagnostic_handler(self.hear)
        artifact = stablehlo.serialize_portable_artifact_str(TYPED, stablehlo.get_current_version())
        stablehlo.deserialize_portable_artifact(self.context, artifact)

    def hear(self, diagnostic: Any) -> bool:
        """Keep what the library says of an error. True: it need not print it."""
        self.errors.append(str(diagnostic.message))
        return True

    def compile(self, node: Node) -> Run:
        check(node)

        def run(*inputs: Array) -> tuple[Array, ...]:
            text, (x,) = stablehlo_modules.module_of(node, inputs), stablehlo_modules.free_inputs(node, inputs)
            with self.context:
                found = self.evaluated(text, self.constant(x, element(node.inputs[0])))
                if is_packed(node):
                    found = self.evaluated(widening(x.shape), found)
            return (typed(np.array(found), node),)

        return run

    def constant(self, array: Array, kind: str) -> Any:
        """An array as an attribute of MLIR's element type."""
        return self.ir.DenseElementsAttr.get(array, type=self.ir.Type.parse(kind), shape=list(array.shape))

    def evaluated(self, text: str, given: Any) -> Any:
        """The result of a module's function. Unsupported, with the first error that the library tells.

        Each call has a module of its own: one that the interpreter could not lower stays half lowered, and ends the
        process when it is run again.
        """
        self.errors.clear()
        try:
            return self.library.eval_module(self.ir.Module.parse(text), [given])[0]
        except (self.ir.MLIRError, ValueError) as refusal:  # of the parser, of the interpreter
            raise Unsupported((self.errors or error_lines(refusal))[0]) from None

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that run the same modules; see protocol.Backend."""
        check(node)
        x = node.inputs[0]
        return SOURCE.format(
            module=stablehlo_modules.module_of(node, inputs).strip(),
            given=f'{x.name}.view("int8")' if x.dtype.name in FOUR_BITS else x.name,
            kind=element(x),
            widened=AGAIN.format(module=widening(inputs[0].shape).strip()) if is_packed(node) else "",
            output=output_source(node),
        )

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "jaxlib": self.version,
            "StableHLO": self.release,
            "module": "one operation of static shapes; scales and zero points in the types",
            "execution": "the interpreter lowers quantized operations to arithmetic by StableHLO's own pass",
            "instruction sets": instruction_sets(),
        }


def check(node: Node) -> None:
    """Raise Unsupported for another operator, and for attributes that a quantized type lacks."""
    if node.operator not in stablehlo_modules.OPERATORS:
        raise Unsupported(f"the interpreter is run for {' and '.join(stablehlo_modules.OPERATORS)}")
    stablehlo_modules.refuse(node)


def element(tensor: TensorType) -> str:
    """MLIR's element type of a tensor; its integers have no sign."""
    name = tensor.dtype.name
    return f"i{INTEGER_TYPES[name].bits}" if name in INTEGER_TYPES else stablehlo_modules.FLOATS[name]


def is_packed(node: Node) -> bool:
    """Whether the result is of 4 bits, which the library hands over in no array."""
    return node.output_type in FOUR_BITS


def widening(shape: Sequence[int]) -> str:
    """A module that converts integers of 4 bits to 8 bits."""
    return WIDENED.format(sizes="".join(f"{size}x" for size in shape))


def typed(found: Array, node: Node) -> Array:
    """The bits as the output's type: MLIR's integers have no sign."""
    bits = found & 15 if node.output_type == "uint4" else found
    return bits.astype(node.outputs[0].dtype) if is_packed(node) else bits.view(node.outputs[0].dtype)


def output_source(node: Node) -> str:
    """Source for what `typed` gives."""
    if is_packed(node):
        return f"(found{' & 15' * (node.output_type == 'uint4')}).astype(ml_dtypes.{node.output_type})"
    return f'found.view("{node.output_type}")'


def error_lines(refusal: Exception) -> list[str]:
    """The lines with an error of the parser, or the message."""
    lines = str(refusal).splitlines()
    return [line.removeprefix("error: ") for line in lines if line.startswith("error: ")] or [str(refusal)]
