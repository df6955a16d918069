"""The one table of causes: an id and a sentence for each mistake that a backend may make.

A cause's id is made of keys of this table. A key may have a parameter behind a colon; several mistakes at once are
joined by " + ", and a place where they hold only follows " @ ": "reciprocal:float32 + casts-to-int32 @ tail:8".
Records, baselines and waivers hold ids, so that a better sentence breaks nobody's gate.

An id has one arithmetic in the tables of an operator. The same mistake in another form of the formula may give other
results. Then the id says the form. It stands behind the colon of a key that has no parameter, or it is one of FORMS
behind a parameter: "adds-min:ties upward", "computes-in:float16, inputs too".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

JOINT, AT = " + ", " @ "
ENVIRONMENT = "flushes"  # what begins so is no arithmetic of an operator's: a thread or a library flushes subnormals
SENTENCES = {
    # Subnormals
    "flushes-inputs": "flushes subnormal inputs to zero",
    "flushes-scales": "flushes subnormal scales to zero",
    "flushes-inputs-and-scales": "flushes subnormal inputs and scales to zero",
    "flushes-inputs-and-reciprocals": "flushes subnormal inputs and reciprocals to zero",
    "flushes-quotients": "flushes subnormal quotients to zero",
    "flushes-all": "flushes all subnormals to zero",
    "flushes": "flushes subnormals to zero",
    "flushes-every-step": "flushes subnormal inputs and results of every step to zero",
    "flushes-range": "flushes a subnormal width of the range to zero",
    "flushes-outputs": "flushes subnormal outputs to zero",
    # The quotient
    "divides-by-scale": "divides by the scale",
    "divides-in-x-type": "divides in x's type",
    "reciprocal-of-scale": "multiplies by the reciprocal of the scale",
    "divides-in": "divides in {}",
    "divides-exactly": "divides with an exact quotient",
    "divides-in-float64": "divides in float64, not enough for this output type",
    "ignores-precision": "ignores precision: divides in y_scale's type",
    "multiplies-in": "multiplies in {}",
    "multiplies-by-scale": "multiplies by the scale",
    "own-reciprocal": "multiplies by the reciprocal rounded to the input's type",
    "reciprocal": "multiplies by the reciprocal in {}",
    "reciprocal-exactly": "multiplies by the reciprocal with an exact quotient",
    "reciprocal-cut-off": "multiplies by the reciprocal cut off to the input's type",
    "reciprocal-of-bits": "multiplies by an estimate of the reciprocal with {} bits",
    "reciprocal-refined": "multiplies by an estimate of the reciprocal refined by one Newton step",
    "reciprocal-refined-from": "multiplies by an estimate of the reciprocal with {} bits refined by one Newton step",
    "reciprocal-refined-twice-from": (
        "multiplies by an estimate of the reciprocal with {} bits refined by two Newton steps"
    ),
    "reciprocal-rounded-to": "multiplies by the reciprocal rounded to {}",
    "reciprocal-rounds": "multiplies by the reciprocal rounded {}",
    "reciprocal-of-digits": "multiplies by the reciprocal written with {} significant digits",
    "multiplier-of-bits": "multiplies by a whole number of {} bits, and one shift rounds ties up",
    "multiplier-of-31-bits-doubled": (
        "multiplies by a whole number of 31 bits, takes the doubled high half, and a shift rounds ties away"
    ),
    "quotient-rounds": "quotient rounded {} to its type",
    "quotient-cut-off-to": "quotient cut off to {}",
    "operands-of-bits": "input and scale rounded to {} significant bits",
    "x-cut-off-to": "input cut off to {}",
    "x-of-bits": "input rounded to {} significant bits",
    "x-magnitude": "the sign of the real input is lost",
    "tiny-x-to-zero": "inputs below 2^-23 read as zero",
    "scale-in": "scale rounded to {}",
    "scale-of-bits": "scale rounded to {} significant bits",
    "scale-to-power-of-two": "scale rounded to a power of two",
    "scale-to-power-of-two-below": "scale cut off to a power of two",
    "scale-to-power-of-two-above": "scale raised to the next power of two",
    "scale-cut-off-to": "scale cut off to {}",
    "scale-of-digits": "scale written with {} significant digits",
    "scale-magnitude": "the sign of the scale is lost",
    "scale-raised": "a scale below 2^-23 is raised to it",
    "x-in": "input rounded to {} first",
    "x-cut-off-to-bfloat16": "input cut off to bfloat16 first",
    "x-without-sign": "takes the magnitude of x",
    "x-tiny-to-zero": "an input below 2^-23 in magnitude is taken as zero",
    "quotient-in": "quotient rounded again, to {}",
    "quotient-cut-off": "quotient cut off to its type instead of rounded",
    "in": "in {}",
    "exactly": "with an exact quotient",
    "computes-in": "computes in {}",
    "range-formula": "(x - low) / (high - low) * steps, of the range's ends",
    "range-formula-in": "(x - low) / (high - low) * steps in {}, of the range's ends",
    "factor-and-shift": "x * factor + shift, of the range's ends",
    "factor-and-shift-in": "x * factor + shift in {}, of the range's ends",
    "factor-and-shift-fused": "x * factor + shift, of the range's ends, fused",
    "factor-first": "multiplies by a factor computed first",
    "step-first": "divides by a step computed first",
    "symmetric-range": "scales to the symmetric range: highest / -lowest of the right factor",
    "symmetric-steps": "scales all steps to the symmetric range: 255/256 of the right factor for 8 bits",
    # The zero point
    "zero-point-first": "adds the zero point before rounding",
    "zero-point-first-in-own-type": "adds the zero point before rounding, in the input's type",
    "zero-point-first-in-wider-type": "adds the zero point before rounding, in a type wider than the input's",
    "zero-point-first-in": "adds the zero point before rounding, with the sum in {}",
    "zero-point-first-all-in": "divides and adds the zero point in {}, before rounding",
    "zero-point-in-input": "rounds (x + zero_point * scale) / scale, each step in the input's type",
    "reciprocal-plus-zero-point-fused": "adds the zero point to x * fl(1 / scale), fused, before rounding",
    "reciprocal-plus-zero-point": "adds the zero point to x * fl(1 / scale) before rounding",
    "ignores-zero-point": "ignores the zero point",
    "subtracts-zero-point": "subtracts the zero point",
    "adds-zero-point": "adds the zero point",
    "zero-point-twice": "uses the zero point twice",
    "zero-point-as-signed": "reads the unsigned zero point as signed",
    "zero-point-as-unsigned": "reads the signed zero point as unsigned",
    "rounds-zero-point": "rounds the zero point to an integer",
    "zero-point-moved": "{} added to the zero point",
    "zero-point-less-half-range": "half the type's range subtracted from the zero point",
    "zero-point-more-half-range": "half the type's range added to the zero point",
    "zero-point-without-top-bit": "the top bit of the zero point is lost",
    "zero-point-saturates-to-other-sign": "the zero point saturates to the type of the other signedness",
    "zero-point-cast-to": "the zero point cast to {}",
    "zero-point-magnitude": "the sign of the zero point is lost",
    "zero-point-halved": "the zero point halved, rounded down",
    "zero-point-in": "zero point rounded to {}",
    "sum-in": "sum with the zero point computed in {}",
    "sum-in-own-type": "sum with the zero point computed in the input's type",
    "sum-and-clamp-in-own-type": "sum and clamp in the input's type, cast to int32",
    "sum-and-clamp-in-float32": "sum and clamp in float32, and the cast overflows",
    "result-in": "result passes through {}",
    "result-of-digits": "result rounded to {} significant decimal digits",
    "negative-results-to-zero": "a negative result becomes zero",
    "tiny-results-to-zero": "a result below 2^-23 in magnitude becomes zero",
    "range-in": "the range rounded to {} first",
    # Rounding
    "rounds": "wrong rounding: {}",
    "ties": "wrong tie rule: {}",
    "adds-half-and-truncates": "trunc(q + 0.5)",
    "floor-of-half-more": "floor(q + 0.5) computed in the input's type",
    "half-added-to-magnitude": "0.5 added to the magnitude in the input's type",
    "ceil-of-half-less": "ceil(q - 0.5) computed in the input's type",
    "rounds-in-tail": "the tail of a vector loop of {} rounds {}",
    "rounds-in-body": "the body of a vector loop of {} rounds {}",
    "does-not-round": "does not round to a level",
    "truncates": "truncates instead of rounding",
    "rounds-level-up": "rounds the quantized value up",
    "ties-toward-zero": "ties toward zero",
    "ties-away": "ties away from zero",
    "ties-upward-always": "ties upward whatever round_mode says",
    "ties-even-always": "ties to even whatever round_mode says",
    "ties-odd": "ties to odd",
    "halves-first": "rounds to a multiple of one half, then to an integer with ties away from zero",
    "magic-number": "rounds by adding and subtracting 1.5 * 2^23 in float32, which fails from 2^22 on",
    "magic-number-bits": "rounds by adding 1.5 * 2^23 and reading the float32's bits, which fails from 2^22 on",
    "magic-number-above-zero": "rounds by adding and subtracting 2^23 in float32, which is right from 0 on only",
    "sixteenths-first": "rounds to sixteenths, then to an integer",
    "cut-to-fraction-bits": "cuts off to {} fractional bits, then rounds ties up",
    "negatives-down": "rounds negative numbers down",
    "less-than-half-added": "the float32 below 0.5 added to the magnitude, then cut off",
    # The range of the type
    "clamps-before-zero-point": "clamps before the zero point is added",
    "clamps-before-zero-point-and-wraps": "clamps before the zero point is added, then wraps",
    "casts-to-int32": "casts to int32 before clamping, which overflows",
    "casts-to-int32-and-wraps": "casts to int32 and takes its low bits",
    "casts-sum-to-int32-and-wraps": "casts the sum, made in float64, to int32 and takes its low bits",
    "casts-to-int32-then-wider-sum": "casts to int32, which overflows, before a wider sum is clamped",
    "lone-halves-of-bytes-cast-to-int32": (
        "casts elements that share no byte with another of their scale to int32 before clamping, which overflows"
    ),
    "casts-to-int64": "casts to int64 before clamping, which overflows",
    "casts-to-int64-then-wider-sum": "casts to int64, which overflows, before a wider sum is clamped",
    "saturates-to-int32": "saturates to int32, and the sum with the zero point overflows",
    "saturates-to-int16": "saturates to int16 before the zero point is added",
    "saturates-to-8-bits": "saturates to 8 bits and keeps the low ones",
    "wraps": "no clamp: wraps around",
    "wraps-above": "no clamp above: wraps around",
    "wraps-below": "no clamp below: wraps around",
    "highest-of-signed": "clamps to the highest value of the signed type",
    "beyond-to-zero": "what is out of range becomes zero",
    "beyond-to-lowest": "what is out of range becomes the lowest value",
    "narrow-range": "narrow range: the lowest value is never used",
    "narrower-by-one-bit": "saturates to one bit less",
    "sum-wraps-in": "the sum wraps around in {}, then saturates",
    "negative-to-highest": "a negative sum becomes the highest value",
    "ends-of-type-exchanged": "beyond one end of the range it becomes the other end",
    "saturates-as-unsigned": "saturates as the unsigned type, whose bits are read as signed",
    "saturates-to-int16-and-wraps": "saturates to int16, and the sum with the zero point wraps around there",
    "saturates-to-int8": "saturates to int8 before the zero point is added",
    "negative-quotient-to-zero": "a negative quotient becomes zero before the zero point is added",
    "highest-never": "the highest value is never used",
    "saturates-to-4-bits": "saturates to 4 bits and keeps 2",
    "highest-overflows": "the highest value overflows in the cast",
    # Small floating-point types
    "through-float16": "quotient rounded to float16 before float 8",
    "always-saturates": "saturates although told not to",
    "never-saturates": "does not saturate",
    "largest-is-the-end": "no number beyond the largest value, rounded or not",
    "step-beyond-largest": "480 and a little more become 448",
    "nan-below-infinity": "NaN between the largest value and infinity",
    "largest-never": "the largest value is never used",
    "below-normal-cut-off": "results below the smallest normal value cut off, others rounded",
    "nan-to-lowest": "NaN becomes the lowest value",
    "nan-to-zero": "NaN becomes zero",
    "nan-to-highest": "NaN becomes the highest value",
    "infinity-stays": "infinity does not saturate",
    "ends-at": "results end at {}",
    "cuts-off": "result cut off to the output's type instead of rounded",
    "ties-away-to-type": "a tie between two values of the output's type goes away from zero",
    "ties-up-to-type": "a tie between two values of the output's type goes to the greater one",
    "ties-toward-zero-to-type": "a tie between two values of the output's type goes toward zero",
    "away-to-type": "result rounded away from zero to a value of the output's type instead of to the nearest",
    "down-to-type": "result rounded down to a value of the output's type instead of to the nearest",
    "up-to-type": "result rounded up to a value of the output's type instead of to the nearest",
    "minus-zero-lost": "a zero result is always positive",
    "lowest-bit-lost": "the lowest bit of the output's mantissa is always zero",
    "truncates-to-bfloat16": "truncates to bfloat16",
    "sibling-float8": "float 8 bits read as the sibling type's",
    "input-as-sibling": "float 8 bits of the input alone read as the sibling type's",
    "float-bits-as-integers": "float bits read as integers",
    "signed-as-unsigned": "signed integers read as unsigned",
    "unsigned-as-signed": "unsigned integers read as signed",
    "input-as-unsigned": "reads the signed input as unsigned",
    "input-as-signed": "reads the unsigned input as signed",
    "nibbles-swapped": "exchanges the two numbers of a byte",
    "neighbours-exchanged": "exchanges neighbouring numbers in pairs",
    "first-of-pair-twice": "takes the first number of a pair twice",
    "input-saturates-to": "the input saturates to {}",
    "input-cast-to": "the input cast to {}",
    "input-less-half-range": "half the type's range subtracted from the input alone",
    "lowest-input-never": "the lowest input read as the next one",
    "input-as-sign-and-magnitude": "the input's bits read as sign and magnitude",
    "input-bytes-exchanged": "exchanges the two bytes of the input",
    "input-without-sign": "the sign of the input is lost",
    "input-subnormals-as-normal": "subnormal small floats get the leading one of normal ones",
    "input-exponent-one-less": "the exponent of small floats read as one less",
    "input-infinity-to-largest": "an infinite input read as the largest number",
    "float-bits-as-signed": "float bits read as signed integers",
    "float4-as-powers-of-two": "float 4 bits read as a sign and an exponent",
    "input-flushed": "reads subnormal small floats as zero",
    # Parameters and axes
    "wrong-axis": "wrong axis",
    "axes-swapped": "axes swapped",
    "one-for-all": "one {} for all",
    "widest-range-for-all": "the widest range for all",
    "ranges-along": "ranges along {}",
    "scale-on-another-axis": "scale on another axis",
    "blocks-in-turn": "blocks laid in turn instead of repeated",
    "next-channel": "each channel takes the next one's scale and zero point",
    "previous-channel": "each channel takes the previous one's scale and zero point",
    "channel-pairs": "channels share scale and zero point in pairs, the even one's",
    "four-lanes": "the first four channels' scales and zero points repeat",
    "last-for-all": "the last scale and zero point for all",
    "flat-runs": "the flat array dealt in equal runs among scales and zero points",
    "next-scale": "each channel takes the next one's scale",
    "next-zero-point": "each channel takes the next one's zero point",
    "scale-pairs-exchanged": "neighbouring scales exchanged in pairs",
    "zero-point-pairs-exchanged": "neighbouring zero points exchanged in pairs",
    "channels-reversed": "channels take scales and zero points in reverse order",
    "flat-modulo": "scales and zero points repeat along the flat array",
    "blocks-one-longer": "each block is one element too long",
    "blocks-even": "the axis is divided evenly into blocks, whatever the block size",
    "last-block-joined": "a short last block takes the scale of the block before",
    "blocks-start-early": "each block starts one element early",
    "blocks-start-late": "each block starts one element late",
    "blocks-one-shorter": "each block is one element too short",
    "previous-block": "each block takes the scale of the block before",
    "last-block-never": "the last block takes the scale of the block before",
    "first-block-for-all": "the first block's scale for all blocks along the axis",
    # Dequantization
    "converts-before-subtracting": "input and zero point converted before they are subtracted",
    "truncates-before-subtracting": "input and zero point truncated to the output's type",
    "difference-wraps": "the difference wraps around in the input's type",
    "difference-saturates": "the difference saturates in the input's type",
    "distributes-scale": "input * scale - zero_point * scale",
    "distributes-scale-fused": "input * scale - (zero_point * scale), the product and the difference fused",
    "difference-in": "the difference is rounded to {}",
    "product-in": "product computed in {}",
    "divides-by-reciprocal": "divides by the rounded reciprocal of the scale",
    "overflow-saturates": "a product that overflows becomes the largest value",
    "overflow-to-nan": "a product that overflows becomes NaN",
    "difference-saturates-to": "the difference saturates to {}",
    "difference-wraps-as-signed": "the difference wraps around in the signed type of the input's width",
    "difference-reversed": "subtracts the input from the zero point",
    "difference-not-below-zero": "a negative difference becomes zero",
    "product-rounds": "product rounded {}",
    "factors-of-bits": "difference and scale rounded to {} significant bits",
    "scale-in-two-parts": "multiplies by the upper 12 bits of the scale and by the rest, and adds",
    "scale-twice": "uses the scale twice",
    "divides-by-reciprocal-of-bits": "divides by an estimate of the scale's reciprocal with {} bits",
    "distributes-scale-in": "input * scale - zero_point * scale, each step in {}",
    "bias-in": "input * scale minus zero_point * scale rounded to {}",
    "table-of-sums": "a table of all values, each the one before plus the scale",
    "zero-point-after-scale": "subtracts the zero point after multiplying by the scale",
    "result-of-bits": "result rounded to {} significant bits",
    "result-saturates-in": "result passes through {}, at most its largest number",
    "negative-to-zero": "negative results become zero",
    "tiny-to-zero": "results below 2^-23 become zero",
    "ignores-scale": "ignores the scale",
    "multiplies-and-rounds-again": "multiplies in {} and rounds again",
    "range-ratio-first": "multiplies by a range ratio rounded first",
    "moves-minimum": "moves min_range to a multiple of the scale",
    "min-first-in-float32": "all of MIN_FIRST in float32",
    "narrow-for-unsigned": "narrow_range for unsigned types, too",
    "offset-of-half-less": "an offset of 127.5 for int8",
    "no-lowest": "the lowest integer is left out",
    "no-minimum": "min_range is not added",
    "floors-minimum": "rounds the scaled min_range down",
    "factor-in-bfloat16": "the factor rounded to bfloat16",
    "every-side-counts": "a side counts though its end has the wrong sign",
    "no-offset": "no offset for int8",
    "counts-values": "range(T) counts the values of T",
    "no-range-adjust": "no range_adjust",
    "max-side-alone": "max_range's side alone",
    "smaller-factor": "the smaller factor",
    "lowest-input-as-next": "the lowest input is read as the next one",
    "input-keeps-low": "only the low {} of the input are read",
    "range-exchanged": "min_range and max_range exchanged",
    "offset-of-one-less": "an offset of 127 for int8",
    "divides-before-width": "divides by range(T) before the product with the range's width",
    "reciprocal-of-integer-range": "multiplies by the rounded reciprocal of range(T)",
    "counts-from-max": "counts steps from max_range",
    "counts-one-step-less": "range(T) is one step too small",
    "by-integer-zero-point": "(input - zero point) * step with an integer zero point",
    "moves-minimum-down": "moves min_range down to a multiple of the scale",
    "one-scale-of-half-the-values": "one scale for both sides, of half of the values of T",
    "width-over-steps": "the factor of the range's whole width",
    "divides-by-estimate-of-bits": "divides by an estimate of the factor's reciprocal with {} bits",
    "multiplies-exact-input": "the integer is not rounded to float32 before the product",
    "range-in-bfloat16": "the range rounded to bfloat16 first",
    # QuantizeV2
    "one-division": "range_scale in one division",
    "one-division-float-sums": "range_scale in one division, sums and clamp in float32",
    "rounds-once": "rounds once, after the subtraction",
    "products-rounded-once-to-even": "rounds x * scale - min * scale once, ties to even",
    "rounds-once-to-even": "rounds once, after the subtraction, ties to even",
    "one-scale-for-both-sides": "one scale for both sides, from the end further from zero",
    "widens-by-magnitude": "ensure_minimum_range times the range's magnitude",
    "divides-by-step": "divides by the step instead of multiplying",
    "ignores": "ignores {}",
    "does-not-clip-and-wraps": "does not clip, and wraps around",
    "returns-given-range": "returns the range as it was given",
    "outputs-exchanged": "output_min and output_max exchanged",
    "offset-on-other-side": "takes the offset on the other side of rounding",
    "formula": "formula {}",
    "scaling": "scaling {}",
    "divides-before-steps": "divides by the range's width before the product with range(T)",
    "reciprocal-of-width": "multiplies by the rounded reciprocal of the range's width",
    "multiplies-ratio-apart": "x * ratio - min_range * ratio",
    "multiplies-ratio-fused": "x * ratio - min_range * ratio, the last two steps fused",
    "ratio-in": "a range ratio rounded to {}",
    "divides-by-max": "divides by max_range instead of the range's width",
    "adjusts-before-width": "divides the number of values by range_adjust first, then by the width",
    "range-scale-in": "range_scale rounded to {}",
    "range-scale-of-digits": "range_scale rounded to {} significant decimal digits",
    "rounds-difference": "rounds x * scale - min_range * scale once",
    "truncates-minimum": "truncates the scaled min_range",
    "ceils-minimum": "rounds the scaled min_range up",
    "minimum-to-even": "rounds the scaled min_range to even whatever round_mode says",
    "minimum-not-rounded": "does not round the scaled min_range, and truncates the difference",
    "exact-products": "products not rounded before they are rounded to integers",
    "lowest-one-more": "adds one more than the lowest integer",
    "narrow-at-both-ends": "narrow_range takes an integer from both ends",
    "mean-of-factors": "the mean of both sides' factors",
    "factor-as-reciprocal-of-step": "the factor as the rounded reciprocal of the rounded step",
    "product-cut-off": "the product cut off to its type instead of rounded",
    "returns-by-reciprocal": "returns the integers' ends times the rounded reciprocal of the factor",
    "clips-at-zero": "clips the input below at zero",
    "lowest-never": "never gives less than minus the highest integer",
    "outputs-in": "output_min and output_max rounded to {}",
    "outputs-are-integers": "returns the ends of T as the range",
    "range-at-least": "the range widened upward to at least {}",
    # FakeQuantize
    "folded": "scale and shift computed beforehand: x * s - low * s, then level * t + output_low",
    "folded-fused": "scale and shift computed beforehand, the last product and sum fused",
    "folded-in-float32": "scale and shift computed beforehand, in float32",
    "folded-wide": "scale and shift computed beforehand and rounded to the type, used in float32",
    "folded-rebuilt": "scale and shift computed beforehand, output limits rebuilt from a zero point and a scale",
    "folded-rebuilt-unfused": "scale and shift computed beforehand, limits rebuilt, in float32, last step unfused",
    "quantize-and-dequantize": "a quantize and a dequantize: (level - zero_point) * step",
    "quantize-and-dequantize-unshifted": "a quantize and a dequantize without a zero point: round(x * s) * step",
    "quantize-and-dequantize-in": "a quantize and a dequantize, in {}",
    "scale-and-zero-point-in": (
        "a float32 scale and an integer zero point: (clamp(round(x * fl(1 / scale)) + zero point) - zero point) * "
        "scale, multiplied in {}"
    ),
    "output-step-first": "multiplies by an output step computed beforehand",
    "input-scale-first": "multiplies by an input scale computed beforehand",
    "scale-and-step-first": "multiplies by an input scale and an output step computed beforehand",
    "divides-by-zero": "divides by zero where the input limits are equal",
    "clips-low-last": "clips to max(min(x, input_high), input_low)",
    "clips-high-last": "clips to min(max(x, input_low), input_high)",
    "clips-unordered": "clips without min and max of the input limits",
    "sorts-input-limits": "sorts the input limits",
    "sorts-output-limits": "sorts the output limits",
    "levels-not-steps": "levels for levels - 1",
    "one-level-fewer": "a level fewer",
    "always-256-levels": "256 levels whatever levels says",
    "power-of-two-levels": "levels rounded up to a power of two",
    "high-limit-is-above": "x equal to the greater input limit counts as above",
    "low-limit-is-inside": "x equal to the lesser input limit goes through the arithmetic",
    "does-not-clamp-above": "does not clamp above",
    "does-not-clamp-below": "does not clamp below",
    "ends-exchanged": "output limits exchanged outside the input range",
    "equal-limits-go-up": "x equal to equal input limits gives output_high",
    "takes-input-limits-for-output": "the input limits for the output's",
    "output-limits-in-bfloat16": "the output limits rounded to bfloat16 first",
    "previous-limits": "each channel takes the previous one's limits",
    "next-limits": "each channel takes the next one's limits",
    "limits-reversed": "channels take the limits in reverse order",
    "limits-in-pairs": "channels take limits in pairs, the even one's",
    "output-limits-exchanged": "output_low and output_high exchanged",
    "takes-output-limits-for-input": "the output limits for the input's",
    "both-limits-in-order": "both pairs of limits exchanged where the input's are reversed",
    "low-is-minus-high": "-input_high for input_low",
    "limits-extended-to-zero": "an input range without 0 is extended to 0",
    "input-limits-in": "the input limits rounded to {} first",
    "output-limits-in": "the output limits rounded to {} first",
    "limits-in": "all limits rounded to {} first",
    "255-levels-for-256": "255 levels where there are 256",
    "even-levels": "an odd number of levels is made even: one more",
    "power-of-two-levels-below": "levels rounded down to a power of two",
    "clamped-goes-through-above": "x clamped to the upper limit goes through the arithmetic",
    "clamped-goes-through-below": "x clamped to the lower limit goes through the arithmetic",
    "x-outside-is-result": "x itself outside the input range",
    "position-in": "the position in steps of {}",
    "output-step-in": "the output's step rounded to {}",
    "quantize-and-dequantize-whole": (
        "a quantize and a dequantize with integer zero points: (clamp(round(x / s) + z) - z') * s'"
    ),
    "limits-rebuilt": "output limits rebuilt from a zero point and a scale",
    "overflow-to-largest": "what overflows becomes the largest float32",
    "half-for-odd-bfloat16": "rounds to bfloat16 by adding half a unit to odd numbers only; even ones are cut off",
    "output-high-at-output-low": "takes output_high at output_low's place",
    "output-high-beyond-its-values": "reads output_high beyond its values for each of output_low, as 0 there",
    "limits-repeat": "limits repeat along the flat array",
    "clamped-goes-through": "x clamped to the limits goes through the arithmetic",
    "only-result-clamped": "only the result is clamped",
    "rebuilds-limits": "output limits rebuilt from a zero point and a scale of {}",
    "nudges-range": "shifts the limits so that 0 is a level",
    "moves-range-to-grid": "shifts the limits so that 0 is on the grid, even if 0 is outside of them",
    "range": "range {}",
    "position": "position {}",
    "result": "result {}",
    # FakeQuantWithMinMaxVars
    "kernel-sums": "floor(q - zero point + 0.5) with both sums rounded to float32",
    "kernel-factor-sums": "n / (max - min) as a factor, floor(q - zero point + 0.5) with both sums rounded to float32",
    "adds-min": "q * scale + min_adj, each step in float32",
    "truncates-min": "truncates min / scale",
    "adds-min-fused": "q * scale + min_adj, rounded once",
    "steps-over-range": "multiplies by steps / (max - min)",
    "divides-apart": "clamped / scale - round(min / scale)",
    "multiplies-apart": "q * scale + round(min / scale) * scale",
    "floors-min": "rounds min / scale down",
    "ceils-min": "rounds min / scale up",
    "max-stays": "max is not moved with min",
    "positive-range-stays": "a range above 0 is not moved to 0",
    "negative-range-stays": "a range below 0 is not moved to 0",
    "range-extended-to-zero": "a range without 0 is extended to 0",
    "next-range": "each channel takes the next one's range",
    "ranges-reversed": "channels take the ranges in reverse order",
    "not-on-grid": "min and max are not moved onto the grid",
    "clamps-to-given": "clamps to min and max as given",
    "does-not-clamp": "does not clamp",
    "range-stays": "a range without 0 stays where it is",
    "narrow-scale-of-all": "scale divided by 2^num_bits - 1 with narrow_range too",
    "levels-as-steps": "divides by the number of levels, not of steps",
    "range-made-symmetric": "the range widened to be symmetric about 0",
    "max-is-greater-magnitude": "the greater magnitude of both ends for max",
    "inverts": "takes {} the other way",
    "at-most": "{} at most",
    "at-least": "{} at least",
    "one-bit-more": "a bit more than num_bits",
    "scale-cut-off-to-bfloat16": "scale cut off to bfloat16",
    "range-over-steps-by-reciprocal": "scale as the range times the rounded reciprocal of the number of steps",
    "reciprocal-of-steps-over-range": "scale as the rounded reciprocal of steps / range",
    "adds-half-to-min-and-truncates": "trunc(min / scale + 0.5)",
    "min-off-by-one": "round(min / scale) one further {}",
    "min-to-other-neighbour": "min moved to the farther one of the two multiples of the scale beside it",
    "max-onto-grid": "max moved to a multiple of the scale, and min with it",
    "max-from-steps": "max_adj is (steps + round(min / scale)) * scale",
    "range-moved-as-any": "a range without 0 is moved onto the grid like any other",
    "divides-both": "clamped / scale - min_adj / scale",
    "multiplies-both": "clamped * fl(1 / scale) - min_adj * fl(1 / scale)",
    "multiplies-both-fused": "clamped * fl(1 / scale) - min_adj * fl(1 / scale), the last two steps fused",
    "divides-by-range": "(clamped - min_adj) / (max - min) * steps",
    "step-in": "levels multiplied by a step rounded to {}",
    "previous-range": "each channel takes the previous one's range",
    "ranges-in-pairs": "channels take ranges in pairs, the even one's",
    "ranges-of-first": "the ranges of the first {}, repeated",
    "ranges-repeat": "ranges repeat along the flat array",
    "ranges-in-runs": "the flat array is dealt in equal runs among the ranges",
    "next-min": "each channel takes the next one's min; max is right",
    "next-max": "each channel takes the next one's max; min is right",
    # QuantizeAndDequantize
    "side-over-integer-measured": "multiplies by the range's side / integer; does not clamp to a measured range",
    "side-over-unrounded-integer": "multiplies by the range's side / integer, the integer not rounded to the type",
    "side-over-integer": "multiplies by the range's side / integer instead of dividing",
    "one-over-factor": "multiplies by 1 / scale_factor instead of dividing",
    "clamps-before-update": "clamps to the range before it is updated",
    "clamps-given-only": "clamps only to a given range",
    "greater-factor": "the greater of the two factors",
    "one-end-alone": "{} alone determines scale_factor",
    "one-size-for-both-sides": "one size for both sides of 0",
    "one-bit-less": "a bit fewer than num_bits",
    "one-bit-less-than": "a bit fewer than num_bits for {} integers",
    "one-integer-more": "one integer more",
    "measures-although-given": "measures the range though one is given",
    "takes-although-not-given": "takes the range inputs though not given",
    "measures-all-but": "measures the range of all elements but {}",
    "measures-magnitude": "measures plus and minus the greatest magnitude as the range",
    "always-unsigned": "unsigned integers whatever signed_input says",
    "factor-in": "the factor rounded to {}",
    "factor-cut-off-to-bfloat16": "the factor cut off to bfloat16",
    "factor-of-digits": "the factor rounded to {} significant decimal digits",
    "factor-to-power-of-two-below": "the factor cut off to a power of two",
    "steps-over-width": "the factor is the number of steps over input_max - input_min",
    "clamps-symmetrically": "clamps to plus and minus the upper end",
    "step-of-digits": "levels multiplied by a step of {} significant decimal digits",
    # What no arithmetic says
    "path-dependent": "path-dependent: {}",
    "unexplained": "unexplained",
}
PLACES = {
    "per-tensor": "per tensor",
    "per-axis": "per axis",
    "negative-scales": "of negative scales",
    "positive-scales": "of positive scales",
    "tail": "in the tail of a vector loop of {}",
    "body": "in the body of a vector loop of {}",
    "odd": "at odd positions",
    "even": "at even positions",
    "first-half": "in the first half of the array",
    "second-half": "in the second half of the array",
    "last-of-4": "in the last of four lanes",
    "first": "for the first of several elements",
    "last": "for the last of several elements",
    "after": "after the first {} elements",
    "row-tail": "in the tail of a row's vector loop of {}",
    "row-body": "in the body of a row's vector loop of {}",
    "large": "in arrays of {} elements or more",
    "small": "in arrays of fewer than {} elements",
    "rank-1": "at rank 1",
    "rank-2": "at rank 2 or more",
}
FORMS = (  # in which form of the formula a mistake is made, after a parameter that says what is mistaken
    "also of a side that does not count",
    "the rest in float64",
    "inputs as they are",
    "inputs too",
    "outputs too",
    "rounded once",
    "ties upward",
    "whatever precision says",
    "x clipped first",
    "x compared in its own type",
)
PER_TENSOR = "per-tensor-"  # before a place, where it holds per tensor only


@dataclass(frozen=True)
class Cause:
    """A named mistake. `role` is the part of the formula that it breaks: a key of Operator.roles, or "mode"."""

    id: str
    role: str
    rank: int = 0  # among causes that explain equally much, the lowest rank is named
    mode: str = ""  # the rounding mode used instead, if that is the whole mistake or the one at its positions
    ties: str = ""  # the rounding mode that it agrees with at ties, if it is another one than the document's
    width: int = 0  # it depends on positions modulo this; named only if no other cause explains

    @property
    def by_position(self) -> bool:
        return self.width > 0

    @property
    def text(self) -> str:
        """The cause in words."""
        return sentence_of(self.id)


@lru_cache(maxsize=1 << 14)
def sentence_of(id: str) -> str:
    """The sentence for a cause's id. KeyError for a key that the table lacks."""
    keys, _, place = id.partition(AT)
    words = [filled(SENTENCES, key) for key in keys.split(JOINT)]
    if place.startswith(PER_TENSOR):
        words.append(PLACES["per-tensor"])
    return ", ".join([*words, filled(PLACES, place.removeprefix(PER_TENSOR))] if place else words)


