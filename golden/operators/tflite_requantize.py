"""`tflite.Requantize`: integers of one scale and zero point to integers of another, as TensorFlow Lite has them.

The specification says what quantized numbers stand for, and does not promise bits. The kernels' source has two ways to
compute a result with integers alone, which the attribute `rounding` names: a build has one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    AWAY,
    UPWARD,
    Term,
    equal,
    exponent,
    finite,
    greatest,
    held,
    least,
    power_of_two,
    require,
    rounded,
    step,
    to_integer,
    where,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Attribute, Clause, Operator, Types, parse_choice
from tiebreak.golden.operators.tflite_requantize_contested import COMMON, CONTESTED, GEMMLOWP, KERNEL, PAPER, SPEC, UTIL
from tiebreak.golden.problem import Array, Elementwise, codes_of, flat, kind_of
from tiebreak.golden.rounding import NEAREST
from tiebreak.golden.samples import tflite_requantize as samples

ID = "tflite.Requantize"
PAIRS = (
    ("int8", "int8"),
    ("int8", "uint8"),
    ("uint8", "int8"),
    ("uint8", "uint8"),
    ("int16", "int8"),
    ("int16", "int16"),
    ("int16", "int32"),
    ("int32", "int8"),
    ("int32", "int16"),
    ("int8", "int16"),
    ("int8", "int32"),
)
TYPES = ("int8", "uint8", "int16", "int32")
REAL, SINGLE, DOUBLE = "nearest", "single", "double"
QUANTIZE, MUL, ADD, FULLY_CONNECTED = "QUANTIZE", "MUL", "ADD", "FULLY_CONNECTED"
BESIDE = (MUL, ADD, FULLY_CONNECTED)
SCALE = "float32"

CLAUSES = (
    Clause(
        "TLR-F1",
        "An integer q of scale s and zero point z stands for (q - z) * s. The output stands for the same number: its "
        "integer is (q - z) * s / s' + z'.",
        f"{SPEC}, summary and QUANTIZE (Requantization)",
    ),
    Clause(
        "TLR-F2",
        "With single and double the ratio s / s' is a float64; its significand times 2^31, halves away from zero, is "
        "the multiplier, its exponent the shift.",
        f"{UTIL}; {KERNEL}, Prepare",
        when={"rounding": (SINGLE, DOUBLE)},
    ),
    Clause(
        "TLR-F3",
        "With single and double a shift below -31 makes the multiplier 0, so every result is the zero point.",
        f"{UTIL}: effectively flushing tiny multipliers to zero",
        when={"rounding": (SINGLE, DOUBLE)},
        situation="a ratio below 2^-32",
    ),
    Clause(
        "TLR-F4",
        "With single a shift above 30 becomes 30, with the largest multiplier.",
        f"{UTIL}: doesn't support a shift > 30, saturate it",
        when={"rounding": SINGLE},
        situation="a ratio of 2^30 and more",
    ),
    Clause(
        "TLR-R1",
        "With nearest, the default, (q - z) * s / s' is rounded to the nearest integer, before z' is added.",
        f"{SPEC}: real_value = (int8_value - zero_point) * scale, and the paper to which it refers, {PAPER}, 2.1 and 3",
        when={"rounding": REAL},
        derived=True,
    ),
    Clause(
        "TLR-R2",
        "With single the product of q - z and the multiplier is shifted by 31 - shift, once, ties upward.",
        f"{COMMON}, TFLITE_SINGLE_ROUNDING",
        when={"rounding": SINGLE},
    ),
    Clause(
        "TLR-R3",
        "With double q - z goes left by a positive shift. The product with the multiplier is shifted by 31, ties "
        "upward.",
        f"{COMMON}; {GEMMLOWP}, SaturatingRoundingDoublingHighMul",
        when={"rounding": DOUBLE},
    ),
    Clause(
        "TLR-R4",
        "With double what that gives goes right by a negative shift, rounded again, ties away from zero.",
        f"{COMMON}; {GEMMLOWP}, RoundingDivideByPOT",
        when={"rounding": DOUBLE},
    ),
    Clause(
        "TLR-C1",
        "A result beyond the output type's range becomes the nearer end of it.",
        f"{KERNEL}, Requantize; {SPEC}, QUANTIZE: range",
        situation="a result out of range",
    ),
    Clause(
        "TLR-T1",
        "8 and 16 bits go to 8 and 16, int32 to int8 and int16, int8 and int16 to int32 too.",
        f"{KERNEL}, Prepare; tflite-micro, kernels/quantize_common.cc",
    ),
    Clause(
        "TLR-T2",
        "MUL, ADD and FULLY_CONNECTED have the type of their input, int8, uint8 or int16, and no rounding of their "
        "own here.",
        f"{SPEC}, ADD, MUL, FULLY_CONNECTED",
        when={"through": BESIDE},
    ),
    Clause("TLR-S1", "The output has the shape of the input.", f"{KERNEL}, Prepare"),
    Clause("TLR-S2", "Scales and zero points are for the whole tensor.", f"{SPEC}, QUANTIZE: granularity: per-tensor"),
    Clause(
        "TLR-F5",
        "Through MUL by a quantized 1, ADD of 0, or FULLY_CONNECTED with the weight 1, the number is the same.",
        f"{SPEC}, summary: what the integers stand for",
        when={"through": BESIDE},
    ),
    Clause(
        "TLR-U1",
        "Where a number goes that lies halfway between two integers, with nearest. Any rule is accepted.",
        f"{SPEC}: silent",
        unspecified=True,
        when={"rounding": REAL},
    ),
    Clause(
        "TLR-U2",
        "Whether an implementation gives these very bits: it may deviate slightly. So a difference accuses nobody.",
        f"{SPEC}, summary: implementations that are not bit-exact",
        unspecified=True,
    ),
    Clause(
        "TLR-U3",
        "What a scale gives that is no positive number.",
        f"{SPEC}: silent",
        unspecified=True,
        situation="a scale that is no positive number",
    ),
    Clause(
        "TLR-U4",
        "What single and double give where q - z, a step or the sum with z' leaves int32, or double has a shift above "
        "30.",
        f"{COMMON}: under their documented input contract the arithmetic does not overflow",
        unspecified=True,
        when={"rounding": (SINGLE, DOUBLE)},
        situation="an undefined result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    source, target = types.real, types.quantized
    through = attributes.get("through", QUANTIZE)
    if (source, target) not in PAIRS:
        raise InvalidInput(f"{ID}: no kernel from {source} to {target}; there are: {', '.join(map('>'.join, PAIRS))}")
    if through != QUANTIZE and source != target:
        raise InvalidInput(f"{ID}: {through} gives the type of its input, {source}, not {target}")
    if through != QUANTIZE and attributes.get("rounding", REAL) != REAL:
        raise InvalidInput(f"{ID}: rounding {attributes['rounding']} is that of QUANTIZE, not of {through}")
    return (source, SCALE, source, SCALE, target), (target,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """One result for each element of the first input; the others are scalars."""
    x, *parameters = inputs
    if shapes := [list(parameter.shape) for parameter in parameters if parameter.shape]:
        raise InvalidInput(f"{ID}: scales and zero points are scalars, not of shape {shapes[0]}")
    make = partial(Elementwise, working=FLOAT_TYPES[SCALE], constants={"rounding": node.value("rounding")})
    operands = tuple(spread(array, x.shape) for array in inputs)
    kinds, result = tuple(map(kind_of, inputs)), ELEMENT_TYPES[node.output_type]
    mode = node.modes[0] if node.modes else ""
    return (make(ID, "output", x.shape, result, mode=mode, kinds=kinds, operands=operands),)


def spread(array: Array, shape: tuple[int, ...]) -> Array:
    """The codes of the input, or of a scalar that all elements have; flat."""
    return codes_of(array).reshape(-1) if array.shape == shape else flat(np.asarray(array), shape)


BITS = 31  # of the multiplier
LEAST, MOST = -31, 30  # shifts


def requantize(p: Elementwise, x: Term, s_in: Term, z_in: Term, s_out: Term, z_out: Term) -> Term:
    scale, other = finite(s_in, "TLR-U3"), finite(s_out, "TLR-U3")
    difference, rounding = x - z_in, p.constants["rounding"]
    assert isinstance(p.result, IntegerType)
    if rounding == "nearest":
        product = step(step(difference) * step(scale / other)).by("TLR-F1", "TLR-F5")
        summed = rounded(product, p.mode).by("TLR-R1", "TLR-U1") + z_out
    else:
        found = WAYS[rounding](word(difference), *multiplier_of(scale / other))
        summed = word(found + z_out)
    return require((scale > 0) & (other > 0), to_integer(summed, p.result).by("TLR-C1", "TLR-U2"), "TLR-U3")


def multiplier_of(ratio: Term, bits: int = BITS) -> tuple[Term, Term]:
    """The ratio as a whole number of 31 bits and a shift: multiplier * 2^(shift - 31); or of other bits."""
    quotient = held(ratio, FLOAT_TYPES["float64"]).named("ratio")
    power = exponent(quotient) + 1
    found = rounded(quotient * power_of_two(bits - power), AWAY).by("TLR-F2").named("multiplier")
    full = equal(found, 1 << bits)
    shift = where(full, power + 1, power)
    usable = (shift >= LEAST).by("TLR-F3")
    return where(usable, where(full, found / 2, found), 0), where(usable, shift, 0)


def single(difference: Term, multiplier: Term, shift: Term) -> Term:
    far = (shift > MOST).by("TLR-F4")
    product = where(far, (1 << BITS) - 1, multiplier) * power_of_two(where(far, MOST, shift) - BITS)
    return word(rounded(difference * product, UPWARD).by("TLR-R2"))


def double(difference: Term, multiplier: Term, shift: Term) -> Term:
    shifted = word(difference * power_of_two(greatest(shift, 0)))
    high = rounded(shifted * multiplier * power_of_two(-BITS), UPWARD).by("TLR-R3")
    return require(shift <= MOST, rounded(high * power_of_two(least(shift, 0)), AWAY).by("TLR-R4"), "TLR-U4")


def word(value: Term) -> Term:
    """A whole number that int32 holds."""
    kind = INTEGER_TYPES["int32"]
    return require((value >= kind.lowest) & (value <= kind.highest), value, "TLR-U4")


WAYS = {"single": single, "double": double}
TERMS = {ID: requantize}


OPERATOR = Operator(
    id=ID,
    prefix="TLR",
    formula="output = saturate(round((input - input_zero_point) * input_scale / output_scale) + output_zero_point)",
    sources=(SPEC, PAPER, KERNEL, UTIL, COMMON, GEMMLOWP),
    clauses=CLAUSES,
    attributes=(
        Attribute(
            "rounding",
            f"{REAL}, the default: of the real result; {SINGLE} or {DOUBLE}: as the kernels' source has it",
            parse_choice((REAL, SINGLE, DOUBLE)),
            default=REAL,
        ),
        Attribute(
            "through",
            f"the operator that requantizes: {QUANTIZE}, the default, or one of {', '.join(BESIDE)} that leaves the "
            "number as it is",
            parse_choice((QUANTIZE, *BESIDE)),
            default=QUANTIZE,
        ),
    ),
    forms=(("input", "input_scale", "input_zero_point", "output_scale", "output_zero_point"),),
    outputs=("output",),
    family="cast",
    real_types=TYPES,
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: NEAREST if attributes.get("rounding", REAL) == REAL else (),
    mode_clause=lambda mode: "TLR-R1",
    steps=(
        "difference = input - input_zero_point, rounded to float32",
        "ratio = input_scale / output_scale, rounded to float32",
        "product = difference * ratio, rounded to float32",
        "output = round(product) + output_zero_point, exact, saturated",
        "with rounding single or double: integers alone, which no working precision changes",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "TS"},
    roles={
        "same": "TLR-F1",
        "multiplier": "TLR-F2",
        "flushed": "TLR-F3",
        "largest-shift": "TLR-F4",
        "through": "TLR-F5",
        "nearest": "TLR-R1",
        "single": "TLR-R2",
        "double": "TLR-R3",
        "second": "TLR-R4",
        "saturate": "TLR-C1",
        "types": "TLR-T1",
        "types-beside": "TLR-T2",
        "shape": "TLR-S1",
        "per-tensor": "TLR-S2",
        "ties": "TLR-U1",
        "bits": "TLR-U2",
        "scale": "TLR-U3",
        "overflow": "TLR-U4",
    },
    saturates=True,
    files=PAIRS,
    samples=samples.samples,
    contested=CONTESTED,
)
