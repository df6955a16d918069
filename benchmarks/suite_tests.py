"""The tests of other suites as cases: ONNX's from its package, WPT's from numbers, TOSA's from a folder.

stablehlo_programs has StableHLO's. The numbers in benchmarks/suites/*.json are copied from suites; their names, sources
and licences stand in the files.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.power.own_tests import OwnTest
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator

HERE = Path(__file__).parent / "suites"
Array = np.ndarray[Any, Any]
MODES = {"I": "INEXACT_ROUND", "S": "SINGLE_ROUND", "D": "DOUBLE_ROUND"}
OF_NAME = re.compile(r"rescale_[\dx]+_(\w+)_out(\w+)_sc(\d)_rm(\w)_pc(\d)_iu(\d)_ou(\d)")


def onnx_node_tests(name: str) -> Iterator[OwnTest]:
    """The node tests of one operator of ONNX, from the installed package. Tests of several nodes are left out."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind="node")
    for test in tests:
        nodes = list(test.model.graph.node) if test.model else []
        if len(nodes) == 1 and nodes[0].op_type == name:
            inputs, outputs = ([as_array(one) for one in side] for side in test.data_sets[0])
            node = node_of(nodes[0], test.model.opset_import[0].version, inputs, outputs)
            yield OwnTest(test.name, Case(test.name, node, tuple(inputs)), tuple(outputs))


def as_array(given: Any) -> Array:
    from onnx import TensorProto, numpy_helper

    return np.asarray(numpy_helper.to_array(given) if isinstance(given, TensorProto) else given)


def node_of(proto: Any, opset: int, inputs: list[Array], outputs: list[Array]) -> Node:
    """A QuantizeLinear or a DequantizeLinear. Operator sets after the last that changed them mean the same."""
    from onnx.helper import get_attribute_value

    attributes = {one.name: get_attribute_value(one) for one in proto.attribute}
    attributes |= {"saturate": bool(attributes["saturate"])} if "saturate" in attributes else {}
    ends = inputs[0].dtype.name, outputs[0].dtype.name
    real, quantized = ends if proto.op_type == "QuantizeLinear" else ends[::-1]
    scale = inputs[1].dtype.name
    given = {"scale": scale} if scale != real else {}
    name = f"onnx.{proto.op_type}"
    last = get_operator(name).opsets[-1]
    return make_node(
        name, real=real, quantized=quantized, attributes=attributes, opset=min(opset, last),
        zero_point=len(inputs) > 2, **given,
    )  # fmt: skip


def wpt_tests() -> Iterator[OwnTest]:
    """WPT's quantizeLinear tests as nodes of nGraph's Quantize: any axes, int32. Blocks are spread over their elements.

    Both documents say the same of them: round(x / scale) + zero_point, clamped, ties to even.
    """
    for test in json.loads((HERE / "wpt_quantize_linear.json").read_text(encoding="utf-8"))["cases"]:
        shape, own = tuple(test["shape"]), tuple(test["scale_shape"])
        real, quantized = numpy_dtype(test["real"]), numpy_dtype(test["quantized"])
        x = np.array(test["input"]).astype(real).reshape(shape)
        own = (1,) * (len(shape) - len(own)) + own
        scale = np.array(test["scale"]).astype(real).reshape(own)
        zero = np.array(test["zero_point"]).astype(quantized).reshape(own)
        if any(size not in (1, full) for size, full in zip(own, shape, strict=True)):
            repeats = [full // size for size, full in zip(own, shape, strict=True)]
            scale, zero = (blocks_of(one, repeats) for one in (scale, zero))
            own = shape
        axes = tuple(axis for axis, size in enumerate(own) if size != 1)
        kept = tuple(size for size in own if size != 1)
        node = make_node(
            "ngraph.Quantize", real=test["real"], quantized=test["quantized"],
            attributes={"axes": axes, "round_mode": "ROUND_NEAREST_TOWARD_EVEN", "type": test["quantized"]},
        )  # fmt: skip
        case = Case(test["name"].replace(" ", "-"), node, (x, scale.reshape(kept), zero.reshape(kept)))
        yield OwnTest(test["name"], case, (np.array(test["output"]).astype(quantized).reshape(shape),))


def blocks_of(array: Array, repeats: list[int]) -> Array:
    for axis, times in enumerate(repeats):
        array = np.repeat(array, times, axis=axis)
    return array


def tosa_tests(folder: Path) -> Iterator[OwnTest]:
    """The tests that tosa_verif_build_tests wrote, without expected results: those are the reference model's."""
    for path in sorted(folder.glob("rescale/*/desc.json")):
        description = json.loads(path.read_text(encoding="utf-8"))
        tensors = description["meta"]["data_gen"]["tensors"]
        found = OF_NAME.match(path.parent.name)
        assert found, path
        scale32, mode, channels, *unsigned = found.group(3, 4, 5, 6, 7)
        kinds = [bits_of(tensors["input-0"]["data_type"], unsigned[0]), bits_of(found[2].upper(), unsigned[1])]
        given = {"scale32": scale32 == "1", "rounding_mode": MODES[mode], "per_channel": channels == "1"}
        node = make_node("tosa.RESCALE", real=kinds[0], quantized=kinds[1], attributes=given)
        values = [np.array(tensors[f"const-{k}"]["fixed_data_info"]["data"]).astype(np.int64) for k in range(4)]
        stored = np.load(path.parent / description["ifm_file"][0], allow_pickle=False)
        arrays = [
            stored.view(node.inputs[0].dtype) if stored.dtype.itemsize == node.inputs[0].dtype.itemsize else stored
        ]
        arrays += [one.astype(kind.dtype) for one, kind in zip(values, node.inputs[1:], strict=True)]
        yield OwnTest(path.parent.name, Case(path.parent.name, node, tuple(arrays)), ())


def bits_of(name: str, unsigned: str) -> str:
    """An element type: INT8 or I8, read as unsigned or not."""
    return ("u" if unsigned == "1" else "") + "int" + re.sub(r"\D", "", name)
