"""Emulators of casts give what the semantics that they are written from predict, and what libraries and boxes give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited_casts import KNOWN
from auditing import audited, single_changes
from click.testing import CliRunner, Result
from emulated import check_as_predicted, every_float16, probes_of, written_for

from tiebreak.adapters.registry import load_backend
from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.emulators import job, running
from tiebreak.conformance.emulators.files import Emulated
from tiebreak.conformance.emulators.steps import given
from tiebreak.conformance.semantics.cast import CastArithmetic, is_negative
from tiebreak.conformance.semantics.model import Semantics, codes
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

LANGUAGES = ("numpy", "c", "torch", "onnx")
FLOATS = [
    *(("float32", kind) for kind in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float4_e2m1fn")),
    *(("float32", kind) for kind in ("float6_e2m3fn", "float6_e3m2fn")),
    *(("float16", "float8_e4m3fn"), ("bfloat16", "float8_e5m2fnuz"), ("float64", "float8_e5m2")),
    *(("float64", "float8_e4m3fn"), ("float8_e5m2", "float8_e4m3fn"), ("float8_e4m3fnuz", "float8_e5m2")),
    *(("float8_e5m2", "float16"), ("float8_e8m0fnu", "float8_e5m2"), ("float8_e8m0fnu", "bfloat16")),
]
INTEGERS = [
    *(("float32", "int4"), ("float64", "uint4"), ("bfloat16", "int2"), ("float8_e4m3fn", "int8")),
    *(("int32", "float8_e4m3fn"), ("uint16", "float8_e5m2"), ("int32", "int4"), ("int8", "uint2"), ("int4", "float16")),
]
POWERS = [
    (source, "float8_e8m0fnu")
    for source in ("float32", "float64", "float16", "bfloat16", "float8_e5m2", "int32", "uint8")
]
PAIRS = FLOATS + INTEGERS + POWERS
NEEDED = ("torch", "onnx")
MISSING = {  # what makes a language refuse
    "torch": (
        "PyTorch computes with no float4_e2m1fn",
        "PyTorch computes with no float6_e2m3fn",
        "PyTorch computes with no float6_e3m2fn",
    ),
    "onnx": ("ONNX has no operator for the sign of a NaN", "ONNX has no operator for the exponent of a number"),
}


def node_of(source: str, target: str, **attributes: Any) -> Node:
    return audited_node("onnx.Cast", attributes, source, target, 0)


def table_of(pair: tuple[str, str]) -> CastArithmetic:
    arithmetic = arithmetic_of(node_of(*pair))
    assert isinstance(arithmetic, CastArithmetic)
    return arithmetic


def draw_specials(arithmetic: CastArithmetic, random: np.random.Generator) -> None:
    """Any values of the special facets: whatever NaN and infinities gave, an emulator gives."""
    drawn = {one.name: one.values[random.integers(len(one.values))] for one in arithmetic.specials}
    special = [probe for probe in arithmetic.special_probes() if arithmetic.special_of(probe)]
    arithmetic.large = {False: 1, True: 0}
    arithmetic.learn_specials(
        [
            *((probe, 1 - is_negative(probe)) for probe in arithmetic.special_probes() if probe not in special),
            *((probe, arithmetic.special_code(drawn[arithmetic.special_of(probe)], probe)) for probe in special),
        ]
    )


def check(pair: tuple[str, str], language: str, semantics: list[Semantics]) -> int:
    """Compare files with the table's predictions; how many files there were, for a language may lack a step."""
    arithmetic, random, refused = table_of(pair), np.random.default_rng(len(semantics)), list[str]()
    probes = probes_of(arithmetic.node)
    for one in semantics:
        draw_specials(arithmetic, random)
        try:
            assert check_as_predicted(arithmetic, one, language, probes) > 0
        except Unsupported as refusal:
            refused.append(str(refusal))
    assert set(refused) <= set(MISSING.get(language, ()))
    return len(semantics) - len(refused)


def some(pair: tuple[str, str], count: int) -> list[Semantics]:
    every = table_of(pair).candidates.all
    chosen = np.random.default_rng(sum(map(ord, "".join(pair)))).permutation(len(every))[:count]
    return [every[place] for place in chosen]


@pytest.mark.few(5)
@pytest.mark.parametrize("pair", PAIRS, ids=":".join)
def test_every_value_of_a_facet_in_numpy(pair: tuple[str, str]) -> None:
    changes = list(dict.fromkeys(single_changes(table_of(pair))))
    assert check(pair, "numpy", changes) == len(changes) > 0


@pytest.mark.few(3)
@pytest.mark.parametrize("pair", PAIRS, ids=":".join)
def test_combinations_of_facets_in_numpy(pair: tuple[str, str]) -> None:
    drawn = some(pair, 40)
    assert check(pair, "numpy", drawn) == len(drawn) > 0


