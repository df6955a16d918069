"""benchmarks/known_defects: that boxes are what they say, and that true causes are found by switching defects off."""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.golden.nodes import Case, Node, TensorType
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, ZERO, Array, codes_of

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(ROOT))

from benchmarks.known_defects import boxes as all_boxes  # noqa: E402
from benchmarks.known_defects.alike import alike_causes  # noqa: E402
from benchmarks.known_defects.arithmetic import Outputs, Use, answer  # noqa: E402
from benchmarks.known_defects.boxes import BOXES, SOUND, Box  # noqa: E402
from benchmarks.known_defects.defects import DEFECTS, how_of  # noqa: E402
from benchmarks.known_defects.measure import cases_of, groups  # noqa: E402
from benchmarks.known_defects.scores import Tally, claims, grade, grade_of_sets, named, split_place, summary  # noqa: E402
from benchmarks.known_defects.truth import true_causes  # noqa: E402
from benchmarks.unseen_defects import boxes as unseen_boxes  # noqa: E402
from benchmarks.unseen_defects import scores as unseen_scores  # noqa: E402
from benchmarks.unseen_defects.steps import DEFECTS as UNSEEN  # noqa: E402

FLOAT32, UINT8 = np.dtype(np.float32), np.dtype(np.uint8)
NODE = Node(
    "onnx.QuantizeLinear",
    {},
    (TensorType("x", FLOAT32), TensorType("y_scale", FLOAT32), TensorType("y_zero_point", UINT8)),
    (TensorType("y", UINT8),),
    21,
    document=OPERATORS["onnx.QuantizeLinear"],
)


def test_there_are_many_boxes_of_all_operators() -> None:
    assert len({box.name for box in BOXES}) == len(BOXES) >= 300
    assert {box.operator for box in BOXES} == set(OPERATORS)
    assert len({use.defect for box in BOXES for use in box.uses}) >= 60
    assert all(all_boxes.__getattr__(box.name).name == box.name for box in BOXES[::100])


def test_every_defect_is_in_a_box() -> None:
    assert {use.defect for box in BOXES for use in box.uses} == set(DEFECTS)


def test_two_defects_of_one_step_are_refused() -> None:
    with pytest.raises(ValueError, match="same step"):
        how_of(("ties-up", "ties-away"))


