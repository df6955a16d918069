"""Testing `tosa.RESCALE`: inputs around ties of multipliers and shifts, at the ends of all ranges."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tosa_rescale_variants import MISTAKES, PAIRS
from tiebreak.conformance.semantics.authorities_scaling import OF_RESCALE
from tiebreak.conformance.semantics.rescale import rescale, role_of_rescale, silence_of_rescale
from tiebreak.conformance.semantics.rescale_channels import with_every_channel
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.tosa_rescale import DOUBLE, ID, LEAST_SHIFT, MOST_SHIFT, SINGLE
from tiebreak.golden.samples.model import Tensor, integers
from tiebreak.golden.samples.tosa_rescale import FILES, Way, allowed, points_of, ways_of

ODD = 0x5A827999  # a multiplier without a pattern in its low bits


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    pairs = [(s, t) for s, t in FILES if wanted.real in ("", s) and wanted.quantized in ("", t)]
    if not pairs:
        raise InvalidInput(f"{ID}: not from {wanted.real or 'any type'} to {wanted.quantized or 'any type'}")
    source, target = draw(st.sampled_from(pairs))
    way = draw(st.sampled_from(ways_of(source)))
    shape = draw(shapes(wanted.rank))
    channels = bool(shape) and draw(st.booleans())
    count = shape[-1] if channels else 1
    factors = draw(st.lists(pairs_of_factors(way), min_size=count, max_size=count))
    points = draw(zero_points(source)), draw(zero_points(target))
    drawn = draw(st.lists(st.tuples(st.integers(0, 200), numbers(source)), min_size=1, max_size=12))
    strict = not wanted.specials or draw(st.integers(0, 9)) > 0
    values = [
        fitting(way, source, points[0], factors[n % count], *drawn[n % len(drawn)], strict=strict)
        for n in range(math.prod(shape))
    ]
    attributes = {"scale32": way.scale32, "rounding_mode": way.mode, "per_channel": channels}
    tensors = (
        integers(source, values, shape),
        integers("int32" if way.scale32 else "int16", [multiplier for multiplier, _ in factors]),
        integers("int8", [shift for _, shift in factors]),
        integers(source, points[:1]),
        integers(target, points[1:]),
    )
    return {"real": source, "quantized": target, "attributes": attributes}, tensors


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank, or of rank 0 to 4; the document allows no axis of length 0."""
    low, high = (0, 4) if rank is None else (rank, rank)
    return st.lists(st.integers(1, 4), min_size=low, max_size=high).map(tuple)


def pairs_of_factors(way: Way) -> st.SearchStrategy[tuple[int, int]]:
    """Multipliers near powers of two and ordinary ones, with shifts near the one that makes 1 of them, or any."""
    most = (1 << (way.one + 1)) - 1
    near = st.tuples(st.integers(0, way.one), st.integers(-2, 2)).map(lambda p: min(max((1 << p[0]) + p[1], 0), most))
    multipliers = st.one_of(st.just(1 << way.one), near, st.integers(1 << way.one, most), st.sampled_from((0, 1, most)))
    shifts = st.one_of(st.integers(way.one - 4, way.one + 12), st.integers(LEAST_SHIFT, MOST_SHIFT))
    return st.tuples(multipliers, shifts)


def zero_points(kind: str) -> st.SearchStrategy[int]:
    own = INTEGER_TYPES[kind]
    known = st.sampled_from(points_of(kind))
    return st.one_of(known, st.integers(own.lowest, own.highest)) if own.bits == 8 else known


def numbers(kind: str) -> st.SearchStrategy[int]:
    own = INTEGER_TYPES[kind]
    return st.one_of(st.integers(own.lowest, own.highest), st.sampled_from((own.lowest, own.highest, 0, 1)))


def fitting(way: Way, source: str, point: int, factors: tuple[int, int], odd: int, number: int, *, strict: bool) -> int:
    """An input next to a tie of its factors if there is one, the number itself, or what has the difference 0."""
    own, (multiplier, shift) = INTEGER_TYPES[source], factors
    tie = point + ((2 * odd + 1) << (shift - 1)) // multiplier if multiplier and odd % 2 else number
    for value in (tie, number):
        if own.lowest <= value <= own.highest and (not strict or allowed(way, value - point, multiplier, shift)):
            return value
    return point


def probe(
    label: str, types: tuple[str, str], parameters: tuple[int, ...], values: tuple[int, ...], scanned: int = 0,
    mode: str = SINGLE, scale32: bool = True, constants_only: bool = False,
) -> PathProbe:  # fmt: skip
    attributes = {"scale32": scale32, "rounding_mode": mode, "per_channel": False}
    node = {"real": types[0], "quantized": types[1], "attributes": attributes}
    return PathProbe(label, node, parameters, values, scanned, constants_only)


