"""On a Dask cluster everything comes out as on one machine, also when a worker dies in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tiebreak.conformance.campaign import campaign_job
from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.dask import tasks
from tiebreak.conformance.dask.scheduler import Cluster, cluster_at
from tiebreak.conformance.dask.sweeps import ClusterBlocks, scales_on, sweep_on
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.conformance.sweep import scale_plan
from tiebreak.conformance.sweep.job import space_of, sweep_job
from tiebreak.conformance.sweep.log import SweepLog, sweep_log_path
from tiebreak.conformance.sweep.plan_file import read_campaign_plan
from tiebreak.conformance.sweep.scale_job import every_scale_job
from tiebreak.conformance.sweep.session import SweepLimits
from tiebreak.golden.errors import InvalidInput, MachineryFailed, NotMonotone, Unsupported
from tiebreak.golden.space import Space

pytest.importorskip("distributed")

SAMPLES = Path(__file__).parent / "sample_backends.py"
BLOCKS = 24
MINE = '''
import os, time
from pathlib import Path
from tiebreak import Unsupported
import numpy as np

class Slow:
    name, version = "slow", "1"
    def __init__(self, seconds=0.02):
        self.seconds = seconds
    def compile(self, node):
        if node.outputs[0].dtype != np.uint8:
            raise Unsupported("uint8 is all it makes")
        def run(x, scale, zero_point):
            time.sleep(self.seconds)
            with np.errstate(all="ignore"):
                q = x.astype(np.float64) / np.float64(scale)
                q = np.trunc(q + np.copysign(0.5, q)) + zero_point
            return (np.clip(np.nan_to_num(q), 0, 255).astype(np.uint8),)
        return run

class Changing(Slow):
    """Another version each time that it is loaded."""
    def __init__(self):
        super().__init__(0)
        self.version = str(os.getpid())

def quick():
    return Slow(0)
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with cluster_at("local", 2) as found:
        yield found


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return str(path)


@pytest.fixture(autouse=True)
def few_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scale is too many here; workers do the blocks that they are sent."""
    monkeypatch.setattr(Space, "scales", property(lambda space: BLOCKS if space.every_scale else 1))


