"""Golden vectors of tensorflow.QuantizeAndDequantizeV3: those of V4 that round to even, with num_bits as an input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tiebreak.golden.samples import tensorflow_quantize_and_dequantize as other
from tiebreak.golden.samples.model import Sample, reals, scalar

BEYOND = (-1, 0, 63, 64, (1 << 31) - 1, -(1 << 31))


def samples(real: str, output_type: str) -> Iterator[Sample]:
    for sample in other.samples(real, output_type):
        if sample.node.get("attributes", {}).get("round_mode") != "HALF_UP":
            yield of_width(sample)
    for bits in BEYOND:
        tensors = (reals(real, [Fraction(1, 3), -2, 0.0]), scalar(real, -1), scalar(real, 1), scalar("int32", bits))
        yield Sample(f"bits-{bits}", {"real": real}, tensors, ("NoIntegers",), ("width", "num-bits"))


def of_width(sample: Sample) -> Sample:
    """The sample of V4 in V3's form, with the same number of bits and the same range."""
    attributes: dict[str, Any] = {"range_given": False, **sample.node.get("attributes", {})}
    bits = scalar("int32", attributes.pop("num_bits", 8))
    attributes.pop("round_mode", None)
    node = {**sample.node, "attributes": attributes}
    return replace(
        sample, node=node, tensors=(*sample.tensors, bits), roles=(*sample.roles, "num-bits", "num-bits-shape")
    )
