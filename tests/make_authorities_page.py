"""Writes docs/authorities.md from audits of the installed libraries: `python tests/make_authorities_page.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tiebreak.conformance.audit.authorities import AUTHORITIES
from tiebreak.conformance.audit.authorities_job import authorities_job, documents_apart_of
from tiebreak.reports.authorities_page import Section, apart_part, authorities_page, document_line

PAGE = Path(__file__).parent.parent / "docs" / "authorities.md"
COMMAND = "python tests/make_authorities_page.py"
QUANTIZE = ("numpy-naive", "onnx-reference", "onnxruntime", "openvino", "litert", "tensorflow", "torch")
FAKE_QUANTIZE = ("openvino", "openvino-limits-as-inputs", "torch")
CASTS: tuple[tuple[str, str, dict[str, Any], tuple[str, ...]], ...] = (  # types, attributes, backends
    ("float32", "float8_e4m3fn", {}, ("onnxruntime", "onnx-reference", "openvino", "torch")),
    ("float64", "float8_e4m3fn", {}, ("onnxruntime", "onnx-reference", "openvino", "torch")),
    (
        *("float32", "float8_e4m3fn", {"saturate": False}),
        ("onnxruntime", "onnx-reference", "openvino", "ml_dtypes", "tensorflow"),
    ),
    ("float32", "float4_e2m1fn", {}, ("onnx-reference", "openvino", "ml_dtypes")),
    ("float32", "int4", {}, ("onnxruntime", "onnx-reference", "openvino", "ml_dtypes")),
    ("float32", "float8_e8m0fnu", {}, ("onnxruntime", "onnx-reference", "openvino")),
    (
        *("float32", "float8_e8m0fnu", {"saturate": False, "round_mode": "nearest"}),
        ("onnxruntime", "onnx-reference", "openvino", "ml_dtypes", "torch"),
    ),
)


def audited(
    backend: str, operator: str, output_type: str, input_type: str = "", attributes: dict[str, Any] | None = None
) -> dict[str, Any]:
    types = {"input_type": input_type, "output_type": output_type}
    asked = {"operator": operator, "attributes": attributes or {}, **types, "opset": 0}
    return authorities_job(backend, asked, time_limit=60, memory_limit=8192)


def sections() -> list[Section]:
    quantize = [audited(backend, "", "int8") for backend in QUANTIZE]
    fake = [audited(backend, "openvino.FakeQuantize", "") for backend in FAKE_QUANTIZE]
    casts = [
        [audited(backend, "onnx.Cast", target, source, attributes) for backend in backends]
        for source, target, attributes, backends in CASTS
    ]
    return [(found, documents_apart_of(found[0])) for found in (quantize, fake, *casts)]


def unaudited_parts() -> Iterator[str]:
    """The parts of the page that no audit changes: what documents say, and what tells them apart."""
    nodes = (("onnx.QuantizeLinear", "int8"), ("openvino.FakeQuantize", "float32"), ("onnx.Cast", "float8_e8m0fnu"))
    for operator, output_type in nodes:
        node = {"operator": operator, "attributes": {}, "input_type": "float32", "output_type": output_type}
        rows = [{**vars(document)} for document in AUTHORITIES[operator]]
        yield from (document_line(row) for row in rows)
        yield apart_part({**node, "documents": rows}, documents_apart_of(node))


if __name__ == "__main__":
    PAGE.write_text(authorities_page(sections(), COMMAND), encoding="utf-8")
