"""Real libraries that quantize to NVFP4, where they are installed beside Tiebreak."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_mx_in_libraries import loaded

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = "nvidia.NVFP4Quantize"
LIBRARIES = ("mlx", "torchao")
TIES = [6.0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, -0.75]
# Themes of vectors in which a library deviates, of one level and of two.
DEVIATING = {
    "torchao": {"least-scales", "no-scales", "zeros", "global-zeros", "global-end-3", "separating-scales-0"},
    "mlx": {"midpoints", "least-scales", "far-beyond", "places", "separating-elements-1"},
}


def node_of(*, levels: int = 1, real: str = "float32") -> Node:
    return make_node(OPERATOR, real=real, quantized="float4_e2m1fn", zero_point=levels > 1)


def answer(name: str, *values: float, whole: float | None = None) -> tuple[list[float], float]:
    """The elements of these values and their block's scale; another block beside it is zeros."""
    x = np.zeros((1, 32), np.float32)
    x[0, : len(values)] = values
    given = () if whole is None else (np.float32(whole).reshape(()),)
    elements, scales = loaded(name).compile(node_of(levels=1 + len(given)))(x, *given)
    assert elements.shape == (1, 32) and scales.shape == (1, 2)
    return elements.astype(float)[0, : len(values)].tolist(), float(scales[0, 0])


def test_ties_between_elements() -> None:
    """To even in torchao; in MLX toward zero."""
    assert answer("torchao", *TIES) == ([6, 0, 1, 1, 2, 2, 4, 4, -1], 1)
    assert answer("mlx", *TIES) == ([6, 0, 0.5, 1, 1.5, 2, 3, 4, -0.5], 1)


@pytest.mark.parametrize("name", LIBRARIES)
def test_scales_are_rounded_to_nearest_and_end_at_448(name: str) -> None:
    assert answer(name, 6.1875, 2.75) == ([6, 3], 1)
    assert answer(name, 6.375, 3) == ([6, 3], 1)
    assert answer(name, 2784.0, 448.0) == ([6, 1], 448)


@pytest.mark.parametrize("name", LIBRARIES)
def test_global_amax_is_the_tensors_greatest_magnitude(name: str) -> None:
    for whole, scale in ((2688, 1), (6, 448), (12, 224)):
        assert answer(name, 6, 3, -1, whole=whole) == ([6, 3, -1], scale)


def test_the_least_scale() -> None:
    """torchao gives none below 2^-6, the least normal E4M3; MLX gives subnormal ones, and zero."""
    values = 6 * 2.0**-9, 1.5 * 2.0**-9
    assert answer("torchao", *values) == ([1, 0], 2.0**-6)
    assert answer("mlx", *values) == ([6, 1.5], 2.0**-9)
    assert answer("torchao", 0.0) == ([0], 2.0**-6)
    assert answer("mlx", 0.0) == ([0], 0)


def test_far_beyond_the_largest_scale() -> None:
    """In float32 every element of MLX is as far from it, so the first one is taken, which is 0."""
    assert answer("torchao", 2.0**38, -(2.0**38)) == ([6, -6], 448)
    assert answer("mlx", 2.0**38, -(2.0**38)) == ([0, 0], 448)


def themes(name: str, prefix: str) -> tuple[set[str], int]:
    """The themes of vectors in which a library deviates, and how many ran, of those whose name begins so or not."""
    backend, found, ran = loaded(name), set(), 0
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", "float4_e2m1fn")):
        theme = case.id.rpartition("/")[2]
        if theme.startswith("global") != (prefix == "global"):
            continue
        try:
            outputs = backend.compile(case.node)(*case.inputs)
        except Unsupported:
            continue
        ran += 1
        if judge_outputs(outputs, truths_of(case)).count(DEVIATES):
            found.add(theme)
    return found, ran


@pytest.mark.parametrize("name", LIBRARIES)
def test_it_deviates_in_the_vectors_of_these_themes_alone(name: str) -> None:
    """On one level two implementations that know nothing of each other agree on everything else."""
    found, ran = themes(name, "")
    assert found <= DEVIATING[name] and ran > 12, found


@pytest.mark.parametrize("name", LIBRARIES)
def test_on_two_levels_it_deviates_at_ties_by_the_order_of_its_steps(name: str) -> None:
    found, ran = themes(name, "global")
    ordered = {theme for theme in found if theme.startswith(("global-midpoints", "global-scales", "global-separating"))}
    assert found - ordered <= DEVIATING[name] and ran > 12, found


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize(("levels", "real"), [(1, "bfloat16"), (2, "float32")])
def test_its_script_gives_the_same_bits(name: str, levels: int, real: str, tmp_path: Path) -> None:
    backend, node = loaded(name), node_of(levels=levels, real=real)
    array = np.resize(np.array(TIES, np.float32), (2, 32)).astype(node.inputs[0].dtype)
    inputs: tuple[Any, ...] = (array, np.float32(5).reshape(()))[:levels]
    wanted = [output.view(np.uint8).tolist() for output in backend.compile(node)(*inputs)]
    kind = "ml_dtypes.bfloat16" if real == "bfloat16" else "np.float32"
    head = f"import ml_dtypes\nimport numpy as np\n\nx = np.array({array.astype(float).tolist()!r}, {kind})\n"
    head += "global_amax = np.array(5, np.float32)\n"
    tail = "print([output.view(np.uint8).tolist() for output in outputs])\n"
    (tmp_path / "script.py").write_text(head + backend.reproducer(node, inputs) + tail, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)


@pytest.mark.parametrize("name", LIBRARIES)
def test_it_refuses_in_words(name: str) -> None:
    backend = loaded(name)
    with pytest.raises(Unsupported, match="divisible"):
        backend.compile(node_of())(np.ones((2, 33), np.float32))


def test_mlx_takes_no_odd_number_of_blocks() -> None:
    backend = loaded("mlx")
    with pytest.raises(Unsupported, match="Cannot reshape array of size 48"):
        backend.compile(node_of())(np.ones((1, 48), np.float32))
    elements, scales = backend.compile(node_of())(np.ones((2, 48), np.float32))
    assert elements.shape == (2, 48) and scales.shape == (2, 3)
