"""What the generators ask of an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tiebreak.golden.nodes import Node


@dataclass(frozen=True)
class Layout:
    """`attributes` draws a node's attributes for inputs of a rank, with the rounding mode given or drawn;
    `varying_axes` gives the axes on which a node's scale is to vary for an input of a shape."""

    attributes: Callable[[st.DrawFn, int, str | None], dict[str, Any]]
    varying_axes: Callable[[st.DrawFn, Node, tuple[int, ...]], tuple[int, ...]]
