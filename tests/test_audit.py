"""Audits of black boxes whose semantics are known, of two that no combination describes, and of real runtimes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited_boxes import (
    BASE,
    KNOWN,
    afraid_of_7,
    of_two_minds,
)
from auditing import INT8, audited
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.cli import main
from tiebreak.conformance.audit.asking import Asker
from tiebreak.conformance.audit.by_path import Arranged
from tiebreak.conformance.audit.operators import AUDITED, arithmetic_of, audited_node
from tiebreak.conformance.semantics.model import ANYTHING, Probe, codes, ids_of, semantics_of
from tiebreak.conformance.semantics.precisions import FLOAT64
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES

EVEN = {"axes": (), "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
BOXES = Path(__file__).parent / "audited_backends.py"


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


@pytest.mark.few(10)
@pytest.mark.parametrize("name", KNOWN)
def test_each_black_box_is_named_exactly_and_all_else_refuted(name: str) -> None:
    box, differs = KNOWN[name]
    answer = audited(box)
    assert answer.semantics() == {**BASE, **differs}
    left = answer.inference.alive
    everything = answer.inference.arithmetic.candidates.all
    assert sorted(map(ids_of, [*left, *answer.inference.refuted])) == sorted(map(ids_of, everything))
    assert len(left) == 1 or any("every finite float32" in sentence for sentence in answer.equal)


@pytest.mark.parametrize("name", ["plain", "fused", "through_int32", "flushes_both"])
def test_each_witness_refutes_what_it_is_for(name: str) -> None:
    """Asked again, one by one: the box gives `got`, the refuted semantics something else."""
    box, _ = KNOWN[name]
    answer = audited(box)
    arithmetic = answer.inference.arithmetic
    for semantics, witness in list(answer.inference.refuted.items())[::37]:
        assert witness.probe.x.size == 1 and witness.expected != witness.got
        (predicted,) = arithmetic.predict(witness.probe, [semantics])
        with np.errstate(all="ignore"):
            got = codes(box(witness.probe.x, *witness.probe.others))
        assert (int(predicted[0]), int(got[0])) == (witness.expected, witness.got)


@pytest.mark.slow
def test_what_no_combination_describes_is_told_with_the_facet_that_broke() -> None:
    answer = audited(of_two_minds)
    closest = answer.closest()
    assert closest is not None and answer.semantics() == {} and answer.consistent() == []
    assert closest["facet"] == "round_mode" and closest["differs"] > 100
    # A negative quotient needs a zero point to be uint8: that each wrong element has one says nothing about it.
    unsigned = audited(of_two_minds, make_node("onnx.QuantizeLinear", quantized="uint8")).closest()
    assert unsigned is not None and unsigned["facet"] == "round_mode" and unsigned["differs"] > 100
    other = audited(afraid_of_7).closest()
    assert other is not None and other["facet"] == "other" and other["differs"] > 10
    assert other["semantics"] == BASE
    assert {(row["expected"], row["got"]) for row in other["examples"]} == {("7", "8")}


@pytest.mark.slow
def test_predictions_of_sound_semantics_are_the_oracles() -> None:
    """What the document's own arithmetic gives, exactly and in working precision, for all nine modes."""
    for mode in ROUND_MODES:
        node = make_node("ngraph.Quantize", quantized="int8", attributes={"axes": (), "round_mode": mode})
        arithmetic = arithmetic_of(node)
        for probe in list(arithmetic.first_probes())[::5]:
            (problem,) = problems_of(Case("", node, (probe.x, *probe.others)))
            for precision, working in (("exact", False), ("float32", True)):
                wanted, _ = oracle.solve(problem, working=working)
                ids = (precision, "divide", "kept", "after-rounding", mode, "saturate")
                (predicted,) = arithmetic.predict(probe, [semantics_of(arithmetic.facets, ids)])
                said = predicted != ANYTHING  # a quotient beyond every float
                assert np.array_equal(predicted[said], np.asarray(wanted)[said]) and said.mean() > 0.9


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.sampled_from(sorted(ROUND_MODES)))
def test_places_round_as_the_modes_do(value: float, mode: str) -> None:
    from fractions import Fraction

    got = MODES[mode].round(np.array([value]), FLOAT64)
    assert got[0] == ROUND_MODES[mode](Fraction(value))


