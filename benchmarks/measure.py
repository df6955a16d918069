"""What Tiebreak costs, measured: the kernel, sweeps, Dask workers, a run by stage, a case, an audit, a hook, reports.

    python benchmarks/measure.py [--only PART] [--quick] [-o FOLDER]

PART: kernel, sweep, cast-sweep, workers, planning, run, full-run, cases, audit, hook or report.

Writes FOLDER/results.json and prints its tables. Without -o the folder is benchmarks/ and docs/benchmarks.md shows the
tables; with it FOLDER/tables.md does. --only measures one part and keeps what results.json has of the others. --quick
takes little of everything and tells only that it works. Let nothing else run meanwhile.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# The parts are loaded when their turn comes: processes of their own load this file too, and some are timed from there.

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
FORMAT = {"format": "tiebreak-benchmarks", "version": 1}
LIBRARIES = ("numpy", "onnxruntime", "torch", "tensorflow", "tensorflow-cpu", "pandas", "pyarrow")
BEGIN, END = "<!-- tables: benchmarks/measure.py writes what follows -->", "<!-- end of tables -->"


def kernel_part(quick: bool) -> dict[str, Any]:
    import kernel

    return {"rows": kernel.measure(kernel.QUICK if quick else kernel.Sizes())}


def sweep_part(quick: bool) -> dict[str, Any]:
    import sweep

    return sweep.measure(sweep.BACKEND, sweep.SELECTION, 1 if quick else 3, sweep.FEW if quick else 0)


def cast_sweep_part(quick: bool) -> dict[str, Any]:
    import sweep

    return sweep.measure(sweep.BACKEND, sweep.CAST, 1 if quick else 3, sweep.FEW if quick else 0)


def workers_part(quick: bool) -> dict[str, Any]:
    import workers

    return workers.measure(1 if quick else 2, workers.Sizes(64, 4, run=False) if quick else workers.Sizes())


def planning_part(quick: bool) -> dict[str, Any]:
    import planning

    return planning.measure(planning.CHOICE, 1 if quick else 3)


def run_part(quick: bool) -> dict[str, Any]:
    import run_stages

    return run_stages.measure(run_stages.BACKENDS, {"level": "quick"}, 1 if quick else 3)


def cases_part(quick: bool) -> dict[str, Any]:
    import case_costs

    return case_costs.measure(case_costs.PASSED, case_costs.JUDGED, 1 if quick else 3)


def full_run_part(quick: bool) -> dict[str, Any]:
    import full_run

    few = {"level": "quick", "operators": ("ngraph.Quantize",)}
    return full_run.measure(*((("numpy-naive",), few) if quick else (full_run.EVERY, {"level": "full"})))


def audit_part(quick: bool) -> dict[str, Any]:
    import audit

    return audit.measure(1 if quick else 5, audit.PREDICTIONS // (64 if quick else 1))


def hook_part(quick: bool) -> dict[str, Any]:
    import hook

    backends = (hook.BACKEND,) if quick else (hook.BACKEND, "onnxruntime")
    return hook.measure(backends, 1 if quick else 3, "brief" if quick else "quick")


def report_part(quick: bool) -> dict[str, Any]:
    import report

    return report.measure(report.COUNTS[:2] if quick else report.COUNTS, report.SELECTION)


PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "kernel": kernel_part,
    "sweep": sweep_part,
    "cast-sweep": cast_sweep_part,
    "workers": workers_part,
    "planning": planning_part,
    "run": run_part,
    "cases": cases_part,
    "full-run": full_run_part,
    "audit": audit_part,
    "hook": hook_part,
    "report": report_part,
}


def facts(quick: bool) -> dict[str, Any]:
    """What the figures depend on."""
    from tiebreak.adapters.platform_facts import instruction_sets, machine
    from tiebreak.golden import _kernel

    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": machine(),
        "processor": processor(),
        "cores": cores(),
        "instruction_sets": instruction_sets(),
        "kernel_path": _kernel.chosen_path(),
        "libraries": {name: version for name in LIBRARIES if (version := version_of(name))},
    }


def cores() -> int:
    """How many of the processor's cores we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0


def processor() -> str:
    """The processor's name, as Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def version_of(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def known(path: Path) -> dict[str, Any]:
    """The results that are there already; none if the file is missing or something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return dict(FORMAT)
    same = isinstance(data, dict) and all(data.get(name) == value for name, value in FORMAT.items())
    return data if same else dict(FORMAT)


def with_tables(page: str, tables: str) -> str:
    """The page with these tables between its two marks. ValueError if it lacks them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def write(folder: Path, results: dict[str, Any]) -> str:
    """Both files, each set aside and renamed; the tables."""
    from rendering import render

    from tiebreak.reports.records import write_aside

    tables = render(results)
    own = folder.resolve() == HERE
    shown = with_tables(PAGE.read_text(encoding="utf-8"), tables) if own else tables
    for path, text in ((folder / "results.json", as_text(results)), (PAGE if own else folder / "tables.md", shown)):
        write_aside(path, lambda aside, text=text: aside.write_text(text, encoding="utf-8"))  # type: ignore[misc]
    return tables


def as_text(results: dict[str, Any]) -> str:
    """JSON with a line for each row, so that what changed can be seen."""
    parts = []
    for name, value in results.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, dict):
            rows = ",\n   ".join(json.dumps(rounded(row), ensure_ascii=False) for row in value["rows"])
            head = json.dumps({key: item for key, item in value.items() if key != "rows"}, ensure_ascii=False)
            text = f'{head[:-1]},\n  "rows": [\n   {rows}\n  ]}}'
        parts.append(f"{json.dumps(name)}: {text}")
    return "{" + ",\n ".join(parts) + "}\n"


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Six digits are more than were measured."""
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in row.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    from tiebreak.golden.errors import TiebreakError
    from tiebreak.golden.places import check_writable

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=HERE, metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    try:
        check_writable(chosen.output)
        results = known(chosen.output / "results.json")
        for name in [chosen.only] if chosen.only else PARTS:
            print(f"measuring: {name}", file=sys.stderr, flush=True)
            results[name] = facts(chosen.quick) | PARTS[name](chosen.quick)
            tables = write(chosen.output, results)  # each part is kept, whatever becomes of the next
        print(tables)
    except TiebreakError as error:
        print(f"measure.py: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
