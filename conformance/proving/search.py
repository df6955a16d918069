"""Looks for a difference at chosen scales: decimals, near-rational ratios, powers of two, and scales of few bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.conformance.patterns.operands import SEED, mixed
from tiebreak.conformance.patterns.parameters import every_setting
from tiebreak.conformance.proving.arithmetic import NO_CODE, Evaluation, Parameters, is_computed
from tiebreak.conformance.proving.claim import Claim, ClaimSide
from tiebreak.conformance.proving.findings import WrittenCounterexample
from tiebreak.conformance.proving.scalars import Scalar
from tiebreak.conformance.proving.scales import significant_bits
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.exact import exact
from tiebreak.golden.patterns.graph import REAL, Pattern, ScalePair
from tiebreak.golden.problem import Array

Rows = Mapping[str, Array]  # [rows, width] of each operand
MOST_ROWS = 1 << 16
MOST_BITS = 12  # of simpler floats that are tried
FEW_BITS = ("1", "1.5", "1.25", "1.75", "3", "5")


def search(claim: Claim, further: Sequence[Mapping[str, ScalePair]] = ()) -> WrittenCounterexample | None:
    """The difference with the fewest bits in its scales of all that chosen scales, and `further` ones, show."""
    sides = (claim.left, claim.right)
    if not claim.pairs:
        return None  # no scale to choose
    if not all(is_computed(one) for side in sides if not side.is_exact for one in side.numbers):
        return None  # a curve's float is not that of every library
    best: tuple[Any, Mapping[str, ScalePair], Rows] | None = None
    for pairs in (*further, *settings(claim)):
        simplicity = simplicity_of(pairs, claim.real)
        if best is not None and simplicity > best[0][:2]:
            continue
        found = difference(claim, pairs, rows_of(claim, pairs))
        if found is not None and (best is None or (*simplicity, found[0]) < best[0]):
            best = (*simplicity, found[0]), pairs, found[1]
    return written_row(claim, best[1], simplified(claim, best[1], best[2])) if best else None


def simplicity_of(pairs: Mapping[str, ScalePair], real: str) -> tuple[int, int]:
    """The significant bits of all scales, and how far these are from 1."""
    scales = [abs(float(pair.scale)) for pair in pairs.values()]
    return sum(bits_of(pair, real) for pair in pairs.values()), sum(abs(math.frexp(one)[1] - 1) for one in scales)


def settings(claim: Claim) -> Iterator[dict[str, ScalePair]]:
    """Scales and zero points for which the claim is made."""
    kind, sign = numpy_dtype(claim.real).type, 1 if claim.sign == "positive" else -1
    shell = Pattern("", "", (), (), claim.pairs, "")
    chosen = [dict(one.pairs) for one in every_setting(shell)]
    for first in FEW_BITS:
        for second in FEW_BITS if len(claim.pairs) > 1 else FEW_BITS[:1]:
            texts = [first if number % 2 == 0 else second for number in range(len(claim.pairs))]
            chosen.append(
                {
                    name: ScalePair(np.float32(text), 0, kind_)
                    for (name, kind_), text in zip(claim.pairs.items(), texts, strict=True)
                }
            )
    for pairs in chosen:
        zeros = {name: nearest(pair.zero_point, claim.zero_points_of(pair.type)) for name, pair in pairs.items()}
        yield {
            name: replace(pair, scale=kind(sign * float(pair.scale)), zero_point=zeros[name])
            for name, pair in pairs.items()
        }


def nearest(zero_point: int, allowed: list[int]) -> int:
    return min(allowed, key=lambda one: (abs(one - zero_point), one))


def bits_of(pair: ScalePair, real: str) -> int:
    word = np.array([pair.scale], numpy_dtype(real))
    return int(significant_bits(word.view(f"u{word.itemsize}"), real)[0])


def difference(claim: Claim, pairs: Mapping[str, ScalePair], rows: Rows) -> tuple[float, Rows] | None:
    """The row that differs whose operands are nearest to zero, behind their distance from it."""
    differs = where_sides_differ(claim, pairs, rows)
    places = np.flatnonzero(differs)
    if not len(places):
        return None
    distances = sum(np.abs(row.astype(np.float64)).sum(axis=1) for row in rows.values())
    distance = np.asarray(distances)[places]
    best = places[int(np.argmin(distance))]
    return float(distance.min()), {name: values[best : best + 1] for name, values in rows.items()}


def where_sides_differ(claim: Claim, pairs: Mapping[str, ScalePair], rows: Rows) -> Array:
    """Whether any column differs, for each row."""
    found = sides_of_rows(claim, pairs, rows)
    count = len(next(iter(rows.values())))
    if found is None:
        return np.zeros(count, bool)
    left, right, ordinary = found
    return np.asarray(((left != right) & has_value(left) & has_value(right) & ordinary).any(axis=1))


def sides_of_rows(claim: Claim, pairs: Mapping[str, ScalePair], rows: Rows) -> tuple[Array, Array, Array] | None:
    """Both sides, [rows, width], and whether each row keeps to the claim's range; None if a truth is not known."""
    ordinary = np.ones((len(next(iter(rows.values()))), 1), bool)
    left, right = (values_of(side, claim, pairs, rows, ordinary) for side in (claim.left, claim.right))
    return None if left is None or right is None else (left, right, ordinary)