def test_a_backend_in_its_own_process_is_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    result = cli(f"{BOXES}:plain", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert {"backend", "operator", "semantics", "consistent", "refuted", "inputs_tried", "closest"} <= set(found)
    assert found["settings"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"
    assert set(found["sentences"]) == set(BASE)
    assert all(found["sentences"][facet][value] for facet, value in BASE.items())
    assert found["semantics"] == BASE and found["consistent"] == [BASE] and found["closest"] is None
    rows = [row for row in found["refuted"] if row["semantics"].get("nan")]
    assert {row["semantics"]["nan"] for row in rows} > {"highest", "zero"}
    for row in found["refuted"]:
        assert row["expected"] != row["got"] and set(row["witness"]) == {"x", "y_scale", "y_zero_point"}
    assert found["refuted"][0]["witness"]["x"]["bits"].startswith("0x")


@pytest.mark.slow
def test_a_path_dependent_backend_is_reported_as_such() -> None:
    result = cli(f"{BOXES}:tail", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["semantics"] == {} and found["consistent"] == []
    path = found["path_dependent"]
    assert len(set(path["repeated"])) == 2 and path["repeated"][path["place"]] != path["alone"]
    text = cli(f"{BOXES}:tail", "--operator", "onnx.QuantizeLinear", "--type", "int8").stdout
    assert "path-dependent" in text and "in whole vectors" in text and "no known semantics fits" not in text


def test_each_path_has_its_own_facets() -> None:
    found = json.loads(cli(f"{BOXES}:tail", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--json").stdout)
    whole, short = found["by_path"]
    assert whole["paths"] == ["in whole vectors"] and short["paths"] == ["in arrays of 3", "one element alone"]
    assert whole["semantics"] == BASE
    assert short["semantics"] == {**BASE, "round_mode": "ROUND_TOWARD_ZERO"}
    plain = json.loads(cli(f"{BOXES}:plain", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--json").stdout)
    assert "by_path" not in plain


def test_elements_that_were_not_asked_refute_nothing() -> None:
    asked: list[int] = []

    def answers(probes: Sequence[Probe]) -> list[Array | None]:
        asked.extend(probe.x.size for probe in probes)
        return [probe.x.astype(np.int64) for probe in probes]

    probe = Probe(np.arange(100, dtype=np.float32), (np.ones((), np.float32), np.arange(100)))
    (whole,) = Arranged(answers, 0)([probe])
    assert asked == [128] and whole is not None and whole.tolist() == list(range(100))
    (alone,) = Arranged(answers, 1)([probe])
    assert asked[1:] == [1] * 32 and alone is not None
    assert sorted(set(alone.tolist()) - {ANYTHING}) == sorted(np.flatnonzero(alone != ANYTHING).tolist())
    assert np.count_nonzero(alone != ANYTHING) == 32
    assert Arranged(lambda probes: [None for _ in probes], 3)([probe]) == [None]


@pytest.mark.slow
def test_the_terminal_says_facet_value_and_witness() -> None:
    text = cli(f"{BOXES}:plain", "--operator", "onnx.QuantizeLinear", "--type", "int8").stdout
    assert "round mode: ROUND_NEAREST_TOWARD_EVEN" in text
    assert "not reciprocal: x " in text
    broken = cli(f"{BOXES}:odd", "--operator", "onnx.QuantizeLinear", "--type", "int8").stdout
    assert "no known semantics fits" in broken


def test_real_onnxruntime_divides_in_float32_and_rounds_to_even() -> None:
    pytest.importorskip("onnxruntime")
    found = json.loads(cli("onnxruntime", "--operator", "onnx.QuantizeLinear", "--json").stdout)
    wanted = {**BASE, "nan": "zero"}
    assert found["semantics"] == wanted


def test_what_cannot_be_audited_is_one_line() -> None:
    for arguments, code, text in (
        (["numpy-naive", "--operator", "tensorflow.FakeQuantWithMinMaxVars"], 2, "audit knows"),
        (["numpy-naive", "--operator", "onnx.QuantizeLinear", "--type", "float8_e4m3fn"], 2, "integer outputs"),
        (["nothing-such", "--operator", "onnx.QuantizeLinear"], 2, "nothing-such"),
        ([f"{BOXES}:refuses", "--operator", "onnx.QuantizeLinear"], 4, "does not take the node: not this one"),
        ([f"{BOXES}:raises", "--operator", "onnx.QuantizeLinear"], 3, "without a result"),
        ([f"{BOXES}:refuses_calls", "--operator", "onnx.QuantizeLinear"], 4, "no such call"),
        ([f"{BOXES}:other_operator", "--operator", "onnx.QuantizeLinear"], 4, "it claims ngraph.Quantize"),
    ):
        result = cli(*arguments)
        assert result.exit_code == code, (arguments, result.stderr)
        assert text in result.stderr and result.stderr.count("\n") == 1


def test_facets_and_values_have_words() -> None:
    for operator in AUDITED:
        arithmetic = arithmetic_of(audited_node(operator, {}, "", "", 0))
        for facet in (*arithmetic.facets, *arithmetic.specials):
            assert facet.values and all(facet.sentences.values()) and len(facet.by_id) == len(facet.values)
            assert all(re.fullmatch(r"[A-Za-z0-9_-]+", value.id) for value in facet.values)
    with pytest.raises(InvalidInput, match="no table of semantics"):
        arithmetic_of(make_node("tensorflow.FakeQuantWithMinMaxVars"))


def test_calls_without_a_result_are_kept_and_the_rest_is_judged() -> None:
    class Backend:
        def run_batch(self, cases: list[Case]) -> list[Any]:
            from tiebreak.adapters.outcome import Outcome

            return [
                Outcome("crash", message="gone")
                if case.inputs[0].size == 2
                else Outcome("ok", (np.zeros(case.inputs[0].shape, np.int8),))
                for case in cases
            ]

    ask = Asker(Backend(), INT8)  # type: ignore[arg-type]
    others = (np.array(1, np.float32), np.array(0, np.int8))
    got = ask([Probe(np.zeros(2, np.float32), others), Probe(np.zeros(3, np.float32), others)])
    assert got[0] is None and got[1] is not None and got[1].tolist() == [0, 0, 0]
    assert [message for _, message in ask.failed] == ["gone"]


@pytest.mark.slow
def test_a_change_of_semantics_since_a_run_is_said_in_words(tmp_path: Path) -> None:
    chosen = ["--operator", "onnx.QuantizeLinear", "--type", "int8"]
    run = ["run", "-b", f"{BOXES}:plain", *chosen, "--level", "quick", "-o", str(tmp_path)]
    CliRunner().invoke(main, run)
    same = json.loads(cli(f"{BOXES}:plain", *chosen, "--versus", str(tmp_path), "--json").stdout)["versus"]
    assert same["same"] is True and same["changed"] == {} and same["inputs"] > 1000
    assert same["semantics"]["round_mode"] == "ROUND_NEAREST_TOWARD_EVEN"
    result = cli(f"{BOXES}:upgraded", *chosen, "--versus", str(tmp_path))
    assert "round mode was ROUND_NEAREST_TOWARD_EVEN, is ROUND_NEAREST_TOWARD_INFINITY" in result.stdout
    assert " gave " in result.stdout
    other = cli(f"{BOXES}:odd", *chosen, "--versus", str(tmp_path))
    assert other.exit_code == 2 and "no backend 'odd'" in other.stderr


@pytest.mark.slow
def test_what_a_run_gave_for_no_numbers_is_not_taken_from_today(tmp_path: Path) -> None:
    chosen = ["--operator", "onnx.QuantizeLinear", "--type", "int8"]
    run = ["run", "-b", f"{BOXES}:overflowing", *chosen, "--level", "quick", "-o", str(tmp_path)]
    CliRunner().invoke(main, run)
    found = json.loads(cli(f"{BOXES}:upgraded", *chosen, "--versus", str(tmp_path), "--json").stdout)["versus"]
    assert list(found["changed"]) == ["round_mode"] and "float32" in found["semantics"]["precision"]


@pytest.mark.slow
def test_a_path_that_shows_only_next_to_ties_is_found_by_asking_witnesses_again() -> None:
    result = cli(f"{BOXES}:near_ties_by_place", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["path_dependent"] is not None and found["semantics"] == {}


def test_a_backend_that_takes_finite_numbers_only_is_audited_all_the_same() -> None:
    result = cli(f"{BOXES}:finite_only", "--operator", "onnx.QuantizeLinear", "--type", "int8", "--json")
    found = json.loads(result.stdout)
    assert found["semantics"]["round_mode"] == "ROUND_NEAREST_TOWARD_EVEN" and found["semantics"]["scaling"] == "divide"
    assert "finite numbers only" in found["not_answered"][0]["message"]


def test_float64_inputs_are_audited() -> None:
    node = make_node("ngraph.Quantize", real="float64", quantized="int8", attributes=EVEN)

    def box(x: Array, s: Array, z: Array) -> Array:
        return np.clip(np.nan_to_num(np.rint(x / s), nan=-128) + np.float64(z), -128, 127).astype(np.int8)

    found = audited(box, node).semantics()
    assert found["scaling"] == "divide" and found["precision"] in ("float64", ["exact", "float64"])


@pytest.mark.parametrize("precision", ["exact", "float64"])
def test_a_quotient_in_float64_is_told_from_an_exact_one_where_results_have_32_bits(precision: str) -> None:
    from fractions import Fraction

    def box(x: Array, s: Array, z: Array) -> Array:
        kind = Fraction if precision == "exact" else np.float64
        finite = np.where(np.isfinite(x), x, 0)
        found = [round(kind(float(v)) / kind(float(s))) + int(z) for v in finite]
        codes_ = [min(max(int(code), -(2**31)), 2**31 - 1) for code in found]
        ends = np.where(x > 0, 2**31 - 1, -(2**31))
        return np.where(np.isfinite(x), np.array(codes_, np.int64), ends).astype(np.int32)

    node = make_node("ngraph.Quantize", quantized="int32", attributes=EVEN)
    assert audited(box, node).semantics()["precision"] == precision


def test_the_types_of_a_dequantizer_are_told_by_either_option() -> None:
    """As `sweep` takes them, input before output; the type of the integers alone may stand for the output's, too."""
    for operator in ("onnx.DequantizeLinear", "gguf.Dequantize"):
        wanted = make_node(operator, quantized="uint4").key
        for types in (("uint4", "float32"), ("uint4", ""), ("", "uint4"), ("float32", "uint4")):
            assert audited_node(operator, {}, *types, 0).key == wanted
    halves = audited_node("onnx.DequantizeLinear", {}, "", "float16", 0)
    assert (halves.input_type, halves.output_type) == ("uint8", "float16")
    with pytest.raises(InvalidInput, match="'uint16'"):
        audited_node("gguf.Dequantize", {}, "uint16", "float32", 0)
