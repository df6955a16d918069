"""The separation matrix: witnesses, pages, and the stored vectors that come of it."""

from __future__ import annotations

import json
from pathlib import Path

import make_facet_tables
import make_witnesses
import pytest
from click.testing import CliRunner, Result

from tiebreak.cli import main
from tiebreak.conformance.audit.matrix import separations
from tiebreak.conformance.audit.operators import STAGED, arithmetic_of, audited_node
from tiebreak.conformance.audit.stored import stored_probes, witnesses_key
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.vector_inputs.by_witness import witnesses
from tiebreak.golden.vectorfile import VECTORS, read_cases

CASTS = ("float32-float8_e4m3fn-saturate-false", "float64-int2", "bfloat16-float8_e8m0fnu-round_mode-down")


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


def code_of(array: Array) -> int:
    """Of a scalar, or of the first element."""
    return int(codes_of(array).reshape(-1)[0])


@pytest.mark.parametrize(
    ("operator", "kind"),
    [
        ("onnx.QuantizeLinear", "int8"),
        ("openvino.FakeQuantize", ""),
        ("onnx.QLinearMatMul", "int8"),
        ("onnx.Cast", "float8_e4m3fn"),
        ("onnx.Cast", "int4"),
        ("onnx.Cast", "float8_e8m0fnu"),
    ],
)
def test_the_separation_matrix_has_a_witness_or_a_reason_for_every_pair(operator: str, kind: str) -> None:
    node = audited_node(operator, {}, "", kind, 0)
    arithmetic = arithmetic_of(node)
    semantics, pairs, compared = separations(arithmetic)
    assert len(pairs) == len(semantics) * (len(semantics) - 1) // 2 and compared > 10_000
    told = [pair for pair in pairs if pair.witness is not None]
    assert len(told) >= 0.97 * len(pairs)
    assert all(pair.equal for pair in pairs if pair.witness is None)
    for pair in told:
        assert pair.witness is not None
        both = [next(iter(arithmetic.predict(pair.witness, [semantics[i]])))[0] for i in (pair.first, pair.second)]
        assert tuple(both) == pair.gives and both[0] != both[1]


@pytest.mark.slow
def test_the_matrix_is_written_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert cli("--matrix", "--operator", "onnx.QuantizeLinear", "--page", str(page)).exit_code == 0
    text = page.read_text()
    assert "equal on this domain: every finite float32" in text and "| 0, 2 |" in text
    data = json.loads(cli("--matrix", "--operator", "onnx.QuantizeLinear", "--json").stdout)
    assert len(data["pairs"]) > 400 and len(data["semantics"]) > 25
    assert "precision: exact" in cli("--matrix", "--operator", "onnx.QuantizeLinear").stdout
    refused = cli("numpy-naive", "--matrix", "--operator", "onnx.QuantizeLinear")
    assert refused.exit_code == 2 and "takes no backend" in refused.stderr
    assert cli("--operator", "onnx.QuantizeLinear").exit_code == 2


@pytest.mark.slow
def test_the_pages_are_what_the_tables_make() -> None:
    """After a change: python tests/make_facet_tables.py."""
    docs = make_facet_tables.DOCS
    if not docs.is_dir():
        pytest.skip("a source distribution has no docs")
    assert (docs / "audit.md").read_text(encoding="utf-8") == make_facet_tables.audit_page()
    for operator in make_facet_tables.PAGES:
        page = docs / "semantics" / f"{operator}.md"
        assert page.read_text(encoding="utf-8") == make_facet_tables.matrix_page(operator)
    for operator in make_facet_tables.STAGE_PAGES:
        page = docs / "semantics" / f"{operator}.md"
        assert page.read_text(encoding="utf-8") == make_facet_tables.stages_page(operator)


@pytest.mark.slow
def test_the_stored_witnesses_are_the_matrixs() -> None:
    """After a change: python tests/make_witnesses.py, then tiebreak vectors build golden/vectors."""
    stored, nodes = witnesses(), list(make_witnesses.nodes())
    assert {(node.operator, witnesses_key(node)) for node in nodes} == {
        (o, k) for o, kinds in stored.items() for k in kinds if o not in STAGED
    }
    assert all(all(kinds.values()) for kinds in stored.values())
    for chosen in ("float32-int8", "bfloat16-uint16", "float32-16", "uint8-SCALED-HALF_TO_EVEN", *CASTS):
        (node,) = (one for one in nodes if witnesses_key(one) == chosen)
        assert stored[node.operator][chosen] == make_witnesses.rows(node)
        probes = [
            (*(int(codes_of(a).reshape(-1)[0]) for a in p.others), codes_of(p.x).tolist()) for p in stored_probes(node)
        ]
        assert [list(row) for row in probes] == stored[node.operator][chosen]


@pytest.mark.parametrize(
    ("operator", "types", "kind"),
    [
        ("ngraph.Quantize", "float32-int8", "float32-int8"),
        ("openvino.FakeQuantize", "float32-float32", "float32-256"),
        ("tensorflow.QuantizeV2", "float32-uint8", "uint8-MIN_FIRST-HALF_AWAY_FROM_ZERO"),
        ("onnx.Cast", "float32-float8_e5m2", "float32-float8_e5m2-saturate-false"),
        ("onnx.QLinearMatMul", "float32-int8", "uint8-int8"),
        ("onnx.QLinearConv", "uint8-int8", "uint8-int8"),
        ("onnx.Cast", "float64-uint4", "float64-uint4"),
    ],
)
def test_the_witnesses_are_golden_vectors(operator: str, types: str, kind: str) -> None:
    stored = set[tuple[int, ...]]()
    for case in read_cases(VECTORS / f"{operator}-{types}.json"):
        if "separating" in case.id:
            x, *others = case.inputs
            stored |= {(*map(code_of, others), int(code)) for code in codes_of(x).reshape(-1)}
    wanted = {(*others, code) for *others, x in witnesses()[operator][kind] for code in x}
    assert len(wanted) > 10 and wanted <= stored
