"""Certificates in a submission: right ones pass and say what was checked, tampered ones are refused."""

from __future__ import annotations

import copy
import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import sample_scale_backends
from click.testing import CliRunner, Result
from proof_certificates import OTHER, TRIED, certificate, change, forged
from sweep_support import FIXED, HALF, sample

from tiebreak.cli import main
from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.submissions import checked_certificates, proofs
from tiebreak.conformance.submissions.certificates import read
from tiebreak.conformance.sweep.digests import of_finite
from tiebreak.conformance.sweep.job import space_of
from tiebreak.golden.errors import TiebreakError

HERE = Path(__file__).parent
CHOSEN = ("--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "uint8", "--level", "brief")
SCALES = ("--operator", "onnx.QuantizeLinear", "--type", "uint8", "--every-scale", "--significands", "2")
BOX = str(sample_scale_backends.__file__)
LINE = ("--operator", "onnx.DequantizeLinear", "--type", "float32", "--input-type", "uint8")
BFLOAT = ("--operator", "onnx.QuantizeLinear", "--input-type", "bfloat16", "--type", "int8", "--input", "y_scale=0.1")
SWEEPS = {
    "right": (sample("right"), *FIXED),
    "bfloat": ("numpy-naive", *BFLOAT, "--input", "y_zero_point=0"),
    "wrong": (sample("wrong_once"), *FIXED),
    "away": (sample("ties_away"), *HALF, "--input", "y_scale=0.5", "--input", "y_zero_point=128", "--modes", "all"),
    "certain": ("numpy-naive", *LINE, "--input", "x_scale=0.1", "--input", "x_zero_point=128"),
    "scales": (f"{BOX}:quotient_box", *SCALES),
    "wrong-scales": (f"{BOX}:reciprocal_box", *SCALES),
}


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates of sweeps and proofs, by name."""
    folder = tmp_path_factory.mktemp("certificates")
    for name, words in SWEEPS.items():
        assert cli("sweep", *words, "-o", folder / f"{name}.json").exit_code < 2
    for name, (text, domain) in {"proved": TRIED, "refuted": OTHER}.items():
        (folder / f"{name}.json").write_text(json.dumps(certificate(text, **domain)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    assert cli("run", "-b", sample("right"), *CHOSEN, "-o", folder).exit_code < 2
    return folder


class NoRun:
    """A submission as far as the check of a certificate asks one."""

    backends: dict[str, dict[str, Any]] = {}  # noqa: RUF012


def looked_at(data: Any, folder: Path) -> list[str]:
    """What the check says of a certificate, or why it refuses it; empty for one that is not read."""
    path = folder / "c.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    one: Any = NoRun
    return checked_certificates.checked(one, read(path), path, 1)


def data_of(written: Path, name: str) -> Any:
    return json.loads((written / f"{name}.json").read_text(encoding="utf-8"))


def test_right_certificates_pass_and_say_what_was_checked(run: Path, written: Path, tmp_path: Path) -> None:
    words = [word for path in sorted(written.glob("*.json")) for word in ("--certificate", path)]
    assert cli("submit", run, "-o", tmp_path / "file", *words).exit_code == 0
    check = ("submit", "check", tmp_path / "file", "--sample", "1", "--seed", "1")
    found = json.loads(cli(*check, "--json").output)["certificates"]
    assert len(found) == 9 and all(one["seconds"] >= 0 for one in found.values())
    said = {Path(name).stem: "; ".join(one["checked"]) for name, one in found.items()}
    assert "which this run did not ask" in said["certain"] and "2 intervals with both ends" in said["wrong"]
    assert "1 of 1 block tried again; 1 can have no other checksum" in said["certain"]
    for name in ("right", "bfloat"):  # they have NaN inputs, of which the document says nothing
        assert "0 can have no other checksum, 1 none but for NaN and infinite inputs" in said[name]
    assert "5 of 6 parts tried again; 5 can have no other checksums" in said["scales"]
    assert said["proved"].startswith("PROVED: step 0") and "blocks of scales tried again" in said["proved"]
    assert "not checked: whether the results are the backend's" in said["wrong-scales"]
    lines = cli(*check).output
    assert "certificates/refuted.json: tiebreak-proof, looked at for " in lines and "REFUTED: step 0" in lines


@pytest.mark.parametrize(
    ("name", "tamper", "why"),
    [
        ("wrong", change("counts/exact", lambda n: n + 1), "its counts are not its inputs"),
        ("right", change("sha256_of_finite/0/2", lambda _: "ab" * 32), "block 0 has another checksum than the right "),
        ("scales", change("total/asked", lambda n: n + 1), "in total asked is"),
        ("proved", forged(0, "ab" * 32), "step 0 does not hold: block 0 of the scales gives other results"),
    ],
)
def test_a_tampered_one_refuses_the_submission(
    name: str, tamper: Callable[[Any], None], why: str, run: Path, written: Path, tmp_path: Path
) -> None:
    data = data_of(written, name)
    tamper(data)
    (tmp_path / "it.json").write_text(json.dumps(data), encoding="utf-8")
    packed = cli("submit", run, "-o", tmp_path / "file", "--certificate", tmp_path / "it.json")
    assert packed.exit_code == 0 and "certificates/it.json" in zipfile.ZipFile(tmp_path / "file").namelist()
    found = cli("submit", "check", tmp_path / "file", "--sample", "1")
    assert found.exit_code == 1 and found.stdout == ""
    (line,) = found.stderr.splitlines()
    assert f"file: certificates/it.json: {why}" in line


# What nothing rests on, what only the backend can tell, and what lies in a block whose results are not certain.
FACTS = {"created", "seconds", "backend_seconds", "machine", "instruction_sets", "kernel/sha256"}
FACTS |= {"kernel/instruction_set", "backend/name", "backend/version", "backend/spec", "space/inputs/1/2"}
UNSEEN: dict[str, set[str]] = {
    "certain": set(),
    "right": {"sha256/0/2"},
    "wrong": {"sha256/0/2", "sha256_of_finite/0/2", *(f"intervals/kept/1/{end}/got" for end in ("first", "last"))},
    "scales": set(),
    "wrong-scales": {"sha256/0/2"},
}
UNSEEN["wrong-scales"] |= {f"parts/normal range/farthest/{name}" for name in ("places", "step")}


def test_a_certificate_of_an_earlier_tiebreak_has_no_checksum_of_finite_inputs(written: Path, tmp_path: Path) -> None:
    data = data_of(written, "right")
    del data["sha256_of_finite"]
    assert "1 of 1 block tried again; 0 can have no other checksum" in looked_at(data, tmp_path)


def test_a_checksum_of_finite_inputs_has_one_nan_and_no_result_of_others() -> None:
    space = space_of(Selection(("onnx.Cast",), {}, "float16", "float8_e4m3fn"))
    patterns = np.arange(1 << 16, dtype=np.uint16)
    inputs = patterns.view(np.float16)
    with np.errstate(all="ignore"):
        results = inputs.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    finite = results[np.isfinite(inputs)]
    finite = np.where(finite & 0x7F == 0x7F, 0x7F, finite).astype(np.uint8)  # of either sign
    assert (finite == 0x7F).any()
    assert of_finite(space, 0, results.view(ml_dtypes.float8_e4m3fn)) == hashlib.sha256(finite.tobytes()).hexdigest()
    whole = space_of(Selection(("onnx.DequantizeLinear",), {}, "uint8", "float32", inputs={"x_scale": "0.1"}))
    assert of_finite(whole, 0, np.zeros(256, np.float32)) == ""


@pytest.mark.parametrize("name", UNSEEN)
def test_each_field_of_a_sweeps_certificate_is_checked(name: str, written: Path, tmp_path: Path) -> None:
    whole, passed = data_of(written, name), set()
    paths = [path for path in paths_of(whole) if not path.startswith(("backend/attestation", "settings"))]
    for path in paths:
        data = copy.deepcopy(whole)
        change(path, another)(data)
        with suppress(TiebreakError):
            looked_at(data, tmp_path)
            passed.add(path)
    causes = {path for path in paths if path.endswith("/cause")}
    assert passed - causes - FACTS == UNSEEN[name] and len(paths) - len(passed) > 40


JUNK: list[Any] = [None, 7, -1, True, float("nan"), 1e300, "", "x", "1" * 5000, "\ud800", [], [[]], {}, 10**30, "0x"]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["wrong", "certain", "wrong-scales"])
def test_no_junk_in_a_certificate_gives_a_traceback(name: str, written: Path, tmp_path: Path) -> None:
    whole, refused = data_of(written, name), 0
    for number, path in enumerate(paths_of(whole)):
        for turn in (0, 5, 10):
            data = copy.deepcopy(whole)
            change(path, JUNK[(number + turn) % len(JUNK)])(data)
            with suppress(TiebreakError):
                looked_at(data, tmp_path)
                refused -= 1
            refused += 1
    assert refused > 80


def paths_of(data: Any, before: str = "") -> Iterator[str]:
    """Paths to each value; of long lists, and of parts of scales, the first and the last."""
    items = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    if before:
        yield before
    if len(items) > 9 and isinstance(data, list):
        items = [items[0], items[-1]]
    for name, one in items:
        path = f"{before}/{name}" if before else str(name)
        if not (before == "parts" and str(name) not in ("normal range", "every x")):
            yield from paths_of(one, path) if path != "sha256/299" else ()


def another(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value[:-1]}{'1' if value[-1:] != '1' else '2'}"
    return dict(list(value.items())[:-1]) or {"1": "1"} if isinstance(value, dict) else value[:-1] or [1]


@pytest.mark.parametrize(
    ("name", "tamper", "why"),
    [
        ("wrong", change("created", "yesterday"), "its created is no moment"),
        ("wrong", change("seconds", float("nan")), "its seconds are no duration"),
        ("wrong", change("machine", ["a"]), "its machine is no text"),
        ("wrong", change("kernel/sha256", "0"), "its kernel is none"),
        ("wrong", change("backend/document", "mine"), "its backend's document is none"),
        ("wrong", change("backend/libraries", {"a": "b"}), "has no SHA-256"),
        ("wrong", change("faults", {"7": "why"}), "its fault '7' is of no block"),
        ("wrong", change("faults", {"0": "why"}), "its counts are not its inputs"),
        ("wrong", change("space/column", True), "another shape"),
        ("wrong", change("intervals/count", 0), "2 intervals are listed of 0"),
        ("wrong", change("intervals/kept/0/last/bits", "0x3c01"), "4 inputs, 3 deviate"),
        ("wrong", change("intervals/kept/0/first/got", "138"), "two results of one input"),
        ("wrong", change("intervals/kept/0/last/bits", "0x13c00"), "none of this sweep's"),
        ("wrong", change("intervals/kept/0/first/bits", [1]), "another form"),
        ("wrong", change("intervals/kept", lambda rows: rows[::-1]), "is not apart from the one before"),
        ("away", change("modes/ROUND_NEAREST_TOWARD_EVEN", 1), "with its own mode 1 inputs differ"),
        ("away", change("modes/ROUND_UP", 1 << 17), "more mismatches than inputs"),
        ("away", change("intervals/kept/3/first/expected", "1"), "is not what its ends say"),
        ("away", change("intervals/kept/3/inputs", 2), "is not what its ends say"),
        ("certain", change("sha256/0/2", "0" * 64), "block 0 has another checksum"),
        ("certain", change("sha256/0/2", ""), "the checksum of block 0 is none"),
        ("scales", change("space/parts", lambda parts: parts[:-1]), "not the blocks of the sweep"),
        ("scales", change("assumes/monotone", "always"), "what it assumes"),
        ("scales", change("assumes", {}), "what it assumes"),
        ("scales", change("invariance/compared", 245), "245 samples are compared, 243 can be"),
        ("scales", change("invariance/other", ["9999"]), "are none that are compared"),
        ("scales", change("sha256/0/2", "0" * 64), "another checksum than their right results"),
        ("wrong-scales", change("total/worst/pairs", 1), "the worst of all"),
        ("wrong-scales", change("parts/normal range/worst/scale", "0x00000001"), "none of its own"),
        ("wrong-scales", change("parts/normal range/located", 0), "scales that differ"),
        ("proved", change("claim/left", "Q(Relu(DQ(x, s)), s)"), "which the claim says"),
        ("proved", change("missing", "a scale"), "nothing is missing"),
        ("refuted", change("counterexample/left", "2"), "do not differ"),
    ],
)
def test_tampering_is_refused_with_its_reason(
    name: str, tamper: Callable[[Any], None], why: str, written: Path, tmp_path: Path
) -> None:
    data = data_of(written, name)
    tamper(data)
    with pytest.raises(TiebreakError, match=why) as refusal:
        looked_at(data, tmp_path)
    assert len(str(refusal.value).splitlines()) == 1


def test_more_than_the_document_leaves_open_is_refused(written: Path, tmp_path: Path) -> None:
    data = data_of(written, "wrong")
    for change_of, why in ((("unspecified", "exact"), "leaves 2,048 open"), (("working-precision", "exact"), "can be")):
        one = copy.deepcopy(data)
        one["counts"][change_of[0]] += 1000
        one["counts"][change_of[1]] -= 1000
        with pytest.raises(TiebreakError, match=why):
            looked_at(one, tmp_path)


def test_a_proof_that_takes_too_long_is_said_not_to_be_checked(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "MOST_SECONDS", 0.01)
    assert looked_at(data_of(written, "proved"), tmp_path) == ["PROVED: not checked: that takes longer than 0.01 s"]


def test_what_is_unknown_is_said_to_be(written: Path, tmp_path: Path) -> None:
    data = data_of(written, "proved") | {"verdict": "UNKNOWN", "missing": "a way"}
    (line,) = looked_at(data, tmp_path)
    assert line.startswith("UNKNOWN: not checked: the certificate says UNKNOWN")


def test_a_checker_that_ends_is_no_proof(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs.sys, "executable", "/bin/false")
    (line,) = looked_at(data_of(written, "proved"), tmp_path)
    assert line == "PROVED: not checked: the checker's process ended with 1"


def test_no_sweep_has_endless_parts(written: Path, tmp_path: Path) -> None:
    data = data_of(written, "scales")
    data["space"]["parts"] = [["scales", "normal range", 1, 1, 0x7F7FFFFE]] * 900
    with pytest.raises(TiebreakError, match="more than any sweep has"):
        looked_at(data, tmp_path)
