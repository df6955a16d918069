"""The combinations of the quantize family's facets that an audit searches: how many, and that every rule is needed."""

from __future__ import annotations

from itertools import product

import pytest

from tiebreak.conformance.semantics.quantize_facets import FACETS, Combination
from tiebreak.conformance.semantics.quantize_rules import RULES, RULES_OF_TYPES, valid_combinations
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES

COUNTS = {
    ("float32", "int8"): 9856,
    ("float16", "uint16"): 10847,
    ("bfloat16", "int4"): 11328,
    ("float32", "int32"): 10951,
    ("float64", "uint32"): 10027,
}


@pytest.mark.parametrize(("real", "quantized"), COUNTS)
def test_as_many_combinations_are_searched_as_ever(real: str, quantized: str) -> None:
    """A change of a rule changes these numbers: it must be meant, since causes of recorded runs depend on them."""
    found = valid_combinations(FLOAT_TYPES[real], INTEGER_TYPES[quantized]).all
    assert len(found) == COUNTS[real, quantized]
    names = [set(facet.values) for facet in FACETS]
    assert all(value in names[place] for one in found for place, value in enumerate(one))
    assert all(len(facet.by_id) == len(facet.values) for facet in FACETS)


def test_each_rule_leaves_out_what_no_other_does() -> None:
    """One that does not could be deleted."""
    needed = set()
    for real, quantized in COUNTS:
        for semantics in product(*(facet.values for facet in FACETS)):
            combination = Combination(*semantics)
            names = [rule.name for rule in RULES if rule.excludes(combination)]
            if len(names) < 2:
                types = FLOAT_TYPES[real], INTEGER_TYPES[quantized]
                names += [rule.name for rule in RULES_OF_TYPES if rule.excludes(combination, *types)]
            if len(names) == 1:
                needed.add(names[0])
    every = [rule.name for rule in (*RULES, *RULES_OF_TYPES)]
    assert [name for name in every if name not in needed] == []
    assert len(set(every)) == len(every)
