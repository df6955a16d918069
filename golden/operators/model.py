"""What describes an operator: its clauses, attributes, inputs and types, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.themes import Theme


@dataclass(frozen=True)
class Clause:
    """One normative statement (or, if `unspecified`, one thing that the document leaves open)."""

    id: str
    text: str
    source: str
    unspecified: bool = False


@dataclass(frozen=True)
class Attribute:
    """An attribute by the document's own name; `parse` turns a JSON-like value into the node's form of it.

    `parse` raises ValueError saying what is allowed. `default` is None where the attribute is required, else the
    value that an absent attribute means.
    """

    name: str
    text: str
    parse: Callable[[Any], Any]
    default: Any = None
    required: bool = False


@dataclass(frozen=True)
class Operator:
    """One specified operator of the Quantize family.

    `forms` are the names of its inputs, one tuple for each document that names them differently. `scale_axes` gives,
    for a node's attributes and the shapes of input and scale, the axes on which scale varies (ascending), or raises
    InvalidInput. `saturates` says whether the document defines results beyond the output type's range.
    `modes` are the rounding modes that its nodes can have, `themes` those of its golden vectors that no other shares.
    `roles` names the clause for each thing that a vector's theme may be about, so that themes serve every operator.
    """

    id: str
    prefix: str
    formula: str
    sources: tuple[str, ...]
    clauses: tuple[Clause, ...]
    attributes: tuple[Attribute, ...]
    forms: tuple[tuple[str, str, str], ...]
    output: str
    real_types: tuple[str, ...]
    quantized_types: tuple[str, ...]
    zero_point_optional: bool
    saturates: bool
    round_mode: Callable[[Mapping[str, Any]], str]
    mode_clause: Callable[[str], str]
    roles: Mapping[str, str]
    scale_axes: Callable[[Mapping[str, Any], tuple[int, ...], tuple[int, ...]], tuple[int, ...]]
    modes: tuple[str, ...]
    themes: tuple[Theme, ...]

    def clause(self, id: str) -> Clause:
        return next(clause for clause in self.clauses if clause.id == id)

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name; InvalidInput lists the ones there are."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        known = ", ".join(attribute.name for attribute in self.attributes)
        raise InvalidInput(f"{self.id} has no attribute {name!r}; it has: {known}")

    def parse_attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Validated attributes in the node's form, required ones present, absent optional ones left off."""
        parsed = self.parse_attributes_given(given)
        for attribute in self.attributes:
            if attribute.required and attribute.name not in parsed:
                raise InvalidInput(f"{self.id} needs the attribute {attribute.name!r}: {attribute.text}")
        return parsed

    def has_attribute(self, name: str) -> bool:
        return any(attribute.name == name for attribute in self.attributes)

    def parse_attributes_given(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Like parse_attributes, for a choice among nodes: required attributes may be absent."""
        return {name: self._parse(self.attribute(name), value) for name, value in given.items()}

    def _parse(self, attribute: Attribute, value: Any) -> Any:
        try:
            return attribute.parse(value)
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"{self.id}, attribute {attribute.name!r}: {error}") from None


def parse_choice(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r} is not one of {', '.join(allowed)}")
        return str(value)

    return parse


def parse_integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not an integer")
    return value


def parse_axis_set(value: Any) -> tuple[int, ...]:
    """A set of axis positions as an ascending tuple."""
    axes = [value] if isinstance(value, int) else list(value)
    if any(isinstance(axis, bool) or not isinstance(axis, int) or axis < 0 for axis in axes):
        raise ValueError(f"{value!r} is not a list of axis positions (0, 1, …)")
    if len(set(axes)) != len(axes):
        raise ValueError(f"{value!r} names an axis twice")
    return tuple(sorted(axes))


ALL_REAL_TYPES = tuple(FLOAT_TYPES)
ALL_QUANTIZED_TYPES = tuple(INTEGER_TYPES)
