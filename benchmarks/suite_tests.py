"""The tests of other suites as cases: ONNX's from its package, WPT's from numbers, TOSA's from a folder.

The numbers in benchmarks/suites/*.json are copied from suites. Their names, sources and licences stand in the files.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.power.arithmetics import WrongArithmetic
from tiebreak.conformance.power.chains import Answered, last_outputs, step
from tiebreak.conformance.power.own_tests import OwnTest, Power
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator

UNIFORM_QUANTIZE = "stablehlo.uniform_quantize"
SIDES = ("lhs", "rhs")
HERE = Path(__file__).parent / "suites"
Array = np.ndarray[Any, Any]
Outputs = dict[WrongArithmetic | None, Array]  # by arithmetic; None is the right one
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


def stablehlo_programs(kind: str) -> list[dict[str, Any]]:
    """The programs of gather, "cases", or of dot_general, "products"."""
    found: list[dict[str, Any]] = json.loads((HERE / "stablehlo_quantized.json").read_text(encoding="utf-8"))[kind]
    return found


def stablehlo_first_steps() -> Iterator[OwnTest]:
    """The first operations of each program, uniform_quantize of float32 to int8."""
    for program in stablehlo_programs("cases"):
        yield OwnTest(program["name"], first_step(program), ())
    for program in stablehlo_programs("products"):
        for place, side in enumerate(SIDES):
            yield OwnTest(program["name"], first_step(program, side, place), ())


def first_step(program: dict[str, Any], values: str = "input", step: int = 0) -> Case:
    node = make_node(UNIFORM_QUANTIZE, real="float32", quantized="int8")
    x = np.array(program[values], np.float32)
    return Case(program["name"].replace(" ", "-"), node, (x, *pair(program, step)))


def pair(program: dict[str, Any], step: int, kind: type[Any] = np.int8) -> tuple[Array, Array]:
    """The scale and the zero point of a step's result, of this type."""
    return np.array(program["scales"][step], np.float32), np.array(program["zero_points"][step], kind)


def second_step(program: dict[str, Any], codes: Array) -> Case:
    """uniform_quantize of the quantized numbers, to another scale."""
    node = make_node(UNIFORM_QUANTIZE, real="int8", quantized="int8")
    return Case(program["name"].replace(" ", "-"), node, (codes, *pair(program, 1), *pair(program, 0)))


def outputs_of_product(program: dict[str, Any]) -> Outputs:
    """Of dot_general, whose int32 result has the product of both scales: a sum of products, quantized again."""
    sides = [last_outputs(first_step(program, side, place), []) for place, side in enumerate(SIDES)]
    found: Outputs = {}
    known: dict[bytes, Answered] = {}
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        both = [side.get(name, side[None]).astype(np.int64) - pair(program, n)[1] for n, side in enumerate(sides)]
        sums = np.tensordot(*both, axes=program["contracting"]).astype(np.int32)
        found[name] = step(name, sums, partial(requantize, program), known)
    return found


def requantize(program: dict[str, Any], sums: Array) -> Case:
    node = make_node(UNIFORM_QUANTIZE, real="int32", quantized="int8")
    return Case(program["name"].replace(" ", "-"), node, (sums, *pair(program, 3), *pair(program, 2, np.int32)))


def outputs_of_gather(program: dict[str, Any]) -> Outputs:
    return last_outputs(first_step(program), [partial(second_step, program)])


def stablehlo_power() -> Power:
    """What the programs stop. Their numbers are codes times a scale, so codes that differ give numbers that differ."""
    stopped, known, wrong, elements = set[WrongArithmetic](), set[WrongArithmetic](), list[str](), 0
    programs = [
        *((program, outputs_of_gather(program), 1) for program in stablehlo_programs("cases")),
        *((program, outputs_of_product(program), 3) for program in stablehlo_programs("products")),
    ]
    for program, found, last in programs:
        scale, zero = pair(program, last)
        right = found.pop(None)
        numbers = (right.astype(np.float32) - zero.astype(np.float32)) * scale
        wrong += [program["name"]] * (not np.array_equal(numbers, np.array(program["output"], np.float32)))
        known |= {name for name in found if name}
        stopped |= {name for name, codes in found.items() if name and not np.array_equal(codes, right)}
        elements += right.size
    return Power(len(programs), elements, frozenset(known), frozenset(stopped), frozenset(stopped), tuple(wrong))


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
