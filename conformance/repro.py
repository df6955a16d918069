"""From a recorded discrepancy to a standalone script in the backend's own API."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import spec_from_file
from tiebreak.adapters.reproducer import Wanted, script
from tiebreak.conformance.plan import Selection, plan
from tiebreak.conformance.rows import element_row, text_of
from tiebreak.conformance.shrink import Shown, shrunk
from tiebreak.conformance.truths import TruthCache, Truths
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.reports.records import Run, read_run


def reproducer(folder: Path, discrepancy: str, named: str = "") -> str:
    """The script for one row of a run's discrepancies, of the backend `named` if it is not one of Tiebreak's own.

    `discrepancy` may also be a cluster's id, for its smallest witness. The case is cut down to the fewest elements that
    still show it. InvalidInput for an id that is not there.
    """
    run = read_run(folder)
    row = row_of(run, witness_of(run, discrepancy, folder), folder)
    spec = next(backend["spec"] for backend in run.info["backends"] if backend["name"] == row["backend"])
    operator, case_id = str(row["operator"]), str(row["case"])
    (case,) = plan(Selection(operators=(operator,), case_ids=(case_id,), earlier_run=folder))
    backend = IsolatedBackend(spec_from_file(spec, named, f"{folder} (add -b BACKEND)"))
    try:
        if named:
            check_same(backend, row, run, named)
        case, row = smallest(backend, case, row)
        lines = backend.reproducer(case.node.key, case.inputs)
    except Unsupported as reason:
        replay = shlex.join(["tiebreak", "run", "-b", spec, "--case", case_id, "--from", str(folder)])
        raise InvalidInput(f"{row['backend']}: {reason}; to replay the case: {replay}") from None
    finally:
        backend.close()
    title = f"{row['backend']}, {operator}: {row['cause']} ({discrepancy})"
    return script(title, case.node, case.inputs, wanted(case, row), lines)


def check_same(backend: IsolatedBackend, row: dict[str, Any], run: Run, named: str) -> None:
    """InvalidInput if the backend that was `named` is not the one that the discrepancy is of."""
    backend.start()
    recorded = next(one for one in run.info["backends"] if one["name"] == row["backend"])
    plain = re.sub(r" \(\d+\)$", "", str(row["backend"]))  # the number that equal names of a run get
    if backend.name not in (plain, row["backend"]):
        is_of = f"{row['backend']} {recorded['version']}, run as {recorded.get('spec', '')}"
        raise InvalidInput(f"-b {named} is the backend {backend.name} {backend.version}; the discrepancy is of {is_of}")


def witness_of(run: Run, name: str, folder: Path) -> str:
    """The id of a discrepancy: a cluster's smallest witness, or the one that was named."""
    clusters = {str(cluster["id"]): cluster for cluster in run.info.get("clusters", [])}
    if not name.startswith("C"):
        return name
    if name not in clusters:
        raise InvalidInput(f"{folder}: no cluster {name!r}; it has {', '.join(list(clusters)[:40]) or 'none'}")
    return str(clusters[name]["witness"]["id"])


def smallest(backend: IsolatedBackend, case: Case, row: dict[str, Any]) -> tuple[Case, dict[str, Any]]:
    """The case cut down, and the row with the element's place in it."""
    problem = TruthCache().of(case).problems[0]
    if row["output"] != problem.output or problem.shape != case.inputs[0].shape or case.size < 2:
        return case, row
    wrong = Shown(case, int(row["index"]), code_in(problem.result, int(row["got_bits"])))
    found = shrunk(backend.run, wrong)
    place = element_row(TruthCache().of(found.case).problems[0], found.case.node, found.place)
    return found.case, row | place


def row_of(run: Run, discrepancy: str, folder: Path) -> dict[str, Any]:
    found = run.discrepancies[run.discrepancies["id"] == discrepancy]
    if found.empty:
        known = run.discrepancies["id"]
        range_ = f"{known.iloc[0]} to {known.iloc[-1]}" if len(known) else "none"
        raise InvalidInput(f"{folder}: no discrepancy {discrepancy!r}; it has {range_}")
    row: dict[str, Any] = found.iloc[0].to_dict()
    return row


def wanted(case: Case, row: dict[str, Any]) -> Wanted:
    """The element, with every result that is right for it."""
    truths = TruthCache().of(case)
    output = next(i for i, problem in enumerate(truths.problems) if problem.output == row["output"])
    at = sum(math.prod(problem.shape) for problem in truths.problems[:output]) + int(row["index"])
    kind = truths.problems[output].result
    codes = [code & ((1 << kind.bits) - 1) for code in truths.allowed_codes(at)]
    zeros = [0, 1 << (kind.bits - 1)] if is_zero(truths, at) and isinstance(kind, FloatType) else []
    return Wanted(
        output,
        int(row["index"]),
        {code: text_of(code_in(kind, code), kind)[1] for code in (*codes, *zeros)},
        int(row["got_bits"]),
        json.loads(row["operands"]),
        any_nan=math.isnan(row["expected"]) or math.isnan(row["expected_working"]),
        recorded_nan=math.isnan(row["got"]),
    )


def code_in(kind: FloatType | IntegerType, bits: int) -> int:
    """An integer's value, a real's bits."""
    signed = isinstance(kind, IntegerType) and kind.signed and bits >> (kind.bits - 1)
    return bits - (1 << kind.bits) if signed else bits


def is_zero(truths: Truths, at: int) -> bool:
    """Whether either zero will do."""
    zero = np.broadcast_to(truths.own.zero, truths.own.exact.shape)
    return bool(zero[at])
