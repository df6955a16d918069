"""`tiebreak submit`: a real run is packed and found right; each way to tamper with it is refused with its reason."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

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
    checked = json.loads(found.output)["checked"]
    assert "all cases planned at level brief, and no others" in checked["planned"]
    assert "none edited" in checked["vectors"] and checked["judged again"].startswith("150 of ")
    told = cli("submit", "check", packed, "--sample", "5")
    assert told.exit_code == 0 and "5 of " in told.output and "--seed " in told.output


@pytest.mark.slow
def test_every_case_can_be_judged_again(packed: Path) -> None:
    checked = json.loads(cli("submit", "check", packed, *EVERY, "--json").output)["checked"]
    ran, cases = checked["judged again"].split(" case")[0].split(" of ")
    assert ran == cases and int(ran.replace(",", "")) > 150


def test_the_sample_is_another_each_time(packed: Path) -> None:
    seeds = {json.loads(cli("submit", "check", packed, "--sample", "0", "--json").output)["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_the_same_run_gives_the_same_bytes(run: Path, packed: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "moved")
    assert cli("submit", "pack", tmp_path / "moved", "-o", tmp_path / "again").exit_code == 0
    assert (tmp_path / "again").read_bytes() == packed.read_bytes()


# Each tampers with a run's folder, which is packed then: all checksums fit.


def info(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "run.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def table(folder: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame | None]) -> pd.DataFrame:
    """Change a table in place, or put another in its place; the table as it was."""
    path = folder / f"{name}.parquet"
    before = pd.read_parquet(path)
    after = before.copy()
    changed = change(after)
    (after if changed is None else changed).to_parquet(path, index=False)
    return before


def first(rows: pd.DataFrame, verdict: str) -> int:
    return int(np.flatnonzero(rows["verdict"] == verdict)[0])


def call_it_exact(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.loc[first(rows, "deviates"), "verdict"] = "exact"

    table(folder, "results", change)


def hide_a_deviation(folder: Path) -> None:
    """In every table but the outputs."""

    def change(rows: pd.DataFrame) -> None:
        at = first(rows, "deviates")
        rows.loc[at, ["verdict", "exact"]] = ["exact", rows.loc[at, "exact"] + rows.loc[at, "deviates"]]
        rows.loc[at, "deviates"] = 0

    before = table(folder, "results", change)
    hidden = before.iloc[first(before, "deviates")]
    gone = table(folder, "discrepancies", lambda rows: rows[rows["case"] != hidden["case"]])
    gone = gone[gone["case"] == hidden["case"]]

    def fewer(data: dict[str, Any]) -> None:
        for row in data["clusters"]:
            row["elements"] -= int((gone["cause"] == row["cause"]).sum())
        data["clusters"] = [row for row in data["clusters"] if row["elements"]]

    info(folder, fewer)


def drop_what_deviates(folder: Path) -> None:
    table(folder, "results", lambda rows: rows[rows["verdict"] != "deviates"])
    table(folder, "discrepancies", lambda rows: rows.head(0))
    kept = {*map(tuple, pd.read_parquet(folder / "results.parquet")[["backend", "case"]].to_numpy())}
    drop_outputs(folder, kept)
    info(folder, lambda data: data.update(clusters=[], exit=0))


def drop_outputs(folder: Path, kept: set[Any]) -> None:
    import pyarrow.parquet as pq

    path = folder / "outputs.parquet"
    rows = pq.read_table(path)
    mask = [pair in kept for pair in zip(rows["backend"].to_pylist(), rows["case"].to_pylist(), strict=True)]
    pq.write_table(rows.filter(mask), path)


def drop_what_is_unsupported(folder: Path) -> None:
    table(folder, "results", lambda rows: rows[rows["verdict"] != "unsupported"])


def drop_a_generated_case(folder: Path) -> None:
    gone = str(table(folder, "cases", lambda rows: rows.iloc[1:])["id"].iloc[0])
    table(folder, "results", lambda rows: rows[rows["case"] != gone])
    table(folder, "discrepancies", lambda rows: rows[rows["case"] != gone])
    rows = pd.read_parquet(folder / "outputs.parquet")
    drop_outputs(folder, {pair for pair in zip(rows["backend"], rows["case"], strict=True) if pair[1] != gone})


def drop_outputs_of_a_case(folder: Path) -> None:
    rows = pd.read_parquet(folder / "outputs.parquet")
    drop_outputs(folder, set(zip(rows["backend"], rows["case"], strict=True)) - {tuple(rows.iloc[0, :2])})


def repeat_a_row(folder: Path) -> None:
    table(folder, "results", lambda rows: pd.concat([rows, rows[rows["verdict"] == "unsupported"].head(1)]))


def count_less(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.loc[first(rows, "deviates"), "deviates"] -= 1

    table(folder, "results", change)


def call_it_unsupported(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.loc[first(rows, "deviates"), "verdict"] = "unsupported"

    table(folder, "results", change)


def move_to_another_domain(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        at = int(np.flatnonzero(rows["judged_calibrated"] > 0)[0])
        rows.loc[at, ["judged_calibrated", "deviates_calibrated"]] = 0

    table(folder, "results", change)


def change_a_bit(folder: Path) -> None:
    table(folder, "discrepancies", lambda rows: rows.assign(got_bits=rows["got_bits"] ^ np.uint64(1)))


def change_an_output(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        at = int(np.flatnonzero((rows["type"] == "uint8") & (rows["outputs"].str.len() > 0))[0])
        rows.at[at, "outputs"] = bytes([rows.at[at, "outputs"][0] ^ 1]) + rows.at[at, "outputs"][1:]

    write_outputs(folder, change)


def write_outputs(folder: Path, change: Callable[[pd.DataFrame], None]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tiebreak.reports.outputs_file import schema

    rows = pd.read_parquet(folder / "outputs.parquet")
    change(rows)
    pq.write_table(pa.Table.from_pandas(rows, schema(), preserve_index=False), folder / "outputs.parquet")


def give_too_much(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.at[0, "outputs"] = rows.at[0, "outputs"] * 2

    write_outputs(folder, change)


def name_another_version(folder: Path) -> None:
    info(folder, lambda data: data["backends"][1].update(version="9.9"))


def claim_less(folder: Path) -> None:
    info(folder, lambda data: data["backends"][0].update(claimed=[]))


def map_instead(folder: Path) -> None:
    info(folder, lambda data: data["backends"][1].update(maps={"onnx.QuantizeLinear": "nearly the same"}))


def end_well(folder: Path) -> None:
    info(folder, lambda data: data.update(exit=0))


def shrink_a_cause(folder: Path) -> None:
    info(folder, lambda data: data["clusters"][0].update(elements=1))


def run_edited_vectors(folder: Path) -> None:
    info(folder, lambda data: data["vectors"]["onnx.QuantizeLinear"].update(sha256="0" * 64))


def invent_a_vector(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> pd.DataFrame:
        one = rows[(rows["origin"] == "vector") & (rows["verdict"] == "unsupported")].head(1)
        return pd.concat([rows, one.assign(case="onnx.QuantizeLinear/float32/uint8/easy/ROUND_DOWN")])

    table(folder, "results", change)


def say_another_type(folder: Path) -> None:
    table(folder, "results", lambda rows: rows.assign(output_type="int8"))


def invent_an_operator(folder: Path) -> None:
    table(folder, "results", lambda rows: rows.assign(operator="onnx.Nothing"))


def forget_the_plan(folder: Path) -> None:
    info(folder, lambda data: data["selection"].update(level="other"))


def choose_cases(folder: Path) -> None:
    info(folder, lambda data: data["selection"].update(output_type="int8"))


TAMPERINGS = {
    call_it_exact: (1, "its verdict is not that of its counts"),
    hide_a_deviation: (1, "judged again, its exact is"),
    drop_what_deviates: (1, "planned cases have no row"),
    drop_what_is_unsupported: (1, " golden vectors have rows"),
    drop_a_generated_case: (1, "planned cases have no row"),
    drop_outputs_of_a_case: (1, "it ran, but its outputs are not stored"),
    repeat_a_row: (1, "1 row more than cases were planned"),
    count_less: (1, "its counts are not its elements"),
    call_it_unsupported: (1, "it has counts, but did not run"),
    move_to_another_domain: (1, "judged again, its judged_calibrated is"),
    change_a_bit: (1, "has got_bits"),
    change_an_output: (1, "judged again, its "),
    give_too_much: (1, "its stored outputs are not its elements"),
    name_another_version: (1, "its version is not the backend's"),
    claim_less: (1, "which it does not claim"),
    map_instead: (1, "its document is not the backend's"),
    end_well: (1, "its exit code is 0, that of its verdicts is 1"),
    shrink_a_cause: (1, "has 1 elements, discrepancies.parquet"),
    run_edited_vectors: (1, "the run had other golden vectors than the manifest lists"),
    invent_a_vector: (1, "has rows, but is not listed"),
    say_another_type: (1, "its output_type is 'int8', not 'uint8'"),
    invent_an_operator: (2, "unknown operator 'onnx.Nothing'"),
    forget_the_plan: (2, "selection/level: 'other' is not one of"),
    choose_cases: (1, "planned cases have no row"),
}


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
    assert found["certificates"] == named
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
