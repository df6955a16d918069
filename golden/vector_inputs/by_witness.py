"""The theme whose inputs separate two semantics: the witnesses of `tiebreak audit --matrix`, stored as bits.

tests/make_witnesses.py writes witnesses.json. The results come from the oracle, as for every vector. An audit tries
these inputs first.
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
    """By operator and kind of node: rows of the codes of the inputs after the first, then a list of codes of x."""
    found: dict[str, dict[str, Any]] = json.loads(WITNESSES.read_text(encoding="utf-8"))
    return found


def witnesses_of(operator: str, kind: str) -> Iterator[tuple[int, list[int], list[int]]]:
    """A number, codes of the inputs after the first, and codes of x on which two of the plainest semantics differ."""
    for number, (*others, x) in enumerate(witnesses().get(operator, {}).get(kind, [])):
        yield number, others, x


def witness_kind(source: str, target: str, attributes: dict[str, Any]) -> str:
    """The key of the witnesses for a node of the cast family: its types, and the attributes that it has."""
    return "-".join([source, target, *sorted(f"{name}-{value}".lower() for name, value in attributes.items())])


def witness_theme(s: Setting) -> Iterator[Sample]:
    """The witnesses of the quantize family, by scale and zero point."""
    for number, (scale, zero_point), x in witnesses_of("ngraph.Quantize", f"{s.real.name}-{s.quantized.name}"):
        yield s.sample(f"separating-{number}", x, [scale], [zero_point], ("Separating",))
