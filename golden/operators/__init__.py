"""The operators, one file each. A new one is a new file here that defines `OPERATOR`; no list names it."""

from __future__ import annotations

from typing import get_args

from tiebreak.golden.discovery import entries_by_module
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.messages import instead_of
from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators.model import Family, Operator

FAMILIES: tuple[Family, ...] = get_args(Family)


def place(spec: Operator) -> tuple[str, int, str]:
    """Where an operator stands in every list and in the order of cases: by source, then family, then id."""
    if spec.family not in FAMILIES:
        raise MachineryFailed(f"{spec.id}: family {spec.family!r} is not one of {', '.join(FAMILIES)}")
    return source_of(spec.id), FAMILIES.index(spec.family), spec.id


def discovered() -> dict[str, Operator]:
    found: dict[str, Operator] = entries_by_module(__name__, __path__, "OPERATOR")
    return {spec.id: spec for spec in sorted(found.values(), key=place)}


OPERATORS: dict[str, Operator] = discovered()


def get_operator(name: str) -> Operator:
    """The operator with this id; InvalidInput names the nearest ones."""
    if name not in OPERATORS:
        raise InvalidInput(f"unknown operator {name!r}; {instead_of(name, OPERATORS, 'tiebreak operators')}")
    return OPERATORS[name]
