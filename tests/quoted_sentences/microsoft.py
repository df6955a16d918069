"""Quotes of ONNX Runtime's own operator schemas."""

from __future__ import annotations

ONE_SCALE = "It's a scalar, which means a per-tensor/layer quantization."


def of_pair(name: str, prefix: str, formula: str) -> dict[str, dict[str, dict[str, str]]]:
    """What QLinearAdd and QLinearMul say of their two operands."""
    scales = {f"input {one}_scale": {"tensor(float):": f"{prefix}-T2", ONE_SCALE: f"{prefix}-S2"} for one in "ABC"}
    return {
        f"onnxruntime com.microsoft.{name}-1": {
            "description": {
                formula: " ".join(f"{prefix}-{clause}" for clause in ("F1", "F2", "F3", "F4", "R1", "C1")),
                "(with Numpy-style broadcasting support).": f"{prefix}-S1",
            },
            "types T": {"tensor(int8), tensor(uint8)": f"{prefix}-T1"},
            "output C": {"Result, has same element type as two inputs": f"{prefix}-T1"},
            "input C_zero_point": {
                "Default value is 0 if it's not specified.": f"{prefix}-Z1",
                ONE_SCALE: f"{prefix}-S2",
            },
            **scales,
        }
    }


ADDED = "C = (A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point))/C_scale + C_zero_point"
MULTIPLIED = "C = ((A - A_zero_point) * (B - B_zero_point)) * (A_scale * B_scale)/C_scale + C_zero_point"
COLUMNS = "It could be a scalar or a 1-D tensor, which means a per-tensor or per-column quantization."
QUOTES = {
    **of_pair("QLinearAdd", "MQA", ADDED),
    **of_pair("QLinearMul", "MQM", MULTIPLIED),
    "onnxruntime com.microsoft.MatMulNBits-1": {
        "description": {
            "dequantized_weight = (quantized_weight - zero_point) * scale": "MNB-F1",
            "2. Matrix multiplication between the input matrix A and the dequantized weight matrix.": "MNB-F2",
            "It is quantized block-wise along the K dimension … 'block_size' attribute.": "MNB-P1",
            "Each block has its own scale and zero-point.": "MNB-P1",
            "For example, for 4 bits, the first 4 bits are stored … higher 4 bits of a byte.": "MNB-P2",
            "The block size must be a power of 2 and not smaller than 16": "MNB-N2",
        },
        "input bias": {
            "Bias to add to result.": "MNB-F3",
            "It should have shape [N].": "MNB-P7 MNB-S5",
            "T1:": "MNB-T1",
        },
        "input zero_points": {
            "Packed (uint8) format has shape … bit-packing method as Input B.": "MNB-P3",
            "Unpacked (same type as A) format has shape (N, k_blocks).": "MNB-P4 MNB-T2",
            "If not provided, a default zero point is used: 2^(bits - 1)": "MNB-P5 MNB-T3",
        },
        "input B": {
            "Packed uint8 tensor of shape (N, k_blocks, blob_size), … * bits / 8).": "MNB-P6 MNB-S1 MNB-T1",
        },
        "input scales": {"with shape (N, k_blocks) and same data type as input A.": "MNB-S2 MNB-T1"},
        "input g_idx": {"This input is deprecated": "MNB-T3"},
        "attribute K": {"Input feature dimension of the weight matrix.": "MNB-S3"},
        "attribute N": {"Output feature dimension of the weight matrix.": "MNB-S4"},
        "output Y": {"The output tensor has the same rank as the input.": "MNB-S4"},
        "attribute bits": {"Bit-width used to quantize the weights (supported values: 2, 4, 8)": "MNB-N1"},
        "attribute block_size": {"Must be a power of two and ≥ 16": "MNB-N2"},
        "attribute accuracy_level": {
            "The minimum accuracy level of input A, … (default unset).": "MNB-N3",
            "0 means input A will not be quantized or downcast while doing computation.": "MNB-N3",
        },
        "types T3": {"Constrain quantized zero point types to uint8 or float tensors.": "MNB-T2"},
    },
    "onnxruntime com.microsoft.QGemm-1": {
        "input A": {"The shape of A should be … transA is non-zero.": "MQG-P1", "TA: Input tensor A.": "MQG-F1"},
        "input B": {"The shape of B should be … transB is non-zero.": "MQG-P2", "TB: Input tensor B.": "MQG-F1"},
        "input a_zero_point": {"Zero point tensor for input 'A'. It is a scalar.": "MQG-F1 MQG-S1"},
        "input b_zero_point": {"Zero point tensor for input 'B'.": "MQG-F1", COLUMNS: "MQG-P3 MQG-S2"},
        "input a_scale": {"It is a scalar,which means a per-tensor quantization.": "MQG-S1"},
        "input b_scale": {COLUMNS: "MQG-P3 MQG-S2"},
        "input C": {
            "Its type is int32_t and must be quantized with zero_point = 0 … * b_scale.": "MQG-F2 MQG-F3",
            "The shape of C should be unidirectional broadcastable to (M, N).": "MQG-P4",
        },
        "attribute alpha": {"Scalar multiplier for the product of input tensors A * B.": "MQG-F3"},
        "input y_scale": {
            "The output is full precision(float32) if it is not provided. Or the output is quantized.": "MQG-F4 MQG-F6",
            "It is a scalar, which means a per-tensor quantization.": "MQG-S1",
        },
        "input y_zero_point": {
            "Zero point tensor for output 'Y'.": "MQG-F5",
            "It is a scalar, which means a per-tensor quantization.": "MQG-S1",
        },
        "types TA": {"tensor(int8), tensor(uint8)": "MQG-T1"},
        "types TB": {"tensor(int8), tensor(uint8)": "MQG-T1"},
        "types TC": {"tensor(int32)": "MQG-T1"},
        "types TY": {"tensor(float), tensor(int8), tensor(uint8)": "MQG-T1"},
    },
    "onnxruntime com.microsoft.QuantizeLinear-1": {
        "description": {
            "The quantization formula is y = saturate ((x / y_scale) + y_zero_point).": "MQG-F4 MQG-F5 MQG-C1",
            "For (x / y_scale), it's rounding to nearest ties to even.": "MQG-R1",
        },
    },
}