@pytest.mark.few(3, of="language")
@pytest.mark.parametrize("pair", PAIRS, ids=":".join)
@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_combinations_of_facets_elsewhere(pair: tuple[str, str], language: str) -> None:
    if language in NEEDED:
        pytest.importorskip(language)
    drawn = some(pair, 8)
    held = check(pair, language, drawn)
    assert language != "c" or held == len(drawn)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", KNOWN)
def test_a_box_and_its_emulators(name: str, tmp_path: Path) -> None:
    source, target, box, _ = KNOWN[name]
    node = node_of(source, target)
    answer, x = audited(box, node), inputs_of(node)
    for language in ("numpy", "c"):
        path = tmp_path / job.DEFAULTS[language].name
        told = written_for(answer, language, path)
        assert told["exit"] == 0 and told["file"] == str(path), told
        with np.errstate(all="ignore"):
            wanted = codes(box(x))
        assert np.array_equal(codes(runner(node, language, path)(x)), wanted)


def inputs_of(node: Node) -> Array:
    """Every number of 16 bits in a wide type, or what an audit asks at first. No NaN: of these a box may tell more."""
    if node.input_type in FLOAT_TYPES:
        x = every_float16()
        return x[~np.isnan(x)].astype(node.inputs[0].dtype)
    return np.concatenate([probe.x for probe in arithmetic_of(node).first_probes()])


def runner(node: Node, language: str, path: Path) -> running.Run:
    one = Emulated(node, given("x", node.input_type), "cast", "", "")  # to run the file, its steps are not needed
    return running.RUNS[language](path, one)


def cli(backend: str, source: str, target: str, saturate: bool, language: str, path: Path) -> Result:
    said = ["--operator", "onnx.Cast", "--input-type", source, "--type", target, "--emulator", language]
    attributes = [] if saturate else ["--attr", "saturate=false"]
    return CliRunner().invoke(main, ["audit", backend, *said, *attributes, "-o", str(path), "--json"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_command_writes_a_file_that_does_what_ml_dtypes_does(language: str, tmp_path: Path) -> None:
    if language in NEEDED:
        pytest.importorskip(language)
    path = tmp_path / job.DEFAULTS[language].name
    result = cli("ml_dtypes", "float32", "float8_e4m3fn", False, language, path)
    told = json.loads(result.stdout)["emulator"]
    assert result.exit_code == 0 and told["file"] == str(path) and told["elements"] > 20_000
    x, node = every_float16(), node_of("float32", "float8_e4m3fn", saturate=False)
    (wanted,) = load_backend("ml_dtypes").compile(node)(x)
    assert np.unique(codes(wanted)).size == 2 * 127 + 1
    assert np.array_equal(codes(runner(node, language, path)(x)), codes(wanted))


def test_the_numpy_file_has_one_input_and_is_a_backend(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    assert cli("ml_dtypes", "float16", "float8_e5m2", False, "numpy", path).exit_code == 0
    text = path.read_text()
    assert "def cast(x):" in text and "zero_point" not in text and "# node: onnx.Cast, input float16, output" in text
    node = ["--operator", "onnx.Cast", "--input-type", "float16", "--type", "float8_e5m2", "--attr", "saturate=false"]
    command = ["sweep", f"{path}:Emulator", *node, "-o", str(tmp_path / "sweep.json"), "--json"]
    swept = json.loads(CliRunner().invoke(main, command).stdout)
    assert swept["inputs"] == 65_536 and swept["mismatches"] == 0


def test_what_a_language_lacks_is_exit_code_4(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    result = cli("onnx-reference", "float32", "float4_e2m1fn", True, "torch", tmp_path / "none")
    told = json.loads(result.stdout)["emulator"]
    assert result.exit_code == 4 and told["file"] is None, told
    assert told["why"].startswith("PyTorch computes with no float4_e2m1fn"), told
    assert not (tmp_path / "none").exists()


def test_a_file_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, box, _ = KNOWN["clipped"]
    path = tmp_path / "wrong.py"
    monkeypatch.setitem(job.FILES, "numpy", lambda *given: job.numpy_file(*given).replace("rint", "floor"))  # type: ignore[arg-type]
    told = written_for(audited(box, node_of(source, target)), "numpy", path)
    assert told["exit"] == 1 and not path.exists() and set(told["differs"]["inputs"]) == {"input"}


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["onnxruntime", "torch", "openvino", "onnx-reference"])
@pytest.mark.parametrize("target", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("source", ["float32", "float16"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_float16_through_a_real_library(
    backend: str, source: str, target: str, language: str, tmp_path: Path
) -> None:
    pytest.importorskip(backend.removesuffix("-reference"))
    path, saturate = tmp_path / job.DEFAULTS[language].name, (backend, target) != ("torch", "float8_e5m2")
    result = cli(backend, source, target, saturate, language, path)
    if result.exit_code == 4:
        pytest.skip(result.stderr)
    assert result.exit_code == 0, result.output
    node = node_of(source, target, **({} if saturate else {"saturate": False}))
    x = inputs_of(node)
    (wanted,) = load_backend(backend).compile(node)(x)
    assert np.array_equal(codes(runner(node, language, path)(x)), codes(wanted))