def simplified(claim: Claim, pairs: Mapping[str, ScalePair], row: Rows) -> Rows:
    """A row that still differs, with each operand in turn as simple as the others allow."""
    for name in sorted(row):
        for index in range(row[name].shape[1]):
            candidates = simpler_values(row[name][0, index])
            if not len(candidates):
                continue
            rows = {other: np.repeat(values, len(candidates), axis=0) for other, values in row.items()}
            rows[name][:, index] = candidates
            if len(places := np.flatnonzero(where_sides_differ(claim, pairs, rows))):
                row = {other: values[places[0] : places[0] + 1] for other, values in rows.items()}
    return row


def simpler_values(value: Any) -> Array:
    """Codes nearer to 0, or floats of fewer significant bits, at most 12, within a factor of 16; simplest first."""
    if np.asarray(value).dtype.kind in "iu":
        nearer = np.arange(-abs(int(value)), abs(int(value)) + 1)
        allowed = nearer[(nearer >= 0) | (int(value) < 0)]
        return np.asarray(allowed[np.argsort(np.abs(allowed), kind="stable")][: abs(int(value))])
    kind = np.asarray(value).dtype
    fraction, exponent = math.frexp(float(value))
    if fraction == 0:
        return np.zeros(0, kind)
    bits = min(int(significant_bits(np.array([value]).view(f"u{kind.itemsize}"), kind.name)[0]) - 1, MOST_BITS)
    found = [np.zeros(1)]
    for count in range(1, bits + 1):
        odd = np.array([1.0]) if count == 1 else np.arange((1 << count - 1) + 1, 1 << count, 2) / (1 << count - 1)
        sizes = np.sort(np.outer(2.0 ** np.arange(exponent - 5, exponent + 4), odd).ravel())
        found.append(np.stack([sizes, -sizes], axis=1).ravel())
    floats = np.concatenate(found)
    return np.asarray(floats[floats.astype(kind).astype(np.float64) == floats].astype(kind))


def written_row(claim: Claim, pairs: Mapping[str, ScalePair], row: Rows) -> WrittenCounterexample:
    """A row that differs, and the first column that does."""
    found = sides_of_rows(claim, pairs, row)
    assert found is not None
    left, right, _ = found
    column = int(np.argmax(((left != right) & has_value(left) & has_value(right))[0]))
    operands = {
        name + (f"[{index}]" if index else ""): shown(values[0, index])
        for name, values in row.items()
        for index in range(values.shape[1])
    }
    scales = {name: shown(pair.scale) for name, pair in pairs.items()}
    zeros = {name: pair.zero_point for name, pair in pairs.items()}
    return WrittenCounterexample(operands, scales, zeros, shown(left[0, column]), shown(right[0, column]))


