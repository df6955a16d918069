"""Testing `ocp.MXQuantize`: blocks whose numbers lie near ties of their own scale, and scales near their carries."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_blocks import block_shapes, in_blocks
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, OperatorUnderTest, StagedSemantics
from tiebreak.conformance.operators.ocp_mx_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_stages import OF_BLOCKS
from tiebreak.conformance.semantics.block_quantize import block_stages
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.operators.ocp_mx_quantize import (
    BLOCK,
    ID,
    MODES,
    REALS,
    TYPES,
    greatest,
    largest_element,
    largest_power,
)
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.samples.model import Tensor, bits

CALIBRATED = (-20, 10)  # exponents of ordinary scales
ANY = (-130, 118)
PLACES = ("power", "largest", "halfway", "next")  # where a block's greatest magnitude lies
MOST_PARTS = 16  # of the way from one element to the next


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    to = wanted.quantized or draw(st.sampled_from(TYPES))
    real = wanted.real or draw(st.sampled_from(REALS))
    mode = MODES[0] if to == "int8" else draw(st.sampled_from(MODES))
    shape = draw(shapes(wanted.rank))
    rows = math.prod(shape[:-1]) * -(-shape[-1] // BLOCK)
    few = [draw(block(FLOAT_TYPES[real], to, specials=wanted.specials)) for _ in range(min(rows, 3))]
    codes = in_blocks(few, shape, BLOCK) if rows else []
    given = {"to": to} | ({} if mode == MODES[0] else {"scaling_mode": mode})
    return {"real": real, "quantized": to, "attributes": given}, (bits(real, codes, shape),)


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank from 1 on, or of any: mostly of whole blocks."""
    last = st.one_of(st.just(BLOCK), st.sampled_from((64, 96)), st.integers(0, 70))
    return block_shapes(rank, last)


def block(kind: FloatType, to: str, *, specials: bool) -> st.SearchStrategy[list[int]]:
    """The codes of a block's first numbers, the greatest first or last; with `specials` sometimes any codes."""
    powers = st.integers(*(ANY if specials else CALIBRATED))
    tops = st.tuples(st.sampled_from(PLACES), st.integers(-1, 1), st.booleans())
    rest = st.lists(
        st.tuples(st.integers(0, highest_place(to)), st.integers(0, MOST_PARTS), st.booleans(), st.integers(-1, 1)),
        max_size=10,
    )
    aimed = st.tuples(powers, tops, rest, st.booleans()).map(lambda drawn: codes_of_block(kind, to, *drawn))
    anything = st.lists(st.integers(0, (1 << kind.bits) - 1), min_size=1, max_size=8)
    return st.one_of(aimed, aimed, aimed, anything) if specials else aimed


def codes_of_block(
    kind: FloatType,
    to: str,
    power: int,
    top: tuple[str, int, bool],
    rest: list[tuple[int, int, bool, int]],
    last: bool,
) -> list[int]:
    place, steps, negative = top
    largest, highest = Fraction(largest_element(to)), Fraction(largest_power(to))
    values = {"power": highest, "largest": largest, "halfway": (largest + 2 * highest) / 2, "next": 2 * highest}
    scale = Fraction(2) ** power
    codes = [code_near(kind, values[place] * scale, negative, steps)]
    codes += [code_near(kind, between(to, at, part) * scale, minus, near) for at, part, minus, near in rest]
    return codes[::-1] if last else codes


def code_near(kind: FloatType, value: Fraction, negative: bool, steps: int) -> int:
    """The code some steps from that of a number, never infinite."""
    code = neighbour(min(encode(value, kind), kind.largest_bits - 1), kind, steps if value else 0)
    return code | (1 << (kind.bits - 1) if negative else 0)


def highest_place(to: str) -> int:
    kind = ELEMENT_TYPES[to]
    return kind.largest_bits - 1 if isinstance(kind, FloatType) else 126


def between(to: str, place: int, part: int) -> Fraction:
    """A number some sixteenths of the way from one element to the next."""
    kind = ELEMENT_TYPES[to]
    if not isinstance(kind, FloatType):
        return Fraction(place * MOST_PARTS + part, 64 * MOST_PARTS)
    low, high = (Fraction(decode(code, kind)) for code in (place, place + 1))
    return low + (high - low) * part / MOST_PARTS


