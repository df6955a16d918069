"""Every known defect: a stable id, the step of the arithmetic that it changes, and one sentence.

Two defects of one box change different steps, so that each can be switched off alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

How = Mapping[str, str]  # step to defect id; a step that is not there is done rightly


@dataclass(frozen=True)
class Defect:
    id: str
    step: str
    sentence: str


SENTENCES: dict[str, dict[str, str]] = {
    "round": {
        "ties-away": "Ties go away from zero.",
        "ties-up": "Ties go to the greater integer.",
        "ties-down": "Ties go to the smaller integer.",
        "ties-zero": "Ties go toward zero.",
        "ties-odd": "Ties go to the odd integer.",
        "ties-even": "Ties go to the even integer, whatever the node asks for.",
        "truncates": "The fraction is cut off.",
        "floors": "The value is rounded down.",
        "ceils": "The value is rounded up.",
        "mode-ignored": "Every mode rounds to nearest, ties to even.",
        "up-and-down-swapped": "The modes upward and downward are exchanged.",
        "infinity-means-up": "The modes away from zero go to positive infinity.",
        "zero-means-down": "The modes toward zero go to negative infinity.",
        "directed-as-nearest": "The directed modes round to nearest.",
        "adds-half": "0.5 is added in the working type, then the sum is rounded down.",
        "adds-signed-half": "0.5 of the value's sign is added in the working type, then the fraction is cut off.",
        "magic-number": "1.5 * 2^23 is added and subtracted in float32, which is right below 2^22 only.",
        "magic-number-bits": "1.5 * 2^23 is added in float32 and the integer taken from the bits.",
        "halves-first": "The value is rounded to halves first, then to an integer.",
    },
    "twice": {
        "rounds-once": "Nodes that round twice round once.",
        "rounds-twice": "All nodes with a shift above 31 round twice.",
    },
    "divide": {
        "reciprocal": "x is multiplied by the reciprocal of the scale, rounded to the working type.",
        "reciprocal-float32": "x is multiplied by the reciprocal in float32, and the product not rounded further.",
        "reciprocal-float64": "x is multiplied by the reciprocal in float64, and the product not rounded further.",
        "reciprocal-truncated": "The reciprocal is cut off to the working type, not rounded.",
        "reciprocal-12-bits": "The reciprocal has 12 significant bits, as an estimate instruction gives it.",
        "reciprocal-newton": "An estimate of 12 bits is refined by one Newton step.",
        "divides-in-float16": "The division is one of float16 numbers.",
        "divides-in-bfloat16": "The division is one of bfloat16 numbers.",
        "divides-in-float32": "The division is one of float32 numbers.",
        "scale-in-float16": "The scale is held in float16.",
        "scale-in-bfloat16": "The scale is held in bfloat16.",
        "scale-power-of-two": "The scale is replaced by the nearest power of two.",
        "scale-8-bits": "The scale is held with 8 significant bits.",
        "x-in-bfloat16": "The input is rounded to bfloat16 first.",
        "x-in-float16": "The input is rounded to float16 first.",
        "quotient-to-float16": "The quotient is rounded once more, to float16.",
        "quotient-to-bfloat16": "The quotient is rounded once more, to bfloat16.",
        "quotient-cut-off": "The quotient is cut off to the working type, not rounded.",
        "precision-ignored": "The division is done in the input's type, whatever the node asks for.",
        "divides-integers": "An integer input is divided by the scale and the fraction cut off.",
        "multiplies": "x is multiplied by the scale.",
    },
    "flush": {
        "flush-x": "A subnormal input is taken as zero.",
        "flush-scale": "A subnormal scale is taken as zero.",
        "flush-quotient": "A subnormal quotient becomes zero.",
        "flush-output": "A subnormal result becomes zero.",
        "flush-range": "A subnormal width of the range becomes zero.",
    },
    "multiply": {
        "rounded-twice": "The product goes to its doubled high half, and is rounded again by a shift.",
        "factor-8-bits": "The ratio of the scales has 8 fractional bits.",
        "ratio-doubled": "The ratio of the scales is twice as large.",
        "factor-of-scales": "The scales make one factor in the working type, by which the sum is multiplied.",
    },
    "sum": {
        "sum-wraps-in-16-bits": "The sum of products is held in 16 bits, and wraps around.",
        "last-product-lost": "The last product is not added.",
    },
    "operands": {
        "input-zp-ignored": "The zero point of the input is not used.",
        "zps-exchanged": "The zero points of input and output are exchanged.",
    },
    "zero": {
        "zp-before-rounding": "The zero point is added in the working type before rounding.",
        "zp-before-rounding-wide": "The zero point is added exactly before rounding.",
        "zp-in-type": "The zero point is added after rounding, in the working type.",
        "zp-in-float16": "The zero point is added after rounding, in float16.",
        "zp-ignored": "The zero point is not used.",
        "zp-negated": "The zero point is used with the wrong sign.",
        "zp-as-signed": "The unsigned zero point is read as a signed one.",
        "zp-as-unsigned": "The signed zero point is read as an unsigned one.",
        "zp-twice": "The zero point is used twice.",
    },
    "clamp": {
        "wraps": "Nothing is clamped: a result out of range wraps around.",
        "int32-first": "The rounded quotient becomes the lowest int32 where it is beyond int32, before anything else.",
        "int32-sum-wraps": "The rounded quotient saturates to int32, and the sum with the zero point wraps around.",
        "int16-first": "The rounded quotient saturates to int16 before the zero point is added.",
        "clamps-before-zp": "The quotient is clamped to the type's range, then the zero point is added and wraps.",
        "clamps-before-and-after-zp": "The quotient is clamped to the type's range before the zero point is added.",
        "clamps-to-signed": "The highest result is that of the signed type of the same width.",
        "clamps-narrow": "The lowest result is one more than the type's lowest.",
        "clamps-high-early": "The highest result is one less than the type's highest.",
        "clamps-to-8-bits": "Results are clamped to 8 bits, then cut to the narrower type.",
        "wraps-above": "Nothing is clamped above: such a result wraps around.",
        "wraps-below": "Nothing is clamped below: such a result wraps around.",
        "out-of-range-to-zero": "A result out of range becomes zero.",
        "out-of-range-to-lowest": "A result out of range becomes the lowest value.",
    },
    "place": {
        "first-parameter": "The first scale and zero point serve all.",
        "first-scale": "The first scale serves all; zero points are right.",
        "first-zero-point": "The first zero point serves all; scales are right.",
        "axis-last": "Parameters go along the last axis.",
        "axis-first": "Parameters go along the first axis.",
        "flat-modulo": "Parameters repeat along the flat array.",
        "next-channel": "Each channel takes the next one's parameters.",
        "channels-reversed": "Channels take their parameters in reverse order.",
        "blocks-one-longer": "Each block is one element too long.",
        "blocks-interleaved": "Neighbours take the scales of different blocks.",
        "last-block-joined": "A short last block takes the scale of the one before.",
        "blocks-even": "The axis is divided evenly among the scales.",
        "first-output-limits": "The first output limits serve all; input limits are right.",
    },
    "small": {
        "saturate-ignored": "Saturation is never done, whatever the node says.",
        "always-saturates": "Saturation is always done, whatever the node says.",
        "small-through-float16": "The quotient goes through float16, so that it is rounded twice.",
        "small-cut-off": "The quotient is cut off to the output's type.",
        "small-ties-away": "Ties between two output values go away from zero.",
        "small-flush": "Subnormal output values become zero.",
        "small-nan-to-zero": "A NaN becomes zero.",
        "small-nan-to-highest": "A NaN becomes the highest value.",
        "small-infinity-kept": "An infinity is never saturated.",
        "small-max-240": "Results end at 240.",
        "small-max-448": "Results end at half the type's highest value.",
        "small-overflow-early": "What lies beyond the highest value without rounding to more becomes NaN or infinite.",
        "small-step-bits": "The lowest mantissa bit of a result is always zero.",
    },
    "operand": {
        "x-as-unsigned": "The signed input is read as an unsigned one.",
        "x-as-signed": "The unsigned input is read as a signed one.",
        "nibbles-swapped": "The two inputs that share a byte are exchanged.",
        "small-as-other": "The float 8 input is read in the format with the other special values.",
        "small-x-flush": "Subnormal small floats are read as zero.",
        "small-x-nan-to-zero": "A NaN input is read as zero.",
        "x-through-float32": "The integer input goes through float32.",
        "x-through-float16": "The integer input goes through float16.",
    },
    "difference": {
        "difference-wraps": "The difference wraps around in the input's type.",
        "difference-saturates": "The difference saturates in the input's type.",
        "difference-in-float16": "The difference is rounded to float16.",
        "difference-in-bfloat16": "The difference is rounded to bfloat16.",
        "difference-in-int16": "The difference wraps around in int16.",
    },
    "product": {
        "distributes": "The input and the zero point are multiplied by the scale apart, then subtracted.",
        "distributes-fused": "zero_point * scale is rounded and subtracted from x * scale in one step.",
        "product-in-float16": "The product is one of float16 numbers.",
        "product-in-bfloat16": "The product is one of bfloat16 numbers.",
        "product-in-float32": "The product is one of float32 numbers.",
        "product-cut-off": "The product is cut off to the output's type.",
        "product-ties-away": "A tie between two output values goes away from zero.",
        "divides-by-inverse": "The difference is divided by the rounded reciprocal of the scale.",
        "overflow-saturates": "A product beyond the largest value becomes that value.",
        "multiplier-in-float16": "The scale is held in float16.",
        "multiplier-in-bfloat16": "The scale is held in bfloat16.",
        "multiplier-power-of-two": "The scale is replaced by the nearest power of two.",
        "multiplier-ignored": "The scale is not used.",
        "divides-by-scale": "The difference is divided by the scale.",
    },
    "type": {
        "in-float16": "Every step is done in float16.",
        "in-bfloat16": "Every step is done in bfloat16.",
        "in-float32": "Every step is done in float32.",
        "in-float64": "Every step is done in float64 and the result rounded at the end.",
    },
    "position": {
        "position-folded": "x - input_low is multiplied by one factor, (levels - 1) / (input_high - input_low).",
        "position-shifted": "x and input_low are multiplied by that factor apart, then subtracted.",
        "position-shifted-fused": "input_low times the factor is subtracted from x times the factor in one step.",
        "position-by-step": "x - input_low is divided by one step, (input_high - input_low) / (levels - 1).",
        "position-reciprocal": "The division by the range is a multiplication by its rounded reciprocal.",
        "position-multiplied-first": "The multiplication by levels - 1 comes before the division.",
        "offset-ignored": "input_low is not subtracted.",
    },
    "back": {
        "back-folded": "The level is multiplied by one step, (output_high - output_low) / (levels - 1).",
        "back-folded-fused": "The level times that step, plus output_low, is one fused step.",
        "back-reciprocal": "The division on the way back is a multiplication by a rounded reciprocal.",
        "back-multiplied-first": "The multiplication by the output range comes before the division.",
        "back-fused": "The last product and sum are one fused step.",
        "back-between": "The result is output_low * (1 - f) + output_high * f.",
        "back-offset-ignored": "The lower end is not added on the way back.",
        "back-minimum-last": "The integer is multiplied by the scale first, then the minimum added.",
        "back-minimum-fused": "The integer times the scale, plus the minimum, is one fused step.",
        "back-shifted": "The integer and the zero point are multiplied by the scale apart, then subtracted.",
    },
    "levels": {
        "levels-one-more": "There is one level too many.",
        "levels-one-less": "There is one level too few.",
        "levels-256": "There are always 256 levels.",
        "levels-power-of-two": "The levels are the next power of two.",
    },
    "ends": {
        "ends-computed": "Beyond the input range the expression is computed for the clipped x, nothing is copied.",
        "ends-greater-or-equal": "At the greater input limit output_high is copied already.",
        "ends-less": "At the lesser input limit the expression is computed.",
        "ends-missing": "Nothing is clipped.",
        "ends-missing-above": "Nothing is clipped above.",
        "reversed-sorted": "Reversed input limits are put in order first.",
        "equal-limits-up": "With equal input limits x equal to them gives output_high.",
        "ends-swapped": "Beyond the limits output_low and output_high are exchanged.",
        "given-range-out": "output_min and output_max are the range as it was given.",
        "range-out-swapped": "output_min and output_max are exchanged.",
    },
    "outputs": {
        "outputs-sorted": "The output limits are put in order first.",
        "outputs-are-inputs": "The input limits are used on the way back.",
        "outputs-in-bfloat16": "The output limits are held in bfloat16.",
    },
    "scale": {
        "scale-folded": "Range and number of steps become one rounded factor first.",
        "scale-inverse": "One rounded step is made first, and divided by.",
        "steps-one-more": "The range has one step too many.",
        "no-range-adjust": "range_adjust is left out.",
        "greater-factor": "The greater of the two sides' factors is taken.",
        "smaller-factor": "The smaller of the two sides' factors is taken.",
        "high-side-only": "Only the upper end of the range decides the factor.",
        "low-side-only": "Only the lower end of the range decides the factor.",
        "symmetric-range": "The end of greater magnitude decides, with the highest integer.",
        "factor-by-inverse": "The input is divided by the rounded inverse of the factor.",
        "factor-in-bfloat16": "The factor is held in bfloat16.",
        "idle-side-counts": "A side counts even if its end has the wrong sign.",
    },
    "offset": {
        "no-int8-offset": "The offset of int8 is left out.",
        "int8-offset-half-less": "The offset of int8 is 127.5, not 128.",
        "lowest-left-out": "The lowest integer is left out.",
        "rounds-difference-once": "The difference is rounded once, not its two parts apart.",
        "minimum-floored": "The scaled minimum is rounded down, not to nearest.",
        "rounds-minimum": "The minimum is rounded to a multiple of the step first.",
        "minimum-left-out": "The minimum is left out.",
    },
    "clip": {
        "no-clip-wraps": "Nothing is clipped: a result out of range wraps around.",
        "clips-to-given": "The input is clipped to the range as it was given.",
        "clip-missing": "The input is not clipped.",
        "clip-below-missing": "The input is not clipped below.",
        "clip-above-missing": "The input is not clipped above.",
    },
    "bits": {
        "narrow-ignored": "narrow_range is ignored.",
        "narrow-always": "narrow_range is always on.",
        "num-bits-8": "num_bits is always 8.",
        "num-bits-one-less": "There is one bit too few.",
        "signed-ignored": "signed_input is ignored: integers are always signed.",
        "intervals-not-narrowed": "The divisor of the scale forgets narrow_range.",
        "intervals-one-more": "The divisor of the scale is 2^num_bits.",
    },
    "nudge": {
        "no-nudge": "Zero is not put on the grid.",
        "nudge-down": "min / scale is rounded down.",
        "nudge-up": "min / scale is rounded up.",
        "nudge-max-kept": "The maximum is not moved with the minimum.",
        "positive-range-kept": "A range above zero is not moved to zero.",
        "negative-range-kept": "A range below zero is not moved to zero.",
        "nudge-clamped": "A range off zero is extended to zero, not moved there.",
    },
    "quotient": {
        "quotient-reciprocal": "The division by the scale is a multiplication by its rounded reciprocal.",
        "quotient-from-range": "The division by the scale is a multiplication by steps / range.",
        "quotient-shifted": "The input is divided by the scale and the zero point added, without subtracting min_adj.",
    },
    "range": {
        "given-range-ignored": "The range is always measured.",
        "no-range-update": "Values are clamped to the range as it was given.",
    },
}

DEFECTS = {name: Defect(name, step, sentence) for step, found in SENTENCES.items() for name, sentence in found.items()}


def how_of(ids: tuple[str, ...]) -> dict[str, str]:
    """The steps that these defects change. ValueError if two change the same step."""
    how = {DEFECTS[name].step: name for name in ids}
    if len(how) != len(ids):
        raise ValueError(f"{' and '.join(ids)} change the same step")
    return how
