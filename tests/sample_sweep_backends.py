"""Backends for sweeps, as a user would write them: sound, wrong in known places, and misbehaving."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak import Unsupported


class Sample:
    version = "1.0"
    operators = {"onnx.QuantizeLinear"}  # noqa: RUF012 - as in the documents

    def __init__(self, name: str, run: Callable[..., Any]) -> None:
        self.name, self.run = name, run

    def compile(self, node: Any) -> Any:
        if node.outputs[0].dtype != np.uint8:
            raise Unsupported("uint8 only")
        return lambda *inputs: (self.run(*inputs),)


def quantize(x: Any, scale: Any, zero_point: Any, rint: Any = np.rint) -> Any:
    with np.errstate(all="ignore"):
        q = rint((x / scale).astype(np.float64)) + float(zero_point)
    return np.clip(np.nan_to_num(q), 0, 255).astype(np.uint8)


def away(x: Any, scale: Any, zero_point: Any) -> Any:
    return quantize(x, scale, zero_point, lambda q: np.copysign(np.floor(np.abs(q) + 0.5), q))


def away_below_zero(x: Any, scale: Any, zero_point: Any) -> Any:
    return np.where(x < 0, away(x, scale, zero_point), quantize(x, scale, zero_point))


def reciprocal_above_zero(x: Any, scale: Any, zero_point: Any) -> Any:
    """By the reciprocal, rounded to x's type; elsewhere by the quotient."""
    with np.errstate(all="ignore"):
        product = (x * (1 / scale).astype(x.dtype)).astype(x.dtype)
    return np.where(x > 0, quantize(product, np.ones((), x.dtype), zero_point), quantize(x, scale, zero_point))


def one_pattern(x: Any, scale: Any, zero_point: Any) -> Any:
    """Wrong for 0x3c00, which is 1, in float16, and for two neighbours further on."""
    y, bits = quantize(x, scale, zero_point), x.view(np.uint16)
    y[(bits == 0x3C00) | (bits == 0xBC01) | (bits == 0xBC02)] ^= 1
    return y


def crash(x: Any, scale: Any, zero_point: Any) -> Any:
    """Ends the process for the subnormal scales of float16 from the 64th on, up to the 127th."""
    if x.dtype == np.float16 and 64 <= int(scale.view(np.uint16)) < 128:
        os.abort()
    return quantize(x, scale, zero_point)


def shape(x: Any, scale: Any, zero_point: Any) -> Any:
    return quantize(x, scale, zero_point)[:-1]


def slow(x: Any, scale: Any, zero_point: Any) -> Any:
    """Notes each call in a file and takes its time."""
    with open(os.environ["TIEBREAK_TEST_NOTES"], "a", encoding="utf-8") as file:
        file.write(f"{int(scale.view(np.uint16))}:{x.size}\n")
    time.sleep(0.02)
    return away(x, scale, zero_point)


def depends(x: Any, scale: Any, zero_point: Any) -> Any:
    """Another one from the day on which a file is there."""
    if Path(os.environ["TIEBREAK_TEST_NOTES"]).exists():
        return one_pattern(x, scale, zero_point)
    return quantize(x, scale, zero_point)


class Powers:
    """A cast to powers of two, to nearest, halfway to an even exponent field."""

    name, version = "powers", "1.0"
    operators = {"onnx.Cast"}  # noqa: RUF012 - as in the documents

    def compile(self, node: Any) -> Any:
        return lambda x: (self.cast(x, node.outputs[0].dtype),)

    def cast(self, x: Any, target: Any) -> Any:
        values = x.astype(np.float64)
        part, exponent = np.frexp(np.where(np.isfinite(values) & (values > 0), values, 1.0))
        up = (part > 0.75) | ((part == 0.75) & (exponent % 2 == 1))
        codes = np.clip(exponent + 126 + up, 0, 254)
        codes = np.where(np.isnan(values), 255, np.where(np.isposinf(values), 254, np.where(values > 0, codes, 0)))
        return codes.astype(np.uint8).view(target)


powers = Powers()
right = Sample("right", quantize)
ties_away = Sample("ties away", away)
ties_away_below_zero = Sample("ties away below zero", away_below_zero)
by_sign = Sample("by sign", reciprocal_above_zero)
wrong_once = Sample("wrong once", one_pattern)
crashes = Sample("crashes", crash)
wrong_shape = Sample("wrong shape", shape)
notes = Sample("notes", slow)
changes = Sample("changes", depends)
hostile = Sample("[red]<b>\x1b[31m", away)
