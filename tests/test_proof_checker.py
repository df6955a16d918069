"""The checker of certificates takes what the prover writes, and tries as many blocks as it is told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from proof_certificates import (
    EVERYWHERE,
    RESCALED,
    TRIED,
    certificate,
    chain_of,
    check,
)

from tiebreak.conformance import proof_checker
from tiebreak.conformance.proof_checker import ProofRefused

PAGE = Path(__file__).parent.parent / "docs" / "proof-certificate.md"
PROVED = [
    ("Q(DQ(x, s), s) = x", {"real": "float16"}),
    ("Q(DQ(x, s), s) = x", {"real": "float16", "type": "int8", "sign": "negative"}),
    ("exact(Q(DQ(x, s), s)) = x", {"real": "float16"}),
    ("Q(Relu(x), s) = Q(x, s)", {"real": "float16", "zero_points": "lowest"}),
    pytest.param(
        "Q(Clip(x, 0, 6), s) = Q(Clip(Clip(x, 0, 6), 0, 6), s)",
        {"real": "bfloat16", "extent": "all"},
        marks=pytest.mark.slow,
    ),
    ("DQ(Q(DQ(Q(x, s), s), s), s) = DQ(Q(x, s), s)", {"real": "float16"}),
    ("MaxPool(Q(x, s)) = Q(MaxPool(x), s)", {}),
    ("Q(MaxPool(DQ(x, s)), s) = MaxPool(x)", {"real": "float16"}),
    ("Q(Resize(DQ(x, s)), s) = Resize(x)", {"real": "float16"}),
    ("Q(Sub(DQ(x, s), DQ(x, s)), s) = exact(Q(Sub(DQ(x, s), DQ(x, s)), s))", {"real": "bfloat16"}),
    ("Relu(DQ(x, s)) = DQ(x, s)", {"real": "bfloat16", "zero_points": "lowest"}),
    ("single_round(v, m, s) = kernels_single(v, m, s)", {"ranges": RESCALED}),
    ("single_round(v, m, s) = double_round(v, m, s)", {"ranges": RESCALED, "given": "s <= 31"}),
    ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "0..2147483647", "s": "1..31"}}),
]
REFUTED = [
    ("Q(DQ(x, s), s) = x", {"real": "bfloat16"}),
    ("Q(DQ(x, s), s) = x", {"real": "float16", "extent": "all"}),  # at a scale at which a number overflows
    ("Q(x, s) = exact(Q(x, s))", {"real": "float16"}),
    ("MaxPool(Q(x, s)) = Q(MaxPool(x), s)", {"sign": "negative"}),
    ("Q(Clip(DQ(x, s), 0, 6), s) = Q(DQ(x, s), s)", {}),
    pytest.param(
        "Q(AveragePool(DQ(x, s)), s) = exact(Q(AveragePool(DQ(x, s)), s))",
        {"real": "bfloat16"},
        marks=pytest.mark.slow,
    ),
    pytest.param("single_round(v, m, s) = double_round(v, m, s)", {"ranges": RESCALED}, marks=pytest.mark.slow),
    ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "int32", "s": "1..31"}}),
]


@pytest.mark.parametrize(("text", "domain"), PROVED)
def test_a_proof_is_taken(text: str, domain: dict[str, Any]) -> None:
    data = certificate(text, **domain)
    assert data["verdict"] == "PROVED"
    assert check(data)


@pytest.mark.parametrize(("text", "domain"), REFUTED)
def test_a_counterexample_is_taken(text: str, domain: dict[str, Any]) -> None:
    data = certificate(text, **domain)
    assert data["verdict"] == "REFUTED"
    assert data["counterexample"]["left"] in " ".join(check(data))


@pytest.mark.parametrize(("text", "domain"), REFUTED)
def test_a_verdict_that_is_flipped_is_found(text: str, domain: dict[str, Any]) -> None:
    data = certificate(text, **domain)
    data["verdict"] = "PROVED"
    with pytest.raises(ProofRefused):
        check(data)
    data["counterexample"] = None
    with pytest.raises(ProofRefused):
        check(data)


def test_all_blocks_are_tried_if_whole() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    assert data["verdict"] == "PROVED"
    count = len(data["steps"][0]["blocks"])
    assert f"2 of {count} blocks" in check(data)[0]
    assert f"{count} of {count} blocks" in check(data, whole=True)[0]


def test_blocks_are_drawn_as_long_as_the_proof_took() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    count = len(data["steps"][0]["blocks"])
    assert f"{count} of {count} blocks" in proof_checker.check(data)[0]
    data["seconds"] = -1e9  # what anybody may have written: there is a least time
    assert f"{count} of {count} blocks" in proof_checker.check(data)[0]


def test_drawn_blocks_differ_from_check_to_check() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    blocks = data["steps"][0]["blocks"]
    blocks[-1][0] = "0" * 64
    data["steps"][0]["chain"] = chain_of(blocks)
    found = []
    for seed in range(6):
        try:
            check(data, seed=seed)
            found.append(False)
        except ProofRefused:
            found.append(True)
    assert any(found)
    assert not all(found)
    with pytest.raises(ProofRefused, match="other results"):
        check(data, whole=True)


def test_unknown_is_nothing_to_check() -> None:
    data = certificate(*TRIED[:1], **TRIED[1])
    data["verdict"] = "UNKNOWN"
    with pytest.raises(ProofRefused, match="nothing to check"):
        check(data)
    with pytest.raises(ProofRefused, match="no certificate"):
        check({"claim": {}})


@pytest.mark.skipif(not PAGE.is_file(), reason="a source distribution may have no docs")
def test_the_page_lists_the_checkers_files_each_after_what_it_rests_on() -> None:
    listed = re.findall(r"^\| `(\w+)\.py`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    folder = Path(proof_checker.__path__[0])
    assert sorted(listed) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    for number, name in enumerate(listed):
        needed = re.findall(
            r"^from tiebreak\.conformance\.proof_checker\.(\w+)", (folder / f"{name}.py").read_text(), re.M
        )
        assert set(needed) <= set(listed[:number])
