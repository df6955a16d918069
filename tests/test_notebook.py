"""What a notebook shows of a run, and the frames that say what it comes to."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from recorded_versions import recorded

from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.run_views import CHOICES, VIEWS
from tiebreak.reports.tables import Tables, load

OPERATOR = "onnx.QuantizeLinear"
NOTEBOOK = """
import tiebreak
tables = tiebreak.load({folder!r})
tables
"""
ANSWER = {"bits": "1", "elements": 3, "case": "c", "index": 0}
PATH = {
    "backend": "dev", "operator": OPERATOR, "input_type": "float32", "output_type": "uint8", "node": "{}",
    "output": "y", "operands": [["x", "0x40200000", "2.5"], ["y_scale", "0x3f800000", "1"]], "deviates": True,
    "answers": [
        {**ANSWER, "value": "2", "paths": ["in a row"], "deviates": False},
        {**ANSWER, "value": "3", "paths": ["alone"], "deviates": True},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


def dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {str(column): str(dtype) for column, dtype in frame.dtypes.items()}


def with_info(tables: Tables, **changed: Any) -> Tables:
    return replace(tables, info=tables.info | changed)


class Elements(HTMLParser):
    """Every element of some HTML with its attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open += [tag] if tag != "br" and tag != "wbr" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.slow
def test_the_frames_have_their_columns_also_when_they_are_empty(runs: Path) -> None:
    for name in ("sound", "away", "aborts"):
        tables = load(runs / name)
        for view, columns in VIEWS.items():
            assert dtypes(getattr(tables, view)) == columns, (name, view)
    assert load(runs / "sound").causes.empty and load(runs / "away").contradictions.empty


def test_causes_fold_the_clusters_and_count_the_leading_domain(runs: Path) -> None:
    tables = load(runs / "away")
    (cluster,) = tables.info["clusters"]
    (row,) = tables.causes.to_dict("records")
    assert (row["id"], row["ids"], row["library"], row["version"]) == ("C001", "C001", "dev", "2.0")
    assert (row["backends"], row["operators"], row["document"]) == ("dev", OPERATOR, "own")
    assert (row["severity"], row["domain"]) == ("wrong by one next to a decision boundary", "calibrated")
    assert row["deviates"] == cluster["domains"]["calibrated"]["elements"] > 0
    assert row["share"] == row["deviates"] / row["judged"] and row["elements"] == len(tables.discrepancies)
    assert json.loads(row["witness_operands"]) == cluster["witness"]["operands"]
    assert (row["witness_expected"], row["witness_got"]) == (cluster["witness"]["expected"], cluster["witness"]["got"])


def test_configurations_of_a_library_share_a_row(runs: Path) -> None:
    tables = load(runs / "away")
    (cluster,) = tables.info["clusters"]
    (backend,) = tables.info["backends"]
    clusters = [cluster, cluster | {"id": "C002", "backend": "dev-two"}]
    two = with_info(tables, clusters=clusters, backends=[backend, backend | {"name": "dev-two", "library": "dev"}])
    (row,) = two.causes.to_dict("records")
    assert (row["ids"], row["backends"]) == ("C001, C002", "dev, dev-two")
    assert row["elements"] == 2 * cluster["elements"] and len(two.clusters) == 1


def test_an_older_run_without_clusters_and_domains_still_has_causes(runs: Path) -> None:
    tables = load(runs / "away")
    (row,) = with_info(tables, clusters=[]).causes.to_dict("records")
    assert (row["id"], row["domain"], row["witness_id"]) == ("", "", "") and np.isnan(row["share"])
    assert row["elements"] == len(tables.discrepancies)


def test_contradictions_have_an_example(runs: Path) -> None:
    repeated = {"backend": "dev", "operator": OPERATOR, "first": "c", "cases": 5, "differ": 2}
    found = with_info(load(runs / "away"), paths=[PATH], repeated=[repeated]).contradictions
    assert found["kind"].tolist() == ["process", "path"] and dtypes(found) == VIEWS["contradictions"]
    assert found["how_much"].tolist() == ["2 of 5 cases", "1 set of operands"]
    assert found["sentence"][1] == (
        "dev, QuantizeLinear, float32 to uint8: it quantizes 2.5 with y_scale 1 to 2 in a row and to 3 alone"
    )


