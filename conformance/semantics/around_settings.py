"""What tables have in common that widen the table of a stage at settings, and ask special calls beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from tiebreak.conformance.semantics.block_element_specials import ElementProbe
from tiebreak.conformance.semantics.cast_specials import CastSpecial
from tiebreak.conformance.semantics.model import Probe, Value
from tiebreak.conformance.semantics.special_calls import SpecialCalls
from tiebreak.conformance.semantics.stages import AtSettings
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.nodes import Node


@dataclass
class AroundSettings(SpecialCalls):
    """A table with the calls of `inner`. Values of its special facets have the output's codes of positive numbers."""

    inner: AtSettings

    @property
    def node(self) -> Node:
        return self.inner.node

    def first_probes(self) -> Iterator[Probe]:
        return self.inner.first_probes()

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.inner.further_probe(random)

    def special_of(self, probe: Probe) -> str:
        return probe.facet if isinstance(probe, ElementProbe) else ""

    def special_code(self, value: Value, probe: Probe) -> int:
        code = cast(CastSpecial, value).code(ELEMENT_TYPES[self.node.output_type], False)
        assert code is not None
        return code
