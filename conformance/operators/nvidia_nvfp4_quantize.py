"""Testing `nvidia.NVFP4Quantize`: numbers near ties of their block's scale, and scales near ties of their own."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_blocks import block_shapes, in_blocks
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, OperatorUnderTest, StagedSemantics
from tiebreak.conformance.operators.nvidia_nvfp4_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import PathProbe, multiples, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_stages import OF_SMALL_BLOCKS
from tiebreak.conformance.semantics.small_block_quantize import small_block_stages
from tiebreak.golden.elements import FLOAT_TYPES, SMALL_FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.operators.nvidia_nvfp4_quantize import (
    BLOCK,
    ELEMENT_TYPE,
    ID,
    REALS,
    SCALE_TYPE,
    greatest,
)
from tiebreak.golden.samples.model import Tensor, bits, scalar

E4M3, E2M1 = SMALL_FLOAT_TYPES[SCALE_TYPE], SMALL_FLOAT_TYPES[ELEMENT_TYPE]
WHOLE, MOST_PARTS = Fraction(2688), 16  # of the way from one value to the next
LEAST_CODE, MOST_CODE = 1, E4M3.largest_bits
ORDINARY = 8  # the code of the least normal scale
Block = tuple[int, int, bool, list[tuple[int, int, bool, int]], bool]


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = wanted.real or draw(st.sampled_from(REALS))
    shape = draw(shapes(wanted.rank))
    whole = draw(st.one_of(st.none(), wholes(wanted.specials)))
    unit = Fraction(1) if whole is None or not isinstance(whole, Fraction) else whole / WHOLE
    rows = math.prod(shape[:-1]) * -(-shape[-1] // BLOCK)
    few = [draw(block(FLOAT_TYPES[real], unit, specials=wanted.specials)) for _ in range(min(rows, 3))]
    x = bits(real, in_blocks(few, shape, BLOCK) if rows else [], shape)
    node = {"real": real, "quantized": ELEMENT_TYPE, "zero_point": whole is not None}
    return node, (x,) if whole is None else (x, scalar("float32", whole))


def wholes(specials: bool) -> st.SearchStrategy[Fraction | float]:
    """A global_amax: of any size, a power of two by turns, or one that scales nothing."""
    ordinary = st.tuples(st.integers(1, 1 << 12), st.integers(-20, 12)).map(lambda n: n[0] * Fraction(2) ** n[1])
    powers = st.integers(-20, 12).map(lambda power: WHOLE * Fraction(2) ** power)
    strange = st.sampled_from((0.0, -1.0, math.nan, math.inf, 2.0**-126, 3e38))
    return st.one_of(ordinary, powers, strange) if specials else st.one_of(ordinary, powers)


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank from 1 on, or of any: mostly of whole blocks."""
    last = st.one_of(st.just(2 * BLOCK), st.sampled_from((BLOCK, 48, 64)), st.integers(0, 40))
    return block_shapes(rank, last)


def block(kind: FloatType, unit: Fraction, *, specials: bool) -> st.SearchStrategy[list[int]]:
    """The codes of a block's first numbers, the greatest first or last; with `specials` sometimes any codes."""
    scales = st.integers(LEAST_CODE if specials else ORDINARY, MOST_CODE)
    rest = st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, MOST_PARTS), st.booleans(), st.integers(-1, 1)), max_size=10
    )
    aimed = st.tuples(scales, st.integers(0, MOST_PARTS), st.booleans(), rest, st.booleans())
    found = aimed.map(lambda drawn: codes_of_block(kind, unit, drawn))
    anything = st.lists(st.integers(0, (1 << kind.bits) - 1), min_size=1, max_size=8)
    return st.one_of(found, found, found, anything) if specials else found


