"""The steps from a rounded quotient to a code: the facet `saturation`, as steps.h of the semantics has it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tiebreak.conformance.emulators.steps import SINGLE, Computed, cast, constant, double, modulus, named, step, where
from tiebreak.conformance.semantics.quantize_saturation import Saturation
from tiebreak.golden.elements import IntegerType


@dataclass
class TypeEnds:
    """The ends of an integer type as named constants, and the number of its values."""

    quantized: IntegerType
    lowest: Computed = field(init=False)
    highest: Computed = field(init=False)

    def __post_init__(self) -> None:
        self.lowest = constant(self.quantized.lowest, name="LOWEST")
        self.highest = constant(self.quantized.highest, name="HIGHEST")

    @property
    def size(self) -> float:
        return float(self.quantized.highest - self.quantized.lowest + 1)

    def clamp(self, value: Computed) -> Computed:
        return step("clamp", value, self.lowest, self.highest)

    def wrap(self, value: Computed) -> Computed:
        """The low bits of a whole number that float64 holds with room."""
        return (
            modulus(value - self.lowest, self.size) + self.lowest
            if self.quantized.lowest
            else modulus(value, self.size)
        )


def saturated(saturation: Saturation, whole: Computed, zero_point: Computed | None, ends: TypeEnds) -> Computed:
    """The code of a rounded quotient and of an integer that is still to be added, or none."""
    kind, room = saturation, 2.0 ** ((saturation.through or 1) - 1)
    if kind.clamps_first:
        whole = named("clamped", ends.clamp(whole))
    if kind.through and not kind.of_sum:
        whole = named("held", passed(whole, room), f"int{kind.through}: its lowest value for what it can't hold")
    if kind.id == "wrap":
        low = modulus(whole, ends.size)
        total = named("wrapped", ends.wrap(plus(low, zero_point)))
        return where(step("is_nan", total), constant(0), total)  # infinite quotients have no low bits
    if kind.single:
        return in_single(kind, whole, zero_point, ends)
    total = plus(whole, zero_point)
    if kind.of_sum:
        total = named("held", passed(named("total", total), room), f"as int{kind.through} holds it")
        return ends.wrap(modulus(total, ends.size))
    if kind.wraps:
        return ends.wrap(total)
    if kind.id == "int32":
        total = modulus(total + constant(room), 2 * room) - constant(room)
    if kind.id == "int64":
        total = in_int64(whole, total, zero_point)
    least = ends.lowest + constant(1) if kind.id == "narrow-range" else ends.lowest
    return step("clamp", total, least, ends.highest)


def plus(whole: Computed, zero_point: Computed | None) -> Computed:
    return whole if zero_point is None else whole + zero_point


def passed(value: Computed, room: float) -> Computed:
    """A whole number as it passes through an integer type: its lowest value stands for all that it can't hold."""
    low = constant(-room)
    value = named("total", value)
    return where((value >= low) & (value < constant(room)), value, low)


def in_int64(whole: Computed, total: Computed, zero_point: Computed | None) -> Computed:
    """A sum of 64 bits, which wraps: above its highest value to the lowest, below its lowest to the highest."""
    room = constant(2.0**63)
    total = named("total", total)
    beyond = plus(whole - room, zero_point) >= constant(0)
    if zero_point is not None:
        lowest = step("equal", whole, constant(-(2.0**63)))
        total = named("sum", where(lowest & (zero_point < constant(0)), room, total))
    return where(beyond, constant(-(2.0**63)), total)


def in_single(kind: Saturation, whole: Computed, zero_point: Computed | None, ends: TypeEnds) -> Computed:
    """A sum in float32. `float32-then-cast`: a clamp to what is no number of the type comes out as its lowest."""
    first = cast(SINGLE, whole)
    total = named("total", double(first if zero_point is None else first + cast(SINGLE, zero_point)))
    if kind.id == "float32-then-cast":
        total = where(total > ends.highest, ends.lowest, total)
    return ends.clamp(total)
