"""Hypothesis' strategies, loaded when the first case is drawn: a run whose cases are all in the cache draws none."""

from __future__ import annotations

from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis import strategies as st
    from hypothesis.strategies import composite
else:

    class Strategies:
        """Stands in for the module hypothesis.strategies."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("hypothesis.strategies"), name)
            setattr(self, name, found)
            return found

    st = Strategies()

    def composite(function):
        """hypothesis.strategies.composite, applied at the first call."""

        @cache
        def built():
            return st.composite(function)

        @wraps(function)
        def strategy(*given, **named):
            return built()(*given, **named)

        return strategy


__all__ = ["composite", "st"]
