"""Environments of their own: made from wheels in a folder, named NAME@VERSION, checked, damaged and removed."""

from __future__ import annotations

import ast
import base64
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tiebreak
from tiebreak.adapters.answering import Answerer
from tiebreak.adapters.environments import made, named, packages
from tiebreak.adapters.environments.made import install, nearest, problems_of, uninstall
from tiebreak.adapters.environments.named import environment, environment_folders, split_release
from tiebreak.adapters.environments.older_python import NAMES, Older
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import NOT_ASKED, NOT_DETERMINISTIC, Outcome
from tiebreak.adapters.registry import (
    OWN,
    WITHOUT_LIBRARY,
    check_spec,
    library_of,
    load_backend,
    registered,
    spec_from_file,
)
from tiebreak.cli import main
from tiebreak.golden import _kernel, filling
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import InvalidInput, MachineryFailed, MissingType
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

PURE = "py3-none-any"
NODE = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
CASE = Case("c", NODE, (np.array([1.5, 2.5], np.float32), np.ones((), np.float32), np.zeros((), np.uint8)))


def wheel(folder: Path, name: str, version: str, tag: str = PURE, **files: str) -> None:
    """A wheel that pip takes. Where it is imported, what is installed beside Tiebreak is there too."""
    about = f"{name}-{version}.dist-info"
    inside = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{name}_beside.pth": f"{sysconfig.get_path('purelib')}\n",
        **files,
    }
    digests = {path: base64.urlsafe_b64encode(sha256(text.encode()).digest()) for path, text in inside.items()}
    lines = [f"{path},sha256={digest.rstrip(b'=').decode()}," for path, digest in digests.items()]
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as archive:
        for path, text in (inside | {f"{about}/RECORD": "\n".join([*lines, f"{about}/RECORD,,"])}).items():
            archive.writestr(path, text)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which pip looks for wheels: two releases of a library and what it needs. No environments."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(packages, "uv", lambda: None)
    monkeypatch.setattr(packages, "sizes", lambda name: {})
    wheel(folder, "onnxruntime", "9.0.0")
    wheel(folder, "onnxruntime", "9.1.0")
    wheel(folder, "onnx", "8.0.0")
    wheel(folder, "ml_dtypes", "7.0.0")
    return folder


def test_programs_name_the_interpreter_where_it_will_be(tmp_path: Path) -> None:
    """An environment is made aside and renamed; what pip wrote into its programs must still start."""
    aside, folder = tmp_path / ".making-1-library", tmp_path / "library@1.0"
    (aside / "bin").mkdir(parents=True)
    interpreter, tool, binary = (aside / "bin" / name for name in ("python", "tool", "binary"))
    interpreter.symlink_to(sys.executable)
    tool.write_text(f"#!{interpreter}\nprint('it runs', {str(aside)!r}[:0])\n")
    tool.chmod(0o755)
    binary.write_bytes(b"\x7fELF" + bytes(aside))
    made.name_programs_in(aside, folder)
    aside.rename(folder)
    told = subprocess.run([folder / "bin" / "tool"], capture_output=True, text=True, check=True)
    assert told.stdout == "it runs \n" and (folder / "bin" / "binary").read_bytes().endswith(bytes(aside))