def codes_of_block(kind: FloatType, unit: Fraction, drawn: Block) -> list[int]:
    """The greatest number makes a scale some sixteenths of the way from one E4M3 to the next."""
    scale, part, negative, rest, last = drawn
    low = Fraction(decode(scale, E4M3))
    step = Fraction(decode(min(scale + 1, MOST_CODE), E4M3)) - low
    made = Fraction(decode(scale + (part > MOST_PARTS // 2 and scale < MOST_CODE), E4M3)) * unit
    codes = [code_near(kind, 6 * (low + step * part / MOST_PARTS) * unit, negative, 0)]
    codes += [code_near(kind, between(at, parts) * made, minus, steps) for at, parts, minus, steps in rest]
    return codes[::-1] if last else codes


def code_near(kind: FloatType, value: Fraction, negative: bool, steps: int) -> int:
    """The code some steps from that of a number, never infinite."""
    code = neighbour(min(encode(value, kind), kind.largest_bits - 1), kind, steps if value else 0)
    return code | (1 << (kind.bits - 1) if negative else 0)


def between(place: int, part: int) -> Fraction:
    """A number some sixteenths of the way from one element to the next."""
    low, high = (Fraction(decode(code, E2M1)) for code in (place, place + 1))
    return low + (high - low) * part / MOST_PARTS


def probe(label: str, values: tuple[Any, ...], whole: Any = None, scanned: int = 0) -> PathProbe:
    node = {"real": "float32", "quantized": ELEMENT_TYPE, "zero_point": whole is not None}
    return PathProbe(label, node, () if whole is None else (whole,), values, scanned)


# The greatest first, then ties, numbers beside them and a small one; at last one that every kernel gets right.
QUARTERS = (Fraction(3, 4), Fraction(5, 4), Fraction(-7, 4), Fraction(-5, 2), Fraction(7, 2), Fraction(1, 4))
PATH_PROBES = (
    probe("one-level", (6, *QUARTERS, Fraction(-1, 3), Fraction(13, 3), 1), None, 4),
    probe("other-scale", (Fraction(27, 4), *(quarter * Fraction(9, 8) for quarter in QUARTERS), 3)),
    probe("two-levels", (6, *QUARTERS, Fraction(-1, 3), 1), 2688),
    probe("two-levels-of-any-size", (7, *QUARTERS, Fraction(-1, 3), 1), 100),
    *(
        PathProbe(
            f"{found.name}-float32", {"quantized": ELEMENT_TYPE}, (found.scale,), multiples(found.scale),
            constants_only=True,
        )
        for found in scale_classes()[:-1]
    ),
)  # fmt: skip


def forbidden(clause: str, what: str, **changed: Any) -> ForbiddenCall:
    shapes = changed.pop("shapes", ((1, 2 * BLOCK), ()))
    node = {"quantized": ELEMENT_TYPE, "zero_point": len(shapes) > 1}
    return ForbiddenCall(clause, what, shapes, node, values={0: 1.0}, **changed)


FORBIDDEN = (
    forbidden("NVQ-T1", "elements of a type that is not E2M1", output="float8_e4m3fn", shapes=((1, 2 * BLOCK),)),
    forbidden("NVQ-S3", "a global_amax for each row", shapes=((3, 2 * BLOCK), (3,))),
)


def amax(shown: CaseWithStates) -> Any:
    with np.errstate(all="ignore"):
        return greatest(shown.case.inputs[0]).astype(np.float64)


def quotients(shown: CaseWithStates) -> Any:
    """What the scales are before they are rounded; NaN where they are open."""
    whole = float(shown.case.inputs[1].reshape(-1)[0]) if len(shown.case.inputs) > 1 else 2688.0
    with np.errstate(all="ignore"):
        return amax(shown) * 448 / whole if whole > 0 else np.full(amax(shown).shape, np.nan)


def beyond_elements(shown: CaseWithStates) -> bool:
    """Whether a finite magnitude is beyond 6 of the largest scale that its block can have: it rounds down to it."""
    found = quotients(shown)
    return bool(np.any(np.isfinite(found) & (found > 448)))


def useless_whole(shown: CaseWithStates) -> bool:
    return len(shown.case.inputs) > 1 and not 2.0**-106 <= float(shown.case.inputs[1].reshape(-1)[0]) < math.inf


def part_of_a_block(shown: CaseWithStates) -> bool:
    return bool(shown.case.inputs[0].shape[-1] % BLOCK)


SITUATIONS: dict[str, Situation] = {
    "a global_amax": lambda shown: len(shown.case.inputs) > 1,
    "a scale beyond 448": lambda shown: bool(np.any(quotients(shown) > 448 + 16)),
    "an input beyond 6 of its scales": beyond_elements,
    "a part of 16 elements": part_of_a_block,
    "a scale that rounds to zero": lambda shown: bool(np.any(quotients(shown) <= 2.0**-10)),
    "a global_amax that scales nothing": useless_whole,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it measures its own scales, and its elements are not round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(measured=BLOCK),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=StagedSemantics(small_block_stages, OF_SMALL_BLOCKS),
)
