"""Testing `onnx.DynamicQuantizeLinear`: ranges as calibration finds them and others, with inputs near their ties."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import repeat, tensor_shapes
from tiebreak.conformance.operators.forbidden_call import V2, ForbiddenCall
from tiebreak.conformance.operators.model import Absent, CaseConstraints, OperatorUnderTest, StagedSemantics
from tiebreak.conformance.operators.onnx_dynamic_quantize_linear_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_stages import OF_DYNAMIC
from tiebreak.conformance.semantics.dynamic_quantize import dynamic_stages
from tiebreak.golden.elements import FLOAT_TYPES, decode, encode, neighbour
from tiebreak.golden.operators.onnx_dynamic_quantize_linear import ID
from tiebreak.golden.samples.model import Tensor, bits

F32 = FLOAT_TYPES["float32"]
Ends = tuple[int, int]  # bits
NODE = {"real": "float32", "quantized": "uint8"}
STEPS, HALF = 255, Fraction(1, 2)
LEAST, MOST = -30, 30  # exponents of a calibrated range's width
LONGEST = 70  # of a drawn vector
DECIMALS = tuple(Fraction(n, 100) for n in (0, 1, 7, 10, 30, 50, 99, 100, 127, 254, 255, 300, 600, 1234, 25500))


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    shape = draw(shapes(wanted.rank))
    ends = draw(range_ends(wanted.specials))
    aims = draw(st.lists(st.tuples(st.integers(0, STEPS), st.integers(0, 3), st.integers(-2, 2)), max_size=12))
    codes = [*ends, *(aimed(ends, *aim) for aim in aims)]
    places = draw(st.permutations(range(len(codes)))) if codes else []
    return NODE, (bits("float32", repeat([codes[place] for place in places], math.prod(shape)), shape),)


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank, or of any; if it may be 1 mostly vectors, in which each code has a place."""
    vectors = st.integers(1, LONGEST).map(lambda length: (length,))
    return st.one_of(vectors, vectors, tensor_shapes(rank)) if rank in (None, 1) else tensor_shapes(rank)


def range_ends(specials: bool) -> st.SearchStrategy[Ends]:
    """Bits of both ends: two decimals of different signs, decimals of one sign, a range of any width, any bits."""
    decimals = st.tuples(st.sampled_from(DECIMALS), st.sampled_from(DECIMALS), st.sampled_from([-1, 1]))
    of_decimals = decimals.map(lambda d: (encode(d[0] * d[2], F32), encode(d[1], F32)))
    exponents = st.integers(-148, 127) if specials else st.integers(LEAST, MOST)
    wide = st.tuples(st.integers(-255, 0), st.integers(0, 1 << 23), exponents).map(of_width)
    finite = st.one_of(of_decimals, wide, wide)
    anything = st.tuples(st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1))
    return st.one_of(finite, finite, finite, anything) if specials else finite


def of_width(drawn: tuple[int, int, int]) -> Ends:
    """Bits of the ends of a range whose lower end is some 255ths of its width below zero."""
    part, fraction, exponent = drawn
    width = (1 + Fraction(fraction, 1 << 23)) * Fraction(2) ** exponent
    low = width * Fraction(part, STEPS)
    return encode(low, F32), encode(low + width, F32)


def aimed(range_: Ends, level: int, quarter: int, steps: int) -> int:
    """Bits of the input some levels and quarters above the lower end, moved by a few ulp; an end if that is beyond."""
    low, high = range_
    ends = [decode(code, F32) for code in range_]
    bottom, top = (min(0, *ends), max(0, *ends)) if all(math.isfinite(end) for end in ends) else (0, 0)
    if bottom == top:
        return low
    scale = (Fraction(top) - Fraction(bottom)) / STEPS
    first = math.floor(Fraction(bottom) / scale)
    code = neighbour(encode((first + level + Fraction(quarter, 4)) * scale, F32), F32, steps)
    return code if bottom <= decode(code, F32) <= top else high


TIES = (HALF, Fraction(-3, 2), Fraction(5, 2), Fraction(-7, 2), Fraction(9, 2))
ENDS = (Fraction(-47, 9), Fraction(101, 9))
PATH_PROBES = (
    PathProbe("whole-scale", NODE, (), (Fraction(-100), Fraction(155), *TIES, 7, 1), 4),
    PathProbe("uneven-scale", NODE, (), (*ENDS, Fraction(1, 3), Fraction(-2, 7), Fraction(5), Fraction(9, 8), 2)),
    PathProbe(
        "above-zero", NODE, (), (Fraction(1), Fraction(3), HALF, Fraction(3, 2), Fraction(5, 4), 2, Fraction(9, 4))
    ),
    PathProbe("subnormal", NODE, (), tuple(Fraction(n, 1 << 149) for n in (0, 765, 1, 2, 383, 500, 3))),
)
FORBIDDEN = (
    ForbiddenCall("ODQ-T1", "an int8 output", (V2,), NODE, output="int8", values={0: 1.0}),
    ForbiddenCall("ODQ-V1", "operator set 10", (V2,), NODE, opset=10, values={0: 1.0}),
)


def without_width(shown: CaseWithStates) -> bool:
    return all(not np.any(array) for array in shown.floats())


SITUATIONS: dict[str, Situation] = {"an input of zeros or without elements": without_width}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it measures its own scale, and none of its nodes is round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Absent("it has one range for the whole input"),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=StagedSemantics(dynamic_stages, OF_DYNAMIC),
)
