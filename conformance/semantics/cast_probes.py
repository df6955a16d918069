"""Inputs on which different casts give different results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from tiebreak.conformance.semantics.cast_inputs import SMALL_BITS, ElementType
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.type_grids import bits_as_numbers
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, array_of, code_range

FEW, FURTHER = 700, 512  # elements of a probe, and of one of the search
WIDER = ("float32", "float16", "bfloat16")  # to which a number may be rounded first
BEYOND = (1.5, 2.0, 3.0, 17.0, 33.0, 257.0, 1025.0, 65537.0, 1e6, 1e9, 1e15, 1e30)  # times the largest value
ROOMS = (2.0**7, 2.0**15, 2.0**31, 2.0**32, 2.0**52, 2.0**63, 2.0**64)  # ends of integers on the way


def first_probes(node: Node) -> Iterator[Probe]:
    """Every number of a small type; of wider ones those near the halves between two results, and the extreme ones."""
    x = aimed_inputs(node.input_type, node.output_type)
    order = np.arange(x.size) if x.size <= FEW else np.random.default_rng(7).permutation(x.size)
    for start in range(0, x.size, FEW):
        yield Probe(x[order[start : start + FEW]], ())


def further_probe(node: Node, random: np.random.Generator) -> Probe:
    """Some of the first ones, moved a little, and numbers of any size."""
    x = aimed_inputs(node.input_type, node.output_type)
    some = x[random.integers(0, x.size, FURTHER)]
    kind = ELEMENT_TYPES[node.input_type]
    if kind.bits <= SMALL_BITS:
        return Probe(some, ())
    moved = finite(neighbours(some, (int(random.integers(-9, 10)),)))
    words = random.integers(0, 1 << min(kind.bits, 62), FURTHER, np.uint64).astype(f"uint{kind.bits}")
    return Probe(np.concatenate([moved, finite(words.view(some.dtype))]), ())


def special_probes(node: Node) -> Iterator[Probe]:
    """Each NaN and infinity that the input's type has, and the largest numbers to compare infinities with."""
    kind = ELEMENT_TYPES[node.input_type]
    if isinstance(kind, FloatType) and kind.nan_bits is not None:
        sign = 1 << (kind.bits - 1)
        signs = (0, sign) if kind.specials in ("ieee", "fn") else (0,)
        ends = (kind.infinity_bits, kind.largest_bits) if kind.specials == "ieee" else ()
        for code in (*(kind.nan_bits | one for one in signs), *(end | one for end in ends for one in signs)):
            yield Probe(array_of(node.input_type, (1,), [code]), ())


def finite(x: Array) -> Array:
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return np.ascontiguousarray(x[np.isfinite(x.astype(np.float64))])


@lru_cache(maxsize=16)
def aimed_inputs(source: str, target: str) -> Array:
    kind = ELEMENT_TYPES[source]
    if kind.bits <= SMALL_BITS:
        low, high = code_range(kind)
        return finite(array_of(source, (high - low + 1,), np.arange(low, high + 1)))
    if isinstance(kind, IntegerType):
        return aimed_integers(kind, ELEMENT_TYPES[target])
    targets = [target_magnitudes(ELEMENT_TYPES[target]), np.array([2.0**kind.emin, 2.0 ** (kind.emin - 2)])]
    magnitudes = np.concatenate([*targets, magnitudes_beyond(ELEMENT_TYPES[target])])
    near = [magnitudes, *(beside(magnitudes, name) for name in WIDER)]
    dtype = array_of(source, (1,), [0]).dtype
    with np.errstate(over="ignore"):
        x = finite(np.concatenate(near).astype(dtype))
    x = np.unique(neighbours(finite(x), (-2, -1, 0, 1, 2)).view(f"uint{kind.bits}")).view(dtype)
    return np.concatenate([finite(x), -finite(x)])


def aimed_integers(kind: IntegerType, target: ElementType) -> Array:
    """Integers near the same numbers, and at the ends of their own type."""
    to_powers = isinstance(target, FloatType) and target.specials == "e8m0"
    values = significands(2.0 ** np.arange(kind.bits)) if to_powers else target_magnitudes(target)
    magnitudes = np.concatenate([values, magnitudes_beyond(target), [kind.highest, -kind.lowest]])
    near = np.rint(np.concatenate([magnitudes, *(beside(magnitudes, name) for name in WIDER)]))
    x = np.add.outer([-2.0, -1.0, 0.0, 1.0, 2.0], np.concatenate([near, -near])).reshape(-1)
    return np.unique(x[(x >= kind.lowest) & (x <= kind.highest)]).astype(kind.name)


def beside(magnitudes: Array, name: str) -> Array:
    """Numbers that a narrower type rounds to these magnitudes: a little beside them, on both sides."""
    kind = FLOAT_TYPES[name]
    step = 2.0 ** (-kind.precision - 1)
    return np.concatenate([magnitudes * (1 + step), magnitudes * (1 - step), magnitudes * (1 + step / 64)])


def target_magnitudes(kind: ElementType) -> Array:
    """The output's values and the middles between two of them, up to a step beyond the range."""
    if isinstance(kind, IntegerType):
        return np.arange(0, 2 * min(kind.highest - kind.lowest, 300) + 4) / 2.0
    if kind.specials == "e8m0":
        powers = 2.0 ** np.array([-149, -148, -140, -129, -128, -127, -126, -125, -20, -3, -1, 0, 1, 2, 126, 127])
        return significands(powers)
    if kind.bits > SMALL_BITS:
        return np.array([1.0])
    values = bits_as_numbers(np.arange(kind.largest_bits + 1), kind)
    values = np.append(values, 2 * values[-1] - values[-2])
    return np.concatenate([values, (values[1:] + values[:-1]) / 2, (values[1:] * 3 + values[:-1]) / 4])


def significands(powers: Array) -> Array:
    """Where a rounding to a power of two may change its mind, and between."""
    return np.outer(powers, [1.0, 1.25, np.sqrt(2.0), 1.5, 1.75]).reshape(-1)


def magnitudes_beyond(kind: ElementType) -> Array:
    if isinstance(kind, IntegerType):
        return np.concatenate(
            [np.multiply(BEYOND, kind.highest + 1.0), np.add.outer(ROOMS, (-0.75, -0.25, 0.0, 1.0, 3.0)).reshape(-1)]
        )
    largest = (
        1.0
        if kind.bits > SMALL_BITS or kind.specials == "e8m0"
        else bits_as_numbers(np.array([kind.largest_bits]), kind)[0]
    )
    return np.concatenate([largest * np.array(BEYOND), [480.0, 488.0, 496.0, 65536.0, 63000.0]])
