"""Quotes of TensorFlow's docstrings."""

from __future__ import annotations

Places = dict[str, dict[str, str]]

SCALAR = "Must be a scalar Tensor if quantization_axis is -1 (per-tensor quantization), … (per-axis quantization)."
IN_RANGE = "If set to -1 (default), this indicates per-tensor quantization. … range [0, input.dims())."
NARROW = "The purpose of this attribute is typically … `(Tin lowest)` otherwise."
UNIFORM: dict[str, Places] = {
    "tensorflow UniformQuantize": {
        "description": {
            "quantized_data = floor(input_data * (1.0f / scale) + 0.5f) + zero_point": "TUQ-F1 TUQ-F2 TUQ-R1",
            "Perform quantization on Tensor `input`.": "TUQ-S1",
        },
        "Args": {
            NARROW: "TUQ-C2",
            SCALAR: "TUQ-A1 TUQ-A2",
            IN_RANGE: "TUQ-A2 TUQ-A3",
            "input: A `Tensor`. Must be one of the following types: `float32`.": "TUQ-T1",
            "zero_points: A `Tensor` of type `int32`.": "TUQ-T1",
            "Tout: A `tf.DType` from: `tf.qint8, tf.quint8, tf.qint32`.": "TUQ-T2",
        },
    },
    "tensorflow UniformDequantize": {
        "description": {
            "dequantized_data = (quantized_data - zero_point) * scale.": "TUD-F1 TUD-F2",
            "Perform dequantization on the quantized Tensor `input`.": "TUD-S1",
        },
        "Args": {
            "The quantization min value that was used when input was quantized.": "TUD-F3",
            "The quantization max value that was used when input was quantized.": "TUD-F3",
            SCALAR: "TUD-A1 TUD-A2",
            IN_RANGE: "TUD-A2 TUD-A3",
            "input: A `Tensor`. Must be one of the following types: `qint8`, `quint8`, `qint32`.": "TUD-T1",
            "scales: A `Tensor` of type `float32`.": "TUD-T2",
            "Tout: A `tf.DType` from: `tf.float32`.": "TUD-T2",
        },
    },
    "tensorflow UniformRequantize": {
        "description": {
            "output_quantized_data = clip( … output_quantization_max_val)": "TUR-F1 TUR-F2 TUR-F3 TUR-F4 TUR-C1",
            "requantize it to a tensor, which is quantized using … output_quantization_max_val}.": "TUR-R1",
            "i.e. At least one among … or two must be equal.": "TUR-A5",
            "Given quantized tensor `input`, requantize it with new quantization parameters.": "TUR-S1",
        },
        "Args": {
            "The quantization min value that was used when quantizing original data that `input` represents.": "TUR-F5",
            "The quantization max value that was used when quantizing original data that `input` represents.": "TUR-F5",
            NARROW: "TUR-C2",
            f"used as scale(s) when quantizing original data that `input` represents. {SCALAR}": "TUR-A1 TUR-A3",
            f"use as new scale(s) to quantize original data that `input` represents. {SCALAR}": "TUR-A2 TUR-A4",
            IN_RANGE: "TUR-A3 TUR-A6",
            "input: A `Tensor`. Must be one of the following types: `qint8`, `qint32`.": "TUR-T1",
            "Tout: A `tf.DType` from: `tf.qint8, tf.qint32`.": "TUR-T1",
            "input_scales: A `Tensor` of type `float32`.": "TUR-T2",
            "input_zero_points: A `Tensor` of type `int32`.": "TUR-T2",
        },
        "Returns": {"A `Tensor` of type `Tout`.": "TUR-S1"},
    },
}

