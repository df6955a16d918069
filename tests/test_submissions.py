"""`tiebreak submit`: a real run is packed and found right; each way to tamper with it is refused with its reason."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from tampered_runs import TAMPERINGS, drop_a_generated_case, info

from tiebreak.cli import main
from tiebreak.conformance.submissions import archive, packing, submission
from tiebreak.golden.verdicts import RAN

HERE = Path(__file__).parent
BACKENDS = f"{HERE / 'sample_backends.py'}:sound", f"{HERE / 'sample_backends.py'}:wrong"
CHOSEN = ("--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "uint8", "--level", "brief")
EVERY = ("--sample", "1000000", "--seed", "1")


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    assert cli("run", "-b", BACKENDS[0], "-b", BACKENDS[1], *CHOSEN, "-o", folder).exit_code == 1
    return folder


@pytest.fixture(scope="module")
def packed(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("packed") / "run.tiebreak"
    assert cli("submit", run, "-o", file).exit_code == 0
    return file


def test_a_run_is_found_right(packed: Path) -> None:
    found = cli("submit", "check", packed, "--sample", "150", "--json")
    assert found.exit_code == 0, found.output
    checked = json.loads(found.stdout)["checked"]
    assert "all cases planned at level brief, and no others" in checked["planned"]
    assert "none edited" in checked["vectors"] and checked["judged again"].startswith("150 of ")
    told = cli("submit", "check", packed, "--sample", "5")
    assert told.exit_code == 0 and "5 of " in told.output and "--seed " in told.output


@pytest.mark.slow
def test_every_case_can_be_judged_again(packed: Path) -> None:
    checked = json.loads(cli("submit", "check", packed, *EVERY, "--json").output)["checked"]
    ran, cases = checked["judged again"].split(" case")[0].split(" of ")
    assert ran == cases and int(ran.replace(",", "")) > 150


def test_a_run_without_a_deviation_is_found_right(run: Path, tmp_path: Path) -> None:
    words = ("--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "uint8", "--attr", "axis=0")
    assert cli("run", "-b", BACKENDS[0], *words, "--level", "brief", "-o", tmp_path / "run").exit_code == 0
    assert not len(pd.read_parquet(tmp_path / "run" / "discrepancies.parquet"))
    assert cli("submit", tmp_path / "run", "-o", tmp_path / "file").exit_code == 0
    assert cli("submit", "check", tmp_path / "file").exit_code == 0


def test_the_sample_is_another_each_time(packed: Path) -> None:
    seeds = {json.loads(cli("submit", "check", packed, "--sample", "0", "--json").output)["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_the_same_run_gives_the_same_bytes(run: Path, packed: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "moved")
    assert cli("submit", "pack", tmp_path / "moved", "-o", tmp_path / "again").exit_code == 0
    assert (tmp_path / "again").read_bytes() == packed.read_bytes()


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda one: one.__name__)
def test_tampering_is_refused_with_its_reason(tamper: Callable[[Path], None], run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    tamper(tmp_path / "run")
    file = tmp_path / "tampered"
    assert cli("submit", tmp_path / "run", "-o", file).exit_code == 0
    refused(file, *TAMPERINGS[tamper])


def refused(file: Path, code: int, reason: str) -> None:
    found = cli("submit", "check", file, *EVERY)
    assert found.exit_code == code, found.output
    (line,) = found.stderr.splitlines()
    assert line.startswith(f"tiebreak: {file}: ") and reason in line, line
    assert found.stdout == ""


# Each tampers with the archive itself.


def rewritten(packed: Path, target: Path, changed: dict[str, bytes | None], **more: bytes) -> Path:
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        members = {name: old.read(name) for name in old.namelist()} | changed | more
        for name, content in members.items():
            if content is not None:
                new.writestr(name, content)
    return target


def member(packed: Path, name: str) -> Any:
    with zipfile.ZipFile(packed) as file:
        return json.loads(file.read(name))


def manifest_with(packed: Path, change: Callable[[dict[str, Any]], None]) -> dict[str, bytes | None]:
    data = member(packed, "manifest.json")
    change(data)
    return {"manifest.json": json.dumps(data).encode()}


@pytest.mark.parametrize(
    ("change", "code", "reason"),
    [
        (lambda data: data.update(version=2), 2, '"version" is 2, this Tiebreak reads 1'),
        (lambda data: data.update(format="other"), 2, "'tiebreak-submission' was expected"),
        (lambda data: data["members"].pop("cases.parquet"), 2, "'cases.parquet' is not listed"),
        (lambda data: data["vectors"].update({next(iter(data["vectors"])): "0" * 16}), 1, "was edited: its digest is"),
        (lambda data: data["vectors"].popitem(), 1, "has rows, but is not listed"),
        (lambda data: data["records"]["onnx.QuantizeLinear"].update(discrepancies=0), 1, "its records are not those"),
    ],
)
def test_a_changed_manifest_is_refused(change: Any, code: int, reason: str, packed: Path, tmp_path: Path) -> None:
    refused(rewritten(packed, tmp_path / "file", manifest_with(packed, change)), code, reason)


def test_a_changed_member_is_refused(packed: Path, tmp_path: Path) -> None:
    data = member(packed, "environment.json") | {"machine": "a better one"}
    file = rewritten(packed, tmp_path / "file", {"environment.json": json.dumps(data).encode()})
    refused(file, 2, "environment.json: damaged: it does not match its SHA-256 in the manifest")


def test_an_environment_that_is_not_the_runs_is_refused(run: Path, tmp_path: Path, monkeypatch: Any) -> None:
    told = packing.environment_of
    monkeypatch.setattr(packing, "environment_of", lambda info: told(info) | {"machine": "a better one"})
    assert cli("submit", run, "-o", tmp_path / "file").exit_code == 0
    refused(tmp_path / "file", 1, "environment.json: it is not the environment that run.json tells")


def test_a_member_that_is_missing_is_refused(packed: Path, tmp_path: Path) -> None:
    refused(rewritten(packed, tmp_path / "file", {"outputs.parquet": None}), 2, "it has no outputs.parquet")


# Archives that are made to do harm.


@pytest.mark.parametrize("name", ["../run.json", "/etc/passwd", "certificates/../../x.json", "a.txt", "certificates"])
def test_no_member_names_a_place(name: str, packed: Path, tmp_path: Path) -> None:
    refused(rewritten(packed, tmp_path / "file", {name: b"{}"}), 2, "is none that a submission has")
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


def test_a_link_is_refused(packed: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("run.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = rewritten(packed, tmp_path / "file", {"run.json": None})
    with zipfile.ZipFile(file, "a") as opened:
        opened.writestr(link, "/etc/passwd")
    refused(file, 2, "'run.json' is a link")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(packed: Path, tmp_path: Path) -> None:
    file = rewritten(packed, tmp_path / "file", {})
    with zipfile.ZipFile(file, "a") as opened:
        opened.writestr("run.json", "{}")
    refused(file, 2, "'run.json' is there twice")


def test_a_member_that_is_too_large_is_not_unpacked(packed: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(archive.LARGEST, ".json", 1 << 20)
    bomb = rewritten(packed, tmp_path / "file", {"run.json": b" " * (1 << 24)})
    assert bomb.stat().st_size < 1 << 20
    refused(bomb, 2, "has 16,777,216 bytes; at most 1,048,576 are allowed")


def test_all_members_together_are_bounded(packed: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    refused(packed, 2, "its members have more than")


def test_a_member_that_lies_about_its_size_is_refused(packed: Path, tmp_path: Path) -> None:
    """Whatever follows the size that the archive tells is never unpacked; then the checksum does not fit."""
    file = rewritten(packed, tmp_path / "file", {"run.json": b" " * 1234567})
    content = file.read_bytes()
    file.write_bytes(content.replace((1234567).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    refused(file, 2, "a damaged zip (Bad CRC-32")


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a": ' * 100_000, b"\xff", b"NaN", b"1" * 10_000])
@pytest.mark.parametrize("name", ["manifest.json", "run.json"])
def test_json_that_is_none_is_refused(text: bytes, name: str, packed: Path, tmp_path: Path) -> None:
    refused(rewritten(packed, tmp_path / "file", {name: text}), 2, f"{name}: damaged")


def test_a_table_of_too_many_rows_is_not_read(run: Path, tmp_path: Path, monkeypatch: Any) -> None:
    assert cli("submit", run, "-o", tmp_path / "file").exit_code == 0
    monkeypatch.setattr(submission, "MOST_ROWS", 10)
    refused(tmp_path / "file", 2, "a table has 10")


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x00" * 1000])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    refused(tmp_path / "file", 2, "no submission")


def test_certificates_go_in(run: Path, tmp_path: Path) -> None:
    kept = HERE / "formats_of_version_1"
    shutil.copytree(run, tmp_path / "run")
    shutil.copy(kept / "certificate.json", tmp_path / "run")
    (tmp_path / "run" / "other.json").write_text("{}", encoding="utf-8")
    words = ["submit", tmp_path / "run", "-o", tmp_path / "file", "--certificate", kept / "proof.json"]
    assert cli(*words).exit_code == 0
    found = json.loads(cli("submit", "check", tmp_path / "file", "--sample", "1", "--json").output)
    named = {"certificates/certificate.json": "tiebreak-certificate", "certificates/proof.json": "tiebreak-proof"}
    assert {name: one["format"] for name, one in found["certificates"].items()} == named
    wrong = cli(*words, "--certificate", tmp_path / "run" / "other.json")
    assert wrong.exit_code == 2 and "no certificate" in wrong.stderr


def test_a_run_that_can_not_be_judged_again_is_not_packed(run: Path, tmp_path: Path) -> None:
    old = cli("submit", HERE / "formats_of_version_1" / "run", "-o", tmp_path / "file")
    assert old.exit_code == 2 and "run it again" in old.stderr
    shutil.copytree(run, tmp_path / "run")
    info(tmp_path / "run", lambda data: data["selection"].update(case_ids=["one"]))
    some = cli("submit", tmp_path / "run", "-o", tmp_path / "file")
    assert some.exit_code == 2 and "made with --case" in some.stderr
    assert not (tmp_path / "file").exists()


def test_what_other_sources_planned_is_held_against_what_is_known(run: Path, tmp_path: Path) -> None:
    """A golden vector that this Tiebreak does not have is said; cases that both know must still have rows."""
    shutil.copytree(run, tmp_path / "run")
    info(tmp_path / "run", lambda data: data["made_by"].update(tiebreak="0.0.9", sources="0" * 16))
    assert cli("submit", tmp_path / "run", "-o", tmp_path / "file").exit_code == 0
    found = cli("submit", "check", tmp_path / "file", "--sample", "3")
    assert found.exit_code == 0 and "planned by other versions" in found.output
    drop_a_generated_case(tmp_path / "run")
    shutil.copy(run / "cases.parquet", tmp_path / "run")
    assert cli("submit", tmp_path / "run", "-o", tmp_path / "file").exit_code == 0
    refused(tmp_path / "file", 1, "planned cases have no row")


def test_stored_outputs_are_as_many_as_cases_that_ran(run: Path) -> None:
    rows, outputs = pd.read_parquet(run / "results.parquet"), pd.read_parquet(run / "outputs.parquet")
    ran = rows[rows["verdict"].isin(RAN)]
    pairs = [set(zip(one["backend"], one["case"], strict=True)) for one in (ran, outputs)]
    assert pairs[0] == pairs[1] and len(outputs) == len(ran)


@pytest.mark.parametrize("name", ["outputs.parquet", "cases.parquet"])
def test_a_damaged_run_is_not_packed(name: str, run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    whole = (tmp_path / "run" / name).read_bytes()
    (tmp_path / "run" / name).write_bytes(whole[: len(whole) // 2])
    done = cli("submit", tmp_path / "run", "-o", tmp_path / "one.tiebreak")
    assert done.exit_code == 2 and name in done.output and not (tmp_path / "one.tiebreak").exists()
