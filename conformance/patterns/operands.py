"""The rows that a pattern is run on: every combination of codes where there are at most 65,536, else a fixed sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.patterns.graph import QUANTIZE, Operand, Pattern, ScalePair
from tiebreak.golden.problem import Array

MOST_ROWS = 1 << 16
MOST_COLUMNS = 8  # of constants that have more than one value each
SEED = 20261126  # of the sample, the same in every run
GAMMA = 0x9E3779B97F4A7C15  # of SplitMix64 (Steele, Lea and Flood, 2014), as are the other two
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def rows_of(pattern: Pattern, pairs: Mapping[str, ScalePair]) -> dict[str, Array]:
    """Arrays by operand: [rows, width]; of constants [1, k, columns] or [1, columns]."""
    quantized = [operand for operand in pattern.inputs if operand.is_quantized]
    real = [operand for operand in pattern.inputs if not operand.is_quantized]
    found = dict(zip((one.name for one in quantized), codes_of(quantized), strict=True)) if quantized else {}
    found |= {one.name: numbers_of(pattern, one, pairs) for one in real}
    return equally_long(found) | {one.name: constant(one) for one in pattern.operands if one.constant}


def is_exhaustive(pattern: Pattern) -> bool:
    """Whether the rows are all that there are."""
    return all(operand.is_quantized for operand in pattern.operands) and (
        bits_of(pattern.inputs) <= 16 and all(bits_of([one]) <= 8 for one in pattern.operands if one.constant)
    )


def bits_of(operands: Sequence[Operand]) -> int:
    return sum(INTEGER_TYPES[operand.type].bits * operand.width for operand in operands)


def codes_of(operands: Sequence[Operand]) -> Iterator[Array]:
    """For each operand the codes of all rows: bits of the row's number, or of a hash of it where they need more."""
    bits = bits_of(operands)
    count = 1 << min(bits, 16)
    numbers = np.arange(count, dtype=np.uint64)
    words = numbers if bits <= 16 else mixed(numbers)
    for operand in operands:
        yield np.stack([take(words, operand.type, k, bits) for k in places(operand, operands)], axis=1)


def mixed(numbers: Array) -> Array:
    """SplitMix64's output for each number: 64 bits that look random, the same everywhere."""
    words = (numbers + np.uint64(1)) * np.uint64(GAMMA)
    for shift, factor in MIXERS:
        words = (words ^ words >> np.uint64(shift)) * np.uint64(factor)
    return np.asarray(words ^ words >> np.uint64(31))


def places(operand: Operand, operands: Sequence[Operand]) -> range:
    """Which of the row's values are the operand's."""
    before = sum(one.width for one in operands[: operands.index(operand)])
    return range(before, before + operand.width)


def take(words: Array, kind: str, place: int, bits: int) -> Array:
    """The code in that place of each word, counted from the lowest code of the type."""
    size = INTEGER_TYPES[kind].bits
    raw = words >> np.uint64((place * size) % 64) & np.uint64((1 << size) - 1)
    return (raw.astype(np.int64) + INTEGER_TYPES[kind].lowest).astype(kind)


def constant(operand: Operand) -> Array:
    """Every code, a column each; of more than one value a sample that begins with the ends."""
    ends = INTEGER_TYPES[operand.type]
    if operand.width == 1 and ends.bits <= 8:
        chosen = np.arange(ends.lowest, ends.highest + 1)[None]
    else:
        chosen = np.array(list(sampled(operand))).T
    array = chosen.astype(operand.type)
    return array[None] if operand.columns else array


def sampled(operand: Operand) -> Iterator[tuple[int, ...]]:
    ends = INTEGER_TYPES[operand.type]
    yield from list(product((ends.lowest, ends.highest), repeat=operand.width))[:4]
    draw = np.random.default_rng(SEED)
    for _ in range(MOST_COLUMNS - min(4, 2**operand.width)):
        yield tuple(int(code) for code in draw.integers(ends.lowest, ends.highest + 1, operand.width))


def numbers_of(pattern: Pattern, operand: Operand, pairs: Mapping[str, ScalePair]) -> Array:
    """float32 numbers on both sides of every decision of each Q: the nearest to the decision and its two neighbours."""
    kept = {
        number for step in pattern.steps if step.operation == QUANTIZE for number in beside_roundings(pairs[step.pair])
    }
    line = np.array(sorted(kept), np.float32)
    return np.stack([np.roll(line, 7 * k) for k in range(operand.width)], axis=1)


def beside_roundings(pair: ScalePair) -> Iterator[float]:
    scale, (lowest, highest) = Fraction(float(pair.scale)), pair.ends
    for code in range(lowest, highest + 1):
        for twice in (2 * (code - pair.zero_point), 2 * (code - pair.zero_point) + 1):
            near = np.float32(float(scale * twice / 2))
            yield from (float(np.nextafter(near, side)) for side in (np.float32(-np.inf), near, np.float32(np.inf)))


def equally_long(found: Mapping[str, Array]) -> dict[str, Array]:
    """All operands with as many rows as the longest has: shorter ones begin again."""
    count = max(len(array) for array in found.values())
    return {name: array[np.arange(count) % len(array)] for name, array in found.items()}