def space(output_type: str = "uint8") -> Space:
    """Every float16 with some scales, a block for each."""
    attributes = {"round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
    found = space_of(Selection(("ngraph.Quantize",), attributes, "float16", output_type, 0, {"zero_point": "3"}))
    return replace(found, block=1 << 16)


def comparable(certificate: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A certificate without when and how long, and the machines that took part."""
    data = json.loads(certificate.read_text())
    machines = data["backend"].pop("machines", [])
    return {name: data[name] for name in data if name not in ("created", "seconds", "backend_seconds")}, machines


@pytest.mark.slow
def test_a_dead_worker_changes_nothing(cluster: Cluster, tmp_path: Path, mine: str) -> None:
    sweep_job(f"{mine}:quick", space(), tmp_path / "here.json", SweepLimits(all_modes=True))
    before = cluster.client.run(os.getpid)

    def kill_one(done: int, of: int) -> None:
        if done == of // 8 and before:
            os.kill(before.popitem()[1], signal.SIGKILL)

    sweep_on(cluster, f"{mine}:Slow", space(), tmp_path / "there.json", SweepLimits(all_modes=True), progress=kill_one)
    assert len(before) == 1
    here, none = comparable(tmp_path / "here.json")
    there, machines = comparable(tmp_path / "there.json")
    here["backend"]["spec"] = there["backend"]["spec"]
    assert here == there and not none
    assert here["counts"]["deviates"] > 0 and here["intervals"]["kept"][0]["cause"]
    assert sum(machine["blocks"] for machine in machines) == BLOCKS and machines[0]["host"]
    assert not sweep_log_path(tmp_path / "there.json").exists()


def test_workers_of_this_machine_share_its_cores(cluster: Cluster) -> None:
    """The threads that do tasks too, which are there by now or start later."""

    def affinities() -> set[frozenset[int]]:  # in here, so that it is sent whole: workers can't import tests
        return {frozenset(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")}

    cluster.client.wait_for_workers(2, timeout=60)  # an earlier test kills one, which is started again
    found = [set(task) for task in cluster.client.run(affinities).values()]
    assert {len(task) for task in found} == {1}
    here, own = os.sched_getaffinity(0), [next(iter(task)) for task in found]
    assert set(map(frozenset, shares(2, sorted(here)))) == set(own)
    assert os.sched_getaffinity(0) == here


def shares(workers: int, cores: Sequence[int]) -> list[list[int]]:
    return [list(tasks.share_of_cores(number, workers, cores)) for number in range(workers)]


def test_each_worker_has_its_part_of_the_cores() -> None:
    assert shares(1, [0, 1]) == [[0, 1]]
    assert shares(2, [3, 5, 7]) == [[3, 7], [5]]
    assert shares(3, [3, 5]) == [[3], [5], [3]]


def test_every_scale_on_a_cluster_is_the_one_here(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what goes back: the exit code is that of a mismatch, there as here."""
    whole = list(scale_plan.parts_of(8, 50))
    monkeypatch.setattr(scale_plan, "parts_of", lambda bits, count: iter((*whole[:4], *whole[4::40])))
    selection = Selection(("onnx.QuantizeLinear",), {}, "float32", "uint8", 0, {"y_zero_point": "7"})
    boxes = Path(__file__).parent / "sample_scale_backends.py"
    found = []
    for name, more in (("here", {}), ("there", {"runner": scales_on(cluster)})):
        path = tmp_path / f"{name}.json"
        every_scale_job(f"{boxes}:reciprocal_box", selection, 50, path, SweepLimits(), **more)
        data, machines = comparable(path)
        assert bool(machines) == (name == "there") and data["total"].pop("seconds") > 0
        assert all(part.pop("seconds") >= 0 for part in data["parts"].values())
        found.append(data)
        with pytest.raises(NotMonotone, match="not monotone: with scale") as raised:
            every_scale_job(f"{boxes}:wraps_box", selection, 50, path, SweepLimits(), **more)
        assert raised.value.exit_code == 1
    assert found[0] == found[1] and found[0]["total"]["pairs"] > 0


@pytest.mark.slow
def test_what_came_back_is_kept_and_an_interrupted_sweep_goes_on(cluster: Cluster, tmp_path: Path, mine: str) -> None:
    certificate, spec = tmp_path / "c.json", f"{mine}:quick"

    def interrupt(done: int, of: int) -> None:
        if done >= of // 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep_on(cluster, spec, space(), certificate, SweepLimits(), progress=interrupt)
    log = SweepLog(sweep_log_path(certificate))
    log.read()
    log.close()
    assert BLOCKS // 4 <= len(log.blocks) < BLOCKS

    done: list[int] = []
    data = sweep_on(
        cluster, spec, space(), certificate, SweepLimits(), resume=True, progress=lambda n, of: done.append(n)
    )
    assert done[0] == len(log.blocks) << 16 and done[-1] == BLOCKS << 16
    assert sum(machine["blocks"] for machine in data["backend"]["machines"]) == BLOCKS
    sweep_job(spec, space(), tmp_path / "here.json", SweepLimits())
    assert comparable(certificate)[0] == comparable(tmp_path / "here.json")[0]


@pytest.mark.few(1)
@pytest.mark.parametrize(("backend", "package"), [("numpy-naive", "numpy"), ("onnxruntime", "onnxruntime")])
def test_a_real_backend_gives_the_same_certificate(
    cluster: Cluster, tmp_path: Path, backend: str, package: str
) -> None:
    pytest.importorskip(package)
    sweep_job(backend, space(), tmp_path / "here.json", SweepLimits())
    sweep_on(cluster, backend, space(), tmp_path / "there.json", SweepLimits())
    assert comparable(tmp_path / "here.json")[0] == comparable(tmp_path / "there.json")[0]


def test_workers_with_different_backends_make_no_certificate(cluster: Cluster, tmp_path: Path, mine: str) -> None:
    with pytest.raises(MachineryFailed, match=r"its version is \d+, elsewhere it is \d+: all workers need the same"):
        sweep_on(cluster, f"{mine}:Changing", space(), tmp_path / "c.json", SweepLimits())
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize(
    ("spec", "output_type", "error", "said"),
    [
        ("nowhere.py:Mine", "uint8", InvalidInput, r"Dask worker on .*: backend 'nowhere.py:Mine': no file nowhere.py"),
        ("{mine}:Absent", "uint8", InvalidInput, "no 'Absent' there"),
        ("{mine}:Slow", "int8", Unsupported, "uint8 is all it makes"),
    ],
)
def test_what_a_worker_refuses_is_said_here(
    cluster: Cluster, tmp_path: Path, mine: str, spec: str, output_type: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        sweep_on(cluster, spec.format(mine=mine), space(output_type), tmp_path / "c.json", SweepLimits())
    assert not list(tmp_path.glob("c.json*"))


def test_groups_grow_to_about_a_second_and_leave_work_for_every_worker(cluster: Cluster) -> None:
    crew = ClusterBlocks(cluster, "x", space(), SweepLimits())
    for blocks, seconds, size in ((1, 0.001, 4), (4, 0.02, 16), (16, 4.0, 4), (4, 40.0, 1)):
        crew.adapt(blocks, seconds)
        assert crew.size == size


@pytest.mark.slow
def test_a_campaign_on_a_cluster_is_the_one_here(cluster: Cluster, tmp_path: Path, mine: str) -> None:
    text = f'[[sweep]]\nbackends = ["numpy-naive", "{mine}:quick", "nowhere.py:Mine"]\noperator = "ngraph.Quantize"\n'
    text += 'types = ["uint8", "int8"]\ninput_type = "float16"\ninputs = {scale = 0.5, zero_point = 3}\n'
    plan = tmp_path / "plan.toml"
    plan.write_text(text + 'attributes = {round_mode = "ROUND_UP"}\n')
    sweeps = read_campaign_plan(plan)
    there = campaign_job(plan, sweeps, tmp_path / "there", SweepLimits(), cluster=cluster)
    here = campaign_job(plan, [s for s in sweeps if "nowhere" not in s.spec], tmp_path / "here", SweepLimits())
    assert [row["status"] for row in there["sweeps"]] == ["done", "done", "done", "unsupported", "failed", "failed"]
    for a, b in zip(there["sweeps"], here["sweeps"], strict=False):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}
    assert there["exit"] == here["exit"] == 1


def records(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """A run's tables and info, without how long things took and when, nor the second processes: a cluster has none."""
    info = json.loads((folder / "run.json").read_text())
    left = {name: info[name] for name in info if name not in ("created", "command", "folder", "stages", "repeated")}
    results = pd.read_parquet(folder / "results.parquet").drop(columns="seconds")
    return results, pd.read_parquet(folder / "discrepancies.parquet"), left


@pytest.mark.few(1)
@pytest.mark.parametrize("names", [("sound", "wrong"), ("aborts", "compiles_badly")])
def test_a_run_has_the_same_records(cluster: Cluster, tmp_path: Path, names: tuple[str, ...]) -> None:
    specs = [f"{SAMPLES}:{name}" for name in names]
    chosen = Selection(("onnx.QuantizeLinear",), {}, "float32", "uint8", 21, level="")
    codes = [
        main_job(specs, chosen, tmp_path / folder, RunLimits(), show="json", cluster=there)
        for folder, there in (("here", None), ("there", cluster))
    ]
    assert codes[0] == codes[1] in (1, 3)
    one, other = records(tmp_path / "here"), records(tmp_path / "there")
    pd.testing.assert_frame_equal(one[0], other[0])
    pd.testing.assert_frame_equal(one[1], other[1])
    assert one[2] == other[2] and len(one[0]) > 100


def tiebreak(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "tiebreak", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_the_command_line_reaches_a_scheduler(cluster: Cluster, tmp_path: Path) -> None:
    address = cluster.client.scheduler.address
    words = ["--operator", "ngraph.Quantize", "--attr", "round_mode=ROUND_UP", "--input", "scale=0.5"]
    words += ["--input", "zero_point=3", "--input-type", "float16", "-o", str(tmp_path / "c.json"), "--json"]
    done = tiebreak("sweep", "numpy-naive", *words, "--scheduler", address)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["inputs"] == 1 << 16 and not done.stderr
    assert comparable(tmp_path / "c.json")[1]


@pytest.mark.parametrize(
    ("address", "workers", "said"),
    [
        ("nonsense://x:1", 0, "unknown address scheme"),
        ("tcp://127.0.0.1", 0, "missing port number"),
        ("tcp://127.0.0.1:1", 2, "--scheduler-workers goes with --scheduler local"),
    ],
)
def test_a_wrong_address_is_one_line(address: str, workers: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as raised, cluster_at(address, workers):
        pass
    assert "\n" not in str(raised.value)


def test_a_scheduler_that_does_not_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiebreak.conformance.dask.scheduler.CONNECT_LIMIT", 0.2)
    with pytest.raises(MachineryFailed, match=r"--scheduler tcp://127.0.0.1:1: "), cluster_at("tcp://127.0.0.1:1"):
        pass


@pytest.mark.slow
def test_two_runs_on_one_machine_each_have_their_own_cluster(cluster: Cluster) -> None:
    with cluster_at("local", 1) as other:
        assert (cluster.size(), other.size()) == (2, 1)