ONE_SLICE = "An optional `axis` attribute can specify … slice of the tensor along that dimension."
BY_AXIS = "If the `axis` attribute is specified, this must be a 1-D tensor whose size matches the `axis` dimension"
RANGE_OF_TYPE = "here `range(T) = numeric_limits<T>::max() - numeric_limits<T>::min()`"
SUBTRACTED = "quantized = round(input * range_scale) - round(range_min * range_scale) + numeric_limits<T>::min()"
SIDES = "const float scale_factor_from_min_side = … max_range : max_float;"
FORMULAS_OF_QUANTIZE = {
    "out[i] = (in[i] - min_range) * range(T) / (max_range - min_range)": "TFQ-C1",
    "if T == qint8: out[i] -= (range(T) + 1) / 2.0": "TFQ-C3",
    "num_discrete_values = 1 << (# of bits in T) … range_scale = num_discrete_values / range": "TFQ-M1",
    SUBTRACTED: "TFQ-M2 TFQ-M3",
    "quantized = max(quantized, numeric_limits<T>::min()) … numeric_limits<T>::max())": "TFQ-M4",
    "const float scale_factor = … scale_factor_from_max_side);": "TFQ-S1",
    SIDES: "TFQ-S1 TFQ-S2",
    "min_range = min_T / scale_factor; max_range = max_T / scale_factor;": "TFQ-S3 TFQ-O1",
    "result = round(min(max_range, max(min_range, input)) * scale_factor)": "TFQ-S4",
}
TO_RANGES: dict[str, Places] = {
    "tensorflow QuantizeV2": {
        "description": {
            **FORMULAS_OF_QUANTIZE,
            RANGE_OF_TYPE: "TFQ-C2",
            "will additionally subtract each value by 128 prior to casting,": "TFQ-C3",
            "If true, we do not use the minimum quantized value.": "TFQ-N1",
            "(Only applies to SCALED mode)": "TFQ-N2",
            "The adjusted `min_range` and `max_range` are returned as outputs 2 and 3 of this operation.": "TFQ-O1",
            ONE_SLICE: "TFQ-A1 TFQ-O2",
            "if `axis`=None, per-tensor quantization is performed as normal.": "TFQ-A3",
            "Ensures the minimum quantization range is at least this value.": "TFQ-E1",
            "Quantize the 'input' tensor of type float to 'output' tensor of type 'T'.": "TFQ-G1",
        },
        "Args": {
            'round_mode: An optional `string` from: … Defaults to `"HALF_AWAY_FROM_ZERO"`.': "TFQ-R1 TFQ-R2",
            "`round_mode='HALF_TO_EVEN'` only supported for mode 'SCALED'.": "TFQ-R3",
            BY_AXIS: "TFQ-A2",
            "input: A `Tensor` of type `float32`.": "TFQ-T1",
            "min_range: A `Tensor` of type `float32`.": "TFQ-T1",
            "T: A `tf.DType` from: `tf.qint8, tf.quint8, tf.qint32, tf.qint16, tf.quint16`.": "TFQ-T2",
        },
    },
    "tensorflow Dequantize": {
        "description": {
            "out[i] = min_range + (in[i]* (max_range - min_range) / range(T))": "TFD-C1",
            RANGE_OF_TYPE: "TFD-C2",
            "if T == qint8: in[i] += (range(T) + 1)/ 2.0": "TFD-C3",
            "num_discrete_values = 1 << (# of bits in T) … range_scale = range / num_discrete_values": "TFD-M1",
            "result = range_min + ((input - numeric_limits<T>::min()) * range_scale)": "TFD-M2",
            "const double offset_input = static_cast<double>(input) - lowest_quantized;": "TFD-M3",
            "dequantization is performed by multiplying … maps to 0.0).": "TFD-S1",
            "(std::numeric_limits<T>::min() == 0) ? (max_range / max_expected_T) … max_expected_T);": "TFD-S2 TFD-S3",
            "const int min_expected_T = std::numeric_limits<T>::min() + (narrow_range ? 1 : 0);": "TFD-N1",
            "[min_range, max_range] are scalar floats that specify the range for the output.": "TFD-A2",
            "Dequantize the 'input' tensor into a float or bfloat16 Tensor.": "TFD-G1",
        },
        "Args": {
            "axis: An optional `int`. Defaults to `-1`.": "TFD-A1",
            "Must be one of the following types: `qint8`, `quint8`, `qint32`, `qint16`, `quint16`.": "TFD-T1",
            "dtype: An optional `tf.DType` from: `tf.bfloat16, tf.float32`. Defaults to `tf.float32`.": "TFD-T2",
            "If 'dtype' is 'bfloat16', it only supports 'MIN_COMBINED' mode.": "TFD-T3",
            "min_range: A `Tensor` of type `float32`.": "TFD-T4",
        },
    },
}


