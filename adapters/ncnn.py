"""ncnn: its layers Quantize (int8 of float32, by a factor) and Dequantize (float32 of int32), each alone in a net."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.int8_by_factor import check_by_factor, factor_of, scale_alone
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

QUANTIZE = "Quantize: saturate(round(x * factor)), without zero point; a factor is 1 / scale"
DEQUANTIZE = "Dequantize: x * scale, without zero point"
MAPS = {
    **dict.fromkeys(("onnx.QuantizeLinear", "ngraph.Quantize"), QUANTIZE),
    **dict.fromkeys(("onnx.DequantizeLinear", "ngraph.Dequantize"), DEQUANTIZE),
}
TYPES = {"Quantize": ("float32", "int8"), "Dequantize": ("int32", "float32")}
MOST_AXES = 4
PARAMETERS = "7767517\n2 2\nInput input 0 1 x\n{layer} layer 1 1 x y 0=1\n"
SOURCE = """
import ncnn

with open("net.param", "w") as file:
    file.write({parameters!r})
with open("net.bin", "wb") as file:
    file.write(np.float32({factor}).tobytes())
net = ncnn.Net()
net.opt.num_threads = 1
net.load_param("net.param")
net.load_model("net.bin")
# The call.
extractor = net.create_extractor()
array = np.array({x}, order="C")
given = ncnn.Mat(array)
extractor.input("x", given)
outputs = (np.array(extractor.extract("y")[1]).astype(np.{output}),)
library = f"ncnn {{ncnn.__version__}}"
"""


class Ncnn:
    """The factor is a weight of the net, so each scale has its own net."""

    name = "ncnn"
    maps = MAPS
    always_constant = frozenset(MAPS)
    takes_constants = True

    def __init__(self) -> None:
        import ncnn

        self.library, self.version = ncnn, str(ncnn.__version__)

    def compile(self, node: Node) -> Run:
        layer = layer_of(node)

        def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
            if not 0 < x.ndim <= MOST_AXES or not x.size:
                raise Unsupported(f"an ncnn.Mat has 1 to {MOST_AXES} axes and elements, not shape {list(x.shape)}")
            return (self.answer(layer, factor_for(node, parameters), x).astype(node.outputs[0].dtype),)

        return run

    def answer(self, layer: str, factor: np.float32, x: Array) -> Array:
        """The output; ncnn's extractor gives int8 as float32, which holds every value."""
        net = self.library.Net()
        net.opt.num_threads = 1
        with tempfile.TemporaryDirectory() as folder:
            parameters, weights = Path(folder, "net.param"), Path(folder, "net.bin")
            parameters.write_text(PARAMETERS.format(layer=layer))
            weights.write_bytes(factor.tobytes())
            loaded = net.load_param(str(parameters)) or net.load_model(str(weights))
        if loaded:
            raise Unsupported(f"ncnn does not load the net: {loaded}")
        extractor = net.create_extractor()
        array = np.array(x, order="C")
        given = self.library.Mat(array)  # which uses the array's memory, so both are kept until the end
        extractor.input("x", given)
        status, y = extractor.extract("y")
        if status:
            raise Unsupported(f"ncnn does not run the net: {status}")
        return np.array(y)

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same net; see protocol.Backend."""
        layer, factor = layer_of(node), factor_for(node, inputs[1:])
        return SOURCE.format(
            parameters=PARAMETERS.format(layer=layer),
            factor=repr(float(factor)),
            x=node.inputs[0].name,
            output=node.output_type,
        )

    def attest(self) -> dict[str, str]:
        options: Any = self.library.Net().opt
        named = ("use_packing_layout", "use_fp16_storage", "use_bf16_storage", "use_int8_inference")
        return {
            "library": str(self.library.__file__),
            "ncnn": self.version,
            "options": ", ".join(f"{name}={getattr(options, name)}" for name in named),
            "threads": "1",
            "instruction sets": instruction_sets(),
        }


def layer_of(node: Node) -> str:
    """The layer's name. Unsupported for what it can't say."""
    if node.operator not in MAPS:
        raise Unsupported(f"ncnn is run for {', '.join(sorted(MAPS))}")
    layer = "Dequantize" if "Dequantize" in node.operator else "Quantize"
    check_by_factor(node, f"ncnn's {layer}", TYPES[layer])
    return layer


def factor_for(node: Node, parameters: Sequence[Array]) -> np.float32:
    layer = layer_of(node)
    scale = scale_alone(node, f"ncnn's {layer}", *parameters)
    return factor_of(scale, f"ncnn's {layer}") if layer == "Quantize" else scale
