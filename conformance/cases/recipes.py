"""Cases that are made, not stored: generated ones, those of relations, path probes. Each is made once and then kept."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from tiebreak.conformance.cases.brief import BRIEF
from tiebreak.conformance.cases.case_ids import case_id
from tiebreak.conformance.cases.path_probes import all_probes, path_cases
from tiebreak.conformance.cases.relations import RELATIONS, cases_of_relation
from tiebreak.conformance.cases.situations import exercised_clauses
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import no_layers
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.source_digest import source_digest
from tiebreak.version import __version__

CONFORMANCE = Path(__file__).resolve().parent.parent
FORMAT = 1


@dataclass(frozen=True)
class Recipe:
    """What some cases are made from. `of` is an operator's id; of related cases the relation's.

    Generated cases have a `count` and a `seed`, path probes the `level` of their arrangements. Related cases have a
    level only if it is brief: on all others they are the same.
    """

    kind: Literal["generated", "related", "path", "layer"]
    of: str
    count: int = 0
    seed: int = 0
    level: str = ""

    def make(self) -> list[Case]:
        if self.kind == "path":
            return path_cases([self.of], self.level)
        if self.kind == "layer":
            return layer_cases(self.of)
        if self.kind == "related":
            return cases_of_relation(self.of, brief=self.level == BRIEF)
        from tiebreak.conformance.cases.generators import generate_cases  # which loads Hypothesis

        return generate_cases(self.of, self.count, self.seed)

    def key(self) -> dict[str, Any]:
        """All that decides which cases are made, as plain JSON data."""
        versions = {"tiebreak": __version__, "python": list(sys.version_info[:2]), "sources": makers_digest()}
        if self.kind == "generated":
            versions["hypothesis"] = hypothesis_version()
        return asdict(self) | {"of": f"{self.kind}-{self.of}", "format": FORMAT} | versions


def layer_cases(operator: str) -> list[Case]:
    """The operator's products of the size of a layer, which are the same at each level."""
    found = []
    for keywords, tensors in TESTED[operator].layers():
        node, inputs = make_node(operator, **keywords), tuple(tensor.array() for tensor in tensors)
        case = Case(case_id(node, inputs), node, inputs, "generated")
        found.append(replace(case, clauses=exercised_clauses(case)))
    return found


@cache
def makers_digest() -> str:
    """The digest of more than what decides which cases are made: a change of the rest costs time only."""
    stages = (CONFORMANCE / name for name in ("cases", "operators", "semantics", "judging"))
    return source_digest((CONFORMANCE.parent / "golden", *stages))


@cache
def hypothesis_version() -> str:
    """Read from the metadata, since importing Hypothesis takes longer than reading the cases."""
    try:
        return metadata.version("hypothesis")
    except metadata.PackageNotFoundError:
        import hypothesis

        return str(hypothesis.__version__)


@cache
def made_by() -> dict[str, str]:
    """What decides which cases a plan has, beside the selection: versions, and the digest of Tiebreak's own sources."""
    python = ".".join(map(str, sys.version_info[:2]))
    sources = source_digest((CONFORMANCE.parent / "golden", CONFORMANCE), (".py",))[:16]
    return {"tiebreak": __version__, "python": python, "hypothesis": hypothesis_version(), "sources": sources}


def recipes_of(operators: Sequence[str], claimed: Collection[str], level: str, count: int, seed: int) -> list[Recipe]:
    """The recipes of a plan, in the order of its cases; those without a claimed operator are left out."""
    generated = [Recipe("generated", name, count=count, seed=seed) for name in operators if name in claimed]
    related = [
        Recipe("related", relation.id, level=BRIEF if level == BRIEF else "")
        for relation in RELATIONS
        if set(relation.operators) <= set(operators) and set(relation.operators) & set(claimed)
    ]
    probed = dict.fromkeys(record.id for record, _ in all_probes())
    arranged = level if level in (BRIEF, "quick") else "full"  # all other levels have the same arrangements
    path = [Recipe("path", name, level=arranged) for name in probed if name in operators and name in claimed]
    layers = [Recipe("layer", name) for name in operators if name in claimed and TESTED[name].layers is not no_layers]
    return [*generated, *related, *path, *layers]
