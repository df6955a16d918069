"""A plan of sweeps: read, done, resumed and summed up as a user sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tiebreak.conformance.campaign import campaign_job
from tiebreak.conformance.sweep.plan_file import MOST_SWEEPS, read_campaign_plan
from tiebreak.conformance.sweep.session import SweepLimits
from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.campaign import markdown_cell

SAMPLE = """
from tiebreak import Unsupported
import numpy as np

class Away:
    name, version = "away | <b>", "1"
    operators = {"ngraph.Quantize"}
    def compile(self, node):
        if node.outputs[0].dtype != np.uint8:
            raise Unsupported("uint8 is all it makes")
        def run(x, scale, zero_point):
            with np.errstate(all="ignore"):
                q = x.astype(np.float64) / np.float64(scale)
                q = np.trunc(q + np.copysign(0.5, q)) + zero_point
            return (np.clip(np.nan_to_num(q), 0, 255).astype(np.uint8),)
        return run

def absent():
    raise RuntimeError("no such device")
"""
BASE = """
[[sweep]]
backends = ["numpy-naive", "{mine}:Away", "{mine}:absent"]
operator = "ngraph.Quantize"
types = ["uint8", "int8"]
input_type = "float16"
attributes = {{ round_mode = "ROUND_NEAREST_TOWARD_EVEN" }}
inputs = {{ scale = [0.5, "0x3800"], zero_point = 3 }}
all_modes = true
"""


def sweep(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "tiebreak", "sweep", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def planned(folder: Path, text: str) -> Path:
    (folder / "mine.py").write_text(SAMPLE)
    path = folder / "plan.toml"
    path.write_text(text.format(mine="mine.py") if "{mine}" in text else text)
    return path


def rows_of(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    data = json.loads((folder / "campaign.json").read_text())
    return {(row["backend"], row["output_type"]): row for row in data["sweeps"]}


@pytest.mark.slow
def test_every_sweep_has_its_outcome_and_none_stops_the_others(tmp_path: Path) -> None:
    planned(tmp_path, BASE)
    done = sweep(tmp_path, "--plan", "plan.toml", "-o", "out", "--json")
    assert done.returncode == 1, done.stderr
    said, rows = json.loads(done.stdout), rows_of(tmp_path / "out")
    assert len(rows) == len(said["sweeps"]) == 6  # 0.5 and 0x3800 are one scale
    assert {key: row["status"] for key, row in rows.items()} == {
        ("numpy-naive", "uint8"): "done",
        ("numpy-naive", "int8"): "done",
        ("mine.py:Away", "uint8"): "done",
        ("mine.py:Away", "int8"): "unsupported",
        ("mine.py:absent", "uint8"): "failed",
        ("mine.py:absent", "int8"): "failed",
    }
    wrong = rows["mine.py:Away", "uint8"]
    certificate = json.loads((tmp_path / "out" / wrong["certificate"]).read_text())
    assert certificate["counts"]["deviates"] == wrong["mismatches"] > 0
    assert certificate["modes"] == wrong["modes"] and wrong["modes"]["ROUND_NEAREST_TOWARD_INFINITY"] == 0
    assert "no such device" in rows["mine.py:absent", "int8"]["message"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"campaign.json", "campaign.md", *(r["certificate"] for r in rows.values() if "counts" in r)}
    table = (tmp_path / "out" / "campaign.md").read_text()
    assert table.count("\n| ") == 8 and "<b>" not in table and "away &#124; &#60;b&#62; 1" in table

    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*_*.json")}
    again = sweep(tmp_path, "--plan", "plan.toml", "-o", "out")
    assert again.returncode == 1 and "kept" in again.stdout
    assert [row["status"] for row in rows_of(tmp_path / "out").values()].count("kept") == 3
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*_*.json")}


ONE = """
[[sweep]]
backends = "numpy-naive"
operator = "ngraph.Quantize"
input_type = "float16"
attributes = {round_mode = "ROUND_UP"}
inputs = {scale = 0.5, zero_point = 3}
"""


def test_another_certificate_in_the_place_of_one_is_left_alone(tmp_path: Path) -> None:
    plan = planned(tmp_path, ONE.replace("0.5", "[0.5, 0.25]"))
    first, second = sweeps = read_campaign_plan(plan)
    assert campaign_job(plan, sweeps, tmp_path / "out", SweepLimits())["exit"] == 0
    other = (tmp_path / "out" / second.file).read_text()
    (tmp_path / "out" / first.file).write_text(other)
    data = campaign_job(plan, sweeps, tmp_path / "out", SweepLimits())
    failed, kept = data["sweeps"]
    assert (failed["status"], kept["status"], data["exit"]) == ("failed", "kept", 3)
    assert "another sweep" in failed["message"] and (tmp_path / "out" / first.file).read_text() == other


def test_an_unfinished_sweep_goes_on_from_its_log(tmp_path: Path) -> None:
    plan, seen = planned(tmp_path, ONE), list[int]()
    sweeps = read_campaign_plan(plan)
    part = tmp_path / "out" / f"{sweeps[0].file}.part"

    def interrupt(done: int, of: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        campaign_job(plan, sweeps, tmp_path / "out", SweepLimits(), progress=interrupt)
    assert part.exists() and json.loads((tmp_path / "out" / "campaign.json").read_text())["exit"] == 3
    data = campaign_job(
        plan, sweeps, tmp_path / "out", SweepLimits(), resume=True, progress=lambda done, of: seen.append(done)
    )
    assert data["exit"] == 0 and not part.exists()
    assert set(seen) == {1 << 16}  # the only block was in the log: nothing was left to do

    part.write_text("garbage\n")
    (tmp_path / "out" / sweeps[0].file).unlink()
    (row,) = campaign_job(plan, sweeps, tmp_path / "out", SweepLimits(), resume=True)["sweeps"]
    assert row["status"] == "failed" and "damaged" in row["message"]
    (row,) = campaign_job(plan, sweeps, tmp_path / "out", SweepLimits())["sweeps"]  # anew
    assert row["status"] == "done" and not part.exists()


def test_a_plan_is_the_product_of_its_lists(tmp_path: Path) -> None:
    text = '[[sweep]]\nbackends = ["a:b", "c:d"]\noperator = ["onnx.QuantizeLinear"]\ntypes = ["int8", "uint8"]\n'
    text += 'opset = [13, 21]\ninputs = {y_scale = [0.1, 0.2, 0.3], y_zero_point = 3}\ninput_type = "float32"\n'
    sweeps = read_campaign_plan(planned(tmp_path, text))
    assert len(sweeps) == len({each.file for each in sweeps}) == 2 * 2 * 2 * 3
    assert [each.spec for each in sweeps][::12] == ["a:b", "c:d"]


def test_the_plan_in_the_documents_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "sweep-plans.md").read_text()
    sweeps = read_campaign_plan(planned(tmp_path, page.split("```toml\n")[1].split("```")[0]))
    assert len(sweeps) == 2 * 2 * 2 + 2


def test_names_of_files_are_safe_and_bounded(tmp_path: Path) -> None:
    text = '[[sweep]]\nbackends = "exec:/bin/x ../../$(y) \\n\\u202e%s"\noperator = "onnx.QuantizeLinear"\n'
    (one,) = read_campaign_plan(planned(tmp_path, text % ("z" * 300) + 'inputs = {y_scale = "0.1"}\n'))
    assert len(one.file) < 150 and one.file.isascii() and not one.file.startswith((".", "-"))
    assert not set(one.file) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


HEAD = '[[sweep]]\nbackends = "numpy-naive"\noperator = "ngraph.Quantize"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no [[sweep]] entry"),
        ("x = 1", "unknown key 'x'"),
        ("[[sweep]\n", "not TOML"),
        (HEAD + "modez = 1", "sweep 1: unknown key 'modez'; allowed: backends, operator"),
        (HEAD + HEAD.replace("backends", "#"), "sweep 2: no 'backends'"),
        (HEAD + 'types = ["int8", "int9"]', "sweep 1: types: 'int9' is none of"),
        (HEAD + "types = []", "sweep 1: types: "),
        (HEAD + "all_modes = 1", "sweep 1: all_modes: 1 is not of type 'boolean'"),
        (HEAD + "inputs = {scale = [true]}", "sweep 1: inputs.scale: True is not of type"),
        (HEAD + "inputs = {scale = 0.1}", "sweep 1: ngraph.Quantize needs the attribute 'round_mode'"),
        (HEAD + "attributes = {round_mode = ['ROUND_SIDEWAYS']}\ninputs = {scale=1, zero_point=0}", "ROUND_SIDEWAYS"),
        (HEAD + f"inputs = {{scale = {[*range(1, MOST_SWEEPS + 2)]}}}", f"at most {MOST_SWEEPS}"),
    ],
)
def test_a_wrong_plan_is_one_line_that_names_the_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_campaign_plan(planned(tmp_path, text))
    assert said in str(raised.value)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("numpy-naive", "--plan", "plan.toml"), "--plan says what is swept"),
        (("--plan", "none.toml"), "none.toml: can't read"),
        (("--plan", "plan.toml", "-o", "plan.toml"), "can't write"),
        (("--plan", "plan.toml", "--scheduler-workers", "2"), "--scheduler local"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    planned(tmp_path, HEAD + "inputs = {scale = 1, zero_point = 0}\nattributes = {round_mode = 'ROUND_UP'}")
    done = sweep(tmp_path, *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_untrusted_text_means_nothing_in_the_table() -> None:
    assert markdown_cell("a|b\n[x](y) `<i>` \x1b") == "a&#124;b?&#91;x&#93;(y) &#96;&#60;i&#62;&#96; ?"
