"""Quotes of PyTorch's docstrings, and of the comments of a header that it installs."""

from __future__ import annotations

Places = dict[str, dict[str, str]]

THREE_TYPES = "Has to be one of the quantized dtypes: ``torch.quint8``, ``torch.qint8``, ``torch.qint32``"
MAPPED = "zero_point (int or Tensor): offset in integer value that maps to float zero"
AFFINE = "Y = clamp(round(X / scale + zero_point), min, max)"
LIMITED = "min( \\text{quant\\_max}, max( \\text{quant\\_min}, … ) ) -"
ROUNDED = "\\text{std::nearby\\_int}(\\text{input} / \\text{scale})"
ADDED = f"{ROUNDED} + \\text{{zero\\_point}}"
BACK = ") - \\text{zero\\_point} ) \\times \\text{scale}"


def of_fake(prefix: str) -> dict[str, str]:
    """The formula of both fake quantizers, for the clauses of one."""
    return {
        ROUNDED: f"{prefix}-F1 {prefix}-R1",
        ADDED: f"{prefix}-F2",
        LIMITED: f"{prefix}-C1",
        BACK: f"{prefix}-F3 {prefix}-F4",
    }


ENDS = "quant_min (int64): lower bound of the quantized domain quant_max (int64): upper bound of the quantized domain"
QUOTES: dict[str, Places] = {
    "torch ATen/quantized/Quantizer.h": {
        "comments": {
            AFFINE: " ".join(f"{prefix}-{one}" for prefix in ("PQC", "PQT") for one in ("F1", "F2", "R1", "C1")),
            "except that it expects both scale and zero point to be floating point values.": "PQC-T4",
        },
    },
    "torch quantize_per_tensor": {
        "description": {
            "Converts a float tensor to a quantized tensor with given scale and zero point.": "PQT-S1",
        },
        "Arguments": {
            "input (Tensor): float tensor or list of tensors to quantize": "PQT-T1",
            "scale (float or Tensor): scale to apply in quantization formula": "PQT-S2",
            MAPPED: "PQT-T3 PQT-S2 PQC-T3",
            THREE_TYPES: "PQT-T2",
        },
    },
    "torch quantize_per_channel": {
        "description": {
            "Converts a float tensor to a per-channel quantized tensor with given scales and zero points.": "PQC-S1",
        },
        "Arguments": {
            "input (Tensor): float tensor to quantize": "PQC-T1",
            "scales (Tensor): float 1D tensor of scales to use, … ``input.size(axis)``": "PQC-S2 PQC-A1",
            "zero_points (int): integer 1D tensor of offset to use, size should match ``input.size(axis)``": "PQC-S2 "
            "PQC-T3",
            "axis (int): dimension on which apply per-channel quantization": "PQC-A1",
            THREE_TYPES: "PQC-T2",
        },
    },
    "torch fake_quantize_per_tensor_affine": {
        "description": {
            **of_fake("PFT"),
            "Returns a new tensor with the data in :attr:`input` fake quantized": "PFT-S1",
        },
        "Args": {
            "input (Tensor): the input value(s), ``torch.float32`` tensor": "PFT-T1",
            "scale (double scalar or ``float32`` Tensor): quantization scale": "PFT-T1 PFT-S2",
            "zero_point (int64 scalar or ``int32`` Tensor): quantization zero_point": "PFT-T3 PFT-S2",
            ENDS: "PFT-T2",
        },
        "Returns": {"Tensor: A newly fake_quantized ``torch.float32`` tensor": "PFT-T1"},
    },
    "torch fake_quantize_per_channel_affine": {
        "description": {
            **of_fake("PFC"),
            "Returns a new tensor with the data in :attr:`input` fake quantized per channel": "PFC-S1",
            "across the channel specified by :attr:`axis`.": "PFC-A1",
        },
        "Args": {
            "input (Tensor): the input value(s), in ``torch.float32``": "PFC-T1",
            "scale (Tensor): quantization scale, per channel in ``torch.float32``": "PFC-T1 PFC-S2 PFC-A1",
            "zero_point (Tensor): quantization zero_point, per channel in ``torch.int32``": "PFC-T3 PFC-S2",
            "``torch.int32`` or ``torch.half`` or ``torch.float32``": "PFC-T4",
            ENDS: "PFC-T2",
        },
        "Returns": {"Tensor: A newly fake_quantized per channel ``torch.float32`` tensor": "PFC-T1"},
    },
}
