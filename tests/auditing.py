"""An audit of a function in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import AuditAnswer
from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.audit.proof import separate_remaining
from tiebreak.conformance.semantics.model import Arithmetic, Probe, Semantics, codes, ids_of
from tiebreak.conformance.semantics.stages import Run
from tiebreak.golden import kernel
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.problems import problems_of

INT8 = make_node("onnx.QuantizeLinear", quantized="int8")


def audited(box: Any, node: Node = INT8) -> AuditAnswer:
    def ask(probes: list[Probe]) -> list[Array | None]:
        with np.errstate(all="ignore"):
            return [codes(box(probe.x, *probe.others)) for probe in probes]

    inference = Inference(arithmetic_of(node), ask)  # type: ignore[arg-type]
    inference.run()
    return AuditAnswer(node, inference, None, False, separate_remaining(inference), [])


def single_changes(arithmetic: Arithmetic) -> Iterator[Semantics]:
    plain = arithmetic.documented
    for place, facet in enumerate(arithmetic.facets):
        for value in facet.values:
            changed = arithmetic.completed((*plain[:place], value, *plain[place + 1 :]))
            if changed in arithmetic.candidates.places:
                yield changed


def inference_of(node: Node, truth: Semantics) -> Inference:
    """An audit of a box that does just what one semantics of the table says."""
    box = arithmetic_of(node)
    inference = Inference(arithmetic_of(node), lambda probes: [next(iter(box.predict(p, [truth]))) for p in probes])
    inference.run()
    return inference


def infer_each_alone(node: Node, truths: Iterable[Semantics]) -> int:
    """Assert that an audit of each of these semantics leaves it and no other; how many there were."""
    count = 0
    for truth in truths:
        inference = inference_of(node, truth)
        separate_remaining(inference)
        assert [ids_of(one) for one in inference.alive] == [ids_of(truth)], ids_of(truth)
        count += 1
    return count


def documented_run(node: Node) -> Run:
    """Calls of a backend that gives what the document says; an output that it leaves open is 0."""

    def outputs(inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        problems = problems_of(Case("", node, inputs))
        return tuple(
            array_of(problem.result.name, problem.shape, stored(problem.result, kernel.solve(problem, working=True)[0]))
            for problem in problems
        )

    return lambda calls: [outputs(call) for call in calls]


def stored(kind: FloatType | IntegerType, found: Array) -> Array:
    return found if isinstance(kind, IntegerType) else found & ((1 << kind.bits) - 1)