def of_fake_quant(name: str, prefix: str, own: dict[str, str]) -> dict[str, Places]:
    """What both fake quantizers say, for the clauses of one."""
    said = {
        "`[min; max]` define the clamping range for the `inputs` data.": "F1",
        "`inputs` values are quantized into … `[0; 2^num_bits - 1]` when `narrow_range` is false": "F2",
        "and `[1; 2^num_bits - 1]` when it is true)": "F3",
        "and then de-quantized and output as floats in `[min; max]` interval.": "F4",
        "If `0 < min < max`: `min_adj = 0` and `max_adj = max - min`.": "A1",
        "If `min < max < 0`: `min_adj = min - max` and `max_adj = 0`.": "A2",
        "If `min <= 0 <= max`: `scale = (max - min) / (2^num_bits - 1) `,": "A3",
        "`min_adj = scale * round(min / scale)`": "A4",
        "and `max_adj = max + min_adj - min`.": "A5",
        "`num_bits` is the bitwidth of the quantization; between 2 and 16, inclusive.": "N1",
        "to `outputs` tensor of same shape as `inputs`.": "S1",
    }
    of_args = {
        "inputs: A `Tensor` of type `float32`. … max: A `Tensor` of type `float32`.": "T1",
        "num_bits: An optional `int`. Defaults to `8`.": "N1",
    }
    return {
        f"tensorflow {name}": {
            "description": {quote: f"{prefix}-{clause}" for quote, clause in said.items()} | own,
            "Args": {quote: f"{prefix}-{clause}" for quote, clause in of_args.items()},
            "Returns": {"A `Tensor` of type `float32`.": f"{prefix}-T1"},
        }
    }


def of_each(*clauses: str) -> str:
    """Clauses of QuantizeAndDequantizeV2, and the same ones of V3 and V4, which refer to it."""
    return " ".join(f"{prefix}-{clause}" for prefix in ("TQB", "TQC", "TQD") for clause in clauses)


EXTREMES = "If range_given == False, the initial input_min, input_max … values of input_min, input_max are used."
SEPARATE = "If specified, this axis is treated as a channel or slice axis, … along this axis."
FOUR_TYPES = "Must be one of the following types: `bfloat16`, `half`, `float32`, `float64`."
BACK_AND_FORTH: dict[str, Places] = {
    "tensorflow QuantizeAndDequantizeV2": {
        "description": {
            "[-128, 127] for signed, num_bits = 8,": of_each("Q1"),
            "[0, 255] for unsigned, num_bits = 8.": of_each("Q2"),
            "This op determines the maximum scale_factor … quantized range.": of_each("S1"),
            "It determines the scale from one of input_min and input_max, … representable range.": of_each("S2"),
            "if the output is unsigned, input_min is forced to be 0, … input_max is used.": of_each("S3"),
            "output = round(clamp(value, input_min, input_max) * scale_factor) / scale_factor.": of_each(
                "F1", "F2", "F3"
            ),
            EXTREMES: of_each("R1", "R2"),
            "it applies the following to each value in the 'input' tensor.": of_each("H1"),
        },
        "Args": {
            "If True, then the absolute value … instead of -128.": of_each("Q3"),
            "HALF_TO_EVEN: this is the default round_mode.": of_each("M1"),
            "HALF_UP: round towards positive. … rounds up to -7.": "TQB-M2",
            SEPARATE: of_each("X1"),
            "axis: An optional `int`. Defaults to `-1`.": of_each("X2"),
            FOUR_TYPES: "TQB-T1",
        },
    },
    "tensorflow QuantizeAndDequantizeV3": {
        "description": {
            "This is almost identical to QuantizeAndDequantizeV2, … change during training.": "TQC-E1 TQC-N1",
        },
        "Args": {FOUR_TYPES: "TQC-T1", "num_bits: A `Tensor` of type `int32`.": "TQC-N1"},
    },
    "tensorflow QuantizeAndDequantizeV4": {
        "description": {
            "This is almost identical to QuantizeAndDequantizeV2, … or 0 otherwise.": "TQD-E1",
        },
        "Args": {FOUR_TYPES: "TQD-T1", "HALF_UP: round towards positive. … rounds up to -7.": "TQD-M2"},
    },
}
QUOTES = {
    **UNIFORM,
    **TO_RANGES,
    **BACK_AND_FORTH,
    **of_fake_quant("FakeQuantWithMinMaxVars", "TFF", {"via global float scalars `min` and `max`": "TFF-G1"}),
    **of_fake_quant(
        "FakeQuantWithMinMaxVarsPerChannel",
        "TFC",
        {
            "via per-channel floats `min` and `max` of shape `[d]`": "TFC-G1",
            "one of the shapes: `[d]`, `[b, d]` `[b, h, w, d]`": "TFC-G2",
        },
    ),
}
