"""Golden vectors of tensorflow.UniformRequantize: ratios of two scales, wide differences, ranges, both axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, Tensor, bits
from tiebreak.golden.samples.tensorflow_uniform import SHAPES, ends_of, flag_of_shape, of, parameters, range_of
from tiebreak.golden.samples.tflite_requantize import AT_ENDS, FAR, RATIOS, Ratio, flags_of, integers_of, wide
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

ID = "tensorflow.UniformRequantize"
ALWAYS = (
    "difference", "ratio", "product", "zero-point", "nearest", "range", "ties", "types", "scales-type", "shape", "axes",
)  # fmt: skip
ALONE = ("per-tensor", "output-per-tensor")
THIRD: Ratio = ("third", of("0.1"), of("0.3"))
LEAST, MOST = -(1 << 31), (1 << 31) - 1  # zero points


def samples(source: str, target: str) -> Iterator[Sample]:
    for ratio in RATIOS:
        yield at_ratio(source, target, ratio, (0, 0), "")
    for ratio in (one for one in RATIOS if one[0] in AT_ENDS):
        for points in zero_points(source, target):
            yield at_ratio(source, target, ratio, points, f"-zp{points[0]}-zp{points[1]}")
    for ratio in (*FAR, ("negative-by-positive", -of("0.3"), Fraction(1)), ("both-negative", -of("0.1"), -of("0.3"))):
        yield far(source, target, ratio)
    yield from wide_differences(source, target)
    yield from ranges(source, target)
    yield from scales(source, target)
    for shape, axis in SHAPES:
        yield from of_shape(source, target, shape, axis)
    yield from separating(source, target)


def zero_points(source: str, target: str) -> tuple[tuple[int, int], ...]:
    """At the ends of both types, or near 0 of wide ones, and odd ones."""
    (low, high), (to_low, to_high) = (ends_of(name) if name == "int8" else (-1000, 1000) for name in (source, target))
    return (low, to_high), (high, to_low), (low // 2 + 3, to_low // 2 + 5)


def sample(
    theme: str, types: tuple[str, str], x: Tensor, own: Sequence[Tensor], flags: Sequence[str],
    roles: Sequence[str] = ALONE, *, independent: bool = True, **attributes: Any,
) -> Sample:  # fmt: skip
    source, target = types
    ranges = range_of(*ends_of(source), "input_") | range_of(*ends_of(target), "output_")
    node = {"real": source, "quantized": target, "attributes": ranges | attributes}
    return Sample(theme, node, (x, *own), tuple(flags), (*ALWAYS, *roles), independent=independent)


def both(ratio: Ratio, points: tuple[int, int]) -> tuple[Tensor, ...]:
    """Scales and zero points of both sides, scalars."""
    _, scale, other = ratio
    return (*parameters([scale], points[:1]), *parameters([other], points[1:]))


def at_ratio(source: str, target: str, ratio: Ratio, points: tuple[int, int], suffix: str) -> Sample:
    kind, to = INTEGER_TYPES[source], INTEGER_TYPES[target]
    x = integers_of(kind, to, ratio, points[0])
    flags = (*flags_of(x, ratio, points, to), *(("WideInteger",) if kind.bits > 8 else ()))
    return sample(f"{ratio[0]}{suffix}", (source, target), bits(source, x), both(ratio, points), flags)


def far(source: str, target: str, ratio: Ratio) -> Sample:
    """Ratios that no multiplier with a shift has, or of scales that are negative."""
    kind = INTEGER_TYPES[source]
    x = list(range(kind.lowest, kind.highest + 1, 5)) if kind.bits == 8 else wide(kind)[::3]
    name, scale, other = ratio
    sign = ("NegativeScale",) if min(scale, other) < 0 else ()
    flags = ("Overflow",) if abs(scale) > abs(other) else ("Tiny",)
    return sample(f"far-{name}", (source, target), bits(source, [*x, 0, 1]), both(ratio, (0, 1)), sign or flags,
                  (*ALONE, "overflow"))  # fmt: skip


def wide_differences(source: str, target: str) -> Iterator[Sample]:
    """Zero points far from the input, whose difference has up to 33 bits; and far from what they are added to."""
    kind = INTEGER_TYPES[source]
    x = [kind.lowest, kind.lowest + 1, -100, -1, 0, 1, 77, kind.highest - 1, kind.highest]
    unit: Ratio = ("unit", Fraction(1, 1 << 25), Fraction(1))
    for point in (LEAST, MOST, -1, 1, 1 << 24):
        for ratio in (unit, ("third-unit", of("0.1") / (1 << 26), of("0.3")), ("one", Fraction(1), Fraction(1))):
            theme = f"difference-{ratio[0]}-zp{point}"
            yield sample(theme, (source, target), bits(source, x), both(ratio, (point, 3)), ("WideSum",))
    for point in (LEAST, MOST, 1000, -1000, 1 << 24):
        near = [value for value in (*range(-8, 9), *(1 << n for n in range(4, 31))) if abs(value) <= kind.highest]
        own = both(("half", Fraction(1, 2), Fraction(1)), (0, point))
        yield sample(f"output-zp{point}", (source, target), bits(source, near), own, ("WideSum", "ZeroPointEdge"))


def ranges(source: str, target: str) -> Iterator[Sample]:
    """Ends of the output within its type and beyond, and ends of the input, which have no part."""
    low, high = ends_of(target)
    x, own = bits(source, range(-128, 128, 3)), both(THIRD, (3, -5))
    for least, greatest in ((low + 1, high), (low, high - 1), (-4, 9), (2, 2)):
        yield sample(f"range-{least}-{greatest}", (source, target), x, own, ("NarrowRange", "Saturates"),
                     (*ALONE, "narrow"), **range_of(least, greatest, "output_"))  # fmt: skip
    for least, greatest in ((-127, 127), (-20, 30)):
        yield sample(f"input-range-{least}-{greatest}", (source, target), x, own, ("NarrowRange",),
                     (*ALONE, "input-range"), **range_of(least, greatest, "input_"))  # fmt: skip
    beyond = () if target == "int32" else ((low - 1, high), (low, high + 1))
    for least, greatest in ((high, low), (5, 3), *beyond):
        yield sample(f"no-range-{least}-{greatest}", (source, target), x, own, ("NoRange",), (*ALONE, "no-range"),
                     **range_of(least, greatest, "output_"))  # fmt: skip


def scales(source: str, target: str) -> Iterator[Sample]:
    """Scales that are zero or no numbers, on either side."""
    x, nan, infinity = bits(source, (-7, 0, 1, 100)), math.nan, math.inf
    for name, value, flag in (
        ("zero", 0.0, "ZeroScale"),
        ("minus-zero", -0.0, "ZeroScale"),
        ("nan", nan, "NaN"),
        ("infinity", infinity, "Infinity"),
    ):
        one: Fraction | float = Fraction(1)
        for side, (scale, other) in (("input", (value, one)), ("output", (one, value))):
            own = (*parameters([scale], [1]), *parameters([other], [2]))
            yield sample(f"scale-{name}-{side}", (source, target), x, own, (flag,), (*ALONE, "scale"))


def of_shape(source: str, target: str, shape: tuple[int, ...], axis: int) -> Iterator[Sample]:
    """Scales and zero points that all differ along an axis: of the input, of the output, or of both."""
    sides = ((-1, -1),) if axis < 0 else ((axis, -1), (-1, axis), (axis, axis))
    x = bits(source, [(7 * i) % 101 - 40 for i in range(math.prod(shape))], shape)
    for first, last in sides:
        own = (*spread(shape, first, 9, 2), *spread(shape, last, 7, 5))
        axes = {"input_quantization_axis": first, "output_quantization_axis": last}
        given = {name: value for name, value in axes.items() if value >= 0}
        roles = (
            "axis",
            *(("projection",) if first >= 0 else ALONE[:1]),
            *(("output-projection",) if last >= 0 else ALONE[1:]),
        )
        name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}-{'none' if axis < 0 else axis}"
        side = "" if axis < 0 else "-both" if first == last else "-input" if first >= 0 else "-output"
        yield sample(f"{name}{side}", (source, target), x, own, (flag_of_shape(shape, axis),), roles,
                     independent=False, **given)  # fmt: skip


def spread(shape: tuple[int, ...], axis: int, period: int, point: int) -> tuple[Tensor, Tensor]:
    """Scales and zero points for each index of an axis; scalars without one."""
    count = 1 if axis < 0 else shape[axis]
    scales = [1 + Fraction(j % period, 8) for j in range(count)]
    return parameters(scales, [point + j % period for j in range(count)], axis)


def separating(source: str, target: str) -> Iterator[Sample]:
    """Integers on which two of the plainest arithmetics differ."""
    ranges = range_of(*ends_of(source), "input_") | range_of(*ends_of(target), "output_")
    for number, codes, x in witnesses_of(ID, witness_kind(source, target, ranges)):
        kinds = ("float32", "int32", "float32", "int32")
        own = [Tensor(kind, (), [code]) for kind, code in zip(kinds, codes, strict=True)]
        yield sample(f"separating-{number}", (source, target), bits(source, x), own, ("Separating",))
