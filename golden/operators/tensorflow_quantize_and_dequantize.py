"""`tensorflow.QuantizeAndDequantizeV4`: scaling only, so that 0 stays 0. And what V2 and V3 share with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    clamp,
    finite,
    lifted,
    power_of_two,
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
    Attribute,
    Clause,
    Operator,
    Types,
    parse_boolean,
    parse_choice,
    parse_integer,
)
from tiebreak.golden.operators.tensorflow_quantize_and_dequantize_contested import (
    Variant,
    contests,
    range_for_each_slice,
)
from tiebreak.golden.problem import Array, Elementwise, along, flat, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import tensorflow_quantize_and_dequantize as samples

ID = "tensorflow.QuantizeAndDequantizeV4"
DOCUMENT = "TensorFlow 2.21, API documentation of QuantizeAndDequantizeV4"
ALGORITHM = "TensorFlow 2.21, API documentation of QuantizeAndDequantizeV2 (to which V4 refers)"
FORMULA = "output = round(clamp(value, input_min, input_max) * scale_factor) / scale_factor"
MODES = {"HALF_TO_EVEN": EVEN, "HALF_UP": "ROUND_NEAREST_UPWARD"}
MODE_CLAUSES = {EVEN: "M1", "ROUND_NEAREST_UPWARD": "M2"}


def clauses(
    prefix: str, document: str, algorithm: str, described: str, rounding: tuple[Clause, ...]
) -> tuple[Clause, ...]:
    """The statements of every version. `algorithm` is the document with the steps, `described` that with attributes."""
    return (
        Clause(
            f"{prefix}-Q1",
            "Signed integers of num_bits bits: -2^(num_bits - 1) to 2^(num_bits - 1) - 1.",
            f"{algorithm}: [-128, 127] for signed, num_bits = 8",
            when={"signed_input": True},
        ),
        Clause(
            f"{prefix}-Q2",
            "Unsigned integers of num_bits bits: 0 to 2^num_bits - 1.",
            f"{algorithm}: [0, 255] for unsigned, num_bits = 8",
            when={"signed_input": False},
        ),
        Clause(
            f"{prefix}-Q3",
            "With narrow_range the lowest integer is the highest's negative. Unsigned ranges have no lowest to change.",
            f"{described}, narrow_range",
            when={"narrow_range": True},
        ),
        Clause(
            f"{prefix}-S1",
            "scale_factor is the largest that maps [input_min, input_max] into the representable integers.",
            f"{algorithm}: determines the maximum scale_factor that would map …",
        ),
        Clause(
            f"{prefix}-S2",
            "One of input_min and input_max determines scale_factor; the other is updated to the end of what is "
            "representable.",
            f"{algorithm}: updates the other one to maximize the representable range",
        ),
        Clause(
            f"{prefix}-S3",
            "If the integers are unsigned, input_min is 0 whatever is given, and input_max decides.",
            f"{algorithm}: input_min is forced to be 0, and only the specified input_max is used",
            when={"signed_input": False},
        ),
        Clause(
            f"{prefix}-F1", "Each value is clamped to the updated [input_min, input_max].", f"{algorithm}: {FORMULA}"
        ),
        Clause(
            f"{prefix}-F2",
            "The clamped value is multiplied by scale_factor and rounded to an integer.",
            f"{algorithm}: {FORMULA}",
        ),
        Clause(f"{prefix}-F3", "The integer is divided by scale_factor.", f"{algorithm}: {FORMULA}"),
        *rounding,
        Clause(
            f"{prefix}-R1",
            "With range_given, input_min and input_max are the range.",
            f"{described}, range_given",
            when={"range_given": True},
        ),
        Clause(
            f"{prefix}-R2",
            "Without range_given, the default, the range is the least and the greatest value of the input.",
            f"{described}, range_given",
            when={"range_given": False},
        ),
        Clause(
            f"{prefix}-X1",
            "With axis, each slice along it has a range of its own.",
            f"{described}, axis",
            when={"axis": (0, 1, 2, 3)},
        ),
        Clause(
            f"{prefix}-X2",
            "Without axis (-1, the default) there is one range for all.",
            f"{described}, axis",
            when={"axis": -1},
        ),
        Clause(
            f"{prefix}-T1",
            "Input, input_min, input_max and output have one of the four real types.",
            f"{document}, Args",
        ),
        Clause(
            f"{prefix}-H1",
            "The output has the input's shape: it takes each value's place.",
            f"{algorithm}: applies the following to each value",
        ),
        Clause(
            f"{prefix}-U1",
            "What NaN and infinities give, in the input or in the range.",
            f"{document}: silent",
            unspecified=True,
            situation="an undefined result",
        ),
        Clause(
            f"{prefix}-U2",
            "What a range gives that bounds no factor: 0 alone, or unsigned with nothing above 0.",
            f"{algorithm}: silent",
            unspecified=True,
            situation="an undefined result",
        ),
        Clause(
            f"{prefix}-U3",
            "What input_min > input_max gives.",
            f"{document}: silent",
            unspecified=True,
            situation="an undefined result",
        ),
        Clause(
            f"{prefix}-U4",
            "The sign of a zero result: either zero is accepted, also where a number rounds to zero. Real arithmetic, "
            "in which the formula is written, has one zero.",
            f"{document}: silent",
            unspecified=True,
            situation="a zero result",
        ),
        Clause(
            f"{prefix}-U5",
            "What widths give that leave no integer on the side that decides (one signed bit), and which are allowed.",
            f"{document}: silent",
            unspecified=True,
            situation="an undefined result",
        ),
        Clause(
            f"{prefix}-U6",
            "What happens where the integers, scale_factor, the moved end or a product overflow in the input's type.",
            f"{document}: silent",
            unspecified=True,
        ),
        Clause(
            f"{prefix}-U7",
            "The shapes of input_min and input_max: with axis one value for each slice is meant, else a scalar; "
            "without range_given a scalar is taken too.",
            f"{document}: silent",
            unspecified=True,
        ),
    )


def rounding_clauses(prefix: str, document: str) -> tuple[Clause, ...]:
    """The statements of the versions that have a round_mode."""
    return (
        Clause(
            f"{prefix}-M1",
            "HALF_TO_EVEN, the default: ties to the even integer.",
            f"{document}, round_mode: from HALF_TO_EVEN and HALF_UP, defaults to HALF_TO_EVEN",
            when={"round_mode": "HALF_TO_EVEN"},
        ),
        Clause(
            f"{prefix}-M2",
            "HALF_UP: ties toward positive; 7.5 gives 8 and -7.5 gives -7.",
            f"{document}, round_mode",
            when={"round_mode": "HALF_UP"},
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
    """The problem of a version whose num_bits is an attribute."""
    return (posed(node, inputs, inputs, (), representable(node.attributes)),)


def problems_of_width(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """The problem of a version whose last input is num_bits: an operand, for the formula to make integers of."""
    *_, num_bits = inputs
    if num_bits.ndim:
        raise InvalidInput(f"{node.operator}: num_bits has shape {list(num_bits.shape)}; a scalar is right")
    constants = {"signed": node.value("signed_input"), "narrow_range": node.value("narrow_range")}
    return (posed(node, inputs, inputs[:-1], inputs[-1:], constants),)


def posed(
    node: Node, inputs: tuple[Array, ...], ranged: tuple[Array, ...], more: tuple[Array, ...], constants: dict[str, Any]
) -> Elementwise:
    """The problem of an input with its range, `ranged`, and scalar operands."""
    x, *given = ranged
    axis, mode = node.value("axis"), node.round_mode
    if axis >= x.ndim:
        raise InvalidInput(f"{node.operator}: axis {axis} outside an input of rank {x.ndim}")
    axes = () if axis < 0 else (axis,)
    check_range_shapes(node, given, tuple(x.shape[a] for a in axes))
    if not node.value("range_given"):
        given = measured(x, axes)
    low, high = (flat(along(limit, axes, x.shape), x.shape) for limit in given)
    operands = (flat(x, x.shape), low, high, *(flat(scalar, x.shape) for scalar in more))
    kinds = tuple(map(kind_of, inputs))
    return Elementwise(node.operator, "output", x.shape, node.real, node.real, mode, kinds, operands, constants)


def check_range_shapes(node: Node, given: list[Array], wanted: tuple[int, ...]) -> None:
    for name, limit in zip(("input_min", "input_max"), given, strict=True):
        unused = limit.shape == () and not node.value("range_given")
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


STEPS = (
    "lowest and highest, the integers at the ends, rounded to the input's type",
    "lowest / input_min if input_min < 0, highest / input_max if input_max > 0; the smaller is scale_factor "
    "(input_max's if they are equal)",
    "the other end: highest / scale_factor or lowest / scale_factor",
    "round(clamp(value, input_min, input_max) * scale_factor), the product rounded",
    "output = that integer / scale_factor",
    "everything is rounded to the input's type; the least and greatest value of an input are exact",
)


def shared_attributes(range_given: bool) -> tuple[Attribute, ...]:
    """The attributes of every version, with the default of range_given."""
    return (
        Attribute("signed_input", "whether the integers are signed", parse_boolean, default=True),
        Attribute("range_given", "whether input_min and input_max are used", parse_boolean, default=range_given),
        Attribute("narrow_range", "whether the lowest integer is the highest's negative", parse_boolean, default=False),
        Attribute("axis", "the axis whose slices have ranges of their own, -1 for none", parse_axis, default=-1),
    )


def attributes() -> tuple[Attribute, ...]:
    """The attributes of the versions that round as one of them says, in the document's order."""
    signed, *others = shared_attributes(range_given=False)
    given, *last = others
    num_bits = Attribute("num_bits", "the integers' width, 1 to 62", parse_num_bits, default=8)
    round_mode = Attribute("round_mode", "how ties are rounded", parse_choice(tuple(MODES)), default="HALF_TO_EVEN")
    return (signed, num_bits, given, round_mode, *last)


