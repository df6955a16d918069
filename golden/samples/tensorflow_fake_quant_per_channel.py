"""Golden vectors of tensorflow.FakeQuantWithMinMaxVarsPerChannel: a range and its grid inputs in each column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from tiebreak.golden.samples.model import Sample, Tensor, bits, real_code, reals
from tiebreak.golden.samples.tensorflow_fake_quant import (
    EXAMPLE_FLAGS,
    RANGES,
    REAL,
    SMALLEST,
    Range,
    documented_example,
    grid_inputs,
    node,
    steps_rounded_twice,
)

SHAPES = ((3,), (1,), (14,), (3, 3), (2, 5), (5, 2), (1, 4), (2, 2, 2, 2), (2, 3, 4, 5), (3, 3, 3, 3), (1, 2, 3, 4))
EMPTY = ((0,), (0, 3), (3, 0), (2, 0, 1, 2))


def samples(input_type: str, output_type: str) -> Iterator[Sample]:
    x, low, high = documented_example()
    limits = (reals(REAL, [low] * 3), reals(REAL, [high] * 3))
    roles = ("order", "clamp", "dequantize", "scale", "nudge-min", "nudge-max")
    yield Sample("documented-example", node(8, False), (x, *limits), EXAMPLE_FLAGS, roles)
    for width in (2, 3, 4, 6, 8, 11, 16):
        for narrow in (False, True):
            yield columns(f"columns-{width}{'-narrow' * narrow}", RANGES, width, narrow)
    yield from by_width()
    for width, narrow in ((8, False), (8, True), (16, False)):
        yield rounded_once(width, narrow)
    for shape in SHAPES:
        yield in_shape(shape)
    for shape in EMPTY:
        tensors = (bits(REAL, [], shape), *ends(RANGES[: shape[-1]]))
        name = f"empty-{'x'.join(map(str, shape))}"
        yield Sample(name, node(8, False), tensors, ("Empty",), ("shape", "rank"))
    yield from degenerate()


def ends(ranges: Sequence[Range]) -> tuple[Tensor, Tensor]:
    return reals(REAL, [low for _, low, *_ in ranges]), reals(REAL, [high for _, _, high, *_ in ranges])


def columns(name: str, ranges: Sequence[Range], width: int, narrow: bool) -> Sample:
    """One range per column; the rows hold each column's grid inputs."""
    values = [grid_inputs(low, high, width, narrow).codes for _, low, high, *_ in ranges]
    rows = min(24, min(map(len, values)))
    picked = [[column[i * len(column) // rows] for column in values] for i in range(rows)]
    x = bits(REAL, [code for row in picked for code in row], (rows, len(ranges)))
    flags = ("PerAxis", "NearTie", "Nudged", "ZeroOutside", *(("NarrowRange",) if narrow else ()))
    roles = ("range", "num-bits", "levels", "clamp", "dequantize", "scale", "nudge-min", "nudge-max", "order")
    roles += ("positive-range", "negative-range", *(("narrow", "narrow-scale") if narrow else ()))
    return Sample(name, node(width, narrow), (x, *ends(ranges)), flags, roles)


def by_width() -> Iterator[Sample]:
    """Every number of bits on grids whose steps are powers of two, ties among the inputs."""
    for width in range(2, 17):
        for narrow in (False, True):
            steps = (1 << width) - 1 - narrow
            lows = [-Fraction(steps // part, 4) for part in (1, 2, 3)]
            ranges: list[Range] = [("", low, low + Fraction(steps, 4), (), ()) for low in lows]
            grid = columns(f"grid-{width}{'-narrow' * narrow}", ranges, width, narrow)
            yield Sample(grid.theme, grid.node, grid.tensors, ("PerAxis", "Tie"), ("tie", "num-bits", "range"))


def rounded_once(width: int, narrow: bool) -> Sample:
    """A step of each column's grid that float64 rounds onto a midpoint."""
    _, values, low, high = zip(*islice(steps_rounded_twice(width, narrow), 6), strict=True)
    tensors = (reals(REAL, values, (1, len(values))), reals(REAL, low), reals(REAL, high))
    name = f"rounded-once-{width}{'-narrow' * narrow}"
    return Sample(name, node(width, narrow), tensors, ("RoundedTwice", "PerAxis"), ("dequantize", "scale", "range"))


def in_shape(shape: tuple[int, ...]) -> Sample:
    count, depth = math.prod(shape), shape[-1]
    limits = [RANGES[i % len(RANGES)] for i in range(depth)]
    values = []
    for i in range(count):
        _, low, high, *_ = limits[i % depth]
        values.append(real_code(low + (high - low) * ((5 * i + 2) % 17) / 16, REAL))
    tensors = (bits(REAL, values, shape), *ends(limits))
    name = f"shape-{'x'.join(map(str, shape))}"
    return Sample(name, {"real": REAL}, tensors, ("PerAxis",), ("rank", "shape", "range", "type"))


def degenerate() -> Iterator[Sample]:
    """Columns with degenerate ranges and special values beside ordinary ones, which they must not affect."""
    third = Fraction(1, 3)
    limits: list[tuple[Fraction | float, Fraction | float]] = [
        (Fraction(0), Fraction(0)),
        (Fraction(-1), Fraction(1)),
        (Fraction(1), Fraction(1)),
        (Fraction(1), Fraction(-1)),
        (math.nan, Fraction(1)),
        (Fraction(-1), math.inf),
        (-3 * SMALLEST, 5 * SMALLEST),
        (Fraction(0), Fraction(6)),
    ]
    rows: list[Fraction | float] = [third, -third, 0.0, -0.0, math.inf, -math.inf, math.nan]
    x = reals(REAL, [value for value in rows for _ in limits], (len(rows), len(limits)))
    tensors = (x, reals(REAL, [low for low, _ in limits]), reals(REAL, [high for _, high in limits]))
    roles = ("degenerate", "special", "zero-sign", "overflow")
    yield Sample("degenerate", node(8, False), tensors, ("NoRange", "NaN", "Infinity"), roles)
