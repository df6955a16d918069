"""Writes tests for OpenVINO's ONNX frontend in C++: a model and an OPENVINO_TEST with a TestCase for each case.

They have the form of src/frontends/onnx/tests/onnx_import_quant.in.cpp. TestCase compares integers exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiebreak.conformance.offline.cpp_text import elements, shape_text, type_name
from tiebreak.conformance.offline.export_onnx import onnx_files
from tiebreak.conformance.offline.exported import CaseToExport, Files, Numbered, check_plain
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

NARROW = {"float16": "ov::float16", "bfloat16": "ov::bfloat16"}
FROM_BITS = "{type}::from_bits({bits})"
FILE = """// Written by `tiebreak vectors export --format openvino`.
#include <cstdint>
#include <limits>
#include <vector>

#include "common_test_utils/test_case.hpp"
#include "common_test_utils/test_control.hpp"
#include "gtest/gtest.h"
#include "onnx_utils.hpp"

using namespace ov::frontend::onnx::tests;

static std::string s_manifest = onnx_backend_manifest("${{MANIFEST}}");
static std::string s_device = backend_name_to_device("${{BACKEND_NAME}}");

{tests}"""
TEST = """// {case}
OPENVINO_TEST(${{BACKEND_NAME}}, onnx_tiebreak_{number:06d}) {{
    auto model = convert_model("tiebreak_{number:06d}.onnx");

    auto test_case = ov::test::TestCase(model, s_device);
{lines}    test_case.run();
}}
"""


def openvino_files(number: int, one: CaseToExport) -> Files:
    """cases/tiebreak_NNNNNN.onnx; Unsupported if it has no model, or a tensor that TestCase does not take."""
    test_of(number, one)
    model = next(content for path, content in onnx_files(number, one).items() if path.endswith("/model.onnx"))
    return {f"cases/tiebreak_{number:06d}.onnx": model}


def openvino_tests(cases: Sequence[Numbered]) -> Files:
    tests = "\n".join(test_of(number, one) for number, one in cases)
    return {"cases/onnx_import_tiebreak.in.cpp": FILE.format(tests=tests).encode()}


def test_of(number: int, one: CaseToExport) -> str:
    check_plain(one)
    if one.case.size == 0:
        raise Unsupported("TestCase takes no tensor without elements")
    return TEST.format(case=one.case.id, number=number, lines="".join(f"    {line};\n" for line in lines_of(one)))


def lines_of(one: CaseToExport) -> Iterator[str]:
    for array in one.case.inputs:
        yield f"test_case.add_input(std::vector<{type_name(array.dtype.name, NARROW)}>{values(array)})"
    for output in one.outputs:
        array = output.array("exact")
        kind = type_name(array.dtype.name, NARROW)
        shape = f"ov::Shape{shape_text(array.shape)}"
        yield f"test_case.add_expected_output<{kind}>({shape}, std::vector<{kind}>{values(array)})"


def values(array: Array) -> str:
    return elements(array, NARROW, FROM_BITS)
