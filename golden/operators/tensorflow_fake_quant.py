"""`tensorflow.FakeQuantWithMinMaxVars`, and what its per-channel form shares with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

from tiebreak.golden.arithmetic.term import Term, agreed, clamp, finite, lifted, require, rounded, step, to_real, where
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Attribute, Clause, Contest, Kind, Operator, Types, parse_boolean
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.rounding import EVEN, ROUND_MODES, is_nearest
from tiebreak.golden.samples import tensorflow_fake_quant as samples

DOCUMENT = "TensorFlow 2.21, API documentation of FakeQuantWithMinMaxVars"
KERNEL = "TensorFlow 2.21, CPU kernel"
LITE_TESTS = "TensorFlow Lite, fake_quant_test.cc"
FORMULA = (
    "q = round((clamp(inputs, min_adj, max_adj) - min_adj) / scale) + lowest; "
    "outputs = (q - lowest + round(min / scale)) * scale"
)


QUANTIZED = "Attributes: inputs values are quantized into the quantization range"
# Where the document says what a clause says.
PLACES = {
    "F1": ", Attributes: [min; max] define the clamping range",
    "F2": f", {QUANTIZED} [0; 2^num_bits - 1] when narrow_range is false",
    "F3": f", {QUANTIZED} [1; 2^num_bits - 1] when narrow_range is true",
    "F4": f", {QUANTIZED} and then de-quantized",
    "A1": ", If 0 < min < max: min_adj = 0 and max_adj = max - min",
    "A2": ", If min < max < 0: min_adj = min - max and max_adj = 0",
    "A3": ", If min <= 0 <= max: scale = (max - min) / (2^num_bits - 1)",
    "A4": ", If min <= 0 <= max: min_adj = scale * round(min / scale)",
    "A5": ", If min <= 0 <= max: max_adj = max + min_adj - min",
    "N1": ", Attributes: num_bits is the bitwidth of the quantization; between 2 and 16, inclusive; Args, num_bits",
    "S1": ": to outputs tensor of same shape as inputs",
    "T1": ", Args and Returns: a Tensor of type float32",
}


def clauses(prefix: str, document: str) -> tuple[Clause, ...]:
    """The statements that both forms share."""

    def clause(name: str, text: str, unspecified: bool = False, situation: str = "", **when: Any) -> Clause:
        source = f"{document}{': silent' if unspecified else PLACES[name]}"
        return Clause(f"{prefix}-{name}", text, source, unspecified=unspecified, when=when, situation=situation)

    return (
        clause("F1", "The adjusted min and max are the interval to which the inputs are clamped."),
        clause("F2", "Clamped values are quantized into the integers from 0 to 2^num_bits - 1."),
        clause("F3", "With narrow_range the quantized range starts at 1.", narrow_range=True),
        clause("F4", "Quantized values are de-quantized: the outputs lie on a grid between min_adj and max_adj."),
        clause("A1", "If 0 < min < max: min_adj = 0 and max_adj = max - min.", situation="a range above zero"),
        clause("A2", "If min < max < 0: min_adj = min - max and max_adj = 0.", situation="a range below zero"),
        clause(
            "A3", "If min <= 0 <= max: scale is max - min divided by 2^num_bits - 1.", situation="a range around zero"
        ),
        clause(
            "A4",
            "If min <= 0 <= max: min_adj = scale * round(min / scale), so that 0 is on the grid.",
            situation="a range around zero",
        ),
        clause("A5", "If min <= 0 <= max: max_adj = max + min_adj - min.", situation="a range around zero"),
        clause("N1", "num_bits is from 2 to 16; if it is absent, 8."),
        clause("S1", "The outputs have the shape of the inputs."),
        clause("T1", "Inputs, min, max and outputs are float32."),
        clause(
            "U1", "Which of two equally near integers round takes: any of the five nearest rules is accepted.", True
        ),
        clause(
            "U2",
            "How the integer comes from the clamped value and goes back, and in which order. In real numbers only the "
            "grid matters; for working precision Tiebreak subtracts min_adj, divides by scale, rounds and adds the "
            "lowest integer. Back, integers are added first and scale is multiplied last, which is the order that the "
            "printed values of the document's example fit.",
            True,
        ),
        clause(
            "U3",
            "The divisor of scale with narrow_range. The formula says 2^num_bits - 1, but the narrower range has one "
            "step fewer; only 2^num_bits - 2 takes [min_adj; max_adj] onto it. What both give is required (contested).",
            True,
            narrow_range=True,
        ),
        clause("U4", "What min = max and min > max give.", True, "an undefined result"),
        clause("U5", "What NaN and infinities give.", True, "an undefined result"),
        clause(
            "U6",
            "The sign of a zero result: either zero is accepted, also where a number rounds to zero. Real arithmetic, "
            "in which the formulas are written, has one zero.",
            True,
            "a zero result",
        ),
        clause(
            "U7",
            "What ranges give whose size or scale underflows to 0 in float32, or overflows: infinity in working "
            "precision, and what IEEE 754 makes of it.",
            True,
        ),
    )


LETTERS: Mapping[Kind, str] = {"formula": "FA", "placement": "G", "signature": "NST"}


def shared_roles(prefix: str) -> dict[str, str]:
    names = {
        "clamp": "F1",
        "levels": "F2",
        "narrow": "F3",
        "dequantize": "F4",
        "positive-range": "A1",
        "negative-range": "A2",
        "scale": "A3",
        "nudge-min": "A4",
        "nudge-max": "A5",
        "num-bits": "N1",
        "shape": "S1",
        "type": "T1",
        "tie": "U1",
        "order": "U2",
        "narrow-scale": "U3",
        "degenerate": "U4",
        "special": "U5",
        "zero-sign": "U6",
        "overflow": "U7",
    }
    return {role: f"{prefix}-{name}" for role, name in names.items()}


def parse_num_bits(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not 2 <= int(value) <= 16:
        raise ValueError(f"{value!r} is not an integer from 2 to 16")
    return int(value)


ATTRIBUTES = (
    Attribute("num_bits", "the bits of a quantized value, 2 to 16", parse_num_bits, default=8),
    Attribute("narrow_range", "whether the quantized range starts at 1", parse_boolean, default=False),
)
STEPS = (
    "situation min <= 0 <= max: scale = (max - min) / n, both steps rounded; n = 2^num_bits - 1, one less if narrow",
    "min_adj = scale * round(min / scale), quotient and product rounded; max_adj = (max + min_adj) - min, both rounded",
    "situation 0 < min < max: scale as above, min_adj = 0, max_adj = max - min, rounded",
    "situation min < max < 0: scale as above, min_adj = min - max, rounded, max_adj = 0",
    "clamped = inputs limited to [min_adj; max_adj]",
    "q = round((clamped - min_adj) / scale), difference and quotient rounded; the lowest quantized value is added",
    "outputs = (q less the lowest quantized value, plus the number of times that scale fits min_adj) * scale: the sum "
    "of integers is exact, the product rounded; that number is round(min / scale), 0 if 0 < min, -n if max < 0",
    "everything is rounded to float32; the document gives no order for the last three lines, and the printed values of "
    "its example fit the last one",
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real,) * 3, (types.real,)


def modes_of(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """All nearest modes: the document says "round" and no more."""
    return tuple(mode for mode in ROUND_MODES if is_nearest(mode))


def problems_over(
    shape_of_range: Callable[[Node, tuple[int, ...]], tuple[int, ...]],
) -> Callable[[Node, tuple[Array, ...]], tuple[Elementwise, ...]]:
    """The `problems` of an operator; min and max have the shape of `shape_of_range`, broadcast on the last axis."""

    def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
        x, low, high = inputs
        wanted = shape_of_range(node, x.shape)
        for name, parameter in (("min", low), ("max", high)):
            if parameter.shape != wanted:
                raise InvalidInput(
                    f"{node.operator}: {name} has shape {list(parameter.shape)}, {list(wanted)} is right"
                )
        operands = tuple(flat(array, x.shape) for array in inputs)
        kinds = tuple(map(kind_of, inputs))
        return (
            Elementwise(
                node.operator, "outputs", x.shape, node.real, node.real, EVEN, kinds, operands, constants(node)
            ),
        )

    return problems


def constants(node: Node) -> dict[str, Any]:
    """Attributes as the formula needs them; `intervals` is how many steps the quantized range has.

    `divisors` are what scale may be divided by: with narrow_range what the formula says, and the steps.
    """
    lowest, highest = int(node.attributes.get("narrow_range", False)), (1 << node.attributes.get("num_bits", 8)) - 1
    intervals = highest - lowest
    return {
        "lowest": lowest,
        "highest": highest,
        "intervals": intervals,
        "divisors": (highest, intervals) if lowest else (intervals,),
    }


def contests(prefix: str, wrap: Callable[[float], Any], half_of_255: tuple[str, tuple[float]]) -> tuple[Contest, ...]:
    """The open questions; `wrap` gives min or max the form's shape."""

    def contest(
        name: str, question: str, touched: str, attributes: dict[str, Any], values: tuple[float, float, float],
        *answers: Answer,
    ) -> Contest:  # fmt: skip
        x, low, high = values
        clause_ids = tuple(f"{prefix}-{clause}" for clause in touched.split())
        inputs = ([x], wrap(low), wrap(high))
        return Contest(f"{prefix}-{name.upper()}", question, clause_ids, {"attributes": attributes}, inputs, answers)

    return (
        contest(
            "narrow-scale",
            "By what is max - min divided with narrow_range?",
            "A3 F3 U3",
            {"num_bits": 2, "narrow_range": True},
            (-0.875, -0.875, 0.625),
            Answer("the document's quantization range", "2^num_bits - 2, its number of steps", (-0.75,)),
            Answer("the document's formula of scale", "2^num_bits - 1 always", (-1.0,)),
            Answer(f"{KERNEL} and its unit tests", "2^num_bits - 2", (-0.75,)),
        ),
        contest(
            "interval",
            "Do the outputs lie in [min; max] or in [min_adj; max_adj]?",
            "F1 F4 A5",
            {"num_bits": 2},
            (1.125, -0.375, 1.125),
            Answer("the document's adjustment and its example", "in [min_adj; max_adj]", (1.0,), judged=True),
            Answer("the document's first sentences alone", "in [min; max]", (1.125,)),
            Answer(KERNEL, "in [min_adj; max_adj]", (1.0,)),
        ),
        contest(
            "tie",
            "To which integer does round take a value half-way between two?",
            "U1",
            {"num_bits": 2},
            (0.5, 0.0, 3.0),
            Answer("the document", "nothing: any nearest rule", "0 or 1", judged=True),
            Answer(KERNEL, "floor(value + 0.5), upward", (1.0,)),
        ),
        contest(
            "tie-of-test",
            "The same of 127.5, where scale = 1/255 is no float32.",
            "U1 F2",
            {},
            (0.5, 0.0, 1.0),
            Answer("the document", "nothing: any nearest rule", "127 / 255 or 128 / 255", judged=True),
            Answer(
                f"{LITE_TESTS}, FloatPositiveRange8Test",
                "127 / 255, written 0.498039: downward. FloatPositiveRange16Test has 0.500008 for the same input and "
                "16 bits: upward",
                (0.498039,),
            ),
            Answer(KERNEL, *half_of_255),
        ),
        contest(
            "nudge-tie",
            "To which integer does round take min / scale half-way between two?",
            "A4 U1",
            {},
            (-0.25, -0.125, 63.625),
            Answer("the document", "nothing: any nearest rule", "-0.25 or 0", judged=True),
            Answer(
                f"{KERNEL}; unit test WithVarsNudgedUp_RegularRange",
                "the zero point -min / scale is rounded half away from zero",
                (-0.25,),
            ),
        ),
        contest(
            "nudge-tie-of-test",
            "The same of -127.5, for a range symmetric about 0.",
            "A4 U1",
            {},
            (-0.9, -0.9, 0.9),
            Answer("the document", "nothing: any nearest rule", "-127 or -128, times 1.8 / 255", judged=True),
            Answer(
                f"{LITE_TESTS}, FloatNegativeRange8Test", "-127 * 1.8 / 255, written -0.896471: upward", (-0.896471,)
            ),
            Answer(KERNEL, "the zero point, 127.5 in real numbers, comes out as 127", (-0.8964706,)),
        ),
        contest(
            "grid-precision",
            "How is a quantized value taken back in floating point?",
            "F4 U2",
            {},
            (-0.95, -1.5, 2.75),
            Answer("real arithmetic, rounded once", "the grid point itself", (-0.949999988079071,), judged=True),
            Answer(
                "Tiebreak's working precision, after the document's example",
                "(q + round(min / scale)) * scale with scale rounded",
                (-0.9500000476837158,),
                judged=True,
            ),
            Answer(
                "another order, which the document's example does not fit",
                "q * scale + min_adj",
                (-0.9500001072883606,),
            ),
            Answer(KERNEL, "(q - zero point) * scale with scale rounded", (-0.9500000476837158,)),
        ),
        contest(
            "near-tie",
            "How is a value rounded that is just below half-way between two integers?",
            "F2 U2",
            {},
            (0.011764705181121826, 0.0, 6.0),
            Answer("the document", "to the nearest integer, by any of its rules", (0.0,), judged=True),
            Answer(KERNEL, "floor(value + 0.5), where the sum is rounded up to 1", (0.0235294122248888,)),
        ),
        contest(
            "zero-range",
            "What do min = 0 and max = 0 give?",
            "U4",
            {},
            (0.5, 0.0, 0.0),
            Answer("the document", "nothing: the third situation divides 0 by 0", "unspecified", judged=True),
            Answer(f"{KERNEL}; unit test WithVars_ZeroMinAndMax", "zeros", (0.0,)),
        ),
        contest(
            "reversed-range",
            "What does min > max give?",
            "U4",
            {},
            (1.0, 1.0, -1.0),
            Answer("the document", "nothing: it is none of the three situations", "unspecified", judged=True),
            Answer(KERNEL, "no error; computes on with a negative scale", (0.9960784912109375,)),
        ),
    )


