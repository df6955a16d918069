"""torchao on the CPU: to_mx of its MX formats for ocp.MXQuantize, and nvfp4_quantize for nvidia.NVFP4Quantize.

torchao documents the four scaling modes of MX, after OCP's text and cuBLAS's, and says that nvfp4_quantize implements
NVIDIA's algorithm. Its scale of the tensor is what its own function makes of global_amax. The package says that these
modules are prototypes. Elements of 6 bits come as bytes, elements of 4 bits two in a byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_blocks, check_nvfp4
from tiebreak.adapters.packed_bits import SOURCE, unpacked
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.torch_calls import REFUSALS, torch_tensor
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import nvidia_nvfp4_quantize, ocp_mx_quantize
from tiebreak.golden.problem import Array

# What to_mx calls an element type: the name of one of torch's, or torchao's own word.
OF_TORCH = {"float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2", "float4_e2m1fn": "float4_e2m1fn_x2"}
WORDS = {"float6_e3m2fn": "fp6_e3m2", "float6_e2m3fn": "fp6_e2m3"}
BLOCK, NVFP4_BLOCK = 32, 16
OPERATORS = (ocp_mx_quantize.ID, nvidia_nvfp4_quantize.ID)
LINES = """
import torch
import torchao
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import to_mx
{helpers}
# The call.
given = torch.from_numpy(x.view("uint{bits}")).view(torch.{real})
scales, elements = to_mx(given, {element}, {block}, ScaleCalculationMode.{mode})
held = elements.view(torch.uint8).numpy()
outputs = ({elements}, scales.view(torch.uint8).numpy().view(ml_dtypes.float8_e8m0fnu))
library = f"torchao {{torchao.__version__}}, torch {{torch.__version__}}"
"""
NVFP4_LINES = """
import torch
import torchao
from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
{helpers}
# The call.
given = torch.from_numpy(x.view("uint{bits}")).view(torch.{real})
scales, elements = nvfp4_quantize(given, {block}, {scale})
held = elements.view(torch.uint8).numpy()
scales = scales.view(torch.uint8).numpy().view(ml_dtypes.float8_e4m3fn)
outputs = (unpacked(held, 4, x.shape, ml_dtypes.float4_e2m1fn), scales.reshape(*x.shape[:-1], -1))
library = f"torchao {{torchao.__version__}}, torch {{torch.__version__}}"
"""


class TorchAo:
    name = "torchao"

    def __init__(self) -> None:
        import torch
        import torchao
        from torchao.prototype.mx_formats import config, mx_tensor, nvfp4_tensor

        torch.set_num_threads(1)
        self.torch, self.library, self.version = torch, torchao, str(torchao.__version__)
        self.modes, self.to_mx = config.ScaleCalculationMode, mx_tensor.to_mx
        said = f"torchao {self.version}, ScaleCalculationMode, which names OCP MX 1.0 and cuBLAS's block quantization"
        self.nvfp4_quantize, self.scale_of = nvfp4_tensor.nvfp4_quantize, nvfp4_tensor.per_tensor_amax_to_scale
        nvidia = f"torchao {self.version}, nvfp4_quantize, which says that it implements NVIDIA's algorithm"
        self.claims: Mapping[str, str] = {ocp_mx_quantize.ID: said, nvidia_nvfp4_quantize.ID: nvidia}

    def compile(self, node: Node) -> Run:
        check(node)
        return self.of_nvfp4(node) if node.operator == nvidia_nvfp4_quantize.ID else self.of_mx(node)

    def of_nvfp4(self, node: Node) -> Run:
        def run(x: Array, *given: Array) -> tuple[Array, ...]:
            tensors = [torch_tensor(self.torch, array) for array in (x, *given)]
            try:
                scale = [self.scale_of(amax) for amax in tensors[1:]]
                scales, found = self.nvfp4_quantize(tensors[0], NVFP4_BLOCK, *scale)
            except REFUSALS as refusal:
                raise Unsupported(str(refusal) or "nvfp4_quantize refuses the input") from None
            codes = scales.contiguous().view(self.torch.uint8).numpy().view(node.outputs[1].dtype)
            held = found.contiguous().view(self.torch.uint8).numpy()
            return elements(held, node, x.shape), codes.reshape(*x.shape[:-1], x.shape[-1] // NVFP4_BLOCK)

        return run

    def of_mx(self, node: Node) -> Run:
        kind, mode = self.element(node), self.modes[node.value("scaling_mode").upper()]

        def run(x: Array) -> tuple[Array, ...]:
            given = torch_tensor(self.torch, x)
            try:
                scales, found = self.to_mx(given, kind, BLOCK, mode)
            except REFUSALS as refusal:
                raise Unsupported(str(refusal) or "to_mx refuses the input") from None
            held = found.contiguous().view(self.torch.uint8).numpy()
            codes = scales.contiguous().view(self.torch.uint8).numpy()
            return elements(held, node, x.shape), codes.view(node.outputs[1].dtype)

        return run

    def element(self, node: Node) -> Any:
        """What to_mx is told of the element type."""
        to = node.output_type
        return WORDS[to] if to in WORDS else getattr(self.torch, OF_TORCH[to])

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        check(node)
        if node.operator == nvidia_nvfp4_quantize.ID:
            return nvfp4_script(node)
        to, kind = node.output_type, node.inputs[0].dtype
        packs = to == "float4_e2m1fn"
        whole = "unpacked(held, 4, x.shape, ml_dtypes.float4_e2m1fn)" if packs else f"held.view(ml_dtypes.{to})"
        return LINES.format(
            helpers=SOURCE if packs else "",
            bits=8 * kind.itemsize,
            real=kind.name,
            element=f'"{WORDS[to]}"' if to in WORDS else f"torch.{OF_TORCH[to]}",
            block=BLOCK,
            mode=node.value("scaling_mode").upper(),
            elements=whole,
        )

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "torchao": self.version,
            "torch": str(self.torch.__version__),
            "build": "CPU" if not self.torch.cuda.is_available() else "CUDA, not used",
            "threads": str(self.torch.get_num_threads()),
            "kernel": "to_mx and nvfp4_quantize in eager mode: PyTorch's own operators",
            "instruction sets": instruction_sets(),
        }


def check(node: Node) -> None:
    if node.operator not in OPERATORS:
        raise Unsupported(f"torchao has no {node.operator}, only {' and '.join(OPERATORS)}")
    check_blocks(node, "torchao")
    if node.operator == nvidia_nvfp4_quantize.ID:
        check_nvfp4(node, "torchao")
        return
    if node.output_type not in {**OF_TORCH, **WORDS}:
        raise Unsupported(f"torchao has no MX elements of {node.output_type}")
    if node.value("scaling_mode") not in ocp_mx_quantize.MODES:
        raise Unsupported(f"torchao has no ScaleCalculationMode {node.value('scaling_mode')!r}")


def elements(held: Array, node: Node, shape: tuple[int, ...]) -> Array:
    kind = node.outputs[0].dtype
    return unpacked(held, kind.name, shape) if kind.name == "float4_e2m1fn" else np.asarray(held.view(kind))


def nvfp4_script(node: Node) -> str:
    kind = node.inputs[0].dtype
    scale = "per_tensor_amax_to_scale(torch.from_numpy(global_amax))" if len(node.inputs) > 1 else "None"
    given = {"bits": 8 * kind.itemsize, "real": kind.name, "block": NVFP4_BLOCK, "scale": scale}
    return NVFP4_LINES.format(helpers=SOURCE, **given)
