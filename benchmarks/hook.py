"""What a pre-push hook costs: the gate of one backend and one operator against its baseline, in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import MachineryFailed

BACKEND = f"{Path(__file__).with_name('wrong.py')}:TiesUpward"
CHOSEN = ("--operator", "onnx.QuantizeLinear")


def measure(backends: Sequence[str], rounds: int, level: str = "quick") -> dict[str, Any]:
    """A row for each backend, the quickest of the rounds."""
    return {"rounds": rounds, "rows": [quickest(backend, rounds, level) for backend in backends]}


def quickest(backend: str, rounds: int, level: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tiebreak-hook-") as folder:
        words = ("-b", backend, *CHOSEN, "--level", level)
        tiebreak(("run", *words, "-o", "baseline"), folder, ends=(0, 1))
        tried = [gated(words, folder) for _ in range(rounds)]
    return {"backend": backend.split(":")[-1]} | min(tried, key=lambda row: row["seconds"])


def gated(words: Sequence[str], folder: str) -> dict[str, float]:
    """Seconds, and processor time of the process and its children."""
    begun, used = time.perf_counter(), sum(os.times()[2:4])
    tiebreak(("gate", "--discard", *words, "--baseline", "baseline"), folder, ends=(0,))
    return {"seconds": time.perf_counter() - begun, "cpu_seconds": sum(os.times()[2:4]) - used}


def tiebreak(words: Sequence[str], folder: str, ends: Sequence[int]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tiebreak", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode not in ends:
        raise MachineryFailed(f"tiebreak {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[:300]}")
