"""Writes node tests in Python, as onnx/backend/test/case/node has them: a class for each operator."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent, wrap

import numpy as np

from tiebreak.adapters.onnx_models import CLAIMS, MAPS, check_inputs, onnx_node, places_of
from tiebreak.conformance.offline.exported import CaseToExport, Files, Numbered, check_plain
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

FILE = """# Written by `tiebreak vectors export --format onnx-node`.
# Each expected result is the only one that the operator's specification allows.

from __future__ import annotations

{imports}import numpy as np

import onnx
from onnx.backend.test.case.base import Base
from onnx.backend.test.case.node import expect


class {operator}(Base):
{methods}"""
METHOD = """@staticmethod
def export_{name}() -> None:
{body}
"""
EXPECT = """node = onnx.helper.make_node(
    "{operator}",
    inputs={inputs},
    outputs={outputs},
{attributes})
expect(
    node,
    inputs=[{given}],
    outputs=[{expected}],
    name="test_{name}",
    opset_imports=[onnx.helper.make_opsetid("", {opset})],
)"""
WIDTH = 88  # of ONNX's own formatter


def onnx_node_case(number: int, one: CaseToExport) -> Files:
    """No file of its own; Unsupported if it can't be a node test."""
    method_of(number, one)
    return {}


def onnx_node_files(cases: Sequence[Numbered]) -> Files:
    """A module for each operator."""
    methods: dict[str, list[str]] = {}
    for number, one in cases:
        operator, text = method_of(number, one)
        methods.setdefault(operator, []).append(indent(text, "    "))
    return {
        f"cases/{operator.lower()}_tiebreak.py": FILE.format(
            imports="import ml_dtypes\n" * any("ml_dtypes." in text for text in own),
            operator=operator,
            methods="\n".join(own),
        ).encode()
        for operator, own in methods.items()
    }


def method_of(number: int, one: CaseToExport) -> tuple[str, str]:
    """The operator in ONNX, and the text of one test. Unsupported for what is no node of ONNX, or has two results."""
    check_plain(one)
    node = one.case.node
    if node.operator not in {**CLAIMS, **MAPS}:
        raise Unsupported(f"ONNX's node tests have no {node.operator}")
    check_inputs(node, one.case.inputs)
    written = onnx_node(node)
    name = f"{written.operator.lower()}_tiebreak_{number:06d}"
    inputs = [statement(own, array) for own, array in zip(written.names, one.case.inputs, strict=True)]
    expected = [statement(own, found.array("exact")) for own, found in zip(written.outputs, one.outputs, strict=True)]
    test = EXPECT.format(
        operator=written.operator,
        inputs=quoted(places_of(written)),
        outputs=quoted(written.outputs),
        attributes="".join(f"    {key}={value_of(value)},\n" for key, value in written.attributes.items()),
        given=", ".join(written.names),
        expected=", ".join(written.outputs),
        name=name,
        opset=written.opset,
    )
    about = [f"# {line}" for line in wrap(one.case.id, WIDTH - 10)]
    body = indent("\n".join([*about, *inputs, *expected, test]), "    ")
    return written.operator, METHOD.format(name=name, body=body)


def quoted(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def value_of(value: object) -> str:
    """An attribute's value; a type's name becomes a number, as ONNX holds it."""
    return f'"{value}"' if isinstance(value, str) else repr(list(value) if isinstance(value, tuple) else value)


def statement(name: str, array: Array) -> str:
    """`name` as an array of these elements, each written so that nothing is lost."""
    held, cast = carrier(ELEMENT_TYPES[array.dtype.name])
    numbers = [number(value) for value in array.reshape(-1).astype(held).tolist()]
    shaped = cast if array.ndim < 2 else f"{cast}.reshape({array.shape})"
    listed = ", ".join(numbers) if array.ndim == 0 else f"[{', '.join(numbers)}]"
    line = f"{name} = np.array({listed}, dtype=np.{held}){shaped}"
    if len(line) <= WIDTH - 8:
        return line
    shaped += ".reshape(())" * (array.ndim == 0)
    text = indent("\n".join(wrap(f"{', '.join(numbers)},", WIDTH - 16, break_long_words=False)), "        ")
    return f"{name} = np.array(\n    [\n{text}\n    ],\n    dtype=np.{held},\n){shaped}"


def carrier(kind: FloatType | IntegerType) -> tuple[str, str]:
    """A type of NumPy's that holds the numbers, and the conversion to the type itself."""
    if isinstance(kind, IntegerType):
        if kind.bits >= 8:
            return kind.name, ""
        return "int8" if kind.signed else "uint8", f".astype(ml_dtypes.{kind.name})"
    if kind.name in FLOAT_TYPES and kind.name != "bfloat16":
        return kind.name, ""
    return "float32", f".astype(ml_dtypes.{kind.name})"


def number(value: float) -> str:
    if isinstance(value, int) or np.isfinite(value):
        return repr(value)
    sign = "-" if np.signbit(value) else ""
    return f"{sign}np.{'nan' if np.isnan(value) else 'inf'}"
