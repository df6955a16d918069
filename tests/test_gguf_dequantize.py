"""gguf.Dequantize: numbers computed by hand, causes of wrong backends, real libraries where they are installed."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wrong_gguf_dequantize as wg
from causes_of_records import causes_of_records
from hypothesis import given, settings
from test_gguf_in_libraries import REFERENCES, loaded

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.kernels.gguf_dequantize import LOOPS
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = wg.OPERATOR
READERS = (*REFERENCES, "tinygrad")
BOXES = {box.name.removeprefix("gguf back: "): box.run for box in wg.WRONG}
# The wrong backend, the type of its elements, and the cause of all that it gets wrong.
NAMED = (
    ("8 is not subtracted", "uint4", "ignores-zero-point"),
    ("7.5 is subtracted", "uint4", "subtracts-seven-and-a-half"),
    ("the upper four bits first", "uint4", "nibbles:high before low"),
    ("neighbours share a byte", "uint4", "nibbles:neighbours in a byte"),
    ("neighbours exchanged", "uint4", "nibbles:neighbours exchanged"),
    ("bytes without a sign", "int8", "input-as-unsigned"),
    ("no scale", "int8", "ignores-scale"),
    ("no scale, of nibbles", "uint4", "ignores-scale"),
    ("absolute scale", "int8", "scale-without-sign"),
    ("subnormal scales flushed", "int8", "flushes-scales"),
    ("the product in float16", "int8", "product-in:float16"),
)


def case_of(quantized: str, elements: list[int], *scales: float) -> Case:
    node = make_node(OPERATOR, quantized=quantized)
    x = np.array(elements).astype(numpy_dtype(quantized))
    return Case("a", node, (x, np.array(scales, np.float16)), "typed")


def solved(case: Case) -> list[float]:
    (problem,) = problems_of(case)
    codes, states = oracle.solve(problem, working=False)
    assert not (states == UNDEFINED).any()
    return codes.astype(np.uint32).view(np.float32).tolist()  # type: ignore[no-any-return]


def test_blocks_by_hand() -> None:
    found = solved(case_of("int8", [-128, 127, 3] + [0] * 29 + [2] * 32, 0.5, -2))
    assert (found[:4], found[32:]) == ([-64, 63.5, 1.5, 0], [-4] * 32)
    assert solved(case_of("uint4", [0, 15, 8, 9] + [7] * 28, 0.25))[:5] == [-2, 1.75, 0, 0.25, -0.25]
    assert solved(case_of("int8", [1, 127] * 16, 2.0**-24))[:2] == [2.0**-24, 127 * 2.0**-24]
    assert solved(case_of("int8", [-128] * 32, 65504.0))[0] == -128 * 65504.0


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf])
def test_a_scale_that_is_no_number_leaves_its_block_open(scale: float) -> None:
    (problem,) = problems_of(case_of("uint4", [8] * 64, scale, 1.0))
    for working in (False, True):
        assert (oracle.solve(problem, working=working)[1] == UNDEFINED).tolist() == [True] * 32 + [False] * 32


def test_a_part_of_a_block_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a row of 33 elements has a part of a block of 32"):
        problems_of(case_of("int8", [1] * 33, 1.0, 1.0))


def test_there_is_one_scale_for_each_block() -> None:
    case = case_of("int8", [1] * 64, 1.0)
    with pytest.raises(InvalidInput, match="one for each block"):
        problems_of(case)
    scalar = Case("a", case.node, (np.array(1, np.int8), np.array(1, np.float16)), "typed")
    with pytest.raises(InvalidInput, match="no axis"):
        problems_of(scalar)


@settings(max_examples=150, deadline=None)
@given(cases(operator=OPERATOR))
def test_kernel_and_oracle_agree_on_what_is_drawn(case: Case) -> None:
    (problem,) = problems_of(case)
    for working in (False, True):
        codes, states = oracle.solve(problem, working=working)
        found, same = LOOPS[problem.formula](problem, working, "")
        assert (found == codes).all() and (same == states).all()


def named(run: Any, quantized: str) -> Counter[str]:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    for case in indexed_cases(VECTORS / file_name(OPERATOR, quantized, "float32")):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)


@pytest.mark.few(2)
@pytest.mark.parametrize(("box", "quantized", "key"), NAMED, ids=[box for box, _, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, quantized: str, key: str) -> None:
    counts = named(BOXES[box], quantized)
    assert set(counts) == {sentence_of(key)}, counts


# Real libraries


@pytest.mark.parametrize("quantized", ["int8", "uint4"])
@pytest.mark.parametrize("name", READERS)
def test_it_deviates_in_no_vector(name: str, quantized: str) -> None:
    backend, ran = loaded(name), 0
    for case in indexed_cases(VECTORS / file_name(OPERATOR, quantized, "float32")):
        try:
            outputs = backend.compile(case.node)(*case.inputs)
        except Unsupported:
            continue
        ran += 1
        assert not judge_outputs(outputs, truths_of(case)).count(DEVIATES), case.id
    assert ran >= 8


@pytest.mark.parametrize("quantized", ["int8", "uint4"])
@pytest.mark.parametrize("name", READERS)
def test_its_script_gives_the_same_bits(name: str, quantized: str, tmp_path: Path) -> None:
    backend, kind = loaded(name), numpy_dtype(quantized)
    elements, scales = (np.arange(64) % 16).astype(kind).reshape(2, 32), np.array([[0.1], [-3]], np.float16)
    node = make_node(OPERATOR, quantized=quantized)
    wanted = backend.compile(node)(elements, scales)[0].tolist()
    head = f"import ml_dtypes\nimport numpy as np\n\nelements = np.array({elements.astype(int).tolist()!r})"
    head += f".astype({'np.int8' if quantized == 'int8' else 'ml_dtypes.uint4'})\n"
    head += f"scales = np.array({scales.tolist()!r}, np.float16)\n"
    script = head + backend.reproducer(node, (elements, scales)) + "print(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)


@pytest.mark.parametrize("name", READERS)
def test_a_part_of_a_block_is_refused_in_words(name: str) -> None:
    node = make_node(OPERATOR, quantized="int8")
    with pytest.raises(Unsupported, match="32 elements"):
        loaded(name).compile(node)(np.ones(33, np.int8), np.ones(2, np.float16))


def test_the_cpus_vectors_have_no_way_back() -> None:
    with pytest.raises(Unsupported, match="no to_float"):
        loaded("ggml-cpu").compile(make_node(OPERATOR, quantized="int8"))


def test_tinygrad_writes_no_blocks() -> None:
    with pytest.raises(Unsupported, match="reads GGUF's blocks and writes none"):
        loaded("tinygrad").compile(make_node("gguf.Quantize", quantized="int8"))
