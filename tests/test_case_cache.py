"""Cases as bytes, and the folder in which they are kept: what is wrong there never gives wrong cases."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from own_cache import fields, fresh_cache  # noqa: F401 - a fixture

from tiebreak.conformance.cases.path_probes import path_cases
from tiebreak.golden import case_file
from tiebreak.golden.case_cache import ASIDE, MOST_BYTES, STALE, SUFFIX, CaseCache, cache_folder
from tiebreak.golden.case_file import pack, sealed, unpack
from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Expected, with_constants

KEY = {"of": "test", "number": 1}


def samples() -> list[Case]:
    """Rank 0, no elements, constants, every width of codes, labels, results that are shared and others."""
    node = make_node("onnx.QuantizeLinear", attributes={"axis": -1}, real="bfloat16", quantized="int4")
    x, scale = (np.array(v, node.inputs[0].dtype) for v in ([[1.5, -2.0]], 0.5))
    zero_point = np.array(-8, node.inputs[2].dtype)
    inputs, states = (x, scale, zero_point), np.array([0, 3], np.uint8)
    one, other = np.array([1, -(1 << 63)], np.int64), np.array([(1 << 63) - 1, 0], np.int64)
    constant = with_constants(node, {"y_scale": scale})
    empty = (x[:, :0], scale, zero_point)
    return [
        Case("a\nb", node, inputs, "vector", ("Tie",), ("ONNX-1", "ONNX-2"), Expected(one, states, one, states)),
        Case("c", node, inputs, "vector", (), (), Expected(one, states, other, states)),
        Case("ä", constant, empty, "generated"),
    ]


@pytest.mark.parametrize("cases", [samples(), [], path_cases(["openvino.FakeQuantize"], "quick")], ids=len)
def test_unpacking_undoes_packing(cases: list[Case]) -> None:
    found = unpack(pack(cases, KEY), KEY)
    assert [fields(case) for case in found] == [fields(case) for case in cases]
    assert pack(found, KEY) == pack(cases, KEY)


def test_cases_made_from_something_else_are_refused() -> None:
    with pytest.raises(DamagedFile, match="made from something else"):
        unpack(pack(samples(), KEY), KEY | {"number": 2})


def test_every_changed_byte_is_noticed() -> None:
    data = pack(samples()[:1], KEY)
    for at in range(len(data)):
        with pytest.raises(DamagedFile):
            unpack(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :], KEY)


@pytest.mark.parametrize("section", range(len(case_file.SECTIONS)))
def test_a_digest_that_is_right_does_not_save_a_wrong_section(section: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing reads beyond the bytes that are there."""

    def cut(head: bytes, arrays: list[Any]) -> bytes:
        arrays = [array.reshape(-1) for array in arrays]
        arrays[section:] = [arrays[section][: arrays[section].size // 2]]
        return sealed(head, arrays)

    monkeypatch.setattr(case_file, "sealed", cut)
    with pytest.raises(DamagedFile):
        unpack(pack(samples(), KEY), KEY)


def test_an_entry_is_found_under_its_key_alone(tmp_path: Path) -> None:
    cache = CaseCache(tmp_path / "new" / "folder")
    assert not cache.has(KEY) and cache.get(KEY) is None
    assert cache.put(KEY, samples()) and cache.has(KEY)
    assert [fields(case) for case in cache.get(KEY) or []] == [fields(case) for case in samples()]
    assert cache.get(KEY | {"number": 2}) is None and cache.get({"of": "test", "number": "1"}) is None
    assert [path.suffix for path in (tmp_path / "new" / "folder").iterdir()] == [SUFFIX]


@pytest.mark.parametrize("folder", ["file/cases", "/proc/nowhere/cases"])
def test_a_folder_that_can_not_be_written_costs_nothing_but_time(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = CaseCache(tmp_path / folder)
    assert not cache.put(KEY, samples()) and cache.get(KEY) is None and cache.writable_folder() is None
    cache.tidy()


def test_without_a_home_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *a, **k: Path("~/.cache/tiebreak"))
    monkeypatch.chdir(tmp_path)
    assert cache_folder() is None
    assert not CaseCache().put(KEY, samples()) and CaseCache().get(KEY) is None and not list(tmp_path.iterdir())


def test_the_cache_is_in_the_users_cache_folder(own_cache: Path) -> None:
    assert cache_folder() == own_cache


def test_the_entries_used_longest_ago_are_removed(tmp_path: Path) -> None:
    cache, now = CaseCache(tmp_path), time.time()
    keys = [KEY | {"number": number} for number in range(4)]
    for age, key in enumerate(keys):
        cache.put(key, samples())
        os.utime(cache.path(key) or "", (now - age * 1e5, now - age * 1e5))
    size = (cache.path(keys[0]) or tmp_path).stat().st_size
    cache.get(keys[3])  # it is now the most recent
    (tmp_path / "other.txt").write_bytes(bytes(4 * size))
    cache.tidy(3 * size)
    assert [cache.has(key) for key in keys] == [True, True, False, True]
    assert (tmp_path / "other.txt").exists() and MOST_BYTES > 1 << 20


def test_what_a_killed_process_left_is_removed_later(tmp_path: Path) -> None:
    old, new = tmp_path / f".old{ASIDE}", tmp_path / f".new{ASIDE}"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * STALE,) * 2)
    CaseCache(tmp_path).tidy()
    assert new.exists() and not old.exists()


WRITER = """
import sys
from pathlib import Path
from test_case_cache import KEY, samples, CaseCache, fields
cache, wanted = CaseCache(Path(sys.argv[1])), [fields(case) for case in samples()]
for _ in range(200):
    assert cache.put(KEY, samples())
    assert [fields(case) for case in cache.get(KEY) or []] == wanted
    if sys.argv[2] == "tidy":
        cache.tidy()
"""


def test_two_processes_write_and_read_the_same_entry(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    here = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    both = [subprocess.Popen([*command, how], env=here) for how in ("tidy", "plain")]
    assert [process.wait(120) for process in both] == [0, 0]
    assert [path.suffix for path in tmp_path.iterdir()] == [SUFFIX]
