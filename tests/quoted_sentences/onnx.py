"""Quotes of ONNX's operator schemas."""

from __future__ import annotations

LINEAR = {
    "onnx QuantizeLinear-10": {
        "since": {"since version 10": "ONQ-V1"},
        "types T1": {"Constrain 'x' to float or int32 tensor.": "ONQ-I1"},
    },
    "onnx QuantizeLinear-13": {"since": {"since version 13": "ONQ-V1"}},
    "onnx QuantizeLinear-19": {"since": {"since version 19": "ONQ-V1"}},
    "onnx QuantizeLinear-21": {
        "since": {"since version 21": "ONQ-V1"},
        "description": {
            "The quantization formula is `y = saturate((x / y_scale) + y_zero_point)`.": "ONQ-F1 ONQ-F2",
            "For `(x / y_scale)`, it rounds to the nearest even.": "ONQ-F2 ONQ-R1",
            "Saturation is done according to: … int4: [-8, 7]": "ONQ-C1",
            "Per-tensor (per-layer) quantization: `y_scale` is a scalar.": "ONQ-G1",
            "Per-axis quantization: … of length `Di`.": "ONQ-G2",
            "In all cases, `y_zero_point` must have the same shape as `y_scale`.": "ONQ-G3",
            "Blocked quantization: … ceil(Di/B), ..., Dn)`.": "ONQ-B1 ONQ-B2",
            "`y_zero_point` and `y` must have the same type.": "ONQ-T2",
        },
        "attribute axis": {"Negative value means … `r = rank(input)`.": "ONQ-A1"},
        "types T1": {"The type of the input 'x'. … tensor(int32)": "ONQ-T1"},
        "input y_scale": {"T1:": "ONQ-T1"},
        "input y_zero_point": {"Shape must match `y_scale`.Default … not specified.": "ONQ-T3"},
        "output y": {"It has same shape as input `x`.": "ONQ-S1"},
        "attribute output_dtype": {"(Optional) The output data type. … `output_dtype` must be `T2`.": "ONQ-O1"},
        "attribute saturate": {
            "All cases are fully described in two tables inserted in the operator description.": "ONQ-E1 ONQ-E2 ONQ-E3 "
            "ONQ-E4 ONQ-E5 ONQ-E7"
        },
    },
    "onnx QuantizeLinear-23": {
        "since": {"since version 23": "ONQ-V1"},
        "description": {"The type of `y_scale` determines … attribute is specified.": "ONQ-P1"},
        "attribute precision": {"(Optional) The precision of the division … type of `y_scale`.": "ONQ-P2"},
        "types T2": {"The type of the input 'y_scale'.": "ONQ-T1"},
    },
    "onnx QuantizeLinear-24": {"types T2": {"The type of the input 'y_scale'. … tensor(int32)": "ONQ-X1"}},
    "onnx QuantizeLinear-25": {
        "since": {"since version 25": "ONQ-V1"},
        "description": {"- uint2: [0, 3] - int2: [-2, 1]": "ONQ-C2"},
    },
    "onnx QuantizeLinear-28": {
        "since": {"since version 28": "ONQ-V1"},
        "types T3": {"tensor(float6e2m3), tensor(float6e3m2),": "ONQ-V1"},
    },
    "onnx DequantizeLinear-10": {"since": {"since version 10": "OND-V1"}},
    "onnx DequantizeLinear-13": {"since": {"since version 13": "OND-V1"}},
    "onnx DequantizeLinear-19": {"since": {"since version 19": "OND-V1"}},
    "onnx DequantizeLinear-21": {
        "since": {"since version 21": "OND-V1"},
        "description": {
            "The dequantization formula is `y = (x - x_zero_point) * x_scale`.": "OND-F1 OND-F2",
            "`x_scale` and `x_zero_point` must have the same shape, … for blocked quantization.": "OND-G1 OND-G2 "
            "OND-G3 OND-B1",
            "`x_zero_point` and `x` must have the same type.": "OND-T1",
            "`x` and `y` must have the same shape.": "OND-S1",
            "In the case of dequantizing `int32`, … supposed to be 0).": "OND-T4 OND-U4",
        },
        "attribute axis": {"Negative value means … `r = rank(input)`.": "OND-A1"},
        "attribute block_size": {"Given `x` shape … `[ceil(Di/Si), ceil(Di/(Si-1))-1]`": "OND-B2"},
        "types T2": {"'x_scale' determines the output type.": "OND-T2"},
        "input x_zero_point": {"Zero point is 0 when it's not specified.": "OND-T3"},
    },
    "onnx DequantizeLinear-23": {
        "since": {"since version 23": "OND-V1"},
        "description": {
            "The output type is determined by … precision of the multiplication operation.": "OND-O1 OND-T2",
            "`zero-point` is usually not used in the case of float8 and 4-bit types … for consistency.": "OND-E1",
        },
    },
    "onnx DequantizeLinear-24": {"types T2": {"The type of the input 'x_scale'. … tensor(float8e8m0)": "OND-X1"}},
    "onnx DequantizeLinear-25": {
        "since": {"since version 25": "OND-V1"},
        "types T1": {"tensor(int2), tensor(int32), tensor(int4),": "OND-I2", "tensor(uint2), tensor(uint4),": "OND-I2"},
    },
    "onnx DequantizeLinear-28": {
        "since": {"since version 28": "OND-V1"},
        "types T1": {"tensor(float6e2m3), tensor(float6e3m2),": "OND-V1 OND-E1"},
    },
}

