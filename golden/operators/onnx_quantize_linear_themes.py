"""Themes of vectors for onnx.QuantizeLinear alone: axes, ranks, and no zero point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.elements import decode
from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_inputs.by_theme import Setting, spread_over, with_neighbours
from tiebreak.golden.vector_inputs.by_trap import far_in_slices, far_places, large_scales, scale_classes

SHAPES: tuple[tuple[tuple[int, ...], int | None], ...] = (
    ((3, 3, 3), 0),
    ((3, 3, 3), 1),
    ((3, 3, 3), 2),
    ((3, 3, 3), -1),
    ((3, 3, 3), -3),
    ((3, 3, 3), None),
    ((2, 3, 4), 0),
    ((2, 3, 4), None),
    ((2, 3, 4), -1),
    ((3, 3), 0),
    ((3, 3), None),
    ((4, 1, 2, 3), 3),
    ((2, 2, 2, 2), 0),
    ((2, 2, 2, 2), None),
    ((2, 2, 2, 2), 2),
    ((2, 2, 2, 2), -1),
    ((2, 2, 2, 2, 2), -2),
    ((3, 2, 1), 0),
    ((3, 2, 1), 1),
    ((2, 3, 2, 2), None),
    ((1, 2, 1, 3, 2), -2),
    ((2, 3, 67), None),
    ((5, 67), -1),
    ((3, 1), 1),
    ((2, 0, 3), 0),
    ((0, 3), 1),
)


def axes_theme(s: Setting) -> Iterator[Sample]:
    """Per-axis scales on every axis, counted from the front, from the back and by default; then per-tensor scales."""
    for shape, axis in SHAPES:
        name = f"axis-{'x'.join(map(str, shape))}-{'default' if axis is None else axis}"
        attributes = {} if axis is None else {"axis": axis}
        position = (1 if axis is None else axis) % len(shape)
        yield spread_over(name, s, shape, (position,), attributes, "axis", "granularity", "shape")
    for shape in ((), (0,), (2, 3, 4), (2, 0, 3)):
        name = f"tensor-{'x'.join(map(str, shape)) or 'scalar'}"
        yield spread_over(name, s, shape, (), {}, "per-tensor", "shape", "real-type", "output-type")


def no_zero_point_theme(s: Setting) -> Iterator[Sample]:
    if s.quantized.name == "uint8":
        ties, one = [s.bits(Fraction(n, 2)) for n in range(0, 60)], [s.bits(Fraction(1))]
        yield s.sample("no-zero-point", ties, one, None, ("NoZeroPoint", "Tie"), ("no-zero-point",))
        beside = sorted(set(with_neighbours(ties, s.real, (-1, 1))), key=lambda code: decode(code, s.real))
        yield s.sample("no-zero-point-beside", beside, one, None, ("NoZeroPoint", "NearTie"), ("no-zero-point",))


def traps_theme(s: Setting) -> Iterator[Sample]:
    """Far quotients at every kind of place, and scales of every class, per tensor and per axis."""
    yield from far_places(s)
    yield from large_scales(s)
    for shape, axis in (((5, 3), 0), ((3, 5), 1), ((2, 5, 3), 1), ((5, 67), 0), ((2, 67), 1)):
        yield far_in_slices(s, shape, axis, {"axis": axis})
    for shape, axis in (((7, 5), 0), ((5, 7), 1)):
        yield scale_classes(s, shape, axis, {"axis": axis})
