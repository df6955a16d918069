"""How the code reads: a class name means one thing, docstrings are short sentences with their subject first."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("golden", "adapters", "conformance", "reports", "src/tiebreak/cli")
MOST_WORDS = 35
# adapters/program.py must stand alone: it is copied beside programs that have no Tiebreak.
TWICE = {"Node", "TensorType", "Unsupported", "Term"}  # the checker of proofs shares nothing, its terms neither

pytestmark = pytest.mark.skipif(not (ROOT / "golden").is_dir(), reason="a source distribution has them in src/ only")


@cache
def modules() -> dict[str, ast.Module]:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    return {str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "the module"), text


def sentences(text: str) -> Iterator[str]:
    """The sentences of a docstring's paragraphs and list items; indented lines are code."""
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    for part in re.split(r"\n\s*\n|\n(?=- |\d+\. )", "\n".join(lines)):
        yield from re.split(r"(?<=[.!?])\s+(?=[^a-z])", " ".join(part.split()))


def long_sentences(text: str) -> list[str]:
    return [one for one in sentences(text) if len(one.split()) > MOST_WORDS]


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(file)
    assert len(places) > 150
    assert {name: files for name, files in places.items() if len(files) > 1 and name not in TWICE} == {}


def test_docstrings_are_short_sentences_with_their_subject_first() -> None:
    found = {(file, name): text for file, tree in modules().items() for name, text in docstrings(tree)}
    assert len(found) > 1500
    assert {place: long_sentences(text) for place, text in found.items() if long_sentences(text)} == {}
    assert [place for place, text in found.items() if re.match(r"Of\b", text) or "be had" in text] == []


def test_long_sentences_are_found() -> None:
    fits, long = "One" + " word" * (MOST_WORDS - 1), "One" + " word" * MOST_WORDS
    assert long_sentences(f"Short. {fits}.\n\n    {long} code\n\n- An item.\n- {long}.") == [f"- {long}."]
    assert long_sentences(f"{fits}. {fits}.") == []
    assert long_sentences(f"{fits}, {fits}.") == [f"{fits}, {fits}."]