TABLED = "By default the conversion of a float *x* obeys"
UNSATURATED = "The behavior changes if the parameter 'saturate' is set to False."
CAST = {
    "onnx Cast-19": {
        "since": {"since version 19": "ONC-V1"},
        "description": {
            "| Inf | FLT_MAX | NaN | FLT_MAX | NaN |": "ONC-C4 ONQ-E5",
            "| -Inf | -FLT_MAX | NaN | -FLT_MAX | NaN |": "ONC-C4 ONQ-E5",
            f"{TABLED} … | else | RNE | RNE | RNE | RNE |": "ONQ-E1",
            "| \\[x\\] > FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX |": "ONQ-E2",
            "| \\[x\\] > FLT_MAX | NaN | NaN | Inf | NaN |": "ONQ-E3",
            "| NaN | NaN | NaN | NaN | NaN |": "ONQ-E4 OND-E2",
            "| Inf | NaN | NaN | Inf | NaN |": "ONQ-E5",
            "| -0 | -0 | 0 | -0 | 0 |": "ONQ-E7",
        },
    },
    "onnx Cast-21": {"since": {"since version 21": "ONC-V1"}},
    "onnx Cast-23": {"since": {"since version 23": "ONC-V1"}},
    "onnx Cast-24": {
        "since": {"since version 24": "ONC-V1"},
        "description": {"| Inf | FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX |": "ONQ-E5"},
    },
    "onnx Cast-25": {
        "since": {"since version 25": "ONC-V1"},
        "description": {
            "* floating point: +/- infinity if OOR (out of range).": "ONC-F2",
            "* fixed point: when OOR, discard higher bits … for signed types).": "ONC-C8",
            "* fixed point: undefined if OOR.": "ONC-U1",
            f"{TABLED} … | else | RNE | RNE | RNE | RNE |": "ONC-R1",
            "| \\[x\\] > FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX |": "ONC-C1",
            f"{UNSATURATED} … | else | RNE | RNE | RNE | RNE |": "ONC-C2",
            "| Inf | FLT_MAX | FLT_MAX | FLT_MAX | FLT_MAX |": "ONC-C3",
            "| -Inf | -FLT_MAX | -FLT_MAX | -FLT_MAX | -FLT_MAX |": "ONC-C3",
            "| x | saturate + up | non-saturate + nearest | … | x < E8M0_MIN | E8M0_MIN | NaN |": "ONC-C6 ONC-C7",
            "| x < 0 | Unspecified | Unspecified |": "ONC-U4",
            "| NaN | NaN | NaN | NaN | NaN |": "ONC-F3",
            "| -0 | -0 | 0 | -0 | 0 |": "ONC-F4",
            "returns an output tensor of the same size in the converted type.": "ONC-S1",
        },
        "attribute round_mode": {
            "`up`: round to nearest value away from zero,": "ONC-R4",
            "is `up` by default.": "ONC-R4",
            "`down`: round to nearest value towards zero,": "ONC-R5",
            "`nearest`: round to nearest value and ties round up.": "ONC-R6",
            "It only applies to casting to float8e8m0": "ONC-T2",
        },
        "attribute saturate": {"It only applies for float 8 conversion … float8e8m0).": "ONC-T2"},
        "attribute to": {"The data type to which … DataType enum in TensorProto": "ONC-T1"},
    },
    "onnx Cast-28": {
        "since": {"since version 28": "ONC-V1"},
        "types T2": {"tensor(float6e2m3), tensor(float6e3m2),": "ONC-V1"},
    },
}

