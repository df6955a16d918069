"""A cold `tiebreak audit`, a new process each time; and comparing every input, beside the same with NumPy alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from audit_in_numpy import inputs_compared

from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.audit.proof import Comparison, settings_of
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.precisions import FLOAT64
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_facets import AFTER, Combination
from tiebreak.conformance.semantics.quantize_saturation import SATURATE
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE
from tiebreak.conformance.semantics.round_modes import AWAY, MODES
from tiebreak.conformance.semantics.subnormals import KEPT
from tiebreak.golden.errors import MachineryFailed

BACKEND = f"{Path(__file__).with_name('wrong.py')}:TiesUpward"
COLD = {
    "cold audit": ["-m", "tiebreak", "audit", BACKEND, "--operator", "onnx.QuantizeLinear", "--type", "uint8"],
    "import NumPy": ["-c", "import numpy"],
}
ATTRIBUTES = {"axes": (), "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
PLAIN = (FLOAT64, DIVIDE, KEPT, AFTER)
PAIR = [Combination(*PLAIN, mode, SATURATE) for mode in (MODES["ROUND_NEAREST_TOWARD_INFINITY"], AWAY)]
PREDICTIONS = 32_000_000


def measure(rounds: int, predictions: int = PREDICTIONS) -> dict[str, Any]:
    """A row for each way, the quickest of the rounds; in each round all take turns."""
    ways: dict[str, Callable[[], object]] = {name: partial(started, name) for name in COLD}
    ways |= {name: partial(way, predictions) for name, way in COMPARED.items()}
    tried = [[timed(name, way) for name, way in ways.items()] for _ in range(rounds)]
    rows = [min(rows, key=lambda row: float(row["cpu_seconds"])) for rows in zip(*tried, strict=True)]
    return {"rounds": rounds, "inputs": compared(predictions), "rows": rows}


def timed(name: str, way: Callable[[], object]) -> dict[str, Any]:
    """Seconds, and processor time of this process and its children."""
    begun, used = time.perf_counter(), sum(os.times()[:4])
    way()
    seconds = time.perf_counter() - begun
    return {"way": name, "seconds": seconds, "cpu_seconds": sum(os.times()[:4]) - used}


def started(name: str) -> None:
    """Runs the whole command, in a process of its own that keeps what it compiles, as Python usually does."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, *COLD[name]], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise MachineryFailed(f"{name}: {done.stderr[-300:]}")


def compared(predictions: int) -> int:
    """The number of inputs on which an audit compares two semantics that are left."""
    arithmetic, first = setting()
    comparison = Comparison(arithmetic, predictions)
    comparison.compare(PAIR, first)
    return comparison.inputs


def compared_with_numpy(predictions: int) -> int:
    return inputs_compared(*setting(), PAIR, predictions)


def setting() -> tuple[QuantizeArithmetic, Probe]:
    """Results of 32 bits, of which an audit without --exhaustive compares only a part."""
    arithmetic = arithmetic_of(audited_node("ngraph.Quantize", ATTRIBUTES, "float32", "int32", 0))
    if not isinstance(arithmetic, QuantizeArithmetic):
        raise TypeError(type(arithmetic).__name__)
    arithmetic.assume()
    return arithmetic, settings_of(list(arithmetic.first_probes()))[0]


COMPARED = {"compare every input": compared, "the same with NumPy": compared_with_numpy}
