"""Arithmetics of round(x / scale) + zero_point by name: one id for each facet of an audit."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tiebreak.conformance.semantics import quantize_scaling
from tiebreak.conformance.semantics.model import semantics_of
from tiebreak.conformance.semantics.quantize_facets import AFTER, BEFORE, FACETS, Combination
from tiebreak.conformance.semantics.quantize_saturation import SATURATE
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE
from tiebreak.conformance.semantics.subnormals import KEPT
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.rounding import EVEN

OTHERS = ("zero_point", "round_mode", "subnormals", "saturation")  # facets that a name may add


@dataclass(frozen=True)
class NamedArithmetic:
    """One value of each facet, by its id, in the order of an audit's table.

    Raises InvalidInput for an unknown id, and where a scaling leaves no choice: a fused step and a range add the zero
    point before rounding.
    """

    precision: str = "float32"
    scaling: str = DIVIDE.id
    subnormals: str = KEPT.id
    zero_point: str = AFTER.id
    round_mode: str = EVEN
    saturation: str = SATURATE.id

    def __post_init__(self) -> None:
        for facet in FACETS:
            if (given := getattr(self, facet.name)) not in facet.by_id:
                raise InvalidInput(f"{facet.name} {given!r:.80} is unknown; there are {', '.join(facet.by_id)}")
        if self.combination.scaling.adds_zero_point and self.zero_point != BEFORE.id:
            raise InvalidInput(f"{self.scaling} adds the zero point {BEFORE.id}, not {self.zero_point}")
        if self.precision == "exact" and self.scaling != DIVIDE.id:
            raise InvalidInput(f"an exact quotient is {DIVIDE.id}, not {self.scaling}")
        if self.precision == "exact" and self.combination.round_mode.sum:
            raise InvalidInput(f"an exact quotient has no rounded sum with 0.5: {self.round_mode} needs a precision")

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def combination(self) -> Combination:
        return Combination._make(semantics_of(FACETS, self.ids))

    @property
    def name(self) -> str:
        """The name that `arithmetic_named` takes: scaling and precision, then what is not the usual value."""
        first = "exact" if self.precision == "exact" else f"{self.scaling} in {self.precision}"
        usual = NamedArithmetic(zero_point=BEFORE.id if self.combination.scaling.adds_zero_point else AFTER.id)
        others = [getattr(self, name) for name in OTHERS if getattr(self, name) != getattr(usual, name)]
        return ", ".join([first, *others])


def arithmetic_named(text: str) -> NamedArithmetic:
    """The arithmetic of a name such as "reciprocal in float32", "exact" or "divide in float32, before-rounding".

    A scaling and a precision come first, then ids of other facets. InvalidInput names what is unknown.
    """
    first, *others = (part.strip() for part in text.split(","))
    scaling, _, precision = first.partition(" in ")
    found = {"precision": "exact"} if first == "exact" else {"scaling": scaling, "precision": precision}
    if scaling in [one.id for one in quantize_scaling.EVERY if one.adds_zero_point]:
        found["zero_point"] = BEFORE.id
    for other in others:
        found[facet_of(other)] = other
    return NamedArithmetic(**found)


def facet_of(value: str) -> str:
    """The facet after scaling and precision that has a value with this id."""
    named = {facet.name: facet for facet in FACETS}
    for name in OTHERS:
        if value in named[name].by_id:
            return name
    known = ", ".join(one for name in OTHERS for one in named[name].by_id)
    raise InvalidInput(f"{value!r:.80} is no value of a facet; there are {known}")
