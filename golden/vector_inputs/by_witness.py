"""The theme whose inputs tell two arithmetics apart: the witnesses of `tiebreak audit --matrix`, kept as bits.

witnesses.json is written by tests/make_witnesses.py; what the inputs must give is the oracle's, as everywhere.
An audit asks them first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_inputs.by_theme import Setting

WITNESSES = Path(__file__).parent / "witnesses.json"


@cache
def witnesses() -> dict[str, dict[str, Any]]:
    """By operator and kind of node: rows of the codes of the inputs after the first, and a list of codes of x."""
    found: dict[str, dict[str, Any]] = json.loads(WITNESSES.read_text(encoding="utf-8"))
    return found


def witnesses_of(operator: str, kind: str) -> Iterator[tuple[int, list[int], list[int]]]:
    """A number, codes of the inputs after the first, and codes of those x on which two of the plainest differ."""
    for number, (*others, x) in enumerate(witnesses().get(operator, {}).get(kind, [])):
        yield number, others, x


def witness_theme(s: Setting) -> Iterator[Sample]:
    """The witnesses of the quantize family, by scale and zero point."""
    for number, (scale, zero_point), x in witnesses_of("ngraph.Quantize", f"{s.real.name}-{s.quantized.name}"):
        yield s.sample(f"separating-{number}", x, [scale], [zero_point], ("Separating",))
