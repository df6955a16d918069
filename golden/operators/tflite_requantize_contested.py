"""What documents, kernels and a delegate say differently of requantization, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

SPEC = "LiteRT 8-bit quantization specification"
PAPER = "Jacob et al., arXiv 1712.05877"
KERNEL = "LiteRT 2.3.0, kernels/quantize.cc and internal/reference/requantize.h"
UTIL = "LiteRT 2.3.0, internal/quantization_util.cc, QuantizeMultiplier"
COMMON = "LiteRT 2.3.0, internal/common.cc, MultiplyByQuantizedMultiplier"
GEMMLOWP = "gemmlowp, fixedpoint/fixedpoint.h"
DELEGATE = "LiteRT 2.3.0 with XNNPACK, as observed"
OPTIMIZED = "LiteRT 2.3.0 without XNNPACK on x86-64, as observed"
REFERENCE = "tflite-micro of October 2026, as observed"

CONTESTED: tuple[Contest, ...] = ()


def node(**attributes: Any) -> dict[str, Any]:
    return {"real": "int8", "quantized": "int8", "attributes": attributes}
