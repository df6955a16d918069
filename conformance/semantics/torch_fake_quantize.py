"""PyTorch's fake quantizers as black boxes compute them: the table of quotients, and each level as the number it is.

    output = (min(quant_max, max(quant_min, nearby_int(input / scale) + zero_point)) - zero_point) * scale

A number shows its level, so the facets are those that lead to the level. The product that follows is the document's,
rounded once: what makes another product is in no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics, Value, codes
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.stages import stand_in
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, array_of

POINT = "int32"
NO_LEVEL = 1 << 40  # stands for a number that no level is
KNOWN = ("uint8", "int8", "uint4", "int4", "uint16", "int16")


@dataclass
class FakeLevels:
    """The arithmetic of a node whose levels are the integers of a type: `inner` is the table of these integers."""

    node: Node
    inner: QuantizeArithmetic

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.inner.facets

    @property
    def specials(self) -> tuple[Facet, ...]:
        return self.inner.specials

    @property
    def documented(self) -> Semantics:
        return self.inner.documented

    @property
    def candidates(self) -> Candidates:
        return self.inner.candidates

    def completed(self, semantics: Semantics) -> Semantics:
        return self.inner.completed(semantics)

    def first_probes(self) -> Iterator[Probe]:
        return map(with_wide_point, self.inner.first_probes())

    def further_probe(self, random: np.random.Generator) -> Probe:
        return with_wide_point(self.inner.further_probe(random))

    def special_probes(self) -> Iterator[Probe]:
        return map(with_wide_point, self.inner.special_probes())

    def special_of(self, probe: Probe) -> str:
        return self.inner.special_of(probe)

    def special_code(self, value: Value, probe: Probe) -> int:
        level = self.inner.special_code(value, probe)
        return level if level == ANYTHING else int(numbers_of(np.array([level]), probe)[0])

    def assume(self) -> None:
        self.inner.assume()

    def ignore_specials(self) -> None:
        self.inner.ignore_specials()

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        return self.inner.learn_specials([(probe, level_of(code, probe)) for probe, code in seen])

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        return self.inner.region([(probe, *(level_of(code, probe) for code in both)) for probe, *both in wrong])  # type: ignore[misc]

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (found for found, _ in self.staged(probe, semantics))

    def stage_key(self, semantics: Semantics) -> Semantics:
        return self.inner.stage_key(semantics)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        last, found = np.empty(0), np.empty(0)
        for levels, stage in self.inner.staged(probe, semantics):
            if not (levels is last or np.array_equal(levels, last)):  # neighbours often have the same
                last, found = levels, np.where(levels == ANYTHING, ANYTHING, numbers_of(levels, probe))
            yield found, stage


def with_wide_point(probe: Probe) -> Probe:
    scale, point = probe.others
    return Probe(probe.x, (scale, point.astype(POINT)))


def numbers_of(levels: Array, probe: Probe) -> Array:
    """The codes of the numbers that levels stand for."""
    scale, point = probe.others
    with np.errstate(all="ignore"):
        difference = np.where(levels == ANYTHING, 0, levels).astype(np.float64) - point.astype(np.float64)
        return codes((difference * scale.astype(np.float64)).astype(np.float32))  # exact until it is rounded


def level_of(code: int, probe: Probe) -> int:
    """The level that a number, by its code, stands for in a call of one element."""
    if code == ANYTHING:
        return code
    number = float(array_of("float32", (1,), [code])[0])
    scale, point = (float(other.reshape(-1)[0]) for other in probe.others)
    place = number / scale if scale else np.nan
    level = round(place + point) if np.isfinite(place) else NO_LEVEL
    return level if int(numbers_of(np.array([level]), probe)[0]) == code else NO_LEVEL


def torch_fake_quantize(node: Node) -> FakeLevels:
    """The arithmetics that a node may have. InvalidInput for levels that are no type's, or float zero points."""
    ends = node.value("quant_min"), node.value("quant_max")
    kinds = [name for name in KNOWN if (INTEGER_TYPES[name].lowest, INTEGER_TYPES[name].highest) == ends]
    if not kinds:
        known = ", ".join(f"{INTEGER_TYPES[name].lowest} to {INTEGER_TYPES[name].highest}" for name in KNOWN)
        raise InvalidInput(f"{node.operator}: semantics are known of levels {known}, not of {ends[0]} to {ends[1]}")
    if (point := node.inputs[2].dtype.name) != POINT:
        raise InvalidInput(f"{node.operator}: semantics are known of integer zero points, not of {point}")
    real = node.inputs[0].dtype
    operands = (("input", real), ("scale", real), ("zero_point", kinds[0]))
    return FakeLevels(node, QuantizeArithmetic(stand_in(node, operands, ("level", kinds[0]))))


ROLES = {"zero_point": "add", "round_mode": "nearest", "saturation": "clamp"}


def role_of_fake_quantize(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    return ROLES.get(facet, "quotient")
