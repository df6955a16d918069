"""What tells the answers to the same operands apart: constants, granularity, rank, the place in a vector loop, size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, compress, pairwise

import numpy as np

from tiebreak.conformance.paths.members import Part, SameOperands, granularity
from tiebreak.golden.problem import Array

WIDTHS = (2, 4, 8, 16, 32, 64)
SIZES = (4, 8, 16, 32, 64, 1024)
FEW = 4  # elements that are told by their places, since much would tell them apart by chance
BAKED = (
    "with every parameter as an input",
    "with some parameters as constants and some as inputs",
    "with every parameter as a constant",
)


@dataclass(frozen=True)
class Feature:
    """Something to tell elements apart: a label for each, what the labels mean, and what of a layout they are of."""

    labels: Array
    texts: tuple[str, ...]
    of: str = ""


def distinguishing_features(members: SameOperands) -> dict[tuple[str, ...], list[str]]:
    """What tells the answers apart: by what it is, a text for each answer; the simplest first.

    Before all, what only the layouts that were run make one, as one: there nothing tells which of them matters.
    """
    layouts, positions = list(layout_features(members)), list(position_features(members))
    found = {feature.texts: separated_by(members, feature) for feature in (*merged_features(layouts), *layouts)}
    found["sizes",] = separated_by_size(members)
    found |= {feature.texts: separated_by(members, feature) for feature in positions}
    if not any(found.values()) and np.bincount(members.answer).min() >= FEW:
        pairs = combinations([*layouts, *positions], 2)
        found = {(*one.texts, *other.texts): separated_by_two(members, one, other) for one, other in pairs}
    return {what: texts for what, texts in found.items() if texts}


def merged_features(features: Sequence[Feature]) -> Iterator[Feature]:
    """The features that tell the same elements apart, as one that names them all; of those of constants the last."""
    alike: dict[bytes, list[Feature]] = {}
    for feature in features:
        alike.setdefault(classes_of(feature.labels).tobytes(), []).append(feature)
    for group in alike.values():
        labels = classes_of(group[0].labels)
        if len(group) == 1 or not labels.any():
            continue
        named = {feature.of: feature for feature in group}.values()
        examples = [int(np.argmax(labels == number)) for number in range(int(labels.max()) + 1)]
        yield Feature(labels, tuple(", ".join(f.texts[int(f.labels[i])] for f in named) for i in examples))


def classes_of(labels: Array) -> Array:
    """The labels renamed in the order in which they occur first, from 0."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.reshape(-1)], np.int64)


def layout_features(members: SameOperands) -> Iterator[Feature]:
    """Constants, granularity and rank."""
    for name in members.parts[0].parameters:
        labels = members.by_part(lambda part, name=name: name in part.constants)
        yield Feature(labels, (f"with {name} as an input", f"with {name} as a constant"), "constants")
    some = members.by_part(lambda part: bool(part.constants))
    yield Feature(some, (BAKED[0], "with parameters as constants"), "constants")
    whole = members.by_part(lambda part: set(part.constants) == set(part.parameters))
    yield Feature(whole, ("with some parameter as an input", BAKED[2]), "constants")
    yield Feature(some.astype(np.int64) + whole, BAKED, "constants")
    labels = members.by_part(lambda part: granularity(part) != "per tensor")
    yield Feature(labels, ("per tensor", "per axis"), "granularity")
    labels = members.by_part(lambda part: part.case.inputs[0].ndim > 0)
    yield Feature(labels, ("at rank 0", "at rank 1 or more"), "rank")


def position_features(members: SameOperands) -> Iterator[Feature]:
    """Body and tail of vector loops over the array or over each row, and sizes."""
    size, row = members.by_part(lambda part: part.size), members.by_part(row_of_part)
    for what, index, length in (("a", members.index, size), ("a row's", members.index % row, row)):
        for width in WIDTHS:
            texts = tuple(f"in the {place} of {what} vector loop of {width}" for place in ("body", "tail"))
            yield Feature(index >= length - length % width, texts)
    for limit in SIZES:
        yield Feature(size >= limit, (f"in arrays of less than {limit}", f"in arrays of {limit} or more"))


def row_of_part(part: Part) -> int:
    return int(part.problem.shape[-1]) if part.problem.shape else 1


def separated_by(members: SameOperands, feature: Feature) -> list[str]:
    """A text for each answer if no label has two of them; empty otherwise."""
    occurs = label_answers(members, feature.labels.astype(np.int64), len(feature.texts))
    if (occurs.sum(axis=1) > 1).any():
        return []
    return [" or ".join(compress(feature.texts, column)) for column in occurs.T]


def separated_by_two(members: SameOperands, one: Feature, other: Feature) -> list[str]:
    """The same for two features together; a label that has one answer whatever the other says stands alone."""
    shape = len(one.texts), len(other.texts), len(members.codes)
    occurs = label_answers(members, one.labels * shape[1] + other.labels, shape[0] * shape[1]).reshape(shape)
    observed = np.asarray(occurs.any(axis=2))
    if (occurs.sum(axis=2) > 1).any():
        return []
    return [" or ".join(own_regions(one.texts, other.texts, occurs[..., n], observed)) for n in range(shape[2])]


def own_regions(rows: Sequence[str], columns: Sequence[str], own: Array, observed: Array) -> Iterator[str]:
    """Which rows, columns and cells of a table are an answer's own, of those that occur."""
    whole = [own.any(axis=axis) & (own == observed).all(axis=axis) for axis in (1, 0)]
    yield from compress(rows, whole[0])
    yield from (text for j, text in enumerate(columns) if whole[1][j] and own[~whole[0], j].any())
    for i, j in np.argwhere(own & ~whole[0][:, None] & ~whole[1][None, :]):
        yield f"{rows[i]}, {columns[j]}"


def label_answers(members: SameOperands, labels: Array, count: int) -> Array:
    """Which answers (columns) elements with each label (rows) have."""
    answers = len(members.codes)
    found = np.bincount(labels * answers + members.answer, minlength=count * answers)
    return np.asarray(found.reshape(count, answers) > 0)


def separated_by_size(members: SameOperands) -> list[str]:
    """A text for each answer if arrays of one answer are all smaller than those of the next; empty otherwise."""
    sizes = members.by_part(lambda part: part.size)
    ends = [(int(own.min()), int(own.max())) for n in range(len(members.codes)) for own in [sizes[members.answer == n]]]
    ordered = sorted(ends)
    if any(low <= high for (_, high), (low, _) in pairwise(ordered)):
        return []
    return [
        f"in arrays of {low} to {high} elements" if low < high else f"in arrays of {low} elements" for low, high in ends
    ]
