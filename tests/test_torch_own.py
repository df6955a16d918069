"""torch's own functions by their own documents: values computed by hand, and what torch does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.operators.torch_fake_quantize_variants import MISTAKES
from tiebreak.golden import kernel, oracle
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problems import problems_of

EVEN = "ROUND_NEAREST_TOWARD_EVEN"
DOMAIN = {"axis": 0, "quant_min": 0, "quant_max": 255}


def result(node: Node, *values: Any) -> list[float]:
    """The exact result by oracle and kernel, which agree."""
    arrays = tuple(np.asarray(value).astype(tensor.dtype) for value, tensor in zip(values, node.inputs, strict=True))
    (problem,) = problems_of(Case("by-hand", node, arrays))
    (codes, _), (same, _) = (solve(problem, working=False, mode=EVEN) for solve in (oracle.solve, kernel.solve))
    assert codes.tolist() == same.tolist()
    kind = node.outputs[0].dtype
    found = codes.astype(np.uint32).view(np.float32) if kind == np.float32 else codes
    return [float(value) for value in found]


def test_the_zero_point_is_added_before_rounding_by_quantize_and_after_it_by_fake_quantize() -> None:
    quantize = make_node("torch.quantize_per_tensor", quantized="int8")
    assert result(quantize, [0.5, 1.5], 1, 1) == [2, 2]
    fake = make_node("torch.fake_quantize_per_tensor_affine", attributes={"quant_min": 0, "quant_max": 255})
    assert result(fake, [0.5, 1.5], 1, 1) == [0, 2]


def test_a_float_zero_point_is_added_and_subtracted_as_it_is() -> None:
    node = make_node("torch.fake_quantize_per_channel_affine", attributes={**DOMAIN, "zero_point_type": "float32"})
    assert result(node, [[7.0, 0.5, 2.25, -5.0]], [1.0], [1.25]) == [7.0, 0.0, 2.0, -1.25]


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_torch_adds_a_float_zero_point_before_rounding(kind: str) -> None:
    """The finding of fake_quantize_per_channel_affine: with 1.25 the level 8.25 becomes 8."""
    torch = pytest.importorskip("torch")
    given = torch.tensor([1.25], dtype=getattr(torch, kind))
    x, scale = torch.tensor([[7.0, 0.5, 2.25]]), torch.tensor([1.0])
    assert torch.fake_quantize_per_channel_affine(x, scale, given, 0, 0, 255).tolist() == [[6.75, 0.75, 2.75]]


def test_torch_multiplies_by_the_reciprocal() -> None:
    """4.8046875 / 0.640625 is 7.5, which goes to 8; times the rounded reciprocal it is below 7.5."""
    torch = pytest.importorskip("torch")
    fake = make_node("torch.fake_quantize_per_tensor_affine", attributes={"quant_min": 0, "quant_max": 255})
    assert result(fake, [4.8046875], 0.640625, 0) == [5.125]
    assert torch.fake_quantize_per_tensor_affine(torch.tensor([4.8046875]), 0.640625, 0, 0, 255).tolist() == [4.484375]


OWN = "own-reciprocal + sum-in:float32 + level-in:float32"


def test_torch_adds_a_large_zero_point_in_float32() -> None:
    """16777217.33 and 1000003 are 17777220 as a float32, and its difference 16777217 becomes 16777216 before * 3."""
    torch = pytest.importorskip("torch")
    ends = {"quant_min": -(2**31), "quant_max": 2**31 - 1}
    node = make_node("torch.fake_quantize_per_tensor_affine", attributes=ends)
    assert result(node, [50331652.0], 3.0, 1000003) == [50331652.0]
    zero_point = torch.tensor(1000003, dtype=torch.int32)
    found = torch.fake_quantize_per_tensor_affine(
        torch.tensor([50331652.0]), torch.tensor(3.0), zero_point, *ends.values()
    )
    (own,) = next(run for cause, run in MISTAKES if cause.id == OWN)(
        node, np.float32([50331652.0]), np.float32(3), np.int32(1000003)
    )
    assert found.tolist() == own.tolist() == [50331648.0]


FLOAT_POINT = {"axis": 0, "zero_point_type": "float32"}


def test_a_float_zero_point_of_quantize_is_a_number_of_steps() -> None:
    """3 / 0.5 + 1.25 is 7.25; nothing rounds the 1.25, so that 5.75 / 0.5 + 1.25 is 12.75."""
    node = make_node("torch.quantize_per_channel", quantized="uint8", attributes=FLOAT_POINT)
    assert result(node, [[3.0, 5.75, -1.0, 200.0]], [0.5], [1.25]) == [7, 13, 0, 255]


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")  # deprecated since 2.13
@pytest.mark.parametrize("kind", ["quint8", "qint8"])
def test_torch_adds_a_float_zero_point_to_the_product_with_the_inverse(kind: str) -> None:
    """As its observers say; the comment on its own quantizer would give 4 and 9."""
    torch = pytest.importorskip("torch")
    x, scales, points = torch.tensor([[3.0, 5.75]]), torch.tensor([0.5]), torch.tensor([1.25])
    found = torch.quantize_per_channel(x, scales, points, 0, getattr(torch, kind))
    assert found.int_repr().tolist() == [[7, 13]]


def test_the_inverse_of_a_scale_is_a_step_of_its_own_where_zero_points_are_floats() -> None:
    """7.5 * 0.640625 goes to 8 exactly; times the rounded inverse it is below 7.5, which working precision allows."""
    node = make_node("torch.quantize_per_channel", quantized="int8", attributes=FLOAT_POINT)
    arrays = (np.array([[4.8046875]], np.float32), np.array([0.640625], np.float32), np.zeros(1, np.float32))
    (problem,) = problems_of(Case("by-hand", node, arrays))
    for solve in (oracle.solve, kernel.solve):
        found = [int(solve(problem, working=working, mode=EVEN)[0][0]) for working in (False, True)]
        assert found == [8, 7]
