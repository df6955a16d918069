"""What a run shows while it goes on, and the one screen at its end."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from tiebreak.cli import main
from tiebreak.conformance import main_job
from tiebreak.golden.operators import OPERATORS
from tiebreak.reports import progress
from tiebreak.reports.libraries import folded_name
from tiebreak.reports.one_screen import FEWEST_CAUSES, LINES, print_summary
from tiebreak.reports.progress import LiveMatrix, PlainLines, progress_of_run
from tiebreak.reports.records import Run
from tiebreak.reports.story import CHAPTERS
from tiebreak.reports.verdict_matrix import cell_text, compact, initials

BACKENDS = [
    *("onnxruntime", "onnxruntime-no-optimisation", "onnxruntime-two-threads", "onnxruntime-qdq"),
    *("onnxruntime-qdq-unfused", "openvino", "openvino-as-shipped", "openvino-limits-as-inputs", "tensorflow"),
    *("tensorflow-no-onednn", "litert", "litert-no-xnnpack", "torch", "torch-decomposed", "numpy-naive"),
    "onnx-reference",
]
FEW = ["--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "int16", "-b", "numpy-naive"]


def a_run(backends: list[str], operators: list[str], *, alike: bool = False) -> Run:
    """A run in which every backend deviates in every operator, each in its own number of cases unless `alike`."""
    rows = [
        {"backend": name, "operator": operator, "verdict": verdict, "document": "own", "message": ""}
        for number, name in enumerate(backends)
        for operator in operators
        for verdict in ["exact"] * 5 + ["deviates"] * (1 if alike else number + 1) + ["crash"]
    ]
    pairs = [(name, operator) for name in backends for operator in operators]
    clusters: list[dict[str, Any]] = [
        {"id": f"C{k + 1:03d}", "backend": name, "operator": operator, "elements": 9000 - k, "boundary_ulp": None}
        | {"clause": "X-1", "document": "own", "cases": 1, "farthest": 1, "types": ["float32 to int8"], "domains": {}}
        | {"cause": f"multiplies by the rounded reciprocal [bold]and[/] \x1b[31m{'more ' * 20}{k}"}
        for k, (name, operator) in enumerate(pairs)
    ]
    failures = [
        {"id": f"F{k:03d}", "backend": name, "operator": operators[0], "verdict": "crash", "cases": 1}
        | {"fault": "crash", "message": "it [bold]died"}
        for k, name in enumerate(backends)
    ]
    info = {
        "backends": [{"name": name, "version": "1.2"} for name in [*backends, "idle"]],
        **{"clusters": clusters, "failures": failures, "paths": [a_path(name, operators[0]) for name in backends]},
        "pairs": [pair(a, b, int(not alike)) for a, b in combinations(backends, 2)],
    }
    return Run(info, pd.DataFrame(rows), pd.DataFrame({"id": ["D000001"]}))


def a_path(backend: str, operator: str) -> dict[str, Any]:
    answers = [{"paths": [f"per {what}"]} for what in ("tensor", "axis")]
    return {"backend": backend, "operator": operator, "answers": answers}


def pair(a: str, b: str, differ: int) -> dict[str, Any]:
    return {"a": a, "b": b, "operator": "onnx.QuantizeLinear", "cases": 9, "elements": 99, "differ": differ}


def shown(run: Run, width: int) -> str:
    console = Console(record=True, width=width, force_terminal=True, file=io.StringIO())
    print_summary(run, "a-run", console=console)
    return console.export_text()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_largest_run_fits_one_screen(width: int) -> None:
    text = shown(a_run(BACKENDS, list(OPERATORS)), width)
    lines = text.splitlines()
    assert len(lines) <= (40 if width >= 100 else 42)
    assert max(map(len, lines)) <= width
    assert all(any(line.startswith(name[:12]) for line in lines) for name in BACKENDS)
    assert f"{FEWEST_CAUSES} worst of 160 causes" in text
    assert sum(line.startswith("C0") for line in lines) == FEWEST_CAUSES >= LINES - len(BACKENDS)
    assert "report: a-run/report.html; all as text: tiebreak report a-run --text" in text
    assert "claim none of the chosen operators: idle" in text
    heads = [line.split("  ")[0] for line in lines if line[:2] in {f"{n} " for n in range(1, 7)}]
    assert heads == [f"{n} {chapter[1]}"[:31].rstrip() for n, chapter in enumerate(CHAPTERS.values(), start=1)]


def test_names_from_elsewhere_do_nothing_on_a_terminal() -> None:
    text = shown(a_run(["b[red]x", "\x1b[2Jy"], list(OPERATORS)), 100)
    assert "\x1b" not in text and "b[red]x" in text and "[bol" in text


def test_configurations_with_equal_rows_share_one_that_names_them() -> None:
    lines = shown(a_run(["ort", "ort-b", "ort-c", "other"], list(OPERATORS)[:4], alike=True), 100).splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith(("ort", "other"))] == [
        "ort, -b, -c (equal bits)",
        "other",
    ]
    lines = shown(a_run(["ort", "ort-b"], list(OPERATORS)[:4]), 100).splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("ort")] == ["ort", "ort-b"]
    assert folded_name(["ort", "ort-b"]) == "ort, -b" and folded_name(["ort-a", "ort-b"]) == "ort-a, -b"


def test_a_small_run_keeps_the_table_of_verdicts() -> None:
    run = a_run(["one"], ["onnx.QuantizeLinear"])
    assert "cases by verdict" in Console(width=80).render_str(main_text(run)).plain


def main_text(run: Run) -> str:
    run.info["clusters"] = []
    run.discrepancies.drop(index=0, inplace=True)
    return shown(run, 80)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"exact": 12}, "[green]✓ 12[/]"),
        ({"exact": 12, "working-precision": 3}, "[cyan]≈ 15[/]"),
        ({"exact": 12, "deviates": 3}, "[red]✗ 3[/]"),
        ({"deviates": 3, "crash": 1}, "[red]✗ 3![/]"),
        ({"exact": 3, "timeout": 1, "error": 1}, "[magenta]! 2[/]"),
        ({"unspecified": 3}, "[yellow]? 3[/]"),
        ({"unsupported": 3}, "[dim]∅[/]"),
        ({"exact": 3, "hazard": 2}, "[cyan]⇄ 2[/]"),
        ({"deviates": 1, "hazard": 2}, "[red]✗ 1[/]"),
        ({}, ""),
    ],
    ids=str,
)
def test_a_cell_says_the_worst_that_is_true(found: dict[str, int], text: str) -> None:
    assert cell_text(found, 8) == text


def test_numbers_and_names_are_short() -> None:
    assert [compact(n) for n in (9999, 10_000, 999_999, 1_000_000)] == ["9999", "10k", "999k", "1M"]
    assert len({initials(name) for name in OPERATORS if name.startswith("tensorflow")}) == 5
    assert max(len(initials(name)) for name in OPERATORS) <= 6


@pytest.fixture
def live() -> Iterator[LiveMatrix]:
    console = Console(width=100, force_terminal=True, file=io.StringIO())
    found = progress_of_run(console)
    assert isinstance(found, LiveMatrix)
    yield found
    found.close()


def rendered(live: LiveMatrix) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(live.table())
    return console.export_text()


def test_the_matrix_fills(live: LiveMatrix) -> None:
    live.starting(["quick-one", "slow-one", "absent"])
    live.started("absent", there=False)
    live.started("quick-one", there=True)
    text = rendered(live)
    assert "absent" not in text and "still starting: slow-one" in text and "quick-one" in text and "ready" in text
    live.started("slow-one", there=True)
    live.ran("quick-one", 5, 20)
    live.judged("quick-one", "onnx.QuantizeLinear", ["exact", "exact", "deviates"])
    text = rendered(live)
    assert "✗ 1" in text and "25 %" in text and "5 of 20 cases run; 1 deviate" in text and "starting" not in text
    live.judged("quick-one", "onnx.QuantizeLinear", ["deviates", "crash"])
    live.stage("looking for causes")
    text = rendered(live)
    assert "✗ 2!" in text and "1 failed; looking for causes" in text


def test_elsewhere_there_are_plain_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "QUIET", 0.0)
    lines = progress_of_run(Console(file=io.StringIO()))
    assert isinstance(lines, PlainLines)
    lines.started("one", there=True)
    lines.ran("one", 2, 4)
    lines.judged("one", "a.B", ["exact", "deviates"])
    lines.finished("one")
    said = ""
    while "2 of 4 cases run; 1 deviate" not in said:  # the thread comes in time
        time.sleep(0.01)
        said += capsys.readouterr().err
    lines.close()
    lines.thread.join()
    assert "tiebreak: one has started\n" in said
    assert "tiebreak: one is done: 1 exact, 1 deviates\n" in said
    assert threading.active_count() >= 1 and not lines.thread.is_alive()


def test_lines_of_a_short_run_are_never_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = progress_of_run(Console(file=io.StringIO()))
    assert isinstance(lines, PlainLines)
    lines.started("one", there=True)
    lines.finished("one")
    lines.close()
    lines.thread.join()
    assert lines.held == ["one has started", "one is done: no cases"]
    assert capsys.readouterr().err == ""


def test_a_run_tells_what_watches_it_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = PlainLines()
    monkeypatch.setattr(main_job, "progress_of_run", lambda: lines)
    CliRunner().invoke(main, ["run", *FEW, "--level", "quick", "-o", str(tmp_path / "a"), "--json"])
    results = pd.read_parquet(tmp_path / "a/results.parquet")
    (cells,) = lines.cells_now().values()
    assert dict(cells) == results["verdict"].value_counts().to_dict()
    assert lines.counts == {"numpy-naive": (len(results), len(results))}
    assert lines.held and lines.held[0] == "numpy-naive has started" and "numpy-naive is done: " in lines.held[1]
    assert lines.what == "writing the report" and lines.over.is_set()


def test_verbose_and_text_have_everything_and_verbose_the_stages(tmp_path: Path) -> None:
    folder = str(tmp_path / "a")
    verbose = CliRunner().invoke(main, ["run", *FEW, "-v", "-o", folder]).stdout
    text = CliRunner().invoke(main, ["report", folder, "--text"]).stdout
    assert verbose.startswith(text) and "cases by verdict" in text
    table = verbose.removeprefix(text)
    stages = [row["stage"] for row in json.loads((tmp_path / "a/run.json").read_text())["stages"]]
    assert "seconds by stage" in table and all(stage in table for stage in stages)
    assert "run and judge" in stages


def test_a_silent_run_shows_nothing() -> None:
    with main_job.watched("nothing") as watch:
        assert not isinstance(watch, LiveMatrix | PlainLines)
