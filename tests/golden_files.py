"""Which files of golden/ compute an operator, as the registries have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_type_hints

from tiebreak.golden import kernel, oracle, rounding
from tiebreak.golden.formulas import FORMULAS
from tiebreak.golden.kernels import LOOPS
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import Elementwise, Quantization

GOLDEN = Path(__file__).parent.parent / "golden"


def problems(spec: Operator) -> set[type]:
    """The classes of the problems that an operator poses, by its pose function's annotation."""
    (problem, _) = get_args(get_type_hints(spec.pose)["return"])
    return set(get_args(problem)) or {problem}


def keys(spec: Operator) -> list[str]:
    """What FORMULAS and LOOPS have of an operator: its id, and "id:output" for each further output."""
    if Elementwise not in problems(spec):
        return []
    return [spec.id, *(f"{spec.id}:{output}" for output in spec.outputs[1:])]


def file_name(spec: Operator) -> str:
    """What the operator's files are called in operators/, formulas/ and kernels/; the module that poses it says it."""
    return spec.pose.__module__.rpartition(".")[2]


def source(module: str, suffix: str = ".py") -> Path:
    """The file of a module below tiebreak.golden, compiled or not."""
    return GOLDEN.joinpath(*module.removeprefix("tiebreak.golden.").split(".")).with_suffix(suffix)


def formula_files(spec: Operator) -> list[Path]:
    """Where the oracle computes an operator; the rounding modes are part of every formula."""
    functions: list[Any] = [FORMULAS[key] for key in keys(spec)]
    functions += [oracle.quantize] if Quantization in problems(spec) else []
    return sorted({source(function.__module__) for function in functions} | {source(rounding.__name__)})


def kernel_files(spec: Operator) -> list[Path]:
    """Where the kernel computes an operator; plain quantizations are kernel.py's, _kernel.pyx's and its headers'."""
    files = {source(LOOPS[key].__module__, ".pyx") for key in keys(spec)}
    if Quantization in problems(spec):
        files |= {source(kernel.__name__), GOLDEN / "_kernel.pyx", *GOLDEN.glob("kernels/*.h")}
    return sorted(files)
