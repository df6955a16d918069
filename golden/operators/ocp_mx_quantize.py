"""`ocp.MXQuantize`: blocks of 32 numbers to a shared power of two each and elements of 4 to 8 bits.

OCP's text has one way to the shared scale, floor, and lets others be. torchao and cuBLAS document three more, which the
attribute `scaling_mode` names as torchao does. OCP's site gives its text to browsers alone: it was read in quotations
of sections 5.2 to 5.4 and 6.3, and their section and table numbers are those of the people who quote them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    clamp,
    equal,
    exponent,
    finite,
    power_of_two,
    require,
    rounded,
    step,
    to_ends,
    to_float,
    where,
    whole,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, SMALL_FLOAT_TYPES, FloatType, IntegerType, decode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Attribute, Clause, Operator, Types, parse_choice
from tiebreak.golden.operators.ocp_mx_quantize_contested import CONTESTED, CUBLAS, OCP, TORCHAO
from tiebreak.golden.problem import Array, Elementwise, Problem, array_of, codes_of, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import ocp_mx_quantize as samples

ID = "ocp.MXQuantize"
BLOCK = 32
FLOATS = ("float8_e4m3fn", "float8_e5m2", "float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn")
TYPES = (*FLOATS, "int8")
REALS = ("float32", "bfloat16")
MODES = ("floor", "ceil", "even", "rceil")
SCALE_TYPE = "float8_e8m0fnu"
AMAX = "amax of its block"

CLAUSES = (
    Clause(
        "OMQ-F1",
        "With scaling_mode floor, the default, the scale X is the largest power of two not above the block's greatest "
        "magnitude, divided by the largest power of two that the element type holds.",
        f"{OCP}, 6.3, step 1",
        when={"scaling_mode": "floor"},
    ),
    Clause(
        "OMQ-F2",
        "An element is its input divided by X, in the element type.",
        f"{OCP}, 6.3, step 2",
    ),
    Clause(
        "OMQ-F3",
        "X is put out in E8M0: its exponent plus 127, without a sign.",
        f"{OCP}, 5.4.1, table 7",
    ),
    Clause(
        "OMQ-F4",
        "An INT8 element stands for its integer times 2^-6: the largest is 1 63/64, and the largest power of two 1.",
        f"{OCP}, 5.3.4, table 6",
        situation="an int8 output",
    ),
    Clause(
        "OMQ-F5",
        "With ceil X is the smallest power of two not below the greatest magnitude, divided by that of the type.",
        f"{TORCHAO}, CEIL",
        when={"scaling_mode": "ceil"},
    ),
    Clause(
        "OMQ-F6",
        "With even the greatest magnitude is rounded to the element type's precision first; then as with floor.",
        f"{TORCHAO}, EVEN",
        when={"scaling_mode": "even"},
    ),
    Clause(
        "OMQ-F7",
        "With rceil X is the smallest power of two not below the greatest magnitude divided, in float32, by the "
        "largest value of the element type.",
        f"{CUBLAS}, step 2 and FP8 with UE8M0 scales, step 2; {TORCHAO}, RCEIL",
        when={"scaling_mode": "rceil"},
    ),
    Clause(
        "OMQ-R1",
        "Elements are rounded to nearest, ties to even: the rounding that every implementation must support.",
        f"{OCP}, 5.3 and 6.3: roundTiesToEven must be supported; {CUBLAS}: RNE unless noted otherwise",
    ),
    Clause(
        "OMQ-C2",
        "With rceil X stays in E8M0's range: it is 2^-127 for anything smaller, a block of zeros too.",
        f"{CUBLAS}, FP8 with UE8M0 scales, step 2: otherwise",
        when={"scaling_mode": "rceil"},
        situation="a scale below 2^-127",
    ),
    Clause(
        "OMQ-T1",
        "Elements are E4M3, E5M2, E3M2, E2M3, E2M1 or INT8, scales E8M0. The other scaling modes are for floats.",
        f"{OCP}, 5.2, table 1; {TORCHAO}",
    ),
    Clause("OMQ-S1", "A block has 32 elements and one scale; here along the last axis.", f"{OCP}, 5.2, table 1"),
    Clause(
        "OMQ-S2",
        "A last block with fewer elements is quantized as if the missing ones were zero.",
        f"{CUBLAS}, 1D block quantization",
        situation="a part of a block",
    ),
    Clause(
        "OMQ-U1",
        "What a block with NaN or an infinity gives: the conversion speaks of normal numbers.",
        f"{OCP}, 6.3: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "OMQ-U2",
        "What a block gives whose X is outside E8M0's range, with another mode than rceil.",
        f"{OCP}, 6.3: silent",
        unspecified=True,
        when={"scaling_mode": ("floor", "ceil", "even")},
        situation="a scale below 2^-127",
    ),
    Clause(
        "OMQ-U3",
        "What X is for a block of zeros, with another mode than rceil. Its elements are zeros.",
        f"{OCP}, 6.3: silent",
        unspecified=True,
        when={"scaling_mode": ("floor", "ceil", "even")},
        situation="a block of zeros",
    ),
    Clause(
        "OMQ-U4",
        "The sign of an element that is zero.",
        f"{OCP}, 6.3: silent",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "OMQ-U5",
        "What an INT8 element is that rounds to -2: the format has -128, which has no positive counterpart.",
        f"{OCP}, 5.3.4: the maximum negative representation may be left unused",
        unspecified=True,
        situation="an int8 element that rounds to -2",
    ),
    Clause(
        "OMQ-U6",
        "What is beyond the element type's largest normal number: it should become that number, which is advice and no "
        "rule.",
        f"{OCP}, 6.3, step 2: normal numbers should be clamped to the max normal, preserving the sign",
        unspecified=True,
        situation="an input beyond the largest element",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    mode = attributes.get("scaling_mode", MODES[0])
    if types.quantized == "int8" and mode != MODES[0]:
        raise InvalidInput(f"{ID}: scaling_mode {mode} is for elements that are floats, int8 has floor alone")
    return (types.real,), (types.quantized, SCALE_TYPE)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For the elements each input with its block's greatest magnitude, for the scales that magnitude alone."""
    (x,) = inputs
    if not x.ndim:
        raise InvalidInput(f"{ID}: a scalar has no axis along which a block could lie")
    amax = greatest(x)
    constants = constants_of(node.output_type, node.value("scaling_mode"))
    mode, single = node.modes[0] if node.modes else "", FLOAT_TYPES["float32"]
    make = partial(Elementwise, working=single, mode=mode, constants=constants)
    kind, own = kind_of(x), codes_of(amax)
    operands = codes_of(x).reshape(-1), of_elements(own, x.shape)
    return (
        make(ID, "elements", x.shape, ELEMENT_TYPES[node.output_type], kinds=(kind, kind), operands=operands,
             named=("x", AMAX)),
        make(f"{ID}:scales", "scales", own.shape, SMALL_FLOAT_TYPES[SCALE_TYPE], kinds=(kind,),
             operands=(own.reshape(-1),), named=(AMAX,)),
    )  # fmt: skip


