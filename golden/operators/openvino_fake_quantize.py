"""`openvino.FakeQuantize`: OpenVINO's FakeQuantize-1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    all_of,
    finite,
    greatest,
    is_nan,
    least,
    lifted,
    require,
    rounded,
    step,
    to_real,
    where,
)
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import (
    ALL_REAL_TYPES,
    Answer,
    Attribute,
    Clause,
    Contest,
    Operator,
    Types,
    parse_choice,
    parse_integer,
)
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.rounding import EVEN, NEAREST
from tiebreak.golden.samples import openvino_fake_quantize as samples

DOCUMENT = "OpenVINO documentation, FakeQuantize-1"
BROADCAST = "OpenVINO documentation, Broadcast Rules For Elementwise Operations"
REFERENCE = "OpenVINO's reference kernel (CPU plugin, limits as model inputs)"
PLUGIN = "OpenVINO's CPU plugin (limits as constants)"
LIMITS = ("input_low", "input_high", "output_low", "output_high")

FORMULA = f"{DOCUMENT}, Detailed description"
CLAUSES = (
    Clause("OVF-F1", "Where x <= min(input_low, input_high) the output is output_low itself.", FORMULA),
    Clause("OVF-F2", "Where x > max(input_low, input_high) the output is output_high itself.", FORMULA),
    Clause("OVF-F3", "Elsewhere x - input_low is divided by input_high - input_low.", FORMULA),
    Clause("OVF-F4", "That quotient is multiplied by levels - 1.", FORMULA),
    Clause("OVF-F5", "The product is rounded to the nearest integer.", FORMULA),
    Clause("OVF-F6", "The integer is divided by levels - 1.", FORMULA),
    Clause("OVF-F7", "That is multiplied by output_high - output_low.", FORMULA),
    Clause("OVF-F8", "output_low is added last.", FORMULA),
    Clause(
        "OVF-F9",
        "With input_low = input_high every x is clipped (binarization), whatever levels says; nothing is divided by 0.",
        f"{DOCUMENT}, Inputs, input_high, with {FORMULA}",
        situation="equal limits",
    ),
    Clause(
        "OVF-F10",
        "With input_low > input_high the branches go by min and max, and the expression is computed as it stands.",
        f"{FORMULA}: its conditions; the comment in its last branch can't hold there, see the contested questions",
        situation="reversed limits",
    ),
    Clause(
        "OVF-F11",
        "output_low may be equal to output_high.",
        f"{DOCUMENT}, Inputs: minimum and maximum quantized value",
        situation="equal output limits",
        derived=True,
    ),
    Clause("OVF-L1", "levels is any integer from 2 on.", f"{DOCUMENT}, Attributes, levels"),
    Clause(
        "OVF-A1",
        "By default each limit is broadcast to the shape of X by NumPy's rules, each on its own.",
        f"{DOCUMENT}, Inputs and Attributes, auto_broadcast",
        when={"auto_broadcast": "numpy"},
        situation="parameters that vary",
    ),
    Clause(
        "OVF-A2",
        "With auto_broadcast none every limit has the shape of X.",
        f"{BROADCAST}, none",
        when={"auto_broadcast": "none"},
    ),
    Clause("OVF-S1", "The output has the shape of X, whatever it is.", f"{DOCUMENT}, Outputs"),
    Clause(
        "OVF-T1", "X, the limits and the output are of one floating-point type, any.", f"{DOCUMENT}, Inputs and Types"
    ),
    Clause("OVF-I1", "An infinite x lies beyond the limits and is clipped.", FORMULA, situation="an infinite operand"),
    Clause("OVF-U1", "Which integer round gives halfway between two.", f"{FORMULA}: silent", unspecified=True),
    Clause(
        "OVF-U2",
        "What a NaN x, input limit, or output limit that the expression uses gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a NaN operand",
    ),
    Clause(
        "OVF-U3",
        "What an infinite limit gives where the expression uses it.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an infinite operand",
    ),
    Clause(
        "OVF-U4",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero. Real arithmetic, in "
        "which the formula is written, has one zero.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "OVF-U5",
        "What a step gives that overflows the type: in working precision what IEEE 754 does, infinity or NaN.",
        f"{DOCUMENT}: silent",
        unspecified=True,
    ),
    Clause(
        "OVF-U6",
        "How a type holds a levels - 1 with more digits than it has: rounded to it in working precision.",
        f"{DOCUMENT}: silent",
        unspecified=True,
    ),
    Clause(
        "OVF-U8",
        "What output_low > output_high gives: they are the minimum and the maximum quantized value, which the "
        "expression does not need.",
        f"{DOCUMENT}, Inputs: minimum and maximum quantized value",
        unspecified=True,
        situation="reversed output limits",
    ),
    Clause(
        "OVF-U7", "Which values auto_broadcast has.", f"{DOCUMENT}, Attributes: the list is empty", unspecified=True
    ),
)


def parse_levels(value: Any) -> int:
    levels = parse_integer(value)
    if levels < 2:
        raise ValueError(f"{levels} is less than 2")
    return levels


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """X, four limits and the output, all of one real type."""
    return (types.real,) * 5, (types.real,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """Broadcasts each limit on its own to the shape of X. InvalidInput if one does not fit."""
    shape, rule = inputs[0].shape, node.attributes.get("auto_broadcast", "numpy")
    for name, limit in zip(LIMITS, inputs[1:], strict=True):
        check_shape(name, limit.shape, shape, rule)
    operands = tuple(flat(array, shape) for array in inputs)
    constants = {"levels": node.attributes["levels"]}
    kinds = tuple(map(kind_of, inputs))
    return (Elementwise(node.operator, "output", shape, node.real, node.real, EVEN, kinds, operands, constants),)


def check_shape(name: str, found: tuple[int, ...], shape: tuple[int, ...], rule: str) -> None:
    if rule == "none":
        if found != shape:
            raise InvalidInput(
                f"openvino.FakeQuantize: {name} has shape {list(found)}; auto_broadcast none needs X's, {list(shape)}"
            )
        return
    try:
        np.broadcast_to(np.empty(found, np.uint8), shape)
    except ValueError:
        raise InvalidInput(
            f"openvino.FakeQuantize: {name} of shape {list(found)} is not broadcastable to X's shape {list(shape)}"
        ) from None


CONTESTED = (
    Contest(
        "OVF-TIES",
        "Which way does round go halfway between two levels?",
        ("OVF-U1", "OVF-F5"),
        {"attributes": {"levels": 9}},
        ([0.5, 1.5, 2.5], 0.0, 8.0, 0.0, 8.0),
        (
            Answer(DOCUMENT, "silent: any nearest rule conforms", "0 or 1, 1 or 2, 2 or 3", judged=True),
            Answer(REFERENCE, "to the even level (nearbyint)", (0.0, 2.0, 2.0)),
            Answer(PLUGIN, "to the even level (Round, half_to_even)", (0.0, 2.0, 2.0)),
            Answer("C's round(), as the document writes it", "away from zero", (1.0, 2.0, 3.0)),
        ),
    ),
    Contest(
        "OVF-TIE-OF-TEST",
        "Which way does round go halfway between levels 76 and 77 of 256?",
        ("OVF-U1", "OVF-F5"),
        {"attributes": {"levels": 256}},
        ([2.0999999046325684, 3.0, 4.0], 0.0, 10.0, 0.0, 255.0),
        (
            Answer(DOCUMENT, "silent: any nearest rule conforms", "54, 76 or 77, 102", judged=True),
            Answer(
                "OpenVINO's unit tests of the GPU plugin, quantize_gpu_test.cpp",
                "quantize_levels_256_2d_unsigned and quantize_levels_256_3d_unsigned: 77, away from zero or upward",
                (54.0, 77.0, 102.0),
            ),
            Answer(REFERENCE, "to the even level (nearbyint)", (54.0, 76.0, 102.0)),
        ),
    ),
    Contest(
        "OVF-ORDER",
        "Are the formula's steps computed in its order, or folded into a scale and a shift?",
        ("OVF-F3", "OVF-F6", "OVF-F7"),
        {"attributes": {"levels": 24}},
        ([7.0, 14.0, 15.0], 0.0, 23.0, 0.0, 23.0),
        (
            Answer(DOCUMENT, "real numbers: order does not matter", (7.0, 14.0, 15.0), judged=True),
            Answer(
                REFERENCE,
                "the formula's order, each step in the type: Tiebreak's working precision",
                (6.999999523162842, 13.999999046325684, 15.000000953674316),
                judged=True,
            ),
            Answer(
                PLUGIN,
                "x * s - low * s with s = (levels - 1) / (high - low), then n * t + output_low with "
                "t = (output_high - output_low) / (levels - 1), fused",
                (7.0, 14.0, 15.0),
            ),
        ),
    ),
    Contest(
        "OVF-REVERSED",
        "What does input_low > input_high give between the two?",
        ("OVF-F10", "OVF-F1", "OVF-F2"),
        {"attributes": {"levels": 5}},
        ([[1.0, 1.25, 1.5, 2.0, 2.25]], 2.0, 1.0, 0.0, 4.0),
        (
            Answer(FORMULA, "conditions and expression as they stand", (0.0, 3.0, 2.0, 0.0, 4.0), judged=True),
            Answer(
                f"{FORMULA}, the comment in the last branch",
                "that branch has input_low < x <= input_high, so this cannot happen",
                "undefined at 1.25, 1.5 and 2",
            ),
            Answer(REFERENCE, "the expression", (0.0, 3.0, 2.0, 0.0, 4.0)),
            Answer(
                PLUGIN,
                "clips x to input_low: output_low everywhere; X of rank 1 goes to the reference kernel",
                (0.0,) * 5,
            ),
            Answer(
                "min(max(x, input_low), input_high), then the expression", "everything becomes output_high", (4.0,) * 5
            ),
        ),
    ),
    Contest(
        "OVF-BINARIZATION",
        "What does input_low = input_high give where levels is not 2?",
        ("OVF-F9",),
        {"attributes": {"levels": 256}},
        ([0.5, 1.0, 1.5], 1.0, 1.0, -5.0, 7.0),
        (
            Answer(DOCUMENT, "one of the first two branches, whatever levels says", (-5.0, -5.0, 7.0), judged=True),
            Answer(REFERENCE, "the branches", (-5.0, -5.0, 7.0)),
            Answer(PLUGIN, "divides by zero; not where levels is 2 and X of rank 1", "NaN for every x"),
        ),
    ),
    Contest(
        "OVF-ENDS",
        "Is the output at input_high, and beyond it, exactly output_high?",
        ("OVF-F2", "OVF-F7", "OVF-F8"),
        {"attributes": {"levels": 2}},
        ([1.0, 2.0], 0.0, 1.0, -0.9, 1.3),
        (
            Answer(f"{FORMULA}, real numbers", "at both", (1.3, 1.3), judged=True),
            Answer(
                f"{FORMULA}, working precision",
                "beyond it: there it is copied; at it the last sum is rounded",
                (1.2999998331069946, 1.3),
                judged=True,
            ),
            Answer(REFERENCE, "as in working precision", (1.2999998331069946, 1.3)),
            Answer(PLUGIN, "x is clipped, then computed: at neither", (1.2999998331069946, 1.2999998331069946)),
        ),
    ),
    Contest(
        "OVF-CLIPPED",
        "Is output_low given unchanged where x lies below the input range?",
        ("OVF-F1", "OVF-F2"),
        {"attributes": {"levels": 256}},
        ([-1.0, 2.0], -0.7, 1.3, -0.9, 0.1),
        (
            Answer(FORMULA, "output_low and output_high themselves", (-0.9, 0.1), judged=True),
            Answer(REFERENCE, "themselves", (-0.9, 0.1)),
            Answer(
                PLUGIN,
                "with 256 levels: a quantize to 8 bits, then (level - zero_point) * step",
                (-0.9000000357627869, 0.10000002384185791),
            ),
        ),
    ),
    Contest(
        "OVF-FLAT",
        "What does output_low = output_high give?",
        ("OVF-F11", "OVF-F8"),
        {"attributes": {"levels": 16}},
        ([-1.0, 0.0, 1.0], -1.0, 1.0, 0.375, 0.375),
        (
            Answer(FORMULA, "that value everywhere", (0.375, 0.375, 0.375), judged=True),
            Answer(REFERENCE, "that value everywhere", (0.375, 0.375, 0.375)),
            Answer(PLUGIN, "with 16 or 256 levels: 0 everywhere; with others that value", (0.0, 0.0, 0.0)),
        ),
    ),
    Contest(
        "OVF-PDPD",
        "Has auto_broadcast a value pdpd, as PaddlePaddle broadcasts?",
        ("OVF-U7", "OVF-A1"),
        {"attributes": {"levels": 5, "auto_broadcast": "pdpd"}},
        (
            [[[[6.0]], [[32.0]]]],
            [[[5.0]], [[30.0]]],
            [[[10.0]], [[40.0]]],
            [[[0.0]], [[50.0]]],
            [[[20.0]], [[70.0]]],
        ),
        (
            Answer(DOCUMENT, "names numpy only; its list of values is empty", "no such node", judged=True),
            Answer(
                "OpenVINO's unit tests, op_reference/fake_quantize.cpp",
                "limits aligned with X from axis 1, or at the end (axis -1): here the same as numpy",
                (5.0, 55.0),
            ),
        ),
    ),
)


def fake_quantize(
    p: Elementwise, x: Term, input_low: Term, input_high: Term, output_low: Term, output_high: Term
) -> Term:
    below = (x <= least(input_low, input_high)).by("OVF-F9", "OVF-F10", "OVF-I1")
    above = (x > greatest(input_low, input_high)).by("OVF-F9", "OVF-F10", "OVF-I1")
    limits = (finite(limit, "OVF-U2", "OVF-U3") for limit in (input_low, input_high, output_low, output_high))
    ends = to_real(output_low, p.working).by("OVF-F1"), to_real(output_high, p.working).by("OVF-F2")
    between = to_real(inside(p, x, *limits), p.working).by("OVF-U4")
    found = where(below, ends[0], where(above, ends[1], between))
    numbers = all_of(*(~is_nan(value) for value in (x, input_low, input_high)))
    return require(numbers, require(~(output_low > output_high), found, "OVF-U8"), "OVF-U2")


def inside(p: Elementwise, x: Term, low: Term, high: Term, first: Term, last: Term) -> Term:
    """The last branch; its last step, the sum, is rounded as the result."""
    n = step(lifted(p.constants["levels"] - 1).named("levels-1")).by("OVF-U6")
    quotient = step(step(x - low) / step(high - low)).by("OVF-F3", "OVF-F10", "OVF-U5")
    level = rounded(step(quotient * n).by("OVF-F4"), p.mode).by("OVF-F5", "OVF-U1").named("level")
    product = step(step(level / n).by("OVF-F6") * step(last - first)).by("OVF-F7", "OVF-F11")
    return (product + first).by("OVF-F8")


TERMS = {"openvino.FakeQuantize": fake_quantize}


OPERATOR = Operator(
    id="openvino.FakeQuantize",
    prefix="OVF",
    formula=(
        "output_low if x <= min(input_low, input_high), output_high if x > max(input_low, input_high), else "
        "round((x - input_low) / (input_high - input_low) * (levels - 1)) / (levels - 1) * "
        "(output_high - output_low) + output_low"
    ),
    sources=(DOCUMENT, BROADCAST),
    clauses=CLAUSES,
    attributes=(
        Attribute("levels", "the number of quantization levels, at least 2", parse_levels, required=True),
        Attribute(
            "auto_broadcast",
            "how limits are spread over X: numpy, or none",
            parse_choice(("numpy", "none")),
            default="numpy",
        ),
    ),
    forms=(("X", *LIMITS),),
    outputs=("output",),
    family="fake",
    real_types=ALL_REAL_TYPES,
    quantized_types=(),
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: NEAREST,
    steps=(
        "outside the input range: output_low or output_high, unchanged",
        "offset = X - input_low, rounded to the type; range = input_high - input_low, rounded to the type",
        "quotient = offset / range, rounded to the type",
        "position = quotient * (levels - 1), rounded to the type; levels - 1 is held in the type",
        "level = round(position), an integer, exact",
        "fraction = level / (levels - 1), rounded to the type",
        "product = fraction * (output_high - output_low), both rounded to the type",
        "output = product + output_low, rounded to the type",
    ),
    letters={"formula": "F", "saturation": "I", "signature": "LST", "placement": "A"},
    roles={
        "below": "OVF-F1",
        "above": "OVF-F2",
        "quotient": "OVF-F3",
        "position": "OVF-F4",
        "nearest": "OVF-F5",
        "fraction": "OVF-F6",
        "product": "OVF-F7",
        "sum": "OVF-F8",
        "equal-limits": "OVF-F9",
        "reversed": "OVF-F10",
        "flat": "OVF-F11",
        "levels": "OVF-L1",
        "projection": "OVF-A1",
        "granularity": "OVF-A1",
        "none": "OVF-A2",
        "shape": "OVF-S1",
        "input-type": "OVF-T1",
        "output-type": "OVF-T1",
        "infinity": "OVF-I1",
        "mode": "OVF-U1",
        "nan": "OVF-U2",
        "infinite-limit": "OVF-U3",
        "zero-sign": "OVF-U4",
        "overflow": "OVF-U5",
        "wide-levels": "OVF-U6",
        "broadcast-values": "OVF-U7",
        "falling": "OVF-U8",
    },
    mode_clause=lambda mode: "OVF-F5",
    files=tuple((real, real) for real in ALL_REAL_TYPES),
    samples=samples.samples,
    contested=CONTESTED,
)
