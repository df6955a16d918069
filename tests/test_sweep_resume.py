"""Faults in a sweep, and going on with one that was interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_support import FIXED, cli, half_space, sample

from tiebreak.adapters.sweeping import SLOTS
from tiebreak.conformance.sweep.blocks import judge_block
from tiebreak.conformance.sweep.choosing import judge_for
from tiebreak.conformance.sweep.digests import Digests
from tiebreak.conformance.sweep.job import sweep_job
from tiebreak.conformance.sweep.log import SweepLog, sweep_log_path
from tiebreak.conformance.sweep.session import SweepLimits
from tiebreak.conformance.sweep.sweeper import Sweeper, far_apart
from tiebreak.golden.errors import MachineryFailed
from tiebreak.version import __version__


def test_a_crash_costs_its_block_and_is_named(tmp_path: Path) -> None:
    space = replace(half_space(y_zero_point="128"), block=1 << 20)  # 16 scales a block
    sweeper = Sweeper(sample("crashes"), space)
    try:
        blocks = list(sweeper.sweep(range(12)))
    finally:
        sweeper.close()
    assert [block.number for block in blocks] == list(range(12))
    faulty = [block.number for block in blocks if block.fault]
    assert faulty == [3, 4, 5, 6, 7] and "SIGABRT" in blocks[3].fault
    assert all(sum(block.counts) == space.block for block in blocks if not block.fault)


@pytest.mark.slow
def test_checksums_on_idle_cores_are_those_of_the_caller() -> None:
    """Threads take them while slots are filled anew; a crash on the way loses none."""
    space = replace(half_space(y_zero_point="128"), block=1 << 20)
    core = min(os.sched_getaffinity(0))
    found = []
    for digests in (Digests(), Digests(cores=[core, core])):
        with closing(Sweeper(sample("crashes"), space, pinned=False, digests=digests)) as sweeper:
            found.append([replace(block, seconds=0) for block in sweeper.sweep(range(60))])
        assert digests.threads == len(digests.cores)
    assert found[0] == found[1]
    assert len({block.sha256 for block in found[0]}) > 30 and sum(bool(block.fault) for block in found[0]) == 5


def test_a_backend_that_always_fails_is_given_up(tmp_path: Path) -> None:
    space = replace(half_space(y_zero_point="128"), block=1 << 16)
    with pytest.raises(MachineryFailed, match=r"given up after 8 blocks: output is uint8\[65535\]"):
        sweep_job(sample("wrong_shape"), space, tmp_path / "c.json", SweepLimits())
    assert not (tmp_path / "c.json").exists()


def test_a_fault_in_the_only_block_ends_with_3(tmp_path: Path) -> None:
    result = cli(sample("wrong_shape"), *FIXED, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 3 and "65535" in result.stdout


SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path
from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep.job import space_of, sweep_job
from tiebreak.conformance.sweep.session import SweepLimits
from tiebreak.conformance.sweep.sweeper import Sweeper
space = space_of(Selection(("onnx.QuantizeLinear",), {}, "float16", "uint8", inputs={"y_zero_point": "128"}))
space = replace(space, block=1 << 16)
type(space).scales = 60  # of 31743
sweep_job(sys.argv[1], space, Path(sys.argv[2]), SweepLimits(all_modes=True), resume=sys.argv[3] == "resume")
"""


def sweep_some(file: Path, notes: Path, how: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "TIEBREAK_TEST_NOTES": str(notes)}
    command = [sys.executable, "-c", SCRIPT, sample("notes"), str(file), how]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path, how: signal.Signals) -> None:
    whole, broken, notes = tmp_path / "whole.json", tmp_path / "broken.json", tmp_path / "notes"
    sweep_some(whole, tmp_path / "other", "anew").communicate(timeout=120)
    process, log, deadline = sweep_some(broken, notes, "anew"), sweep_log_path(broken), time.monotonic() + 60
    while not log.exists() or log.read_bytes().count(b"\n") < 12:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(how)
    process.communicate(timeout=60)
    kept = log.read_bytes().count(b"\n") - 1
    log.write_bytes(log.read_bytes() + b"0badc0de {half a li")
    process = sweep_some(broken, notes, "resume")
    said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert compared(broken) == compared(whole)
    assert len(compared(whole)["sha256"]) > 10 and compared(whole)["counts"]["deviates"] > 100
    calls = Counter(line for line in notes.read_text().split() if line.endswith(":65536"))
    assert len(calls) == 60 and kept >= 11
    done = [number + 1 for number in far_apart(range(60))[:kept]]  # later blocks may have been under way
    assert all(calls[f"{scale}:65536"] == 1 for scale in done)


