"""The binary index of the vectors gives exactly what their JSON gives, or is not used."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from own_cache import fields, fresh_cache  # noqa: F401 - a fixture

from tiebreak.golden import vector_index
from tiebreak.golden.case_cache import SUFFIX
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.vector_digests import sealed
from tiebreak.golden.vector_index import indexed_cases, write_indices
from tiebreak.golden.vectorfile import VECTORS, read_cases, vector_paths

SMALL = VECTORS / "onnx.DequantizeLinear-uint2-float32.json"
OTHER = VECTORS / "onnx.DequantizeLinear-uint4-float32.json"


def no_json(path: Path, *, trusted: bool = False) -> list[Case]:
    raise AssertionError(f"{path} was read")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """A vector file of the test's own."""
    return shutil.copy(SMALL, tmp_path / SMALL.name)


OPERATORS = sorted({path.name.partition("-")[0] for path in vector_paths()})
LARGE = "ngraph.Quantize"  # half of all the vectors


@pytest.mark.few(8)
@pytest.mark.parametrize(
    "operator", [pytest.param(one, marks=pytest.mark.slow if one == LARGE else ()) for one in OPERATORS]
)
def test_the_index_gives_the_cases_of_the_json(own_cache: Path, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for path in vector_paths() if path.name.startswith(f"{operator}-")]
    wanted = [[fields(case) for case in read_cases(path, trusted=True)] for path in paths]
    for path in paths:
        indexed_cases(path)
    monkeypatch.setattr(vector_index, "read_cases", no_json)
    for path, cases in zip(paths, wanted, strict=True):
        assert [fields(case) for case in indexed_cases(path)] == cases
    assert len(list(own_cache.iterdir())) == len(paths)


def test_what_cases_share_they_share_again(own_cache: Path) -> None:
    """The truth cache knows inputs by identity, and a node's compiled form is looked up by it."""
    path = VECTORS / "ngraph.Quantize-float32-uint8.json"
    wanted = read_cases(path, trusted=True)
    indexed_cases(path)
    found = indexed_cases(path)
    groups = [list(map([id(case.inputs) for case in cases].index, (id(case.inputs) for case in cases)))
              for cases in (wanted, found)]  # fmt: skip
    assert groups[0] == groups[1] and len(set(groups[0])) < len(wanted)
    nodes = {case.node.key: case.node for case in found}
    assert all(case.node is nodes[case.node.key] for case in (*found, *indexed_cases(path)))


def test_the_arrays_can_not_be_written_to(own_cache: Path) -> None:
    indexed_cases(SMALL)
    case = indexed_cases(SMALL)[0]
    assert case.expected is not None
    for array in (*case.inputs, case.expected.exact, case.expected.exact_state):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("damage", ["first", "head", "middle", "last", "cut", "empty", "other"])
def test_a_damaged_index_is_made_again(own_cache: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [fields(case) for case in indexed_cases(SMALL)]
    (index,) = own_cache.iterdir()
    data = bytearray(index.read_bytes())
    if damage in ("cut", "empty"):
        del data[-1 if damage == "cut" else 0 :]
    elif damage == "other":
        indexed_cases(OTHER)
        data[:] = next(path for path in own_cache.iterdir() if path != index).read_bytes()
    else:
        data[{"first": 0, "head": 200, "middle": len(data) // 2, "last": -1}[damage]] ^= 1
    index.write_bytes(data)
    assert [fields(case) for case in indexed_cases(SMALL)] == wanted
    monkeypatch.setattr(vector_index, "read_cases", no_json)
    assert [fields(case) for case in indexed_cases(SMALL)] == wanted


def test_a_changed_json_is_read_even_with_the_same_time_and_size(own_cache: Path, vectors: Path) -> None:
    text, before = vectors.read_text(encoding="utf-8"), vectors.stat()
    first = indexed_cases(vectors)
    document = json.loads(text)
    document["groups"][0], document["groups"][1] = document["groups"][1], document["groups"][0]
    changed = json.dumps(sealed(document))
    vectors.write_text(changed, encoding="utf-8")
    os.utime(vectors, ns=(before.st_atime_ns, before.st_mtime_ns))
    found = indexed_cases(vectors)
    assert [fields(case) for case in found] == [fields(case) for case in read_cases(vectors)]
    assert [case.id for case in found] != [case.id for case in first]
    vectors.write_text(text, encoding="utf-8")
    assert [fields(case) for case in indexed_cases(vectors)] == [fields(case) for case in first]


def test_a_damaged_json_is_told_although_there_is_an_index(own_cache: Path, vectors: Path) -> None:
    indexed_cases(vectors)
    text = vectors.read_text(encoding="utf-8")
    vectors.write_text(text.replace('"expected": "', '"expected": "1 ', 1), encoding="utf-8")
    with pytest.raises(DamagedFile, match=vectors.name):
        indexed_cases(vectors)
    vectors.unlink()
    with pytest.raises(InvalidInput, match=vectors.name):
        indexed_cases(vectors)


def test_an_index_made_by_other_code_is_not_used(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed_cases(SMALL)
    monkeypatch.setattr(vector_index, "readers_digest", lambda: "another")
    monkeypatch.setattr(vector_index, "read_cases", no_json)
    with pytest.raises(AssertionError, match="was read"):
        indexed_cases(SMALL)


def test_an_index_beside_the_json_is_used(own_cache: Path, vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a wheel."""
    wanted = [fields(case) for case in read_cases(vectors)]
    assert write_indices(vectors.parent) == 1 and vectors.with_suffix(SUFFIX).is_file()
    with monkeypatch.context() as patched:
        patched.setattr(vector_index, "read_cases", no_json)
        assert [fields(case) for case in indexed_cases(vectors)] == wanted
    assert not own_cache.exists()
    vectors.with_suffix(SUFFIX).write_bytes(b"")
    assert [fields(case) for case in indexed_cases(vectors)] == wanted
