"""What a run shows while it goes on, and the one screen at its end."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tiebreak.cli import main
from tiebreak.conformance import main_job
from tiebreak.conformance.running.watching import each_told
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.verdicts import NO_ELEMENTS, NOT_DETERMINISTIC
from tiebreak.reports import progress
from tiebreak.reports.libraries import folded_name
from tiebreak.reports.one_screen import LINES, print_summary
from tiebreak.reports.progress import (
    CountLines,
    LiveTable,
    Pace,
    PlainLines,
    RunSoFar,
    clock,
    progress_of_run,
    with_whole,
)
from tiebreak.reports.records import Run
from tiebreak.reports.refusals import refusal_text
from tiebreak.reports.verdict_matrix import compact, initials, plain_cell

BACKENDS = [
    *("onnxruntime", "onnxruntime-no-optimisation", "onnxruntime-two-threads", "onnxruntime-qdq"),
    *("onnxruntime-qdq-unfused", "openvino", "openvino-as-shipped", "openvino-limits-as-inputs", "tensorflow"),
    *("tensorflow-no-onednn", "litert", "litert-no-xnnpack", "torch", "torch-decomposed", "numpy-naive"),
    *("onnx-reference", "ngraph"),
]
HOSTILE = ["b[red]x", "\x1b[2Jy", "量子化バックエンド" * 9, "z\u0301\u0301\u200b\u202ez" * 9, "\U0001f600" * 40]
WITNESS = {"operands": [["x", "0x40200000", "2.5"], ["y_scale", "0x3f800000", "1"]], "expected": "2", "got": "3"}
EVERYDAY = {
    "calibrated": {"elements": 9, "judged": 99, "farthest": 1, "boundary_ulp": 0.0, "cases": 1, "judged_cases": 9}
}
FEW = ["--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "int16", "-b", "numpy-naive"]


def a_run(backends: list[str], operators: list[str], *, alike: bool = False) -> Run:
    """A run in which every backend deviates in every operator, each in its own number of cases unless `alike`."""
    rows = [
        {"backend": name, "operator": operator, "verdict": verdict, "document": "own", "message": "", "fault": ""}
        | {
            "judged_calibrated": 9,
            "working_calibrated": 0,
            "other_order_calibrated": 0,
            "deviates_calibrated": 9 * (verdict == "deviates"),
        }
        | {"case": verdict, "domain": "calibrated", "elements": 9}
        for number, name in enumerate(backends)
        for operator in operators
        for verdict in ["exact"] * 5 + ["deviates"] * (1 if alike else number + 1) + ["crash"]
    ] + [
        {"backend": name, "operator": operators[0], "verdict": "unsupported", "document": "own", "fault": ""}
        | {"message": f"no kernel for 量 [bold]float64[/] at {name}"}
        for name in backends
    ]
    pairs = [(name, operator) for name in backends for operator in operators]
    clusters: list[dict[str, Any]] = [
        {"id": f"C{k + 1:03d}", "backend": name, "operator": operator, "elements": 9000 - k, "boundary_ulp": None}
        | {
            "clause": "X-1",
            "document": "own",
            "cases": 1,
            "farthest": 1,
            "types": ["float32 to int8"],
            "domains": EVERYDAY,
        }
        | {"cause_id": f"cause {k}", "witness": WITNESS}
        | {"cause": f"multiplies by the rounded reciprocal [bold]and[/] \x1b[31m{'more ' * 20}{k}"}
        for k, (name, operator) in enumerate(pairs)
    ]
    failures = [
        {"id": f"F{k:03d}", "backend": name, "operator": operators[0], "verdict": "crash", "cases": 1}
        | {"fault": "crash", "message": "it [bold]died", "witness": {"case": "crash", "message": "it [bold]died"}}
        for k, name in enumerate(backends)
    ]
    info = {
        "backends": [{"name": name, "version": "1.2"} for name in [*backends, "idle"]],
        "level": "quick",
        **{"clusters": clusters, "failures": failures, "paths": [a_path(name, operators[0]) for name in backends]},
        "pairs": [pair(a, b, int(not alike)) for a, b in combinations(backends, 2)],
    }
    return Run(info, pd.DataFrame(rows), pd.DataFrame({"id": ["D000001"]}))


def a_path(backend: str, operator: str) -> dict[str, Any]:
    answers = [{"value": what, "bits": "0x0", "paths": [f"per {what}"]} for what in ("tensor", "axis")]
    return {"backend": backend, "operator": operator, "answers": answers, "operands": WITNESS["operands"]}


def pair(a: str, b: str, differ: int) -> dict[str, Any]:
    return {"a": a, "b": b, "operator": "onnx.QuantizeLinear", "cases": 9, "elements": 99, "differ": differ}


def shown(run: Run, width: int, *, colour: bool = True) -> str:
    console = Console(width=width, force_terminal=colour, file=(file := io.StringIO()))
    print_summary(run, "a-run", console=console)
    return Text.from_ansi(file.getvalue()).plain if colour else file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("backends", [BACKENDS, ["one"], [*BACKENDS, *HOSTILE]], ids=len)
def test_a_run_ends_with_one_screen(backends: list[str], width: int) -> None:
    text = shown(a_run(backends, list(OPERATORS)), width)
    lines = text.splitlines()
    assert len(lines) <= LINES and max(map(cell_len, lines)) <= width
    heads = [line for line in lines if re.match(r"\S.* 1\.2( × \d)?: ", line)]
    assert len(heads) >= min(len({name.partition("-")[0] for name in backends}), 8)
    told = [line for line in lines if re.match(r"  C\d{3} ", line)]
    assert len(told) >= min(len(heads), 1 if set(HOSTILE) & set(backends) else 3), "the worst libraries' worst finding"
    assert sum(line.startswith("  tiebreak repro C") for line in lines) == len(told)
    assert "unsupported: " in text and "no kernel for 量 [bold]float64[/]" in text
    assert "claim none of the chosen operators: idle" in text
    assert "report: a-run/report.html; as text: tiebreak report a-run --text; level: quick" in " ".join(text.split())
    first = next(line.strip() for line in lines if line.startswith("  tiebreak repro "))
    assert f"next: {first}" in text or set(HOSTILE) & set(backends), "the first one may have no room"


def test_one_backend_leaves_room_for_further_causes_with_witnesses() -> None:
    run = a_run(["one"], list(OPERATORS))
    run.info["clusters"] = [
        row | {"id": f"C{k:03}", "cause_id": f"cause {k}"} for k in range(20) for row in run.info["clusters"][:1]
    ]
    text = shown(run, 140)
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if re.match(r"the \d+ worst of [12]\d other findings", line))
    causes = [line for line in lines[at + 1 :] if re.match(r"one C0\d\d ", line)]
    assert len(causes) >= 5 and "…" not in "".join(causes)
    assert " ".join(text.split()).count("quantizes 2.5 with y_scale 1 to 3 where") >= len(causes), (
        "each with its witness"
    )


def test_a_name_and_a_list_of_operands_are_never_cut_in_the_middle() -> None:
    run = a_run(["one"], ["onnx.QuantizeLinear"])
    many = [[f"x{k}", "0x40200000", "2.5000001"] for k in range(40)]
    run.info["clusters"] = [run.info["clusters"][0] | {"witness": WITNESS | {"operands": many}}]
    run.info["clusters"][0] |= {"cause": "multiplies", "cause_id": "multiplies"}
    text = " ".join(shown(run, 80).split())
    assert "C001 QuantizeLinear, float32 to int8: multiplies (" in text, "what is too long is left out whole"
    assert "x39 2.5000001" not in text and "x1 2.5" not in text and "…" not in text.partition("unsupported:")[0]


def test_a_long_contradiction_leaves_its_operands_out_and_a_library_without_a_headline_says_why() -> None:
    run = a_run(["one"], ["onnx.QuantizeLinear"])
    many = [[f"x{k}", "0x40200000", "2.5000001"] for k in range(40)]
    run.info.update(clusters=[], failures=[], paths=[run.info["paths"][0] | {"id": "S001", "operands": many}])
    run = Run(run.info, run.results, run.discrepancies[:0])
    text = " ".join(shown(run, 80).split())
    assert "S001 one, QuantizeLinear: another answer by path: per axis; per tensor (1 set of operands)" in text
    assert "2.5000001" not in text and "…" not in text.partition("unsupported:")[0]
    run.info["domains"] = {"S001": NO_ELEMENTS}
    run = Run(run.info, run.results[run.results["verdict"] != "unsupported"], run.discrepancies)
    assert "what is found here is on empty tensors, or what the library documents" in " ".join(shown(run, 80).split())


def test_why_cases_are_unsupported_is_told_in_the_commonest_words() -> None:
    run = a_run(["one", "two"], ["onnx.QuantizeLinear"])
    assert refusal_text(run).startswith(
        "unsupported: 2 of 17 cases; most often one 1: no kernel for 量 [bold]float64[/]"
    )
    rows = [{"backend": "one", "verdict": "unsupported", "message": f"no ROUND_{mode}"} for mode in ("UP", "DOWN")]
    other = {"backend": "one", "verdict": "unsupported", "message": "no float64"}
    refused = Run(run.info, pd.DataFrame([*rows, other]), run.discrepancies)
    assert refusal_text(refused) == "unsupported: 3 of 3 cases; most often one 2: no ROUND_…"
    assert refusal_text(Run(run.info, run.results.assign(verdict="exact"), run.discrepancies)) == ""


def test_without_colour_and_terminal_the_screen_is_the_same() -> None:
    run = a_run(BACKENDS, list(OPERATORS))
    plain = shown(run, 80, colour=False)
    assert "\x1b" not in plain
    assert [line.rstrip() for line in plain.splitlines()] == [line.rstrip() for line in shown(run, 80).splitlines()]


def test_libraries_beyond_a_screen_are_counted_and_the_worst_stay() -> None:
    names = [f"backend{number:02}" for number in range(50)]  # the last ones have most cases that deviate
    text = shown(a_run(names, list(OPERATORS)), 80)
    assert re.search(r"… and \d+ rows of libraries on which less deviates", text)
    assert "backend49 1.2: " in text and "backend00 1.2: " not in text


def test_names_from_elsewhere_do_nothing_on_a_terminal() -> None:
    text = shown(a_run(HOSTILE, list(OPERATORS)), 100, colour=False)
    assert "b[red]x" in text and "[bol" in text
    assert {c for c in text if not c.isprintable()} == {"\n"}


def test_a_clean_run_is_told_how_to_become_the_baseline() -> None:
    run = a_run(["one"], ["onnx.QuantizeLinear"])
    run.results["verdict"] = "exact"
    run.info.update(clusters=[], failures=[], paths=[], pairs=[], exit=0)
    clean = Run(run.info, run.results, run.discrepancies[:0])
    text = shown(clean, 80)
    assert "nothing deviates, fails or contradicts itself" in text
    assert "next: tiebreak gate a-run --baseline baseline --update --accept" in text
    unexplained = Run(run.info | {"exit": 1}, run.results, run.discrepancies[:0])
    assert "next: tiebreak report a-run --text" in shown(unexplained, 80)
    idle = Run(run.info, run.results.assign(verdict="unsupported"), run.discrepancies[:0])
    assert "next: tiebreak doctor" in shown(idle, 80)


def test_a_backend_that_always_fails_is_told_why_and_claims_what_it_claims() -> None:
    run = a_run(["one"], ["onnx.QuantizeLinear"])
    run.results["verdict"] = "crash"
    run.info.update(clusters=[], paths=[], pairs=[], exit=3)
    text = shown(Run(run.info, run.results, run.discrepancies[:0]), 80)
    assert "F000 one, QuantizeLinear: crash: it [bold]died" in text and "⇄" not in text
    assert "next: tiebreak repro F000" in text


def test_what_to_type_next_shows_the_first_finding_again() -> None:
    run = a_run(["one"], list(OPERATORS)[:3])
    run.info["failures"] = [run.info["failures"][0] | {"fault": NOT_DETERMINISTIC, "verdict": "error"}]
    text = shown(run, 80)
    assert text.index("C001") < text.index("next: tiebreak repro C001")
    run.info["clusters"] = []
    changing = Run(run.info | {"exit": 3}, run.results, run.discrepancies[:0])
    assert "F000" in shown(changing, 80) and "next: tiebreak repro F000" in shown(changing, 80)


def test_a_run_that_a_gate_judges_is_told_no_other_baseline() -> None:
    run = a_run(["one"], ["onnx.QuantizeLinear"])
    run.results["verdict"] = "exact"
    run.info.update(clusters=[], failures=[], paths=[], pairs=[], exit=0)
    clean = Run(run.info, run.results, run.discrepancies[:0])
    file = io.StringIO()
    print_summary(clean, "a-run", console=Console(width=80, file=file), judged=True)
    assert "next: tiebreak report a-run --text" in file.getvalue() and "baseline" not in file.getvalue()


LINEAR = [
    id_ for id_ in OPERATORS if id_.endswith((".Quantize", ".Dequantize", ".QuantizeLinear", ".DequantizeLinear"))
][:4]


def test_configurations_of_a_library_share_a_line() -> None:
    lines = shown(a_run(["ort", "ort-b", "ort-c", "other"], LINEAR, alike=True), 100).splitlines()
    heads = {line.split(":")[0] for line in lines if line.startswith(("ort 1", "other 1"))}
    assert heads == {"ort 1.2 × 3", "other 1.2"}
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
        ({"exact": 12}, "✓ 12"),
        ({"exact": 12, "working-precision": 3}, "≈ 15"),
        ({"exact": 12, "deviates": 3}, "✗ 3"),
        ({"deviates": 3, "crash": 1}, "✗ 3!"),
        ({"exact": 3, "timeout": 1, "error": 1}, "! 2"),
        ({"unspecified": 3}, "? 3"),
        ({"unsupported": 3}, "∅"),
        ({"exact": 3, "hazard": 2}, "⇄ 2"),
        ({"deviates": 1, "hazard": 2}, "✗ 1"),
        ({}, ""),
    ],
    ids=str,
)
def test_a_cell_says_the_worst_that_is_true(found: dict[str, int], text: str) -> None:
    assert plain_cell(found) == text


def test_numbers_and_names_are_short() -> None:
    assert [compact(n) for n in (9999, 10_000, 999_999, 1_000_000)] == ["9999", "10k", "999k", "1M"]
    assert len({initials(name) for name in OPERATORS if name.startswith("tensorflow")}) == 10
    assert max(len(initials(name)) for name in OPERATORS) <= 6


@pytest.fixture
def live() -> Iterator[LiveTable]:
    console = Console(width=80, force_terminal=True, file=io.StringIO())
    found = progress_of_run(console)
    assert isinstance(found, LiveTable)
    yield found
    found.close()


def test_what_takes_long_says_how_far_it_is_where_no_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told, now = with_whole(CountLines("prove", "blocks"), "prove", "blocks"), time.monotonic()
    for seconds in (0, 2, 3, 12):
        monkeypatch.setattr(time, "monotonic", lambda seconds=seconds: now + seconds)
        told(seconds, 4096)
    with_whole(lambda done, of: None, "prove", "blocks")(0, 2)  # few: they are done at once
    assert capsys.readouterr().err.splitlines() == [
        "tiebreak: prove: 4,096 blocks to try",
        "tiebreak: prove: 2 of 4,096 blocks",
        "tiebreak: prove: 12 of 4,096 blocks",
    ]


def rendered(live: LiveTable) -> str:
    console = Console(width=80, file=(file := io.StringIO()))
    console.print(live.table())
    assert max(map(cell_len, file.getvalue().splitlines())) <= 80
    return file.getvalue()


def test_every_backend_has_a_row_while_it_runs(live: LiveTable, monkeypatch: pytest.MonkeyPatch) -> None:
    live.starting(["quick-one", "slow-one", "absent"])
    live.started("absent", there=False)
    live.started("quick-one", there=True)
    text = rendered(live)
    assert "absent" not in text and "still starting: slow-one" in text and "quick-one" in text and "ready" in text
    live.started("slow-one", there=True)
    now = time.monotonic()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    live.ran("quick-one", 0, 31_174)
    now += 10
    live.ran("quick-one", 1000, 31_174)
    live.judged("quick-one", "onnx.QuantizeLinear", ["exact", "hazard", "deviates"])
    row = next(line.split() for line in rendered(live).splitlines() if line.startswith("quick-one"))
    assert row == ["quick-one", "1,000/31,174", "100", "5:02", "1", "1"]
    live.judged("quick-one", "onnx.QuantizeLinear", ["deviates", "crash"])
    live.stage("looking for causes")
    text = rendered(live)
    assert "1,000 of 31,174 cases run; 2 deviate; 1 failed; looking for causes" in text
    assert text.splitlines()[-1].split()[-3:] == ["2", "1", "1"]


def test_the_rows_of_all_backends_fit_80_columns(live: LiveTable) -> None:
    for name in [*BACKENDS, *HOSTILE]:
        live.ran(name, 1_234_567, 9_999_999)
        live.judged(name, "a.B", ["deviates"] * 99)
    assert rendered(live).count("1,234,567/9,999,999") == len(BACKENDS) + len(HOSTILE)


def test_the_rate_is_that_of_the_last_seconds() -> None:
    pace = Pace()
    assert pace.left(0.0) is None and pace.rate(0.0) == 0
    for second in range(100):
        pace.note(second * (1 if second < 50 else 10), 1000, float(second))
    assert pace.rate(99.0) == 10 and pace.left(99.0) == 1.0 and pace.percent == 99
    assert [clock(seconds) for seconds in (7, 754, 3723)] == ["0:07", "12:34", "1:02:03"]


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
    while "2 of 4 cases run; 1 deviate; one 50 %" not in said:  # the thread comes in time
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
    monkeypatch.setattr(progress, "QUIET", 3600.0)  # so that lines are held however busy the machine is
    lines = PlainLines()
    monkeypatch.setattr(main_job, "progress_of_run", lambda: lines)
    told: list[str] = []
    monkeypatch.setattr(lines, "stage", lambda what: (told.append(what), RunSoFar.stage(lines, what)))
    CliRunner().invoke(main, ["run", *FEW, "--level", "quick", "-o", str(tmp_path / "a"), "--json"])
    results = pd.read_parquet(tmp_path / "a/results.parquet")
    (found,) = lines.found_now().values()
    assert dict(found) == results["verdict"].value_counts().to_dict()
    (pace,) = lines.paces.values()
    assert (pace.done, pace.planned) == (len(results), len(results))
    assert lines.held and lines.held[0] == "numpy-naive has started" and "numpy-naive is done: " in lines.held[1]
    assert lines.what == "writing the report" and lines.over.is_set()
    assert "looking for causes of numpy-naive (1 of 1)" in told


def test_things_that_take_long_are_counted() -> None:
    so_far = RunSoFar()
    told = [so_far.what for _ in each_told(["a", "b"], so_far, lambda name: f"looking for causes of {name}")]
    assert told == ["looking for causes of a (1 of 2)", "looking for causes of b (2 of 2)"]


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
        assert not isinstance(watch, LiveTable | PlainLines)
