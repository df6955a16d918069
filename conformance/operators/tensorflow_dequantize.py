"""Testing `tensorflow.Dequantize`: any mode, types, axis and range, and its usual mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import tensorflow_dequantize_steps as steps
from tiebreak.conformance.operators.drawn_tensors import integer_tensor, tensor_shapes
from tiebreak.conformance.operators.forbidden_call import INT8, M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, Cause, Mistake, OperatorUnderTest
from tiebreak.conformance.operators.path_probe import PathProbe, step_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_ranges import (
    draw_ranges,
    end_tensors,
    first_range_for_all,
    flush_float32,
    ranges_over_input,
)
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_dequantize import REAL_TYPES
from tiebreak.golden.operators.tensorflow_ranges import QUANTIZED_TYPES, RANGE_MODES
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(QUANTIZED_TYPES))
    real = wanted.real or draw(st.sampled_from(REAL_TYPES))
    shape = draw(tensor_shapes(wanted.rank))
    attributes = draw_attributes(draw, real, len(shape))
    axis = attributes.get("axis", -1)
    ends = end_tensors(draw_ranges(draw, wanted, shape, axis), axis)
    node = {"real": real, "quantized": quantized, "attributes": attributes}
    return node, (integer_tensor(draw, quantized, shape), *ends)


def draw_attributes(draw: st.DrawFn, real: str, rank: int) -> dict[str, Any]:
    mode = "MIN_COMBINED" if real == "bfloat16" else draw(st.sampled_from(RANGE_MODES))
    found: dict[str, Any] = {"mode": mode} if mode != "MIN_COMBINED" or draw(st.booleans()) else {}
    if real == "bfloat16":
        found["dtype"] = real
    if draw(st.booleans()):
        found["narrow_range"] = draw(st.booleans())
    if rank and draw(st.booleans()):
        found["axis"] = draw(st.integers(0, rank - 1))
    return found


# The arithmetic of usual mistakes, in float32 unless it says otherwise.


@dataclass(frozen=True)
class DequantizeOperands:
    """A case's operands, all of x's shape: x (int64) and the ends of its range (float32); and its attributes."""

    x: Array
    low: Array
    high: Array
    kind: IntegerType
    mode: str
    narrow: bool

    @property
    def range_t(self) -> int:
        return self.kind.highest - self.kind.lowest

    @property
    def offset_input(self) -> Array:
        """input - lowest, from 0 up."""
        return np.asarray((self.x - self.kind.lowest).astype(np.float64))


Formula = Callable[[DequantizeOperands], Array]


def combined(o: DequantizeOperands) -> Array:
    product = o.offset_input.astype(np.float32) * (o.high - o.low)
    return np.asarray(o.low + product / np.float32(o.range_t))


def first_scale(o: DequantizeOperands) -> Array:
    count = 2.0**o.kind.bits
    return np.asarray((o.high - o.low) * np.float32(count / (count - 1)) / np.float32(count))


def first(o: DequantizeOperands) -> Array:
    return np.asarray(o.low.astype(np.float64) + o.offset_input * first_scale(o).astype(np.float64))


def factors(o: DequantizeOperands) -> tuple[Array, Array]:
    """The factors of min_range and max_range; the first counts only for signed types."""
    lowest = np.float32(o.kind.lowest + o.narrow)
    return o.low / lowest, o.high / np.float32(o.kind.highest)


def scaled_by(o: DequantizeOperands, factor: Array) -> Array:
    return np.asarray(o.x.astype(np.float32) * factor)


def factor(o: DequantizeOperands) -> Array:
    from_min, from_max = factors(o)
    return np.maximum(from_min, from_max) if o.kind.signed else from_max


def scaled(o: DequantizeOperands) -> Array:
    return scaled_by(o, factor(o))


RIGHT: dict[str, Formula] = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}


def mistake(
    formulas: dict[str, Formula] | None = None,
    change: Callable[[DequantizeOperands], DequantizeOperands] = lambda own: own,
    finish: Callable[[Array], Array] = lambda values: values,
    one_range: bool = False,
    matters: Callable[[DequantizeOperands], bool] = lambda own: True,
) -> Mistake:
    """A backend whose formulas, operands (`change`) or last step (`finish`) are wrong; the rest is right.

    It raises ValueError where there is nothing to mistake (`matters`, another mode), so that it is no candidate there.
    """

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        attributes, kind = node.attributes, INTEGER_TYPES[node.input_type]
        low, high = first_range_for_all(low, high) if one_range else (low, high)
        mode, narrow = attributes.get("mode", "MIN_COMBINED"), attributes.get("narrow_range", False)
        with np.errstate(all="ignore"):
            given = DequantizeOperands(
                x.astype(np.int64), *ranges_over_input(attributes, x, low, high), kind, mode, narrow
            )
            if mode not in (formulas or RIGHT) or not matters(given):
                raise ValueError("there is nothing to mistake")
            own = change(given)
            values = (RIGHT | (formulas or {}))[mode](own).astype(np.float32)
            return (np.asarray(finish(values)).astype(node.outputs[0].dtype),)

    return run


def ratio_first(o: DequantizeOperands) -> Array:
    """As in TensorFlow's kernel: the range ratio is rounded before the product."""
    return np.asarray(o.offset_input.astype(np.float32) * ((o.high - o.low) / np.float32(o.range_t)) + o.low)


