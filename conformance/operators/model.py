"""What the generators and the search for causes ask of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor


@dataclass(frozen=True)
class Cause:
    """A named mistake; `role` is the part of the formula that it breaks (a key of Operator.roles, or "mode")."""

    text: str
    role: str
    rank: int = 0  # among causes that explain as much, the lower one is named
    mode: str = ""  # the rounding mode that it says is used instead, if it is only that, or where its width says
    width: int = 0  # it depends on positions modulo this: named only for want of better

    @property
    def by_position(self) -> bool:
        return self.width > 0


@dataclass(frozen=True)
class Layout:
    """Of the quantize family. `attributes` draws a node's attributes for inputs of a rank, with the rounding mode given
    or drawn; `varying_axes` gives the axes on which a scale is to vary, by drawn attributes and an input's shape."""

    attributes: Callable[[st.DrawFn, int, str | None], dict[str, Any]]
    varying_axes: Callable[[st.DrawFn, Mapping[str, Any], tuple[int, ...]], tuple[int, ...]]
    real_types: tuple[str, ...] = ()  # empty: all of the operator's
    quantized_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What is asked of a generated case; empty text and None mean anything. `specials`: NaN and infinities too."""

    real: str = ""
    quantized: str = ""
    round_mode: str = ""
    rank: int | None = None
    specials: bool = True


Mistake = Callable[..., tuple[Array, ...]]  # (node, *inputs) to the outputs of a backend that makes it


@dataclass(frozen=True)
class Suite:
    """Of every other operator. `draw` gives make_node's keywords and the input tensors of a generated case;
    `mistakes` are usual ones as small NumPy backends, the likelier first, for naming causes."""

    draw: Callable[[st.DrawFn, Wanted], tuple[dict[str, Any], tuple[Tensor, ...]]]
    mistakes: tuple[tuple[Cause, Mistake], ...] = ()
