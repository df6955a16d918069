"""Claims and maps: what a backend says, how it reaches the records, and whose document counts for the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tiebreak.adapters.claims import Claims, claims_of, parsed_claims
from tiebreak.adapters.registry import load_backend, registered
from tiebreak.cli import main
from tiebreak.golden.errors import InvalidInput, NoDevice
from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators import OPERATORS
from tiebreak.reports.records import read_run

BOXES = """
import numpy as np


class Box:
    name, version, maps = "box", "1", {}

    def compile(self, node):
        return lambda x, scale, zero_point=0: (quantized(x, scale, zero_point, node.outputs[0].dtype),)


def quantized(x, scale, zero_point, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.floor(np.float64(x) / scale + 0.5) + zero_point, limits.min, limits.max).astype(dtype)


class Claiming(Box):
    claims = {"onnx.QuantizeLinear": "its own reading of opset 21"}


class Mapping(Box):
    maps = {"onnx.QuantizeLinear": "rounds x / scale"}
"""
TYPED = ["--operator", "onnx.QuantizeLinear", "--input", "x=0.5,2.5", "--input", "y_scale=1", "--input"]
TYPED += ["y_zero_point=0", "--json"]


def with_attributes(**attributes: Any) -> Any:
    return type("Box", (), attributes)()


def test_operators_alone_are_claims() -> None:
    found = claims_of(with_attributes(operators={"ngraph.Quantize"}))
    assert found == Claims(frozenset({"ngraph.Quantize"}))
    assert found.document("ngraph.Quantize") == "own"
    assert claims_of(with_attributes()).operators is None


def test_claims_and_maps_are_operators_too() -> None:
    found = claims_of(with_attributes(claims={"ngraph.Quantize": "its manual"}, maps={"onnx.QuantizeLinear": "same"}))
    assert found.operators == {"ngraph.Quantize", "onnx.QuantizeLinear"}
    assert [found.document(name) for name in ("ngraph.Quantize", "onnx.QuantizeLinear")] == ["own", "foreign"]
    assert parsed_claims(found.header()) == found


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"operators": "onnx.QuantizeLinear"}, "operators are text"),
        ({"operators": 3}, "a set of ids is wanted"),
        ({"operators": {"nothing.Known"}}, "no operator; known"),
        ({"claims": ["onnx.QuantizeLinear"]}, "its claims are"),
        ({"maps": {"onnx.QuantizeLinear": 3}}, "its maps are"),
        ({"maps": dict.fromkeys(map(str, range(1001)), "x")}, "more than 1,000"),
        ({"claims": {"ngraph.Quantize": "a"}, "maps": {"ngraph.Quantize": "b"}}, "one or the other"),
        ({"operators": {"ngraph.Quantize"}, "library": 3}, "a configuration of"),
    ],
    ids=str,
)
def test_wrong_claims_are_refused_in_one_line(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        parsed_claims(given)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [name for name in registered() if name != "ngraph"])
def test_built_in_backends_say_of_each_operator_which_it_is(name: str) -> None:
    try:
        claims = claims_of(load_backend(name))
    except (ImportError, NoDevice):
        pytest.skip(f"{name} is not installed, or its device is not here")
    assert claims.operators and claims.operators <= set(OPERATORS)
    sources = set(map(source_of, claims.documents))
    assert not sources & set(map(source_of, claims.maps))
    assert all(text.strip() for text in (*claims.documents.values(), *claims.maps.values()))


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("claims") / "boxes.py"
    path.write_text(BOXES)
    return path


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("box", "options", "code", "document"),
    [("Claiming", [], 1, "own"), ("Mapping", [], 0, "foreign"), ("Mapping", ["--judge-foreign"], 1, "foreign")],
    ids=str,
)
def test_only_a_claimed_document_counts(
    boxes: Path, tmp_path: Path, box: str, options: list[str], code: int, document: str
) -> None:
    folder = tmp_path / "run"
    done = CliRunner().invoke(main, ["run", "-b", f"{boxes}:{box}", *TYPED, *options, "-o", str(folder)])
    assert done.exit_code == code, done.output
    told = json.loads(done.stdout)["backends"]["box"]["operators"]["onnx.QuantizeLinear"]
    assert told == {"document": document, "verdicts": {"deviates": 1}}
    run = read_run(folder)
    assert set(run.results["document"]) == set(run.discrepancies["document"]) == {document}
    assert {row["document"] for row in run.info["clusters"]} == {document}


@pytest.mark.slow
def test_the_gate_and_a_comparison_tell_hazards_apart(boxes: Path, tmp_path: Path) -> None:
    for name, values in (("before", "x=1,2"), ("after", "x=0.5,2.5")):
        options = [values if option.startswith("x=") else option for option in TYPED]
        command = ["run", "-b", f"{boxes}:Mapping", *options, "-o", str(tmp_path / name)]
        assert CliRunner().invoke(main, command).exit_code == 0
    gate = ["gate", str(tmp_path / "after"), "--baseline", str(tmp_path / "before")]
    done = CliRunner().invoke(main, [*gate, "--json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["new"], len(found["hazards"])) == (0, [], 1)
    assert found["counts"]["hazards"] == 2 and found["counts"]["new"] == 0
    assert "hazard box 1, onnx.QuantizeLinear" in CliRunner().invoke(main, gate).stdout
    assert CliRunner().invoke(main, [*gate, "--judge-foreign"]).exit_code == 1


@pytest.mark.slow
def test_a_sweep_tells_hazards_apart(boxes: Path, tmp_path: Path) -> None:
    chosen = ["--operator", "onnx.QuantizeLinear", "--input-type", "float16", "--type", "int8", "--input"]
    chosen += ["y_scale=1", "--input", "y_zero_point=0", "--json", "-o", str(tmp_path / "sweep.json")]
    for box, options, code in (("Mapping", [], 0), ("Mapping", ["--judge-foreign"], 1), ("Claiming", [], 1)):
        done = CliRunner().invoke(main, ["sweep", f"{boxes}:{box}", *chosen, *options])
        found = json.loads(done.stdout)
        assert found["mismatches"] > 0 and done.exit_code == code, done.output
        assert found["document"] == ("own" if box == "Claiming" else "foreign")


def test_a_program_tells_its_claims_and_maps(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    hello = {"status": "ok", "name": "p", "version": "1", "maps": {"onnx.QuantizeLinear": "the same"}, "library": "lib"}
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    print(json.dumps({{**{hello!r}, 'id': json.loads(line)['id'], 'tensors': []}}), flush=True)\n"
    )
    found = claims_of(load_backend(f"exec:python3 {script}"))
    assert found == Claims(frozenset({"onnx.QuantizeLinear"}), {}, {"onnx.QuantizeLinear": "the same"}, "lib")
