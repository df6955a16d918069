"""`tensorflow.QuantizeAndDequantizeV4`: scaling only, so that 0 stays 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
    parse_boolean,
    parse_choice,
    parse_integer,
)
from tiebreak.golden.problem import Array, Elementwise, along, flat, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import tensorflow_quantize_and_dequantize as samples

ID = "tensorflow.QuantizeAndDequantizeV4"
DOCUMENT = "TensorFlow API documentation, QuantizeAndDequantizeV4"
ALGORITHM = "TensorFlow API documentation, QuantizeAndDequantizeV2 (to which V4 refers)"
KERNEL = "TensorFlow 2.21, CPU kernel"
MODES = {"HALF_TO_EVEN": EVEN, "HALF_UP": "ROUND_NEAREST_UPWARD"}
MODE_CLAUSES = {EVEN: "TQD-M1", "ROUND_NEAREST_UPWARD": "TQD-M2"}

CLAUSES = (
    Clause("TQD-E1", "The values are those of QuantizeAndDequantizeV2; only the gradient differs.", DOCUMENT),
    Clause(
        "TQD-Q1",
        "Signed integers of num_bits bits: -2^(num_bits - 1) to 2^(num_bits - 1) - 1.",
        ALGORITHM,
        when={"signed_input": True},
    ),
    Clause(
        "TQD-Q2", "Unsigned integers of num_bits bits: 0 to 2^num_bits - 1.", ALGORITHM, when={"signed_input": False}
    ),
    Clause(
        "TQD-Q3",
        "With narrow_range the lowest integer is the highest's negative. Unsigned ranges have no lowest to change.",
        f"{DOCUMENT}, narrow_range",
        when={"narrow_range": True},
    ),
    Clause(
        "TQD-S1",
        "scale_factor is the largest that maps [input_min, input_max] into the representable integers.",
        ALGORITHM,
    ),
    Clause(
        "TQD-S2",
        "One of input_min and input_max determines scale_factor; the other is updated to the end of what is "
        "representable.",
        ALGORITHM,
    ),
    Clause(
        "TQD-S3",
        "If the integers are unsigned, input_min is 0 whatever is given, and input_max decides.",
        ALGORITHM,
        when={"signed_input": False},
    ),
    Clause("TQD-F1", "Each value is clamped to the updated [input_min, input_max].", ALGORITHM),
    Clause("TQD-F2", "The clamped value is multiplied by scale_factor and rounded to an integer.", ALGORITHM),
    Clause("TQD-F3", "The integer is divided by scale_factor.", ALGORITHM),
    Clause(
        "TQD-M1",
        "HALF_TO_EVEN, the default: ties to the even integer.",
        f"{DOCUMENT}, round_mode",
        when={"round_mode": "HALF_TO_EVEN"},
    ),
    Clause(
        "TQD-M2",
        "HALF_UP: ties toward positive; 7.5 gives 8 and -7.5 gives -7.",
        f"{DOCUMENT}, round_mode",
        when={"round_mode": "HALF_UP"},
    ),
    Clause(
        "TQD-R1",
        "With range_given, input_min and input_max are the range.",
        f"{DOCUMENT}, range_given",
        when={"range_given": True},
    ),
    Clause(
        "TQD-R2",
        "Without range_given, the default, the range is the least and the greatest value of the input.",
        f"{DOCUMENT}, range_given",
        when={"range_given": False},
    ),
    Clause(
        "TQD-X1",
        "With axis, each slice along it has a range of its own.",
        f"{DOCUMENT}, axis",
        when={"axis": (0, 1, 2, 3)},
    ),
    Clause(
        "TQD-X2", "Without axis (-1, the default) there is one range for all.", f"{DOCUMENT}, axis", when={"axis": -1}
    ),
    Clause("TQD-T1", "Input, input_min, input_max and output have one of the four real types.", f"{DOCUMENT}, Args"),
    Clause("TQD-H1", "The output has the input's shape: it takes each value's place.", ALGORITHM),
    Clause(
        "TQD-U1",
        "What NaN and infinities give, in the input or in the range.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TQD-U2",
        "What a range gives that bounds no factor: 0 alone, or unsigned with nothing above 0.",
        f"{ALGORITHM}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TQD-U3",
        "What input_min > input_max gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TQD-U4",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero. Real arithmetic, in "
        "which the formula is written, has one zero.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "TQD-U5",
        "What widths give that leave no integer on the side that decides (one signed bit), and which are allowed.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TQD-U6",
        "What happens where the integers, scale_factor or a product overflow in the input's type: infinity in working "
        "precision, and what IEEE 754 makes of it.",
        f"{DOCUMENT}: silent",
        unspecified=True,
    ),
    Clause(
        "TQD-U7",
        "The shapes of input_min and input_max: with axis one value for each slice is meant, else a scalar; without "
        "range_given a scalar is taken too.",
        f"{DOCUMENT}: silent",
        unspecified=True,
    ),
)


def parse_num_bits(value: Any) -> int:
    number = parse_integer(value)
    if not 1 <= number <= 62:
        raise ValueError(f"{value!r} is not from 1 to 62")
    return number


def parse_axis(value: Any) -> int:
    number = parse_integer(value)
    if number < -1:
        raise ValueError(f"{value!r} is neither an axis position (0, 1, …) nor -1 for none")
    return number


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real,) * 3, (types.real,)


def modes_of(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    return (MODES[attributes.get("round_mode", "HALF_TO_EVEN")],)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, *given = inputs
    axis = node.attributes.get("axis", -1)
    if axis >= x.ndim:
        raise InvalidInput(f"{node.operator}: axis {axis} outside an input of rank {x.ndim}")
    axes = () if axis < 0 else (axis,)
    check_range_shapes(node, given, tuple(x.shape[a] for a in axes))
    if not node.attributes.get("range_given", False):
        given = measured(x, axes)
    low, high = (flat(along(limit, axes, x.shape), x.shape) for limit in given)
    (mode,) = node.modes
    kinds = tuple(map(kind_of, inputs))
    operands = (flat(x, x.shape), low, high)
    limits = representable(node.attributes)
    return (Elementwise(node.operator, "output", x.shape, node.real, node.real, mode, kinds, operands, limits),)


def check_range_shapes(node: Node, given: list[Array], wanted: tuple[int, ...]) -> None:
    for name, limit in zip(("input_min", "input_max"), given, strict=True):
        unused = limit.shape == () and not node.attributes.get("range_given", False)
        if limit.shape != wanted and not unused:
            raise InvalidInput(f"{node.operator}: {name} has shape {list(limit.shape)}, {list(wanted)} is right")


def measured(x: Array, axes: tuple[int, ...]) -> list[Array]:
    """The least and the greatest value of the input, or of each slice; NaN where there is one, 0 for an empty input."""
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    if not x.size:
        return [np.zeros([x.shape[axis] for axis in axes], x.dtype)] * 2
    with np.errstate(invalid="ignore"):
        return [np.asarray(extreme(x, axis=others), x.dtype) for extreme in (np.min, np.max)]


def representable(attributes: Mapping[str, Any]) -> dict[str, Any]:
    bits, signed = attributes.get("num_bits", 8), attributes.get("signed_input", True)
    if not signed:
        return {"signed": False, "lowest": 0, "highest": (1 << bits) - 1}
    highest = (1 << (bits - 1)) - 1
    return {"signed": True, "lowest": -highest - (not attributes.get("narrow_range", False)), "highest": highest}


CONTESTED = (
    Contest(
        "TQD-DIVIDE",
        "Is the integer divided by scale_factor or multiplied by its inverse?",
        ("TQD-F3",),
        {"attributes": {"range_given": True}},
        ([0.1], -1.0, 1.0),
        (
            Answer("the document", "divided", (0.10236220806837082,), judged=True),
            Answer(KERNEL, "multiplied by the quotient of range and integer, rounded", (0.10236220061779022,)),
        ),
    ),
    Contest(
        "TQD-UPDATED-MINIMUM",
        "To what is input_min updated if input_max determines scale_factor?",
        ("TQD-S2",),
        {"attributes": {"range_given": True}},
        ([-11.0], -10.0, 10.0),
        (
            Answer("the document's algorithm", "-128 / 12.7", (-10.078740119934082,), judged=True),
            Answer(
                "the document's second example", "128.0 / 12.7, a positive number, and calls it -10.07874", "10.07874"
            ),
            Answer(f"{KERNEL} and its unit tests", "-128 / 12.7", (-10.078740119934082,)),
        ),
    ),
    Contest(
        "TQD-SYMMETRIC",
        "Does a measured range grow symmetric about 0?",
        ("TQD-S1", "TQD-S2"),
        {},
        ([-0.5, -1.0, 0.8], 0.0, 0.0),
        (
            Answer("the document", "no: -128 / -1.0 = 128 is the largest factor", (-0.5, -1.0, 0.796875), judged=True),
            Answer(
                "TensorFlow's unit test Convert_1D_tensor_with_int8 of early releases",
                "yes: [-1, 1] and 127",
                (-0.4960629940032959, -1.0, 0.8031495809555054),
            ),
            Answer(f"{KERNEL} and today's unit test", "no", (-0.5, -1.0, 0.796875)),
        ),
    ),
    Contest(
        "TQD-ZERO-RANGE",
        "What does an input of zeros give, or a range of 0 alone?",
        ("TQD-U2",),
        {},
        ([0.0, 0.0], 0.0, 0.0),
        (
            Answer("the document", "nothing: no factor is the largest", "unspecified", judged=True),
            Answer(f"{KERNEL}; unit test Convert_tensor_with_all_0", "zeros", (0.0, 0.0)),
        ),
    ),
    Contest(
        "TQD-AXIS-AND-RANGE",
        "May a range be given for each slice?",
        ("TQD-X1", "TQD-R1", "TQD-U7"),
        {"attributes": {"axis": 0, "range_given": True}},
        ([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]),
        (
            Answer("the document", "yes", (1.0, 2.0), judged=True),
            Answer(KERNEL, "no: one check wants a scalar, another one value for each slice", "error"),
        ),
    ),
    Contest(
        "TQD-MEASURED-CLAMP",
        "Are values below 0 clamped if the integers are unsigned and the range is measured?",
        ("TQD-F1", "TQD-S3", "TQD-R2"),
        {"attributes": {"signed_input": False}},
        ([-1.0, 1.0], 0.0, 0.0),
        (
            Answer("the document", "yes: input_min is 0, and every value is clamped", (0.0, 1.0), judged=True),
            Answer(KERNEL, "no: a measured range is not clamped to, and the result leaves the integers", (-1.0, 1.0)),
        ),
    ),
    Contest(
        "TQD-UNSIGNED-BELOW-ZERO",
        "What does an unsigned range give whose input_max is not above 0?",
        ("TQD-S3", "TQD-U2"),
        {"attributes": {"signed_input": False, "range_given": True}},
        ([-1.0], -4.0, -2.0),
        (
            Answer("the document", "nothing", "unspecified", judged=True),
            Answer(KERNEL, "zeros", (0.0,)),
        ),
    ),
    Contest(
        "TQD-REVERSED-RANGE",
        "Is input_min > input_max an error?",
        ("TQD-U3",),
        {"attributes": {"range_given": True}},
        ([0.5], 1.0, 0.0),
        (
            Answer("the document", "nothing", "unspecified", judged=True),
            Answer(f"{KERNEL}; unit test Invalid_range_given", "an error", "error"),
        ),
    ),
    Contest(
        "TQD-HALF",
        "Are float16 and bfloat16 inputs allowed?",
        ("TQD-T1",),
        {"real": "float16", "attributes": {"range_given": True}},
        ([1.0], -2.0, 1.0),
        (
            Answer("the document", "yes", (1.0,), judged=True),
            Answer(KERNEL, "no kernel is registered for them", "error"),
        ),
    ),
)

OPERATOR = Operator(
    id=ID,
    prefix="TQD",
    formula="output = round(clamp(value, input_min, input_max) * scale_factor) / scale_factor",
    sources=(DOCUMENT, ALGORITHM),
    clauses=CLAUSES,
    attributes=(
        Attribute("signed_input", "whether the integers are signed", parse_boolean, default=True),
        Attribute("num_bits", "the integers' width, 1 to 62", parse_num_bits, default=8),
        Attribute("range_given", "whether input_min and input_max are used", parse_boolean, default=False),
        Attribute("round_mode", "how ties are rounded", parse_choice(tuple(MODES)), default="HALF_TO_EVEN"),
        Attribute("narrow_range", "whether the lowest integer is the highest's negative", parse_boolean, default=False),
        Attribute("axis", "the axis whose slices have ranges of their own, -1 for none", parse_axis, default=-1),
    ),
    forms=(("input", "input_min", "input_max"),),
    outputs=("output",),
    family="fake",
    real_types=ALL_REAL_TYPES,
    quantized_types=(),
    signature=signature,
    problems=problems,
    modes_of=modes_of,
    mode_clause=lambda mode: MODE_CLAUSES.get(mode, "TQD-F2"),
    steps=(
        "lowest and highest, the integers at the ends, rounded to the input's type",
        "lowest / input_min if input_min < 0, highest / input_max if input_max > 0; the smaller is scale_factor "
        "(input_max's if they are equal)",
        "the other end: highest / scale_factor or lowest / scale_factor",
        "round(clamp(value, input_min, input_max) * scale_factor), the product rounded",
        "output = that integer / scale_factor",
        "everything is rounded to the input's type; the least and greatest value of an input are exact",
    ),
    letters={"formula": "EQSFR", "rounding": "M", "placement": "X", "signature": "TH"},
    roles={
        "version": "TQD-E1",
        "signed": "TQD-Q1",
        "unsigned": "TQD-Q2",
        "narrow": "TQD-Q3",
        "scale": "TQD-S1",
        "side": "TQD-S2",
        "unsigned-minimum": "TQD-S3",
        "clamp": "TQD-F1",
        "product": "TQD-F2",
        "quotient": "TQD-F3",
        "half-to-even": "TQD-M1",
        "half-up": "TQD-M2",
        "range-given": "TQD-R1",
        "measured": "TQD-R2",
        "axis": "TQD-X1",
        "no-axis": "TQD-X2",
        "type": "TQD-T1",
        "shape": "TQD-H1",
        "special": "TQD-U1",
        "no-range": "TQD-U2",
        "reversed": "TQD-U3",
        "zero-sign": "TQD-U4",
        "width": "TQD-U5",
        "overflow": "TQD-U6",
        "range-shape": "TQD-U7",
    },
    files=tuple((real, real) for real in ALL_REAL_TYPES),
    samples=samples.samples,
    contested=CONTESTED,
)
