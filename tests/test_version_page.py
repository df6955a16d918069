"""The page on what changed across releases, made from a run with several of a library."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from recorded_versions import recorded

from tiebreak.reports.records import Run, read_run

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


def side_by_side(folder: Path, **releases: str) -> Run:
    """The recorded runs as one run of a library's releases, each by its name in the specs."""
    runs = recorded(folder)
    found = {release.replace("_", "."): read_run(runs / source) for release, source in releases.items()}
    backends, clusters, results, discrepancies = [], [], [], []
    for release, run in found.items():
        name = f"dev@{release.removeprefix('v')}"
        backends += [{**one, "name": name, "spec": name} for one in run.info["backends"]]
        clusters += [{**one, "backend": name} for one in run.info["clusters"]]
        results.append(run.results.assign(backend=name))
        discrepancies.append(run.discrepancies.assign(backend=name))
    info = next(iter(found.values())).info | {"backends": backends, "clusters": clusters}
    return Run(info, pd.concat(results), pd.concat(discrepancies))


@pytest.mark.slow
def test_releases_are_compared_in_their_order_in_words_and_witnesses(maker: ModuleType, tmp_path: Path) -> None:
    text = maker.page(side_by_side(tmp_path, v3_0="aborts", v1_0="sound", v2_0="away"))
    first, second = text.split("### ")[1:]
    assert first.startswith("1.0 to 2.0") and second.startswith("2.0 to 3.0")
    assert "**New**: dev, onnx.QuantizeLinear: wrong tie rule: NEAREST\\_TOWARD\\_INFINITY (1,549 elements" in first
    assert "y\\_zero\\_point 1 (1) it gives 0, where 1 is right." in first
    assert "**Gone**" in second and "about to abort" in second
    assert "Newly failing: 2 cases of dev, onnx.QuantizeLinear, deviates before" in second
    assert "Newly failing: 1 case of dev, onnx.QuantizeLinear, unsupported before" in second
    assert "| 1.0 | dev | 155 | 0 | 25 |" in text


@pytest.mark.slow
def test_what_a_backend_said_is_no_markup(maker: ModuleType, tmp_path: Path) -> None:
    assert "<script" not in maker.page(side_by_side(tmp_path, v1="hostile", v2="hostile"))
