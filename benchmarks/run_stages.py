"""What a `tiebreak run` takes, stage by stage, in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fresh import Failed, in_fresh_process
from timing import Stopwatch

BACKENDS = ("numpy-naive", "onnxruntime")


def measure(specs: Sequence[str], choice: dict[str, Any], rounds: int) -> dict[str, Any]:
    """A row for each stage of the quickest of the rounds; `choice` are arguments of Selection."""
    found: dict[str, Any] = {"backends": list(specs), "level": choice.get("level", "full"), "rounds": rounds}
    try:
        runs: list[dict[str, Any]] = [in_fresh_process(stages, specs, choice)[0] for _ in range(rounds)]
    except Failed as error:
        return found | {"rows": [], "note": str(error)}
    return found | min(runs, key=lambda run: float(run["seconds"]))


def stages(specs: Sequence[str], choice: dict[str, Any]) -> dict[str, Any]:
    """The stages of conformance.main_job timed, and before them loading what it imports."""
    watch = Stopwatch()
    with watch.stage("load Tiebreak"):
        from staged_run import staged
    with tempfile.TemporaryDirectory() as name:
        cases = staged(watch, specs, choice, Path(name))
    total = sum(row["seconds"] for row in watch.rows)
    rows = [row | {"share": row["seconds"] / total} for row in watch.rows]
    return {"cases": cases, "seconds": total, "rows": rows}
