"""Releases of one library in one run: what changed between them, in run.json, the page and the terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.gate.releases import by_name, release_changes
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.reports.html import render
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.summary import print_details

BOXES = """
import numpy as np


class Box:
    name, operators, configuration_of = "box", {"onnx.QuantizeLinear"}, "box"

    def __init__(self, version, rounded):
        self.version, self.rounded = version, rounded

    def compile(self, node):
        if self.version == "1.9" and node.output_type == "int8":
            from tiebreak import Unsupported
            raise Unsupported("no int8 yet")
        if node.output_type not in ("int8", "uint8") or node.attributes:
            from tiebreak import Unsupported
            raise Unsupported("plain nodes only")
        low, high = (-128, 127) if node.output_type == "int8" else (0, 255)

        def run(x, s, z):
            with np.errstate(all="ignore"):
                return (np.clip(self.rounded(x / s) + z, low, high).astype(node.output_type),)

        return run


old, new = (lambda: Box("1.9", np.trunc)), (lambda: Box("1.10", np.rint))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two boxes that stand for releases: what their specs would be is put in afterwards."""
    folder = tmp_path_factory.mktemp("releases")
    (folder / "boxes.py").write_text(BOXES)
    selection = Selection(("onnx.QuantizeLinear",), input_type="float32", level="brief")
    specs = [f"{folder}/boxes.py:{name}" for name in ("new", "old")]
    main_job(specs, selection, folder / "run", RunLimits(), show="nothing")
    found = read_run(folder / "run")
    names = {"1.9": "box@1.9", "1.10": "box@1.10"}
    backends = [{**one, "spec": names[one["version"]]} for one in found.info["backends"]]
    return replace(found, info=found.info | {"backends": backends})


def test_neighbouring_releases_are_compared_in_their_order(run: Run) -> None:
    rows = release_changes(run)
    old, new = (next(one["name"] for one in run.info["backends"] if one["version"] == v) for v in ("1.9", "1.10"))
    assert {(row["before"], row["after"]) for row in rows} == {(old, new)}
    gone = next(row for row in rows if row["status"] == "gone")
    assert "TOWARD_ZERO" in gone["what"] and gone["counts"][0] > 0 and gone["counts"][1] == 0
    assert gone["ids"][0] in {one["id"] for one in run.info["clusters"]} and gone["ids"][1] == ""
    running = [row for row in rows if row["what"].startswith("unsupported, now ")]
    assert running and all(row["counts"][0] == row["counts"][1] > 0 for row in running)


def test_a_run_without_releases_has_none(run: Run) -> None:
    backends = [{**one, "spec": f"./{one['name']}.py:box"} for one in run.info["backends"]]
    assert by_name(run) and not by_name(replace(run, info=run.info | {"backends": backends}))
    assert run.info["releases"] == [], "as it was run, from files"


def test_the_page_and_the_terminal_have_them(run: Run, tmp_path: Path) -> None:
    told = replace(run, info=run.info | {"releases": release_changes(run)})
    page = render(told, "run")
    gone = next(row for row in told.info["releases"] if row["status"] == "gone")
    assert '<section id="releases"' in page and f'<a href="#{gone["ids"][0]}">' in page
    assert '<section id="releases"' not in render(run, "run")
    out = io.StringIO()
    print_details(told, "run", console=Console(file=out, width=200))
    assert "between releases" in out.getvalue() and gone["what"][:20] in out.getvalue()
