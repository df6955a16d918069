"""The clause of a row is the one that its result breaks: it can be broken there, at the step where results part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_clause_of_changed_steps import right_outputs
from test_wrong_operators import WRONG, deviating

import wrong_backends
from arithmetic_of_mistakes import Arithmetic
from test_wrong_backends import operands
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.situations import exercised_clauses
from tiebreak.conformance.causes.clauses import clauses_of
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.settling import settle_causes
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.running.explaining import all_deviating, evidence_of, explained_cases
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED
from wrong_model import WrongBackend

OF_MODES = ("rounds:", "ties:")  # what begins the ids of causes that are another rounding mode in a whole case
MOST_BACKENDS, MOST_CASES = 3, 8
BY_OPERATOR: dict[str, list[WrongBackend]] = defaultdict(list)
for one in WRONG:
    BY_OPERATOR[one.operator].append(one)


def running(arithmetic: Arithmetic) -> Callable[..., tuple[Array, ...]]:
    """A plain quantization's arithmetic as a backend."""

    def run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        found = np.asarray(arithmetic(operands(Case("", node, inputs))), np.int64)
        return (found.astype(node.outputs[0].dtype).reshape(inputs[0].shape),)

    return run


for plain in wrong_backends.WRONG:
    own = WrongBackend(plain.name, plain.operator, running(plain.arithmetic), plain.flag, plain.types)
    BY_OPERATOR[plain.operator].append(own)


