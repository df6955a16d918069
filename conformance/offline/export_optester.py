"""Writes tests for onnxruntime in C++: a TEST with an OpTester for each case, as in onnxruntime/test/providers/cpu."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tiebreak.adapters.onnx_models import (
    CLAIMS,
    MAPS,
    MICROSOFT_CLAIMS,
    NBITS_CLAIMS,
    OnnxNode,
    check_inputs,
    onnx_node,
    places_of,
)
from tiebreak.conformance.offline.cpp_text import elements, shape_text, type_name
from tiebreak.conformance.offline.exported import CaseToExport, Files, Numbered, check_plain
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

KNOWN = frozenset((*CLAIMS, *MAPS, *MICROSOFT_CLAIMS, *NBITS_CLAIMS))
NARROW = {
    "float16": "MLFloat16",
    "bfloat16": "BFloat16",
    "float8_e4m3fn": "Float8E4M3FN",
    "float8_e4m3fnuz": "Float8E4M3FNUZ",
    "float8_e5m2": "Float8E5M2",
    "float8_e5m2fnuz": "Float8E5M2FNUZ",
}
FROM_BITS = "{type}({bits}, {type}::FromBits())"
HALVES = ("float16", "bfloat16")  # whose FromBits is a function of the bits
PAIRS = {"int4": "Int4x2", "uint4": "UInt4x2"}
FILE = """// Written by `tiebreak vectors export --format optester`.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "test/providers/provider_test_utils.h"

namespace onnxruntime {{
namespace test {{

{tests}
}}  // namespace test
}}  // namespace onnxruntime
"""


def optester_case(number: int, one: CaseToExport) -> Files:
    """No file of its own; Unsupported if no OpTester says the case."""
    test_of(number, one)
    return {}


def optester_files(cases: Sequence[Numbered]) -> Files:
    tests = "\n".join(test_of(number, one) for number, one in cases)
    return {"cases/tiebreak_test.cc": FILE.format(tests=tests).encode()}


def test_of(number: int, one: CaseToExport) -> str:
    """The text of a test: the node, inputs in the schema's places, and the outputs."""
    check_plain(one)
    if one.case.node.operator not in KNOWN:
        raise Unsupported(f"onnxruntime has no {one.case.node.operator}")
    check_inputs(one.case.node, one.case.inputs)
    written = onnx_node(one.case.node)
    body = "".join(f"  {line};\n" for line in lines_of(written, one))
    return f"// {one.case.id}\nTEST(Tiebreak{written.operator}, Case{number:06d}) {{\n{body}}}\n"


def lines_of(written: OnnxNode, one: CaseToExport) -> Iterator[str]:
    domain = ", onnxruntime::kMSDomain" if written.domain else ""
    yield f'OpTester test("{written.operator}", {written.opset if not domain else 1}{domain})'
    for name, value in written.attributes.items():
        yield attribute_line(name, value)
    given = dict(zip(written.names, one.case.inputs, strict=True))
    for name in places_of(written):
        yield tensor_line("AddInput", name, given[name]) if name else "test.AddOptionalInputEdge<float>()"
    for name, output in zip(written.outputs, one.outputs, strict=True):
        yield tensor_line("AddOutput", name, output.array("exact"))
    yield "test.Run()"


def attribute_line(name: str, value: object) -> str:
    if isinstance(value, list | tuple):
        return f'test.AddAttribute("{name}", std::vector<int64_t>{shape_text(value)})'
    if isinstance(value, int):
        return f'test.AddAttribute<int64_t>("{name}", {value})'
    if isinstance(value, float):
        return f'test.AddAttribute<float>("{name}", {value.hex()}f)'
    if isinstance(value, str) and re.fullmatch(r"\w+", value):
        return f'test.AddAttribute<std::string>("{name}", "{value}")'
    raise Unsupported(f"the attribute {name} has no form in this layout")


def tensor_line(call: str, name: str, array: Array) -> str:
    kind = array.dtype.name
    if kind in PAIRS:
        return f'test.{call}<{PAIRS[kind]}>("{name}", {shape_text(array.shape)}, {pairs(array)})'
    held = type_name(kind, NARROW)
    values = elements(array, NARROW, "{type}::FromBits({bits})" if kind in HALVES else FROM_BITS)
    return f'test.{call}<{held}>("{name}", {shape_text(array.shape)}, {values})'


def pairs(array: Array) -> str:
    """Two elements in a byte, the first one below; an odd number ends with a 0 that is not used."""
    values = [*map(int, array.reshape(-1)), *([0] * (array.size % 2))]
    both = zip(values[::2], values[1::2], strict=True)
    return f"{{{', '.join(f'{PAIRS[array.dtype.name]}({low}, {high})' for low, high in both)}}}"