def test_the_matrix_is_a_share_of_what_was_judged(runs: Path) -> None:
    tables = load(runs / "both")
    results = tables.results[tables.results["backend"] == "dev"]
    for domain in CHOICES[:2]:
        found = tables.matrix(domain=domain)
        wanted = results[f"deviates_{domain}"].sum() / results[f"judged_{domain}"].sum()
        assert found.loc["dev", OPERATOR] == wanted and found.loc["sound", OPERATOR] == 0
    judged = {domain: counted(tables, domain) for domain in CHOICES}
    assert sum(judged[domain] for domain in CHOICES[:3]) == judged["all"] == len(tables.discrepancies) > 0
    assert (found.index.name, found.columns.name, dtypes(found)) == ("backend", "operator", {OPERATOR: "float64"})
    assert tables.matrix().equals(tables.matrix(domain="calibrated"))


def counted(tables: Tables, domain: str) -> int:
    """How many elements of a domain deviate, by the discrepancies and by the results."""
    from tiebreak.reports.run_views import domain_counts

    count = int(domain_counts(tables.results, domain)["deviates"].sum())
    assert domain == "all" or count == int((tables.discrepancies["domain"] == domain).sum())
    return count


def test_nothing_judged_is_nan_and_an_unknown_domain_names_the_known_ones(runs: Path) -> None:
    tables = load(runs / "aborts")
    idle = replace(tables, results=tables.results.assign(judged_calibrated=0, deviates_calibrated=0))
    assert idle.matrix().shape == (1, 1) and np.isnan(idle.matrix().loc["dev", OPERATOR])
    assert replace(tables, results=tables.results[:0]).matrix().empty
    with pytest.raises(InvalidInput, match="known: calibrated, edge, pathological, all"):
        tables.matrix(domain="typical")


def test_an_older_run_has_no_pathological_elements_only_unknown_ones(runs: Path) -> None:
    tables = load(runs / "away")
    zero = dict.fromkeys([name for name in tables.results if name.startswith(("judged_", "deviates_"))], 0)
    older = replace(tables, results=tables.results.assign(domain="", **zero))
    assert np.isnan(older.matrix(domain="pathological").loc["dev", OPERATOR])
    assert older.matrix(domain="all").loc["dev", OPERATOR] == tables.matrix(domain="all").loc["dev", OPERATOR]


def test_the_html_has_the_matrix_the_findings_and_nothing_that_acts(runs: Path) -> None:
    tables = load(runs / "both")
    found = Elements(tables._repr_html_())
    assert found.open == []
    assert found.names <= {"div", "p", "strong", "span", "table", "thead", "tbody", "tr", "th", "td", "br", "wbr"} | {
        "ol", "li", "code",
    }  # fmt: skip
    assert found.attributes <= {"class", "style", "scope", "title"}
    for text in ("2 libraries", "dev quantizes", "where ONNX says", "wrong tie rule", "exit code 1", "✗ "):
        assert text in found.text
    assert len(repr(tables)) < 250 and "results: " in repr(tables)


def test_a_hostile_backend_stays_text(runs: Path) -> None:
    html = load(runs / "hostile")._repr_html_()
    found = Elements(html)
    assert "alert(" in found.text and not {"script", "img", "style"} & found.names
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", html)


def test_a_run_in_which_nothing_ran_shows_itself(runs: Path) -> None:
    tables = load(runs / "away")
    idle = replace(tables, results=tables.results[:0], discrepancies=tables.discrepancies[:0])
    assert "Nothing deviates" in with_info(idle, clusters=[], exit=4)._repr_html_()


@pytest.mark.slow
def test_a_notebook_shows_the_run(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    nbclient = pytest.importorskip("nbclient")
    from nbformat.v4 import new_code_cell, new_notebook

    cells = [NOTEBOOK.format(folder=str(runs / "both")), "tables.causes", "tables.matrix(domain='calibrated')"]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    run, causes, matrix = (cell["outputs"][0]["data"] for cell in client.execute()["cells"])
    assert "dev quantizes" in Elements(run["text/html"]).text and run["text/plain"].startswith("Tables(results: ")
    assert "witness_got" in causes["text/html"] and OPERATOR in matrix["text/html"]
