"""What is proved of an arithmetic that no vector tells from the right one: the theorems about all scales and inputs."""

from __future__ import annotations

from collections.abc import Sequence

from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import AuditedSemantics
from tiebreak.conformance.power.arithmetics import WrongArithmetic
from tiebreak.conformance.power.stops import Stopping
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import keys_of_values
from tiebreak.conformance.semantics.model import ids_of
from tiebreak.conformance.theorems.citing import citations, counted
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Quantization
from tiebreak.golden.problems import problems_of


def proved_equal(name: WrongArithmetic, found: Sequence[Stopping]) -> str:
    """The types for which a theorem says that an arithmetic gives the document's codes; empty if there is none.

    Only a mistake that is one value of a facet of round(x / scale) + zero_point has theorems.
    """
    nodes = {
        (one.case.node.input_type, one.case.node.output_type): one.case.node
        for one in found
        if name in one.applies and isinstance(problems_of(one.case)[0], Quantization)
    }
    types = [" to ".join(pair) for pair, node in nodes.items() if theorem_of(name.cause, node)]
    return ", ".join(types)


def theorem_of(cause: str, node: Node) -> str:
    """The id of a theorem by which a mistake is none for a node; empty if there is none."""
    semantics = TESTED[node.operator].semantics
    if not isinstance(semantics, AuditedSemantics) or semantics.of_integers:
        return ""
    table = semantics.arithmetic(node)
    names = [facet.name for facet in table.facets]
    documented = dict(zip(names, ids_of(table.documented), strict=True))
    for facet in table.facets:
        for value in facet.values:
            keys = keys_of_values({facet.name: value}, of_quantizer=True, wanted=node.round_mode)
            if JOINT.join(keys) == cause and value.id != documented[facet.name]:
                cited = citations({**documented, facet.name: value.id}, documented, node.input_type, node.output_type)
                return next((one["id"] for one in cited if counted()[one["id"]].equal), "")
    return ""