OF_CONVOLUTION = {
    "attribute auto_pad": {
        "SAME_UPPER or SAME_LOWER mean pad the input … at the beginning for SAME_LOWER.": "{}-G2",
        "auto_pad must be either NOTSET, SAME_UPPER, SAME_LOWER or VALID.": "{}-G3",
    },
    "attribute group": {"number of groups input channels and output channels are divided into.": "{}-G4"},
    "attribute strides": {"Stride along each spatial axis.": "{}-G5"},
    "attribute dilations": {"dilation value along each spatial axis of the filter.": "{}-G6"},
    "attribute kernel_shape": {"The shape of the convolution kernel. … input 'w'.": "{}-S3"},
    "attribute pads": {"attribute cannot be used simultaneously with auto_pad attribute.": "{}-S4"},
    "since": {"since version 10": "{}-V1"},
    "types T1": {"tensor(int8), tensor(uint8)": "{}-T1"},
    "types T2": {"tensor(int8), tensor(uint8)": "{}-T1"},
}


def of_convolution(prefix: str) -> dict[str, dict[str, str]]:
    """What both convolutions say, for the clauses of one."""
    return {
        place: {quote: clause.format(prefix) for quote, clause in quotes.items()}
        for place, quotes in OF_CONVOLUTION.items()
    }


