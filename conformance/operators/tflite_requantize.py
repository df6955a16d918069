"""Testing `tflite.Requantize`: ratios near those that few bits hold, integers near ties, zero points at the ends."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import integer_tensor, scale_beside, tensor_shapes
from tiebreak.conformance.operators.forbidden_call import M22, V2, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe, ScaleClass, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tflite_requantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.semantics.authorities_scaling import OF_REQUANTIZE
from tiebreak.conformance.semantics.requantize import requantize, role_of_requantize, silence_of_requantize
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, encode, neighbour
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.tflite_requantize import BESIDE, DOUBLE, ID, QUANTIZE, REAL, SINGLE
from tiebreak.golden.operators.tflite_requantize import PAIRS as TYPES
from tiebreak.golden.samples.model import Tensor, bits

KIND = FLOAT_TYPES["float32"]
LONGEST = 70  # of a drawn vector
FAR = 40  # of an exponent that calibration does not make
MOST = 1000  # of a zero point of int32


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    source, target = draw_types(draw, wanted)
    attributes = draw_attributes(draw, source, target)
    shape = draw(shapes(wanted.rank))
    scale = draw(scales(wanted.specials))
    other = draw(st.one_of(scale_beside(scale), scales(wanted.specials)))
    zero_in, zero_out = (draw(zero_points(name)) for name in (source, target))
    parameters = (
        Tensor("float32", (), [scale]),
        bits(source, [zero_in], ()),
        Tensor("float32", (), [other]),
        bits(target, [zero_out], ()),
    )
    node = {"real": source, "quantized": target, "attributes": attributes}
    return node, (integer_tensor(draw, source, shape), *parameters)


def draw_types(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[str, str]:
    fitting = [pair for pair in TYPES if wanted.real in ("", pair[0]) and wanted.quantized in ("", pair[1])]
    if not fitting:
        raise InvalidInput(f"{ID}: no kernel from {wanted.real} to {wanted.quantized}")
    return draw(st.sampled_from(fitting))


def draw_attributes(draw: st.DrawFn, source: str, target: str) -> dict[str, Any]:
    through = draw(st.sampled_from((QUANTIZE, QUANTIZE, *BESIDE))) if source == target else QUANTIZE
    if through != QUANTIZE:
        return {"through": through}
    rounding = draw(st.sampled_from((REAL, DOUBLE, REAL, DOUBLE, SINGLE)))
    return {} if rounding == REAL else {"rounding": rounding}


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank, or of any; if it may be 1 mostly vectors, in which each integer has a place."""
    vectors = st.integers(1, LONGEST).map(lambda length: (length,))
    return st.one_of(vectors, vectors, tensor_shapes(rank)) if rank in (None, 1) else tensor_shapes(rank)


def scales(specials: bool) -> st.SearchStrategy[int]:
    """Bits of a positive scale: decimals, thirds, powers of two; with `specials` seldom any float32."""
    decimals = st.tuples(st.integers(1, 99), st.sampled_from((3, 7, 10, 100, 1000))).map(lambda of: Fraction(*of))
    powers = st.integers(-10, 4).map(lambda power: Fraction(2) ** power)
    usual = st.tuples(st.one_of(decimals, powers), st.integers(-1, 1)).map(
        lambda found: neighbour(encode(found[0], KIND), KIND, found[1])
    )
    if not specials:
        return usual
    far = st.integers(-FAR, FAR).map(lambda power: encode(Fraction(3) * Fraction(2) ** power, KIND))
    return st.one_of(usual, usual, usual, far, st.integers(0, (1 << 32) - 1))


def zero_points(name: str) -> st.SearchStrategy[int]:
    kind = INTEGER_TYPES[name]
    low, high = max(kind.lowest, -MOST), min(kind.highest, MOST)
    return st.one_of(st.just(0), st.sampled_from((low, high, low // 2, 3)), st.integers(low, high))


# Integers whose results differ with a second rounding, and at last one that every kernel gets right.
THIRD = (Fraction(1, 10), 0, Fraction(3, 10), 0)
VALUES = (1, -2, 4, -5, 100, -127, 0)
ABOVE_ZERO = (129, 126, 132, 123, 228, 1, 128)


def probe(
    kind: str, parameters: tuple[Any, ...], values: tuple[Any, ...], scanned: int = 0, **attributes: str
) -> PathProbe:
    label = "-".join([kind, *attributes.values()])
    return PathProbe(label, {"real": kind, "quantized": kind, "attributes": attributes}, parameters, values, scanned)


def at_scale(found: ScaleClass) -> PathProbe:
    """Each parameter as a constant: from a scale of this class to one and a half times that, which float32 has."""
    other = found.scale * Fraction(2 if found.name == "subnormal" else 3, 3 if found.name == "subnormal" else 2)
    node = {"real": "int8", "quantized": "int8"}
    return PathProbe(
        f"{found.name}-int8", node, (found.scale, 3, other, -5), (4, 2, 9, -1, 100, -127, 3), constants_only=True
    )


PATH_PROBES = (
    probe("int8", THIRD, VALUES, 4),
    probe("int8", THIRD, VALUES, rounding=DOUBLE),
    probe("uint8", (Fraction(1, 10), 128, Fraction(3, 10), 128), ABOVE_ZERO),
    probe("int16", THIRD, (1, -2, 4, -5, 30001, -29999, 0)),
    *(
        probe("int8", (Fraction(1, 50), 0, Fraction(1, 25), 0), (1, -1, 3, -5, 101, -127, 0), through=one)
        for one in BESIDE
    ),
    *(at_scale(found) for found in scale_classes()[:-1]),
)


def forbidden(clause: str, what: str, shapes: tuple[tuple[int, ...], ...], **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, shapes, {"real": "int8", "quantized": "int8"}, **changes)


ONE = (M22, S, S, S, S)
FORBIDDEN = (
    forbidden("TLR-S2", "two input scales", (M22, V2, S, S, S)),
    forbidden("TLR-S2", "two output scales", (M22, S, S, V2, S)),
    forbidden("TLR-S2", "two input zero points", (M22, S, V2, S, S)),
    forbidden("TLR-S2", "two output zero points", (M22, S, S, S, V2)),
    forbidden("TLR-T1", "from int8 to uint16", ONE, output="uint16"),
    forbidden("TLR-T2", "through an operator of one input", ONE, attributes={"through": "ABS"}),
    forbidden("TLR-R1", "a rounding that no kernel has", ONE, attributes={"rounding": "stochastic"}),
)


def ratio_of(shown: CaseWithStates) -> float:
    """The ratio of the two scales; 1 if it has no use."""
    scale, other = (float(shown.case.inputs[place]) for place in (1, 3))
    return scale / other if min(scale, other) > 0 and math.isfinite(scale) and math.isfinite(other) else 1.0


def odd_scale(shown: CaseWithStates) -> bool:
    return any(not (np.isfinite(scale) and scale > 0) for scale in shown.floats())


SITUATIONS: dict[str, Situation] = {
    "a ratio below 2^-32": lambda shown: ratio_of(shown) < 2.0**-32,
    "a ratio of 2^30 and more": lambda shown: ratio_of(shown) >= 2.0**30,
    "a scale that is no positive number": odd_scale,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its inputs are integers: there is no real number to divide"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Absent("it has one scale and one zero point for a whole tensor"),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        requantize,
        never_elementwise,
        authorities=OF_REQUANTIZE,
        role_of=role_of_requantize,
        silence=silence_of_requantize,
        of_integers=True,
    ),
)
