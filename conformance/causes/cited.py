"""The theorems that a root cause falls under, in sentences; none where its arithmetic is not exactly a theorem's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import AuditedSemantics
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import keys_of_values
from tiebreak.conformance.semantics.model import Arithmetic, ids_of, semantics_of
from tiebreak.conformance.semantics.quantize_facets import FACETS
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE
from tiebreak.conformance.theorems.citing import counted, sentence
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.operators import get_operator


def theorem_sentences(operator: str, cause: str, types: Iterable[tuple[str, str]]) -> list[str]:
    """What theorems say of a cause's id: how often its arithmetic differs from the operator's, for pairs of types.

    The operator's arithmetic must be the same for all its nodes: one with an attribute for the mode has no theorem.
    """
    spec, record = get_operator(operator), TESTED[operator].semantics
    if not isinstance(record, AuditedSemantics) or any(one.name == "round_mode" for one in spec.attributes):
        return []
    found, counted_types = [], {(one.domain.real, one.domain.quantized) for one in counted().values()}
    for real, quantized in counted_types.intersection(types):
        try:
            arithmetic = record.arithmetic(make_node(operator, real=real, quantized=quantized))
        except (InvalidInput, Unsupported):
            continue
        if arithmetic.facets == FACETS:
            found += list(sentences_of_types(arithmetic, cause, real, quantized))
    return sorted(found)


def sentences_of_types(arithmetic: Arithmetic, cause: str, real: str, quantized: str) -> Iterator[str]:
    """The sentences of theorems that are about the node's own arithmetic and about one that has this cause."""
    documented = ids_of(arithmetic.documented)
    for one in counted().values():
        types = one.domain.real, one.domain.quantized
        if (
            types == (real, quantized)
            and one.right.ids == documented
            and cause_of_ids(arithmetic, one.left.ids) == cause
        ):
            yield f"`{one.left.name}` {sentence(one)}"


def cause_of_ids(arithmetic: Arithmetic, ids: tuple[str, ...]) -> str:
    """The id of the cause of an arithmetic, given by its values' ids; empty if it is the document's own."""
    values = dict(zip((facet.name for facet in FACETS), semantics_of(FACETS, ids), strict=True))
    plain = dict(zip(values, arithmetic.documented, strict=True))
    unlike = {name: value for name, value in values.items() if value is not plain[name]}
    wanted = plain["round_mode"].id
    return JOINT.join(keys_of_values(unlike, of_quantizer=DIVIDE in arithmetic.documented, wanted=wanted))
