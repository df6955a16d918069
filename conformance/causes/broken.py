"""The clauses that a deviating element may break.

A clause can be broken only where its conditions hold: by the node's mode and types, and by what its operands show.
Among those it is the one of the step at which the exact result and the given one part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from tiebreak.conformance.causes.parting import Parting
from tiebreak.conformance.judging.deviating import AT_END, AT_ROUNDING, BEFORE
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import ARITHMETIC, Clause, Kind, Operator
from tiebreak.golden.verdicts import UNEXPLAINED

Clauses = Sequence[Clause]
Exercised = Callable[[Case], Collection[str]]  # the ids of the clauses whose conditions hold in a case
KINDS: dict[int, Kind] = {AT_ROUNDING: "rounding", AT_END: "saturation"}  # of the clauses about these steps


def every_clause(case: Case) -> Collection[str]:
    return [clause.id for clause in get_operator(case.node.operator).clauses]


def clause_of_cause(node: Node, cause: Cause, parted: int, exercised: Collection[str]) -> str:
    """The id of the clause that a cause is about, whose results part at this step; empty if it can't be that one.

    Only a known mode gives what is no neighbour of the exact argument.
    """
    spec, role = get_operator(node.operator), clause_of_role(node, cause.role)
    if cause.id == UNEXPLAINED or role not in exercised or spec.clause(role).unspecified:
        return ""
    return "" if parted == BEFORE and spec.kind(spec.clause(role)) == "rounding" and not cause.mode else role


def broken_clauses(node: Node, parting: Parting, parted: int, exercised: Collection[str]) -> list[str]:
    """The ids of the clauses that the step follows at which an element's results part.

    If no step is known to be it, the last one of the formula, of the rounding or of the end of the range, by `parted`.
    """
    spec = get_operator(node.operator)
    holding = [clause for clause in spec.clauses if clause.id in exercised and spec.kind(clause) in ARITHMETIC]
    mode, kind = clause_of_role(node, "mode"), parting.kind or KINDS.get(parted)
    if kind is None and (parted == BEFORE or node.output_type in INTEGER_TYPES):
        kind = "formula"

    def clauses(steps: Sequence[Term]) -> list[Clauses]:
        named = ([mode, *one.clauses] if one.name == "round" else one.clauses for one in steps)
        return [[clause for name in names for clause in holding if clause.id == name] for names in named]

    found = (own for own in by_nearness(spec, clauses(parting.steps), clauses(parting.inner), holding, kind) if own)
    return [clause.id for clause in next(found)]


def by_nearness(
    spec: Operator, outer: Sequence[Clauses], inner: Sequence[Clauses], holding: Clauses, kind: Kind | None
) -> Iterator[Clauses]:
    """A step's own clauses, those of the kind alone if there are any; then the nearest of the kind; then any."""

    def of_kind(clauses: Clauses) -> Clauses:
        return [clause for clause in clauses if kind in (None, spec.kind(clause))]

    for own in (outer[:1], outer, inner):
        yield from map(of_kind, own)
        yield from own
    yield from (own[:1] for own in (of_kind(holding), holding))
    yield [next(clause for clause in spec.clauses if not clause.unspecified)]


def clause_of_role(node: Node, role: str) -> str:
    """The id of the clause about a part of the formula, in one node; empty if there is none."""
    spec = get_operator(node.operator)
    role = spec.role_in(node, role)
    return spec.mode_clause(node.round_mode) if role == "mode" else spec.roles.get(role, "")