def roles(prefix: str) -> dict[str, str]:
    """The roles that every version has."""
    names = {
        "signed": "Q1",
        "unsigned": "Q2",
        "narrow": "Q3",
        "scale": "S1",
        "side": "S2",
        "unsigned-minimum": "S3",
        "clamp": "F1",
        "product": "F2",
        "quotient": "F3",
        "half-to-even": "M1",
        "range-given": "R1",
        "measured": "R2",
        "axis": "X1",
        "no-axis": "X2",
        "type": "T1",
        "shape": "H1",
        "special": "U1",
        "no-range": "U2",
        "reversed": "U3",
        "zero-sign": "U4",
        "width": "U5",
        "overflow": "U6",
        "range-shape": "U7",
    }
    return {role: f"{prefix}-{name}" for role, name in names.items()}


def mode_clause_of(prefix: str) -> Callable[[str], str]:
    return lambda mode: f"{prefix}-{MODE_CLAUSES.get(mode, 'F2')}"


VARIANT = Variant("TQD", {})


def of_attributes(p: Elementwise, value: Term, input_min: Term, input_max: Term) -> Term:
    letters, ends = PREFIXES[p.formula], (p.constants["lowest"], p.constants["highest"])
    lowest, highest = (
        lifted(end).by(f"{letters}-Q1", f"{letters}-Q2", f"{letters}-Q3").named(name)
        for name, end in zip(("lowest", "highest"), ends, strict=True)
    )
    return there_and_back(p, lowest, highest, value, input_min, input_max)