def has_value(results: Array) -> Array:
    """Where there is a code or a number: no document says what NaN becomes."""
    if results.dtype.kind in "iu":
        return np.asarray(results != NO_CODE)
    return ~np.isnan(results.astype(np.float64))


def shown(value: Any) -> str:
    return repr(float(value)) if np.asarray(value).dtype.kind not in "iu" else str(int(value))


def rows_of(claim: Claim, pairs: Mapping[str, ScalePair]) -> dict[str, Array]:
    """[rows, width] for each operand: every combination of codes, or a fixed sample; floats near decisions."""
    operands = claim.operands()
    codes = [one for one in operands if one.is_code]
    bits = sum(INTEGER_TYPES[one.type].bits for one in codes)
    numbers = np.arange(1 << min(bits, 16) if codes else MOST_ROWS >> 4, dtype=np.uint64)
    found: dict[Scalar, Array] = {}
    place = 0
    for one in codes:
        size = INTEGER_TYPES[one.type].bits
        words = numbers if bits <= 16 else mixed(numbers + np.uint64(SEED + place // 64))
        raw = words >> np.uint64(place % 64) & np.uint64((1 << size) - 1)
        found[one] = raw.astype(np.int64) + INTEGER_TYPES[one.type].lowest
        place += size
    line = decisions(pairs, claim.real)
    for turn, one in enumerate(one for one in operands if not one.is_code):
        found[one] = np.roll(line, 7 * turn)[np.arange(len(numbers)) % len(line)]
    rows: dict[str, list[Array]] = {}
    for one in sorted(operands, key=lambda each: (each.name, each.index)):
        rows.setdefault(one.name, []).append(found[one])
    return {name: np.stack(values, axis=1) for name, values in rows.items()}


def decisions(pairs: Mapping[str, ScalePair], real: str) -> Array:
    """Floats at every decision of each pair and on both sides of it."""
    kind = numpy_dtype(real)
    found = []
    for pair in pairs.values():
        span = pair.ends[1] - pair.ends[0]
        halves = np.arange(-2 * min(span, 1023), 2 * min(span, 1023) + 1) / 2 * float(pair.scale)
        near = halves.astype(kind)
        found += [near, np.nextafter(near, kind.type(np.inf)), np.nextafter(near, kind.type(-np.inf))]
    return np.unique(np.concatenate(found).astype(np.float64)).astype(kind)


def values_of(
    side: ClaimSide, claim: Claim, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], ordinary: Array
) -> Array | None:
    """A side's results, [rows, width]; None if its exact truth is not known.

    `ordinary`, [rows, 1], becomes false where a number leaves the normal range that the claim keeps to.
    """
    if side.is_exact and side.pattern is not None:
        if side.pattern.output == REAL:
            return None
        try:
            return exact(side.pattern, pairs, rows)
        except InvalidInput:
            return None
    known = {one: rows[one.name][:, one.index] for one in claim.operands()}
    known = {one: row.astype(np.int32) if one.is_code else row for one, row in known.items()}
    parameters = {name: Parameters(pair.scale, pair.zero_point, *pair.ends) for name, pair in pairs.items()}
    evaluation = Evaluation(claim.real, parameters, dict(known))
    with np.errstate(all="ignore"):
        found = np.stack([np.asarray(evaluation.of(one)) for one in side.numbers], axis=1)
    if claim.extent == "normal":
        for number, values in evaluation.known.items():
            if not number.is_code:
                ordinary &= is_ordinary(np.asarray(values), claim.real)[:, None]
    return found


def is_ordinary(values: Array, real: str) -> Array:
    """Whether numbers are zero, or finite and not subnormal."""
    sizes = np.abs(values.astype(np.float64))
    return np.asarray((sizes == 0) | ((sizes >= 2.0 ** FLOAT_TYPES[real].emin) & np.isfinite(sizes)))
