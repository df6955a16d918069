"""JAX: the formulas as people write them with jax.numpy, and its conversion of types, compiled by XLA.

JAX has no quantize of its own. A node's constants are constants of the compiled function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters import jax_cast
from tiebreak.adapters.inexpressible import check_operator_set, check_output_type
from tiebreak.adapters.numpy_naive import aligned, check_zero_point
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import NoDevice, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

INTEGERS = ("int4", "uint4", "int8", "uint8", "int16", "uint16")
REALS = ("float32", "float16", "bfloat16")
QUANTIZE = "jnp.clip(jnp.round(x / scale) + zero_point), which rounds ties to even"
DEQUANTIZE = "(x - zero_point) * scale in the scale's type"
MAPS = {
    **dict.fromkeys(("onnx.QuantizeLinear", "ngraph.Quantize"), QUANTIZE),
    **dict.fromkeys(("onnx.DequantizeLinear", "ngraph.Dequantize"), DEQUANTIZE),
    **jax_cast.MAPS,
}
SOURCE = """
import jax
import jax.numpy as jnp
{extension}
{fixed}

@jax.jit
def compiled({taken}):
    return {formula}


outputs = (np.asarray(compiled({given})),)
library = f"jax {{jax.__version__}}"
"""


class Jax:
    configuration_of = "jax"
    maps = MAPS
    takes_constants = True

    def __init__(self, name: str = "jax", platform: str = "cpu") -> None:
        import jax
        import jax.numpy

        self.name, self.library, self.jnp, self.version = name, jax, jax.numpy, str(jax.__version__)
        try:
            self.device = jax.devices(platform)[0]
        except RuntimeError as error:
            raise NoDevice(f"jax has no {platform} device: {error}") from None
        self.functions = Recent()

    def compile(self, node: Node) -> Run:
        check(node)
        names = [tensor.name for tensor in node.inputs]

        def run(*inputs: Array) -> tuple[Array, ...]:
            laid = dict(zip(names, laid_out(node, inputs), strict=False))
            fixed = {name: array for name, array in laid.items() if name in node.constants}
            key = node.key, *(array.shape for array in laid.values())
            function = self.functions.get(key, lambda: self.library.jit(self.formula(node, names, fixed)))
            free = [array for name, array in laid.items() if name not in fixed]
            with self.library.default_device(self.device):
                return (np.asarray(function(*free)),)

        return run

    def formula(self, node: Node, names: Sequence[str], fixed: dict[str, Array]) -> Callable[..., Any]:
        """The formula as a function of the inputs that are not constants."""
        if node.operator == onnx_cast.ID:
            return jax_cast.formula(self.library, node)
        jnp, dtype = self.jnp, node.outputs[0].dtype

        def quantize(x: Any, scale: Any, zero_point: Any = 0) -> Any:
            kind = INTEGER_TYPES[node.output_type]
            return jnp.clip(jnp.round(x / scale) + zero_point, kind.lowest, kind.highest).astype(dtype)

        def dequantize(x: Any, scale: Any, zero_point: Any = 0) -> Any:
            return (x.astype(jnp.int32) - zero_point).astype(dtype) * scale

        whole = dequantize if "Dequantize" in node.operator else quantize

        def of_free(*free: Any) -> Any:
            rest = iter(free)
            return whole(*(fixed[name] if name in fixed else next(rest) for name in names))

        return of_free

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that compile the same formula; see protocol.Backend."""
        check(node)
        names, shapes = [tensor.name for tensor in node.inputs], [array.shape for array in laid_out(node, inputs)]
        laid = {
            name: f"{name}{operand_source(node, place, shape)}"
            for place, (name, shape) in enumerate(zip(names, shapes, strict=True))
        }
        free, formula = [name for name in names if name not in node.constants], formula_source(node)
        return SOURCE.format(
            extension="import ml_dtypes\n" if any("ml_dtypes" in text for text in (formula, *laid.values())) else "",
            fixed="".join(f"{name} = {laid[name]}\n" for name in names if name in node.constants),
            taken=", ".join(free),
            formula=formula,
            given=", ".join(laid[name] for name in free),
        )

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "jax": self.version,
            "jaxlib": str(self.library.lib.__version__),
            "device": f"{self.device.device_kind}, platform {self.device.platform}",
            "compiled": "jax.jit, one function for each node and its shapes",
            "instruction sets": instruction_sets(),
        }


def on_cuda() -> Jax:
    return Jax("jax-cuda", "cuda")


def formula_source(node: Node) -> str:
    """The formula as an expression of the inputs by name."""
    if node.operator == onnx_cast.ID:
        return jax_cast.formula_source(node)
    x, scale, zero = (*(tensor.name for tensor in node.inputs), "0")[:3]
    dtype = f"jnp.{node.output_type}"
    if "Dequantize" in node.operator:
        return f"({x}.astype(jnp.int32) - {zero}).astype({dtype}) * {scale}"
    kind = INTEGER_TYPES[node.output_type]
    return f"jnp.clip(jnp.round({x} / {scale}) + {zero}, {kind.lowest}, {kind.highest}).astype({dtype})"


def check(node: Node) -> None:
    """Raise Unsupported for what the formulas do not say."""
    if node.operator not in MAPS:
        raise Unsupported(f"jax is run for {', '.join(sorted(MAPS))}")
    (jax_cast.check if node.operator == onnx_cast.ID else check_linear)(node)


def check_linear(node: Node) -> None:
    ends = (node.output_type, node.input_type)
    real, quantized = ends if "Dequantize" in node.operator else ends[::-1]
    if quantized not in INTEGERS or real not in REALS or node.inputs[1].dtype.name != real:
        raise Unsupported(f"people write this for integers of up to 16 bits and one of {', '.join(REALS)}")
    if set(node.attributes) - {"axis", "axes", "round_mode", "type"} or node.round_mode not in ("", EVEN):
        raise Unsupported("people write this with one scale or one for each axis, with ties to even")
    check_operator_set(node, "JAX")
    check_output_type(node, "JAX")


def laid_out(node: Node, inputs: Sequence[Array]) -> list[Array]:
    """The inputs with parameters in shapes that broadcast; the zero point of a division in x's type, else int32."""
    if node.operator == onnx_cast.ID:
        return [*inputs]
    x, scale, *zero_point = inputs
    check_zero_point(scale, zero_point[0] if zero_point else None)
    kind = np.int32 if "Dequantize" in node.operator else x.dtype
    return [x, aligned(scale, node, x), *(aligned(array, node, x).astype(kind) for array in zero_point)]


def operand_source(node: Node, place: int, shape: tuple[int, ...]) -> str:
    """What follows an input's name to give what laid_out gives."""
    kind = "int32" if "Dequantize" in node.operator else node.input_type
    dtype = f"np.{kind}" if hasattr(np, kind) else f"ml_dtypes.{kind}"
    return "" if place == 0 else f".reshape({shape})" + (f".astype({dtype})" if place == 2 else "")
