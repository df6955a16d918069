"""The libraries as contenders, each through its fastest API: ONNX Runtime, PyTorch, TensorFlow."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

import numpy as np
from contenders import Contender, Missing
from setting import ONE, ROWS, Setting

from tiebreak.golden.rounding import EVEN

PROVIDERS = ["CPUExecutionProvider"]
TORCH_TYPES = {"uint8": "quint8", "int8": "qint8", "int32": "qint32"}
TENSORFLOW_TYPES = {"uint8": "quint8", "int8": "qint8", "int16": "qint16", "int32": "qint32"}


def onnxruntime(setting: Setting) -> Contender:
    """A session with the setting's threads; input and output are bound to existing memory."""
    try:
        import onnxruntime as ort

        model = quantize_linear(setting)
    except ImportError as error:
        raise Missing(f"not installed ({error.name})") from None
    options = ort.SessionOptions()
    options.intra_op_num_threads = setting.threads
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model, options, providers=PROVIDERS)
    except Exception as error:
        raise Missing(refusal(error)) from None
    binding = session.io_binding()
    y = ort.OrtValue.ortvalue_from_numpy(np.ones(setting.shape, setting.output))
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(setting.x))
    binding.bind_ortvalue_output("y", y)

    def repeat(times: int) -> None:
        for _ in range(times):
            session.run_with_iobinding(binding)

    return Contender(repeat, lambda: np.asarray(y.numpy()).reshape(-1))


def quantize_linear(setting: Setting) -> bytes:
    """A model of one node, with scale and zero point as constants."""
    from onnx import TensorProto, helper, numpy_helper

    if setting.output == "int32":
        raise Missing("has no int32")
    only(setting.mode == EVEN)
    one = setting.layout == ONE
    kind = TensorProto.DataType.Value(setting.output.upper())
    constants = [
        numpy_helper.from_array(array[0] if one else array, name)
        for name, array in (("scale", setting.scale), ("zero", setting.zero_points))
    ]
    axis = {} if one else {"axis": 0 if setting.layout == ROWS else 1}
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"], **axis)
    ends = [
        [helper.make_tensor_value_info(name, type_, setting.shape)]
        for name, type_ in (("x", TensorProto.FLOAT), ("y", kind))
    ]
    graph = helper.make_graph([node], "quantize", *ends, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return bytes(made.SerializeToString())


def torch(setting: Setting) -> Contender:
    """quantize_per_tensor, which allocates its result in each call."""
    try:
        import torch as library
    except ImportError as error:
        raise Missing(f"not installed ({error.name})") from None
    if setting.output not in TORCH_TYPES:
        raise Missing(f"has no {setting.output}")
    only(setting.mode == EVEN and setting.layout == ONE)
    x, dtype = library.from_numpy(setting.x), getattr(library, TORCH_TYPES[setting.output])
    scale, zero_point, results = float(setting.scale[0]), setting.zero_point, list[Any]([None])

    def repeat(times: int) -> None:
        library.set_num_threads(setting.threads)
        for _ in range(times):
            results[0] = library.quantize_per_tensor(x, scale, zero_point, dtype)

    return tried(Contender(repeat, lambda: np.asarray(results[0].int_repr().numpy())))


def tensorflow(setting: Setting) -> Contender:
    """QuantizeV2, SCALED and HALF_TO_EVEN, which allocates its result in each call.

    TensorFlow chooses its number of threads once per process, whatever the setting says. SCALED has no zero point.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as library
    except ImportError as error:
        raise Missing(f"not installed ({error.name})") from None
    only(setting.mode == EVEN and setting.layout == ONE)
    x, kind = library.constant(setting.x), getattr(library, TENSORFLOW_TYPES[setting.output])
    ends = [library.constant(float(setting.scale[0]) * end) for end in (setting.lowest, setting.highest)]
    results = list[Any]([None])

    def repeat(times: int) -> None:
        for _ in range(times):
            results[0] = library.raw_ops.QuantizeV2(
                input=x, min_range=ends[0], max_range=ends[1], T=kind, mode="SCALED", round_mode="HALF_TO_EVEN"
            )

    dtype = getattr(library, setting.output)
    return tried(Contender(repeat, lambda: np.asarray(library.bitcast(results[0][0], dtype).numpy())))


def only(condition: bool) -> None:
    if not condition:
        raise Missing("not measured")


def tried(contender: Contender) -> Contender:
    """The contender after a first run, which absorbs deprecation warnings and shows refusals."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            contender.repeat(1)
    except Exception as error:
        raise Missing(refusal(error)) from None
    return contender


def refusal(error: BaseException) -> str:
    text = re.sub(r"{{.*?}}", "", str(error))  # names that TensorFlow makes up
    return f"refuses: {' '.join(text.split())[:200]}"
