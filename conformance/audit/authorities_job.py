"""`tiebreak authorities`: which documents a backend meets, as plain data, from a live audit or a run's records."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.audit.answer import AuditAnswer
from tiebreak.conformance.audit.authorities import AUTHORITIES, STAGED_AUTHORITIES, authorities_of, judged_documents
from tiebreak.conformance.audit.documents_apart import documents_apart
from tiebreak.conformance.audit.inference import alone_or_all, values_left
from tiebreak.conformance.audit.job import audited_backend, started
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.audit.special_documents import special_documents
from tiebreak.conformance.audit.staged import staged_answers
from tiebreak.conformance.semantics.quantize_probes import plain_probes
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import TYPE_ATTRIBUTES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator


def authorities_job(spec: str, asked: Mapping[str, Any], *, time_limit: float, memory_limit: int) -> dict[str, Any]:
    """The documents about a node, each with its verdict on a backend that is audited now; "stages" has each output's.

    `asked` has the arguments of operators.audited_node; an empty operator is the first with documents that the backend
    takes. Raises what audit_job raises.
    """
    begun = time.monotonic()
    if asked["operator"]:
        node_of(asked, "")  # before a backend is started for nothing
    with started(spec, time_limit, memory_limit) as backend:
        node = node_of(asked, "" if asked["operator"] else first_operator(backend))
        if node.operator in STAGED_AUTHORITIES:
            stages = list(staged_authorities(backend, node, asked))
            own = {"backend": backend.name, "version": backend.version, "run": "", "operator": node.operator}
            return own | {"stages": stages, "seconds": round(time.monotonic() - begun, 3)}
        also = list(plain_probes(node)) if get_operator(node.operator).family == "quantize" else []
        answer = audited_backend(backend, node, also=also)
        facts = {"backend": backend.name, "version": backend.version, "run": ""}
        facts |= {"claims": backend.claims.documents.get(node.operator, "")}
        facts |= {"maps": backend.claims.maps.get(node.operator, "")}
        found = facts | node_facts(node) | {"asked_attributes": dict(asked["attributes"])} | audit_facts(answer)
        documents = authorities_of(node.operator)
        found["documents"] = judged_documents(answer.inference, documents, by_path=answer.path is not None)
        found["special_documents"] = special_documents(answer.inference, documents)
        return found | {"seconds": round(time.monotonic() - begun, 3)}


def staged_authorities(backend: IsolatedBackend, node: Node, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """For each output of a node the documents about it, each with its verdict, and what tells them apart."""
    facts = {"backend": backend.name, "version": backend.version, "run": "", "operator": node.operator}
    facts |= {"claims": backend.claims.documents.get(node.operator, "")}
    facts |= {"maps": backend.claims.maps.get(node.operator, "")}
    for stage, answer in staged_answers(backend, node):
        begun, documents = time.monotonic(), STAGED_AUTHORITIES[node.operator][stage.output]
        found = facts | {"output": stage.output, "given": list(stage.given)} | node_facts(answer.node)
        chosen = {"to": node.attributes["to"]} if "to" in node.attributes else {}
        chosen |= {asked["given"]: "given"} if asked.get("given") else {}
        found |= {"asked_attributes": chosen | dict(asked["attributes"])} | audit_facts(answer)
        found["documents"] = judged_documents(answer.inference, documents, by_path=answer.path is not None)
        found["special_documents"] = special_documents(answer.inference, documents)
        found["apart"] = documents_apart(stage.arithmetic, documents)
        yield found | {"seconds": round(time.monotonic() - begun, 3)}


def node_of(asked: Mapping[str, Any], operator: str) -> Node:
    """The node asked for; `operator` if none is named. Raises InvalidInput if it has no documents or no semantics."""
    operator = asked["operator"] or operator
    if operator not in STAGED_AUTHORITIES:
        authorities_of(operator)
    node = audited_node(**{**asked, "operator": operator})
    if operator not in STAGED_AUTHORITIES:
        arithmetic_of(node)
    return node


def first_operator(backend: IsolatedBackend) -> str:
    for operator in (*AUTHORITIES, *STAGED_AUTHORITIES):
        if backend.operators is None or operator in backend.operators:
            return operator
    raise Unsupported(f"it claims {', '.join(sorted(backend.operators or ())) or 'no operator'}")


def recorded_authorities(folder: Path, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The same from the records of a run; nothing is asked of the backend.

    Raises InvalidInput if the run has no results of the backend for the node.
    """
    from tiebreak.conformance.audit.recorded import recorded_backend, recorded_inference  # they load what reads runs
    from tiebreak.reports.records import read_run

    begun, run = time.monotonic(), read_run(folder)
    backend = recorded_backend(run, name, folder)
    taken = backend.get("operators") or ()
    node = node_of(asked, next((one for one in AUTHORITIES if one in taken), next(iter(AUTHORITIES))))
    if node.operator in STAGED_AUTHORITIES:
        raise InvalidInput(f"{node.operator} is audited in stages, by calls of its own: without --run")
    inference = recorded_inference(run, folder, name, node)
    facts = {"backend": name, "version": str(backend["version"]), "run": str(folder)}
    facts |= {said: str(backend.get(said, {}).get(node.operator, "")) for said in ("claims", "maps")}
    found = facts | node_facts(node) | {"asked_attributes": dict(asked["attributes"])}
    found |= {"consistent": len(inference.alive)}
    arithmetic, left = inference.arithmetic, inference.alive
    found |= {"semantics": alone_or_all(values_left(arithmetic.candidates.names, left))}
    found |= {"sentences": {facet.name: facet.sentences for facet in arithmetic.facets}}
    found |= {"path_dependent": False, "inputs_tried": inference.inputs_tried, "not_answered": 0}
    found["documents"] = judged_documents(inference, authorities_of(node.operator), by_path=False)
    found["special_documents"] = special_documents(inference, authorities_of(node.operator))
    return found | {"seconds": round(time.monotonic() - begun, 3)}


def node_facts(node: Node) -> dict[str, Any]:
    attributes = {name: list(value) if isinstance(value, tuple) else value for name, value in node.attributes.items()}
    types = {"input_type": node.input_type, "output_type": node.output_type}
    return {"operator": node.operator, **types, "attributes": attributes}


def audit_facts(answer: AuditAnswer) -> dict[str, Any]:
    return {
        "semantics": answer.semantics(),
        "sentences": answer.sentences(),
        "consistent": len(answer.consistent()),
        "path_dependent": answer.path is not None,
        "inputs_tried": answer.inference.inputs_tried,
        "not_answered": len(answer.failed),
    }


def documents_apart_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """What tells the documents about a node apart; `data` is what authorities_job returned for it."""
    attributes = {name: value for name, value in data["attributes"].items() if name not in TYPE_ATTRIBUTES}
    node = audited_node(data["operator"], attributes, data["input_type"], data["output_type"], 0)
    return documents_apart(arithmetic_of(node), authorities_of(node.operator))
