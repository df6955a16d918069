"""Memory that a finished stage has freed, given back to the system."""

from __future__ import annotations

import ctypes


def give_back_freed_memory() -> None:
    """Give back what threads freed: glibc keeps it for them, and no later stage would use it. Others need no help."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
