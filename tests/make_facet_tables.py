"""Writes docs/audit.md's tables of facets and the pages of docs/semantics/: `python tests/make_facet_tables.py`."""

from __future__ import annotations

from pathlib import Path

from tiebreak.conformance.audit.matrix import matrix_data
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.reports.matrix import matrix_markdown

DOCS = Path(__file__).parent.parent / "docs"
MARK = "<!-- facets: written by tests/make_facet_tables.py -->\n"
PAGES = {"onnx.QuantizeLinear": ("int8", {}), "openvino.FakeQuantize": ("", {}), "tensorflow.QuantizeV2": ("uint8", {})}


def tables() -> str:
    parts = []
    for operator, (kind, attributes) in PAGES.items():
        arithmetic = arithmetic_of(audited_node(operator, attributes, "", kind, 0))
        also = " and `ngraph.Quantize`" if operator == "onnx.QuantizeLinear" else ""
        parts.append(f"\n## Facets of `{operator}`{also}\n\n| facet | value | meaning |\n| --- | --- | --- |")
        for facet in (*arithmetic.facets, *arithmetic.specials):
            name = f"`{facet.name}`"
            for value in facet.values:
                parts.append(f"| {name} | `{value.id}` | {value.sentence} |")
                name = ""
    return "\n".join(parts) + "\n"


def audit_page() -> str:
    before, mark, _ = (DOCS / "audit.md").read_text(encoding="utf-8").partition(MARK)
    return before + mark + tables()


def matrix_page(operator: str) -> str:
    kind, attributes = PAGES[operator]
    return matrix_markdown(matrix_data(arithmetic_of(audited_node(operator, attributes, "", kind, 0))))


if __name__ == "__main__":
    (DOCS / "audit.md").write_text(audit_page(), encoding="utf-8")
    (DOCS / "semantics").mkdir(exist_ok=True)
    for operator in PAGES:
        (DOCS / "semantics" / f"{operator}.md").write_text(matrix_page(operator), encoding="utf-8")