def left() -> list[str]:
    folder = named.environments_folder()
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@pytest.mark.slow
def test_a_release_is_installed_run_listed_and_removed(index: Path) -> None:
    pytest.importorskip("onnxruntime")
    told: list[str] = []
    found = install("onnxruntime-no-optimisation", "", "", told.append)
    assert (found.name, found.folder) == ("onnxruntime@9.1.0", named.folder_of("onnxruntime", "9.1.0"))
    assert told[0].startswith("onnxruntime@9.1.0: 3 packages, 0.0 MB to download")
    assert told[-1].startswith("onnxruntime@9.1.0 is installed: Python ")
    assert [(one.name, one.version, len(one.sha256)) for one in found.distributions] == [
        ("onnxruntime", "9.1.0", 64),
        ("onnx", "8.0.0", 64),
        ("ml-dtypes", "7.0.0", 64),
    ]
    assert left() == ["onnxruntime@9.1.0"] and environment("onnxruntime", "9.1.0") == found
    install("onnxruntime", "9.1.0", "", told.append)
    install("onnxruntime", "", "", told.append)
    assert told[-1].startswith("onnxruntime@9.1.0 is installed") and left() == ["onnxruntime@9.1.0"]

    with closing(IsolatedBackend("onnxruntime@9.1.0", time_limit=60)) as backend:
        outcome = backend.run(CASE)
        assert outcome.status == "ok", outcome.message
        assert (backend.name, backend.claims.library) == ("onnxruntime@9.1.0", "onnxruntime")
        assert outcome.outputs[0].tolist() == [2, 2]
        assert "onnxruntime 9.1.0" in backend.attestation([NODE.key])["environment"]

    listed = json.loads(CliRunner().invoke(main, ["backends", "list", "--json"]).output)
    assert [one["environment"] for one in listed["environments"]] == ["onnxruntime@9.1.0"]
    assert listed["environments"][0]["bytes"] > 0
    assert "onnxruntime 9.1.0" in CliRunner().invoke(main, ["backends", "list"]).output.replace("\n", " ")
    assert uninstall("onnxruntime@9.1.0") and not uninstall("onnxruntime@9.1.0") and left() == []


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("onnxruntime==9.0.0", ("onnxruntime", "9.0.0")),
        ("onnxruntime@9.0.0", ("onnxruntime", "9.0.0")),
        ("onnxruntime", ("onnxruntime", "")),
    ],
)
def test_a_release_is_named_for_installation_as_everywhere_or_as_for_pip(
    written: str, named: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(made, "install", lambda name, version, python, tell: asked.append((name, version)))
    done = CliRunner().invoke(main, ["backends", "install", written])
    assert done.exit_code == 0 and asked == [named], done.output


@pytest.mark.slow
def test_what_was_changed_since_is_told(index: Path) -> None:
    pytest.importorskip("onnxruntime")
    cached = "onnx_more/__pycache__/more.cpython-311.pyc"
    wheel(index, "onnx", "8.0.0", **{cached: "compiled elsewhere"})
    found = install("onnxruntime", "9.0.0", "", lambda line: None)
    assert list(problems_of(found)) == []
    (found.site_packages / cached).write_text("compiled here")
    assert list(problems_of(found)) == []
    assert CliRunner().invoke(main, ["backends", "verify"]).exit_code == 0
    (found.site_packages / "onnxruntime_beside.pth").write_text("elsewhere\n")
    (found.site_packages / "onnx_beside.pth").unlink()
    wheel(index, "further", "1.0")
    with zipfile.ZipFile(index / f"further-1.0-{PURE}.whl") as archive:
        archive.extractall(found.site_packages)
    assert list(problems_of(found)) == [
        "onnxruntime: onnxruntime_beside.pth was changed",
        "onnx: onnx_beside.pth is missing",
        "further 1.0 was added",
    ]
    done = CliRunner().invoke(main, ["backends", "verify", "onnxruntime@9.0.0"])
    assert done.exit_code == 3 and "onnx_beside.pth is missing" in done.output
    assert "no environment 'torch@1'" in CliRunner().invoke(main, ["backends", "verify", "torch@1"]).output


class Answers:
    """A worker that gives these outcomes to the vectors that it is asked, one after the other and again."""

    operators = frozenset({"onnx.QuantizeLinear"})

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes, self.asked = outcomes, 0

    def start(self) -> None: ...

    def close(self) -> None: ...

    def run_batch(self, cases: list[Case]) -> list[Outcome]:
        self.asked += len(cases)
        return [self.outcomes[number % len(self.outcomes)] for number in range(len(cases))]


OK, UNSTEADY = Outcome("ok"), Outcome("error", message="0x0, then 0xff", fault=NOT_DETERMINISTIC)
REFUSED = Outcome("unsupported", message="no such type")


def test_a_release_must_run_and_answer_twice_in_one_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(steady: bool, *outcomes: Outcome) -> int:
        worker = Answers(*outcomes)
        monkeypatch.setattr(made, "IsolatedBackend", lambda *_, **__: worker)
        made.check_runs("onnxruntime", tmp_path, steady=steady)
        return worker.asked

    assert checked(False, OK) <= made.NODES_EACH < made.TRIED <= checked(True, OK)
    assert checked(False, OK, UNSTEADY) and checked(True, REFUSED, OK)
    with pytest.raises(made.Unsteady, match="0x0, then 0xff"):
        checked(True, OK, OK, OK, UNSTEADY)
    for steady in (True, False):
        with pytest.raises(MachineryFailed, match="runs nothing there: no such type"):
            checked(steady, REFUSED)


@pytest.mark.parametrize(
    ("needs", "wanted"),
    [
        ("", ["ml-dtypes"]),
        ("numpy<2", ["ml-dtypes", "ml-dtypes numpy<2"]),
        ("another machine", ["ml-dtypes", "ml-dtypes numpy<2", "numpy<2", "ml-dtypes"]),
    ],
)
def test_a_release_that_is_not_steady_gets_an_older_numpy(
    needs: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is steady with none is installed as it is: that is its own fault."""
    tried: list[str] = []

    def needed(_: Path, requirements: list[str]) -> list[named.Distribution]:
        tried.append(" ".join(requirements[1:]))
        (tmp_path / "pinned.txt").touch()
        return []

    def check_runs(*_: object, steady: bool) -> None:
        if steady and needs and needs not in tried[-1]:
            raise made.Unsteady("0x0, then 0xff")

    monkeypatch.setattr(packages, "version_of", lambda _: "3.11.0")
    monkeypatch.setattr(packages, "needed", needed)
    monkeypatch.setattr(packages, "install_all", lambda *_: "pip 1")
    monkeypatch.setattr(packages, "remove_own_pip", lambda _: None)
    monkeypatch.setattr(made, "requirements", lambda *_: (["onnxruntime==1.0"], "1.0"))
    monkeypatch.setattr(made, "check_runs", check_runs)
    assert made.fill("onnxruntime", "onnxruntime", "1.0", tmp_path, lambda _: None) == "1.0"
    assert tried == wanted and (tmp_path / named.RECORD).exists()


def test_each_library_s_environments_are_listed_and_removed(index: Path) -> None:
    """Also those of ml_dtypes, whose name has an underscore; pip's == is as good as @."""
    libraries = {library_of(name) for name in registered() if name not in WITHOUT_LIBRARY}
    for library in libraries:
        named.folder_of(library, "9.0.0").mkdir(parents=True)
    assert {folder.name for folder in environment_folders()} == {f"{library}@9.0.0" for library in libraries}
    assert "ml_dtypes==9.0.0" in CliRunner().invoke(main, ["backends", "list"]).output
    assert "ml_dtypes@9.0.0 is damaged" in CliRunner().invoke(main, ["backends", "verify", "ml_dtypes==9.0.0"]).output
    assert CliRunner().invoke(main, ["backends", "uninstall", "ml_dtypes==9.0.0"]).output.endswith(": removed\n")
    assert len(left()) == len(libraries) - 1


@pytest.mark.parametrize("damage", ["", "{", '{"format": 2}', "[]"])
def test_a_damaged_environment_says_what_to_type(index: Path, damage: str) -> None:
    folder = named.folder_of("onnxruntime", "9.0.0")
    folder.mkdir(parents=True)
    (folder / named.RECORD).write_text(damage)
    backend = IsolatedBackend("onnxruntime@9.0.0")
    with pytest.raises(MachineryFailed, match=r"is damaged .*: tiebreak backends uninstall onnxruntime@9\.0\.0, then"):
        backend.start()
    assert "is damaged" in " ".join(CliRunner().invoke(main, ["backends", "list"]).output.split())
    assert uninstall("onnxruntime@9.0.0")
    with pytest.raises(MachineryFailed, match=r"not installed: tiebreak backends install onnxruntime==9\.0\.0"):
        backend.start()


@pytest.mark.slow
def test_an_environment_without_its_interpreter_is_damaged(index: Path) -> None:
    pytest.importorskip("onnxruntime")
    found = install("onnxruntime", "9.0.0", "", lambda line: None)
    found.interpreter.unlink()
    with pytest.raises(MachineryFailed, match=r"is damaged .no interpreter"):
        environment("onnxruntime", "9.0.0")


@pytest.mark.slow
def test_an_environment_with_the_record_of_another_is_damaged(index: Path) -> None:
    pytest.importorskip("onnxruntime")
    install("onnxruntime", "9.0.0", "", lambda line: None).folder.rename(named.folder_of("onnxruntime", "9.5.0"))
    with pytest.raises(MachineryFailed, match=r"is damaged .*is about onnxruntime@9\.0\.0"):
        environment("onnxruntime", "9.5.0")


def test_types_that_an_older_ml_dtypes_lacks_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import ml_dtypes

    answerer, key = Answerer(load_backend("numpy-naive")), make_node("onnx.QuantizeLinear", quantized="int4").key
    monkeypatch.setattr(ml_dtypes, "__version__", "0.4.1")
    assert numpy_dtype("bfloat16").itemsize == 2
    refused = answerer.answer(key, ())
    assert (refused.status, refused.fault, refused.refused) == ("unsupported", NOT_ASKED, True)
    assert refused.message == "no int4 here: ml_dtypes 0.4.1 is too old"
    monkeypatch.delattr(ml_dtypes, "float8_e8m0fnu")
    with pytest.raises(MissingType, match="no float8_e8m0fnu here"):
        numpy_dtype("float8_e8m0fnu")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(MissingType, match="it needs ml_dtypes"):
        numpy_dtype("bfloat16")
    assert numpy_dtype("float16") == np.float16


def test_an_unknown_release_names_the_nearest_and_leaves_nothing(index: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no release 9\.0\.5 for Python .*; nearest: 9\.0\.0, 9\.1\.0$"):
        install("onnxruntime", "9.0.5", "", lambda line: None)
    assert left() == []


def test_a_release_for_other_platforms_says_for_which(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "sizes", lambda name: {f"{name}-8.5.0-cp36-cp36m-win_amd64.whl": 1})
    with pytest.raises(InvalidInput, match=r"onnxruntime 8\.5\.0 has no wheel for Python .* it has them for cp36 win$"):
        install("onnxruntime", "8.5.0", "", lambda line: None)
    assert left() == []


@pytest.mark.slow
def test_what_can_not_be_resolved_or_does_not_load_leaves_nothing(index: Path) -> None:
    (index / f"onnx-8.0.0-{PURE}.whl").unlink()
    with pytest.raises(MachineryFailed, match=r"it can't be installed: .*onnx"):
        install("onnxruntime", "9.0.0", "", lambda line: None)
    assert left() == []
    wheel(index, "onnx", "8.0.0")
    wheel(index, "onnxruntime", "9.2.0", **{"onnxruntime.py": "raise ImportError('made so')"})
    with pytest.raises(MachineryFailed, match="made so"):
        install("onnxruntime", "9.2.0", "", lambda line: None)
    assert left() == []


@pytest.mark.slow
def test_a_full_disk_is_told_before_the_download(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 10})()
    monkeypatch.setattr(made.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(MachineryFailed, match=r"of disk space and .* has 0.0 MB"):
        install("onnxruntime", "9.0.0", "", lambda line: None)
    assert left() == []


def test_what_a_killed_installation_left_is_removed(index: Path) -> None:
    folder = named.environments_folder()
    (folder / f"{made.ASIDE}999999999-onnxruntime" / "bin").mkdir(parents=True)
    (folder / f"{made.ASIDE}{os.getpid()}-torch").mkdir()
    made.remove_left_over()
    assert left() == [f"{made.ASIDE}{os.getpid()}-torch"] and list(environment_folders()) == []


@pytest.mark.parametrize(
    ("spec", "split"),
    [
        ("onnxruntime@1.20.1", ("onnxruntime", "1.20.1")),
        ("onnxruntime", ("onnxruntime", "")),
        ("a@b.py:box", ("a@b.py:box", "")),
        ("exec:./box@1", ("exec:./box@1", "")),
        ("./my@box/name", ("./my@box/name", "")),
    ],
)
def test_a_spec_names_a_release_after_an_at(spec: str, split: tuple[str, str]) -> None:
    assert split_release(spec) == split


def test_releases_are_of_built_in_libraries_only() -> None:
    assert check_spec("onnxruntime-qdq@1.20.1") == "onnxruntime-qdq@1.20.1"
    assert library_of("onnxruntime-qdq") == "onnxruntime"
    assert spec_from_file("onnxruntime@1.20.1", "", "run") == "onnxruntime@1.20.1"
    for wrong in ("numpy-naive@1.0", "nosuch@1.0", "onnxruntime@../../x", "onnxruntime@x", "onnxruntime@ 1"):
        with pytest.raises(InvalidInput):
            check_spec(wrong)
    with pytest.raises(InvalidInput, match="runs in an environment of its own"):
        load_backend("onnxruntime@1.20.1")


@pytest.mark.parametrize(
    ("version", "near"),
    [
        ("3.5", ["1", "2", "3", "4", "5"]),
        ("0.1", ["1", "2", "3", "4", "5"]),
        ("99", ["5", "6", "7"]),
        ("none", ["7", "6", "5", "4", "3"]),
    ],
)
def test_nearest_releases(version: str, near: list[str]) -> None:
    found = nearest(version, ["7", "6", "5", "4", "3", "2", "1"])
    assert found == near


def worker_modules() -> list[Path]:
    """The files of Tiebreak's modules that a worker imports, by the packages that they are in."""
    root = Path(tiebreak.__file__).parent
    own = list((root / "adapters").glob("*.py"))
    return own + [path for path in (root / "golden").rglob("*.py") if "vectors" not in path.parts]


def imported_at_once(module: str) -> Iterator[str]:
    """What a module of Tiebreak's imports as it is imported; not what only a type checker or a function imports."""
    root = Path(tiebreak.__file__).parents[1]
    path = root.joinpath(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())
    waiting = list[ast.stmt](tree.body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Try):
            waiting += [*statement.body, *(inner for handler in statement.handlers for inner in handler.body)]
        elif isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module is not None:
            names = (f"{statement.module}.{alias.name}" for alias in statement.names)
            there = statement.module.startswith("tiebreak")
            yield from (name if there and is_module(root, name) else str(statement.module) for name in names)


def is_module(root: Path, name: str) -> bool:
    path = root.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def test_a_worker_needs_nothing_but_numpy_and_ml_dtypes() -> None:
    backends = [point.value.partition(":")[0] for point in registered().values() if point.value.startswith(OWN)]
    waiting = ["tiebreak.adapters.worker", "tiebreak.adapters.sweeping", *backends]
    seen, others = set[str](), set[str]()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        for name in imported_at_once(module):
            if name.startswith("tiebreak") and not name.endswith(("._kernel", "._thresholds")):
                waiting.append(name)
            elif (first := name.partition(".")[0]) not in {*sys.stdlib_module_names, "tiebreak"}:
                others.add(first)
    assert len(seen) > 40 and others <= {"numpy", "ml_dtypes"}


@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_worker_without_the_kernel_fills_and_compares_as_it_does(width: int) -> None:
    for values in (np.full(24, 7, np.uint8), np.arange(24, dtype=np.uint8), np.tile(np.arange(4, dtype=np.uint8), 6)):
        assert filling.repeated(values, width) == _kernel.repeated(values, width)
    words = (np.uint16, np.uint32)
    for word in words:
        ours, theirs = np.empty(1000, word), np.empty(1000, word)
        filling.fill_patterns(ours, (1 << 8 * word(0).itemsize) - 1000)
        _kernel.fill_patterns(theirs, (1 << 8 * word(0).itemsize) - 1000)
        assert np.array_equal(ours, theirs)


def test_a_workers_modules_are_in_an_older_pythons_words() -> None:
    for path in worker_modules():
        tree = ast.fix_missing_locations(Older().visit(ast.parse(path.read_text())))
        ast.parse(ast.unparse(tree), feature_version=(3, 8))


YOUNG = """
from functools import cache
from itertools import pairwise
from collections.abc import Callable, Mapping

Made = Callable[[int], dict[str, tuple[int, ...]]] | None

@cache
def both(one: Mapping[str, int] | None, other: int = 1) -> int:
    return other

left, right = {"a": 1, "b": 0}, {"b": 2}
left |= right
masks = {1, 2} | {3}
masks |= {4}
values = [*pairwise([1, 2, 3])], "exec:box".removeprefix("exec:"), "name.py".removesuffix(".py"), left | {"c": 3}
bits = 5 | 2
is_number = isinstance(1, int | str)
try:
    list(zip([1], [2, 3], strict=True))
except ValueError:
    strict = True
rows = list(zip([1], [2, 3]))
"""


def test_a_module_means_the_same_in_an_older_pythons_words() -> None:
    found = dict(NAMES)
    exec(compile(ast.fix_missing_locations(Older().visit(ast.parse(YOUNG))), "young", "exec"), found)  # noqa: S102
    assert found["left"] == {"a": 1, "b": 2} and found["masks"] == {1, 2, 3, 4} and found["bits"] == 7
    assert found["values"] == ([(1, 2), (2, 3)], "box", "name", {"a": 1, "b": 2, "c": 3})
    assert found["strict"] and found["is_number"] and found["rows"] == [(1, 2)] and found["both"](None) == 1


def test_an_interpreter_that_is_not_there_is_named() -> None:
    with pytest.raises(MachineryFailed, match=r"no Python 2\.0 runs here; uv can fetch one"):
        packages.base_interpreter("2.0")
    assert packages.base_interpreter("") == sys.executable


@pytest.mark.slow
def test_a_real_release_of_a_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime 1.20.1 truncates float16 where 1.31 rounds."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    install("onnxruntime", "1.20.1", "", lambda line: None)
    node = make_node("onnx.QuantizeLinear", real="float16", quantized="int8")
    inputs = np.array([3.5, 2.75], np.float16), np.ones((), np.float16), np.ones((), np.int8)
    with closing(IsolatedBackend("onnxruntime@1.20.1", time_limit=60)) as backend:
        outcome = backend.run(Case("c", node, inputs))
    assert (outcome.status, backend.version, outcome.outputs[0].tolist()) == ("ok", "1.20.1", [4, 3])
    swept = ["sweep", "onnxruntime@1.20.1", "--operator", "onnx.QuantizeLinear", "--input-type", "float16"]
    swept += ["--type", "uint8", "--input", "y_scale=0.1", "--input", "y_zero_point=128", "--json"]
    done = CliRunner().invoke(main, [*swept, "-o", str(tmp_path / "sweep.json")])
    assert done.exit_code == 1 and json.loads(done.stdout)["mismatches"] > 5000


def test_a_library_keeps_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "check_release", lambda *release: None)
    assert made.requirements("mlx", "0.32.4", "3.11") == (["mlx[cpu]==0.32.4"], "0.32.4")
    assert made.requirements("tract", "0.23.9", "3.11")[0][0] == "tract==0.23.9"
