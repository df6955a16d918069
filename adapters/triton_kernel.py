"""Triton's part of the adapter: a kernel that converts a vector. Whoever imports it has said how it is to run."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def cast(
    given: Any,
    held: Any,
    count: Any,
    x_type: tl.constexpr,
    y_type: tl.constexpr,
    bits: tl.constexpr,
    size: tl.constexpr,
) -> None:
    """`count` numbers to another type, by tl.cast with its defaults. They come and go as integers of their bits."""
    places = tl.program_id(0) * size + tl.arange(0, size)
    x = tl.load(given + places, mask=places < count).to(x_type, bitcast=True)
    y = tl.cast(x, y_type)
    tl.store(held + places, y.to(bits, bitcast=True), mask=places < count)
