"""Usual mistakes of `onnx.QLinearConv` as small NumPy backends: those of the sum, and those of what follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak.conformance.operators import dequantized_results as dq
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.onnx_convolution_steps import OTHER_CHANNELS, STEPS, wrapped
from tiebreak.conformance.operators.onnx_qlinear_conv_quotients import QUOTIENTS, factor_first
from tiebreak.conformance.operators.onnx_qlinear_conv_steps import ends, pipeline
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.problem import Array

ALONG_INPUTS = "along-other-axis:w_scale and w_zero_point"

# Real numbers

WHOLE = tuple(
    WrongStep(f"convolves-dequantized:{text}", "scale", {"whole": finish}, in_pairs=text == dq.USUAL)
    for text, finish in dq.FINISHES
)
OF_INTEGERS = (frequent(f"convolves-integers:{dq.IN_RANGE_OF_SUM}", "scale", of_integers=dq.fake_quantizes_sum),)

# Operands in bfloat16. OpenVINO's convolution leaves float32 only to an addition that is fused with it, and rounds w's
# scales first where there are several.

USUAL_FINISH = dict(dq.FINISHES)[dq.USUAL]
TO_BFLOAT16 = f"convolves-in-bfloat16:with the sum rounded to it, {dq.USUAL}"
ALONG_INPUTS_IN_BFLOAT16 = (
    f"{ALONG_INPUTS}{JOINT}convolves-in-bfloat16:with the scales of w and the sum rounded to it, {dq.USUAL}"
)
IN_BFLOAT16 = (
    step(TO_BFLOAT16, "scale", whole=USUAL_FINISH, real_sum=dq.summed_to_bfloat16),
    step(f"convolves-in-bfloat16:with the sum in float32, {dq.USUAL}", "scale",
         whole=USUAL_FINISH, real_sum=dq.summed_of_bfloat16),
    step(ALONG_INPUTS_IN_BFLOAT16, "channels",
         whole=USUAL_FINISH, real_sum=dq.summed_to_bfloat16, of_inputs=True, input_scale=dq.in_bfloat16),
)  # fmt: skip

# Scales and biases


SCALES = (
    *(frequent(f"scale-of:{name}", "channels", scale_of=place) for name, place in OTHER_CHANNELS.items()),
    frequent(ALONG_INPUTS, "channels", of_inputs=True),
    frequent("ignores:the scale of x", "scale", scales=lambda x, w, y: (np.ones_like(x), w, y)),
    frequent("ignores:the scale of w", "scale", scales=lambda x, w, y: (x, np.ones_like(w), y)),
    frequent("ignores:the scale of y", "scale", scales=lambda x, w, y: (x, w, np.ones_like(y))),
    frequent("multiplies-by-scale", "scale", scales=lambda x, w, y: (x, w, np.float32(1) / y)),
)


def wraps_to(kind: str) -> Callable[[Array, Array], Array]:
    return lambda total, bias: total + wrapped(bias, kind)


def with_real_bias(bias: Array, sums: Array, x: Array, w: Array, y: Array) -> Array:
    """As IREE: the bias is no integer of the scales of x and w, but a number beside the dequantized sum."""
    return np.asarray((sums.astype(np.float32) * (x * w) + bias.astype(np.float32)) / y)


BIASES = (
    frequent("bias-without-scale", "bias", real_bias=with_real_bias),
    frequent("ignores:the bias", "bias", bias=lambda total, bias: total),
    frequent("bias-subtracted", "bias", bias=lambda total, bias: total - bias),
    frequent("bias-twice", "bias", bias=lambda total, bias: total + 2 * bias),
    frequent("bias-to:float32", "bias", bias=lambda total, bias: total + bias.astype(np.float32).astype(np.int64)),
    frequent("bias-to:int16", "bias", bias=wraps_to("int16")),
    frequent("bias-of:the first channel", "bias", bias=lambda total, bias: total + bias[:1]),
    frequent("sum-with-bias-in:float32", "bias",
             bias=lambda total, bias: (total.astype(np.float32) + bias.astype(np.float32)).astype(np.int64)),
)  # fmt: skip

# Rounding, the zero point and the clamp


def half_added_and_cut(values: Array) -> Array:
    return np.asarray(np.trunc(values + np.where(values < 0, -0.5, 0.5).astype(values.dtype)))


def in_factor_form(id_: str, **fields: Any) -> tuple[WrongStep, ...]:
    """A wrong rounding with the quotient in steps, and with the scales as one factor in float32."""
    both = {**fields, "quotient": factor_first(np.float32)}
    return frequent(id_, "even", **fields), step(f"{id_}, by one factor", "even", **both)


def before_rounding(kind: Any) -> dict[str, Any]:
    """Nothing is rounded until the zero point is added, in a type."""

    def add(_: str, quotient: Array, point: Array) -> Array:
        return np.asarray(np.rint(quotient.astype(kind) + point.astype(kind)), np.float64)

    return {"round": lambda values: values, "add": add}


def clamped_first(kind: str, rounded: Array, point: Array) -> Array:
    return np.asarray(np.clip(rounded, *ends(kind)) + point)


def low_bits(kind: str, total: Array) -> Array:
    return wrapped(np.clip(total, -(2.0**31), 2.0**31 - 1).astype(np.int64), kind)


def highest_of_signed(kind: str, total: Array) -> Array:
    if not kind.startswith("u"):
        raise NotImplementedError
    return np.clip(total, 0, 127)


def narrowed(kind: str, total: Array) -> Array:
    if kind.startswith("u"):
        raise NotImplementedError
    return np.clip(total, -127, 127)


OF_REFERENCE = {**before_rounding(np.float64), "quotient": factor_first(np.float32, np.float64)}
ROUNDING = (
    *in_factor_form("rounding-of-quotient:ties away from zero", round=ws.away),
    *in_factor_form("rounding-of-quotient:ties upward", round=ws.upward),
    *in_factor_form("rounding-of-quotient:toward zero", round=np.trunc),
    *in_factor_form("rounding-of-quotient:down", round=np.floor),
    *in_factor_form("rounding-of-quotient:up", round=np.ceil),
    *in_factor_form("rounding-of-quotient:half added, then toward zero", round=half_added_and_cut),
    *in_factor_form("zero-point-first-in:float32", **before_rounding(np.float32)),
    step("zero-point-first-in:float64, by one factor", "zero-point",
         **OF_REFERENCE),
    step(f"along-depth:w_scale{JOINT}zero-point-first-in:float64, by one factor", "channels",
         **OF_REFERENCE, along_depth=True),
    step("along-depth:w_scale", "channels", along_depth=True),
)  # fmt: skip
ENDS = (
    frequent("ignores:the zero point of y", "zero-point", add=lambda kind, rounded, point: rounded),
    frequent("subtracts-output-zero-point", "zero-point", add=lambda kind, rounded, point: rounded - point),
    frequent("clamps-before-zero-point", "saturate", add=clamped_first),
    frequent("wraps", "saturate", clamp=low_bits),
    frequent("highest-of-signed", "saturate", clamp=highest_of_signed),
    frequent("narrow-range", "saturate", clamp=narrowed),
)
OWN: tuple[WrongStep, ...] = (*QUOTIENTS, *WHOLE, *IN_BFLOAT16, *OF_INTEGERS, *SCALES, *BIASES, *ROUNDING, *ENDS)
MISTAKES = single_steps(pipeline, (*OWN, *STEPS))
PAIRS = pairs_of_steps(pipeline, (*OWN, *STEPS))
