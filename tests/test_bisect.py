"""`tiebreak bisect`: the search, what it says of either side, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tiebreak.adapters.environments import packages
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import UNASKED, Outcome
from tiebreak.conformance import bisecting
from tiebreak.conformance.bisecting import Bisection, ReleaseAnswer, answer_of, bisect_job, sorted_releases
from tiebreak.conformance.cases.plan import Selection
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.reports.bisection import lines_of

RELEASES = [f"1.{number}" for number in range(12)]
SELECTION = Selection(
    ("onnx.QuantizeLinear",), inputs={"x": "3.5", "y_scale": "1", "y_zero_point": "1"}, level="", output_type="int8"
)
CASE = Case("c", make_node("onnx.QuantizeLinear", real="float32", quantized="uint8"), ())


def answers(release: str, changed: int, without: set[str]) -> ReleaseAnswer:
    if release in without:
        raise MachineryFailed("no wheel")
    new = RELEASES.index(release) >= changed
    return ReleaseAnswer(release, "ok", (("int8", (), bytes([new])),), "new" if new else "old")


@pytest.mark.parametrize("changed", range(1, 12))
@pytest.mark.parametrize("is_reversed", [False, True], ids=["upward", "downward"])
def test_the_change_is_found_in_few_steps(changed: int, is_reversed: bool) -> None:
    asked: list[str] = []

    class Told(Bisection):
        def answer(self, release: str) -> ReleaseAnswer:
            asked.append(release)
            return answers(release, changed, set())

    search = Told("onnxruntime", CASE, lambda line: None)
    first, last = (RELEASES[-1], RELEASES[0]) if is_reversed else (RELEASES[0], RELEASES[-1])
    inner = RELEASES[-2:0:-1] if is_reversed else RELEASES[1:-1]
    before, after, skipped = search.between(search.answer(first), search.answer(last), inner)
    assert {before.release, after.release} == {RELEASES[changed - 1], RELEASES[changed]}
    assert before.shown == ("new" if is_reversed else "old") and skipped == []
    assert len(asked) <= 2 + 4


def test_releases_that_can_not_be_installed_are_left_out_and_named() -> None:
    without = {"1.5", "1.6", "1.9"}

    class Told(Bisection):
        def answer(self, release: str) -> ReleaseAnswer:
            return answers(release, 6, without)

    told: list[str] = []
    search = Told("onnxruntime", CASE, told.append)
    before, after, skipped = search.between(search.answer("1.0"), search.answer("1.11"), RELEASES[1:-1])
    assert (before.release, after.release, sorted(skipped)) == ("1.4", "1.7", ["1.5", "1.6"])
    assert any("left out: no wheel" in line for line in told)


def test_an_answer_is_its_bits_or_its_refusal() -> None:
    def ok(*arrays: np.ndarray) -> ReleaseAnswer:
        return answer_of("1", Outcome("ok", arrays))

    assert not ok(np.float32([0.0])).same(ok(np.float32([-0.0]))), "signed zeros differ in bits"
    assert not ok(np.int8([1])).same(ok(np.uint8([1])))
    assert not ok(np.int8([1])).same(ok(np.int8([[1]])))
    assert ok(np.int8([1])).same(ok(np.int8([1])))
    refused = answer_of("1", Outcome("unsupported", message="no"))
    assert not refused.same(ok(np.int8([1]))) and refused.same(answer_of("2", Outcome("unsupported", message="never")))
    assert ok(np.arange(20, dtype=np.int8)).shown.endswith("15, …] int8")


@pytest.mark.parametrize("fault", UNASKED)
def test_a_fault_of_ours_is_no_answer_of_a_release(fault: str) -> None:
    with pytest.raises(MachineryFailed, match=r"1\.1: not asked: Tiebreak's adapter failed"):
        answer_of("1.1", Outcome("error", message="Tiebreak's adapter failed", fault=fault))


@pytest.fixture
def two_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Releases whose environments are Tiebreak's own, the later with an answer of its own. No index is asked."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(packages, "releases", lambda name, python: ["1.2", "1.10", "1.1", "1.0"])
    monkeypatch.setattr(bisecting, "install", lambda *args: None)
    monkeypatch.setattr(bisecting, "uninstall", REMOVED.append)
    REMOVED.clear()

    class Later(IsolatedBackend):
        def run(self, case: Case) -> Outcome:
            return Outcome("ok", (super().run(case).outputs[0] + np.int8(1),))

    def started(spec: str, limit: float) -> IsolatedBackend:
        return (IsolatedBackend if spec.endswith(("@1.0", "@1.1")) else Later)("onnxruntime", limit)

    monkeypatch.setattr(bisecting, "IsolatedBackend", started)
    monkeypatch.setattr(bisecting, "audit_job", lambda spec, node: AUDITS[spec.rpartition("@")[2] in ("1.0", "1.1")])
    return tmp_path / "found"


REMOVED: list[str] = []
AUDITS = {
    old: {"semantics": {"round": "away" if old else "even"}, "sentences": {"even": "to even"}, "inputs_tried": 9}
    for old in (True, False)
}


@pytest.mark.slow
def test_both_sides_are_written_and_told(two_releases: Path) -> None:
    told: list[str] = []
    found = bisect_job("onnxruntime", SELECTION, "1.0", "1.10", two_releases, told.append)
    assert json.loads((two_releases / "bisect.json").read_text()) == found
    assert (found["before"]["release"], found["after"]["release"]) == ("1.1", "1.2")
    assert found["before"]["outputs"] == [{"type": "int8", "shape": [], "bits": "05"}]
    assert found["after"]["outputs"] == [{"type": "int8", "shape": [], "bits": "06"}]
    assert "pip install onnxruntime==1.1" in (two_releases / "onnxruntime-1.1.py").read_text()
    lines = list(lines_of(found))
    assert lines[0] == "onnxruntime: the answer changes between 1.1 and 1.2"
    assert "  round: away → to even" in lines
    assert not found["other_build"] and not any("different builds" in line for line in lines)
    assert told[0] == "onnxruntime 1.0: [5] int8"
    assert sorted(REMOVED) == ["onnxruntime@1.0", "onnxruntime@1.10"], "those beside the change stay"


@pytest.mark.slow
def test_a_change_between_two_builds_is_not_called_one_of_the_release(
    two_releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch 2.13.0+cpu answers other than 2.12.1+cu130 and 2.14.1+cu130 do."""
    versions = {"1.0": "1.0+cu130", "1.1": "1.1+cu130", "1.2": "1.2+cpu", "1.10": "1.10+cpu"}
    started = bisecting.IsolatedBackend

    def with_build(spec: str, limit: float) -> IsolatedBackend:
        backend = started(spec, limit)
        start = backend.start

        def say() -> None:
            start()
            backend.version = versions[spec.rpartition("@")[2]]

        monkeypatch.setattr(backend, "start", say)
        return backend

    monkeypatch.setattr(bisecting, "IsolatedBackend", with_build)
    found = bisect_job("onnxruntime", SELECTION, "1.0", "1.10", two_releases, lambda line: None)
    assert found["other_build"] and found["before"]["version"] == "1.1+cu130"
    assert any("1.1+cu130 and 1.2+cpu are different builds" in line for line in lines_of(found))


def test_what_can_not_be_bisected(two_releases: Path) -> None:
    def asked(good: str, bad: str, selection: Selection = SELECTION) -> str:
        with pytest.raises(InvalidInput) as refused:
            bisect_job("onnxruntime", selection, good, bad, two_releases, lambda line: None)
        return str(refused.value)

    assert asked("1.0", "1.1").endswith("give the same answer, [5] int8: there is no change between")
    assert sorted(REMOVED) == ["onnxruntime@1.0", "onnxruntime@1.1"]
    assert asked("1.0", "1.3").endswith("no release '1.3' that installs here; nearest: 1.0, 1.1, 1.2, 1.10")
    assert asked("1.0", "1.2", Selection(level="")).startswith("name one case: --case ID")
    assert not two_releases.exists()


def test_releases_are_in_the_order_of_versions() -> None:
    assert sorted_releases(["1.10.0", "1.9.1", "not one", "1.9"]) == ["1.9", "1.9.1", "1.10.0"]
