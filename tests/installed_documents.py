"""The documents of operators that are installed with libraries, as texts by place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

# How a clause's source begins if its document is installed, and the library that has it.
SOURCES = {
    "ONNX operator schema": "onnx",
    "onnxruntime 1.32, docs/ContribOperators.md": "onnxruntime",
    "TensorFlow 2.21 API documentation": "tensorflow",
    "TensorFlow 2.21, API documentation": "tensorflow",
    "TensorFlow API documentation": "tensorflow",
    "PyTorch 2.13, docstring": "torch",
    "PyTorch 2.13, ATen/quantized/Quantizer.h": "torch",
}


def library_of(source: str) -> str:
    """The library with which the document of a source is installed; empty if there is none."""
    return next((library for start, library in SOURCES.items() if source.startswith(start)), "")


@cache
def places(document: str) -> Mapping[str, str]:
    """The texts of a document by place. Skips the test where its library is not installed."""
    library, _, name = document.partition(" ")
    module = pytest.importorskip(library)
    return dict(READERS[library](module, name))


def onnx_places(onnx: Any, name: str) -> Iterator[tuple[str, str]]:
    operator, _, version = name.rpartition("-")
    schema = onnx.defs.get_schema(operator, int(version))
    assert schema.since_version == int(version), f"there is no {name}"
    yield "since", f"since version {schema.since_version}"
    yield from places_of_schema(schema, lambda tensor: tensor.type_str)
    if schema.has_function:
        nodes = schema.function_body.node
        yield "function", "\n".join(f"{node.output[0]} = {node.op_type}({', '.join(node.input)})" for node in nodes)


def contrib_places(onnxruntime: Any, name: str) -> Iterator[tuple[str, str]]:
    """ONNX Runtime's page of its own operators is made of these schemas."""
    known = import_module("onnxruntime.capi.onnxruntime_pybind11_state").get_all_operator_schema()
    (schema,) = [one for one in known if f"{one.domain}.{one.name}-{one.since_version}" == name]
    yield from places_of_schema(schema, lambda tensor: tensor.typeStr)


def places_of_schema(schema: Any, type_of: Any) -> Iterator[tuple[str, str]]:
    yield "description", schema.doc
    for side, tensors in (("input", schema.inputs), ("output", schema.outputs)):
        yield from ((f"{side} {one.name}", f"{type_of(one)}: {one.description}") for one in tensors)
    yield from ((f"attribute {name}", one.description) for name, one in schema.attributes.items())
    yield from ((f"types {one.type_param_str}", constraint(one)) for one in schema.type_constraints)


def constraint(one: Any) -> str:
    return f"{one.description} {', '.join(sorted(one.allowed_type_strs))}"


def tensorflow_places(tensorflow: Any, name: str) -> Iterator[tuple[str, str]]:
    return sections(getattr(tensorflow.raw_ops, name).__doc__, ("Args", "Returns"))


def torch_places(torch: Any, name: str) -> Iterator[tuple[str, str]]:
    if name.endswith(".h"):
        header = Path(torch.__file__).parent / "include" / name
        return iter([("comments", header.read_text(encoding="utf-8"))])
    return sections(getattr(torch, name).__doc__, ("Arguments", "Args", "Keyword args", "Returns"))


def sections(text: str, headings: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The description, and what stands under headings with a colon; of arguments all together."""
    place, lines = "description", list[str]()
    for line in text.splitlines():
        if line.strip().rstrip(":") in headings and line.strip().endswith(":"):
            yield place, "\n".join(lines)
            place, lines = line.strip().rstrip(":"), []
        else:
            lines.append(line)
    yield place, "\n".join(lines)


READERS = {
    "onnx": onnx_places,
    "onnxruntime": contrib_places,
    "tensorflow": tensorflow_places,
    "torch": torch_places,
}
