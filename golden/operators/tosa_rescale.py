"""`tosa.RESCALE`: integers times a whole number, shifted right: from one integer type to another.

The document's tensors have no sign: input_unsigned and output_unsigned give them one. Here the element types do. An
input may have 48 bits, as sums of products of 16 bits have them; arrays hold it in int64.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    UP,
    UPWARD,
    Term,
    all_of,
    by_form,
    clamp,
    end_of_range,
    equal,
    floor,
    magnitude,
    power_of_two,
    require,
    rounded,
    to_integer,
    where,
    whole,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, IntegerType, scaled
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import (
    Attribute,
    Clause,
    Operator,
    Types,
    parse_boolean,
    parse_choice,
)
from tiebreak.golden.operators.tosa_rescale_contested import CONTESTED, HELPERS, PAGE, PSEUDOCODE, REQUIRED
from tiebreak.golden.problem import Array, Elementwise, codes_of
from tiebreak.golden.samples import tosa_rescale as samples

ID = "tosa.RESCALE"
TYPES = ("int8", "uint8", "int16", "uint16", "int32")
WIDE = ("int32", "int48")  # which have no unsigned kin
SINGLE, DOUBLE, INEXACT = "SINGLE_ROUND", "DOUBLE_ROUND", "INEXACT_ROUND"
INPUTS = ("input", "multiplier", "shift", "input_zp", "output_zp")
REQUIREMENTS = "unmet"  # the operand that says how many elements of the tensor have a requirement that does not hold
LEAST_SHIFT, MOST_SHIFT = 2, 62
ZERO_POINTS_OF_UINT16 = (0, 1 << 15)

CLAUSES = (
    Clause("TRS-F1", "The input zero point is subtracted, both extended to 48 bits first.", f"{PSEUDOCODE}, input_zp"),
    Clause(
        "TRS-F2",
        "With scale32 the difference is multiplied by a multiplier of 32 bits, in 64 bits, and divided by 2^shift.",
        f"{HELPERS}, apply_scale_32",
        when={"scale32": True},
    ),
    Clause(
        "TRS-F3",
        "Without scale32 the multiplier has 16 bits.",
        f"{HELPERS}, apply_scale_16",
        when={"scale32": False},
    ),
    Clause("TRS-F4", "The output zero point is added to the rounded quotient.", f"{PSEUDOCODE}, output_zp"),
    Clause(
        "TRS-R1",
        "With SINGLE_ROUND 2^(shift-1) is added before an arithmetic shift: to nearest, ties to the greater integer.",
        f"{HELPERS}; {PAGE}: results must be exact",
        when={"rounding_mode": (SINGLE, DOUBLE)},
    ),
    Clause(
        "TRS-R2",
        "With DOUBLE_ROUND and a shift above 31 another 2^30 is added, for a negative difference subtracted.",
        f"{HELPERS}, apply_scale_32; {PAGE}: results must be exact",
        when={"rounding_mode": DOUBLE},
        situation="a shift above 31",
    ),
    Clause(
        "TRS-R3",
        "With INEXACT_ROUND any integer conforms that is not further from the quotient plus the zero point than 1/2 "
        "and 2^-24 of three times the quotient's magnitude and of the sum's.",
        f"{PAGE}, precision requirements",
        when={"rounding_mode": INEXACT},
    ),
    Clause("TRS-C1", "The sum is clamped to the range of the output's type.", f"{PSEUDOCODE}, the last clip",
           situation="a result out of range"),
    Clause(
        "TRS-T1",
        "Input and output have 8, 16 or 32 bits, the input also 48. Unsigned are those of 8 and 16 bits, one of the "
        "two at most, and neither beside one of 32 or 48 bits.",
        f"{PSEUDOCODE}, ERROR_IF",
    ),
    Clause("TRS-T2", "DOUBLE_ROUND is for scale32 alone.", f"{PSEUDOCODE}, ERROR_IF"),
    Clause("TRS-T4", "An input of 48 bits is for multipliers of 16 bits alone.", f"{PSEUDOCODE}, ERROR_IF"),
    Clause(
        "TRS-T3",
        "A zero point is 0, except for int8 and uint8, which have any, and for uint16, which has 32768, too.",
        f"{PSEUDOCODE}, ERROR_IF",
    ),
    Clause("TRS-S1", "Without per_channel there are one multiplier and one shift.", f"{PAGE}, arguments",
           when={"per_channel": False}),
    Clause(
        "TRS-S2",
        "With per_channel each index of the last axis has its own, so the input has an axis.",
        f"{PSEUDOCODE}, per_channel",
        when={"per_channel": True},
    ),
    Clause("TRS-S3", "The output has the shape of the input.", f"{PAGE}, arguments"),
    Clause(
        "TRS-U1",
        "What a negative multiplier gives.",
        f"{HELPERS}: REQUIRE",
        unspecified=True,
        situation="a negative multiplier",
    ),
    Clause(
        "TRS-U2",
        "What a shift below 2 or above 62 gives.",
        f"{HELPERS}: REQUIRE",
        unspecified=True,
        situation="a shift beyond 2 to 62",
    ),
    Clause(
        "TRS-U3",
        "What a difference gives with scale32 that is below -2^(shift-1), or not below 2^(shift-1).",
        f"{HELPERS}, apply_scale_32: REQUIRE",
        unspecified=True,
        when={"scale32": True},
        situation="a difference beyond the shift's range",
    ),
    Clause(
        "TRS-U4",
        "What a rounded quotient gives without scale32 that has more than 32 bits.",
        f"{HELPERS}, apply_scale_16: REQUIRE",
        unspecified=True,
        when={"scale32": False},
        situation="an undefined result",
    ),
    Clause(
        "TRS-U5",
        "What a sum with the output zero point gives that has more than 32 bits.",
        f"{REQUIRED}, apply_add_s: REQUIRE",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TRS-U6",
        "What the other elements are where one has a requirement that does not hold: the whole graph is unpredictable.",
        f"{REQUIRED}, REQUIRE",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TRS-U7",
        "Which end a negative sum becomes in an unsigned type: the lowest, as a clamp of numbers gives, or the "
        "highest, as the letter of apply_clip_u gives, which extends the 32 bits with zeros. Both are accepted; with "
        "INEXACT_ROUND nothing is judged.",
        f"{PSEUDOCODE}, apply_clip_u",
        unspecified=True,
        situation="a result out of range",
    ),
)  # fmt: skip


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    source, target = types.real, types.quantized
    unsigned = [name for name in (source, target) if name.startswith("u")]
    if len(unsigned) == 2 or (unsigned and {*WIDE} & {source, target}):
        raise InvalidInput(
            f"{ID}: {source} to {target}: unsigned is one of both at most, not beside {' or '.join(WIDE)}"
        )
    scale32 = attributes.get("scale32", True)
    if scale32 and source == "int48":
        raise InvalidInput(f"{ID}: int48 is for multipliers of 16 bits alone, without scale32")
    if not scale32 and attributes.get("rounding_mode") == DOUBLE:
        raise InvalidInput(f"{ID}: rounding_mode {DOUBLE} is for scale32 alone")
    return (source, "int32" if scale32 else "int16", "int8", source, target), (target,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, multiplier, shift, input_zp, output_zp = inputs
    check_parameters(node, x, multiplier, shift)
    check_zero_points(node, input_zp, output_zp)
    factors = (spread(parameter, x.shape) for parameter in (multiplier, shift))
    points = (spread(point, x.shape) for point in (input_zp, output_zp))
    operands = codes_of(x).reshape(-1), *factors, *points
    unmet = np.full(x.size, int(unmet_requirements(node, *operands).sum()), np.int64)
    kinds = (*(ELEMENT_TYPES[tensor.element] for tensor in node.inputs), INTEGER_TYPES["int32"])
    constants = {"scale32": node.value("scale32"), "rounding_mode": node.value("rounding_mode")}
    result, single = ELEMENT_TYPES[node.output_type], FLOAT_TYPES["float32"]
    named = (*INPUTS, REQUIREMENTS)
    return (Elementwise(ID, "output", x.shape, result, single, UPWARD, kinds, (*operands, unmet), constants,
                        named=named),)  # fmt: skip


def check_parameters(node: Node, x: Array, multiplier: Array, shift: Array) -> None:
    """InvalidInput unless multiplier and shift have one value, or with per_channel one for each last index."""
    if node.value("per_channel") and not x.ndim:
        raise InvalidInput(f"{ID}: per_channel is about the last axis, and a scalar has none")
    wanted = x.shape[-1:] if node.value("per_channel") else (1,)
    for name, array in (("multiplier", multiplier), ("shift", shift)):
        if array.shape != wanted:
            raise InvalidInput(f"{ID}: {name} has shape {list(array.shape)}, {list(wanted)} is wanted")


def check_zero_points(node: Node, *points: Array) -> None:
    """InvalidInput for a zero point that its type can't have, or for more than one."""
    for tensor, point in zip(node.inputs[3:], points, strict=True):
        kind = tensor.element
        if point.shape != (1,):
            raise InvalidInput(f"{ID}: {tensor.name} has shape {list(point.shape)}, [1] is wanted")
        value = int(point[0])
        allowed = ZERO_POINTS_OF_UINT16 if kind == "uint16" else (0,)
        if kind not in ("int8", "uint8") and value not in allowed:
            raise InvalidInput(f"{ID}: {tensor.name} {value} is not one of {kind}'s: {', '.join(map(str, allowed))}")


