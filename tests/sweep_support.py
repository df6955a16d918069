"""What the tests of sweeps have in common."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from tiebreak.cli import main
from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep.job import space_of
from tiebreak.golden.space import Space

SAMPLES = Path(__file__).parent / "sample_sweep_backends.py"


HALF = ["--operator", "onnx.QuantizeLinear", "--input-type", "float16", "--type", "uint8"]


DOUBLE = [
    "--operator",
    "ngraph.Quantize",
    "--input-type",
    "float64",
    "--attr",
    "round_mode=ROUND_UP",
    "--attr",
    "axes=[]",
]


FIXED = [*HALF, "--input", "y_scale=0.1", "--input", "y_zero_point=128"]


def sample(name: str) -> str:
    return f"{SAMPLES}:{name}"


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *arguments])


def half_space(**inputs: str) -> Space:
    return space_of(Selection(("onnx.QuantizeLinear",), {}, "float16", "uint8", inputs=inputs))
