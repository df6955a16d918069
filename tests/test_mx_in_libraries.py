"""Real libraries that quantize in blocks, where they are installed beside Tiebreak."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = "ocp.MXQuantize"
LIBRARIES = ("mlx", "torchao")
TIES = [4.0, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, -0.25]


def loaded(name: str) -> Any:
    if not is_beside(name):
        pytest.skip(f"{name} is not installed beside Tiebreak")
    return load_backend(name)


def node_of(to: str, mode: str = "rceil", real: str = "float32") -> Node:
    return make_node(OPERATOR, real=real, quantized=to, attributes={"scaling_mode": mode})


def block(*values: float) -> np.ndarray:
    x = np.zeros((1, 32), np.float32)
    x[0, : len(values)] = values
    return x


def answer(name: str, to: str, mode: str, *values: float) -> tuple[list[float], int]:
    """The elements of these values and their scale's exponent."""
    elements, scales = loaded(name).compile(node_of(to, mode))(block(*values))
    assert elements.shape == (1, 32) and scales.shape == (1, 1)
    return elements.astype(float)[0, : len(values)].tolist(), int(scales.view(np.uint8)[0, 0]) - 127


def test_ties_between_elements_of_4_bits() -> None:
    """To even in torchao; in MLX toward zero."""
    even = [4.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 0.0]
    assert answer("torchao", "float4_e2m1fn", "rceil", *TIES) == (even, 0)
    assert answer("mlx", "float4_e2m1fn", "rceil", *TIES) == ([4.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 0.0], 0)


@pytest.mark.parametrize("name", LIBRARIES)
def test_float_8_elements_round_to_even_and_saturate(name: str) -> None:
    assert answer(name, "float8_e4m3fn", "rceil", 448.0, 1.0625, 1.1875, -1.0625) == ([448.0, 1.0, 1.25, -1.0], 0)
    assert answer(name, "float8_e4m3fn", "rceil", 449.0)[1] == 1


def test_where_the_scale_is_carried() -> None:
    """One ulp beyond 448 * 2^10: MLX carries, torchao's log2 has rounded to 10 before it is rounded up."""
    amax = float(np.nextafter(np.float32(448 * 1024), np.float32(np.inf)))
    assert answer("mlx", "float8_e4m3fn", "rceil", amax) == ([224.0], 11)
    assert answer("torchao", "float8_e4m3fn", "rceil", amax) == ([448.0], 10)


def test_the_least_scale() -> None:
    """torchao divides by 2^-126, or with rceil by 1; MLX's exponent wraps around for a smaller one."""
    amax = 1.5 * 2.0**-119
    assert answer("torchao", "float8_e4m3fn", "floor", amax) == ([192.0], -127)
    assert answer("torchao", "float8_e4m3fn", "rceil", amax) == ([0.0], -127)
    assert answer("mlx", "float8_e4m3fn", "rceil", amax) == ([384.0], -127)
    assert answer("mlx", "float8_e4m3fn", "rceil", 2.0**-130) == ([256.0], 118)


@pytest.mark.parametrize("to", ["float8_e4m3fn", "float8_e5m2", "float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn"])
def test_torchao_deviates_in_the_vectors_of_these_themes_alone(to: str) -> None:
    """Two implementations that know nothing of each other agree on everything else."""
    backend, deviating, ran = loaded("torchao"), set(), 0
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", to)):
        try:
            outputs = backend.compile(case.node)(*case.inputs)
        except Unsupported:
            continue
        ran += 1
        if judge_outputs(outputs, truths_of(case)).count(DEVIATES):
            deviating.add(case.id.rpartition("/")[2])
    assert deviating <= {"rceil-carries", *(f"{mode}-least-scales" for mode in ("floor", "ceil", "even", "rceil"))}
    assert ran > 40


@pytest.mark.parametrize("to", ["float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn"])
def test_ml_dtypes_deviates_in_no_vector(to: str) -> None:
    """A third implementation, the only one of elements of 6 bits beside torchao's."""
    backend, ran = load_backend("ml_dtypes"), 0
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", to)):
        if case.node.value("scaling_mode") == "floor":
            outputs = backend.compile(case.node)(*case.inputs)
            assert not judge_outputs(outputs, truths_of(case)).count(DEVIATES), case.id
            ran += 1
    assert ran > 10


@pytest.mark.parametrize("to", ["float8_e4m3fn", "float8_e5m2", "int8"])
def test_ml_dtypes_is_not_asked_for_what_it_would_not_saturate(to: str) -> None:
    with pytest.raises(Unsupported, match=r"no conversion to .* that saturates"):
        load_backend("ml_dtypes").compile(make_node(OPERATOR, quantized=to))


@pytest.mark.parametrize(
    ("name", "to", "mode", "real"),
    [
        *((name, "float8_e4m3fn", "rceil", "bfloat16") for name in LIBRARIES),
        *((name, "float4_e2m1fn", "rceil", "float32") for name in LIBRARIES),
        ("ml_dtypes", "float4_e2m1fn", "floor", "bfloat16"),
        ("ml_dtypes", "float6_e3m2fn", "floor", "float32"),
    ],
)
def test_its_script_gives_the_same_bits(name: str, to: str, mode: str, real: str, tmp_path: Path) -> None:
    backend, node, x = loaded(name), node_of(to, mode, real), block(*TIES).tolist()
    array = np.array(x, np.float32).astype(node.inputs[0].dtype)
    wanted = [output.view(np.uint8).tolist() for output in backend.compile(node)(array)]
    kind = "ml_dtypes.bfloat16" if real == "bfloat16" else "np.float32"
    head = f"import ml_dtypes\nimport numpy as np\n\nx = np.array({x!r}, {kind})\n"
    tail = "print([output.view(np.uint8).tolist() for output in outputs])\n"
    (tmp_path / "script.py").write_text(head + backend.reproducer(node, (array,)) + tail, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)


@pytest.mark.parametrize("name", LIBRARIES)
def test_it_attests_itself_and_refuses_in_words(name: str) -> None:
    backend = loaded(name)
    facts = backend.attest()
    assert facts["library"] and facts[name] == backend.version and all(isinstance(v, str) for v in facts.values())
    with pytest.raises(Unsupported, match="int8"):
        backend.compile(make_node(OPERATOR, quantized="int8"))
    with pytest.raises(Unsupported, match="divisible"):
        backend.compile(node_of("float4_e2m1fn"))(np.ones((2, 33), np.float32))


def test_mlx_is_asked_in_its_own_way_alone() -> None:
    backend = loaded("mlx")
    with pytest.raises(Unsupported, match="in one way, which is that of rceil"):
        backend.compile(node_of("float4_e2m1fn", "floor"))
    with pytest.raises(Unsupported, match="at least 2 dimension"):
        backend.compile(node_of("float4_e2m1fn"))(np.ones(32, np.float32))
