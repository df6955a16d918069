"""Triton's part of the adapter: a kernel that converts a vector. Whoever imports it has said how it is to run."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def cast(
    x_bits,  # type: ignore[no-untyped-def]
    y_bits,
    count,
    X: tl.constexpr,
    Y: tl.constexpr,
    Y_BITS: tl.constexpr,
    SIZE: tl.constexpr,
):
    """`count` numbers of type X, given as integers of their bits, to type Y, by tl.cast with its defaults."""
    places = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_bits + places, mask=places < count).to(X, bitcast=True)
    y = tl.cast(x, Y)
    tl.store(y_bits + places, y.to(Y_BITS, bitcast=True), mask=places < count)
