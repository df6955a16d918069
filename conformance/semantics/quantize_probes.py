"""Inputs on which different arithmetics of round(x / scale) + zero_point give different results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import ml_dtypes
import numpy as np

from tiebreak.conformance.semantics.model import Probe
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

ORDINARY = (0.1, 1.0, 0.5, 0.3, 3.0, 0.007, 0.0625, 1 / 3, 49.0, 0.7, 123.0, 1e-5)
SHORT = (1.0, 0.5, 2.0, 0.1, 0.3, 3.0)  # scales that are easy to follow
FURTHER = 512  # elements of a probe of the search
TIES = 60  # ties of a probe that are drawn at random, and as many numbers
NARROWER = (
    ml_dtypes.bfloat16,
    np.float16,
)  # than float32: their numbers next to a half show how a sum is rounded
BEYOND = (
    *(1.5, 2.0, 3.3, 257.0, 65537.0, 2.0**31 - 128.0, 2.0**31 - 1.0, 2.0**31 + 256.0),
    *(2.0**32 + 3.0, 3e9, 5e9, 1e12, 2.0**52 + 1.0, 2.0**63, 1e30),
)  # 2^31 - 128 is the largest float32 below 2^31: with a zero point of 128 it exceeds int32


def first_probes(node: Node) -> Iterator[Probe]:
    random = np.random.default_rng(7)
    zero_points = zero_points_of(node.quantized)
    for number, scale in enumerate(ORDINARY):
        if representable_scale(scale, node) is None:
            continue
        for zero_point in (zero_points[number % len(zero_points)], zero_points[(number + 2) % len(zero_points)]):
            yield probe_with_scale(node, scale, zero_point, trap_inputs(node, scale, zero_point, random))
    for scale in small_scales(node):
        for zero_point in zero_points[:2]:
            yield probe_with_scale(node, scale, zero_point, trap_inputs(node, scale, zero_point, random))
    yield from near_tie_probes(node, random)


def plain_probes(node: Node) -> Iterator[Probe]:
    """Inputs that are easy to follow: ties and their like, and the ends of the range, at short scales."""
    for scale in SHORT:
        for zero_point in range(4):
            if zero_point > node.quantized.highest or representable_scale(scale, node) is None:
                continue
            ends = [end - zero_point for end in (node.quantized.lowest, node.quantized.highest)]
            steps = [*np.arange(-9, 10) / 2, *(end + half for end in ends for half in (-2.5, -1, -0.5, 0, 0.5, 1, 2.5))]
            with np.errstate(all="ignore"):
                x = (np.array(steps) * scale).astype(node.inputs[0].dtype)
            yield probe_with_scale(node, scale, zero_point, x[np.isfinite(x.astype(np.float64))])


def further_probe(node: Node, random: np.random.Generator) -> Probe:
    """A probe with a random scale, sometimes a subnormal one."""
    real, quantized = node.real, node.quantized
    exponent = random.integers(real.emin - 3, 8) if random.random() < 0.2 else random.integers(-8, 5)
    scale = float(np.float64(2.0) ** exponent * (1 + random.random()))
    zero_point = int(random.integers(quantized.lowest, quantized.highest, endpoint=True))
    if representable_scale(scale, node) is None:
        scale = 1.0
    return probe_with_scale(node, scale, zero_point, trap_inputs(node, scale, zero_point, random, FURTHER))


def special_probes(node: Node) -> Iterator[Probe]:
    dtype = node.inputs[0].dtype
    for value in (np.nan, np.inf, -np.inf):
        for zero_point in zero_points_of(node.quantized):
            yield probe_with_scale(node, 0.5, zero_point, np.array([value]).astype(dtype))
    largest = np.array([node.real.largest_bits], f"uint{node.real.bits}").view(dtype)
    for x in (largest, -largest):  # finite, with an infinite quotient
        for zero_point in zero_points_of(node.quantized):
            yield probe_with_scale(node, 2.0 ** (node.real.emin + 1), zero_point, x)


def zero_points_of(quantized: IntegerType) -> tuple[int, ...]:
    """0, a number near the middle of the range, and those at and next to its ends."""
    lowest, highest = quantized.lowest, quantized.highest
    middle = (lowest + highest) // 2
    found = (0, middle + 3 if quantized.bits > 3 else middle, highest - 1, lowest + 1, lowest, highest)
    return tuple(dict.fromkeys(value for value in found if lowest <= value <= highest))


def small_scales(node: Node) -> Iterator[float]:
    """Subnormal scales, the smallest normal one, and one so large that ordinary numbers have subnormal quotients."""
    least = 2.0**node.real.emin
    unit = least * 2.0 ** (1 - node.real.precision)
    yield from (least, least * 1.5, least / 2, least * 0.75, unit * 3, unit * 21)
    largest = float(node.real.emax) - 8
    yield 2.0**largest * 1.25
    if node.real.emin < -14:  # the backend may work in float16
        yield from (2.0**-14, 2.0**-15, 2.0**-20 * 3)


def representable_scale(scale: float, node: Node) -> Array | None:
    with np.errstate(all="ignore"):
        found = np.asarray(scale).astype(node.inputs[1].dtype)
    return found if np.isfinite(found.astype(np.float64)) and float(found) > 0 else None


def probe_with_scale(node: Node, scale: float, zero_point: int, x: Array) -> Probe:
    with np.errstate(all="ignore"):
        return Probe(x, (np.asarray(scale).astype(node.inputs[1].dtype), np.asarray(zero_point, node.inputs[2].dtype)))


def trap_inputs(node: Node, scale: float, zero_point: int, random: np.random.Generator, most: int = 0) -> Array:
    """Finite numbers: around ties and whole quotients in and near the range, far beyond it, near 0, and at random."""
    dtype, quantized = node.inputs[0].dtype, node.quantized
    held = representable_scale(scale, node)
    exact = float(held) if held is not None else scale
    lowest, highest = quantized.lowest - zero_point, quantized.highest - zero_point
    ends = np.concatenate([np.arange(2 * end - 5, 2 * end + 6) / 2 for end in (lowest, highest)])
    halves = np.concatenate(
        [np.arange(-9, 10) / 2, ends, random.integers(2 * lowest - 2, 2 * highest + 3, TIES) / 2 + 0.0]
    )
    size = highest - lowest + 1
    past = np.array([*BEYOND, size + 0.5, size * 1.25, size * 2 + 1.0])
    with np.errstate(all="ignore"):
        near = neighbours((halves * exact).astype(dtype), (-2, -1, 0, 1, 2))
        narrow = [neighbours(halves.astype(kind), (-1, 1)).astype(np.float64) for kind in NARROWER]
        near = np.concatenate([near, *((one * exact).astype(dtype) for one in narrow)])
        far = (np.concatenate([past, -past, lowest - past, highest + past]) * exact).astype(dtype)
        any_ = (random.uniform(lowest - 2, highest + 2, TIES) * exact).astype(dtype)
        tiny = tiny_values(node)
        found = np.concatenate([near, far, any_, tiny])
        found = found[np.isfinite(found.astype(np.float64))]
    if most and found.size > most:
        found = found[random.choice(found.size, most, replace=False)]
    return np.ascontiguousarray(found)


def tiny_values(node: Node) -> Array:
    """Tiny numbers of either sign: zeros, the smallest subnormal numbers, and those around the smallest normal one."""
    words = np.array([0, 1, 2, 3, 5, 100], np.uint64)
    normal = 1 << (node.real.precision - 1)
    words = np.concatenate([words, np.array([normal - 1, normal, normal + 1, normal // 2, normal * 3], np.uint64)])
    words = np.concatenate([words, words | np.uint64(1 << (node.real.bits - 1))])
    own = words.astype(f"uint{node.real.bits}").view(node.inputs[0].dtype)
    halves = np.array([5e-5, -5e-5, 6e-5, 3e-6, -3e-7]).astype(own.dtype)  # around the subnormal numbers of float16
    return np.concatenate([own, halves])


def neighbours(values: Array, steps: Sequence[int]) -> Array:
    """The values moved by each number of steps in bit patterns, one after the other; zeros stay."""
    bits = values.view(f"uint{8 * values.dtype.itemsize}")
    stepped = [(bits.astype(np.int64) + step).astype(bits.dtype) for step in steps]
    return np.concatenate([np.where(bits << 1 == 0, bits, one) for one in stepped]).view(values.dtype)


def near_tie_probes(node: Node, random: np.random.Generator) -> Iterator[Probe]:
    """Quotients as near to a tie as two float32 numbers allow: 2 X 2^d - m S is 1 or -1, with an odd m.

    With twice that X, the quotient is as near to a whole number. Where results have many bits or wrap around, these
    quotients show whether they are rounded to float64 or exact.
    """
    if node.real.name != "float32":
        return
    zero_points = zero_points_of(node.quantized)
    for number in range(6):
        significand = int(random.integers(1 << 23, 1 << 24)) | 1
        found = []
        for shift in range(4, 40):
            step = 1 << (shift + 1)
            for sign in (1, -1):
                x = sign * pow(step, -1, significand) % significand
                if x * 2 > significand and x < 1 << 24:
                    found += [x * 2.0**shift, -x * 2.0**shift, x * 2.0**shift * 2, -x * 2.0**shift * 2]
        x32 = np.array(found, np.float32).astype(node.inputs[0].dtype)
        yield probe_with_scale(node, float(significand), zero_points[number % len(zero_points)], x32)
