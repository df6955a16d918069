"""What only a full run of all installed backends shows; takes half an hour: `pytest -m slow tests/test_full_run.py`.

TIEBREAK_FULL_RUN may name the folder of one that is there already.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

TIEBREAK = [sys.executable, "-m", "tiebreak"]
SCRIPTS_AT_ONCE = 2
GOT = re.compile(r"got (0x[0-9a-f]+) \((.*)\); recorded (.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def full_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("TIEBREAK_FULL_RUN"):
        return Path(os.environ["TIEBREAK_FULL_RUN"])
    folder = tmp_path_factory.mktemp("full") / "run"
    subprocess.run([*TIEBREAK, "run", "--level", "full", "-o", str(folder)], check=False, stdout=subprocess.DEVNULL)
    return folder


def problem_of(folder: Path, cluster: dict[str, Any], scripts: Path) -> str:
    """Run a cluster's script; empty if it fails as recorded."""
    made = subprocess.run(
        [*TIEBREAK, "repro", cluster["id"], "--run", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        return f"{cluster['id']}: no script: {made.stderr}"
    script = scripts / f"{cluster['id']}.py"
    script.write_text(made.stdout)
    ran = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False, timeout=300)
    said = GOT.search(ran.stdout)
    if ran.returncode != 1 or said is None:
        return f"{cluster['id']}: exit {ran.returncode}: {ran.stdout}{ran.stderr}"
    same = said[1] == said[3] or (said[3] == "a NaN" and said[2] == "nan")
    return "" if same else f"{cluster['id']}: {said[0]}"


@pytest.mark.slow
def test_every_clusters_script_fails_as_recorded(full_run: Path, tmp_path: Path) -> None:
    clusters = json.loads((full_run / "run.json").read_text())["clusters"]
    with ThreadPoolExecutor(SCRIPTS_AT_ONCE) as pool:
        problems = list(pool.map(lambda cluster: problem_of(full_run, cluster, tmp_path), clusters))
    assert len(clusters) > 50
    assert not [problem for problem in problems if problem]
