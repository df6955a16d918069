"""Writes lists of tests for web-platform-tests (webnn/conformance_tests): quantizeLinear and dequantizeLinear.

The shape of a test is that of quantizeLinear.https.any.js there. WebNN broadcasts a scale of the input's rank, in whole
blocks; it has no axis. The expected results are exact, so the tolerance is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import indent, wrap

import numpy as np

from tiebreak.adapters.onnx_models import CLAIMS, MAPS, OnnxNode, onnx_node
from tiebreak.conformance.offline.exported import CaseToExport, Files, Numbered, check_plain
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

FUNCTIONS = {"QuantizeLinear": "quantizeLinear", "DequantizeLinear": "dequantizeLinear"}
REALS = ("float32", "float16")
QUANTIZED = ("int8", "uint8", "int4", "uint4", "int32")
UNDERSTOOD = ("axis", "block_size", "output_dtype")
FILE = """// META: title=test WebNN API {function} operation, cases by Tiebreak
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils.js
// META: timeout=long

'use strict';

// Written by `tiebreak vectors export --format wpt`. Each expected result is that of the exact quotient or product,
// rounded once, ties to even, so that no other result is right.
const get{Function}PrecisionTolerance = () => ({{metricType: 'ULP', value: 0}});

const {function}Tests = [
{tests}
];

if (navigator.ml) {{
  {function}Tests.filter(isTargetTest).forEach((test) => {{
    webnn_conformance_test(
        buildAndExecuteGraph, get{Function}PrecisionTolerance, test,
        /*cast_to_supported_type=*/true);
  }});
}} else {{
  test(() => assert_implements(navigator.ml, 'missing navigator.ml'));
}}
"""
TEST = """{{
  'name': '{function} {name}',
  'graph': {{
    'inputs': {{
{inputs}
    }},
    'operators': [{{
      'name': '{function}',
      'arguments': [
        {{'input': '{function}Input'}}, {{'scale': '{function}Scale'}},
        {{'zeroPoint': '{function}ZeroPoint'}}
      ],
      'outputs': '{function}Output'
    }}],
    'expectedOutputs': {{
{output}
    }}
  }}
}},"""
TENSOR = """'{name}': {{
  'data': [
{data}
  ],
  'descriptor': {{shape: {shape}, dataType: '{kind}'}}{constant}
}}"""


def wpt_case(number: int, one: CaseToExport) -> Files:
    """No file of its own; Unsupported if WebNN has no such operation."""
    test_of(one)
    return {}


def wpt_files(cases: Sequence[Numbered]) -> Files:
    """A list of tests for each operation."""
    tests: dict[str, list[str]] = {}
    for _, one in cases:
        function, text = test_of(one)
        tests.setdefault(function, []).append(indent(text, "  "))
    return {
        f"cases/{function}-tiebreak.https.any.js": FILE.format(
            function=function, Function=function[0].upper() + function[1:], tests="\n".join(own)
        ).encode()
        for function, own in tests.items()
    }


def test_of(one: CaseToExport) -> tuple[str, str]:
    """The operation's name, and the text of one test. Unsupported for what WebNN has no words for."""
    check_plain(one)
    node, (x, *parameters) = one.case.node, one.case.inputs
    if node.operator not in {**CLAIMS, **MAPS} or onnx_node(node).operator not in FUNCTIONS:
        raise Unsupported(f"WebNN has no {node.operator}")
    written, expected = onnx_node(node), one.outputs[0].array("exact")
    check_types(written, x, expected)
    scale, zero_point = aligned(written, x, parameters, expected)
    function = FUNCTIONS[written.operator]
    inputs = [
        tensor(f"{function}{name}", array, constant)
        for name, array, constant in (("Input", x, False), ("Scale", scale, True), ("ZeroPoint", zero_point, True))
    ]
    return function, TEST.format(
        function=function,
        name=one.case.id,
        inputs=indent(",\n".join(inputs), " " * 6),
        output=indent(tensor(f"{function}Output", expected), " " * 6),
    )


def check_types(written: OnnxNode, x: Array, expected: Array) -> None:
    if unknown := sorted(set(written.attributes) - set(UNDERSTOOD)):
        raise Unsupported(f"WebNN has no {', '.join(unknown)}")
    real, quantized = (x, expected) if written.operator == "QuantizeLinear" else (expected, x)
    if real.dtype.name not in REALS or quantized.dtype.name not in QUANTIZED:
        raise Unsupported(f"WebNN has no {written.operator} of {x.dtype.name} to {expected.dtype.name}")
    if written.inputs[1] != real.dtype.name:
        raise Unsupported(
            f"in WebNN a scale has the type of the numbers, not {written.inputs[1]} with {real.dtype.name}"
        )
    if x.size == 0:
        raise Unsupported("WebNN has no tensor without elements")


def aligned(written: OnnxNode, x: Array, parameters: Sequence[Array], expected: Array) -> list[Array]:
    """Scale and zero point in shapes of the input's rank. One that is left off is 0."""
    scale, *rest = parameters
    quantized = expected if written.operator == "QuantizeLinear" else x
    zero_point = rest[0] if rest else np.zeros(scale.shape, quantized.dtype)
    shape = aligned_shape(written, x.shape, scale)
    if math.prod(zero_point.shape) != math.prod(shape):
        raise Unsupported("in WebNN scale and zero point have the same shape")
    return [scale.reshape(shape), zero_point.reshape(shape)]


def aligned_shape(written: OnnxNode, shape: tuple[int, ...], scale: Array) -> tuple[int, ...]:
    if written.attributes.get("block_size"):
        if any(size % blocks for size, blocks in zip(shape, scale.shape, strict=True)):
            raise Unsupported("WebNN has whole blocks only")
        of_block = {size // blocks for size, blocks in zip(shape, scale.shape, strict=True) if size != blocks}
        if of_block - {written.attributes["block_size"]}:
            raise Unsupported("WebNN takes the size of a block from the shapes")
        return tuple(scale.shape)
    if scale.size == 1:
        return (1,) * len(shape)
    axis = written.attributes.get("axis", 1) % len(shape)
    return tuple(size if place == axis else 1 for place, size in enumerate(shape))


def tensor(name: str, array: Array, constant: bool | None = None) -> str:
    numbers = "\n".join(wrap(", ".join(numbers_of(array)), 100))
    return TENSOR.format(
        name=name,
        data=indent(numbers, " " * 4),
        shape=list(array.shape),
        kind=array.dtype.name,
        constant="" if constant is None else f",\n  'constant': {str(constant).lower()}",
    )


def numbers_of(array: Array) -> Iterator[str]:
    """JavaScript's numbers, which hold every float and integer of these types exactly."""
    if array.dtype.name not in REALS:
        yield from map(str, array.astype(np.int64).reshape(-1).tolist())
        return
    for value in array.astype(np.float64).reshape(-1).tolist():
        is_infinite = math.isinf(value)
        yield "NaN" if value != value else f"{'-' * (value < 0)}Infinity" if is_infinite else repr(value)