def probe(to: str, values: tuple[Any, ...], mode: str = "", scanned: int = 0) -> PathProbe:
    attributes = {"scaling_mode": mode} if mode else {}
    node = {"real": "float32", "quantized": to, "attributes": attributes}
    return PathProbe(f"{to}-{mode or MODES[0]}", node, (), values, scanned)


# The greatest first, then ties, numbers beside them and a small one; at last one that every kernel gets right.
EIGHTHS = (Fraction(17, 16), Fraction(19, 16), Fraction(-35, 2), Fraction(3, 1 << 10), Fraction(9, 8))
QUARTERS = (Fraction(3, 4), Fraction(5, 4), Fraction(-7, 4), Fraction(-5, 2), Fraction(7, 2), Fraction(1, 4))
SIXTEENTHS = (Fraction(9, 16), Fraction(-11, 16), Fraction(1, 16), Fraction(31, 16), Fraction(-3, 16), 5)
HALVES = (Fraction(3, 128), Fraction(-5, 128), Fraction(1, 128), Fraction(1, 3), Fraction(-2, 3), Fraction(127, 256))
PATH_PROBES = (
    probe("float8_e4m3fn", (Fraction(256), *EIGHTHS, 0, Fraction(-1, 3), Fraction(100, 7), -240, 1), "", 4),
    probe("float8_e4m3fn", (Fraction(449), *EIGHTHS, 0, -448, 1), "rceil"),
    probe("float4_e2m1fn", (7, *QUARTERS, Fraction(-1, 3), 1)),
    probe("float6_e2m3fn", (7, *SIXTEENTHS, Fraction(-1, 3), 1), "even"),
    probe("int8", (Fraction(255, 128), *HALVES, -1, 1)),
)


def forbidden(clause: str, what: str, **attributes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, ((1, BLOCK),), {"quantized": "float8_e4m3fn"}, attributes, values={0: 1.0})


FORBIDDEN = (
    forbidden("OMQ-T1", "an unknown scaling mode", scaling_mode="nearest"),
    forbidden("OMQ-T1", "elements of a type that is no MX type", to="float8_e4m3fnuz"),
)


def amax(shown: CaseWithStates) -> Any:
    (x,) = shown.case.inputs
    with np.errstate(all="ignore"):
        return greatest(x).astype(np.float64)


def small_scale(shown: CaseWithStates) -> bool:
    """Whether a block's magnitude is so small that its scale may be below 2^-127, or zero."""
    found = amax(shown)
    return bool(np.any(found < largest_element(shown.case.node.output_type) * 2.0**-127))


def beyond_elements(shown: CaseWithStates) -> bool:
    """Whether a finite magnitude is beyond the largest element times the scale that floor gives."""
    found, to = amax(shown), shown.case.node.output_type
    part = 2 * np.frexp(np.where(np.isfinite(found), found, 0))[0]
    return shown.case.node.value("scaling_mode") == MODES[0] and bool(
        np.any(part * largest_power(to) > largest_element(to))
    )


def int8_lowest(shown: CaseWithStates) -> bool:
    elements = shown.states[: shown.case.size]
    finite = np.isfinite(shown.floats()[0]).all()
    return shown.case.node.output_type == "int8" and bool(finite and np.any(elements == UNDEFINED))


def part_of_a_block(shown: CaseWithStates) -> bool:
    return bool(shown.case.inputs[0].shape[-1] % BLOCK)


SITUATIONS: dict[str, Situation] = {
    "an int8 output": lambda shown: shown.case.node.output_type == "int8",
    "an input beyond the largest element": beyond_elements,
    "a scale below 2^-127": small_scale,
    "a part of a block": part_of_a_block,
    "a block of zeros": lambda shown: bool(np.any(amax(shown) == 0)),
    "an int8 element that rounds to -2": int8_lowest,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it measures its own scales, and its elements are not round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(always_last=True, measured=BLOCK),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=StagedSemantics(block_stages, OF_BLOCKS),
)
