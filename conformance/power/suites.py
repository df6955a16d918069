"""The suites of tests that cases can be written for, and what each lets pass: how its runner compares results.

A suite's layout is one of `tiebreak vectors export`. Its `near` says which results its runner takes for the expected
one; where a runner compares bits or values exactly there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.problem import Array

Near = Callable[[str, Array, Array], Array]  # element type, expected and given values (float64): which are near


@dataclass(frozen=True)
class Suite:
    """`layout` writes its files; `rule` says in words how its runner compares, with the source."""

    layout: str
    rule: str
    near: Near | None = None


def near_in_onnx(kind: str, expected: Array, got: Array) -> Array:
    """numpy.testing.assert_allclose, with onnx's usual rtol and atol; twice bfloat16's ulp for that type."""
    return np.isclose(got, expected, rtol=2**-6 if kind == "bfloat16" else 1e-3, atol=1e-7, equal_nan=True)


def near_in_wpt(kind: str, expected: Array, got: Array) -> Array:
    """At most one apart: a unit in the last place, which is 1 for integers."""
    element = ELEMENT_TYPES[kind]
    if not isinstance(element, FloatType):
        return np.asarray(np.abs(got - expected) <= 1)
    exponent = np.maximum(np.frexp(np.where(np.isfinite(expected), expected, 1))[1] - 1, element.emin)
    ulp = np.ldexp(1.0, exponent - element.precision + 1)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(got - expected) <= ulp) | (got == expected) | (np.isnan(got) & np.isnan(expected)))


IN_OPTESTER = {"float64": (1e-5, 1e-5), "float32": (1e-5, 1e-4), "float16": (0.0025, 0.001), "bfloat16": (0.02, 0.01)}


def near_in_optester(kind: str, expected: Array, got: Array) -> Array:
    """The default tolerances of onnxruntime's tests, absolute and relative; other types compare exactly."""
    absolute, relative = IN_OPTESTER.get(kind, (0, 0))
    return np.isclose(got, expected, rtol=relative, atol=absolute, equal_nan=True)


IN_IREE = {"float64": 1e-4, "float32": 1e-4, "float16": 1e-3, "bfloat16": 1e-2}


def near_in_iree(kind: str, expected: Array, got: Array) -> Array:
    """iree-run-module's defaults: a relative tolerance, and an absolute one of each type; other types exactly."""
    if kind not in IN_IREE:
        return np.isclose(got, expected, rtol=0, atol=0, equal_nan=True)
    return np.isclose(got, expected, rtol=1e-5, atol=IN_IREE[kind], equal_nan=True)


def near_in_openvino(kind: str, expected: Array, got: Array) -> Array:
    """At most 4 units in the last place of a float32 apart, or of a float64 for all wider and narrower types."""
    word, size = ("float32", "uint32") if kind == "float32" else ("float64", "uint64")
    first, second = (ordinals(values.astype(word).view(size)) for values in (expected, got))
    close = np.where(first > second, first - second, second - first) <= 4
    finite = np.isfinite(expected) & np.isfinite(got)
    return np.asarray(np.where(finite, close, np.isclose(got, expected, rtol=0, atol=0, equal_nan=True)))


def ordinals(bits: Array) -> Array:
    """The places of floating-point numbers in their order, from their bits; both zeros have one."""
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    return np.where(bits & sign, -bits, bits | sign)


ONNX_RULE = "assert_allclose with rtol 1e-3 and atol 1e-7 (onnx/backend/test/runner/__init__.py)"
SUITES: Mapping[str, Suite] = {
    "exact": Suite("npz", "both right results, by bits"),
    "onnx": Suite("onnx", ONNX_RULE, near_in_onnx),
    "onnx-node": Suite("onnx-node", ONNX_RULE, near_in_onnx),
    "wpt": Suite("wpt", "a tolerance of 0 ULP, which the written lists set; WPT's own have 1"),
    "optester": Suite(
        "optester",
        "integers exactly, floats with default tolerances (onnxruntime/test/providers/checkers.cc)",
        near_in_optester,
    ),
    "openvino": Suite(
        "openvino",
        "integers exactly, floats within 4 units in the last place (common_test_utils/all_close_f.hpp)",
        near_in_openvino,
    ),
    "stablehlo": Suite("stablehlo", "check.expect_eq_const, exactly"),
    "iree": Suite(
        "iree",
        "integers exactly, floats with iree-run-module's default tolerances (iree-run-module --help, 3.13.0)",
        near_in_iree,
    ),
    "tflite": Suite("tflite", "arrays in an archive, exactly: no runner is known"),
    "tosa": Suite("tosa", "expected_result_file, exactly for integers (tosa-tools, checker/tosa_result_checker.py)"),
}
