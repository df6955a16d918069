"""TensorFlow Lite's MUL, ADD and FULLY_CONNECTED on every pair of int8 operands, in each of its kernels.

    python benchmarks/operand_pairs.py [PYTHON_WITH_TFLITE_MICRO]

No document says what the bits are, so nothing here is right or wrong. It counts pairs in which two kernels of one
library differ, pairs whose result depends on its place in the array, and pairs that are no nearest integer of the real
result. FULLY_CONNECTED has the second operand as its weight: 256 outputs, one for each. All zero points are 0.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.litert_schema import one_operator, schema_object, schema_tensor

SCALES = tuple(np.float32(scale) for scale in (0.02, 0.03, 0.04))
OPERATORS = ("MUL", "ADD", "FULLY_CONNECTED")
INT8 = np.arange(-128, 128).astype(np.int8)
LEFT, RIGHT = (np.ascontiguousarray(side.reshape(-1)) for side in np.meshgrid(INT8, INT8, indexing="ij"))
Array = np.ndarray[Any, Any]
MICRO = """
import sys
import numpy as np
from tflite_micro.python.tflite_micro import runtime
given = np.load(sys.argv[1])
interpreter = runtime.Interpreter.from_bytes(given["model"].tobytes(), arena_size=1 << 22)
found = []
for row in given["inputs"]:
    for place, array in enumerate(row):
        interpreter.set_input(array.reshape(given["shape"]), place)
    interpreter.invoke()
    found.append(interpreter.get_output(0).reshape(-1))
np.save(sys.argv[2], np.concatenate(found))
"""


def model_of(name: str, size: int) -> bytes:
    """A model of two inputs of `size` elements; of FULLY_CONNECTED one input of `size` rows, and all weights."""
    from ai_edge_litert import schema_py_generated as schema

    scales = [
        schema_object(schema.QuantizationParametersT, scale=np.array([scale]), zeroPoint=np.zeros(1, np.int64))
        for scale in SCALES
    ]
    dense = name == "FULLY_CONNECTED"
    shapes = ((size, 1), (INT8.size, 1), (size, INT8.size)) if dense else ((size,),) * 3
    x, other, y = (schema_tensor(schema, "int8", *given) for given in zip(shapes, scales, strict=True))
    operator = schema_object(schema.OperatorT)
    options = {"MUL": "MulOptions", "ADD": "AddOptions", "FULLY_CONNECTED": "FullyConnectedOptions"}[name]
    operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
    operator.builtinOptions = getattr(schema, f"{options}T")()
    if dense:
        return one_operator(schema, name, [x, y, other], operator, [INT8.reshape(-1, 1)])
    return two_inputs(schema, name, [x, other, y], operator)


def two_inputs(schema: Any, name: str, tensors: Sequence[Any], operator: Any) -> bytes:
    import flatbuffers

    number = getattr(schema.BuiltinOperator, name)
    code = schema_object(schema.OperatorCodeT, builtinCode=number, deprecatedBuiltinCode=number, version=1)
    operator.inputs, operator.outputs = [0, 1], [2]
    graph = schema_object(schema.SubGraphT, tensors=list(tensors), inputs=[0, 1], outputs=[2], operators=[operator])
    model = schema_object(schema.ModelT, version=3, operatorCodes=[code], subgraphs=[graph], buffers=[schema.BufferT()])
    builder = flatbuffers.Builder(512)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def litert(kernels: str, model: bytes, inputs: Array, shape: tuple[int, ...]) -> Array:
    """What LiteRT gives for rows of inputs: `kernels` is a member of OpResolverType."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kind = getattr(OpResolverType, kernels)
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kind, num_threads=1)
    interpreter.allocate_tensors()
    places, (output,) = interpreter.get_input_details(), interpreter.get_output_details()
    found = []
    for row in inputs:
        for place, array in zip(places, row, strict=True):
            interpreter.set_tensor(place["index"], array.reshape(shape))
        interpreter.invoke()
        found.append(interpreter.get_tensor(output["index"]).reshape(-1).copy())
    return np.concatenate(found)


def micro(python: str, model: bytes, inputs: Array, shape: tuple[int, ...]) -> Array:
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npy"
        np.savez(given, model=np.frombuffer(model, np.uint8), inputs=inputs, shape=np.array(shape))
        subprocess.run([python, "-c", MICRO, str(given), str(found)], check=True)
        return np.asarray(np.load(found))


def answers(run: Any, name: str, size: int) -> Array:
    """The results of all pairs, in arrays of `size` elements; of FULLY_CONNECTED in `size` rows of 256."""
    if name == "FULLY_CONNECTED":
        return np.asarray(run(model_of(name, size), INT8.reshape(-1, 1, size), (size, 1)))
    inputs = np.stack([LEFT, RIGHT], axis=0).reshape(2, -1, size).swapaxes(0, 1)
    return np.asarray(run(model_of(name, size), np.ascontiguousarray(inputs), (size,)))


def not_nearest(name: str, results: Array) -> int:
    """How many results are no nearest integer of the real one, after saturation; of a tie either counts."""
    one, two, out = (Fraction(float(scale)) for scale in SCALES)
    wrong = 0
    for a, b, found in zip(LEFT.tolist(), RIGHT.tolist(), results.tolist(), strict=True):
        real = (a * one + b * two) / out if name == "ADD" else a * b * one * two / out
        bounded = min(max(real, Fraction(-128)), Fraction(127))
        wrong += abs(bounded - found) > Fraction(1, 2)
    return wrong


def rows(name: str, python: str | None) -> list[tuple[str, int, int, int]]:
    """For each kernel: results unlike XNNPACK's, results that depend on the length, and results not nearest."""
    kernels: dict[str, Any] = {
        "LiteRT, XNNPACK": lambda *given: litert("AUTO", *given),
        "LiteRT, built-in": lambda *given: litert("BUILTIN_WITHOUT_DEFAULT_DELEGATES", *given),
        "LiteRT, reference": lambda *given: litert("BUILTIN_REF", *given),
    }
    if python:
        kernels["tflite-micro"] = lambda *given: micro(python, *given)
    whole = INT8.size if name == "FULLY_CONNECTED" else LEFT.size
    found = {}
    for kernel, run in kernels.items():
        found[kernel] = answers(run, name, whole), answers(run, name, 1)
    first = found["LiteRT, XNNPACK"][1]
    return [
        (kernel, int((single != first).sum()), int((single != many).sum()), not_nearest(name, single))
        for kernel, (many, single) in found.items()
    ]


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else None
    print("| operator | kernels | unlike XNNPACK | depends on the length | not nearest |")
    print("| --- | --- | --- | --- | --- |")
    for name in OPERATORS:
        for row in rows(name, python):
            print(f"| {name} | {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