def constants_of(to: str, mode: str) -> dict[str, Any]:
    """What the formula is told, and the largest element: it times a scale is the block's greatest magnitude or so."""
    return {"to": to, "scaling_mode": mode, "largest": largest_element(to)}


def greatest(x: Array) -> Array:
    """The greatest magnitude of each block along the last axis; NaN if it has one."""
    *outer, length = x.shape
    blocks = -(-length // BLOCK)
    padded = np.zeros((*outer, blocks * BLOCK), x.dtype)
    padded[..., :length] = np.abs(x)
    with np.errstate(invalid="ignore"):  # which bfloat16 says of NaN
        return np.asarray(padded.reshape(*outer, blocks, BLOCK).max(axis=-1))


def of_elements(blocks: Array, shape: tuple[int, ...]) -> Array:
    """What each block has, for each of its elements: flat."""
    return np.ascontiguousarray(np.repeat(blocks, BLOCK, axis=-1)[..., : shape[-1]]).reshape(-1)


def chain(node: Node, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> dict[int, Problem]:
    """The elements given the scales that a backend gave: those of blocks whose magnitude makes just these by floor."""
    (x,), scales = inputs, codes_of(outputs[1])
    elements = problems(node, inputs)[0]
    double, largest = FLOAT_TYPES["float64"], largest_power(node.output_type)
    power = np.where(scales == 255, np.nan, np.ldexp(largest, scales.astype(np.int64) - 127))
    amax = codes_of(array_of(double.name, power.shape, power.astype(np.float64).view(np.uint64).reshape(-1)))
    given = constants_of(node.output_type, MODES[0])
    operands = elements.operands[0], of_elements(amax, x.shape)
    return {0: replace(elements, kinds=(elements.kinds[0], double), operands=operands, constants=given)}


def largest_power(to: str) -> float:
    """The largest power of two that an element type holds."""
    kind = ELEMENT_TYPES[to]
    return float(2**kind.emax) if isinstance(kind, FloatType) else 1.0


def largest_element(to: str) -> float:
    """The largest value of an element type."""
    kind = ELEMENT_TYPES[to]
    return float(decode(kind.largest_bits, kind)) if isinstance(kind, FloatType) else 127 / 64


LEAST, MOST = -127, 127  # exponents of E8M0
UNIT = 64  # an INT8 element's integer is its value in 64ths
HIGHEST = 127


def elements(p: Elementwise, x: Term, amax: Term) -> Term:
    value, largest = finite(x, "OMQ-U1"), finite(amax, "OMQ-U1")
    quotient = where(equal(largest, 0), 0, value / power_of_two(scale_exponent(p, largest))).by("OMQ-F2", "OMQ-U3")
    if isinstance(p.result, IntegerType):
        integer = rounded(quotient * UNIT, p.mode).by("OMQ-F4", "OMQ-R1")
        return require(integer >= -HIGHEST, to_ends(integer, -HIGHEST, HIGHEST).by("OMQ-U6"), "OMQ-U5")
    return to_float(quotient, p.result, "open", "any").by("OMQ-R1", "OMQ-U4", "OMQ-U6")


def scales(p: Elementwise, amax: Term) -> Term:
    return whole(scale_exponent(p, finite(amax, "OMQ-U1")) - LEAST).by("OMQ-F3")


def scale_exponent(p: Elementwise, amax: Term) -> Term:
    """The scale's exponent of two."""
    mode, kind = p.constants["scaling_mode"], ELEMENT_TYPES[p.constants["to"]]
    if mode == "rceil":
        assert isinstance(kind, FloatType)
        largest = decode(kind.largest_bits, kind)
        assert isinstance(largest, Fraction)
        quotient = step(amax / largest).by("OMQ-F7")
        return where(equal(quotient, 0), LEAST, clamp(upward(quotient), LEAST, MOST)).by("OMQ-C2")
    found = EXPONENTS[mode](amax, kind) - (kind.emax if isinstance(kind, FloatType) else 0)
    return require(amax > 0, require((found >= LEAST) & (found <= MOST), found, "OMQ-U2"), "OMQ-U3")


def upward(value: Term) -> Term:
    """ceil(log2(value)) of a positive value."""
    below = exponent(value)
    return where(equal(value, power_of_two(below)), below, below + 1)


def of_rounded(amax: Term, kind: FloatType | IntegerType) -> Term:
    """The exponent of amax rounded to the element type's precision, ties to even, whatever that type's range."""
    precision = kind.precision if isinstance(kind, FloatType) else kind.bits - 1
    unit = power_of_two(exponent(amax) - (precision - 1))
    return exponent(rounded(amax / unit, EVEN) * unit)


EXPONENTS: dict[str, Callable[[Term, FloatType | IntegerType], Term]] = {
    "floor": lambda amax, kind: exponent(amax).by("OMQ-F1"),
    "ceil": lambda amax, kind: upward(amax).by("OMQ-F5"),
    "even": lambda amax, kind: of_rounded(amax, kind).by("OMQ-F6"),
}
TERMS = {ID: elements, f"{ID}:scales": scales}


OPERATOR = Operator(
    id=ID,
    prefix="OMQ",
    formula="scales = 2^(floor(log2(max|x|)) - emax), or by another scaling_mode; elements = x / scale as `to`",
    sources=(OCP, TORCHAO, CUBLAS),
    clauses=CLAUSES,
    attributes=(
        Attribute("to", "the element type", parse_choice(TYPES), required=True),
        Attribute(
            "scaling_mode",
            "how the scale's exponent is found: floor, the default, ceil, even or rceil",
            parse_choice(MODES),
            default=MODES[0],
        ),
    ),
    forms=(("x",),),
    outputs=("elements", "scales"),
    family="quantize",
    real_types=REALS,
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (EVEN,) if attributes.get("to") == "int8" else (),
    mode_clause=lambda mode: "OMQ-R1",
    steps=(
        "with rceil: S = max|x| / the largest element, rounded to float32; scale = 2^ceil(log2(S))",
        "elements = x / scale, a division by a power of two, rounded once to the type `to`",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "TS"},
    roles={
        "floor": "OMQ-F1",
        "elements": "OMQ-F2",
        "scales": "OMQ-F3",
        "int8": "OMQ-F4",
        "ceil": "OMQ-F5",
        "even": "OMQ-F6",
        "rceil": "OMQ-F7",
        "nearest": "OMQ-R1",
        "least-scale": "OMQ-C2",
        "types": "OMQ-T1",
        "block": "OMQ-S1",
        "part": "OMQ-S2",
        "special": "OMQ-U1",
        "no-scale": "OMQ-U2",
        "zeros": "OMQ-U3",
        "sign": "OMQ-U4",
        "lowest": "OMQ-U5",
        "saturate": "OMQ-U6",
    },
    measures=lambda attributes: True,
    files=tuple((real, to) for to in TYPES for real in (REALS if to != "int8" else REALS[:1])),
    samples=samples.samples,
    contested=CONTESTED,
    chain=chain,
)
