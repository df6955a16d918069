"""Writes docs/audit.md's tables of facets and the pages of docs/semantics/: `python tests/make_facet_tables.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from auditing import documented_run
from make_witnesses import givens

from tiebreak.conformance.audit.matrix import matrix_data
from tiebreak.conformance.audit.operators import STAGED, arithmetic_of, audited_node
from tiebreak.conformance.semantics.model import Arithmetic
from tiebreak.conformance.semantics.stages import Stage
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_ranges import RANGE_MODES
from tiebreak.reports.matrix import matrix_markdown

DOCS = Path(__file__).parent.parent / "docs"
MARK = "<!-- facets: written by tests/make_facet_tables.py -->\n"
PAGES: dict[str, tuple[tuple[str, str, dict[str, Any]], ...]] = {  # types of input and output, attributes
    "onnx.QuantizeLinear": (("", "int8", {}),),
    "openvino.FakeQuantize": (("", "", {}),),
    "tensorflow.QuantizeV2": (("", "uint8", {}),),
    "tosa.RESCALE": (("int32", "int8", {}),),
    "tflite.Requantize": (("int8", "int8", {"rounding": "double"}),),
    "onnx.QLinearMatMul": (("float32", "int8", {}),),
    "onnx.MatMulInteger": (("uint8", "int32", {}),),
    "com.microsoft.MatMulNBits": (("float32", "", {}), ("bfloat16", "", {})),
    "tensorflow.QuantizeAndDequantizeV4": (("float32", "", {}),),
    "com.microsoft.QLinearAdd": (("float32", "int8", {}),),
    "tensorflow.UniformRequantize": (("int8", "int8", {}),),
    "onnx.Cast": (
        ("float32", "float8_e4m3fn", {}),
        ("float32", "float8_e5m2", {"saturate": False}),
        ("float32", "float8_e8m0fnu", {}),
        ("float64", "int4", {}),
        ("int8", "float8_e4m3fn", {}),
    ),
}
ALSO = {  # operators with the same tables
    "tensorflow.QuantizeAndDequantizeV4": ", V2 and V3",
    "onnx.QuantizeLinear": ", `ngraph.Quantize`, `tensorflow.UniformQuantize` and `stablehlo.uniform_quantize`",
    "onnx.MatMulInteger": " and `onnx.ConvInteger`",
    "onnx.QLinearMatMul": ", `onnx.QLinearConv`, `com.microsoft.QGemm` and `com.microsoft.QLinearMul`",
}
# Casts whose tables of facets have together every value, by the sort of type that they lead to.
CASTS = {
    "a float 8, float 6 or float 4, or from one to a wider float": (
        *(("float64", "float8_e4m3fn", {}), ("float32", "float8_e5m2", {}), ("float8_e4m3fn", "float32", {})),
        *(("float8_e8m0fnu", "float16", {}), ("float32", "float8_e4m3fnuz", {}), ("float32", "float4_e2m1fn", {})),
        *(("float32", "float6_e2m3fn", {}), ("float32", "float6_e3m2fn", {})),
    ),
    "a float 8, float 6, float 4 or wider float, from an integer": (
        *(("uint8", "float8_e4m3fnuz", {}), ("int16", "float8_e4m3fn", {}), ("int8", "float4_e2m1fn", {})),
        ("uint16", "float8_e5m2", {}),
        ("int4", "float16", {}),
    ),
    "`float8_e8m0fnu`": (
        *(("float64", "float8_e8m0fnu", {}), ("float32", "float8_e8m0fnu", {}), ("uint32", "float8_e8m0fnu", {})),
    ),
    "an integer, from an integer": (
        *(("int8", "int4", {}), ("int4", "uint8", {}), ("uint8", "int2", {}), ("int16", "uint4", {})),
    ),
    "an integer": (("float64", "int4", {}), ("float8_e5m2", "uint8", {}), ("float8_e8m0fnu", "int32", {})),
}


def node_of(operator: str, source: str, target: str, attributes: dict[str, Any]) -> Node:
    return audited_node(operator, attributes, source, target, 0)


RANGED = {  # operators whose modes have a table each, and integers of nodes that have together every value
    "tensorflow.QuantizeV2": ("int8", "uint8"),
    "tensorflow.Dequantize": ("int8", "uint8", "int32"),
}
STAGE_PAGES = ("onnx.DynamicQuantizeLinear", "ocp.MXQuantize")  # whose first output has a matrix
STAGES = (
    *STAGE_PAGES,
    "nvidia.NVFP4Quantize",
    "gguf.Quantize",
    "gguf.Dequantize",
)  # operators whose outputs have a table each
STAGE_TYPES = {"gguf.Quantize": ("int8", "uint4"), "gguf.Dequantize": ("int8", "uint4")}  # integers whose tables differ


def stages_of(operator: str, given: str = "", target: str = "") -> Iterator[Stage]:
    """The stages of a backend that does what the document says."""
    node = audited_node(operator, {}, "", target, 0, given)
    return STAGED[operator].stages(node, documented_run(node))


def tables() -> str:
    parts = []
    for operator, asked in PAGES.items():
        also = ALSO.get(operator, "")
        if operator not in (*RANGED, "onnx.Cast"):
            parts += table(f"`{operator}`{also}", [node_of(operator, *asked[0])])
    for operator, mode in product(RANGED, RANGE_MODES):
        asked = [{"mode": mode, "narrow_range": narrow} for narrow in (False, True)]
        ranged = [node_of(operator, "", kind, one) for kind in RANGED[operator] for one in asked]
        parts += table(f"`{operator}`, {mode}", ranged)
    for operator in STAGES:
        for given in givens(operator):
            named = f"`{operator}`" + (f" with `{given}`" if given else "")
            kinds = [stages_of(operator, given, target) for target in STAGE_TYPES.get(operator, ("",))]
            for stages in zip(*kinds, strict=True):
                parts += table_of(f"{named}, output `{stages[0].output}`", [stage.arithmetic for stage in stages])
    for words, casts in CASTS.items():
        parts += table(f"`onnx.Cast` to {words}", [node_of("onnx.Cast", *cast) for cast in casts])
    return "\n".join(parts) + "\n"


def table(of: str, nodes: Sequence[Node]) -> Iterator[str]:
    return table_of(of, [arithmetic_of(node) for node in nodes])


def table_of(of: str, tables: Sequence[Arithmetic]) -> Iterator[str]:
    """The facets that some tables have, each with all of its values."""
    facets: dict[str, dict[str, str]] = {}
    for arithmetic in tables:
        for facet in (*arithmetic.facets, *arithmetic.specials):
            facets.setdefault(facet.name, {}).update(facet.sentences)
    yield f"\n## Facets of {of}\n\n| facet | value | meaning |\n| --- | --- | --- |"
    for name, sentences in facets.items():
        for number, (value, sentence) in enumerate(sentences.items()):
            yield f"| {'' if number else f'`{name}`'} | `{value}` | {sentence} |"


def audit_page() -> str:
    before, mark, _ = (DOCS / "audit.md").read_text(encoding="utf-8").partition(MARK)
    return before + mark + tables()


def stages_page(operator: str) -> str:
    """The matrix of the output that needs no other one."""
    first = next(stages_of(operator))
    return matrix_markdown(matrix_data(first.arithmetic))


def matrix_page(operator: str) -> str:
    """Each node's matrix; those of several nodes below one title."""
    parts = [matrix_markdown(matrix_data(arithmetic_of(node_of(operator, *asked)))) for asked in PAGES[operator]]
    if len(parts) == 1:
        return parts[0]
    return "\n".join([f"# What tells semantics of {operator} apart\n", *(f"#{part}" for part in parts)])


if __name__ == "__main__":
    (DOCS / "audit.md").write_text(audit_page(), encoding="utf-8")
    (DOCS / "semantics").mkdir(exist_ok=True)
    for operator in PAGES:
        (DOCS / "semantics" / f"{operator}.md").write_text(matrix_page(operator), encoding="utf-8")
    for operator in STAGE_PAGES:
        (DOCS / "semantics" / f"{operator}.md").write_text(stages_page(operator), encoding="utf-8")
