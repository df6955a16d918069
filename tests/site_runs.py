"""Run folders made of one real run: other dates, versions, backends and operators, so that a site has much to show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators import OPERATORS
from tiebreak.reports.records import Run, read_run, write_run

REAL = Path(__file__).parent / "formats_of_version_1" / "run"  # floor(q + 0.5), of a backend called mine
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
SILENT = ("observed", "forbidden", "paths", "relations", "pairs", "repeated")  # what names backends, too
BACKENDS = (
    *("onnxruntime", "onnxruntime-qdq", "openvino", "openvino-as-shipped", "tensorflow", "tensorflow-xla", "torch"),
    *("torch-compiled", "litert", "litert-no-xnnpack", "tosa-reference-model", "onnx-reference", "numpy-naive"),
    *("tract", "iree", "jax", "ncnn"),
)


def real() -> Run:
    """Some cases of a real run, its witness's among them, with the counts of these."""
    run = read_run(REAL)
    (cause,) = run.info["clusters"]
    cases = {cause["witness"]["case"], *run.results["case"].iloc[:: len(run.results) // 40]}
    results, found = (
        frame[frame["case"].isin(cases)].reset_index(drop=True) for frame in (run.results, run.discrepancies)
    )
    domains = {
        name: {
            **share,
            "elements": int((found["domain"] == name).sum()),
            "judged": int(results[f"judged_{name}"].sum()),
        }
        for name, share in cause["domains"].items()
        if f"judged_{name}" in results and (found["domain"] == name).any()
    }
    counts = {"elements": len(found), "cases": int(found["case"].nunique()), "domains": domains}
    return Run(run.info | {"clusters": [cause | counts]}, results, found)


def sound(run: Run) -> Run:
    """The run as if nothing had deviated."""
    results, info = run.results, run.info | {"clusters": [], "exit": 0}
    right = results.assign(exact=results["exact"] + results["deviates"], deviates=0, deviates_calibrated=0)
    verdicts = right["verdict"].astype(str).replace("deviates", "exact")
    return Run(info, right.assign(deviates_edge=0, verdict=verdicts), run.discrepancies.head(0))


def called(run: Run, id: str, text: str) -> Run:
    """The run with another name of its cause, as another Tiebreak might give."""
    info = run.info | {"clusters": [row | {"cause_id": id, "cause": text} for row in run.info["clusters"]]}
    return Run(info, run.results, run.discrepancies.assign(cause_id=id, cause=text))


def without(run: Run, cases: set[str], verdict: str = "") -> Run:
    """The run without these cases, none of which deviates; with a `verdict`, they are there and have that one."""
    mine, zeros = run.results["case"].isin(cases), ["elements", "exact", "working_precision", "judged_calibrated"]
    if not verdict:
        return Run(run.info, run.results[~mine].reset_index(drop=True), run.discrepancies)
    results = run.results.assign(verdict=run.results["verdict"].astype(str).mask(mine, verdict))
    return Run(run.info, results.assign(**{name: run.results[name].mask(mine, 0) for name in zeros}), run.discrepancies)


def renamed(run: Run, name: str, version: str) -> Run:
    """The run of one backend under another name and version."""
    one, *_ = run.info["backends"]
    info = run.info | {"backends": [one | {"name": name, "version": version, "library": name.partition("@")[0]}]}
    info["clusters"] = [row | {"backend": name, "version": version} for row in run.info["clusters"]]
    info["failures"] = [row | {"backend": name, "version": version} for row in run.info.get("failures", [])]
    rows = {"backend": name, "version": version}
    return Run(info | {name: [] for name in SILENT}, run.results.assign(**rows), run.discrepancies.assign(backend=name))


def write_dated(run: Run, folder: Path, day: int) -> Path:
    """The run as one of a later day, in a new folder."""
    folder.mkdir(parents=True)
    created = (FIRST_DAY + timedelta(days=day)).isoformat()
    write_run(folder, Run(run.info | {"created": created}, run.results, run.discrepancies), [])
    return folder


def many(folder: Path, count: int) -> Path:
    """So many runs of two libraries, four of each release; a cause comes and goes with every release of one."""
    base = real()
    kinds = (base, sound(base))
    for number in range(count):
        version, library = f"1.{number // 4}.0", ("mine", "theirs")[number % 2]
        run = renamed(kinds[number // 4 % 2 if library == "mine" else 0], library, version)
        write_dated(run, folder / f"run-{number:03}", number)
    return folder


def wide(run: Run, operators: int = 25) -> Run:
    """A few cases of the run under many names and for many operators: the largest matrix that a report shows."""
    cases, first = run.results.groupby("verdict", observed=True).head(2), run.info["backends"][0]
    places = sorted(OPERATORS, key=lambda name: (source_of(name), name))[:operators]
    results = [
        cases.assign(backend=name, operator=place).iloc[(number + at) % len(cases) :]
        for number, name in enumerate(BACKENDS)
        for at, place in enumerate(places)
    ]
    info: dict[str, Any] = {**run.info, "clusters": [], **{name: [] for name in SILENT}}
    info["backends"] = [{**first, "name": name, "library": name.partition("-")[0]} for name in BACKENDS]
    return Run(info, pd.concat(results, ignore_index=True), run.discrepancies.head(0).assign(backend=""))
