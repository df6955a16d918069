"""The documents of operators, as texts by place: those installed with libraries, and those in a folder.

The environment variable TIEBREAK_DOCUMENTS names the folder. Each text file in it is the document whose words it has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FOLDER = "TIEBREAK_DOCUMENTS"

# How a clause's source begins if its document is installed with a library.
SOURCES = (
    "ONNX operator schema",
    "onnxruntime 1.32, docs/ContribOperators.md",
    "TensorFlow 2.21 API documentation",
    "TensorFlow 2.21, API documentation",
    "TensorFlow API documentation",
    "PyTorch 2.13, docstring",
    "PyTorch 2.13, ATen/quantized/Quantizer.h",
)

# The same for documents that no library installs, and words that no other document has.
TEXTS = {
    "nGraph documentation, ops/quantize.rst": "rounded as specified by ``round_mode`` plus ``zero_point``.",
    "nGraph documentation, older ops/quantize.rst": "rounded as specified by ``round_mode`` plus ``offset``.",
    "nGraph documentation, ops/dequantize.rst": "minus ``zero_point`` quantity multiplied by ``scale``.",
    "OpenVINO documentation, FakeQuantize-1": "Versioned name : FakeQuantize-1",
    "TensorFlow for Java documentation, Quantize": "Cuantice el tensor de 'entrada' de tipo flotante",
}


def is_read(source: str) -> bool:
    """Whether the document of a source is one of those that are read here."""
    return source.startswith((*SOURCES, *TEXTS))


@cache
def places(document: str) -> Mapping[str, str]:
    """The texts of a document by place. Skips the test where its library is not installed, or the folder lacks it."""
    if document in TEXTS:
        return {"text": text_of(document)}
    library, _, name = document.partition(" ")
    module = pytest.importorskip(library)
    return dict(READERS[library](module, name))


def text_of(document: str) -> str:
    """The text in the folder that has a document's words, whatever its line breaks."""
    folder = os.environ.get(FOLDER) or pytest.skip(f"{FOLDER} is not set")
    for file in sorted(Path(folder).glob("*.txt")):
        text = file.read_text(encoding="utf-8")
        if TEXTS[document] in " ".join(text.split()):
            return text
    pytest.skip(f"{FOLDER} has no {document}")


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
