"""An attribute written out with the document's default makes the node that its absence makes, wherever it is made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers_of_onnx_linear import DEQUANTIZE, QUANTIZE, solve
from click.testing import CliRunner

from tiebreak.adapters.numpy_naive import NumpyNaive
from tiebreak.cli import main
from tiebreak.conformance.cases.case_ids import case_id
from tiebreak.conformance.paths.dependence import parameter_axis
from tiebreak.conformance.paths.same_operands import Part
from tiebreak.conformance.running.forbidden import calls_of_operators, forbidden_case
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node, node_from_key
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Attribute, Operator
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_layout import dump
from tiebreak.golden.vectorfile import VECTORS, read_cases, read_document
from tiebreak.reports.records import parse_case

REQUIRED: dict[str, dict[str, Any]] = {
    "com.microsoft.MatMulNBits": {"K": 16, "N": 1, "block_size": 16},
    "ngraph.Quantize": {"round_mode": "ROUND_UP"},
    "openvino.FakeQuantize": {"levels": 16},
    "tensorflow.UniformQuantize": {"quantization_min_val": -100, "quantization_max_val": 100},
    "tensorflow.UniformDequantize": {"quantization_min_val": -100, "quantization_max_val": 100},
    "tensorflow.UniformRequantize": {
        f"{side}_quantization_{end}_val": value
        for side in ("input", "output")
        for end, value in (("min", -100), ("max", 100))
    },
    "torch.quantize_per_channel": {"axis": 1},
    "torch.fake_quantize_per_channel_affine": {"quant_min": -8, "quant_max": 7, "axis": 1},
}
SPELLINGS: dict[str, tuple[Any, ...]] = {
    "axes": ([], ()),
    "output_dtype": ("", 0),
    "precision": ("", 0),
    "ensure_minimum_range": (0.01, float(np.float32(0.01))),
}
DEFAULTED = [(spec, a) for spec in OPERATORS.values() for a in spec.attributes if not a.required]


BOOLEANS = {True: (True, 1), False: (False, 0)}


def spellings(attribute: Attribute) -> tuple[Any, ...]:
    """The ways to write the default, NumPy's integers among those of an integer."""
    own = BOOLEANS[attribute.default] if isinstance(attribute.default, bool) else (attribute.default,)
    known = SPELLINGS.get(attribute.name, own)
    return (*known, *(np.int64(v) for v in known if type(v) is int and attribute.name != "saturate"))


@pytest.mark.parametrize(("spec", "attribute"), DEFAULTED, ids=[f"{s.id}-{a.name}" for s, a in DEFAULTED])
def test_a_written_default_is_no_other_node(spec: Operator, attribute: Attribute) -> None:
    plain = REQUIRED.get(spec.id, {})
    absent = make_node(spec.id, attributes=plain)
    for value in spellings(attribute):
        node = make_node(spec.id, attributes=plain | {attribute.name: value})
        assert node == absent and node.key == absent.key, value
        assert attribute.name not in node.attributes
        assert node.value(attribute.name) == attribute.default
        written = replace(absent, attributes={**absent.attributes, attribute.name: value})
        assert written == absent and written.key == absent.key, value


@pytest.mark.parametrize(("spec", "attribute"), DEFAULTED, ids=[f"{s.id}-{a.name}" for s, a in DEFAULTED])
def test_a_key_of_an_earlier_version_gives_the_same_node(spec: Operator, attribute: Attribute) -> None:
    absent = make_node(spec.id, attributes=REQUIRED.get(spec.id, {}))
    content = json.loads(absent.key)
    content["attributes"][attribute.name] = attribute.default
    again = node_from_key(json.dumps(content, sort_keys=True))
    assert again == absent and again.key == absent.key


def versions() -> Iterator[tuple[str, int, str, Any]]:
    """Every operator set with each attribute that its schema has, and the schema's default."""
    defs = pytest.importorskip("onnx").defs
    for spec in (OPERATORS[QUANTIZE], OPERATORS[DEQUANTIZE]):
        for opset in spec.opsets:
            schema = defs.get_schema(spec.id.partition(".")[2], opset)
            yield from ((spec.id, opset, name, a.default_value.i) for name, a in schema.attributes.items())


def test_the_defaults_are_those_of_onnx_in_every_operator_set() -> None:
    seen = set()
    for operator, opset, name, default in versions():
        absent, written = (make_node(operator, opset=opset, attributes=a) for a in ({}, {name: default}))
        assert written == absent and written.key == absent.key, (operator, opset, name)
        seen.add((operator, name))
    assert seen == {(o, a.name) for o in (QUANTIZE, DEQUANTIZE) for a in OPERATORS[o].attributes}


def test_the_defaults_are_those_of_tensorflow() -> None:
    """The adapters pass what the node says, so what it leaves off must mean the same to the library."""
    pytest.importorskip("tensorflow")
    from tensorflow.python.framework import op_def_registry

    for spec in (spec for spec in OPERATORS.values() if spec.id.startswith("tensorflow.")):
        own = {a.name: a.default_value for a in op_def_registry.get(spec.id.partition(".")[2]).attr}
        for attribute in (a for a in spec.attributes if not a.required and a.name != "dtype"):
            given = own[attribute.name]
            value = getattr(given, given.WhichOneof("value"))
            assert attribute.parse(value.decode() if isinstance(value, bytes) else value) == attribute.default


