"""OpenVINO's low-precision transformations: FakeQuantize in front of a convolution by 1 with an 8-bit weight.

There the CPU plugin makes FakeQuantize an integer quantization and the convolution one of integers. A product by 1 is
exact, so the convolution's result is FakeQuantize's. One range is for all elements, so they are given as 1 x 1 x 1 x n.
The plugin's own graph shows whether the transformations were applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tiebreak.adapters.openvino import OpenVino
from tiebreak.adapters.openvino_fake_quantize import infer, openvino_tensor, operator_modules
from tiebreak.adapters.openvino_source import MODULES, script_part
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SWITCH = "LP_TRANSFORMS_MODE"  # the plugin's switch; as shipped it is on
INTEGERS = {"u8", "i8"}
CONVOLUTION = ([1, 1], [0, 0], [0, 0], [1, 1])  # strides, pads at the begin and at the end, dilations
SOURCE = """\
x_port = opset1.parameter([1, 1, 1, {x}.size], openvino.Type.f32)
limits = [op.Constant(np.asarray(limit, order="C")) for limit in ({limits},)]
quantized = opset1.fake_quantize(x_port, *limits{attributes})
weight = opset1.convert(op.Constant(np.ones((1, 1, 1, 1), np.int8)), openvino.Type.f32)
weight = opset1.multiply(weight, op.Constant(np.ones((1, 1, 1, 1), np.float32)))
convolved = opset1.convolution(quantized, weight, {convolution})
model = openvino.Model([opset1.result(convolved)], [x_port], "low_precision")
compiled = openvino.Core().compile_model(model, "CPU", {settings})
request = compiled.create_infer_request()
# The call.
request.infer([openvino.Tensor({x}.reshape(1, 1, 1, -1))])
outputs = (np.array(request.get_output_tensor(0).data).reshape({x}.shape),)"""


class LowPrecision:
    """`applied` says whether the transformations are on. A model in which the plugin does otherwise is refused."""

    claims: ClassVar = {"openvino.FakeQuantize": OpenVino.claims["openvino.FakeQuantize"]}
    configuration_of = "openvino"
    always_constant = frozenset(claims)
    takes_constants = True

    def __init__(self, name: str, *, applied: bool) -> None:
        import openvino

        self.name, self.library, self.applied = name, openvino, applied
        self.core, self.version = openvino.Core(), str(openvino.__version__)
        self.settings = {"INFERENCE_PRECISION_HINT": "f32", SWITCH: "YES" if applied else "NO"}
        self.models, self.ran = Recent(), set[str]()

    def compile(self, node: Node) -> Run:
        check(node)

        def run(x: Array, *limits: Array) -> tuple[Array, ...]:
            check_limits(limits)
            if not x.size:
                raise Unsupported("a convolution has elements")
            key = node.key, x.size, *((limit.shape, limit.tobytes()) for limit in limits)
            compiled = self.models.get(key, lambda: self.compiled(node, x.size, limits))
            return (infer(self.library, compiled, [x.reshape(1, 1, 1, -1)]).reshape(x.shape),)

        return run

    def compiled(self, node: Node, size: int, limits: Sequence[Array]) -> Any:
        """A compiled model. Unsupported if the plugin refuses it, or if its graph is not as asked."""
        try:
            compiled = self.core.compile_model(self.model(node, size, limits), "CPU", self.settings)
        except (RuntimeError, TypeError, OverflowError) as error:
            raise Unsupported(str(error)) from None
        layers = layers_of(compiled)
        used = {precision for layer, precision in layers if layer not in ("Const", "Output")}
        if bool(used & INTEGERS) != self.applied:
            raise Unsupported(f"OpenVINO runs {', '.join(' '.join(pair) for pair in layers)}")
        self.ran.add(" > ".join(" ".join(pair) for pair in layers))
        return compiled

    def model(self, node: Node, size: int, limits: Sequence[Array]) -> Any:
        op, operations = operator_modules()
        x = operations.parameter([1, 1, 1, size], self.library.Type.f32)
        ends = [op.Constant(openvino_tensor(self.library, limit)) for limit in limits]
        quantized = operations.fake_quantize(x, *ends, **node.attributes)
        one = operations.convert(op.Constant(np.ones((1, 1, 1, 1), np.int8)), self.library.Type.f32)
        weight = operations.multiply(one, op.Constant(np.ones((1, 1, 1, 1), np.float32)))
        convolved = operations.convolution(quantized, weight, *CONVOLUTION)
        return self.library.Model([operations.result(convolved)], [x], "low_precision")

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call OpenVINO's own API; see protocol.Backend."""
        check(node)
        check_limits(inputs[1:])
        x, *limits = (tensor.name for tensor in node.inputs)
        body = SOURCE.format(
            x=x,
            limits=", ".join(limits),
            attributes="".join(f", {name}={value!r}" for name, value in node.attributes.items()),
            convolution=", ".join(map(str, CONVOLUTION)),
            settings=str(self.settings).replace("'", '"'),
        )
        return script_part(MODULES, body)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "openvino": self.version,
            "device": str(self.core.get_property("CPU", "FULL_DEVICE_NAME")),
            "INFERENCE_PRECISION_HINT": "f32",
            "low-precision transformations": "applied" if self.applied else "off",
            "instruction sets": instruction_sets(),
            "ran": "; ".join(sorted(self.ran)[:4]) or "nothing",
        }


def check(node: Node) -> None:
    if node.operator != "openvino.FakeQuantize" or node.input_type != "float32":
        raise Unsupported("the low-precision transformations are run for openvino.FakeQuantize of float32")
    if node.inputs[0].name in node.constants:
        raise Unsupported(f"{node.inputs[0].name} is an input here")


def check_limits(limits: Sequence[Array]) -> None:
    for limit in limits:
        if limit.size != 1 or limit.ndim > 4:
            raise Unsupported(f"one range for all elements, not limits of shape {list(limit.shape)}")


def layers_of(compiled: Any) -> list[tuple[str, str]]:
    """The layers of the plugin's graph in order, each with the precision of its output."""
    found = []
    for operation in compiled.get_runtime_model().get_ordered_ops():
        facts = operation.get_rt_info()
        found.append((str(facts["layerType"].astype(str)), str(facts["outputPrecisions"].astype(str))))
    return found


def applied() -> LowPrecision:
    return LowPrecision("openvino-low-precision", applied=True)


def switched_off() -> LowPrecision:
    return LowPrecision("openvino-no-low-precision", applied=False)
