"""Generated `ngraph.Quantize`: any of the nine modes, any set of axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tiebreak.conformance.operators.model import Layout
from tiebreak.golden.rounding import ROUND_MODES


def attributes(draw: st.DrawFn, rank: int, round_mode: str | None) -> dict[str, Any]:
    mode = round_mode or draw(st.sampled_from(tuple(ROUND_MODES)))
    return {"round_mode": mode, "axes": draw(st.sets(st.integers(0, rank - 1)).map(sorted)) if rank else []}


def varying_axes(draw: st.DrawFn, given: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(given["axes"])


LAYOUT = Layout(attributes, varying_axes)
