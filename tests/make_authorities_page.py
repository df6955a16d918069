"""Writes docs/authorities.md from audits of the installed libraries: `python tests/make_authorities_page.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tiebreak.conformance.audit.authorities import AUTHORITIES
from tiebreak.conformance.audit.authorities_job import authorities_job, documents_apart_of
from tiebreak.golden.errors import InvalidInput, MachineryFailed
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
# Operator, types, attributes, backends.
SCALINGS: tuple[tuple[str, str, str, dict[str, Any], tuple[str, ...]], ...] = (
    *(
        ("tosa.RESCALE", "int32", "int8", {"rounding_mode": mode}, ("tosa-reference-model", "iree"))
        for mode in ("SINGLE_ROUND", "DOUBLE_ROUND")
    ),
    ("tflite.Requantize", "int8", "int8", {}, ("litert", "litert-no-xnnpack")),
    ("tflite.Requantize", "int16", "int16", {}, ("litert", "litert-no-xnnpack")),
)
STAGES: tuple[tuple[str, str, dict[str, Any], tuple[str, ...], str], ...] = (  # at last an optional input
    ("onnx.DynamicQuantizeLinear", "", {}, ("onnxruntime", "onnx-reference", "openvino"), ""),
    ("ocp.MXQuantize", "float8_e4m3fn", {}, ("torchao",), ""),
    ("ocp.MXQuantize", "float8_e4m3fn", {"scaling_mode": "rceil"}, ("mlx", "torchao"), ""),
    ("ocp.MXQuantize", "float4_e2m1fn", {"scaling_mode": "rceil"}, ("mlx", "torchao"), ""),
    ("nvidia.NVFP4Quantize", "", {}, ("mlx", "torchao"), ""),
    ("nvidia.NVFP4Quantize", "", {}, ("mlx", "torchao"), "global_amax"),
    ("gguf.Quantize", "int8", {}, ("ggml", "gguf"), ""),
    ("gguf.Quantize", "uint4", {}, ("ggml", "gguf"), ""),
)
MISSING: list[str] = []  # backends that could not be started


def audited_all(backends: Sequence[str], *arguments: Any) -> list[dict[str, Any]]:
    """The audits of the backends that are installed."""
    found = []
    for backend in backends:
        try:
            found.append(audited(backend, *arguments))
        except (InvalidInput, MachineryFailed) as reason:
            MISSING.append(f"{backend} for {arguments[0]}")
            print(f"{MISSING[-1]}: {reason}")
    return found


def audited(
    backend: str, operator: str, output_type: str, input_type: str = "", attributes: dict[str, Any] | None = None,
    given: str = "",
) -> dict[str, Any]:  # fmt: skip
    types = {"input_type": input_type, "output_type": output_type}
    asked = {"operator": operator, "attributes": attributes or {}, **types, "opset": 0, "given": given}
    return authorities_job(backend, asked, time_limit=60, memory_limit=8192)


def sections() -> list[Section]:
    quantize, fake = audited_all(QUANTIZE, "", "int8"), audited_all(FAKE_QUANTIZE, "openvino.FakeQuantize", "")
    casts = [
        audited_all(backends, "onnx.Cast", target, source, attributes) for source, target, attributes, backends in CASTS
    ]
    scalings = [
        audited_all(backends, operator, target, source, attributes)
        for operator, source, target, attributes, backends in SCALINGS
    ]
    whole = [(found, documents_apart_of(found[0])) for found in (quantize, fake, *casts, *scalings) if found]
    return [*whole, *(section for asked in STAGES for section in staged_sections(*asked))]


def staged_sections(
    operator: str, output_type: str, attributes: dict[str, Any], backends: Sequence[str], given: str
) -> Iterator[Section]:
    """A section for each output, with the backends whose audits came that far."""
    found = audited_all(backends, operator, output_type, "", attributes, given)
    outputs = dict.fromkeys(stage["output"] for one in found for stage in one["stages"])
    for output in outputs:
        own = [stage for one in found for stage in one["stages"] if stage["output"] == output]
        yield own, own[0]["apart"]


def unaudited_parts() -> Iterator[str]:
    """The parts of the page that no audit changes: what documents say, and what tells them apart."""
    nodes = (("onnx.QuantizeLinear", "int8"), ("openvino.FakeQuantize", "float32"), ("onnx.Cast", "float8_e8m0fnu"))
    for operator, output_type in nodes:
        node = {"operator": operator, "attributes": {}, "input_type": "float32", "output_type": output_type}
        rows = [{**vars(document)} for document in AUTHORITIES[operator]]
        yield from (document_line(row) for row in rows)
        yield apart_part({**node, "documents": rows}, documents_apart_of(node))


if __name__ == "__main__":
    made = sections()
    PAGE.write_text(authorities_page(made, COMMAND, MISSING), encoding="utf-8")
