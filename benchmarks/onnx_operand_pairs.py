"""QLinearMatMul, QLinearConv, QGemm, QLinearAdd and QLinearMul on every pair of int8 operands, in each runtime.

    python benchmarks/onnx_operand_pairs.py [BACKEND …]

Sums have one term, and all zero points are 0. It counts results that are no nearest integer of the real one, after
saturation; of a tie either counts. The scales .02, .03 and .04 have the ratio 3 / 200, so that many results lie on ties
or beside them; scales at random hardly ever meet one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.adapters.registry import load_backend
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.problem import Array

INT8 = np.arange(-128, 128).astype(np.int8)
LEFT, RIGHT = (np.ascontiguousarray(side.reshape(-1)) for side in np.meshgrid(INT8, INT8, indexing="ij"))
BYTES: Mapping[str, Any] = {"quantized": "int8"}
NO_BIAS = {"zero_point": False}
# For each operator the shapes of both operands, and the words for make_node.
OPERATORS: Mapping[str, tuple[tuple[int, ...], tuple[int, ...], Mapping[str, Any]]] = {
    "onnx.QLinearMatMul": ((256, 1), (1, 256), BYTES | {"operands": ("int8", "int8")}),
    "onnx.QLinearConv": ((256, 1, 1, 1), (256, 1, 1, 1), BYTES | {"real": "int8", "scale": "int8", **NO_BIAS}),
    "com.microsoft.QGemm": ((256, 1), (1, 256), BYTES | {"real": "int8", "operands": ("int8",), "form": 1}),
    "com.microsoft.QLinearAdd": ((65536,), (65536,), BYTES),
    "com.microsoft.QLinearMul": ((65536,), (65536,), BYTES),
}
BACKENDS = ("onnxruntime", "onnx-reference", "openvino", "emx-onnx-cgen", "tract")
DRAWS = 4  # triples of scales at random
Scales = tuple[np.float32, np.float32, np.float32]


def near_rational() -> Scales:
    return np.float32(0.02), np.float32(0.03), np.float32(0.04)


def at_random() -> Iterator[Scales]:
    """Scales with 24 random bits, of about the same ratio."""
    drawn = np.random.default_rng(20).uniform(0.5, 2, (DRAWS, 3))
    for one, two, three in drawn * (0.02, 0.03, 0.04):
        yield np.float32(one), np.float32(two), np.float32(three)


def results(backend: Any, operator: str, scales: Scales) -> Array:
    """The results of all pairs, in the order of LEFT and RIGHT. Unsupported if the backend refuses them."""
    first, second, words = OPERATORS[operator]
    node = make_node(operator, **words)
    pairs = len(first) == 1
    matrices = iter((LEFT, RIGHT) if pairs else (INT8.reshape(first), INT8.reshape(second)))
    factors = iter(scales)
    inputs = []
    for tensor in node.inputs:
        if "scale" in tensor.name:
            inputs.append(np.array(next(factors)))
        else:
            inputs.append(np.zeros((), np.int8) if "zero_point" in tensor.name else next(matrices))
    return np.asarray(backend.compile(node)(*inputs)[0]).reshape(-1)


def not_nearest(operator: str, scales: Scales, found: Array) -> int:
    """How many of these results are no nearest integer of the real one."""
    one, two, out = (Fraction(float(scale)) for scale in scales)
    adds, wrong = operator.endswith("Add"), 0
    for a, b, integer in zip(LEFT.tolist(), RIGHT.tolist(), found.tolist(), strict=True):
        real = (a * one + b * two) / out if adds else a * b * one * two / out
        wrong += abs(min(max(real, Fraction(-128)), Fraction(127)) - integer) > Fraction(1, 2)
    return wrong


def row(backend: Any, operator: str) -> str:
    """The counts for scales with a short ratio and for those at random, or what the backend says."""
    try:
        near = not_nearest(operator, near_rational(), results(backend, operator, near_rational()))
        random = [not_nearest(operator, scales, results(backend, operator, scales)) for scales in at_random()]
    except Unsupported:
        return "refused | "
    return f"{near} | {', '.join(map(str, random))}"


def main(names: Sequence[str]) -> None:
    print("| operator | runtime | not nearest, scales .02, .03, .04 | not nearest, scales at random |")
    print("| --- | --- | --- | --- |")
    for name in names or BACKENDS:
        backend = load_backend(name)
        for operator in OPERATORS:
            if operator in backend.claims:
                print(f"| {operator} | {name} {backend.version[:12]} | {row(backend, operator)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
