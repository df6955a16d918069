"""Testing `torch.quantize_per_tensor`: sums beside ties and around the ends of the quantized type."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.forbidden_call import M22, V2, ForbiddenCall, S
from tiebreak.conformance.operators.model import Absent, CaseConstraints, OperatorUnderTest, in_any_problem
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.torch_quantize_mistakes import MISTAKES, PAIRS
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, decode, encode, neighbour
from tiebreak.golden.operators.torch_quantize_per_tensor import ID, TYPES
from tiebreak.golden.samples.model import Tensor, bits, integers

REAL = FLOAT_TYPES["float32"]
SPECIALS = (REAL.infinity_bits, REAL.infinity_bits | 1 << 31, REAL.nan_bits or 0)


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    kind = INTEGER_TYPES[wanted.quantized or draw(st.sampled_from(TYPES))]
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    scale, zero_point = draw(scales(wanted.specials)), draw(zero_points(kind))
    values = draw(st.lists(inputs(kind, scale, zero_point, wanted.specials), min_size=1, max_size=16))
    x = bits("float32", [values[n % len(values)] for n in range(math.prod(shape))], shape)
    tensors = (x, bits("float32", [scale], ()), integers(kind.name, [zero_point], ()))
    return {"real": "float32", "quantized": kind.name}, tensors


def finite_codes() -> st.SearchStrategy[int]:
    return st.integers(0, (1 << 32) - 1).filter(lambda code: code & 0x7FFFFFFF < REAL.infinity_bits)


def scales(specials: bool) -> st.SearchStrategy[int]:
    """Bits of a scale: mostly a moderate one, simple or with any significand; sometimes any number."""
    simple = st.sampled_from(("1", "0.5", "0.25", "2", "0.1", "0.02", "0.00392157", "3")).map(
        lambda text: encode(Fraction(text), REAL)
    )
    moderate = st.tuples(st.integers(-12, 8), st.integers(0, (1 << 23) - 1)).map(lambda p: (p[0] + 127 << 23) | p[1])
    return st.one_of(simple, moderate, moderate, finite_codes(), *([st.sampled_from(SPECIALS)] if specials else []))


def zero_points(kind: IntegerType) -> st.SearchStrategy[int]:
    near = st.integers(max(kind.lowest, -130), min(kind.highest, 255))
    return st.one_of(near, st.sampled_from((kind.lowest, kind.highest)), st.integers(kind.lowest, kind.highest))


def inputs(kind: IntegerType, scale: int, zero_point: int, specials: bool) -> st.SearchStrategy[int]:
    """Bits of inputs whose sums are on or beside multiples of a half, near the type's ends or anywhere."""
    step = decode(scale, REAL)
    anything = st.one_of(finite_codes(), *([st.sampled_from(SPECIALS)] if specials else []))
    if not isinstance(step, Fraction) or not step:
        return anything
    ends = [2 * (end - zero_point) for end in (kind.lowest, kind.highest)]
    near_ends = st.tuples(st.sampled_from(ends), st.integers(-6, 6)).map(sum)
    doubled = st.one_of(st.integers(-600, 600), near_ends)
    codes = doubled.map(lambda twice: encode(step * twice / 2, REAL))
    near = codes.filter(lambda code: code & 0x7FFFFFFF < REAL.infinity_bits)
    beside = st.tuples(near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], REAL, pair[1]))
    return st.one_of(beside, beside, anything)


BYTES = {"quantized": "uint8"}
PATH_PROBES = (
    PathProbe("uint8", BYTES, (STEP, 101), probe_values(), 4),
    PathProbe("int8", {"quantized": "int8"}, (STEP, -3), probe_values()),
    PathProbe("int32", {"quantized": "int32"}, (STEP, 1000003), probe_values()),
    *(
        PathProbe(f"{found.name}-int8", {"quantized": "int8"}, (found.scale, 3), multiples(found.scale),
                  constants_only=True)
        for found in scale_classes()
    ),
)  # fmt: skip


def forbidden(clause: str, what: str, *shapes: tuple[int, ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, {"quantized": "int8"}, **changes)


FORBIDDEN = (
    forbidden("PQT-S2", "two scales", M22, V2, S),
    forbidden("PQT-S2", "two zero points", M22, S, V2),
    forbidden("PQT-S2", "two scales and two zero points", M22, V2, V2),
    forbidden("PQT-T2", "an output of int16", M22, S, S, output="int16"),
)

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it adds the zero point before it rounds, and leaves the tie rule open"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Absent("scale and zero point are scalars"),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("an audit of onnx.QuantizeLinear infers the same function's arithmetic, with its tie rule"),
    monotone=in_any_problem,
)
