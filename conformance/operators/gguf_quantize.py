"""Testing `gguf.Quantize`: numbers near ties of their block's scale, and scales near ties of float16."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_blocks import block_shapes, in_blocks
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.gguf_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, OperatorUnderTest, StagedSemantics
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_gguf import OF_GGUF
from tiebreak.conformance.semantics.gguf_blocks import gguf_stages
from tiebreak.golden.elements import FLOAT_TYPES, encode, neighbour
from tiebreak.golden.operators.gguf_quantize import BLOCK, DIVISORS, ID, greatest
from tiebreak.golden.problem import OUT_OF_RANGE
from tiebreak.golden.samples.model import Tensor, bits

SINGLE = FLOAT_TYPES["float32"]
SIGN = 1 << (SINGLE.bits - 1)
CALIBRATED, ANY = (-18, 8), (-150, 118)  # exponents of scales
MOST_PARTS = 16  # of the way from one element to the next


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    to = wanted.quantized or draw(st.sampled_from(tuple(DIVISORS)))
    shape = draw(shapes(wanted.rank))
    count = math.prod(shape) // BLOCK
    few = [draw(block(to, specials=wanted.specials)) for _ in range(min(count, 3))]
    return {"real": "float32", "quantized": to}, (
        bits("float32", in_blocks(few, shape, BLOCK) if count else [], shape),
    )


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank from 1 on, or of any: of whole blocks."""
    last = st.one_of(st.just(BLOCK), st.sampled_from((64, 96)), st.sampled_from((64, 0, 32)))
    return block_shapes(rank, last)


def block(to: str, *, specials: bool) -> st.SearchStrategy[list[int]]:
    """The codes of a block's first numbers, the greatest first or last; with `specials` sometimes any codes."""
    powers = st.integers(*(ANY if specials else CALIBRATED))
    most = abs(DIVISORS[to])
    parts = st.integers(-most * MOST_PARTS, most * MOST_PARTS)
    rest = st.lists(st.tuples(parts, st.booleans(), st.integers(-1, 1)), max_size=10)
    aimed = st.tuples(powers, st.integers(64, 128), st.booleans(), rest, st.booleans())
    found = aimed.map(lambda drawn: codes_of_block(to, *drawn))
    anything = st.lists(st.integers(0, (1 << SINGLE.bits) - 1), min_size=1, max_size=8)
    return st.one_of(found, found, found, anything) if specials else found


def codes_of_block(
    to: str, power: int, part: int, negative: bool, rest: list[tuple[int, bool, int]], last: bool
) -> list[int]:
    """The scale is some 64ths of a power of two; the others lie on sixteenths of it, many on ties."""
    step = Fraction(part, 64) * Fraction(2) ** power
    codes = [code_near(step * abs(DIVISORS[to]) * (-1 if negative else 1), 0)]
    for sixteenths, on_tie, steps in rest:
        quotient = Fraction(2 * (sixteenths // MOST_PARTS) + 1, 2) if on_tie else Fraction(sixteenths, MOST_PARTS)
        codes.append(code_near(quotient * step, steps))
    return codes[::-1] if last else codes


def code_near(value: Fraction, steps: int) -> int:
    """The code some steps from that of a number, never infinite."""
    code = neighbour(min(encode(abs(value), SINGLE), SINGLE.largest_bits - 1), SINGLE, steps if value else 0)
    return code | (SIGN if value < 0 else 0)


def probe(to: str, values: tuple[Any, ...], scanned: int = 0) -> PathProbe:
    return PathProbe(to, {"real": "float32", "quantized": to}, (), values, scanned)


# The greatest first, then ties, numbers beside them and a small one; at last one that every kernel gets right.
TIES = (Fraction(1, 2), Fraction(5, 2), Fraction(-3, 2), Fraction(-7, 2), Fraction(1, 3))
PATH_PROBES = (
    probe("int8", (127, *TIES, Fraction(-241, 2), 0, 1), 4),
    probe("uint4", (-8, *TIES, 8, 0, 1)),
)

FORBIDDEN = (
    ForbiddenCall(
        "GGQ-T1", "elements of a type that neither has", ((1, BLOCK),), {"quantized": "int8"}, output="uint8",
        values={0: 1.0},
    ),
    *(
        ForbiddenCall("GGQ-S1", f"a row of {length}", ((2, length),), {"quantized": to})
        for to in DIVISORS
        for length in (1, 31, 33, 50)
    ),
)  # fmt: skip


def tops(shown: CaseWithStates) -> Any:
    """The greatest magnitude of each block."""
    return np.abs(greatest(shown.case.inputs[0])).astype(np.float64)


def steps(shown: CaseWithStates) -> Any:
    """The scale of each block as a float32."""
    return (tops(shown) / abs(DIVISORS[shown.case.node.output_type])).astype(np.float32)


def both_signs(shown: CaseWithStates) -> bool:
    """Whether a block has its greatest magnitude with both signs; a block of zeros has one number."""
    (x,) = shown.case.inputs
    if shown.case.node.output_type != "uint4" or not x.size:
        return False
    whole = x.reshape(*x.shape[:-1], -1, BLOCK)
    top = np.abs(greatest(x))[..., None]
    return bool(np.any((whole == top).any(-1) & (whole == -top).any(-1) & (top[..., 0] > 0)))


def without_reciprocal(shown: CaseWithStates) -> bool:
    found = steps(shown)
    return bool(np.any((found > 0) & (found <= 2.0**-128)))


SITUATIONS: dict[str, Situation] = {
    "an output of int8": lambda shown: shown.case.node.output_type == "int8",
    "a uint4 output": lambda shown: shown.case.node.output_type == "uint4",
    "a zero step": lambda shown: bool(np.any(steps(shown) == 0)),
    "a step without a reciprocal": without_reciprocal,
    "an element of 16": lambda shown: bool(np.any(shown.states[: shown.case.size] == OUT_OF_RANGE)),
    "a greatest magnitude of both signs": both_signs,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it measures its own scales, and its elements are not round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(measured=BLOCK, whole_blocks=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=StagedSemantics(gguf_stages, OF_GGUF),
)
