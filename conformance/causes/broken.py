"""The clause that a deviating element breaks.

A clause can be broken only where its conditions hold: by the node's mode and types, and by what its operands show.
Among those it is the one of the step at which the exact result and the given one part. A cause says at which step; what
no cause says is told by both results, as far as an integer is rounded to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from tiebreak.conformance.judging.deviating import AT_END, AT_ROUNDING, BEFORE, NOT_TOLD
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import Clause, Kind, Operator
from tiebreak.golden.verdicts import UNEXPLAINED

Exercised = Callable[[Case], Collection[str]]  # the ids of the clauses whose conditions hold in a case
KINDS: dict[int, Kind] = {AT_ROUNDING: "rounding", AT_END: "saturation"}  # of the clauses about these steps


def every_clause(case: Case) -> Collection[str]:
    return [clause.id for clause in get_operator(case.node.operator).clauses]


def broken_clause(node: Node, cause: Cause, parted: int, exercised: Collection[str]) -> str:
    """The id of the clause that an element with this cause breaks, whose results part at this step."""
    spec = get_operator(node.operator)
    holding = [clause for clause in spec.clauses if clause.id in exercised and not clause.unspecified]
    named = next((clause for clause in holding if clause.id == clause_of_role(spec, node, cause.role)), None)
    if named is not None and may_be_broken(node, spec.kind(named), cause, parted):
        return named.id
    by_step = next(clauses_of_step(spec, node, holding, parted), None)
    found = by_step or named or next((clause for clause in holding if spec.kind(clause) == "formula"), None)
    return (found or next(clause for clause in spec.clauses if not clause.unspecified)).id


def may_be_broken(node: Node, kind: Kind, cause: Cause, parted: int) -> bool:
    """Whether a cause's clause, of this kind, goes with the step at which the results part.

    What no cause explains is told by its results alone. Of several mistakes at once, the rounding is the one that shows
    where the given result is the exact argument's other neighbour. Only a known mode gives what is no neighbour of it.
    """
    unexplained = cause.id == UNEXPLAINED
    if parted == AT_ROUNDING and (unexplained or JOINT in cause.id):
        return kind == "rounding"
    if parted == AT_END and unexplained:
        return kind == "saturation"
    is_told = parted != NOT_TOLD or not unexplained or node.output_type not in INTEGER_TYPES
    return is_told and not (parted == BEFORE and kind == "rounding" and not cause.mode)


def clauses_of_step(spec: Operator, node: Node, holding: list[Clause], parted: int) -> Iterator[Clause]:
    """The clauses about a step, that of the node's own rounding first; it is that of a real result, too."""
    kind = KINDS.get(parted, "formula")
    if kind == "rounding" or (parted == NOT_TOLD and node.output_type not in INTEGER_TYPES):
        yield from (clause for clause in holding if clause.id == clause_of_role(spec, node, "mode"))
    yield from (clause for clause in holding if spec.kind(clause) == kind)


def clause_of_role(spec: Operator, node: Node, role: str) -> str:
    """The id of the clause about a part of the formula, in one node; empty if there is none."""
    role = spec.role_in(node, role)
    return spec.mode_clause(node.round_mode) if role == "mode" else spec.roles.get(role, "")
