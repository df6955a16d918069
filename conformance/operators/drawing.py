"""Hypothesis's strategies for the records, loaded when something is drawn: an audit, say, draws nothing.

Loading Hypothesis takes longer than all the rest of these records.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

__all__ = ["composite", "st"]

P = ParamSpec("P")
Drawn = TypeVar("Drawn")


class Late:
    """Stands for a module that is loaded with the first use of one of its names."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._module), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    from hypothesis import strategies as st
else:
    st = Late("hypothesis.strategies")


def composite(
    function: Callable[Concatenate[st.DrawFn, P], Drawn],
) -> Callable[P, st.SearchStrategy[Drawn]]:
    """As the decorator of that name in Hypothesis, which is applied with the first call."""

    @cache
    def composed() -> Callable[P, st.SearchStrategy[Drawn]]:
        return st.composite(function)

    @wraps(function)
    def strategy(*args: P.args, **kwargs: P.kwargs) -> st.SearchStrategy[Drawn]:
        return composed()(*args, **kwargs)

    return strategy
