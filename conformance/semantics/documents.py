"""Documents as semantics: the combinations of facets that a text allows, and the nodes and inputs that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from tiebreak.conformance.semantics.model import Arithmetic, Facet, Probe, Semantics, Unknown, Value
from tiebreak.conformance.semantics.precisions import EXACT, OF_TYPE
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

OWN = Unknown("own", "the precision of the input's type, whatever that is")
ASKED = Unknown("asked", "what the operator's document says, of nodes with these attributes")
STEPS = (EXACT, OWN)  # real arithmetic, and each of its steps in the input's type: what a mere formula allows


@dataclass(frozen=True)
class ValueNamed:
    """The value of a facet that has this id: of facets whose values differ from table to table."""

    id: str
    sentence: str = ""
    cause: str = ""


Allowed = Mapping[str, tuple[Value, ...]]  # values by facet; of a facet that is left off, every value


@dataclass(frozen=True)
class SpecialRule:
    """What a text says of NaN, an infinity or zeros: ids of values by special facet.

    It is about nodes with these attributes, output types and operator sets; empty ones: about any.
    """

    values: Mapping[str, tuple[str, ...]]
    asked: Mapping[str, Any] = field(default_factory=dict)
    output_types: tuple[str, ...] = ()
    opsets: range = range(1 << 16)

    def is_about(self, node: Node) -> bool:
        kinds = not self.output_types or node.output_type in self.output_types
        return kinds and node.opset in self.opsets and all(node.value(n) == v for n, v in self.asked.items())


@dataclass(frozen=True)
class Authority:
    """What a text says of an operator's arithmetic.

    `says` and `open` are sentences of our own: its formula, and what it leaves open. `allows` has the combinations that
    the text allows, as products of values; none means that the text has no arithmetic. With `modes` the round mode is
    an attribute, and each of these values is a reading of its own. `input_types` and `output_types` are the types that
    it is about (empty: all), `asked` the attributes (empty: any). With `symmetric` it is about a zero point of 0 only.
    A `relation` between input and result is no arithmetic: each result may come of another combination. `specials` say
    what NaN, infinities and zeros give.
    """

    id: str
    title: str
    version: str
    url: str
    says: str
    open: str
    allows: tuple[Allowed, ...] = ()
    modes: tuple[str, ...] = ()
    input_types: tuple[str, ...] = ()
    output_types: tuple[str, ...] = ()
    asked: tuple[Mapping[str, Any], ...] = ()
    symmetric: bool = False
    relation: bool = False
    specials: tuple[SpecialRule, ...] = ()

    def special_ids(self, node: Node, facet: str) -> tuple[str, ...]:
        """The ids of the values that it allows for a special facet of a node; none if it says nothing."""
        if self.silence(node):
            return ()
        return tuple(one for rule in self.specials if rule.is_about(node) for one in rule.values.get(facet, ()))

    def silence(self, node: Node) -> str:
        """Why it says nothing of a node; empty if it says something."""
        for types, kind in ((self.input_types, node.input_type), (self.output_types, node.output_type)):
            if types and kind not in types:
                return f"it is about {', '.join(types)}, not {kind}"
        if self.asked and not any(all(node.value(n) == v for n, v in one.items()) for one in self.asked):
            return "it says nothing of these attributes"
        return "" if self.allows else "it has no formula"

    def covers(self, probe: Probe) -> bool:
        """Whether it says anything of a probe's elements, all of which have the same zero point."""
        return not self.symmetric or not np.asarray(probe.others[-1]).astype(np.int64).any()

    def readings(self, arithmetic: Arithmetic) -> dict[str, list[Semantics]]:
        """The combinations by round mode, where that is an attribute; else all of them under an empty name."""
        if not self.modes:
            return {"": self.combinations(arithmetic, {})}
        own = arithmetic.node.round_mode if "round_mode" in arithmetic.node.attributes else ""
        modes = [mode for mode in self.modes if not own or mode == own]
        return {mode: self.combinations(arithmetic, {"round_mode": (MODES[mode],)}) for mode in modes}

    def combinations(self, arithmetic: Arithmetic, also: Allowed) -> list[Semantics]:
        """Those of the audit's candidates that the text allows; a candidate stands for all that equal it."""
        places = arithmetic.candidates.places
        found = {one for allowed in self.allows for one in products(arithmetic, {**allowed, **also}) if one in places}
        return sorted(found, key=places.__getitem__)


def products(arithmetic: Arithmetic, allowed: Allowed) -> Iterator[Semantics]:
    own = OF_TYPE.get(arithmetic.node.input_type, EXACT)
    documented = zip(arithmetic.facets, arithmetic.documented, strict=True)
    return product(*(values_of(facet, allowed, {OWN: own, ASKED: value}) for facet, value in documented))


def values_of(facet: Facet, allowed: Allowed, meant: Mapping[Value, Value]) -> list[Value]:
    given = allowed.get(facet.name, facet.values)
    return [facet.by_id[value.id] if isinstance(value, ValueNamed) else meant.get(value, value) for value in given]


def open_facets(document: Authority, arithmetic: Arithmetic) -> list[str]:
    """The facets of which the text allows every value; all of them, if it has no arithmetic."""
    return [
        facet.name
        for facet in arithmetic.facets
        if all(facet.name not in allowed for allowed in document.allows)
        and not (document.modes and facet.name == "round_mode")
    ]


def predictions(arithmetic: Arithmetic, probe: Probe, semantics: list[Semantics]) -> Array:
    """What each semantics (rows) gives for each element (columns)."""
    return np.stack([codes.copy() for codes in arithmetic.predict(probe, semantics)])
