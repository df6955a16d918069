"""MatMulInteger and ConvInteger on every pair of operands of 8 bits, in each runtime.

    python benchmarks/integer_operand_pairs.py [BACKEND …]

Sums have one term. It counts the pairs whose product is not (a - a_zero_point) * (b - b_zero_point), without zero
points and with those in the middle of an unsigned range, or at 5 in a signed one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

SHAPES = {
    "onnx.MatMulInteger": ((256, 1), (1, 256)),
    "onnx.ConvInteger": ((256, 1, 1, 1), (256, 1, 1, 1)),
}
POINTS = {"uint8": 128, "int8": 5}
BACKENDS = ("onnxruntime", "onnx-reference", "openvino", "emx-onnx-cgen", "tract", "tvm", "iree", "tinygrad")


def every(name: str) -> Array:
    kind = INTEGER_TYPES[name]
    return np.arange(kind.lowest, kind.highest + 1).astype(name)


def wrong(backend: IsolatedBackend, operator: str, types: tuple[str, str], points: tuple[int, int]) -> str:
    """How many products are not those of the integers, or what the backend makes of the case instead."""
    first, second = (every(name) for name in types)
    weight: dict[str, Any] = {"scale": types[1]} if operator == "onnx.ConvInteger" else {"operands": types[1:]}
    node = make_node(operator, real=types[0], quantized="int32", **weight)
    inputs = (first.reshape(SHAPES[operator][0]), second.reshape(SHAPES[operator][1]))
    zero_points = tuple(np.array(point, name) for point, name in zip(points, types, strict=True))
    outcome = backend.run(Case("every pair", node, (*inputs, *zero_points)))
    if outcome.status != "ok":
        return outcome.status
    exact = np.multiply.outer(first.astype(np.int64) - points[0], second.astype(np.int64) - points[1])
    return str(np.count_nonzero(np.asarray(outcome.outputs[0]).reshape(256, 256) != exact))


def cell(backend: IsolatedBackend, operator: str, types: tuple[str, str]) -> str:
    """The counts without and with zero points; one text if both are alike."""
    both = (wrong(backend, operator, types, points) for points in ((0, 0), (POINTS[types[0]], POINTS[types[1]])))
    return ", ".join(dict.fromkeys(both))


def main(names: Sequence[str]) -> None:
    kinds = ("uint8", "int8")
    pairs = [(a, b) for a in kinds for b in kinds]
    print(f"| operator | runtime | {' | '.join(f'{a} * {b}' for a, b in pairs)} |")
    print("| --- | --- |" + " --- |" * len(pairs))
    for name in names or BACKENDS:
        backend = IsolatedBackend(name, time_limit=60)
        backend.start()
        for operator in SHAPES:
            if operator in (backend.operators or ()):
                cells = (cell(backend, operator, types) for types in pairs)
                print(f"| {operator} | {name} {backend.version[:12]} | {' | '.join(cells)} |", flush=True)
        backend.close()


if __name__ == "__main__":
    main(sys.argv[1:])
