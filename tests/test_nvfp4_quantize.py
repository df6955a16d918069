"""nvidia.NVFP4Quantize: numbers computed by hand, causes of wrong backends, elements that follow from wrong scales."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import wrong_nvidia_nvfp4_quantize as nv
from causes_of_records import causes_of_records
from hypothesis import given, settings

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.chained import CHAINED, chain_row, chained
from tiebreak.conformance.judging.judge import codes_of_outputs, judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.nvidia_nvfp4_quantize_variants import PAIRS, READ, by_distance, in_x_type
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.mutant import Mutant
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import lifted
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = nv.OPERATOR
Run = Callable[..., tuple[nv.Array, ...]]
BOXES: dict[str, Run] = {box.name.removeprefix("nvfp4: "): box.run for box in nv.WRONG}
# The wrong backend, and the cause of all that it gets wrong.
NAMED = (
    ("ties away", "element-ties:away from zero"),
    ("ties toward zero", "element-ties:toward zero"),
    ("truncates", "elements-cut-off"),
    ("elements flushed", "elements-flushed"),
    ("elements flushed to positive zero", "elements-flushed:to positive zero"),
    ("the lowest bit lost", "lowest-bit-lost"),
    ("elements end at 3", "ends-at:half the highest value"),
    ("elements end at 4", "elements-end-at-power"),
    ("no sign", "elements-without-sign"),
    ("scales up", "scale-rounded:up"),
    ("scales down", "scale-rounded:down"),
    ("scale ties away", "scale-ties:away from zero"),
    ("no scale below 2^-6", "scale-at-least:2^-6"),
    ("no scale below 2^-9", "scale-at-least:2^-9"),
    ("subnormal scales flushed", "subnormal-scales-flushed"),
    ("global_amax ignored", "global-amax-ignored"),
    ("448 without 6", "global-scale-without-six"),
    ("greatest without the last", "amax-of:all but the last"),
    ("greatest without the first", "amax-of:all but the first"),
    ("greatest of 8", "amax-of:the first 8"),
)


def vectors(real: str = "float32") -> list[Case]:
    return indexed_cases(VECTORS / file_name(OPERATOR, real, "float4_e2m1fn"))


def case_of(*values: float, whole: float | None = None, real: str = "float32") -> Case:
    node = make_node(OPERATOR, real=real, zero_point=whole is not None)
    x = np.array(values, np.float32).astype(node.inputs[0].dtype)
    return Case("a", node, (x,) if whole is None else (x, np.array(whole, np.float32)), "typed")


def solved(case: Case) -> tuple[list[float], list[float]]:
    """The values of the elements and of the scales, by the oracle; both forms agree."""
    found = []
    for problem, output in zip(problems_of(case), case.node.outputs, strict=True):
        (codes, states), (same, _) = (oracle.solve(problem, working=form) for form in (False, True))
        assert not (states == UNDEFINED).any() and (codes == same).all()
        found.append(codes.astype(np.uint8).view(output.dtype).astype(float).tolist())
    return found[0], found[1]


def states_of(case: Case, number: int) -> list[bool]:
    """Which results of an output are open."""
    return (oracle.solve(problems_of(case)[number], working=False)[1] == UNDEFINED).tolist()


@pytest.mark.parametrize(
    ("values", "elements", "scale"),
    [
        ([6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -0.75], [6, 0, 1, 1, 2, 2, 4, 4, -1], 1),
        ([6.1875, 2.75], [6, 3], 1),  # 6.1875 / 6 is 1.03125: nearer to 1 than to 1.125
        ([6.375, 3], [6, 3], 1),  # a tie of the scale: 1.0625, to even
        ([7, 1], [6, 1], 1.125),  # 7 / 6 is 1.1667, 7 / 1.125 is 6.2
        ([6 * 2.0**-9, 1.5 * 2.0**-9], [6, 1.5], 2.0**-9),
        ([2688, 448], [6, 1], 448),
        ([2784, 448], [6, 1], 448),  # 464, where E4M3 without saturation goes to 480
        ([1e30, -448, 224], [6, -1, 0.5], 448),
    ],
)
def test_blocks_by_hand(values: list[float], elements: list[float], scale: float) -> None:
    assert solved(case_of(*values)) == (elements, [scale])


@pytest.mark.parametrize(
    ("whole", "scale", "elements"),
    [(2688, 1, [6, 3, -1]), (6, 448, [6, 3, -1]), (12, 224, [6, 3, -1]), (3, 448, [6, 6, -2])],
)
def test_two_levels_by_hand(whole: float, scale: float, elements: list[float]) -> None:
    """With 3, less than the block has, the scale ends at 448, which is 0.5 of the tensor's."""
    assert solved(case_of(6, 3, -1, whole=whole)) == (elements, [scale])