def ratio_flushed(o: DequantizeOperands) -> Array:
    ratio = flush_float32((o.high - o.low) / np.float32(o.range_t))
    return np.asarray(flush_float32(o.offset_input.astype(np.float32) * ratio) + o.low)


def rounded_minimum(o: DequantizeOperands) -> Array:
    """As in TensorFlow's kernel: min_range moves to the nearest multiple of the scale, all in float32."""
    return moved_minimum(o, ((o.high - o.low).astype(np.float64) / o.range_t).astype(np.float32))


def rounded_minimum_flushed(o: DequantizeOperands) -> Array:
    return moved_minimum(o, flush_float32(((o.high - o.low).astype(np.float64) / o.range_t).astype(np.float32)))


def moved_minimum(o: DequantizeOperands, scale: Array) -> Array:
    multiple = (o.low / scale).astype(np.float64)
    whole = np.trunc(multiple) + np.copysign(np.abs(multiple - np.trunc(multiple)) >= 0.5, multiple)
    start = np.where(o.low == o.high, o.low, whole.astype(np.float32) * scale)
    return np.asarray(o.x.astype(np.float32) * scale + (start - np.float32(o.kind.lowest) * scale))


def scaled_flushed(o: DequantizeOperands) -> Array:
    """Both sides' factors are flushed before the greater one is taken, the first of two zeros."""
    from_min, from_max = map(flush_float32, factors(o))
    return scaled_by(o, np.where(from_min < from_max, from_max, from_min) if o.kind.signed else from_max)


def in_float32(o: DequantizeOperands) -> Array:
    return np.asarray(o.low + o.offset_input.astype(np.float32) * first_scale(o))


def top_overflows(o: DequantizeOperands) -> Array:
    """int32 values that float32 rounds up to 2^31 become the lowest value, as in a cast on x86."""
    wide = o.x.astype(np.float32).astype(np.float64)
    return np.asarray(np.where(wide > o.kind.highest, o.kind.lowest, wide).astype(np.float32) * factor(o))


def no_offset(o: DequantizeOperands) -> Array:
    product = o.x.astype(np.float32) * (o.high - o.low)
    return np.asarray(o.low + product / np.float32(o.range_t))


def counted_values(o: DequantizeOperands) -> Array:
    product = o.offset_input.astype(np.float32) * (o.high - o.low)
    return np.asarray(o.low + product / np.float32(o.range_t + 1))


def unadjusted(o: DequantizeOperands) -> Array:
    scale = (o.high - o.low) / np.float32(o.range_t + 1)
    return np.asarray(o.low.astype(np.float64) + o.offset_input * scale.astype(np.float64))


def narrow_unsigned(o: DequantizeOperands) -> Array:
    """As in TensorFlow's kernel: with narrow_range the lowest value of an unsigned type is 1, so min_range counts."""
    return scaled_by(o, np.maximum(o.low, o.high / np.float32(o.kind.highest)))


