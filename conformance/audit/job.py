"""`tiebreak audit`: audits one node of one backend and returns the answer as plain data."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import check_spec
from tiebreak.adapters.settings import settings_of
from tiebreak.conformance.audit.answer import BY_PATH, AuditAnswer
from tiebreak.conformance.audit.asking import Asker, path_dependence, path_of_witnesses
from tiebreak.conformance.audit.by_path import paths_data
from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.operators import AUDITED, STAGED, arithmetic_of, silence_of
from tiebreak.conformance.audit.proof import separate_remaining
from tiebreak.conformance.audit.special_documents import special_documents
from tiebreak.conformance.audit.staged import staged_data
from tiebreak.conformance.semantics.model import Probe
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

TIME_LIMIT = 10.0  # seconds for a call
PATH_PROBES = 8  # first probes that are searched for path dependence


def audit_job(
    spec: str,
    node: Node,
    *,
    time_limit: float = TIME_LIMIT,
    memory_limit: int = 4096,
    earlier_run: Path | None = None,
    exhaustive: Callable[[int, int], None] | None = None,
    found_answer: Callable[[AuditAnswer], None] | None = None,
) -> dict[str, Any]:
    """The arithmetic of a node on a backend, as AuditAnswer.as_data; with "versus", what it was in an earlier run.

    With "by_path", if it depends on the path: each path's arithmetic.

    `spec` names the backend as on the command line, `time_limit` is in seconds for a call, `memory_limit` in MiB. For
    `exhaustive` see proof.separate_remaining. `found_answer` gets the answer itself, of stages each in order.

    Raises InvalidInput for bad input, Unsupported if the backend does not take the node, MachineryFailed if the backend
    cannot be started or gives too few answers.
    """
    begun = time.monotonic()
    if node.operator in STAGED:
        return staged_job(spec, node, time_limit, memory_limit, found_answer)
    arithmetic_of(node)  # before a backend is started for nothing
    with started(spec, time_limit, memory_limit) as backend:
        answer = audited_backend(backend, node, exhaustive=exhaustive)
        if found_answer is not None:
            found_answer(answer)
        facts = {"backend": backend.name, "version": backend.version}
        found = answer.as_data(facts) | {"silence": silence_of(node), **circumstances(begun)}
        found["special_documents"] = special_documents(answer.inference, AUDITED[node.operator].authorities)
        if answer.finite_path:
            found["by_path"] = paths_data(arithmetic_of(node), Asker(backend, node))
        if earlier_run is not None:
            from tiebreak.conformance.audit.recorded import versus  # it loads what plans and reads runs

            found["versus"] = versus(earlier_run, backend.name, answer.inference)
        return found


def staged_job(
    spec: str,
    node: Node,
    time_limit: float,
    memory_limit: int,
    found_answer: Callable[[AuditAnswer], None] | None = None,
) -> dict[str, Any]:
    """As audit_job: "stages" has the answers of each output, given those before it."""
    begun = time.monotonic()
    with started(spec, time_limit, memory_limit) as backend:
        stages = list(staged_data(backend, node, found_answer))
        facts = {"backend": backend.name, "version": backend.version, "operator": node.operator}
        return facts | {"stages": stages, **circumstances(begun)}


def circumstances(begun: float) -> dict[str, Any]:
    """The variables that libraries read, and how long the audit took."""
    return {"settings": settings_of(os.environ), "seconds": round(time.monotonic() - begun, 3)}


@contextmanager
def started(spec: str, time_limit: float, memory_limit: int) -> Iterator[IsolatedBackend]:
    """A backend in a process of its own, which ends with the block."""
    backend = IsolatedBackend(check_spec(spec), time_limit, memory_limit)
    try:
        backend.start()
        yield backend
    finally:
        backend.close()


def audited_backend(
    backend: IsolatedBackend,
    node: Node,
    *,
    exhaustive: Callable[[int, int], None] | None = None,
    also: Sequence[Probe] = (),
) -> AuditAnswer:
    """The audit of a node on a backend that was started; `also` are further probes, which are asked first.

    Raises Unsupported if the backend does not take the node, MachineryFailed if it gives too few answers.
    """
    if backend.operators is not None and node.operator not in backend.operators:
        raise Unsupported(f"it claims {', '.join(sorted(backend.operators)) or 'no operator'}")
    arithmetic, ask = arithmetic_of(node), Asker(backend, node)
    answers = ask(also)
    path, asked = path_dependence(ask, list(islice(arithmetic.first_probes(), PATH_PROBES)))
    special_path, asked_too = path_dependence(ask, list(arithmetic.special_probes()))
    inference = Inference(arithmetic, ask, inputs_tried=asked + asked_too)
    inference.run()
    inference.take(also, answers)
    equal = separate_remaining(inference, exhaustive=exhaustive)
    if path is None:
        path, asked = path_of_witnesses(ask, inference.refuted.values())
        inference.inputs_tried += asked
    if special_path is not None:
        inference.specials[arithmetic.special_of(special_path.probe)] = [BY_PATH]
    if not inference.answered:
        ask.give_up()
    return AuditAnswer(node, inference, path or special_path, path is not None, equal, ask.failed)
