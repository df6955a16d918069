"""What the functions of an operator's outputs make together: a function of its own inputs, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.conformance.semantics.block_quantize import block_stages
from tiebreak.conformance.semantics.dynamic_quantize import dynamic_stages
from tiebreak.conformance.semantics.gguf_dequantize import gguf_dequantize_stages
from tiebreak.conformance.semantics.small_block_quantize import small_block_stages
from tiebreak.conformance.semantics.stages import Stages
from tiebreak.golden.nodes import Node


@dataclass(frozen=True)
class Composed:
    """A function of an operator's `inputs`, by target; it calls those of the outputs, which stand before it.

    In them DTYPE stands for the first input's type, in C ELEMENT for it and OUTPUT for the first output's.
    """

    function: str
    inputs: tuple[str, ...]
    texts: Mapping[str, str]


QUANTIZE_IN_NUMPY = '''\
def quantize(x):
    """y, y_scale and y_zero_point of an array of finite numbers."""
    x = np.asarray(x, np.float32)
    low, high = x.min(), x.max()
    scale = y_scale(low, high)
    zero_point = y_zero_point(low, high, scale)
    width = np.maximum(high, np.float32(0)) - np.minimum(low, np.float32(0))
    return y(x, scale, zero_point, width), scale, zero_point
'''
QUANTIZE_IN_TORCH = '''\
def quantize(x):
    """y, y_scale and y_zero_point of a tensor of finite numbers."""
    x = torch.as_tensor(x, dtype=torch.float32)
    low, high = x.min(), x.max()
    scale = y_scale(low, high)
    zero_point = y_zero_point(low, high, scale)
    width = torch.clamp(high, min=0) - torch.clamp(low, max=0)
    return y(x, scale, zero_point, width), scale, zero_point
'''
QUANTIZE_IN_C = """\
/* y, y_scale and y_zero_point of n finite numbers, one or more. */
void quantize(const float *x, size_t n, uint8_t *quantized, float *scale, uint8_t *zero_point) {
  float low = x[0], high = x[0], width;
  size_t i;
  for (i = 1; i < n; i++) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  *scale = y_scale(low, high);
  *zero_point = y_zero_point(low, high, *scale);
  width = (high > 0.0f ? high : 0.0f) - (low < 0.0f ? low : 0.0f);
  for (i = 0; i < n; i++) quantized[i] = y(x[i], *scale, *zero_point, width);
}
"""
DEQUANTIZE_IN_NUMPY = '''\
def dequantize(x, scale):
    """Rows of blocks of 32 elements, each with a scale."""
    return y(x, np.repeat(np.asarray(scale, np.float16), 32, axis=-1))
'''
DEQUANTIZE_IN_TORCH = '''\
def dequantize(x, scale):
    """Rows of blocks of 32 elements, each with a scale."""
    return y(x, torch.as_tensor(scale, dtype=torch.float16).repeat_interleave(32, dim=-1))
'''
DEQUANTIZE_IN_C = """\
/* n blocks of 32 elements, each with a scale. */
void dequantize(const ELEMENT *x, const float *scale, size_t n, float *numbers) {
  size_t i;
  for (i = 0; i < 32 * n; i++) numbers[i] = y(x[i], scale[i / 32]);
}
"""
BLOCKS_IN_NUMPY = '''\
def quantize(x):
    """Elements and scales of finite numbers, in blocks of 32 along the last axis."""
    x = np.asarray(x, DTYPE)
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    scale = scales(np.abs(blocks).max(-1))
    with np.errstate(all="ignore"):
        quotient = blocks / scale[..., np.newaxis].astype(DTYPE)
    return elements(quotient).reshape(x.shape), scale
'''
BLOCKS_IN_TORCH = '''\
def quantize(x):
    """Elements and scales of finite numbers, in blocks of 32 along the last axis."""
    x = torch.as_tensor(x, dtype=DTYPE)
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    scale = scales(blocks.abs().amax(-1))
    quotient = blocks / scale.unsqueeze(-1).to(DTYPE)
    return elements(quotient).reshape(x.shape), scale
'''
BLOCKS_IN_C = """\
/* n blocks of 32 finite numbers, each with a scale. */
void quantize(const float *x, size_t n, OUTPUT *quantized, float *scale) {
  size_t i, j;
  for (i = 0; i < n; i++) {
    float amax = 0.0f;
    for (j = 32 * i; j < 32 * (i + 1); j++) amax = fabs(x[j]) > amax ? fabs(x[j]) : amax;
    scale[i] = scales(amax);
    for (j = 32 * i; j < 32 * (i + 1); j++) quantized[j] = elements(x[j] / scale[i]);
  }
}
"""
SMALL_IN_NUMPY = '''\
def quantize(x):
    """Elements and scales of finite numbers, in blocks of 16 along the last axis."""
    x = np.asarray(x, DTYPE)
    blocks = x.reshape(*x.shape[:-1], -1, 16)
    scale = scales(np.abs(blocks).max(-1).astype(np.float32) / np.float32(6))
    return elements(blocks, scale[..., np.newaxis]).reshape(x.shape), scale
'''
SMALL_OF_TENSOR_IN_NUMPY = '''\
def quantize(x, global_amax):
    """Elements and scales of finite numbers, in blocks of 16 along the last axis."""
    x = np.asarray(x, DTYPE)
    blocks = x.reshape(*x.shape[:-1], -1, 16)
    scale = scales(np.abs(blocks).max(-1), global_amax)
    return elements(blocks, scale[..., np.newaxis], global_amax).reshape(x.shape), scale
'''
SMALL_IN_C = """\
/* n blocks of 16 finite numbers, each with a scale. */
void quantize(const float *x, size_t n,OF_TENSOR float *quantized, float *scale) {
  size_t i, j;
  for (i = 0; i < n; i++) {
    float amax = 0.0f;
    for (j = 16 * i; j < 16 * (i + 1); j++) amax = fabs(x[j]) > amax ? fabs(x[j]) : amax;
    scale[i] = scales(MAGNITUDE);
    for (j = 16 * i; j < 16 * (i + 1); j++) quantized[j] = elements(x[j], scale[i]AND_TENSOR);
  }
}
"""


def small_in_c(of_tensor: str, magnitude: str, and_tensor: str) -> str:
    found = SMALL_IN_C.replace("OF_TENSOR", of_tensor).replace("AND_TENSOR", and_tensor)
    return found.replace("MAGNITUDE", magnitude)


SMALL_BLOCKS = Composed("quantize", ("x",), {"numpy": SMALL_IN_NUMPY, "c": small_in_c("", "amax / 6.0f", "")})
SMALL_BLOCKS_OF_TENSOR = Composed(
    "quantize",
    ("x", "global_amax"),
    {
        "numpy": SMALL_OF_TENSOR_IN_NUMPY,
        "c": small_in_c(" float global_amax,", "amax, global_amax", ", global_amax"),
    },
)
OF_STAGES: Mapping[Stages, Composed] = {
    dynamic_stages: Composed(
        "quantize", ("x",), {"numpy": QUANTIZE_IN_NUMPY, "torch": QUANTIZE_IN_TORCH, "c": QUANTIZE_IN_C}
    ),
    block_stages: Composed("quantize", ("x",), {"numpy": BLOCKS_IN_NUMPY, "torch": BLOCKS_IN_TORCH, "c": BLOCKS_IN_C}),
    gguf_dequantize_stages: Composed(
        "dequantize",
        ("x", "scale"),
        {"numpy": DEQUANTIZE_IN_NUMPY, "torch": DEQUANTIZE_IN_TORCH, "c": DEQUANTIZE_IN_C},
    ),
    small_block_stages: SMALL_BLOCKS,
}
OF_TWO_INPUTS: Mapping[Stages, Composed] = {small_block_stages: SMALL_BLOCKS_OF_TENSOR}  # of an optional second one


def composed_of(stages: Stages, node: Node) -> Composed | None:
    """None for an operator whose stages have no emulators."""
    has_second = len(node.inputs) > 1 and stages in OF_TWO_INPUTS
    return (OF_TWO_INPUTS if has_second else OF_STAGES).get(stages)
