"""Real runs of a backend called dev, whose versions round right, round ties away, and abort; and of others."""

from __future__ import annotations

from pathlib import Path

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_cases
from tiebreak.reports.records import as_run, write_run

TESTS = Path(__file__).parent
BACKENDS = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from sample_backends import Sample, abort, half_away, hostile, quantize, sound

def version(number, run):
    backend = Sample("dev", run)
    backend.version = number
    return backend

right = version("1.0", quantize)
away = version("2.0", lambda node, *inputs: quantize(node, *inputs, rint=half_away))
aborts = version("3.0", abort)
"""
SELECTION = Selection(operators=("onnx.QuantizeLinear",), input_type="float32", output_type="uint8", level="quick")
RUNS = {"sound": ["right"], "away": ["away"], "aborts": ["aborts"], "both": ["away", "sound"], "hostile": ["hostile"]}


def recorded(folder: Path) -> Path:
    """Folders of runs by the names of RUNS."""
    backends = folder / "versions.py"
    backends.write_text(BACKENDS, encoding="utf-8")
    cases = [case for case in plan(SELECTION) if not case.id.startswith("path/")]
    for name, attributes in RUNS.items():
        (folder / name).mkdir()
        facts = {"command": "tiebreak run", "level": "quick", "seed": 0, "time_limit": 30, "folder": name}
        records = run_cases([f"{backends}:{attribute}" for attribute in attributes], cases, time_limit=30, facts=facts)
        write_run(folder / name, as_run(records), records.generated)
    return folder
