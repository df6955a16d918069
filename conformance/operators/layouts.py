"""How the values of a path probe stand in the inputs of operators whose inputs differ in shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

Place = Literal["column", "row", "inner"]


class ProbeLayout(Protocol):
    """Where a probe's values go. `into` is the number of the input that has them."""

    @property
    def into(self) -> int: ...

    def shapes(self, shape: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        """Shapes of inputs, by their numbers, for values of a shape; the others are parameters."""
        ...


@dataclass(frozen=True)
class ProductLayout:
    """How the values of a probe stand in a product of matrices, whose inputs have the numbers `first` and `second`.

    In a "column" they are the first matrix, of one column; in a "row" the second one, of one row: then the other matrix
    has one element. Along the "inner" axis they are a row of the first, beside a column of the second. With `flat`
    there are no batches of matrices: all values stand in one.
    """

    kind: Place
    first: int
    second: int
    flat: bool = False

    @property
    def into(self) -> int:
        """The number of the input that has the values."""
        return self.second if self.kind == "row" else self.first

    def shapes(self, shape: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        *batch, count = (math.prod(shape),) if self.flat else shape
        if self.kind == "inner":
            return {self.first: (*batch, 1, count), self.second: (count, 1)}
        own = (*batch, count, 1) if self.kind == "column" else (*batch, 1, count)
        return {self.first: (1, 1), self.second: (1, 1), self.into: own}


@dataclass(frozen=True)
class ImageLayout:
    """The values are the pixels of images of one channel: x, input 0. Of two axes or more the first is the batch.

    The input `kernel` is a convolution's kernel of one weight.
    """

    kernel: int
    into: int = 0

    def shapes(self, shape: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        *batch, last = shape or (1,)
        x = (*(batch[:1] or [1]), 1, *batch[1:], last)
        return {self.into: x, self.kernel: (1,) * len(x)}


@dataclass(frozen=True)
class BroadcastLayout:
    """The values are in the input `into`; those named in `beside` have its shape, each with one value everywhere."""

    into: int
    beside: tuple[int, ...] = ()

    def shapes(self, shape: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        return dict.fromkeys((self.into, *self.beside), shape)
