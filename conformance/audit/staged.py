"""Audits an operator whose outputs come in stages: each output by its own table, given the outputs before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NoReturn

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.audit.answer import AuditAnswer
from tiebreak.conformance.audit.asking import AT_ONCE, MOST_FAILED, PathDependence, path_dependence
from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.operators import STAGED
from tiebreak.conformance.audit.proof import separate_remaining
from tiebreak.conformance.audit.special_documents import special_documents
from tiebreak.conformance.judging.judge import output_problem
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.stages import Inputs, Outputs, Stage
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Case, Node

PATH_PROBES = 4  # of a stage, that are asked again at other places


@dataclass
class Caller:
    """Calls a backend with whole inputs, and keeps what failed.

    Raises Unsupported if the backend refuses the node or every call, MachineryFailed if no call has a result.
    """

    backend: IsolatedBackend
    node: Node
    number: int = 0
    answered: int = 0
    unsupported: int = 0  # calls that were refused, though the node was not
    failed: list[str] = field(default_factory=list)

    def __call__(self, calls: Sequence[Inputs]) -> list[Outputs | None]:
        found: list[Outputs | None] = []
        for start in range(0, len(calls), AT_ONCE):
            found += self.batch(calls[start : start + AT_ONCE])
        return found

    def batch(self, calls: Sequence[Inputs]) -> list[Outputs | None]:
        cases = [Case(f"audit/{self.number + place}", self.node, inputs) for place, inputs in enumerate(calls)]
        self.number += len(cases)
        found: list[Outputs | None] = []
        for case, outcome in zip(cases, self.backend.run_batch(cases), strict=True):
            if outcome.status == "unsupported" and outcome.refused:
                raise Unsupported(outcome.message)
            self.unsupported += outcome.status == "unsupported"
            problem = outcome.message or outcome.status
            if outcome.status == "ok":
                problem = output_problem(case, outcome.outputs)
            self.failed += [problem] if problem else []
            self.answered += not problem
            found.append(None if problem else tuple(outcome.outputs))
        if not self.answered and len(self.failed) >= MOST_FAILED:
            self.give_up()
        return found

    def give_up(self) -> NoReturn:
        if self.unsupported == len(self.failed):
            raise Unsupported(self.failed[-1])
        raise MachineryFailed(f"given up after {len(self.failed)} calls without a result: {self.failed[-1]}")


def staged_data(
    backend: IsolatedBackend, node: Node, found_answer: Callable[[AuditAnswer], None] | None = None
) -> Iterator[dict[str, Any]]:
    """For each stage its answer as AuditAnswer.as_data, with the `output` and the outputs that were `given`.

    `found_answer` gets the answer itself.
    """
    for stage, answer in staged_answers(backend, node):
        if found_answer is not None:
            found_answer(answer)
        facts = {"output": stage.output, "given": list(stage.given), "backend": backend.name}
        found = answer.as_data(facts | {"version": backend.version}) | {"silence": ""}
        documents = STAGED[node.operator].authorities[stage.output]
        yield found | {"special_documents": special_documents(answer.inference, documents)}


def staged_answers(backend: IsolatedBackend, node: Node) -> Iterator[tuple[Stage, AuditAnswer]]:
    """The stages of a node on a backend that was started, each with its audit. Raises what Caller raises."""
    if backend.operators is not None and node.operator not in backend.operators:
        raise Unsupported(f"it claims {', '.join(sorted(backend.operators)) or 'no operator'}")
    for stage in STAGED[node.operator].stages(node, Caller(backend, node)):
        yield stage, audited_stage(stage)


def audited_stage(stage: Stage) -> AuditAnswer:
    """What is left of a stage's table. Where not every x can be asked, that two are the same is not shown."""
    path, asked = dependence(stage)
    inference = Inference(stage.arithmetic, stage.ask, inputs_tried=asked)
    inference.run()
    equal = separate_remaining(inference) if stage.whole else untold(inference)
    return AuditAnswer(stage.arithmetic.node, inference, path, path is not None, equal, [])


def dependence(stage: Stage) -> tuple[PathDependence | None, int]:
    """An operand of several elements whose answer depends on its place; of one number for a whole input none does."""
    if not stage.elementwise:
        return None, 0
    probes: list[Probe] = list(islice(stage.arithmetic.first_probes(), PATH_PROBES))
    return path_dependence(stage.ask, [probe for probe in probes if probe.x.size])


def untold(inference: Inference) -> list[str]:
    if len(inference.alive) < 2:
        return []
    return [f"no input of {inference.inputs_tried} that were asked and {inference.searched} more tells them apart"]