ONE_SCALE = "It's a scalar, which means a per-tensor/layer quantization."
HAS_SIZE = "has size (N x C x H x W), … number of channels,"
MATRIX = "Matrix product that behaves like [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html)."
SUMS = {
    "onnx QLinearConv-10": {
        **of_convolution("OQC"),
        "description": {
            "The convolution operator consumes … computes the quantized output.": "OQC-F1 OQC-F2",
            "Each input or output and its related zero point must have same type.": "OQC-T1",
            "Each scale and zero-point pair must have same shape.": "OQC-S5",
        },
        "input x": {HAS_SIZE: "OQC-S1"},
        "input w": {"has size (M x C/group x kH x kW),": "OQC-S1 OQC-G4"},
        "input w_scale": {"It could be a scalar or a 1-D tensor, … output channels (M).": "OQC-G7"},
        "input x_scale": {ONE_SCALE: "OQC-S2"},
        "input y_scale": {ONE_SCALE: "OQC-S2"},
        "input B": {
            "Bias must be quantized using scale = x_scale * w_scale and zero_point = 0": "OQC-F3 OQC-F4",
            "Optional 1D bias to be added to the convolution, has size of M.": "OQC-F3 OQC-S1",
        },
        "types T4": {"tensor(int32)": "OQC-T1"},
    },
    "onnx ConvInteger-10": {
        **of_convolution("OCI"),
        "description": {
            "The integer convolution operator consumes … computes the output.": "OCI-F1",
            "The production MUST never overflow. … only if in 32 bits.": "OCI-F2 OCI-U1",
        },
        "input x": {HAS_SIZE: "OCI-S1"},
        "input w": {"has size (M x C/group x kH x kW),": "OCI-S1 OCI-G4"},
        "input w_zero_point": {
            "It could be a scalar or a 1-D tensor, … output channels (M)": "OCI-G7",
            "It's optional and default value is 0.": "OCI-T2",
        },
        "input x_zero_point": {"It's optional and default value is 0.": "OCI-T2", ONE_SCALE: "OCI-S2"},
        "types T3": {"Constrain output y data type to 32-bit integer tensor.": "OCI-T1"},
    },
    "onnx MatMulInteger-10": {
        "since": {"since version 10": "OMI-V1"},
        "description": {
            "The production MUST never overflow. … only if in 32 bits.": "OMI-F1 OMI-U1",
            MATRIX: "OMI-P1 OMI-P5 OMI-P6",
        },
        "input a_zero_point": {
            "Zero point tensor for input 'A'.": "OMI-F1",
            "Scalar refers to per tensor quantization": "OMI-P2",
            "N-D refers to per row quantization. … [D1, D2, M, 1].": "OMI-P3",
            "It's optional and default value is 0.": "OMI-P7",
        },
        "input b_zero_point": {
            "N-D refers to per col quantization. … [D1, D2, 1, N].": "OMI-P4",
            "It's optional and default value is 0.": "OMI-P7",
        },
        "types T1": {"tensor(int8), tensor(uint8)": "OMI-T1"},
        "types T2": {"tensor(int8), tensor(uint8)": "OMI-T1"},
        "types T3": {"tensor(int32)": "OMI-T1"},
    },
    "onnx QLinearMatMul-10": {
        "since": {"since version 10": "OQM-V1"},
        "description": {
            "It consumes two quantized input tensors, … computes the quantized output.": "OQM-F1",
            "The quantization formula is y = saturate((x / y_scale) + y_zero_point).": "OQM-F2 OQM-F3 OQM-C1 "
            "OQC-F5 OQC-C1",
            "For (x / y_scale), it is rounding to nearest ties to even.": "OQM-R1 OQC-R1",
            "Production must never overflow, … only if in 32 bits.": "OQM-P1 OQM-U1 OQC-F2 OQC-U3",
            MATRIX: "OQM-P2 OQM-P6 OQM-P7",
            "They must be either scalar (per tensor)": "OQM-P3",
            "M element vector [v_1, v_2, ..., v_M] for per row quantization": "OQM-P4",
            "[D1, D2, M, 1] for per row quantization": "OQM-P4",
            "K element vector of shape [v_1, v_2, ..., v_K] for per column quantization.": "OQM-P5",
            "[D1, D2, 1, K] for per column quantization.": "OQM-P5",
            "Scale and zero point must have same shape.": "OQM-S1",
        },
        "types T1": {"tensor(int8), tensor(uint8)": "OQM-T1"},
        "types T2": {"tensor(int8), tensor(uint8)": "OQM-T1"},
        "types T3": {"tensor(int8), tensor(uint8)": "OQM-T1"},
        "input a_scale": {"tensor(float):": "OQM-T2"},
    },
    "onnx QLinearMatMul-21": {
        "types TS": {"tensor(bfloat16), tensor(float), tensor(float16)": "OQM-T2"},
        **{f"input {name}": {"TS:": "OQM-T2"} for name in ("a_scale", "b_scale", "y_scale")},
    },
}

DYNAMIC = {
    "onnx DynamicQuantizeLinear-11": {
        "since": {"since version 11": "ODQ-V1"},
        "description": {
            "y_scale = (maximum(0, max(x)) - minimum(0, min(x))) / (qmax - qmin)": "ODQ-F1",
            "* data range is adjusted to include 0.": "ODQ-F2",
            "intermediate_zero_point = qmin - min(x)/y_scale": "ODQ-F3",
            "y_zero_point = cast(round(saturate(intermediate_zero_point)))": "ODQ-F3 ODQ-C2",
            "y = saturate (round (x / y_scale) + y_zero_point)": "ODQ-F4 ODQ-C1",
            "* rounding to nearest ties to even.": "ODQ-R1",
            "* for saturation, it saturates to [0, 255] if it's uint8,": "ODQ-C1 ODQ-C2",
        },
        "function": {
            "Min_Scaled = Div(X_Min_Adjusted, Scale)": "ODQ-F5",
            "y = QuantizeLinear(x, Scale, Zeropoint)": "ODQ-F5",
        },
        "types T1": {"tensor(float)": "ODQ-T1"},
        "types T2": {"tensor(uint8)": "ODQ-T1"},
        "output y_scale": {"tensor(float):": "ODQ-T1", ONE_SCALE: "ODQ-S1"},
        "output y_zero_point": {ONE_SCALE: "ODQ-S1"},
        "output y": {"Quantized output tensor": "ODQ-S1"},
    },
}
QUOTES = {**LINEAR, **CAST, **SUMS, **DYNAMIC}