def without_subnormals(o: DequantizeOperands) -> DequantizeOperands:
    return replace(o, low=flush_float32(o.low), high=flush_float32(o.high))


def is_narrow_unsigned(o: DequantizeOperands) -> bool:
    return o.narrow and not o.kind.signed


def truncated_to_bfloat16(values: Array) -> Array:
    """Float32 values with the bits dropped that a bfloat16 does not have."""
    return (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def rounded_to_bfloat16(values: Array) -> Array:
    return np.asarray(values.astype(ml_dtypes.bfloat16).astype(np.float32))


def in_type(kind: Any, operands: bool = True) -> dict[str, Formula]:
    """All formulas with each step rounded to another type, and the range too unless `operands` is false."""

    def step(values: Array) -> Array:
        return np.asarray(np.asarray(values, np.float64).astype(kind).astype(np.float64))

    def held(values: Array) -> Array:
        return step(values) if operands else np.asarray(values, np.float64)

    def combined(o: DequantizeOperands) -> Array:
        low, high = held(o.low), held(o.high)
        return step(low + step(step(o.offset_input * step(high - low)) / o.range_t))

    def first(o: DequantizeOperands) -> Array:
        low, high, count = held(o.low), held(o.high), 2.0**o.kind.bits
        scale = step(step(step(high - low) * step(np.asarray(count / (count - 1)))) / count)
        return step(low + step(o.offset_input * scale))

    def scaled(o: DequantizeOperands) -> Array:
        lowest, highest = (step(np.asarray(float(end))) for end in (o.kind.lowest + o.narrow, o.kind.highest))
        from_min, from_max = step(held(o.low) / lowest), step(held(o.high) / highest)
        return step(step(o.x) * (np.maximum(from_min, from_max) if o.kind.signed else from_max))

    return {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}


def whole_minimum(o: DequantizeOperands) -> Array:
    """min_range moves to a multiple of the step, whose product with the integer is added in double."""
    return whole_minimum_by(o, first_scale(o))


def whole_minimum_by(o: DequantizeOperands, step: Array) -> Array:
    ratio = (o.low / step).astype(np.float64)
    low = np.copysign(np.floor(np.abs(ratio) + 0.5), ratio) * step.astype(np.float64)
    return np.asarray(low + o.offset_input * step.astype(np.float64))


def unadjusted_step(o: DequantizeOperands) -> Array:
    return np.asarray((o.high - o.low) / np.float32(o.range_t + 1))


def fused_sum(o: DequantizeOperands) -> Array:
    step = (o.high - o.low) / np.float32(o.range_t)
    return np.asarray((o.offset_input * step.astype(np.float64) + o.low.astype(np.float64)).astype(np.float32))


def offset_by(less: float) -> Formula:
    def formula(o: DequantizeOperands) -> Array:
        x = (o.offset_input - less * o.kind.signed).astype(np.float32)
        return np.asarray(o.low + x * (o.high - o.low) / np.float32(o.range_t))

    return formula


def shifted(o: DequantizeOperands) -> DequantizeOperands:
    """Unsigned integers are read as signed ones."""
    wrong = np.where(o.x > o.kind.highest // 2, o.x - (1 << o.kind.bits), o.x)
    return o if o.kind.signed else replace(o, x=wrong)


def last_axis(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Ranges along the last axis, repeated or cut off to its size."""
    if low.ndim == 0 or not low.size:
        raise ValueError("there is nothing to mistake")
    low, high = (np.resize(end, x.shape[-1]) for end in (low, high))
    return mistake()(replace(node, attributes={**node.attributes, "axis": x.ndim - 1}), x, low, high)


def combined_product(o: DequantizeOperands) -> Array:
    return np.asarray(o.offset_input.astype(np.float32) * (o.high - o.low) / np.float32(o.range_t))


def first_product(o: DequantizeOperands) -> Array:
    return np.asarray(o.offset_input * first_scale(o).astype(np.float64))


STEPS: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("result:fused", "combined"), mistake({"MIN_COMBINED": fused_sum})),
    (
        Cause("no-minimum", "combined"),
        mistake({"MIN_COMBINED": combined_product, "MIN_FIRST": first_product}),
    ),
    (Cause("offset-of-half-less", "offset"), mistake({"MIN_COMBINED": offset_by(0.5)})),
    (
        Cause("range-ratio-first + no-offset", "offset"),
        mistake(
            {"MIN_COMBINED": lambda o: ratio_first(replace(o, x=o.x + o.kind.lowest))}, matters=lambda o: o.kind.signed
        ),
    ),
    (
        Cause("no-lowest", "min-first"),
        mistake(
            {"MIN_FIRST": lambda o: o.low.astype(np.float64) + o.x * first_scale(o).astype(np.float64)},
            matters=lambda o: o.kind.signed,
        ),
    ),
    (Cause("moves-minimum", "min-first"), mistake({"MIN_FIRST": whole_minimum})),
    (
        Cause("moves-minimum + no-range-adjust", "min-first"),
        mistake({"MIN_FIRST": lambda o: whole_minimum_by(o, unadjusted_step(o))}),
    ),
    (
        Cause("divides-by-step", "scaled"),
        mistake({"SCALED": lambda o: o.x.astype(np.float32) / (np.float32(1) / factor(o))}),
    ),
    (
        Cause("factor-in-bfloat16", "scaled"),
        mistake({"SCALED": lambda o: scaled_by(o, rounded_to_bfloat16(factor(o)))}),
    ),
    (
        Cause("one-end-alone:min_range", "signed-factor"),
        mistake({"SCALED": lambda o: scaled_by(o, factors(o)[0])}, matters=lambda o: o.kind.signed),
    ),
    (Cause("narrow-range", "narrow"), mistake({"SCALED": scaled}, change=lambda o: replace(o, narrow=True))),
    (Cause("unsigned-as-signed", "combined"), mistake(change=shifted)),
    (Cause("wrong-axis", "axis"), last_axis),
    (Cause("flushes-outputs", "scaled"), mistake(finish=flush_float32)),
    (
        Cause("range-ratio-first + truncates-to-bfloat16", "output-type"),
        mistake({"MIN_COMBINED": ratio_first}, finish=truncated_to_bfloat16),
    ),
    (Cause("computes-in:float16", "combined"), mistake(in_type(np.float16))),
    (Cause("computes-in:bfloat16", "combined"), mistake(in_type(ml_dtypes.bfloat16))),
    (Cause("computes-in:float16", "combined"), mistake(in_type(np.float16, operands=False))),
    (Cause("computes-in:bfloat16", "combined"), mistake(in_type(ml_dtypes.bfloat16, operands=False))),
    (Cause("computes-in:float32", "combined"), mistake(in_type(np.float32))),
    (Cause("computes-in:float64", "combined"), mistake(in_type(np.float64))),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("range-ratio-first", "combined"), mistake({"MIN_COMBINED": ratio_first})),
    (Cause("moves-minimum", "min-first"), mistake({"MIN_FIRST": rounded_minimum})),
    (Cause("min-first-in-float32", "double-steps"), mistake({"MIN_FIRST": in_float32})),
    (Cause("highest-overflows", "scaled"), mistake({"SCALED": top_overflows})),
    (
        Cause("flushes", "scaled"),
        mistake(RIGHT | {"SCALED": scaled_flushed}, change=without_subnormals, finish=flush_float32),
    ),
    (
        Cause("range-ratio-first + flushes", "combined"),
        mistake({"MIN_COMBINED": ratio_flushed}, change=without_subnormals, finish=flush_float32),
    ),
    (
        Cause("moves-minimum + flushes", "min-first"),
        mistake({"MIN_FIRST": rounded_minimum_flushed}, change=without_subnormals, finish=flush_float32),
    ),
    (
        Cause("narrow-for-unsigned + flushes", "unsigned-factor"),
        mistake(
            {"SCALED": narrow_unsigned}, change=without_subnormals, finish=flush_float32, matters=is_narrow_unsigned
        ),
    ),
    (Cause("ignores:narrow_range", "narrow"), mistake(change=lambda o: replace(o, narrow=False))),
    (Cause("narrow-for-unsigned", "unsigned-factor"), mistake({"SCALED": narrow_unsigned}, matters=is_narrow_unsigned)),
    (Cause("no-offset", "offset"), mistake({"MIN_COMBINED": no_offset})),
    (Cause("counts-values", "range-of-T"), mistake({"MIN_COMBINED": counted_values})),
    (Cause("no-range-adjust", "range-scale"), mistake({"MIN_FIRST": unadjusted})),
    (Cause("max-side-alone", "signed-factor"), mistake({"SCALED": lambda o: scaled_by(o, factors(o)[1])})),
    (
        Cause("smaller-factor", "signed-factor"),
        mistake({"SCALED": lambda o: scaled_by(o, np.minimum(*factors(o)) if o.kind.signed else factors(o)[1])}),
    ),
    (Cause("one-for-all:range", "axis"), mistake(one_range=True)),
    (
        Cause("range-in-bfloat16", "range-type"),
        mistake(change=lambda o: replace(o, low=rounded_to_bfloat16(o.low), high=rounded_to_bfloat16(o.high))),
    ),
    (Cause("truncates-to-bfloat16", "output-type"), mistake(finish=truncated_to_bfloat16)),
    *STEPS,
)


def forbidden(clause: str, what: str, parameter: tuple[int, ...], **attributes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, (M22, parameter, parameter), INT8, attributes, values={1: 0.0})


ENDS = LEAST, GREATEST = Fraction(-13, 10), Fraction(27, 10)
SCALED = {"quantized": "int8", "attributes": {"mode": "SCALED"}}
FIRST = {"quantized": "uint8", "attributes": {"mode": "MIN_FIRST"}}
# Values whose results depend on the order of the steps, both ends, others, and last zero or an end of the range.
PATH_PROBES = (
    PathProbe("combined-uint8", {"quantized": "uint8"}, ENDS, (51, 96, 128, 255, 1, 200, 0), 2),
    PathProbe("scaled-int8", SCALED, (-GREATEST, GREATEST), (-124, -121, -128, 127, 1, 70, 0)),
    PathProbe("first-uint8", FIRST, ENDS, (20, 51, 128, 255, 1, 200, 0)),
    *(
        PathProbe(
            f"{found.name}-{mode.lower()}",
            {"quantized": "uint8", "attributes": {"mode": mode}},
            (0, 255 * found.scale),
            (20, 51, 128, 255, 1, 200, 0),
            constants_only=True,
        )
        for mode in RANGE_MODES
        for found in step_classes(255)
    ),
)
BFLOAT16 = {**INT8, "real": "bfloat16"}


def forbidden_ranges(mode: str) -> tuple[ForbiddenCall, ...]:
    """Ranges and axes that do not fit the input, in one mode."""
    where = "" if mode == "MIN_COMBINED" else f", {mode}"
    return (
        forbidden("TFD-A1", f"3 ranges for an axis of size 2{where}", V3, axis=0, mode=mode),
        forbidden("TFD-A1", f"1 range for an axis of size 2{where}", (1,), axis=0, mode=mode),
        forbidden("TFD-A2", f"2 ranges without axis{where}", V2, mode=mode),
        forbidden("TFD-A1", f"axis 2 of an input with two axes{where}", V2, axis=2, mode=mode),
        forbidden("TFD-A2", f"axis -2{where}", V2, axis=-2, mode=mode),
    )


FORBIDDEN_CALLS = (
    *(call for mode in RANGE_MODES for call in forbidden_ranges(mode)),
    *(
        ForbiddenCall("TFD-T3", f"bfloat16 with {mode}", (M22, S, S), BFLOAT16, {"mode": mode}, values={1: 0.0})
        for mode in ("SCALED", "MIN_FIRST")
    ),
)

TESTED = OperatorUnderTest(
    id="tensorflow.Dequantize",
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=(*MISTAKES, *steps.MISTAKES),
    pairs=steps.PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis("axis"),
    forbidden_calls=FORBIDDEN_CALLS,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("semantics are known of real inputs; its inputs are integers"),
)
