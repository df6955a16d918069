"""ONNX Runtime: QuantizeLinear and DequantizeLinear through a real InferenceSession on the CPU execution provider."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import NAMES, OPERATORS, Linear, check_inputs, linear_model, linear_node, onnx_type
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import FLOAT_TYPES, SMALL_FLOAT_TYPES, numpy_dtype
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

PROVIDER = "CPUExecutionProvider"
# Its Python API has no arrays of these types: they enter and leave through Cast nodes.
CARRIERS = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
BY_BITS = ("bfloat16", *SMALL_FLOAT_TYPES)  # these go in as their bits with their type


class OnnxRuntime:
    """Also takes the nGraph nodes that are QuantizeLinear or DequantizeLinear exactly: see onnx_models.axis_of."""

    name = "onnxruntime"
    operators = OPERATORS

    def __init__(self) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import onnxruntime

        self.library = onnxruntime
        self.version = str(onnxruntime.__version__)
        self.kernels: dict[str, Linear] = {}  # by types: a node to profile
        self.opsets: set[int] = set()
        onnxruntime.set_default_logger_severity(4)

    def compile(self, node: Node) -> Run:
        linear = linear_node(node)
        session = self.session(linear_model(linear, CARRIERS).SerializeToString())
        used: list[str] = session.get_providers()
        if used[0] != PROVIDER:
            raise MachineryFailed(f"the session fell back to {used}")
        self.opsets.add(linear.opset)

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            return (self.answer(session, linear, inputs),)

        if not linear.attributes.get("block_size"):
            self.kernels.setdefault(label_of(linear), linear)
        return run

    def answer(self, session: Any, linear: Linear, inputs: tuple[Array, ...]) -> Array:
        """The output; Unsupported with the runtime's own message if it refuses the inputs."""
        errors = self.library.capi.onnxruntime_pybind11_state
        feeds = {name: self.value(array) for name, array in zip(NAMES, inputs, strict=False)}
        y, dtype = np.zeros(inputs[0].shape, numpy_dtype(linear.output)), numpy_dtype(linear.output)
        binding = session.io_binding()
        for name, value in feeds.items():
            binding.bind_ortvalue_input(name, value)
        if linear.output in BY_BITS:  # the API makes no array of such an output, but writes into one
            binding.bind_ortvalue_output("y", self.value(y))
        else:
            binding.bind_output("y")
        try:
            session.run_with_iobinding(binding)
        except (errors.Fail, errors.InvalidArgument, errors.NotImplemented, RuntimeError) as error:
            raise Unsupported(str(error)) from None
        return y if linear.output in BY_BITS else binding.get_outputs()[0].numpy().astype(dtype, copy=False)

    def session(self, model: bytes, profile: str | None = None) -> Any:
        """A session as shipped but for one thread; Unsupported with the runtime's own message."""
        options = self.library.SessionOptions()
        options.intra_op_num_threads = 1
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, profile
        errors = self.library.capi.onnxruntime_pybind11_state
        try:
            return self.library.InferenceSession(model, options, providers=[PROVIDER])
        except (errors.NotImplemented, errors.InvalidGraph, errors.Fail) as error:
            raise Unsupported(str(error)) from None

    def value(self, array: Array) -> Any:
        """An OrtValue; a type that NumPy lacks goes in as its bits with its type, or as its carrier."""
        name = array.dtype.name
        if name in BY_BITS:
            make = self.library.OrtValue.ortvalue_from_numpy_with_onnx_type
            return make(np.asarray(array, order="C").view(f"uint{8 * array.dtype.itemsize}"), onnx_type(name))
        carried = np.asarray(array, order="C").astype(CARRIERS.get(name, name), copy=False)
        return self.library.OrtValue.ortvalue_from_numpy(carried)

    def attest(self) -> dict[str, str]:
        """Library, opsets, instruction sets, and the kernels and provider that a profile of a probe shows at work."""
        return {
            "library": self.library.__file__,
            "onnxruntime": self.version,
            "build": self.library.get_build_info() if hasattr(self.library, "get_build_info") else "unknown",
            "opset": ", ".join(map(str, sorted(self.opsets))),
            "graph optimisation": "as shipped (all)",
            "threads": "1",
            "carriers": "types of 2 and 4 bits enter and leave by Cast nodes",
            "instruction sets": instruction_sets(),
            "ran": "; ".join(f"{label}: {self.profiled(linear)}" for label, linear in sorted(self.kernels.items())),
        }

    def profiled(self, linear: Linear) -> str:
        """`operator on provider` for each node that a run of three elements executed."""
        x, *parameters = (numpy_dtype(name) for name in linear.inputs)
        ones = (np.ones(3).astype(x), np.ones(()).astype(parameters[0]))
        zeros = (np.zeros(()).astype(kind) for kind in parameters[1:])
        with tempfile.TemporaryDirectory() as folder:
            session = self.session(linear_model(linear, CARRIERS).SerializeToString(), f"{folder}/p")
            try:
                self.answer(session, linear, (*ones, *zeros))
            except Unsupported as reason:
                return f"refused: {str(reason)[:60]}"
            events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        ran = [event["args"] for event in events if event.get("cat") == "Node" and "provider" in event.get("args", {})]
        return ", ".join(dict.fromkeys(f"{args['op_name']} on {args['provider']}" for args in ran))


def label_of(linear: Linear) -> str:
    """What the kernels that run a node are likely to depend on."""
    types = (*linear.inputs, linear.output)
    real = next(name for name in (linear.inputs[0], *types[::-1]) if name in FLOAT_TYPES)
    return (
        ("to " if linear.operator == "DequantizeLinear" else "")
        + real
        + (" by Cast" if set(types) & set(CARRIERS) else "")
    )