def of_width(p: Elementwise, value: Term, input_min: Term, input_max: Term, num_bits: Term) -> Term:
    signed = p.constants["signed"]
    highest = (power_of_two(num_bits - signed) - 1).by("TQC-Q1", "TQC-Q2")
    lowest = 0 - highest - (not p.constants["narrow_range"]) if signed else lifted(0)
    found = there_and_back(p, lowest.by("TQC-Q1", "TQC-Q2", "TQC-Q3"), highest, value, input_min, input_max)
    return require((num_bits >= 1) & (num_bits <= 62), found, "TQC-U5")


def there_and_back(p: Elementwise, lowest: Term, highest: Term, value: Term, input_min: Term, input_max: Term) -> Term:
    letters = PREFIXES[p.formula]
    ranged = (value, input_min, input_max)
    x, bottom, high = (finite(one, f"{letters}-U1").by(f"{letters}-R1", f"{letters}-R2") for one in ranged)
    low = bottom if p.constants["signed"] else lifted(0).by(f"{letters}-S3")
    scale_factor, least, greatest = scaled(letters, lowest, highest, low, high)
    clamped = clamp(x, least, greatest).by(f"{letters}-F1").named("clamped x")
    product = finite(step(clamped * scale_factor), f"{letters}-U6")
    of_mode = [f"{letters}-{MODE_CLAUSES[p.mode]}"] if p.mode in MODE_CLAUSES else []
    integer = rounded(product, p.mode).by(f"{letters}-F2", *of_mode).named("level")
    quotient = (integer / scale_factor).by(f"{letters}-F3", *([] if letters == "TQB" else [f"{letters}-E1"]))
    found = to_real(quotient, p.working).by(f"{letters}-U4")
    return require(bottom <= high, found, f"{letters}-U3")


