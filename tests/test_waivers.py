"""Waivers: what each tolerance lets pass, versions, and what a wrong file is told."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from waiver_files import waiver_file

from tiebreak.conformance.gate.waivers import TOLERANCES, is_within, read_waivers
from tiebreak.golden.errors import InvalidInput

ROW = {"boundary_ulp": 0.0, "round_mode": "ROUND_NEAREST_TOWARD_EVEN", "result_type": "uint8", "distance": 1}
ROW |= {"expected": 254.0, "got": 255.0, "expected_bits": 254, "operands": '[["x", "0x0", "1.0"]]'}
NAN = float("nan")


@pytest.mark.parametrize(
    ("kind", "ulp", "change", "wanted"),
    [
        ("any", 0, {}, True),
        ("ties only", 0, {}, True),
        ("ties only", 0, {"boundary_ulp": 1.0}, False),
        ("ties only", 0, {"round_mode": "ROUND_DOWN"}, False),
        ("ties only", 0, {"boundary_ulp": NAN}, False),
        ("within k ulp of a boundary", 2, {"boundary_ulp": 2.0}, True),
        ("within k ulp of a boundary", 2, {"boundary_ulp": 3.0}, False),
        ("within k ulp of a boundary", 2, {"boundary_ulp": NAN}, False),
        ("within k ulp", 1, {"result_type": "float32"}, True),
        ("within k ulp", 1, {"result_type": "float32", "distance": -2}, False),
        ("within k ulp", 1, {"result_type": "float32", "got": NAN}, False),
        ("within k ulp", 1, {}, False),
        ("off by one", 0, {"distance": -1}, True),
        ("off by one", 0, {"distance": 2}, False),
        ("off by one", 0, {"expected": NAN}, False),
        ("saturation only", 0, {}, False),
        ("saturation only", 0, {"expected": 255.0}, True),
        ("saturation only", 0, {"expected": 0.0}, True),
        ("saturation only", 0, {"result_type": "float8_e4m3fn", "expected": -448.0, "expected_bits": 0xFE}, True),
        ("saturation only", 0, {"result_type": "float8_e4m3fn", "expected": 1.0, "expected_bits": 0x38}, False),
        ("nan only", 0, {}, False),
        ("nan only", 0, {"got": NAN}, True),
        ("nan only", 0, {"operands": '[["x", "0x7fc0", "nan"]]'}, True),
    ],
)
def test_tolerances(kind: str, ulp: float, change: dict[str, Any], wanted: bool) -> None:
    assert TOLERANCES[kind](ROW | change, ulp) is wanted


def test_versions_as_backends_write_them() -> None:
    assert is_within("2026.4.1-22982-e213a147257-releases/2026/4", ">=2026.4,<2027")
    assert is_within("1.23.0rc1", ">=1.22,<1.24") and not is_within("1.23.0rc1", ">=1.23")
    assert not is_within("1.9", ">=1.10")
    assert not is_within("main", ">=0") and not is_within("", ">=0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operator": "onnx.Nothing"}, r"waiver 1: operator: unknown 'onnx.Nothing'; known: .*onnx.QuantizeLinear"),
        ({"clause": "ONQ-X9"}, "waiver 1: clause: onnx.QuantizeLinear has no 'ONQ-X9'; it has: ONQ-"),
        ({"backend": "nobody*"}, r"waiver 1: backend: 'nobody\*' matches none of dev"),
        ({"reason": None}, "waiver 1: no 'reason'"),
        ({"reason": "  "}, "waiver 1: reason: '  ' is blank"),
        ({"reason": 7}, "waiver 1: reason: 7 is not of type 'string'"),
        ({"cause": None}, "waiver 1: no 'cause' and no 'clause'"),
        ({"causes": "x"}, "waiver 1: unknown key 'causes'; allowed: backend"),
        ({"expires": "2027-01-31"}, "waiver 1: expires: '2027-01-31' is no date"),
        ({"expires": datetime(2027, 1, 31)}, "waiver 1: expires: 2027-01-31 00:00:00 has a time"),
        ({"link": "see the wiki"}, "waiver 1: link: 'see the wiki' is no http"),
        ({"version": "1.2 or so"}, "waiver 1: version: '1.2 or so' is no version specifier"),
        ({"tolerance": {"kind": "atol"}}, "waiver 1: tolerance.kind: 'atol' is none of 'any', 'ties only'"),
        ({"tolerance": {"kind": "within k ulp"}}, "waiver 1: tolerance.ulp: .* need it"),
        ({"tolerance": {"kind": "ties only", "ulp": 1}}, "waiver 1: tolerance.ulp: .* need it"),
        ({"tolerance": {"ulp": 1}}, "waiver 1: tolerance: no 'kind'"),
        ({"tolerance": {"kind": "within k ulp", "ulp": -1}}, "waiver 1: tolerance.ulp: -1 is less than the minimum"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_waiver_is_named_with_its_field(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_waivers(waiver_file(tmp_path, change), ["dev"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[waiver]", "not TOML"),
        ("waiver = 3", "'waiver' is to be"),
        ("[[waivers]]\na = 1", "unknown key 'waivers'"),
        ("waiver = [1]", "waiver 1: 1 is not of type 'object'"),
        ("\ud800", "not UTF-8"),
        ("#" * (1 << 20) + "#", "larger than 1 MiB"),
        ("[[waiver]]\n" * 1001, "at most 1000"),
    ],
    ids=["syntax", "number", "key", "entry", "bytes", "size", "number of entries"],
)
def test_a_file_that_is_no_waiver_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidInput, match=message):
        read_waivers(path, [])
    assert read_waivers(Path(os.devnull), []) == []
