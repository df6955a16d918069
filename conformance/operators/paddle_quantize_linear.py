"""Testing `paddle.QuantizeLinear`: products with range beside ties of the scale, for the whole tensor or an axis."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    in_any_problem,
    never_elementwise,
)
from tiebreak.conformance.operators.paddle_quantize_linear_facets import (
    as_vectors,
    paddle_quantize,
    role_of_paddle,
    silence_of_ends,
)
from tiebreak.conformance.operators.paddle_quantize_linear_variants import CHANNEL_MISTAKES, MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, Value, fake_quantize_values, multiples
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.torch_quantize_drawn import REAL, SPECIALS, finite_codes, scales
from tiebreak.golden.elements import decode, encode, neighbour
from tiebreak.golden.operators.paddle_quantize_linear import ID, MODES
from tiebreak.golden.samples.model import Tensor, bits, reals
from tiebreak.golden.samples.paddle_quantize_linear import TENSOR, ends_of

ROUND_TYPES = {mode: number for number, mode in MODES.items()}


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    size = st.integers(1, 4) if draw(st.integers(0, 5)) else st.integers(0, 4)
    shape = tuple(draw(st.lists(size, min_size=rank, max_size=rank)))
    attributes = draw_attributes(draw, wanted.round_mode, rank)
    axis, width = attributes["quant_axis"], attributes["bit_length"]
    depth, inner = (1, 1) if axis < 0 else (shape[axis], math.prod(shape[axis + 1 :]))
    greatest = [draw(positive_scales(wanted.specials)) for _ in range(depth)]
    columns = [draw(st.lists(inputs(width, scale, wanted.specials), min_size=1, max_size=8)) for scale in greatest]
    values = []
    for n in range(math.prod(shape)):
        column = columns[n // inner % depth]
        values.append(column[n % len(column)])
    points = reals("float32", [draw(zero_points(wanted.specials)) for _ in range(depth)])
    tensors = (bits("float32", values, shape), bits("float32", greatest), points)
    return {"real": "float32", "attributes": attributes}, tensors


def draw_attributes(draw: st.DrawFn, round_mode: str, rank: int) -> dict[str, Any]:
    """The ends are those of bit_length, the defaults or any."""
    width = draw(st.one_of(st.just(8), st.integers(1, 16)))
    found: dict[str, Any] = {"quant_axis": draw(st.integers(TENSOR, min(rank, 2) - 1)), "bit_length": width}
    found["round_type"] = ROUND_TYPES[round_mode] if round_mode in ROUND_TYPES else draw(st.sampled_from((0, 1)))
    ends = draw(st.sampled_from(("own", "own", "own", "default", "any")))
    low, high = ends_of(width)
    if ends == "any":
        low, high = draw(st.integers(2 * low, 0)), draw(st.integers(0, 2 * high + 1))
    return found if ends == "default" else {**found, "qmin": low, "qmax": high}


def positive_scales(specials: bool) -> st.SearchStrategy[int]:
    """Bits of a scale: nearly all are positive."""
    anything = scales(specials)
    positive = anything.map(lambda code: code & 0x7FFFFFFF or 0x3F800000)
    return st.one_of(*(positive,) * 9, anything)


def zero_points(specials: bool) -> st.SearchStrategy[float]:
    return st.sampled_from((0.0,) * 12 + ((1.0, -0.5) if specials else ()))


def inputs(width: int, scale: int, specials: bool) -> st.SearchStrategy[int]:
    """Bits of inputs on or beside multiples of half a step, at the ends of the range or anywhere."""
    greatest = decode(scale, REAL)
    anything = st.one_of(finite_codes(), *([st.sampled_from(SPECIALS)] if specials else []))
    steps = ends_of(width)[1]
    if not isinstance(greatest, Fraction) or not greatest or not steps:
        return anything
    near_ends = st.tuples(st.sampled_from([2 * end for end in ends_of(width)]), st.integers(-6, 6)).map(sum)
    doubled = st.one_of(st.integers(-2 * steps - 2, 2 * steps), near_ends)
    codes = doubled.map(lambda twice: encode(greatest * twice / 2 / steps, REAL))
    near = codes.filter(lambda code: code & 0x7FFFFFFF < REAL.infinity_bits)
    beside = st.tuples(near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], REAL, pair[1]))
    return st.one_of(beside, beside, beside, anything)


def node(**attributes: Any) -> dict[str, Any]:
    return {"attributes": {"quant_axis": TENSOR, **attributes}}


def probe(name: str, scale: Fraction, values: tuple[Value, ...], scanned: int = 0, **attributes: Any) -> PathProbe:
    alone = not scanned and name not in ("away", "four-bits")
    return PathProbe(name, node(**attributes), (scale, 0), values, scanned, constants_only=alone)


FOUR_BITS = {"bit_length": 4, "qmin": -8, "qmax": 7}
SCALE_CLASSES = (
    ("subnormal", Fraction(3 * 127, 1 << 149)),
    ("least-normal", Fraction(127, 1 << 126)),
    ("large", Fraction(2) ** 126),
    ("largest-power", Fraction(2) ** 127),
)
PATH_PROBES = (
    probe("even", 127 * STEP, fake_quantize_values(), 2),
    probe("away", 127 * STEP, fake_quantize_values(), round_type=1),
    probe("four-bits", 7 * STEP, fake_quantize_values(), **FOUR_BITS),
    *(probe(f"{name}-even", scale, multiples(scale / 127)) for name, scale in SCALE_CLASSES),
)


def forbidden(clause: str, what: str, *shapes: tuple[int, ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, values={2: 0.0}, **changes)


ALONE = {"quant_axis": TENSOR}
FORBIDDEN = (
    forbidden("PQL-S2", "3 scales for an axis of size 2", M22, V3, V3),
    forbidden("PQL-S2", "one scale for an axis of size 2", M22, (1,), (1,)),
    forbidden("PQL-S2", "a scale that is no vector", M22, S, S, attributes=ALONE),
    forbidden("PQL-A2", "2 scales for the whole tensor", M22, V2, V2, attributes=ALONE),
    forbidden("PQL-T4", "quant_axis 2", (2, 2, 2), V2, V2, attributes={"quant_axis": 2}),
    forbidden("PQL-T5", "round_type 2", M22, (1,), (1,), attributes={**ALONE, "round_type": 2}),
)


def beyond_ends(shown: CaseWithStates) -> bool:
    """Whether X * range / Scale is beyond qmin or qmax by more than a half anywhere."""
    x, scale, _ = shown.floats()
    low, high, steps = (shown.case.node.value(name) for name in ("qmin", "qmax", "bit_length"))
    shape = [1] * x.ndim
    axis = shown.case.node.value("quant_axis")
    if axis >= 0:
        shape[axis] = -1
    with np.errstate(all="ignore"):
        quotient = x * (2 ** (steps - 1) - 1) / scale.reshape(shape if axis >= 0 else ())
    return bool(((quotient > high + 0.5) | (quotient < low - 0.5)).any())


SITUATIONS = {
    "a scale that is not positive": lambda shown: bool((shown.floats()[1] <= 0).any()),
    "a result beyond qmin or qmax": beyond_ends,
    "a zero point that is not 0": lambda shown: bool((shown.floats()[2] != 0).any()),
}
TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its results are real, and its scale is no step"),
    draw=draw,
    mistakes=(*MISTAKES, *CHANNEL_MISTAKES),
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis("quant_axis", ones=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        paddle_quantize,
        never_elementwise,
        defaults={"quant_axis": TENSOR},
        role_of=role_of_paddle,
        silence=silence_of_ends,
        as_called=as_vectors,
    ),
    monotone=in_any_problem,
)
