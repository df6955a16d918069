"""`tiebreak sweep --every-scale`: its output, its exit codes, going on, sweeping again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sample_scale_backends as samples
from sweep_support import cli

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep import scale_job, scale_plan
from tiebreak.conformance.sweep.log import SweepLog, sweep_log_path
from tiebreak.conformance.sweep.scale_blocks import scale_block_from
from tiebreak.conformance.sweep.scale_job import check_whole_scales
from tiebreak.conformance.sweep.scale_sweeper import ScaleSweeper
from tiebreak.conformance.sweep.session import LocalBlocks, SweepLimits
from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.scale_space import CALL, Part, ScalePart, ScaleSpace

FEW = ["--operator", "onnx.QuantizeLinear", "--type", "uint8", "--every-scale", "--significands", "40"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """No every x, and not each exponent: workers do the blocks that they are sent."""
    whole = scale_plan.parts_of

    def some(bits: int, count: int) -> Iterator[Part]:
        parts = [part for part in whole(bits, count) if isinstance(part, ScalePart)]
        yield from (*parts[:4], *parts[4::25])

    monkeypatch.setattr(scale_plan, "parts_of", some)


def box(name: str) -> str:
    return f"{samples.__file__}:{name}"


def test_a_right_backend_gets_0_and_a_certificate(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    found = cli(box("quotient_box"), *FEW, "--input", "y_zero_point=128", "-o", str(path))
    assert found.exit_code == 0, found.output
    assert "the same answers at 10 exponents" in found.output and "one scale a call" not in found.output
    data = json.loads(path.read_text())
    assert (
        "settings" in data
        and data["total"]["wrong"] == 0
        and data["total"]["scales"] == 40 * len(data["space"]["parts"])
    )
    assert data["assumes"]["significands"] == "a sample: 40 of 8,388,608, evenly apart"
    again = cli("--check", str(path), box("quotient_box"))
    assert again.exit_code == 0 and "all results are what they were" in again.output
    other = cli("--check", str(path), box("reciprocal_box"), "--json")
    assert other.exit_code == 1 and len(json.loads(other.stdout)["changed_blocks"]) == data["space"]["parts"].__len__()


def test_a_wrong_backend_gets_1_and_its_worst_scale(tmp_path: Path) -> None:
    found = cli(box("reciprocal_box"), *FEW, "-o", str(tmp_path / "c.json"), "--json")
    data = json.loads(found.stdout)
    assert found.exit_code == 1 and data["total"]["differing"] > 100
    assert set(data["parts"]) == {
        "normal range",
        "subnormal",
        "lowest normal exponent",
        "highest exponent",
        "samples at every other exponent",
    }
    assert int(data["parts"]["normal range"]["worst"]["scale"], 16) >> 23 == 127


def test_one_scale_a_call_where_a_backend_takes_no_more(tmp_path: Path) -> None:
    for name, code in (("alone", 0), ("alone_reciprocal", 1)):
        found = cli(box(name), *FEW, "--input", "y_zero_point=3", "-o", str(tmp_path / f"{name}.json"))
        assert found.exit_code == code and "calls: one scale a call" in found.output
        data = json.loads((tmp_path / f"{name}.json").read_text())
        assert data["space"]["along_axis"] is False and bool(data["total"]["pairs"]) == bool(code)


def test_what_goes_back_ends_with_1_and_one_line(tmp_path: Path) -> None:
    found = cli(box("wraps_box"), *FEW, "-o", str(tmp_path / "c.json"))
    *progress, told = found.stderr.splitlines()
    assert found.exit_code == 1 and all(line.endswith(" inputs") for line in progress)
    assert told.startswith("tiebreak: not monotone: with scale 1.0 (0x3f800000), x = ")
    assert "gives 255 and the greater x = 3.4028235e+38 (0x7f7fffff) gives 0" in told
    assert not list(tmp_path.iterdir())


def test_a_crash_ends_with_3(tmp_path: Path) -> None:
    found = cli(box("crash_box"), *FEW, "-o", str(tmp_path / "c.json"))
    assert found.exit_code == 3 and "SIGABRT" in found.output
    assert json.loads((tmp_path / "c.json").read_text())["faults"]


def test_a_type_that_is_not_taken_ends_with_4(tmp_path: Path) -> None:
    found = cli("onnxruntime", *FEW[:3], "int16", *FEW[4:], "--opset", "13", "-o", str(tmp_path / "c.json"))
    assert found.exit_code == 2 and "13" in found.stderr
    found = cli("tensorflow", *FEW[:3], "int16", *FEW[4:], "--input", "y_zero_point=0", "-o", str(tmp_path / "c.json"))
    assert found.exit_code == 4 and "does not take the node" in found.stderr
    assert not list(tmp_path.iterdir())


def stopped_after(monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
    """As Ctrl-C would, once so many blocks are logged."""
    finished = LocalBlocks.finished_blocks

    def some(self: LocalBlocks) -> Iterator[Any]:
        for number, found in enumerate(finished(self)):
            if number == blocks:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr(LocalBlocks, "finished_blocks", some)


@pytest.mark.parametrize("name", ["reciprocal_box", "alone_reciprocal"])
def test_an_interrupted_sweep_goes_on(tmp_path: Path, name: str) -> None:
    path, whole = tmp_path / "c.json", tmp_path / "whole.json"
    arguments = [box(name), *FEW, "--input", "y_zero_point=9", "-o", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        stopped_after(patch, 4)
        found = cli(*arguments)
    assert found.exit_code == 3 and "--resume" in found.stderr and not path.exists()
    refused = cli(*arguments)
    assert refused.exit_code == 2 and "--discard" in refused.stderr
    assert cli(*arguments[:-1], str(whole)).exit_code == 1
    asked: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        sweep = ScaleSweeper.sweep

        def counted(self: ScaleSweeper, numbers: Any) -> Any:
            asked.extend(numbers)
            return sweep(self, numbers)

        patch.setattr(ScaleSweeper, "sweep", counted)
        assert cli(*arguments, "--resume").exit_code == 1
    then, now = (json.loads(file.read_text()) for file in (whole, path))
    assert len(asked) == len(then["space"]["parts"]) - 4
    assert then["sha256"] == now["sha256"]
    for part in (*then["parts"].values(), then["total"], *now["parts"].values(), now["total"]):
        part.pop("seconds")
    assert (then["parts"], then["total"]) == (now["parts"], now["total"])
    assert not sweep_log_path(path).exists()


def test_a_log_of_other_blocks_makes_no_certificate(tmp_path: Path) -> None:
    selection = Selection(("onnx.QuantizeLinear",), {}, "float32", "uint8", 0, {})
    path = tmp_path / "c.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scale_job, "write_scale_certificate", lambda path, result: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            scale_job.every_scale_job(box("quotient_box"), selection, 40, path, SweepLimits())
    log = SweepLog(sweep_log_path(path), scale_block_from)
    log.read()
    log.close()
    space = scale_plan.scale_space(selection, 40, along_axis=True)
    check_whole_scales(space, log)
    good = log.blocks[2].described()
    for change in ({"counts": [40, 0, 0, 0, 0, 0, 0, 0]}, {"counts": [*good["counts"][:3], -1, 0, 0, 0, 0]}):
        log.blocks[2] = scale_block_from(good | change)
        with pytest.raises(DamagedFile, match="block 2 is not one of the sweep's"):
            check_whole_scales(space, log)
    del log.blocks[2]
    with pytest.raises(DamagedFile, match="other blocks"):
        check_whole_scales(space, log)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parts", {}),
        ("sha256", []),
        ("version", 2),
        ("space", {"node": "{}"}),
        ("total", {"scales": 1}),
        ("settings", []),
    ],
)
def test_a_damaged_certificate_is_one_line(tmp_path: Path, name: str, value: Any) -> None:
    path = tmp_path / "c.json"
    assert cli(box("quotient_box"), *FEW, "-o", str(path)).exit_code == 0
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, name: value}))
    found = cli(box("quotient_box"), "--check", str(path))
    if name == "parts":  # what was counted is not compared
        assert found.exit_code == 0
        return
    assert found.exit_code == 2 and found.stderr.count("\n") == 1


def test_a_call_has_many_scales() -> None:
    for kind, scales in (("uint8", 5461), ("int16", 21)):
        space: ScaleSpace = scale_plan.scale_space(
            Selection(("onnx.QuantizeLinear",), {}, "float32", kind, 0, {"y_zero_point": "0"}),
            None,
            along_axis=True,
        )
        call = next(space.calls(0))
        assert call.scales.size == scales and call.x.size <= CALL