@pytest.mark.few(8)
@pytest.mark.parametrize("box", SOUND, ids=lambda box: box.operator)
def test_a_sound_box_conforms(box: Box) -> None:
    vectors = plan(Selection((box.operator,), level=""))
    for case in vectors[:: 1 + len(vectors) // 1000]:
        wrong = deviating(case, answer(case.node, case.inputs, ()))
        assert not wrong.any(), f"{case.id}: elements {np.flatnonzero(wrong)}"


def deviating(case: Case, outputs: Outputs) -> Array:
    """Which elements equal neither the exact nor the working-precision result, and are specified."""
    assert case.expected is not None
    codes = np.concatenate([codes_of(array).reshape(-1).astype(np.int64) for array in outputs])
    values = np.concatenate([array.reshape(-1).astype(np.float64) for array in outputs])
    right = np.zeros(codes.shape, bool)
    expected = case.expected
    for code, state in (expected.exact, expected.exact_state), (expected.working, expected.working_state):
        right |= (codes == code) | (state == UNDEFINED) | ((state == ZERO) & (values == 0))
        right |= (state == OUT_OF_RANGE) & (case.node.operator == "ngraph.Quantize")
    return ~(right | np.isnan(values))


@pytest.mark.slow
def test_each_box_differs_from_the_sound_one() -> None:
    """On a golden vector, but for the boxes of a list, of which only generated cases show something, or none does."""
    sample = BOXES[::4]
    unseen = {box.name for some in groups(sample, 1000) for box in unseen_of(some)}
    listed = (ROOT / "benchmarks/known_defects/without_vectors.txt").read_text(encoding="utf-8").split()
    assert set(listed) <= {box.name for box in BOXES}
    assert unseen == {box.name for box in sample} & set(listed)


def unseen_of(boxes: list[Box]) -> list[Box]:
    vectors = cases_of(boxes[0], "")
    return [box for box in boxes if not any(differs(box, case) for case in vectors)]


def differs(box: Box, case: Case) -> bool:
    pairs = zip(box.answer(case.node, case.inputs), answer(case.node, case.inputs, ()), strict=True)
    return any(ours.tobytes() != right.tobytes() for ours, right in pairs)


def test_a_true_cause_is_the_smallest_subset_that_suffices() -> None:
    """2.5 is a tie; 300 wraps; 256.5 needs both: it goes to 257 and then wraps to 1, or to 0 with one of the two."""
    x = np.array([1, 2.5, 300, 256.5], np.float32)
    uses = (Use("ties-away"), Use("wraps"))
    (found,) = true_causes(NODE, (x, np.float32(1).reshape(()), np.array(0, np.uint8)), uses)
    ties, wraps = ((use,) for use in uses)
    assert found == [frozenset(), frozenset({ties}), frozenset({wraps}), frozenset({uses})]


def test_each_of_two_defects_may_suffice() -> None:
    uses = (Use("ties-up"), Use("zp-before-rounding"))
    (found,) = true_causes(NODE, (np.array([0.5], np.float32), np.array(1, np.float32), np.array(1, np.uint8)), uses)
    assert found == [frozenset({(uses[0],), (uses[1],)})]


def test_a_defect_on_a_path_is_nowhere_else() -> None:
    x = np.full(9, 2.5, np.float32)
    (y,) = answer(NODE, (x, np.array(1, np.float32), np.array(0, np.uint8)), (Use("ties-away", "tail8"),))
    assert y.tolist() == [2] * 8 + [3]


def test_grades() -> None:
    one, two = frozenset({"a"}), frozenset({"b"})
    assert grade_of_sets([one], {one}, one) == "true"
    assert grade_of_sets([one | two], {one}, one | two) == "whole"
    assert grade_of_sets([one], {one | two}, one | two) == "half"
    assert grade_of_sets([two], {one}, one) == "wrong"


def test_a_cause_that_no_case_refutes_is_not_wrong() -> None:
    """Of what is never negative, ties upward go away from zero, too."""
    box = next(box for box in BOXES if box.name == "tensorflow.QuantizeV2/float32-uint8/SCALED/ties-up")
    counts = [["ties:NEAREST_TOWARD_INFINITY", ["ties-up"], 1, 1, "x"]]
    tally = Tally(box.name, box.sentence, [list(use) for use in box.uses], counts=counts)
    assert grade(tally, *counts[0][:2]) == "wrong"
    tally.alike = alike_causes(box, tally, cases_of(box, ""))
    assert grade(tally, *counts[0][:2]) == "same"


def test_the_mapping_names_known_defects() -> None:
    assert {name for sets in named().values() for names in sets for name in names} <= set(DEFECTS)
    both = claims("own-reciprocal + ties:NEAREST_TOWARD_INFINITY")
    assert frozenset({"reciprocal", "ties-away"}) in both


def test_the_mapping_of_the_second_set_names_its_defects() -> None:
    entries = tomllib.loads(unseen_scores.GIVEN.read_text(encoding="utf-8"))["given"]
    every = {family for family, _ in UNSEEN}
    assert len(entries) > 700
    for entry in entries:
        claimed = [names for kind in ("defects", "equal", "part") for names in entry.get(kind, [])]
        known = {name for family, name in UNSEEN if family in entry.get("families", every)}
        assert {name for names in claimed for name in names.split("+")} <= known, entry


def test_boxes_of_both_sets_are_backends_by_their_names() -> None:
    for module, every in ((all_boxes, BOXES), (unseen_boxes, unseen_boxes.BOXES)):
        box = every[0]
        assert getattr(module, box.name).box is box
        with pytest.raises(AttributeError):
            getattr(module, "none")  # noqa: B009


def test_a_place_is_no_part_of_a_cause() -> None:
    tie, tail = "ties:NEAREST_UPWARD", "in the tail of a vector loop of 8"
    assert split_place(f"{tie} @ per-axis") == (tie, "per axis")
    assert split_place(f"{tie} @ tail:8") == split_place("rounds-in-tail:8,NEAREST_UPWARD") == (tie, tail)


def test_the_summary_counts() -> None:
    counts = [["ties:NEAREST_UPWARD", ["ties-up"], 30, 3, "x"], ["unexplained", ["ties-up"], 1, 1, "x"]]
    tally = Tally("onnx.QuantizeLinear/box", "Ties.", [["ties-up", ""]], 2, 1, 0, counts)
    quiet = Tally("onnx.QuantizeLinear/quiet", "Ties.", [["ties-up", ""]])
    defaults = sorted(map(str, defaultdict(int, {grade(tally, *count[:2]): 1 for count in counts})))
    assert defaults == ["true", "unexplained"]
    text = summary([tally, quiet])
    assert "| the true cause | 96.8% | 75.0% | 75.0% |" in text and "- onnx.QuantizeLinear/quiet" in text