def scaled(letters: str, lowest: Term, highest: Term, low: Term, high: Term) -> tuple[Term, Term, Term]:
    """scale_factor and the updated range; a side that is 0, or has no integers of its sign, allows any factor."""

    def in_type(value: Term) -> Term:
        return finite(step(value), f"{letters}-U6")

    first, last = in_type(lowest), in_type(highest)
    from_min, from_max = (step(end / bound).by(f"{letters}-S1") for end, bound in ((first, low), (last, high)))
    by_min = (low < 0) & (~(high > 0) | (from_min < from_max))
    of_max = require(high > 0, from_max, f"{letters}-U2")
    return (
        finite(where(by_min, from_min, of_max).named("scale_factor"), f"{letters}-U6"),
        where(by_min, low, in_type(first / of_max).by(f"{letters}-S2")).named("the updated min"),
        where(by_min, in_type(last / from_min).by(f"{letters}-S2"), high).named("the updated max"),
    )


FAMILY = "tensorflow.QuantizeAndDequantize"
PREFIXES = {f"{FAMILY}V2": "TQB", f"{FAMILY}V3": "TQC", f"{FAMILY}V4": "TQD"}
TERMS = {name: of_width if letters == "TQC" else of_attributes for name, letters in PREFIXES.items()}


OPERATOR = Operator(
    id=ID,
    prefix="TQD",
    formula=FORMULA,
    sources=(DOCUMENT, ALGORITHM),
    clauses=(
        Clause(
            "TQD-E1",
            "The values are those of QuantizeAndDequantizeV2; only the gradient differs.",
            f"{DOCUMENT}: almost identical to QuantizeAndDequantizeV2, except that it returns a gradient",
        ),
        *clauses("TQD", DOCUMENT, ALGORITHM, DOCUMENT, rounding_clauses("TQD", DOCUMENT)),
    ),
    attributes=attributes(),
    forms=(("input", "input_min", "input_max"),),
    outputs=("output",),
    family="fake",
    real_types=ALL_REAL_TYPES,
    quantized_types=(),
    signature=signature,
    problems=problems,
    measures=lambda attributes: not attributes["range_given"],
    modes_of=modes_of,
    mode_clause=mode_clause_of("TQD"),
    steps=STEPS,
    letters={"formula": "EQSFR", "rounding": "M", "placement": "X", "signature": "TH"},
    roles=roles("TQD") | {"version": "TQD-E1", "half-up": "TQD-M2"},
    files=tuple((real, real) for real in ALL_REAL_TYPES),
    samples=samples.samples,
    contested=contests(VARIANT, range_for_each_slice(VARIANT)),
)