def fake_quant(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    """What every reading of the divisor gives."""
    letters = PREFIXES[p.formula]
    x, low, high = (finite(one, f"{letters}-U5") for one in (x, low, high))
    readings = (of_divisor(p, letters, x, low, high, divisor) for divisor in p.constants["divisors"])
    return require(low < high, agreed(*readings).by(f"{letters}-U3"), f"{letters}-U4")


def of_divisor(p: Elementwise, letters: str, x: Term, low: Term, high: Term, divisor: int) -> Term:
    scale = step(step(high - low) / lifted(divisor).named("steps")).by(f"{letters}-A3").named("scale")
    first, min_adj, max_adj = adjusted(p, letters, low, high, scale, divisor)
    clamped = clamp(x, min_adj, max_adj).by(f"{letters}-F1").named("clamped x")
    level = rounded(step(step(clamped - min_adj) / scale), p.mode).by(f"{letters}-F2", f"{letters}-U1").named("level")
    quantized = (level + p.constants["lowest"]).by(f"{letters}-F3")
    found = (quantized - p.constants["lowest"] + first) * scale
    return to_real(found.by(f"{letters}-F4", f"{letters}-U2"), p.working).by(f"{letters}-U6", f"{letters}-U7")


def adjusted(p: Elementwise, letters: str, low: Term, high: Term, scale: Term, divisor: int) -> tuple[Term, Term, Term]:
    """The document's three situations: min_adj in units of scale, min_adj and max_adj."""
    first = rounded(step(low / scale), p.mode).by(f"{letters}-A4", f"{letters}-U1")
    min_adj = step(scale * first).by(f"{letters}-A4")
    above, below = (low > 0).by(f"{letters}-A1"), (high < 0).by(f"{letters}-A2")
    return (
        where(above, 0, where(below, -divisor, first)).named("min_adj / scale"),
        where(above, 0, where(below, step(low - high), min_adj)).named("min_adj"),
        where(above, step(high - low), where(below, 0, step(step(high + min_adj) - low).by(f"{letters}-A5"))).named(
            "max_adj"
        ),
    )


PREFIXES = {"tensorflow.FakeQuantWithMinMaxVars": "TFF", "tensorflow.FakeQuantWithMinMaxVarsPerChannel": "TFC"}
TERMS = dict.fromkeys(PREFIXES, fake_quant)


OPERATOR = Operator(
    id="tensorflow.FakeQuantWithMinMaxVars",
    prefix="TFF",
    formula=FORMULA,
    sources=(DOCUMENT,),
    clauses=(
        *clauses("TFF", DOCUMENT),
        Clause(
            "TFF-G1", "min and max are scalars, the same for all.", f"{DOCUMENT}: via global float scalars min and max"
        ),
    ),
    attributes=ATTRIBUTES,
    forms=(("inputs", "min", "max"),),
    outputs=("outputs",),
    family="fake",
    real_types=("float32",),
    quantized_types=(),
    signature=signature,
    problems=problems_over(lambda node, shape: ()),
    modes_of=modes_of,
    letters=LETTERS,
    roles=shared_roles("TFF") | {"range": "TFF-G1"},
    steps=STEPS,
    files=(("float32", "float32"),),
    samples=samples.samples,
    contested=contests(
        "TFF",
        lambda value: value,
        ("multiplies by 1 / scale, which is rounded downward: no tie", (0.49803924560546875,)),
    ),
)