def test_each_block_of_16_has_its_own_scale_and_a_part_of_one_too() -> None:
    values = [6.0] * 16 + [12.0] * 16 + [24.0]
    assert solved(case_of(*values)) == ([6.0] * 33, [1, 2, 4])


def test_a_zero_scale_is_put_out_and_its_elements_are_open() -> None:
    for amax in (0.0, 6 * 2.0**-10):
        case = case_of(amax, 0.0)
        assert oracle.solve(problems_of(case)[1], working=False)[0].tolist() == [0]
        assert (states_of(case, 0), states_of(case, 1)) == ([True, True], [False])
    assert solved(case_of(float(np.nextafter(np.float32(6 * 2.0**-10), np.float32(1)))))[1] == [2.0**-9]


@pytest.mark.parametrize("whole", [0.0, -0.0, -6.0, math.nan, math.inf, 2.0**-126])
def test_a_global_amax_that_scales_nothing_leaves_all_open(whole: float) -> None:
    case = case_of(6.0, 1.0, whole=whole)
    assert all(states_of(case, 0) + states_of(case, 1))


def test_a_nan_is_of_its_block_alone() -> None:
    case = case_of(*[1.0] * 16, math.nan, *[1.0] * 15)
    assert states_of(case, 0) == [False] * 16 + [True] * 16
    assert states_of(case, 1) == [False, True]


def test_a_scalar_has_no_block_and_global_amax_is_one_number() -> None:
    case = case_of(6.0, whole=6)
    with pytest.raises(InvalidInput, match="a scalar has no axis"):
        problems_of(Case("a", case.node, (np.array(1, np.float32), case.inputs[1]), "typed"))
    with pytest.raises(InvalidInput, match="global_amax is one number, not 2"):
        problems_of(Case("a", case.node, (case.inputs[0], np.ones(2, np.float32)), "typed"))


@pytest.mark.slow
def test_working_precision_multiplies_by_a_rounded_reciprocal() -> None:
    """A 24-bit x just above 0.75 of a scale: times fl(1 / scale) it is 0.75, a tie, and goes to 1 either way."""
    differ = 0
    for case in vectors():
        problem = problems_of(case)[0]
        exact, working = (oracle.solve(problem, working=form)[0] for form in (False, True))
        differ += int((exact != working).sum())
    assert differ > 100