def spread(parameter: Array, shape: tuple[int, ...]) -> Array:
    """The codes of a parameter of one value, or of one for each index of the last axis, for each element: flat."""
    return np.ascontiguousarray(np.broadcast_to(codes_of(parameter), shape or (1,))).reshape(-1)


def unmet_requirements(
    node: Node, x: Array, multiplier: Array, shift: Array, input_zp: Array, output_zp: Array
) -> Array:
    """The elements (bool) with a requirement that does not hold. Where shift and multiplier are right 64 bits do."""
    strange = (multiplier < 0) | (shift < LEAST_SHIFT) | (shift > MOST_SHIFT)
    value, places = x - input_zp, np.where(strange, LEAST_SHIFT, shift)
    half = np.int64(1) << (places - 1)
    if node.value("scale32"):
        strange |= (value < -half) | (value >= half)
    twice = (places > 31) & (node.value("rounding_mode") == DOUBLE)
    carried = np.where(twice, np.where(value < 0, -1, 1) << np.int64(30), 0)
    result = (value * multiplier + half + carried) >> places
    kind = INTEGER_TYPES["int32"]
    for found in (result, result + output_zp):
        strange |= (found < kind.lowest) | (found > kind.highest)
    return np.asarray(strange)


UNIT = scaled(1, -24)  # half a unit in the last place of a float32 between 1 and 2
ENDS = {"ROUND_DOWN": -1, "ROUND_UP": 1}


