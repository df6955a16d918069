"""MLX on the CPU: mx.quantize in its modes mxfp4 and mxfp8 for ocp.MXQuantize, and nvfp4 for nvidia.NVFP4Quantize.

MLX documents the formats and names OCP's text for them. How a scale is found it leaves out, and the function takes no
attribute for it: what it finds is the power of two of the scaling mode rceil. So the nodes are run that say so. What it
calls global_scale is the tensor's greatest magnitude. Of casts, see mlx_cast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters import mlx_cast
from tiebreak.adapters.inexpressible import check_blocks, check_nvfp4
from tiebreak.adapters.packed_bits import SOURCE, unpacked
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import nvidia_nvfp4_quantize, ocp_mx_quantize, onnx_cast
from tiebreak.golden.problem import Array, bits_of

MODES = {"float8_e4m3fn": "mxfp8", "float4_e2m1fn": "mxfp4"}
NVFP4 = "nvfp4"
OPERATORS = (ocp_mx_quantize.ID, nvidia_nvfp4_quantize.ID)
WAY = "rceil"
REALS = ("float32", "bfloat16")
LINES = """
import mlx.core as mx
{helpers}
# The call.
given = mx.array(x.view("uint{bits}")).view(mx.{real}, stream=mx.cpu)
words, scales = mx.quantize(given, mode="{mode}", stream=mx.cpu{further})
outputs = ({elements}, np.array(scales).view(ml_dtypes.{scale}))
library = f"mlx {{mx.__version__}}"
"""
FOUR_BITS = "unpacked(np.array(words).view(np.uint8), 4, x.shape, ml_dtypes.float4_e2m1fn)"
ELEMENTS = {"mxfp8": "np.array(words).view(ml_dtypes.float8_e4m3fn)", "mxfp4": FOUR_BITS, NVFP4: FOUR_BITS}


class Mlx:
    name = "mlx"
    maps: Mapping[str, str] = {
        ocp_mx_quantize.ID: (
            "mx.quantize in the modes mxfp4 and mxfp8: E8M0 scales of blocks of 32, as rceil finds them"
        ),
        nvidia_nvfp4_quantize.ID: "mx.quantize in the mode nvfp4: E4M3 scales of blocks of 16; global_scale is an amax",
        **mlx_cast.MAPS,
    }

    def __init__(self) -> None:
        import mlx.core

        self.library, self.version = mlx.core, str(mlx.core.__version__)

    def compile(self, node: Node) -> Run:
        if node.operator == onnx_cast.ID:
            return mlx_cast.compiled(self.library, node)
        mode = mode_of(node)

        def run(x: Array, *whole: Array) -> tuple[Array, ...]:
            words, scales = self.quantize(x, mode, *whole)
            held = np.asarray(words, np.uint32).view(np.uint8)
            return elements(held, node, x.shape), np.asarray(scales, np.uint8).view(node.outputs[1].dtype)

        return run

    def quantize(self, x: Array, mode: str, *whole: Array) -> tuple[Any, ...]:
        """The packed elements and the scales. Unsupported with MLX's own message if it refuses."""
        cpu = self.library.cpu
        given = self.library.array(bits_of(x)).view(getattr(self.library, x.dtype.name), stream=cpu)
        further = dict(zip(("global_scale",), map(self.library.array, whole), strict=False))
        try:
            found = self.library.quantize(given, mode=mode, stream=cpu, **further)
            self.library.eval(*found)
        except (ValueError, RuntimeError) as refusal:
            raise Unsupported(str(refusal)) from None
        return tuple(found)

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        if node.operator == onnx_cast.ID:
            return mlx_cast.source(node)
        mode, kind = mode_of(node), node.inputs[0].dtype
        given = {"helpers": SOURCE if mode != "mxfp8" else "", "bits": 8 * kind.itemsize, "real": kind.name}
        given |= {"further": ", global_scale=mx.array(global_amax)" if len(node.inputs) > 1 else ""}
        return LINES.format(mode=mode, elements=ELEMENTS[mode], scale=node.outputs[1].dtype.name, **given)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "mlx": self.version,
            "device": "cpu, by the argument stream",
            "instruction sets": instruction_sets(),
        }


def mode_of(node: Node) -> str:
    """MLX's mode for a node; Unsupported for what mx.quantize can't be told."""
    if node.operator not in OPERATORS:
        raise Unsupported(f"MLX has no {node.operator}, only {', '.join((*OPERATORS, onnx_cast.ID))}")
    check_blocks(node, "MLX")
    if node.operator == nvidia_nvfp4_quantize.ID:
        check_nvfp4(node, "MLX")
        return NVFP4
    if node.output_type not in MODES or node.input_type not in REALS:
        raise Unsupported(f"MLX has no mode for {node.input_type} to {node.output_type}: {', '.join(MODES)}")
    if node.value("scaling_mode") != WAY:
        raise Unsupported(f"mx.quantize finds scales in one way, which is that of {WAY}")
    return MODES[node.output_type]


def elements(held: Array, node: Node, shape: tuple[int, ...]) -> Array:
    kind = node.outputs[0].dtype
    return unpacked(held, kind.name, shape) if kind.name == "float4_e2m1fn" else held.view(kind).reshape(shape)
