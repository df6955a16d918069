"""TOSA's reference model as a program: for tensors of 48 bits, which its Python binding takes none of.

A process runs one serialized graph. Its tensors are files of NumPy's format, those of 48 bits of int64.
"""

from __future__ import annotations

import subprocess
import tempfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

NAMES = ("graph.tosa", "input.npy", "output.npy")
RUN = """
import subprocess
import tempfile
from importlib.metadata import distribution
from pathlib import Path

program = Path(distribution("tosa-tools").locate_file("bin/tosa_reference_model"))
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "graph.tosa").write_bytes(bytes(graph.serialize()))
    np.save(Path(folder, "input.npy"), x)
    subprocess.run(
        [program, "--tosa_file=graph.tosa", "--ifm_name=input", "--ifm_file=input.npy", f"--ofm_name={output.name}",
         "--ofm_file=output.npy", f"--flatbuffer_dir={folder}", f"--output_dir={folder}"],
        check=True, cwd=folder,
    )
    found = np.load(Path(folder, "output.npy"))
"""


def program() -> Path:
    return Path(str(distribution("tosa-tools").locate_file("bin/tosa_reference_model")))


def run_program(graph: bytes, x: Array, output: str) -> Array:
    """The output of this name. Unsupported, with the model's message, if it gives none: of an unpredictable graph, too.

    It finds no debugger, which it would start at an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        serialized, given, found = (Path(folder, name) for name in NAMES)
        serialized.write_bytes(graph)
        np.save(given, x)
        done = subprocess.run(arguments(folder, output), cwd=folder, env={"PATH": ""}, capture_output=True, text=True)
        if done.returncode or not found.is_file():
            raise Unsupported(f"{result(done.stdout + done.stderr)}: {reason(done.stdout + done.stderr)}")
        loaded: Array = np.load(found)
    return loaded


def arguments(folder: str, output: str) -> list[str]:
    graph, given, found = NAMES
    tensors = ["--ifm_name=input", f"--ifm_file={given}", f"--ofm_name={output}", f"--ofm_file={found}"]
    return [str(program()), f"--tosa_file={graph}", *tensors, f"--flatbuffer_dir={folder}", f"--output_dir={folder}"]


def result(said: str) -> str:
    lines = [line.strip() for line in said.splitlines()]
    return next((line.rstrip(".") for line in lines if line.startswith("Graph result")), "no graph result")


def reason(said: str) -> str:
    """What the model wrote first about RESCALE, or about anything."""
    lines = [line.strip() for line in said.splitlines()]
    return next((line for line in lines if line.startswith("OpRescale")), next(filter(None, lines), "it says nothing"))
