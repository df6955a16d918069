"""Products of the size of a layer: kernels take other code for many terms and many columns, or leave the rest of them.

More terms than 1,024 and more columns than 96, neither a multiple of what vectors and tiles hold. The numbers have no
pattern that such a step repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tiebreak.conformance.operators.model import Layer
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.onnx_types import REALS
from tiebreak.golden.samples.model import Tensor, integers, reals, scalar

ROWS, TERMS, COLUMNS = 3, 1061, 100
CHANNELS, WINDOW = 118, (3, 3)  # 1,062 terms
IMAGE = (4, 4)
TYPES = (("uint8", "int8", "uint8"), ("int8", "int8", "int8"))  # of both factors and of the result
SCALES = Fraction(1, 50), Fraction(3, 100), Fraction(5, 2)  # with which most results lie inside of the output's range


def spread(kind: str, shape: tuple[int, ...], seed: int) -> Tensor:
    """Integers of the whole range of a type of 8 bits."""
    numbers = (np.arange(math.prod(shape), dtype=np.uint64) + np.uint64(seed << 20)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (numbers ^ numbers >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(56)
    return integers(kind, (mixed.astype(np.int64) + INTEGER_TYPES[kind].lowest).tolist(), shape)


def point(kind: str, step: int) -> int:
    own = INTEGER_TYPES[kind]
    return (own.lowest + own.highest + 1) // 2 + step


def matrices(kinds: tuple[str, str]) -> tuple[Tensor, Tensor]:
    return spread(kinds[0], (ROWS, TERMS), 1), spread(kinds[1], (TERMS, COLUMNS), 2)


def images(kinds: tuple[str, str]) -> tuple[Tensor, Tensor]:
    return spread(kinds[0], (1, CHANNELS, *IMAGE), 1), spread(kinds[1], (COLUMNS, CHANNELS, *WINDOW), 2)


def points(kinds: tuple[str, ...]) -> list[Tensor]:
    return [scalar(kind, point(kind, 3 + 2 * place)) for place, kind in enumerate(kinds)]


def scaled(factors: tuple[Tensor, Tensor], kinds: tuple[str, str, str]) -> tuple[Tensor, ...]:
    """Both factors and the result, each with its scale and zero point."""
    first, second, last = zip([scalar("float32", scale) for scale in SCALES], points(kinds), strict=True)
    return factors[0], *first, factors[1], *second, *last


def integer_products() -> Iterator[Layer]:
    for a, b, _ in TYPES:
        yield {"real": a, "quantized": "int32", "operands": [b]}, (*matrices((a, b)), *points((a, b)))


def integer_convolutions() -> Iterator[Layer]:
    for x, w, _ in TYPES:
        yield {"real": x, "quantized": "int32", "scale": w}, (*images((x, w)), *points((x, w)))


def scaled_products() -> Iterator[Layer]:
    for kinds in TYPES:
        node = {"real": "float32", "quantized": kinds[2], "operands": list(kinds[:2])}
        yield node, scaled(matrices(kinds[:2]), kinds)


def scaled_convolutions() -> Iterator[Layer]:
    for kinds in TYPES:
        yield (
            {"real": kinds[0], "scale": kinds[1], "quantized": kinds[2], "zero_point": False},
            scaled(images(kinds[:2]), kinds),
        )


def gemms() -> Iterator[Layer]:
    """With a bias of each column."""
    for kinds in TYPES:
        *factors, y_scale, y_point = scaled(matrices(kinds[:2]), kinds)
        bias = integers("int32", [(n - 47) * 1009 for n in range(COLUMNS)], (COLUMNS,))
        node = {"real": kinds[0], "quantized": kinds[2], "operands": [kinds[1]], "form": 0}
        yield node, (*factors, bias, y_scale, y_point)


def packed_weights() -> Iterator[Layer]:
    """Weights of 4 bits under two rows of numbers whose sums are exact, and a number alone."""
    blocks = -(-TERMS // 32)
    b = spread("uint8", (COLUMNS, blocks, 16), 3)
    zero = spread("uint8", (COLUMNS, -(-blocks // 2)), 4)
    attributes = {"K": TERMS, "N": COLUMNS, "bits": 4, "block_size": 32}
    for real in REALS:
        scales = reals(real, [Fraction((-1) ** n, 1 + n % 2) for n in range(COLUMNS * blocks)], (COLUMNS, blocks))
        node = {"real": real, "operands": ["uint8"], "attributes": attributes}
        yield node, (numbers(real), b, scales, zero)


def numbers(real: str) -> Tensor:
    """Ones of both signs, no more of them than A's type has bits for, and in the last row a number at the end."""
    step = max(TERMS * 32 >> FLOAT_TYPES[real].precision, 0) + 1
    rows = [[(-1) ** (k // step + row) if k % step == row % step else 0 for k in range(TERMS)] for row in range(2)]
    rows.append([0] * (TERMS - 1) + [3])
    return reals(real, [value for row in rows for value in row], (3, TERMS))