@pytest.mark.parametrize(
    ("operator", "opset", "attribute", "value"),
    [(QUANTIZE, 10, "axis", 1), (QUANTIZE, 13, "saturate", 1), (QUANTIZE, 19, "block_size", 0),
     (QUANTIZE, 21, "precision", 0), (DEQUANTIZE, 10, "axis", 1), (DEQUANTIZE, 21, "output_dtype", 0)],
)  # fmt: skip
def test_a_version_without_the_attribute_has_no_default_of_it(
    operator: str, opset: int, attribute: str, value: Any
) -> None:
    with pytest.raises(InvalidInput, match=f"opset {opset} has no attribute '{attribute}'"):
        make_node(operator, opset=opset, attributes={attribute: value})
    assert make_node(operator, attributes={attribute: value}) == make_node(operator)


def test_other_values_are_other_nodes() -> None:
    for attributes in ({"axis": -1}, {"axis": 0}, {"saturate": 0}, {"block_size": 1}, {"output_dtype": "uint8"}):
        assert make_node(QUANTIZE, attributes=attributes).key != make_node(QUANTIZE).key
    forbidden = replace(make_node(QUANTIZE), attributes={"block_size": False, "axis": 1.0, "unknown": 0})
    assert dict(forbidden.attributes) == {"block_size": False, "axis": 1.0, "unknown": 0}


@pytest.mark.parametrize("operator", [QUANTIZE, DEQUANTIZE])
@pytest.mark.parametrize("attributes", [{"axis": 1}, {"block_size": 0}, {"axis": 1, "block_size": 0}])
def test_a_one_element_scale_beside_rank_1_is_taken_either_way(operator: str, attributes: dict[str, int]) -> None:
    """The issue's examples: refused before, where the absent attribute was taken."""
    absent = solve(operator, [4, 8, 12], [2.0], [1])
    assert solve(operator, [4, 8, 12], [2.0], [1], attributes=attributes) == absent
    inputs = tuple(np.ones(1, t.dtype) for t in make_node(operator).inputs)
    assert case_id(make_node(operator, attributes=attributes), inputs) == case_id(make_node(operator), inputs)


@pytest.mark.few(1)
@pytest.mark.parametrize(("operator", "scale"), [(QUANTIZE, "y_scale"), (DEQUANTIZE, "x_scale")])
@pytest.mark.parametrize("text", ["axis=1", "block_size=0"])
def test_the_commands_of_the_issue(operator: str, scale: str, text: str, tmp_path: Path) -> None:
    typed = ["--operator", operator, "--input", "x=[1,2]", "--input", f"{scale}=[0.5]", "--json"]
    told = []
    for more in ([], ["--attr", text]):
        arguments = ["run", "-b", "onnx-reference", *typed, *more, "-o", str(tmp_path / f"run{len(more)}")]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        told.append({key: value for key, value in json.loads(result.stdout).items() if key in ("cases", "counts")})
    assert told[0] == told[1]


def test_vector_files_and_run_folders_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """Files keep what was written; the nodes that they give are the plain ones."""
    name = "onnx.DequantizeLinear-int8-float32.json"
    group = next(g for g in read_document(VECTORS / name)["groups"] if g["attributes"] == {"axis": 1})
    (tmp_path / name).write_text(dump({**read_document(VECTORS / name), "groups": [group]}), encoding="utf-8")
    (case,) = read_cases(tmp_path / name)
    assert case.id == group["vectors"][0]["id"] and dict(case.node.attributes) == {}
    content = json.loads(make_node(DEQUANTIZE).key) | {"attributes": {"axis": 1, "block_size": 0}}
    tensors = [{"type": "uint8", "shape": [1], "values": "3"}, {"type": "float32", "shape": [1], "values": "40000000"}]
    row = {"id": "generated/old", "origin": "generated", "node": json.dumps(content)}
    read = parse_case(row | {"inputs": json.dumps([*tensors, tensors[0]])})
    assert read.id == "generated/old" and read.node == make_node(DEQUANTIZE)


# What reads an attribute must not take its absence for something else.


def test_numpy_naive_knows_that_absent_axes_are_none() -> None:
    calls = calls_of_operators(("ngraph.Quantize", "ngraph.Dequantize"))
    tried = [forbidden_case(operator, call, 0) for operator, call in calls if call.what == "2 scales for no axes"]
    assert len(tried) == 2
    for case in tried:
        with pytest.raises(Unsupported, match="a parameter of shape"):
            NumpyNaive().compile(case.node)(*case.inputs)


def test_a_measured_range_is_no_sweep_written_out_or_not(tmp_path: Path) -> None:
    for more in ([], ["--attr", "range_given=false"]):
        limits = ["--input", "input_min=-1", "--input", "input_max=1", "--type", "bfloat16"]
        arguments = ["sweep", "numpy-naive", "--operator", "tensorflow.QuantizeAndDequantizeV4", *limits, *more]
        arguments += ["-o", str(tmp_path / "certificate.json")]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2 and "range_given=true" in result.stderr


def test_texts_name_the_default_axis() -> None:
    """Of four axes it is axis 1, not the last."""
    node = make_node(QUANTIZE, attributes={"axis": 1})
    inputs = tuple(np.ones(shape, t.dtype) for shape, t in zip(((1, 2, 1, 2), 2, 2), node.inputs, strict=True))
    case = Case("c", node, inputs)
    (problem,) = problems_of(case)
    assert parameter_axis(Part(case, problem, 0)) == 1


def test_nodes_of_unknown_operators_keep_what_they_are_given() -> None:
    assert dict(Node("any.Operator", {"axis": 1}, (), ()).attributes) == {"axis": 1}
