"""Which files of golden/ compute an operator; test_registries.py holds this against where the functions really are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import Elementwise, Quantization
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import vector_paths

GOLDEN = Path(__file__).parent.parent / "golden"
MODES = GOLDEN / "rounding.py"
PLAIN_KERNEL = [GOLDEN / "kernel.py", GOLDEN / "_kernel.pyx", *sorted(GOLDEN.glob("kernels/*.h"))]


def problems(spec: Operator) -> set[type]:
    """The classes of the problems that an operator poses, by the annotation of its `problems`."""
    said = get_args(get_type_hints(spec.problems).get("return"))
    assert len(said) == 2 and said[1] is ..., f"{spec.id}: its problems returns tuple[Elementwise, ...] or the like"
    problem = said[0]
    return set(get_args(problem)) or {problem}


def keys(spec: Operator) -> list[str]:
    """What TERMS has of an operator: its id, and "id:output" for each further output."""
    return [spec.id, *(f"{spec.id}:{output}" for output in spec.outputs[1:])]


def loop_keys(spec: Operator) -> list[str]:
    """What LOOPS has of an operator: as TERMS, but nothing of one that poses plain quantizations alone."""
    return keys(spec) if Elementwise in problems(spec) else []


def file_name(spec: Operator) -> str:
    """What the operator's files are called in operators/ and kernels/; the module that poses it says it."""
    return spec.problems.__module__.rpartition(".")[2]


def source(module: str, suffix: str = ".py") -> Path:
    """The file of a module below tiebreak.golden, compiled or not."""
    return GOLDEN.joinpath(*module.removeprefix("tiebreak.golden.").split(".")).with_suffix(suffix)


def kernel_files(spec: Operator) -> list[Path]:
    """Where the kernel computes any node of an operator: its own file, or those for plain quantizations."""
    return [GOLDEN / "kernels" / f"{file_name(spec)}.pyx"] if loop_keys(spec) else PLAIN_KERNEL


def further_files(spec: Operator) -> set[Path]:
    """Where the kernel computes its plain quantizations, if an operator has these among other nodes."""
    return set(PLAIN_KERNEL) if Quantization in problems(spec) else set()


def terms_of(spec: Operator) -> Iterator[Term]:
    """The operator's terms for the nodes of its golden vectors, one for each kind of node and output."""
    seen = set[str]()
    for path in vector_paths():
        if path.name.startswith(f"{spec.id}-"):
            for case in indexed_cases(path):
                kind = f"{case.node.attributes} {[one.name for one in case.node.inputs]} {path.name} {case.node.opset}"
                if kind not in seen:
                    seen.add(kind)
                    ends = ("ROUND_DOWN", "ROUND_UP") if spec.bounded(case.node.attributes) else ()
                    for key, problem in zip(keys(spec), problems_of(case), strict=True):
                        for mode in (problem.mode, *ends):
                            yield oracle.term_of(replace(problem, mode=mode), oracle.TERMS[key])
