"""How the house is built: no module needs itself, however long the way round; operators are named in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators import OPERATORS

CONFORMANCE = Path(__file__).parent.parent / "conformance"
MODULES = [path for path in sorted(CONFORMANCE.rglob("*.py")) if path.parent != CONFORMANCE / "operators"]
DISCOVERED = ("tiebreak.golden.operators", "tiebreak.conformance.operators")  # which import what they find
SOURCES = sorted({source_of(name) for name in OPERATORS})
NAMED = re.compile(rf"\b({'|'.join(SOURCES)})\.([A-Z]|$)")


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules each of which can be reached from each other one; a module alone is none."""
    left = {name: set(wanted) for name, wanted in arrows.items()}
    changed = True
    while changed:  # who needs nobody, or is needed by nobody, is in no circle
        needed = set().union(*left.values()) if left else set()
        out = [name for name, wanted in left.items() if not wanted or name not in needed]
        changed = bool(out)
        for name in out:
            del left[name]
        for wanted in left.values():
            wanted.difference_update(out)
    return [sorted(left)] if left else []


def test_no_module_needs_itself() -> None:
    """But for a package that imports compiled modules of its own, which grimp takes for itself."""
    graph = grimp.build_graph("tiebreak", exclude_type_checking_imports=False, cache_dir=None)
    arrows = {name: set(graph.find_modules_directly_imported_by(name)) - {name} for name in graph.modules}
    for name in DISCOVERED:
        arrows[name] |= graph.find_children(name)
    assert len(arrows) > 250
    assert circles(arrows) == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}, "e": set()}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def operators_named_in(source: str) -> list[str]:
    """The strings that name an operator, or its source before a dot; docstrings and sentences do not count."""
    tree = ast.parse(source)
    documentation = {id(docstring) for node in ast.walk(tree) for docstring in docstring_of(node)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documentation)
    strings = (node.value for node in constants if isinstance(node.value, str))
    return [string for string in strings if NAMED.search(string) and " " not in string]


def docstring_of(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield first.value


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CONFORMANCE)))
def test_conformance_names_an_operator_in_its_record_only(path: Path) -> None:
    assert operators_named_in(path.read_text()) == []


def test_strings_that_name_operators_are_found() -> None:
    source = """
'''Docstrings may say onnx.QuantizeLinear.'''
def f(name):
    '''As this: ngraph.Quantize.'''
    if name == "onnx.QuantizeLinear" or f"tensorflow.F{name}":
        return "ngraph." + name, "onnx.helper", "path/openvino.FakeQuantize", "as ngraph.Quantize does"
"""
    assert sorted(operators_named_in(source)) == [
        "ngraph.", "onnx.QuantizeLinear", "path/openvino.FakeQuantize", "tensorflow.F",
    ]  # fmt: skip


def test_an_operators_id_is_split_at_its_last_dot() -> None:
    """com.microsoft.QGemm is QGemm of com.microsoft. In code golden/operator_names.py splits it."""
    pages = list((CONFORMANCE.parent / "reports" / "templates").glob("*.j2"))
    assert len(pages) >= 5
    assert [page.name for page in pages if '.partition(".")' in page.read_text(encoding="utf-8")] == []
