"""gguf.Quantize: numbers computed by hand, causes of wrong backends, the kernel against the oracle at the limits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import wrong_gguf_quantize as wg
from causes_of_records import causes_of_records
from hypothesis import given, settings

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.gguf_quantize_variants import READ
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.variants.mutant import Mutant
from tiebreak.golden import oracle
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.kernels.gguf_quantize import LOOPS
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED, ZERO
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = wg.OPERATOR
Run = Callable[..., tuple[wg.Array, ...]]
BOXES: dict[str, Run] = {box.name.removeprefix("gguf: "): box.run for box in wg.WRONG}
TO = ("int8", "uint4")
# The wrong backend, the type of its elements, and the cause of all that it gets wrong.
NAMED = (
    ("ties to even", "int8", "element-ties:to even"),
    ("ties toward zero", "int8", "element-ties:toward zero"),
    ("truncates", "int8", "elements-cut-off"),
    ("floors", "int8", "elements-rounded:down"),
    ("ties to even", "uint4", "element-ties:to even"),
    ("ties away from zero in Q4_0", "uint4", "element-ties:away from zero"),
    ("16 wraps to 0", "uint4", "beyond-elements:0"),
    ("divides by 128 and -7", "int8", "step-divisor:128, of Q4_0 by -7"),
    ("Q4_0 loses the sign", "uint4", "step-without-sign"),
    ("the last of equals", "uint4", "last-of-equals"),
    ("scales cut off", "int8", "scale-rounded:toward zero"),
    ("subnormal scales flushed", "int8", "subnormal-scales-flushed"),
    ("scales end at 65504", "int8", "beyond-scales:65504"),
    ("greatest without the last", "uint4", "amax-of:all but the last"),
    ("greatest without the first", "int8", "amax-of:all but the first"),
    ("greatest of the first 16", "int8", "amax-of:the first 16"),
)


def vectors(to: str) -> list[Case]:
    return indexed_cases(VECTORS / file_name(OPERATOR, "float32", to))


def case_of(to: str, *values: float, shape: tuple[int, ...] = (32,)) -> Case:
    """A case whose first numbers are these; zeros follow."""
    x = np.zeros(shape, np.float32)
    x.reshape(-1)[: len(values)] = values
    return Case("a", make_node(OPERATOR, quantized=to), (x,), "typed")


def solved(case: Case, count: int, *, working: bool = True) -> tuple[list[int], float]:
    """The first elements, and the first scale."""
    elements, scales = (oracle.solve(problem, working=working) for problem in problems_of(case))
    assert not (elements[1][:count] == UNDEFINED).any()
    return elements[0][:count].tolist(), float(scales[0].astype(np.uint16).view(np.float16)[0])


@pytest.mark.parametrize(
    ("to", "values", "elements", "scale"),
    [
        ("int8", [127, 0.5, -0.5, 2.5, -126.5, 1.49], [127, 1, -1, 3, -127, 1], 1),
        ("int8", [-254, 127, 1], [-127, 64, 1], 2),  # 63.5 goes away from zero
        ("uint4", [-8, 7, 7.5, 0, -0.5, 0.5, -1.5], [0, 15, 15, 8, 8, 9, 7], 1),
        ("uint4", [8, 0, 1, -8, -7], [0, 8, 7, 15, 15], -1),  # -8 gives 16, which becomes 15
        ("uint4", [3, -8, 8], [11, 0, 15], 1),  # the first of equals decides
        ("int8", [2.0**24, -(2.0**23)], [127, -64], math.inf),  # the elements are those of the float32 scale
        ("int8", [2.0**-25, -(2.0**-25)], [127, -127], 0),
        ("uint4", [0.0, -0.0], [8, 8], 0),
    ],
)
def test_blocks_by_hand(to: str, values: list[float], elements: list[int], scale: float) -> None:
    found, stored = solved(case_of(to, *values), len(values))
    assert found == elements
    assert stored == scale or to == "int8"
    assert solved(case_of(to, *values), len(values), working=False)[0] == elements


def test_each_block_of_32_has_its_own_scale() -> None:
    elements, scales = problems_of(case_of("int8", *[127.0] * 32, *[254.0] * 32, shape=(2, 32)))
    assert oracle.solve(elements, working=False)[0].tolist() == [127] * 64
    assert oracle.solve(scales, working=False)[0].astype(np.uint16).view(np.float16).tolist() == [1, 2]


@pytest.mark.parametrize("length", [1, 31, 33])
def test_a_part_of_a_block_is_refused(length: int) -> None:
    with pytest.raises(InvalidInput, match=f"a row of {length} numbers has a part of a block of 32"):
        problems_of(case_of("uint4", *[1.0] * length, shape=(length,)))


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("to", TO)
def test_nan_and_infinities_are_of_their_block_alone(to: str, special: float) -> None:
    elements, scales = problems_of(case_of(to, 1.0, special, shape=(2, 32)))
    assert (oracle.solve(elements, working=True)[1] == UNDEFINED).tolist() == [True] * 32 + [False] * 32
    assert oracle.solve(scales, working=True)[1].tolist() == [UNDEFINED, ZERO]


def test_a_reciprocal_beyond_float32_leaves_elements_open_and_a_zero_step_does_not() -> None:
    edge = 127 * 2.0**-128
    states = []
    for amax in (2.0 * edge, edge, 2.0**-149):
        elements, _ = problems_of(case_of("int8", amax))
        states.append(bool((oracle.solve(elements, working=True)[1] == UNDEFINED).all()))
    assert states == [False, True, False]
    assert solved(case_of("int8", 2.0**-149), 2)[0] == [0, 0]


def test_a_scalar_has_no_block() -> None:
    case = case_of("int8")
    with pytest.raises(InvalidInput, match="a scalar has no axis"):
        problems_of(Case("a", case.node, (np.array(1, np.float32),), "typed"))


def test_exact_and_working_differ_and_both_are_accepted() -> None:
    """7 / -8 has an inexact reciprocal: what is rounded last is not what real arithmetic gives."""
    for to, least in (("int8", 200), ("uint4", 300)):
        differ = 0
        for case in vectors(to):
            problem = problems_of(case)[0]
            exact, working = (oracle.solve(problem, working=form)[0] for form in (False, True))
            differ += int((exact != working).sum())
        assert differ > least, to


@settings(max_examples=150, deadline=None)
@given(cases(operator=OPERATOR))
def test_kernel_and_oracle_agree_on_what_is_drawn(case: Case) -> None:
    for problem in problems_of(case):
        for working in (False, True):
            codes, states = oracle.solve(problem, working=working)
            found, same = LOOPS[problem.formula](problem, working, "")
            assert (found == codes).all() and (same == states).all(), (problem.formula, working)


@settings(max_examples=80, deadline=None)
@given(cases(operator=OPERATOR))
def test_a_right_backend_conforms_to_what_is_drawn(case: Case) -> None:
    with np.errstate(all="ignore"):
        outputs = wg.RIGHT[2].run(case.node, *case.inputs)
    assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0


def named(run: Run, to: str) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    for case in vectors(to):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)


@pytest.mark.few(3)
@pytest.mark.parametrize(("box", "to", "key"), NAMED, ids=[f"{box}-{to}" for box, to, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, to: str, key: str) -> None:
    counts = named(BOXES[box], to)
    assert set(counts) == {sentence_of(key)}, counts


@pytest.mark.parametrize("to", TO)
def test_the_terms_of_mistakes_are_right_without_one(to: str) -> None:
    for case in vectors(to):
        outputs = Mutant((), reading=READ)(case.node, *case.inputs)
        assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0, case.id