def rescale(
    p: Elementwise, x: Term, multiplier: Term, shift: Term, input_zp: Term, output_zp: Term, unmet: Term
) -> Term:
    assert isinstance(p.result, IntegerType)
    value, rounding = (x - input_zp).by("TRS-F1"), p.constants["rounding_mode"]
    half = power_of_two(shift - 1)
    quotient = (value * multiplier).by("TRS-F2") / (2 * half)
    if rounding == DOUBLE:
        more = power_of_two(30 - shift)
        quotient = where(shift > 31, quotient + where(value >= 0, more, 0 - more).by("TRS-R2"), quotient)
    quotient = quotient.by("TRS-F3").named("value * multiplier / 2^shift")
    exact = working = rounded(quotient, p.mode).by("TRS-R1")
    result = to_integer((exact + output_zp).by("TRS-F4"), p.result).by("TRS-C1")
    bound = result
    if rounding == INEXACT and p.mode in ENDS:
        working, bound = rounded(quotient, UPWARD), end(quotient, output_zp, ENDS[p.mode], p.result)
    forms = by_form(
        if_words(exact, output_zp, result),
        if_words(working, output_zp, of_negative_sum(p, working + output_zp, bound)),
    )
    known = equal(unmet, 0) & (multiplier >= 0) & (shift >= 2) & (shift <= 62)
    fits = (value >= 0 - half) & (value < half) if p.constants["scale32"] else known
    return require(known, require(fits, forms, "TRS-U3"), "TRS-U1", "TRS-U2", "TRS-U6")


