"""What an audit found, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from tiebreak.conformance.audit.asking import PathDependence
from tiebreak.conformance.audit.inference import NOT_ANSWERED, Inference, Refutation, alone_or_all
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.semantics.model import Probe, Semantics, Unknown, Value, ids_of
from tiebreak.conformance.semantics.quantize_facets import FACETS
from tiebreak.conformance.theorems.citing import Citation, citations
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import codes_of

Operands = dict[str, dict[str, str]]  # by input name: its "bits" and its "value"

NONE_FITS = Unknown("none-of-these", "no value of the table fits the answers")
BY_PATH = Unknown("path-dependent", "an answer depends on the operand's place")


@dataclass(frozen=True)
class AuditAnswer:
    """The result of an audit of one node: what is left of the semantics, and what went wrong."""

    node: Node
    inference: Inference
    path: PathDependence | None
    finite_path: bool  # whether `path` is about a finite input; NaN and infinities do not affect the other facets
    equal: list[str]  # sentences: how the semantics that are left were shown to be equal; empty if only one is left
    failed: list[tuple[Probe, str]]  # calls without a result, each with its message
    told: dict[tuple[bytes, ...], Operands] = field(default_factory=dict)  # of witnesses, which many semantics share
    texts: dict[int, str] = field(default_factory=dict)  # of codes

    @property
    def names(self) -> tuple[str, ...]:
        return self.inference.arithmetic.candidates.names

    @property
    def found(self) -> bool:
        """Whether some semantics fits every answer."""
        return bool(self.inference.alive) and all(self.inference.specials.values()) and not self.finite_path

    def consistent(self) -> list[dict[str, str]]:
        """Every combination of facet values that fits all answers: the values' ids by facet name."""
        if not self.found:
            return []
        specials = self.inference.specials
        rest = [dict(zip(specials, ids_of(values), strict=True)) for values in product(*specials.values())]
        return [self.by_name(one) | special for one in self.inference.alive for special in rest]

    def by_name(self, semantics: Semantics) -> dict[str, str]:
        return dict(zip(self.names, ids_of(semantics), strict=True))

    def semantics(self) -> dict[str, str | list[str]]:
        """The id of each facet's value, or those that it may have: never a guess. Empty if nothing fits."""
        consistent = self.consistent()
        if not consistent:
            return {}
        found = {name: list(dict.fromkeys(one[name] for one in consistent)) for name in consistent[0]}
        return alone_or_all(found)

    def theorems(self) -> list[Citation]:
        """The theorems about the one arithmetic that is left; none if several are, or theorems are about others."""
        arithmetic, alive = self.inference.arithmetic, self.inference.alive
        if not self.found or len(alive) != 1 or arithmetic.facets != FACETS:
            return []
        names = self.by_name(alive[0]), self.by_name(arithmetic.documented)
        return citations(*names, self.node.input_type, self.node.output_type)

    def sentences(self) -> dict[str, dict[str, str]]:
        """What the values of each facet mean, by their ids."""
        arithmetic, also = self.inference.arithmetic, (NOT_ANSWERED, BY_PATH, NONE_FITS)
        specials = {facet.name: facet.sentences | sentences_of(also) for facet in arithmetic.specials}
        return {facet.name: facet.sentences for facet in arithmetic.facets} | specials

    def refuted(self) -> list[dict[str, Any]]:
        """Every combination, and every value of a special facet, that was ruled out, with its witness."""
        rows = [
            {"semantics": self.by_name(one), **self.witness_data(witness)}
            for one, witness in self.inference.refuted.items()
        ]
        return rows + [row for facet in self.inference.specials for row in self.refuted_specials(facet)]

    def refuted_specials(self, facet: str) -> list[dict[str, Any]]:
        arithmetic, rows = self.inference.arithmetic, []
        (values,) = (one.values for one in arithmetic.specials if one.name == facet)
        for value in values:
            for probe, code in self.inference.special_answers:
                if arithmetic.special_of(probe) == facet and arithmetic.special_code(value, probe) != code:
                    witness = Refutation(probe, arithmetic.special_code(value, probe), code)
                    rows.append({"semantics": {facet: value.id}, **self.witness_data(witness)})
                    break
        return rows

    def witness_data(self, witness: Refutation) -> dict[str, Any]:
        return {
            "witness": self.operands(witness.probe),
            "expected": self.text(witness.expected),
            "got": self.text(witness.got),
        }

    def operands(self, probe: Probe) -> Operands:
        key = (probe.x.tobytes(), *(array.tobytes() for array in probe.others))
        if key not in self.told:
            self.told[key] = operand_texts(self.node, probe)
        return self.told[key]

    def text(self, code: int) -> str:
        if code not in self.texts:
            self.texts[code] = bits_and_decimal(code, ELEMENT_TYPES[self.node.output_type])[1]
        return self.texts[code]

    def closest(self) -> dict[str, Any] | None:
        """If nothing fits: the semantics that is wrong on the fewest elements, their number, and the broken facet."""
        if self.found:
            return None
        arithmetic, specials = self.inference.arithmetic, self.inference.specials
        best, differ = (self.inference.alive[0], 0) if self.inference.alive else self.inference.closest()
        ends = {name: values[0].id if values else NONE_FITS.id for name, values in specials.items()}
        broken = [name for name, values in specials.items() if not values]
        wrong_specials = [
            (probe, code) for probe, code in self.inference.special_answers if arithmetic.special_of(probe) in broken
        ]
        if differ:
            broken = [self.inference.broken_facet(best), *broken]
        return {
            "semantics": self.by_name(best) | ends,
            "differs": differ + len(wrong_specials),
            "inputs": self.inference.inputs_tried,
            "facet": broken[0] if broken else "path",
            "facets": broken or ["path"],
            "examples": self.examples(best) + [self.example(probe, None, code) for probe, code in wrong_specials[:3]],
        }

    def examples(self, best: Semantics) -> list[dict[str, Any]]:
        """Five different inputs on which a semantics is wrong: several probes may have asked the same."""
        different: dict[tuple[bytes, ...], tuple[Probe, int, int]] = {}
        for element in self.inference.wrong_elements(best):
            probe = element[0]
            different.setdefault((probe.x.tobytes(), *(array.tobytes() for array in probe.others)), element)
        return [self.example(*element) for element in list(different.values())[:5]]

    def example(self, probe: Probe, expected: int | None, got: int) -> dict[str, Any]:
        wanted = None if expected is None else self.text(expected)
        return {"inputs": self.operands(probe), "expected": wanted, "got": self.text(got)}

    def as_data(self, backend: Mapping[str, Any]) -> dict[str, Any]:
        """The audit as plain data for --json: the semantics, its witnesses, and how many inputs it took.

        `backend` has the columns that come first.
        """
        path = None
        if self.path is not None:
            place = next((i for i, code in enumerate(self.path.repeated) if code != self.path.alone), 0)
            path = {
                "inputs": self.operands(self.path.probe),
                "alone": self.text(self.path.alone),
                "repeated": [self.text(code) for code in self.path.repeated],
                "place": place,
            }
        return {
            **backend,
            "operator": self.node.operator,
            "input_type": self.node.input_type,
            "output_type": self.node.output_type,
            "attributes": {k: list(v) if isinstance(v, tuple) else v for k, v in self.node.attributes.items()},
            "semantics": self.semantics(),
            "sentences": self.sentences(),
            "specials": [facet.name for facet in self.inference.arithmetic.specials],
            "consistent": self.consistent(),
            "equal": self.equal,
            "theorems": self.theorems(),
            "refuted": self.refuted(),
            "inputs_tried": self.inference.inputs_tried,
            "inputs_searched": self.inference.searched,
            "closest": self.closest(),
            "path_dependent": path,
            "not_answered": [
                {"message": message[:300], "inputs": self.operands(probe)} for probe, message in self.failed[:20]
            ],
        }


def sentences_of(values: Iterable[Value]) -> dict[str, str]:
    return {value.id: value.sentence for value in values}


def operand_texts(node: Node, probe: Probe) -> Operands:
    """The operands of a probe's one element by input name, each as bits and as a decimal."""
    found = {}
    for tensor, array in zip(node.inputs, (probe.x, *probe.others), strict=False):
        code = int(codes_of(np.asarray(array)).reshape(-1)[0])
        bits, value = bits_and_decimal(code, ELEMENT_TYPES[tensor.element])
        found[tensor.name] = {"bits": bits, "value": value}
    return found