def filled(table: dict[str, str], key: str) -> str:
    name, _, parameter = key.partition(":")
    sentence = table[name]
    several = sentence.count("{}") > 1
    if parameter and "{}" not in sentence:
        return f"{sentence}, {parameter}"
    return sentence.format(*(parameter.split(",") if several else [parameter]))


def environment_of(id: str) -> str:
    """The id of the fact of the environment that a cause consists of or has beside others; empty if it has none."""
    return ENVIRONMENT if any(key.startswith(ENVIRONMENT) for key in keys_of(id)) else ""


def without_environment(id: str) -> str:
    """The id without facts of the environment and without a place; empty if nothing else is left."""
    return JOINT.join(key for key in keys_of(id) if not key.startswith(ENVIRONMENT))


def keys_of(id: str) -> list[str]:
    return id.partition(AT)[0].split(JOINT)


def mistakes_of(id: str) -> list[str]:
    """The keys of an id, whatever the forms of the formula."""
    return keys_of(without_forms(id))


@lru_cache(maxsize=1 << 14)
def without_forms(id: str) -> str:
    """The id of the same mistakes, whatever the form of the formula in which they are made."""
    keys, at, place = id.partition(AT)
    return JOINT.join(map(without_form, keys.split(JOINT))) + at + place


def without_form(key: str) -> str:
    name, _, parameter = key.partition(":")
    if "{}" not in SENTENCES.get(name, "{}"):  # a key of another version is left as it is
        return name
    return next((key.removesuffix(f", {form}") for form in FORMS if parameter.endswith(f", {form}")), key)


def at_place(id: str, place: str) -> str:
    """The id of a cause that holds only at a place."""
    return f"{id}{AT}{place}" if place else id