def of_negative_sum(p: Elementwise, summed: Term, found: Term) -> Term:
    """What a sum gives in working precision: of an unsigned type a negative one has two readings."""
    assert isinstance(p.result, IntegerType)
    if p.result.lowest < 0:
        return found
    if p.constants["rounding_mode"] == INEXACT:
        return require(summed >= 0, found, "TRS-U7")
    return where(summed < 0, end_of_range(p.result.highest), found).by("TRS-U7")


def if_words(integer: Term, point: Term, found: Term) -> Term:
    """`found`, if int32 holds the rounded quotient and its sum with the zero point."""
    kind = INTEGER_TYPES["int32"]
    inside = (one for value in (integer, integer + point) for one in (value >= kind.lowest, value <= kind.highest))
    return require(all_of(*inside), found, "TRS-U4", "TRS-U5")


def end(quotient: Term, point: Term, sign: int, kind: IntegerType) -> Term:
    """The least (-1) or the greatest (1) integer that INEXACT_ROUND allows."""
    bound = (Fraction(1, 2) + (3 * magnitude(quotient) + magnitude(quotient + point)) * UNIT).by("TRS-R3")
    furthest = floor(quotient + point + bound) if sign > 0 else rounded(quotient + point - bound, UP)
    return whole(clamp(furthest, kind.lowest, kind.highest)).by("TRS-C1")


TERMS = {ID: rescale}


OPERATOR = Operator(
    id=ID,
    prefix="TRS",
    formula="output = saturate(round((input - input_zp) * multiplier / 2^shift) + output_zp)",
    sources=(PAGE, PSEUDOCODE, HELPERS, REQUIRED),
    clauses=CLAUSES,
    attributes=(
        Attribute("scale32", "whether the multiplier has 32 bits; otherwise it has 16", parse_boolean, required=True),
        Attribute(
            "rounding_mode",
            f"{SINGLE}, {DOUBLE}: as frameworks do that round twice, or {INEXACT}: within an error bound",
            parse_choice((SINGLE, DOUBLE, INEXACT)),
            required=True,
        ),
        Attribute(
            "per_channel", "whether each index of the last axis has its multiplier", parse_boolean, required=True
        ),
    ),
    forms=(INPUTS,),
    outputs=("output",),
    family="cast",
    real_types=(*TYPES, "int48"),
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (UPWARD,),
    mode_clause=lambda mode: "TRS-R1",
    bounded=lambda attributes: attributes.get("rounding_mode") == INEXACT,
    steps=("every step is exact: the product has 62 bits, its sum with what rounds it 63",),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "TS"},
    roles={
        "difference": "TRS-F1",
        "scale32": "TRS-F2",
        "scale16": "TRS-F3",
        "zero-point": "TRS-F4",
        "single": "TRS-R1",
        "double": "TRS-R2",
        "inexact": "TRS-R3",
        "saturate": "TRS-C1",
        "types": "TRS-T1",
        "double-of-32": "TRS-T2",
        "zero-point-values": "TRS-T3",
        "48-of-16": "TRS-T4",
        "one": "TRS-S1",
        "channels": "TRS-S2",
        "shape": "TRS-S3",
        "negative-multiplier": "TRS-U1",
        "strange-shift": "TRS-U2",
        "beyond-shift": "TRS-U3",
        "beyond-32": "TRS-U4",
        "sum-beyond-32": "TRS-U5",
        "graph": "TRS-U6",
        "negative": "TRS-U7",
    },
    saturates=True,
    files=samples.FILES,
    samples=samples.samples,
    contested=CONTESTED,
)
