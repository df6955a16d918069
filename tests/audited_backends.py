"""Black boxes of audited_boxes.py as backends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from audited_boxes import Array, of_two_minds, tail_divides, tail_truncates, ties_away
from audited_boxes import plain as plain_box

from tiebreak import Unsupported
from tiebreak.golden.nodes import Node

Run = Callable[..., tuple[Array, ...]]


class Backend:
    version = "1.0"
    operators = frozenset({"onnx.QuantizeLinear"})

    def __init__(self, name: str, box: Callable[[Array, Array, Array], Array]) -> None:
        self.name, self.box = name, box

    def compile(self, node: Node) -> Run:
        if self.name == "refuses":
            raise Unsupported("not this one")

        def run(x: Array, s: Array, z: Array) -> tuple[Array, ...]:
            with np.errstate(all="ignore"):
                return (np.asarray(self.box(x, s, z)),)

        return run


def fails(x: Array, s: Array, z: Array) -> Array:
    raise ValueError("no")


def infinities_are_zero(x: Array, s: Array, z: Array) -> Array:
    """A quotient that overflows counts as 0, which the document leaves to nobody."""
    q = x / s
    return np.where(np.isfinite(q), plain_box(x, s, z), z).astype(z.dtype)


plain = Backend("plain", plain_box)
overflowing = Backend("plain", infinities_are_zero)
tail = Backend("tail", tail_truncates)
odd = Backend("odd", of_two_minds)
refuses = Backend("refuses", plain_box)
raises = Backend("raises", fails)
upgraded = Backend("plain", ties_away)
near_ties_by_place = Backend("near_ties_by_place", tail_divides)
other_operator = Backend("other_operator", plain_box)
other_operator.operators = frozenset({"ngraph.Quantize"})


def refuses_each(x: Array, s: Array, z: Array) -> Array:
    raise Unsupported("no such call")


def fails_on_specials(x: Array, s: Array, z: Array) -> Array:
    if not np.isfinite(x).all():
        raise ValueError("finite numbers only")
    return plain_box(x, s, z)


refuses_calls = Backend("refuses_calls", refuses_each)
finite_only = Backend("finite_only", fails_on_specials)