def compared(file: Path) -> dict[str, Any]:
    data = json.loads(file.read_text())
    return {name: value for name, value in data.items() if name not in ("created", "seconds", "backend_seconds")}


def test_going_on_with_nothing_or_with_another_sweep_is_refused(tmp_path: Path) -> None:
    result = cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json"), "--resume")
    assert result.exit_code == 2 and "nothing to go on with" in result.stderr
    sweep_log_path(tmp_path / "c.json").write_text("nothing of the sort\n")
    assert cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json"), "--resume").exit_code == 2


def test_two_sweeps_on_one_file_are_refused(tmp_path: Path) -> None:
    log = SweepLog(sweep_log_path(tmp_path / "c.json"))
    log.begin({"anything": 1})
    result = cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 2 and "another sweep is writing there" in result.stderr
    assert log.path.read_bytes()
    log.close()
    assert cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json")).exit_code == 0


def test_a_sweep_that_was_broken_off_is_discarded_only_if_asked(tmp_path: Path) -> None:
    certificate, log = tmp_path / "c.json", SweepLog(sweep_log_path(tmp_path / "c.json"))
    log.begin({"anything": 1})
    log.write({"block": 0})
    log.close()
    kept = log.path.read_bytes()
    for words, says in (([], "--resume goes on with it, --discard begins anew"), (["--resume", "--discard"], "one of")):
        result = cli(sample("right"), *FIXED, "-o", str(certificate), *words)
        assert result.exit_code == 2 and says in result.stderr
        assert log.path.read_bytes() == kept
    assert cli(sample("right"), *FIXED, "-o", str(certificate), "--discard").exit_code == 0
    assert certificate.exists() and not log.path.exists()


def test_a_sweep_goes_on_under_its_own_settings_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = tmp_path / "c.json"
    space = half_space(y_scale="0.1", y_zero_point="128").described()
    monkeypatch.delenv("MKL_CBWR", raising=False)
    log = SweepLog(sweep_log_path(certificate))
    log.begin({"tiebreak": __version__, "space": space, "all_modes": False, "settings": {"MKL_CBWR": "2"}})
    log.close()
    refused = cli(sample("right"), *FIXED, "-o", str(certificate), "--resume")
    assert refused.exit_code == 2 and "MKL_CBWR=2 → no MKL_CBWR: set it as it was" in refused.stderr
    assert log.path.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"block": 5},
        {"block": -1},
        {"counts": [0, 0, 0, 0, -7]},
        {"counts": [65536, 0, 0, 0, 1]},
        {"seconds": float("nan")},
    ],
)
def test_a_log_of_other_blocks_makes_no_certificate(tmp_path: Path, change: dict[str, Any]) -> None:
    from tiebreak.adapters.sweeping import BlockAnswer
    from tiebreak.conformance.sweep.job import check_whole
    from tiebreak.conformance.sweep.log import SweepLog
    from tiebreak.golden.errors import DamagedFile

    space, log = half_space(y_scale="0.1", y_zero_point="0"), SweepLog(tmp_path / "c.json.part")
    output = np.zeros(1 << 16, np.uint8)
    block = judge_block(space, judge_for(space), BlockAnswer(0, "ok", output, 0.5), all_modes=False)
    log.begin({"anything": 1})
    log.add(block, {})
    check_whole(space, log)
    log.write({**block.described(), **change})
    log.close()
    again = SweepLog(log.path)
    again.read()
    again.close()
    with pytest.raises(DamagedFile):
        check_whole(space, again)


def test_damaged_lines_of_a_log_are_dropped_without_a_traceback() -> None:
    import zlib

    from tiebreak.conformance.sweep.log import parse_line

    deep = b"[" * 200_000
    assert parse_line(b"%08x %b\n" % (zlib.crc32(deep), deep)) is None
    assert parse_line(b'%08x {"a": 1}\n' % zlib.crc32(b'{"a": 1}')) == {"a": 1}
    assert parse_line(b'%08x {"a": 1}' % zlib.crc32(b'{"a": 1}')) is None


def test_a_death_between_blocks_costs_no_block_that_was_answered() -> None:
    space = replace(half_space(y_zero_point="128"), block=1 << 16)
    sweeper, faults = Sweeper(sample("right"), space, pinned=False), []  # each block comes before the next is judged
    try:
        for block in sweeper.sweep(range(2 * SLOTS)):
            faults.append(block.fault)
            if block.number == 2:
                assert sweeper.worker is not None
                time.sleep(0.5)  # it has answered what it was asked
                sweeper.worker.process.kill()
                sweeper.worker.process.wait()
    finally:
        sweeper.close()
    assert [number for number, fault in enumerate(faults) if fault] == [2 + SLOTS] and "SIGKILL" in faults[2 + SLOTS]
