"""The theme whose inputs tell two arithmetics apart: the witnesses of `tiebreak audit --matrix`, kept as bits.

golden/witnesses.json is written by tests/make_witnesses.py; what the inputs must give is the oracle's, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.golden.themes import Setting, Sketch

WITNESSES = Path(__file__).parent / "witnesses.json"


@cache
def witnesses() -> dict[str, Any]:
    """For "INPUT-OUTPUT" types: rows of a scale's bits, a zero point and bits of inputs."""
    found: dict[str, Any] = json.loads(WITNESSES.read_text(encoding="utf-8"))
    return found


def separating(s: Setting) -> Iterator[Sketch]:
    """Inputs on which two of the plainest semantics differ, by scale and zero point."""
    for number, (scale, zero_point, x) in enumerate(witnesses().get(f"{s.real.name}-{s.quantized.name}", [])):
        yield Sketch(f"separating-{number}", x, [scale], [zero_point], ("Separating",))
