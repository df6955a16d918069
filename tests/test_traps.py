"""Rare values everywhere: as constants too, and calls forbidden in every mode and beyond both bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from wrong_traps import nowhere, quantizer

from tiebreak.conformance.cases.path_probes import path_cases
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.path_probe import STEP, ScaleClass, scale_classes
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.samples.rounded_twice import products, scale_unit, through
from tiebreak.golden.verdicts import DEVIATES

QUANTIZE = "onnx.QuantizeLinear"
RIGHT = quantizer(nowhere)


def deviates(case: Case, outputs: tuple[np.ndarray[Any, Any], ...]) -> bool:
    return bool(judge_outputs(outputs, truths_of(case)).count(DEVIATES))


@pytest.mark.few(4)
@pytest.mark.parametrize("found", scale_classes(), ids=lambda found: found.name)
@pytest.mark.parametrize("parameter", ["y_scale", "y_zero_point"])
def test_a_parameter_read_wrong_as_a_constant_is_caught_at_every_scale_class(found: ScaleClass, parameter: str) -> None:
    """The backend takes 1 for the scale, or 0 for the zero point, if only that is a constant and the scale is this."""
    wrong = set()
    for case in path_cases([QUANTIZE], "quick"):
        x, scale, zero = case.inputs
        if set(case.node.constants) != {parameter} or float(scale.reshape(-1)[0]) != float(found.scale):
            continue
        read = (np.ones_like(scale), zero) if parameter == "y_scale" else (scale, np.zeros_like(zero))
        if deviates(case, RIGHT(case.node, x, *read)):
            wrong.add(case.id)
    assert wrong


@pytest.mark.few(8)
@pytest.mark.parametrize("operator", [one for one, spec in OPERATORS.items() if len(spec.forms[0]) > 1])
def test_every_operator_has_each_parameter_as_a_constant_at_every_scale_class(operator: str) -> None:
    probes = [probe for probe in TESTED[operator].path_probes or () if probe.constants_only]
    classes = {probe.label.rsplit("-", 1)[0].split("-8-bits")[0] for probe in probes}
    assert len(classes) >= 4
    cases = [case for case in path_cases([operator], "quick") if case.node.constants]
    for number in range(1, len(cases[0].inputs)):
        named = [(case, [tensor.name for tensor in case.node.inputs[number : number + 1]]) for case in cases]
        alone = {case.id.split("/")[2] for case, names in named if [*case.node.constants] == names}
        assert {probe.label for probe in probes} <= alone


def test_no_scale_class_is_the_step_of_the_other_probes() -> None:
    assert all(abs(found.scale) != STEP or found.scale < 0 for found in scale_classes())


@pytest.mark.parametrize("operator", ["tensorflow.QuantizeV2", "tensorflow.Dequantize"])
def test_forbidden_ranges_are_tried_in_each_mode_and_axes_on_both_sides(operator: str) -> None:
    calls = TESTED[operator].forbidden_calls or ()
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        own = [call for call in calls if call.attributes.get("mode") == mode]
        assert {call.attributes.get("axis") for call in own} >= {-2, 0, 2, None}
        assert any(call.shapes[1] == (2,) and "axis" not in call.attributes for call in own)


def test_products_are_rounded_twice_by_fractions_alone() -> None:
    """An independent look: the double nearest to the product, then the float32, then the float16."""
    half = FLOAT_TYPES["float16"]
    for difference, significand in products(half, 16, 6):
        scale = significand * scale_unit(half, 16)
        assert through(scale, half) == scale
        once = np.float64(difference * scale)
        assert Fraction(float(once)) == difference * scale
        assert np.float16(np.float32(once)) != np.float16(once)
