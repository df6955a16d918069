"""Which files of golden/ compute an operator; test_registries.py holds this against where the functions really are."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

from tiebreak.golden import oracle
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import Elementwise, Quantization

GOLDEN = Path(__file__).parent.parent / "golden"
MODES = GOLDEN / "rounding.py"
PLAIN_KERNEL = [GOLDEN / "kernel.py", GOLDEN / "_kernel.pyx", *sorted(GOLDEN.glob("kernels/*.h"))]


def problems(spec: Operator) -> set[type]:
    """The classes of the problems that an operator poses, by the annotation of its `problems`."""
    (problem, _) = get_args(get_type_hints(spec.problems)["return"])
    return set(get_args(problem)) or {problem}


def keys(spec: Operator) -> list[str]:
    """What FORMULAS and LOOPS have of an operator: its id, and "id:output" for each further output."""
    if Elementwise not in problems(spec):
        return []
    return [spec.id, *(f"{spec.id}:{output}" for output in spec.outputs[1:])]


def file_name(spec: Operator) -> str:
    """What the operator's files are called in operators/, formulas/ and kernels/; the module that poses it says it."""
    return spec.problems.__module__.rpartition(".")[2]


def source(module: str, suffix: str = ".py") -> Path:
    """The file of a module below tiebreak.golden, compiled or not."""
    return GOLDEN.joinpath(*module.removeprefix("tiebreak.golden.").split(".")).with_suffix(suffix)


def formula_files(spec: Operator) -> list[Path]:
    """Where the oracle computes any node of an operator; the rounding modes are part of every formula."""
    return [GOLDEN / "formulas" / f"{file_name(spec)}.py", MODES]


def kernel_files(spec: Operator) -> list[Path]:
    """Where the kernel computes any node of an operator: its own file, or those for plain quantizations."""
    return [GOLDEN / "kernels" / f"{file_name(spec)}.pyx"] if keys(spec) else PLAIN_KERNEL


def further_files(spec: Operator) -> set[Path]:
    """Where both compute its plain quantizations, if an operator has these among other nodes."""
    return {source(oracle.quantize.__module__), *PLAIN_KERNEL} if Quantization in problems(spec) else set()