# Multipliers and shifts of every size, in which each parameter is a constant by itself.
FACTORS = (
    ("small-multiplier", 16, 10),
    ("power-of-two", 1 << 30, 31),
    ("odd", ODD, 33),
    ("largest", (1 << 31) - 1, 36),
)
# Ties, numbers beside them, the ends of the range; at last one that every kernel gets right.
PATH_PROBES = (
    probe("int32-int8", ("int32", "int8"), (1 << 30, 33, 0, -3), (4, -4, 12, -12, 1000, -1000, 5, 77), 4),
    probe(
        "int32-int8-double", ("int32", "int8"), (ODD, 38, 0, 7), (181, -181, 90, -91, 54321, -54321, 100), mode=DOUBLE
    ),
    probe("int8-int8", ("int8", "int8"), (ODD, 30, -128, 127), (-128, -127, 127, 0, 1, -1, 3)),
    probe("uint8-int8", ("uint8", "int8"), (1 << 30, 31, 255, -128), (0, 255, 254, 127, 128, 129, 3)),
    probe("int8-uint8", ("int8", "uint8"), (3 << 29, 30, -5, 128), (-128, 127, -6, -4, 50, 1, 7)),
    probe("int16-int32-16", ("int16", "int32"), (1 << 14, 15, 0, 0), (1, -1, 32767, -32768, 3, -3, 8), scale32=False),
    probe(
        "int48-int32",
        ("int48", "int32"),
        (1 << 14, 32, 0, 0),
        (1 << 17, -(1 << 17), 3 << 17, (1 << 47) - 1, -(1 << 47), 1 << 40, 1 << 18),
        scale32=False,
    ),
    *(
        probe(f"{name}-int8", ("int8", "int8"), (*factors, 3, -5), (4, 2, 35, -29, 100, -127, 3), constants_only=True)
        for name, *factors in FACTORS
    ),
)


def forbidden(
    clause: str, what: str, types: tuple[str, str], *, scale32: bool = True, channels: bool = False, output: str = "",
    shape: tuple[int, ...] = (3,), factors: int = 1, points: tuple[int, int] = (0, 0), **attributes: Any,
) -> ForbiddenCall:  # fmt: skip
    node = {
        "real": types[0],
        "quantized": types[1],
        "attributes": {"scale32": scale32, "rounding_mode": SINGLE, "per_channel": channels},
    }
    one = 30 if scale32 else 14
    values = {0: 1.0, 1: float(1 << one), 2: float(one), 3: float(points[0]), 4: float(points[1])}
    shapes = (shape, (factors,), (factors,), (1,), (1,))
    return ForbiddenCall(clause, what, shapes, node, attributes, output=output, values=values)


FORBIDDEN = (
    forbidden("TRS-T1", "unsigned input and output", ("uint8", "int8"), output="uint8"),
    forbidden("TRS-T1", "an unsigned output beside an int32 input", ("int32", "int8"), output="uint8"),
    forbidden("TRS-T1", "an int32 output beside an unsigned input", ("uint8", "int8"), output="int32"),
    forbidden("TRS-T2", "two roundings with a multiplier of 16 bits", ("int16", "int8"), scale32=False,
              rounding_mode=DOUBLE),
    forbidden("TRS-T1", "an unsigned output beside an int48 input", ("int48", "int8"), scale32=False, output="uint8"),
    replace(
        forbidden("TRS-T4", "an int48 input with scale32", ("int48", "int8"), scale32=False),
        attributes={"scale32": True},
    ),
    forbidden("TRS-T3", "an input zero point of int48", ("int48", "int8"), scale32=False, points=(1, 0)),
    forbidden("TRS-T3", "an input zero point of int16", ("int16", "int8"), points=(1, 0)),
    forbidden("TRS-T3", "an output zero point of int32", ("int8", "int32"), points=(0, 1)),
    forbidden("TRS-T3", "an input zero point of uint16 that is not 32768", ("uint16", "int8"), points=(128, 0)),
    forbidden("TRS-S1", "three multipliers without per_channel", ("int8", "int8"), factors=3),
    forbidden("TRS-S2", "one multiplier for three channels", ("int8", "int8"), channels=True),
    forbidden("TRS-S2", "channels of a scalar", ("int8", "int8"), channels=True, shape=()),
)  # fmt: skip


def factors(shown: CaseWithStates) -> tuple[Any, Any]:
    multiplier, shift = (array.astype(np.int64) for array in shown.case.inputs[1:3])
    return multiplier, shift


def beyond_the_shift(shown: CaseWithStates) -> bool:
    x, _, shift, point, _ = (array.astype(np.int64) for array in shown.case.inputs)
    value = x - point
    kept = np.clip(shift, LEAST_SHIFT, MOST_SHIFT)
    half = np.int64(1) << (kept - 1)
    return bool(np.any((kept == shift) & ((value < -half) | (value >= half))))


SITUATIONS: dict[str, Situation] = {
    "a shift above 31": lambda shown: bool((factors(shown)[1] > 31).any()),
    "a negative multiplier": lambda shown: bool((factors(shown)[0] < 0).any()),
    "a shift beyond 2 to 62": lambda shown: bool(
        ((factors(shown)[1] < LEAST_SHIFT) | (factors(shown)[1] > MOST_SHIFT)).any()
    ),
    "a difference beyond the shift's range": beyond_the_shift,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it has no real scale: a multiplier and a shift stand for one"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(ones=True, channels="per_channel", spread=2),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        rescale,
        never_elementwise,
        defaults={"scale32": True, "rounding_mode": SINGLE, "per_channel": False},
        authorities=OF_RESCALE,
        role_of=role_of_rescale,
        silence=silence_of_rescale,
        of_integers=True,
        parameter_shape=(1,),
        as_called=with_every_channel,
    ),
)
