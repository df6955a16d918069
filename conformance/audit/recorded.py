"""What a run's records say of a backend's semantics, to compare with what it is now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import operands
from tiebreak.conformance.audit.inference import Inference, plainest
from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.judging.truths import TruthCache, Truths
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Probe, Semantics
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import RAN
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.rows import DiscrepancyRow, ResultRow, discrepancy_rows, result_rows


def versus(folder: Path, name: str, now: Inference) -> dict[str, Any]:
    """What changed in the semantics since a run of the same backend, facet by facet, with a witness from its records.

    InvalidInput if the run has no results of the backend and node.
    """
    run, arithmetic = read_run(folder), arithmetic_of(now.arithmetic.node)
    arithmetic.ignore_specials()  # a run does not say what it gave for them, and it need not be what is given now
    version = version_of(run, name, folder)
    then = Inference(arithmetic, lambda probes: [], alive=Candidates(arithmetic).all)
    for probe, codes in answers(run, folder, name, arithmetic.node):
        then.answered.append((probe, codes))
        then.inputs_tried += int(np.count_nonzero(codes != ANYTHING))
        then.rule_out(probe, codes)
    if not then.inputs_tried:
        raise InvalidInput(f"{folder}: no results of {name} for this node of {arithmetic.node.operator}")
    found = {"run": str(folder), "version": version, "inputs": then.inputs_tried}
    return found | compared(now, then)


def version_of(run: Run, name: str, folder: Path) -> str:
    versions = {str(backend["name"]): str(backend["version"]) for backend in run.info["backends"]}
    if name not in versions:
        raise InvalidInput(f"{folder}: no backend {name!r} in this run; it has {', '.join(sorted(versions))}")
    return versions[name]


def answers(run: Run, folder: Path, name: str, node: Node) -> Iterator[tuple[Probe, Array]]:
    """Cases of the node with one value of each further input, and what came; ANYTHING where that is unknown."""
    results = run.results[(run.results["backend"] == name) & run.results["verdict"].isin(RAN)]
    verdicts = {str(row["case"]): row for row in result_rows(results)}
    wrong: dict[str, list[DiscrepancyRow]] = {}
    for row in discrepancy_rows(run.discrepancies[run.discrepancies["backend"] == name]):
        wrong.setdefault(str(row["case"]), []).append(row)
    level = run.info["level"] if run.info["level"] in ("quick", "full", "deep") else ""
    selection = Selection(operators=(node.operator,), level=level, seed=int(run.info["seed"]), earlier_run=folder)
    seen, cache = set[str](), TruthCache()
    for case in plan(selection):
        if case.id not in verdicts or case.id in seen or not fits(case, node):
            continue
        seen.add(case.id)
        probe = Probe(case.inputs[0].reshape(-1), tuple(array.reshape(()) for array in case.inputs[1:]))
        yield probe, codes_of_record(verdicts[case.id], wrong.get(case.id, []), cache.of(case), case.size)


def fits(case: Case, node: Node) -> bool:
    own = {name: value for name, value in case.node.attributes.items() if name not in ("axis", "axes", "type")}
    wanted = {name: value for name, value in node.attributes.items() if name not in ("axis", "axes", "type")}
    kinds = [kind.dtype for kind in case.node.inputs] == [kind.dtype for kind in node.inputs]
    plain = kinds and case.node.output_type == node.output_type and own == wanted and not case.node.baked
    return plain and case.size > 0 and all(array.size == 1 for array in case.inputs[1:])


def codes_of_record(verdict: ResultRow, wrong: list[DiscrepancyRow], truths: Truths, size: int) -> Array:
    """What came of a case's first output: what deviates is recorded, the rest is one of the two truths."""
    truth = truths.judged_by
    exact, working = (np.broadcast_to(a, (truth.exact.size,))[:size] for a in (truth.exact, truth.working))
    specified = np.broadcast_to(truth.specified, (truth.exact.size,))[:size]
    codes = np.where(exact == working, exact, ANYTHING)
    if not verdict.get("working_precision"):
        codes = exact
    codes = np.where(specified, codes, ANYTHING)
    kind = truths.problems[0].result
    for row in wrong:
        if row["output"] == truths.problems[0].output:
            bits = int(row["got_bits"])
            signed = not isinstance(kind, FloatType) and kind.signed and bits >> (kind.bits - 1)
            codes[int(row["index"])] = bits - (1 << kind.bits) if signed else bits
    return codes


def compared(now: Inference, then: Inference) -> dict[str, Any]:
    """The semantics that the records leave, and the facets whose values then and now have none in common."""
    if not now.alive or not then.alive:
        which = "backend as it is now" if not now.alive else "run"
        return {"semantics": {}, "same": None, "changed": {}, "why": f"no known semantics fits the {which}"}
    names = Candidates(now.arithmetic).names
    old, new = (values_of(names, side.alive) for side in (then, now))
    same = bool(set(now.alive) & set(then.alive))
    changed = {name: [old[name], new[name]] for name in names if not same and not set(old[name]) & set(new[name])}
    witness = None if same else witness_of(now, then)
    semantics = {name: values[0] if len(values) == 1 else values for name, values in old.items()}
    return {"semantics": semantics, "same": same, "changed": changed, "witness": witness, "why": ""}


def values_of(names: tuple[str, ...], alive: list[Semantics]) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(one[place] for one in alive)) for place, name in enumerate(names)}


def witness_of(now: Inference, then: Inference) -> dict[str, Any] | None:
    """An input of the records for which the backend gave something else than it gives now."""
    kind = ELEMENT_TYPES[now.arithmetic.node.output_type]
    for probe, codes in then.answered:
        (predicted,) = now.arithmetic.predict(probe, now.alive[:1])
        differ = (predicted != codes) & (predicted != ANYTHING) & (codes != ANYTHING)
        if differ.any():
            where = plainest(probe, differ)
            shown = operands(now.arithmetic.node, probe.only(where))
            was, is_ = (bits_and_decimal(int(side[where[0]]), kind)[1] for side in (codes, predicted))
            return {"inputs": shown, "was": was, "is": is_}
    return None
