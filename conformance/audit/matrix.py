"""The separation matrix: for each two of a node's simplest semantics, the simplest input on which they differ.

The simplest semantics are the document's formula, exactly and in the input's type, and all that differ from the latter
in one facet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import operand_texts
from tiebreak.conformance.audit.inference import plainest_place
from tiebreak.conformance.audit.operators import silence_of
from tiebreak.conformance.audit.proof import Comparison, proof_text, settings_of
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics
from tiebreak.conformance.semantics.precisions import EXACT
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.problem import Array

SEARCHES = 24  # random probes, after the first ones


@dataclass(frozen=True)
class Separation:
    """One pair of semantics: a witness and what each gives for it; or a sentence on how they were shown to be equal."""

    first: int
    second: int
    witness: Probe | None
    gives: tuple[int, int]
    equal: str


def plain_semantics(arithmetic: Arithmetic) -> list[Semantics]:
    """The document's exact and step-by-step semantics, then all that differ from the latter in one facet.

    Where each step of the document is exact, the two are one.
    """
    facets, everything = arithmetic.facets, arithmetic.candidates.places
    base = arithmetic.documented
    exact = (EXACT, *base[1:])
    others: list[Semantics] = [
        (*base[:place], value, *base[place + 1 :]) for place, facet in enumerate(facets) for value in facet.values
    ]
    # Some values make sense only together with certain values of other facets.
    needed = [arithmetic.completed(one) for one in others]
    return list(dict.fromkeys(one for one in (exact, base, *needed) if one in everything))


def separations(arithmetic: Arithmetic, *, whole: bool = True) -> tuple[list[Semantics], list[Separation], int]:
    """The semantics, all their pairs, and the number of inputs that were compared.

    Without `whole` not every x can be asked: a pair that no probe tells apart is not compared for all of them.
    """
    arithmetic.assume()
    semantics, random = plain_semantics(arithmetic), np.random.default_rng(5)
    probes = [*arithmetic.first_probes(), *(arithmetic.further_probe(random) for _ in range(SEARCHES))]
    in_order = sorted(semantics, key=arithmetic.candidates.places.__getitem__)
    tables = []
    for probe in probes:
        found = dict(zip(in_order, arithmetic.predict(probe, in_order), strict=True))
        tables.append(np.stack([found[one] for one in semantics]))
    pairs = combinations(range(len(semantics)), 2)
    compared = sum(probe.x.size for probe in probes)
    told = [separate_pair(arithmetic, semantics, probes, tables, pair, compared, whole=whole) for pair in pairs]
    return semantics, told, compared


def separate_pair(
    arithmetic: Arithmetic,
    semantics: Sequence[Semantics],
    probes: Sequence[Probe],
    tables: Sequence[Array],
    pair: tuple[int, int],
    compared: int,
    *,
    whole: bool,
) -> Separation:
    """The simplest witness of the first probe that has one; without one, the comparison for every x."""
    i, j = pair
    for probe, table in zip(probes, tables, strict=True):
        one, other = table[i], table[j]
        differ = (one != other) & (one != ANYTHING) & (other != ANYTHING)
        if differ.any():
            (place,) = plainest_place(probe, differ)
            return Separation(i, j, probe.only(np.array([place])), (int(one[place]), int(other[place])), "")
    comparison, two, shown = Comparison(arithmetic), [semantics[i], semantics[j]], 0
    for setting in settings_of(probes) if whole else ():
        same, found = comparison.compare(two, setting)
        if found is not None:
            only = found.only(np.array([0]))
            one, other = (int(codes[0]) for codes in arithmetic.predict(only, two))
            return Separation(i, j, only, (one, other), "")
        shown += same
    equal = proof_text(arithmetic, shown) if shown else f"no input of {compared + comparison.inputs} tells them apart"
    return Separation(i, j, None, (0, 0), equal)


def matrix_data(arithmetic: Arithmetic) -> dict[str, Any]:
    """The matrix as plain data: the semantics, and each pair by their numbers."""
    semantics, pairs, compared = separations(arithmetic)
    candidates = arithmetic.candidates
    node = arithmetic.node
    result = ELEMENT_TYPES[node.output_type]
    return {
        "operator": node.operator,
        "input_type": node.input_type,
        "output_type": node.output_type,
        "silence": silence_of(node),
        "inputs_compared": compared,
        "semantics": [candidates.by_facet(one) for one in semantics],
        "documented": semantics.index(tuple(arithmetic.documented)),
        "sentences": {facet.name: facet.sentences for facet in arithmetic.facets},
        "pairs": [
            {"semantics": [one.first, one.second], "equal": one.equal}
            if one.witness is None
            else {
                "semantics": [one.first, one.second],
                "witness": operand_texts(node, one.witness),
                "gives": [bits_and_decimal(code, result)[1] for code in one.gives],
            }
            for one in pairs
        ],
    }
