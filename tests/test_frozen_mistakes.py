"""benchmarks/frozen: what is stored is what mistakes predict, and a prediction that changes is named."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(ROOT))

from benchmarks.frozen import record  # noqa: E402
from benchmarks.frozen.digests import DOCUMENTS, MISTAKES, Digest, ids_of_operator  # noqa: E402
from tiebreak.conformance.operators import TESTED  # noqa: E402

SMALL = "gguf.Dequantize"


def test_a_change_is_named_and_writing_again_makes_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, file = record.FILE.read_text(encoding="utf-8"), tmp_path / "mistakes.json"
    right = record.read(record.FILE)[MISTAKES][SMALL]["ignores-scale"]
    file.write_text(stored.replace(right, "9 cases 0123"), encoding="utf-8")
    monkeypatch.setattr(record, "FILE", file)
    assert record.main(["check", "--operator", SMALL]) == 1
    assert capsys.readouterr().out == f"{SMALL}: {MISTAKES}: ignores-scale: 9 cases 0123 -> {right}\n"
    assert record.main(["write", "--operator", SMALL, "--at-once", "2"]) == 0
    assert file.read_text(encoding="utf-8") == stored
    assert record.main(["check", "--operator", SMALL]) == 0


def test_every_mistake_has_a_line() -> None:
    stored = record.read(record.FILE)
    assert set(stored[MISTAKES]) == set(TESTED)
    assert [key for name in TESTED for key in ids_of_operator(name) if key[1] not in stored[MISTAKES][name]] == []
    assert {"onnx.QuantizeLinear", "onnx.Cast", "tosa.RESCALE"} <= set(stored[DOCUMENTS])


def test_a_digest_is_of_the_codes_and_of_the_cases_to_which_something_applies() -> None:
    def of(*cases: tuple[str, list[int]]) -> tuple[int, str]:
        digest = Digest()
        for case, codes in cases:
            digest.add(case, np.array(codes, np.int64))
        return digest.entry

    entries = [of(), of(("a", [1])), of(("b", [1])), of(("a", [2])), of(("a", [1]), ("b", []))]
    assert [count for count, _ in entries] == [0, 1, 1, 1, 2]
    assert len({made for _, made in entries}) == len(entries)
    assert of(("a", [1])) == entries[1]
