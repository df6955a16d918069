"""The page on what changed across releases, made from run folders that are named by library and release."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from recorded_versions import recorded

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    path = DOCS / "make_versions.py"
    if not path.exists():
        pytest.skip("a source distribution may have no docs")
    spec = importlib.util.spec_from_file_location("make_versions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_releases_are_compared_in_their_order_in_words_and_witnesses(maker: ModuleType, tmp_path: Path) -> None:
    runs = recorded(tmp_path)
    named = {"dev-v1.9": "sound", "dev-v1.10": "away", "dev-v2.0": "aborts"}
    folders = [Path(shutil.copytree(runs / source, tmp_path / "runs" / name)) for name, source in named.items()]
    text = maker.page(sorted(folders))
    first, second = text.split("### ")[1:]
    assert first.startswith("1.0 to 2.0") and second.startswith("2.0 to 3.0")
    assert "**New**: dev, onnx.QuantizeLinear: wrong tie rule: NEAREST\\_TOWARD\\_INFINITY (1,549 elements" in first
    assert "y\\_zero\\_point 1 (1) it gives 0, where 1 is right." in first
    assert "**Gone**" in second and "about to abort" in second
    assert "Newly failing: 2 cases of dev, onnx.QuantizeLinear, deviates before" in second
    assert "Newly failing: 1 case of dev, onnx.QuantizeLinear, unsupported before" in second
    assert "| 1.0 | dev | 155 | 0 | 25 |" in text


def test_what_a_backend_said_is_no_markup(maker: ModuleType, tmp_path: Path) -> None:
    runs = recorded(tmp_path)
    pair = [Path(shutil.copytree(runs / "hostile", tmp_path / "runs" / f"h-v{n}")) for n in (1, 2)]
    assert "<script" not in maker.page(pair)