def named(run: Run) -> Counter[str]:
    """The causes given to a backend that runs the vectors, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [OPERATOR]})
    for case in vectors():
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)


@pytest.mark.few(1)
@pytest.mark.parametrize(("box", "key"), NAMED, ids=[box for box, _ in NAMED])
def test_a_wrong_backend_gets_its_cause_and_no_other(box: str, key: str) -> None:
    counts = named(BOXES[box])
    assert set(counts) == {sentence_of(key)}, counts


def test_who_follows_cudnns_text_is_told_in_both_of_its_steps() -> None:
    """scale = quantize_round_up(amax / vmax), output = quantize_round_to_even(vals / scale): no rule of ours."""
    counts = named(next(run for cause, run in PAIRS if cause.id == "scale-rounded:up + divides-by-scale"))
    assert set(counts) == {"scales rounded up, divides by the scale"}, counts


@pytest.mark.slow
def test_what_follows_from_a_wrong_scale_is_no_mistake_of_its_own() -> None:
    """A scale that no table knows: four steps of E4M3 more where it is above 20."""
    counts = named(nv.replace(nv.RIGHT_PARTS, scale=lambda value: odd(nv.as_e4m3(value))))
    follows = sentence_of("follows-from:scales")
    assert counts.keys() == {follows, "unexplained"}
    assert counts[follows] > 2 * counts["unexplained"], "only the scales themselves have no cause"


def odd(scale: nv.Fraction) -> nv.Fraction:
    return min(nv.as_e4m3(scale * nv.Fraction(3, 2)), nv.MOST) if scale > 20 else scale


def codes_of(case: Case, outputs: tuple[nv.Array, ...]) -> nv.Array:
    return codes_of_outputs(problems_of(case), outputs, truths_of(case).judged_by)


@pytest.mark.parametrize("real", ["float32", "bfloat16"])
def test_right_elements_follow_from_their_scales(real: str) -> None:
    followed = 0
    for case in vectors(real):
        with np.errstate(all="ignore"):
            outputs = nv.RIGHT[2].run(case.node, *case.inputs)
        codes = codes_of(case, outputs)
        found = chained(case, codes)
        assert found is not None
        assert ((codes == found.exact) | (codes == found.working)).all(), case.id
        followed += int(found.follows.sum())
    assert followed > 3000


@pytest.mark.parametrize("whole", [None, 2688.0])
def test_a_wrong_element_contradicts_its_scale_and_a_scale_of_nan_says_nothing(whole: float | None) -> None:
    case = case_of(6.0, 1.0, whole=whole)
    kind, scale = (output.dtype for output in case.node.outputs)
    wrong = np.array([6, 2]).astype(kind), np.array([1.0]).astype(scale)
    row = chain_row("it", OPERATOR, [case], {"a": codes_of(case, wrong)})
    assert (row["cases"], row["differ"]) == (1, 1)
    found = chained(case, codes_of(case, wrong))
    assert found is not None and (codes_of(case, wrong) != found.exact).tolist() == [False, True, False]
    for open_scale in (math.nan, 0.0):
        outputs = wrong[0], np.array([open_scale]).astype(scale)
        row = chain_row("it", OPERATOR, [case], {"a": codes_of(case, outputs)})
        assert (row["elements"], row["differ"]) == (0, 0)
    assert OPERATOR in CHAINED


@settings(max_examples=100, deadline=None)
@given(cases(operator=OPERATOR))
def test_a_right_backend_conforms_to_what_is_drawn(case: Case) -> None:
    with np.errstate(all="ignore"):
        outputs = nv.RIGHT[2].run(case.node, *case.inputs)
    assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0


def test_the_terms_of_mistakes_are_right_without_one() -> None:
    for case in vectors():
        outputs = Mutant((), reading=READ)(case.node, *case.inputs)
        assert judge_outputs(outputs, truths_of(case)).count(DEVIATES) == 0, case.id


def test_the_first_element_of_least_distance_is_zero_far_beyond_and_lower_at_ties() -> None:
    found = by_distance(np.array([0.75, -1.25, 6.5, 2.0**28, -(2.0**28), np.inf]))
    assert found.tolist() == [0.5, -1, 6, 0, 0, 0]


def test_a_quotient_in_the_type_of_x_has_its_digits() -> None:
    problem = problems_of(case_of(1, real="bfloat16"))[0]
    run = BackendEvaluation(problem.operands, problem.kinds, problem.working, oracle.signed_value_of)
    assert run.part(in_x_type(problem, lifted(1) / 3), problem.working).values.tolist() == 0.333984375