def some(operator: str) -> list[WrongBackend]:
    """A few wrong backends, spread over the list."""
    every = BY_OPERATOR[operator]
    return every[:: max(1, len(every) // MOST_BACKENDS)][:MOST_BACKENDS]


def evidence_about(wrong: WrongBackend) -> Evidence:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    for case in islice(deviating(wrong, wrong.types[0], wrong.flag), MOST_CASES):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", wrong.run(case.node, *(array.copy() for array in case.inputs))))
    return evidence_of(records, all_deviating(records), explained_cases([records]))


def rows(operator: str) -> Iterator[tuple[Case, int, int, str, str]]:
    """Of deviating elements the case, the place among its elements, the given code, the cause's id and the clause."""
    for wrong in some(operator):
        evidence = evidence_about(wrong)
        found = evidence.deviating
        ids, _, clauses = settle_causes(evidence)
        given = found.distance.tolist()
        cases = [evidence.cases[number] for number in found.case.tolist()]
        yield from zip(cases, evidence.positions.tolist(), given, ids.tolist(), clauses.tolist(), strict=True)


def of_other_modes(chunk: Chunk) -> Array:
    """The exact results of all elements by each rounding mode, from the kernel."""
    return np.stack([chunk.by_mode[mode].exact for mode in chunk.modes])


@pytest.mark.few(12)
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_row_has_the_clause_that_its_result_breaks(operator: str) -> None:
    spec, chunks = OPERATORS[operator], dict[str, Chunk]()
    seen = 0
    for case, place, distance, cause, clause in rows(operator):
        seen += 1
        about = f"{case.id} {place}: {clause} for {cause}"
        assert not spec.clause(clause).unspecified, about
        assert clause in exercised_clauses(case), about
        chunk = chunks.setdefault(case.id, Chunk((case,)))
        kind = spec.kind(spec.clause(clause))
        if len(case.node.modes) != 1 or case.node.output_type not in INTEGER_TYPES:
            continue
        others = of_other_modes(chunk)[:, place].astype(np.int64) - int(chunk.judged_by.exact[place])
        if others.any() and distance in others and (JOINT in cause or cause == UNEXPLAINED):
            assert kind in ("rounding", "saturation"), f"{about}: another rounding gives it"
        if others.any() and distance not in others and not cause.startswith(OF_MODES):
            assert kind != "rounding", f"{about}: no rounding gives it"
    assert seen > 10


@pytest.mark.parametrize("operator", [name for name in TESTED if "FakeQuantWith" in name])
def test_what_divides_in_another_order_breaks_the_quantizing_step(operator: str) -> None:
    """Not the first clause, which is about clamping, for want of one that says in which order to divide."""
    spec = OPERATORS[operator]
    causes = {cause.id: cause for cause, _ in (*(TESTED[operator].mistakes or ()), *(TESTED[operator].pairs or ()))}
    divided = ("kernel", "reciprocal-of-scale", "steps")
    broken = {name: spec.clause(spec.roles[cause.role]) for name, cause in causes.items() if name.startswith(divided)}
    assert len(broken) > 4 and not any(clause.unspecified for clause in broken.values())
    assert broken["kernel-sums"].id == f"{spec.prefix}-F2"


@pytest.mark.parametrize(
    ("operator", "name", "clause"),
    [
        ("com.microsoft.QLinearMul", "QLinearMul: no zero point of B", "MQM-F1"),
        ("com.microsoft.QLinearMul", "QLinearMul: no scale of B", "MQM-F2"),
        ("com.microsoft.QLinearAdd", "QLinearAdd: no zero point of A", "MQA-F1"),
    ],
)
def test_a_known_mistake_breaks_the_clause_of_the_step_that_gives_all_of_it(
    operator: str, name: str, clause: str
) -> None:
    """Not that about the zero point or the scale of the output, which the cause of a left-out operand is about."""
    (wrong,) = (one for one in BY_OPERATOR[operator] if one.name == name)
    ids, _, clauses = settle_causes(evidence_about(wrong))
    assert all(one.startswith("ignores:") for one in ids) and set(clauses) == {clause}


ONE = np.float32(1)
QADD = (np.int8([7]), np.float32(0.25), np.int8(0), np.int8([0]), ONE, np.int8(0), ONE, np.int8(0))  # 1.75
BEYOND = (np.int8([9]), ONE, np.int8(0), np.int8([-9]), np.float32(0.9), np.int8(0), np.float32(3e-19), np.int8(5))
SMALL = np.array([1.5, 2.0], ml_dtypes.float8_e5m2)
TO_RANGE = (np.float32([0.5, 2.0]), np.float32(-1), np.float32(4))
TWO_MISTAKES = Cause(f"reciprocal-of-output-scale:fused{JOINT}truncates-and-wraps", "quotient")
FLUSHES = Cause("flushes", "scaled")


@pytest.mark.parametrize(
    ("operator", "node", "inputs", "cause", "given", "clause"),
    [
        # 1.75 becomes 1: of a reciprocal and a truncation the truncation shows. -3 is no neighbour of it.
        ("com.microsoft.QLinearAdd", {}, QADD, TWO_MISTAKES, 1, "MQA-R1"),
        ("com.microsoft.QLinearAdd", {}, QADD, TWO_MISTAKES, -3, "MQA-F3"),
        # Seven is the sum without the scale of A; no cause needs to say so.
        ("com.microsoft.QLinearAdd", {}, QADD, NO_CAUSE, 7, "MQA-F1"),
        # One end for the other is what a conversion to int32 that overflows gives, though less than the sum would, too.
        ("com.microsoft.QLinearAdd", {}, BEYOND, NO_CAUSE, -128, "MQA-C1"),
        # A clause about SCALED is broken in no other mode.
        ("tensorflow.QuantizeV2", {"mode": "SCALED"}, TO_RANGE, FLUSHES, 99, "TFQ-S4"),
        ("tensorflow.QuantizeV2", {"mode": "MIN_COMBINED"}, TO_RANGE, FLUSHES, 99, "TFQ-C3"),
        ("tensorflow.QuantizeV2", {"mode": "MIN_FIRST"}, TO_RANGE, FLUSHES, 99, "TFQ-M4"),
        # Of a float that becomes an integer of 8 bits the document says only that what the type holds stays.
        ("onnx.Cast", {"to": "int8"}, (SMALL,), NO_CAUSE, 99, "ONC-F1"),
        ("onnx.Cast", {"to": "int4"}, (SMALL,), NO_CAUSE, 1, "ONC-R3"),
    ],
)
def test_a_clause_is_broken_where_its_conditions_hold(
    operator: str, node: dict[str, Any], inputs: tuple[Array, ...], cause: Cause, given: int, clause: str
) -> None:
    """Of the first element, whose result is the given one."""
    real = str(inputs[0].dtype) if operator == "onnx.Cast" else "float32"
    quantized = node.get("to", "int8")
    case = Case("c", make_node(operator, real=real, quantized=quantized, attributes=node), inputs)
    outputs = right_outputs(case)
    outputs[0].reshape(-1)[0] = given
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    record(records, case, Outcome("ok", tuple(outputs)))
    evidence = evidence_of(records, all_deviating(records), explained_cases([records]))
    assert clauses_of(evidence, [cause] * len(evidence.deviating), ExplanationErrors()).tolist() == [clause]
