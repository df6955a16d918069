"""The theorems that an arithmetic falls under, from the packaged results. Only what fits exactly is cited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.certificates import comparison_of
from tiebreak.conformance.theorems.compare import ScaleComparison
from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.severity import percent

RESULTS = Path(__file__).with_name("results.json")
PAGE = "docs/theorems.md"
Citation = dict[str, str]


@cache
def counted() -> Mapping[str, ScaleComparison]:
    """Every theorem's result by its id."""
    return {row["id"]: comparison_of(row) for row in json.loads(RESULTS.read_text(encoding="utf-8"))}


def citations(found: Mapping[str, str], documented: Mapping[str, str], real: str, quantized: str) -> list[Citation]:
    """The theorems about an arithmetic against its document's, or about the document's against real arithmetic.

    `found` and `documented` are values' ids by facet, `real` and `quantized` names of types. Empty where no theorem is
    about exactly these.
    """
    left, right = named(found), named(documented)
    if left is None or right is None:
        return []
    others = [right] if left != right else list(exactly(right))
    about = [(name, one) for name, one in counted().items() if one.left == left and one.right in others]
    fitting = [(name, one) for name, one in about if (one.domain.real, one.domain.quantized) == (real, quantized)]
    return [{"id": name, "sentence": sentence(one), "page": PAGE} for name, one in fitting]


def named(values: Mapping[str, str]) -> NamedArithmetic | None:
    """The arithmetic with these values; None if theorems know no such one."""
    try:
        return NamedArithmetic(**values)
    except (InvalidInput, TypeError):
        return None


def exactly(arithmetic: NamedArithmetic) -> Iterator[NamedArithmetic]:
    """The same in real arithmetic, if there is one."""
    usual = NamedArithmetic()
    real = {"precision": "exact", "scaling": usual.scaling, "zero_point": usual.zero_point}
    try:
        yield replace(arithmetic, **real)
    except InvalidInput:
        return


def sentence(found: ScaleComparison) -> str:
    """A theorem's counts in words; those of ordinary scales, if the ends were counted by themselves."""
    part, domain = found.normal or found.parts[0], found.domain.text
    if found.equal:
        ordinary = "" if found.ends is not None else " at which nothing is subnormal or overflows"
        return f"gives the codes of `{found.right.name}` for every input and every scale{ordinary} ({domain})"
    ordinary = "" if found.normal is None else ", counted over all at which nothing is subnormal or overflows"
    mean = f"{part.mean:,.1f}" if part.mean >= 0.1 else f"{part.mean:.2g}"
    return (
        f"differs from `{found.right.name}` at {mean} inputs per scale on average, and at none for "
        f"{percent(part.without, part.scales)} of scales{ordinary} ({domain})"
    )
