"""Real libraries that write GGUF's blocks, where they are installed beside Tiebreak."""

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

OPERATOR = "gguf.Quantize"
NAMES = ("ggml", "ggml-cpu", "gguf")
REFERENCES = ("ggml", "gguf")
TO = ("int8", "uint4")


def loaded(name: str) -> Any:
    library = name.partition("-")[0]
    if not is_beside(library):
        pytest.skip(f"{library} is not installed beside Tiebreak")
    return load_backend(name)


def node_of(to: str) -> Node:
    return make_node(OPERATOR, quantized=to)


def answer(name: str, to: str, *values: float) -> tuple[list[int], float]:
    """The elements of these values and their block's scale; zeros follow."""
    x = np.zeros((1, 32), np.float32)
    x[0, : len(values)] = values
    elements, scales = loaded(name).compile(node_of(to))(x)
    assert elements.shape == (1, 32) and scales.shape == (1, 1)
    return elements.astype(int)[0, : len(values)].tolist(), float(scales[0, 0])


def test_ties_of_8_bits() -> None:
    """Away from zero in both references; the CPU's vectors take the even one."""
    ties = 127.0, 0.5, -2.5, 3.5
    for name in REFERENCES:
        assert answer(name, "int8", *ties) == ([127, 1, -3, 4], 1)
    assert answer("ggml-cpu", "int8", *ties) == ([127, 0, -2, 4], 1)


@pytest.mark.parametrize("name", NAMES)
def test_4_bits(name: str) -> None:
    """The number of greatest magnitude becomes 0; its negative would be 16."""
    assert answer(name, "uint4", 8.0, -8.0, 1.0, 0.0, -0.5) == ([0, 15, 7, 8, 9], -1)
    assert answer(name, "uint4", -8.0, 7.5, 0.5, -0.5) == ([0, 15, 9, 8], 1)


@pytest.mark.parametrize("name", NAMES)
def test_both_halves_of_a_block_are_read_where_they_belong(name: str) -> None:
    x = np.arange(-16, 16, dtype=np.float32)[None] / 2
    elements, _ = loaded(name).compile(node_of("uint4"))(x)
    assert elements.astype(int).tolist() == [[min((n + 1) // 2, 15) for n in range(32)]]


def test_a_zero_step_of_8_bits() -> None:
    """d is zero, so the elements are; the CPU's vectors divide 127 by the number itself."""
    for name in REFERENCES:
        assert answer(name, "int8", 2.0**-149, 0.0) == ([0, 0], 0)
    assert answer("ggml-cpu", "int8", 2.0**-149, 0.0) == ([-128, -128], 0)


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("name", NAMES)
def test_it_deviates_in_the_vectors_of_these_themes_alone(name: str, to: str) -> None:
    backend, found, ran = loaded(name), set(), 0
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", to)):
        try:
            outputs = backend.compile(case.node)(*case.inputs)
        except Unsupported:
            continue
        ran += 1
        if judge_outputs(outputs, truths_of(case)).count(DEVIATES):
            found.add(case.id.rpartition("/")[2])
    vectors = {"ties", "quotients", "scale-midpoints", "least-steps", "beside-ties", "scale-values"}
    assert found <= (vectors if (name, to) == ("ggml-cpu", "int8") else set()) and ran > 15


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("name", NAMES)
def test_its_script_gives_the_same_bits(name: str, to: str, tmp_path: Path) -> None:
    backend, x = loaded(name), (np.arange(64, dtype=np.float32).reshape(2, 32) - 20) / 3
    elements, scales = backend.compile(node_of(to))(x)
    head = f"import ml_dtypes\nimport numpy as np\n\nx = np.array({x.tolist()!r}, np.float32)\n"
    tail = "print(outputs[0].astype(int).tolist(), outputs[1].tolist())\n"
    (tmp_path / "script.py").write_text(head + backend.reproducer(node_of(to), (x,)) + tail, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{elements.astype(int).tolist()} {scales.tolist()}"


@pytest.mark.parametrize(("name", "words"), [("ggml", "GGML_ASSERT"), ("ggml-cpu", "GGML_ASSERT"), ("gguf", "33")])
def test_a_part_of_a_block_is_refused_in_words(name: str, words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        loaded(name).compile(node_of("int8"))(np.ones((2, 33), np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_it_tells_what_ran(name: str) -> None:
    facts = loaded(name).attest()
    assert facts["library"] and facts["kernel"] and all(isinstance(text, str) for text in facts.values())
