"""Sweeps of products: a column of all numbers times one element, an image of them under one weight."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep_support import cli

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.sweep.job import space_of, with_fitting_shape
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import problems_of
from tiebreak.golden.space import space_from

POINTS = {"a_zero_point": "3", "b_zero_point": "1"}
SCALES = {"a_scale": "0.5", "b_scale": "0.25", "y_scale": "2", "y_zero_point": "0"}
INPUTS = {
    "onnx.MatMulInteger": {"B": "3", **POINTS},
    "onnx.QLinearMatMul": {"b": "3", **POINTS, **SCALES},
    "com.microsoft.QGemm": {"B": "3", **POINTS, **SCALES},
    "onnx.ConvInteger": {"w": "3", "x_zero_point": "3", "w_zero_point": "1"},
    "onnx.QLinearConv": {
        **{"w": "3", "x_zero_point": "3", "w_zero_point": "1", "y_zero_point": "0"},
        **{"x_scale": "0.5", "w_scale": "0.25", "y_scale": "2"},
    },
}
IMAGES = {"onnx.ConvInteger", "onnx.QLinearConv"}

BOX = """
import numpy as np


class Box:
    name, version, operators = "box", "1", {"onnx.MatMulInteger"}

    def compile(self, node):
        return lambda a, b, *points: ((a.astype(np.int32) @ b.astype(np.int32)) | 1,)
"""


@pytest.mark.parametrize("operator", INPUTS)
def test_the_first_input_is_a_column_or_an_image_and_the_other_factor_one_element(operator: str) -> None:
    space = space_of(Selection(operators=(operator,), inputs=INPUTS[operator]))
    x, others = space.first_input(0, 256), space.other_inputs(0)
    shapes = {tensor.name: array.shape for tensor, array in zip(space.node.inputs[1:], others, strict=True)}
    image = operator in IMAGES
    assert x.shape == ((1, 1, 256) if image else (256, 1)) and space.inputs == 256
    assert [name for name, shape in shapes.items() if shape] == [TESTED[operator].swept_factor]
    assert shapes[TESTED[operator].swept_factor] == (1,) * (3 if image else 2)
    (problem,) = problems_of(Case("sweep", space.node, (x, *others)))
    assert problem.shape == x.shape
    assert space_from(space.described()).described() == with_fitting_shape(space).described() == space.described()


@pytest.mark.parametrize("operator", INPUTS)
def test_a_sweep_of_a_right_backend_deviates_nowhere(operator: str, tmp_path: Path) -> None:
    """All scales are powers of two, so that one multiplier rounds as a quotient does."""
    pytest.importorskip("onnxruntime")
    given = [word for name, text in INPUTS[operator].items() for word in ("--input", f"{name}={text}")]
    found = cli("onnxruntime", "--operator", operator, *given, "-o", str(tmp_path / "c.json"))
    assert found.exit_code == 0, found.output


def test_a_wrong_product_is_found(tmp_path: Path) -> None:
    """Even results of 0 to 255 times 3 are one off: half of them."""
    (tmp_path / "box.py").write_text(BOX)
    arguments = ("--operator", "onnx.MatMulInteger", "--input-type", "uint8", "--input", "B=3", "--json")
    found = cli(f"{tmp_path / 'box.py'}:Box", *arguments, "-o", str(tmp_path / "c.json"))
    assert found.exit_code == 1 and "128" in found.stdout


@pytest.mark.parametrize(
    ("operator", "inputs", "words"),
    [
        ("onnx.MatMulInteger", {"B": "[3]"}, "a result for each number"),
        ("onnx.ConvInteger", {"w": "[[[3, 3]]]"}, "larger than the padded image"),
        ("onnx.ConvInteger", {"w": "[[[3]], [[3]]]"}, "a result for each number"),
        ("com.microsoft.MatMulNBits", {}, "sums several products"),
        ("gguf.Dequantize", {"scales": "1"}, "whole blocks of 32"),
        ("gguf.Quantize", {}, "depends on other elements"),
    ],
)
def test_what_has_no_sweep_is_refused(operator: str, inputs: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        space_of(Selection(operators=(operator,), inputs=inputs))
