"""Infers a backend's semantics from the records of an earlier run, to compare it with today's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import operand_texts
from tiebreak.conformance.audit.inference import Inference, alone_or_all, plainest_place, values_left
from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.judging.truths import Truths, truths_of
from tiebreak.conformance.semantics.model import ANYTHING, Probe
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import RAN
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.rows import DiscrepancyRow, ResultRow, discrepancy_rows, result_rows


def versus(folder: Path, name: str, now: Inference) -> dict[str, Any]:
    """What changed in a backend's semantics since a run, facet by facet, with a witness from the run's records.

    Raises InvalidInput if the run has no results of the backend for the node.
    """
    run = read_run(folder)
    backend = recorded_backend(run, name, folder)
    then = recorded_inference(run, folder, name, now.arithmetic.node)
    found = {"run": str(folder), "version": str(backend["version"]), "inputs": then.inputs_tried}
    return found | changes_since(now, then)


def recorded_inference(run: Run, folder: Path, name: str, node: Node) -> Inference:
    """What a run's records say of a backend's semantics of a node. Raises InvalidInput if they say nothing."""
    arithmetic = arithmetic_of(node)
    arithmetic.ignore_specials()  # the records do not have these answers, and today's may be others
    then = Inference(arithmetic, lambda probes: [], alive=list(arithmetic.candidates.all))
    for probe, codes in recorded_answers(run, folder, name, arithmetic.node):
        then.answered.append((probe, codes))
        then.inputs_tried += int(np.count_nonzero(codes != ANYTHING))
        then.rule_out(probe, codes)
    if not then.inputs_tried:
        raise InvalidInput(f"{folder}: no results of {name} for this node of {node.operator}")
    return then


def recorded_backend(run: Run, name: str, folder: Path) -> Mapping[str, Any]:
    """What run.json says of a backend. Raises InvalidInput if the run does not have it."""
    backends = {str(backend["name"]): backend for backend in run.info["backends"]}
    if name not in backends:
        raise InvalidInput(f"{folder}: no backend {name!r} in this run; it has {', '.join(sorted(backends))}")
    return dict(backends[name])


def recorded_answers(run: Run, folder: Path, name: str, node: Node) -> Iterator[tuple[Probe, Array]]:
    """The run's per-tensor cases of the node as probes, with their codes; ANYTHING where a code is unknown."""
    results = run.results[(run.results["backend"] == name) & run.results["verdict"].isin(RAN)]
    verdicts = {str(row["case"]): row for row in result_rows(results)}
    wrong: dict[str, list[DiscrepancyRow]] = {}
    for row in discrepancy_rows(run.discrepancies[run.discrepancies["backend"] == name]):
        wrong.setdefault(str(row["case"]), []).append(row)
    level = run.info["level"] if run.info["level"] in ("quick", "full", "deep") else ""
    selection = Selection(operators=(node.operator,), level=level, seed=int(run.info["seed"]), earlier_run=folder)
    seen = set[str]()
    for case in plan(selection):
        if case.id not in verdicts or case.id in seen or not fits_node(case, node):
            continue
        seen.add(case.id)
        probe = Probe(case.inputs[0].reshape(-1), tuple(array.reshape(()) for array in case.inputs[1:]))
        yield probe, codes_of_record(verdicts[case.id], wrong.get(case.id, []), truths_of(case), case.size)


def fits_node(case: Case, node: Node) -> bool:
    own = {name: value for name, value in case.node.attributes.items() if name not in ("axis", "axes", "type")}
    wanted = {name: value for name, value in node.attributes.items() if name not in ("axis", "axes", "type")}
    same_types = [tensor.dtype for tensor in case.node.inputs] == [tensor.dtype for tensor in node.inputs]
    same = same_types and case.node.output_type == node.output_type and own == wanted and not case.node.baked
    return same and case.size > 0 and all(array.size == 1 for array in case.inputs[1:])


def codes_of_record(verdict: ResultRow, wrong: list[DiscrepancyRow], truths: Truths, size: int) -> Array:
    """The codes of a case's first output: deviating ones are recorded, every other one is one of the two truths."""
    truth = truths.judged_by
    exact, working = (np.broadcast_to(a, (truth.exact.size,))[:size] for a in (truth.exact, truth.working))
    specified = np.broadcast_to(truth.specified, (truth.exact.size,))[:size]
    codes = np.where(exact == working, exact, ANYTHING)
    if not verdict.get("working_precision"):
        codes = exact
    if verdict.get("other_order"):
        codes = np.full_like(exact, ANYTHING)  # which of them have another order's result is not recorded
    codes = np.where(specified, codes, ANYTHING)
    element = truths.problems[0].result
    for row in wrong:
        if row["output"] == truths.problems[0].output:
            bits = int(row["got_bits"])
            signed = not isinstance(element, FloatType) and element.signed and bits >> (element.bits - 1)
            codes[int(row["index"])] = bits - (1 << element.bits) if signed else bits
    return codes


def changes_since(now: Inference, then: Inference) -> dict[str, Any]:
    """The semantics that fit the records, and the facets whose values then and now have none in common."""
    if not now.alive or not then.alive:
        which = "backend as it is now" if not now.alive else "run"
        return {"semantics": {}, "same": None, "changed": {}, "why": f"no known semantics fits the {which}"}
    names = now.arithmetic.candidates.names
    old, new = (values_left(names, side.alive) for side in (then, now))
    same = bool(set(now.alive) & set(then.alive))
    changed = {name: [old[name], new[name]] for name in names if not same and not set(old[name]) & set(new[name])}
    witness = None if same else changed_input(now, then)
    return {"semantics": alone_or_all(old), "same": same, "changed": changed, "witness": witness, "why": ""}


def changed_input(now: Inference, then: Inference) -> dict[str, Any] | None:
    """A recorded input with the code that the backend gave then and the one that it gives now."""
    element = ELEMENT_TYPES[now.arithmetic.node.output_type]
    for probe, codes in then.answered:
        (predicted,) = now.arithmetic.predict(probe, now.alive[:1])
        differ = (predicted != codes) & (predicted != ANYTHING) & (codes != ANYTHING)
        if differ.any():
            where = plainest_place(probe, differ)
            shown = operand_texts(now.arithmetic.node, probe.only(where))
            was, is_ = (bits_and_decimal(int(side[where[0]]), element)[1] for side in (codes, predicted))
            return {"inputs": shown, "was": was, "is": is_}
    return None
