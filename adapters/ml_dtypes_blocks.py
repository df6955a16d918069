"""ml_dtypes for ocp.MXQuantize: its type of scales, and its conversions to elements of 4 and 6 bits.

ml_dtypes documents the formats of OCP's text and has no function of blocks. The power of two is exact arithmetic,
NumPy's frexp of a block's greatest magnitude: that of floor. What is asked of ml_dtypes is the scale's byte, a quotient
and the element. Its conversions to float8 do not saturate, as OCP's elements do, so those nodes are not run;
nor is NVFP4, whose scales are float8 and saturate.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.adapters.inexpressible import check_blocks
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.reproducer import dtype_source
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

MAPS = "array.astype of each quotient, to elements of 4 or 6 bits; the scale is NumPy's frexp as float8_e8m0fnu"
TYPES = ("float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn")
WAY = "floor"
BLOCK = 32
SOURCE = '''
import ml_dtypes


def in_blocks(x, to):
    """The elements of a float type and the float8_e8m0fnu scales of blocks of 32 along the last axis."""
    *outer, length = x.shape
    blocks = -(-length // 32)
    padded = np.zeros((*outer, blocks * 32), x.dtype)
    padded[..., :length] = x
    padded = padded.reshape(*outer, blocks, 32)
    largest = np.frexp(float(ml_dtypes.finfo(to).max))[1]
    exponents = np.frexp(np.abs(padded).max(axis=-1))[1] - largest
    scales = np.ldexp(np.float32(1), exponents).astype(ml_dtypes.float8_e8m0fnu)
    quotients = padded / scales.astype(x.dtype)[..., None]
    return quotients.astype(to).reshape(*outer, blocks * 32)[..., :length], scales


with np.errstate(all="ignore"):
    outputs = in_blocks(x, {to})
library = f"ml_dtypes {{ml_dtypes.__version__}}"
'''


def check(node: Node) -> None:
    """Unsupported for what ml_dtypes can't be told."""
    check_blocks(node, "ml_dtypes")
    if node.output_type not in TYPES:
        known = ", ".join(TYPES)
        raise Unsupported(f"ml_dtypes has no conversion to {node.output_type} that saturates: only to {known}")
    if node.value("scaling_mode") != WAY:
        raise Unsupported(f"NumPy's frexp finds scales in one way, which is that of {WAY}")


def compile_blocks(node: Node) -> Run:
    check(node)
    to: np.dtype[Any] = node.outputs[0].dtype

    def run(x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return in_blocks(x, to)

    return run


def in_blocks(x: Array, to: np.dtype[Any]) -> tuple[Array, Array]:
    """The elements of a float type and the float8_e8m0fnu scales of blocks along the last axis."""
    *outer, length = x.shape
    blocks = -(-length // BLOCK)
    padded = np.zeros((*outer, blocks * BLOCK), x.dtype)
    padded[..., :length] = x
    padded = padded.reshape(*outer, blocks, BLOCK)
    largest = np.frexp(float(ml_dtypes.finfo(to).max))[1]  # type: ignore[no-untyped-call]
    exponents = np.frexp(np.abs(padded).max(axis=-1))[1] - largest
    scales = np.ldexp(np.float32(1), exponents).astype(ml_dtypes.float8_e8m0fnu)
    quotients = padded / scales.astype(x.dtype)[..., None]
    return quotients.astype(to).reshape(*outer, blocks * BLOCK)[..., :length], scales


def source(node: Node) -> str:
    """Python lines that do the same; see protocol.Backend."""
    check(node)
    return SOURCE.format(to=dtype_source(node.output_type))
