"""Runs an emulator's file on elements: the file itself, not what it was written from."""

from __future__ import annotations

import importlib.util
import math
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.emulators.files import Emulated
from tiebreak.conformance.emulators.python_source import byte_for
from tiebreak.conformance.semantics.model import codes
from tiebreak.golden.elements import FLOAT_TYPES, SMALL_FLOAT_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.problem import Array

Run = Callable[..., Array]  # of arrays: the inputs of each element; the results
NEEDED = {"torch": "torch", "onnx": "onnx"}  # packages, by target
COMPILER_LIMIT, RUN_LIMIT = 120, 600  # seconds


def check_tools(target: str) -> None:
    """Raise InvalidInput if a file for this target can't be compared here."""
    package = NEEDED.get(target)
    if package and importlib.util.find_spec(package) is None:
        raise InvalidInput(f"an emulator for {target} is compared by running it: pip install 'tiebreak[{package}]'")
    if target == "c" and not shutil.which("cc"):
        raise InvalidInput("an emulator in C is compared by running it, and there is no C compiler, cc")


def loaded(path: Path, function: str) -> Callable[..., Any]:
    """A function of a Python file."""
    spec = importlib.util.spec_from_file_location(f"emulator_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise MachineryFailed(f"{path} can't be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, function)
    return found


def run_of_numpy(path: Path, one: Emulated) -> Run:
    function = loaded(path, one.function)
    return lambda *operands: np.asarray(function(*operands))


def run_of_torch(path: Path, one: Emulated) -> Run:
    import torch

    function, kind = loaded(path, one.function), one.goal

    def tensor(array: Array) -> Any:
        if is_of_words(array.dtype.name):
            word = f"int{8 * array.itemsize}"
            return torch.from_numpy(array.view(word)).view(getattr(torch, array.dtype.name))
        whole = array.dtype.name not in FLOAT_TYPES
        return torch.from_numpy(array.astype(np.int64) if whole else array)

    def run(*operands: Array) -> Array:
        found = function(*map(tensor, operands))
        if is_of_words(kind):
            word = torch.int16 if kind == "bfloat16" else torch.int8
            return np.asarray(found.view(word).numpy().view(numpy_dtype(kind)))
        return as_type(found.numpy(), kind)

    return run


def is_of_words(kind: str) -> bool:
    """Whether PyTorch has a type that NumPy lacks: its tensors come from integers of as many bits."""
    return kind == "bfloat16" or kind in SMALL_FLOAT_TYPES


def run_of_c(path: Path, one: Emulated) -> Run:
    program = path.with_suffix(".out")
    options = ("-std=c99", "-O2", "-Wall", "-Werror", "-Wno-unused-function")
    compiled = subprocess.run(
        ["cc", *options, "-o", str(program), str(path), "-lm"],
        capture_output=True, text=True, timeout=COMPILER_LIMIT, check=False,
    )  # fmt: skip
    if compiled.returncode:
        raise MachineryFailed(f"the emulator does not compile: {compiled.stderr.strip()[:300]}")

    def run(*operands: Array) -> Array:
        with np.errstate(all="ignore"):  # of a signalling NaN
            rows = zip(*(map(in_c, operand.astype(np.float64).tolist()) for operand in operands), strict=True)
        text = "".join(f"{' '.join(row)}\n" for row in rows)
        done = subprocess.run([str(program)], input=text, capture_output=True, text=True, timeout=RUN_LIMIT, check=True)
        return as_type(np.array(done.stdout.split(), np.float64), one.goal)

    return run


def in_c(value: float) -> str:
    """A number as C reads it; NaN keeps its sign."""
    return "-nan" if value != value and math.copysign(1.0, value) < 0 else repr(value)


def run_of_onnx(path: Path, one: Emulated) -> Run:
    """In ONNX's reference evaluator; and in ONNX Runtime, whose results count where the two differ."""
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(str(path))

    def run(*operands: Array) -> Array:
        with np.errstate(all="ignore"):
            (found,) = evaluator.run(None, dict(zip(one.names, operands, strict=True)))
        also, mine = answers_of_onnxruntime(path, operands), np.asarray(found)
        if also is not None and one.goal in SMALL_FLOAT_TYPES:
            also = also.view(numpy_dtype(one.goal))  # ONNX Runtime gives bytes
        return mine if also is None or np.array_equal(codes(mine), codes(also)) else also

    return run


def answers_of_onnxruntime(path: Path, operands: Sequence[Array]) -> Array | None:
    """None if it isn't installed, or does not take the model's types or operators."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    import onnxruntime

    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), quiet, providers=["CPUExecutionProvider"])
        (found,) = session.run(None, dict(zip((one.name for one in session.get_inputs()), operands, strict=True)))
    except Exception:  # each refusal has a class of its own, under no common one
        return None
    return np.asarray(found)


def as_type(values: Array, kind: str) -> Array:
    """Numbers that a type holds, in that type; ml_dtypes makes integers of few bits of bytes alone."""
    return values.astype(numpy_dtype(byte_for(kind))).astype(numpy_dtype(kind))


RUNS: Mapping[str, Callable[[Path, Emulated], Run]] = {
    "numpy": run_of_numpy,
    "torch": run_of_torch,
    "c": run_of_c,
    "onnx": run_of_onnx,
}
