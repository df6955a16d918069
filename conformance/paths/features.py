"""What separates the answers to the same operands: constants, granularity, rank, place in a vector loop, or size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, compress, pairwise

import numpy as np

from tiebreak.conformance.paths.same_operands import Part, SameOperands, granularity
from tiebreak.golden.problem import Array

WIDTHS = (2, 4, 8, 16, 32, 64)
SIZES = (4, 8, 16, 32, 64, 1024)
FEW = 4  # with fewer elements of an answer, pairs of features would separate them by chance
BAKED = (
    "with every parameter as an input",
    "with some parameters as constants and some as inputs",
    "with every parameter as a constant",
)


@dataclass(frozen=True)
class Feature:
    """A property by which elements differ: a label (int) for each element, and a text for each label.

    `aspect` is the part of a layout that the feature is about; it is empty for positions and sizes.
    """

    labels: Array
    texts: tuple[str, ...]
    aspect: str = ""


def distinguishing_features(elements: SameOperands) -> dict[tuple[str, ...], list[str]]:
    """The features that separate the answers, the simplest first: by a feature's texts, a text for each answer.

    First, features that always vary together in the layouts that ran are merged: the data cannot tell which of them
    matters. Pairs of features are tried only if no single one separates the answers.
    """
    layouts, positions = list(layout_features(elements)), list(position_features(elements))
    found = {feature.texts: separated_by(elements, feature) for feature in (*merged_features(layouts), *layouts)}
    found["sizes",] = separated_by_size(elements)
    found |= {feature.texts: separated_by(elements, feature) for feature in positions}
    if not any(found.values()) and np.bincount(elements.answer).min() >= FEW:
        pairs = combinations([*layouts, *positions], 2)
        found = {(*one.texts, *other.texts): separated_by_two(elements, one, other) for one, other in pairs}
    return {what: texts for what, texts in found.items() if texts}


def merged_features(features: Sequence[Feature]) -> Iterator[Feature]:
    """Features that split the elements identically, merged into one; of several about constants the last is named."""
    alike: dict[bytes, list[Feature]] = {}
    for feature in features:
        alike.setdefault(classes_of(feature.labels).tobytes(), []).append(feature)
    for group in alike.values():
        labels = classes_of(group[0].labels)
        if len(group) == 1 or not labels.any():
            continue
        named = {feature.aspect: feature for feature in group}.values()
        examples = [int(np.argmax(labels == number)) for number in range(int(labels.max()) + 1)]
        yield Feature(labels, tuple(", ".join(f.texts[int(f.labels[i])] for f in named) for i in examples))


def classes_of(labels: Array) -> Array:
    """The labels, numbered from 0 in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.reshape(-1)], np.int64)


def layout_features(elements: SameOperands) -> Iterator[Feature]:
    """Features of a layout: constants, granularity and rank."""
    for name in elements.parts[0].parameters:
        labels = elements.by_part(lambda part, name=name: name in part.constants)
        yield Feature(labels, (f"with {name} as an input", f"with {name} as a constant"), "constants")
    some = elements.by_part(lambda part: bool(part.constants))
    yield Feature(some, (BAKED[0], "with parameters as constants"), "constants")
    whole = elements.by_part(lambda part: set(part.constants) == set(part.parameters))
    yield Feature(whole, ("with some parameter as an input", BAKED[2]), "constants")
    yield Feature(some.astype(np.int64) + whole, BAKED, "constants")
    labels = elements.by_part(lambda part: granularity(part) != "per tensor")
    yield Feature(labels, ("per tensor", "per axis"), "granularity")
    labels = elements.by_part(lambda part: len(part.case.shape) > 0)
    yield Feature(labels, ("at rank 0", "at rank 1 or more"), "rank")


def position_features(elements: SameOperands) -> Iterator[Feature]:
    """Features of places: the body and the tail of vector loops over the array or over each row, and sizes."""
    size, row = elements.by_part(lambda part: part.size), elements.by_part(row_length)
    for what, index, length in (("a", elements.index, size), ("a row's", elements.index % row, row)):
        for width in WIDTHS:
            texts = tuple(f"in the {place} of {what} vector loop of {width}" for place in ("body", "tail"))
            yield Feature(index >= length - length % width, texts)
    for limit in SIZES:
        yield Feature(size >= limit, (f"in arrays of less than {limit}", f"in arrays of {limit} or more"))


def row_length(part: Part) -> int:
    return int(part.problem.shape[-1]) if part.problem.shape else 1


def separated_by(elements: SameOperands, feature: Feature) -> list[str]:
    """A text for each answer if every label has one answer only; empty otherwise."""
    occurs = label_answers(elements, feature.labels.astype(np.int64), len(feature.texts))
    if (occurs.sum(axis=1) > 1).any():
        return []
    return [" or ".join(compress(feature.texts, column)) for column in occurs.T]


def separated_by_two(elements: SameOperands, one: Feature, other: Feature) -> list[str]:
    """As separated_by, for two features together. A label that fixes the answer by itself is named alone."""
    shape = len(one.texts), len(other.texts), len(elements.codes)
    occurs = label_answers(elements, one.labels * shape[1] + other.labels, shape[0] * shape[1]).reshape(shape)
    observed = np.asarray(occurs.any(axis=2))
    if (occurs.sum(axis=2) > 1).any():
        return []
    return [" or ".join(own_regions(one.texts, other.texts, occurs[..., n], observed)) for n in range(shape[2])]


def own_regions(rows: Sequence[str], columns: Sequence[str], own: Array, observed: Array) -> Iterator[str]:
    """The texts of the rows, columns and cells in which an answer is the only one that was observed."""
    whole = [own.any(axis=axis) & (own == observed).all(axis=axis) for axis in (1, 0)]
    yield from compress(rows, whole[0])
    yield from (text for j, text in enumerate(columns) if whole[1][j] and own[~whole[0], j].any())
    for i, j in np.argwhere(own & ~whole[0][:, None] & ~whole[1][None, :]):
        yield f"{rows[i]}, {columns[j]}"


def label_answers(elements: SameOperands, labels: Array, count: int) -> Array:
    """A table of booleans: which answers (columns) the elements with each label (rows) have."""
    answers = len(elements.codes)
    found = np.bincount(labels * answers + elements.answer, minlength=count * answers)
    return np.asarray(found.reshape(count, answers) > 0)


def separated_by_size(elements: SameOperands) -> list[str]:
    """A text for each answer if their arrays' sizes do not overlap; empty otherwise."""
    sizes = elements.by_part(lambda part: part.size)
    ends = [
        (int(own.min()), int(own.max())) for n in range(len(elements.codes)) for own in [sizes[elements.answer == n]]
    ]
    ordered = sorted(ends)
    if any(low <= high for (_, high), (low, _) in pairwise(ordered)):
        return []
    return [
        f"in arrays of {low} to {high} elements" if low < high else f"in arrays of {low} elements" for low, high in ends
    ]
