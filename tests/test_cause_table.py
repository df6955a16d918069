"""The one table of causes: every id has a sentence, old sentences still name their causes, places and environments."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from tiebreak.conformance.audit.operators import AUDITED, arithmetic_of, audited_node
from tiebreak.conformance.audit.sentences import cause_of_facets
from tiebreak.conformance.causes import places
from tiebreak.conformance.causes.broken import clause_of_cause
from tiebreak.conformance.causes.placed import with_place
from tiebreak.conformance.gate.compare import compare
from tiebreak.conformance.gate.waivers import Waiver
from tiebreak.conformance.judging.deviating import NOT_TOLD
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_pairs import pairs_of
from tiebreak.conformance.running.backends import run_cases
from tiebreak.conformance.semantics.cause_sentences import PLACES, SENTENCES
from tiebreak.conformance.semantics.causes import (
    PER_TENSOR,
    Cause,
    at_place,
    environment_of,
    sentence_of,
    without_environment,
    without_forms,
)
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.former_causes import FORMER, FORMER_IDS, ids_so_far
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.reports.records import as_run, read_run, write_run

MISTAKES = [cause for record in TESTED.values() for cause, _ in record.mistakes or ()] + [c for c, _ in HYPOTHESES]
NODES = {"ngraph.Quantize": {"round_mode": "ROUND_UP"}, "openvino.FakeQuantize": {"levels": 256}}
NODES["tosa.RESCALE"] = {"scale32": True, "rounding_mode": "DOUBLE_ROUND", "per_channel": False}


def test_every_known_mistake_has_a_sentence() -> None:
    key = r"[a-z0-9-]+(:[^@+]+)?"
    assert len(MISTAKES) > 3000
    assert not [cause.id for cause in MISTAKES if not cause.text or "{}" in cause.text]
    assert not [cause.id for cause in MISTAKES if not re.fullmatch(rf"{key}( \+ {key})*", cause.id)]


@pytest.mark.parametrize("operator", list(AUDITED))
def test_every_value_of_every_facet_has_a_sentence(operator: str) -> None:
    arithmetic = arithmetic_of(audited_node(operator, NODES.get(operator, {}), "", "", 0))
    for facet, plain in zip(arithmetic.candidates.facets, arithmetic.documented, strict=True):
        for value in facet.values:
            if value is not plain:
                assert sentence_of(key_of(value, plain.id))
    for semantics in arithmetic.candidates.all[:: max(1, len(arithmetic.candidates.all) // 300)]:
        if semantics != arithmetic.documented:
            names = arithmetic.candidates.names
            assert cause_of_facets(operator, names, arithmetic.documented, semantics).text


# Their mistakes are made in a value that is rounded once, and in one that is rounded at each step.
IN_BOTH_TRUTHS = ("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul")


@pytest.mark.parametrize("operator", list(TESTED))
def test_an_id_has_one_arithmetic_and_one_sentence(operator: str) -> None:
    record = TESTED[operator]
    tables = [record.mistakes or (), record.pairs]
    for table in (*tables, HYPOTHESES, pairs_of("ROUND_NEAREST_TOWARD_EVEN")):
        ids = Counter(cause.id for cause, _ in table)
        most = 2 if operator in IN_BOTH_TRUTHS and table is record.mistakes else 1
        assert max(ids.values(), default=1) <= most, ids.most_common(3)
    singles, pairs = ({cause.id: run for cause, run in table} for table in tables)
    assert all(run == pairs[id_] for id_, run in singles.items() if id_ in pairs)
    assert len({sentence_of(id_) for id_ in singles}) == len(singles)


def test_the_form_of_a_formula_is_no_other_mistake() -> None:
    assert sentence_of("adds-min:ties upward") == f"{SENTENCES['adds-min']}, ties upward"
    assert without_forms("adds-min:ties upward + scale-in:float16 @ tail:8") == "adds-min + scale-in:float16 @ tail:8"
    assert without_forms("computes-in:float16, inputs too") == "computes-in:float16"
    assert without_forms("position:quotient first, fused") == "position:quotient first, fused"
    assert without_forms("a-key-of-tomorrow:x + wraps") == "a-key-of-tomorrow:x + wraps"
    assert ids_so_far("one-division + rounds-once-to-even")[:2] == (
        "one-division + rounds-once-to-even",
        "rounds-once-to-even",
    )


def test_sentences_are_told_apart_and_of_one_line() -> None:
    assert len(set(SENTENCES.values())) == len(SENTENCES)
    assert all(sentence == sentence.strip() and "\n" not in sentence for sentence in SENTENCES.values())
    assert not set(FORMER) & set(SENTENCES.values())
    assert all(sentence_of(id_) for id_ in (*FORMER.values(), *FORMER_IDS, *FORMER_IDS.values()))


def test_parameters_several_mistakes_and_places() -> None:
    assert sentence_of("reciprocal:float32 + casts-to-int32") == (
        "multiplies by the reciprocal in float32, casts to int32 before clamping, which overflows"
    )
    assert sentence_of(at_place("own-reciprocal", "tail:8")).endswith(", in the tail of a vector loop of 8")
    body = sentence_of(at_place("own-reciprocal", "per-tensor-body:8"))
    assert body.endswith(", per tensor, in the body of a vector loop of 8")
    assert sentence_of("rounds-in-tail:8,UP") == "the tail of a vector loop of 8 rounds UP"
    assert at_place("own-reciprocal", "") == "own-reciprocal"
    with_parameter = ("tail", "body", "row-tail", "row-body", "after", "large", "small")
    assert {name for name, sentence in PLACES.items() if "{}" in sentence} == set(with_parameter)
    with pytest.raises(KeyError):
        sentence_of("nothing-known")


def test_every_place_that_is_looked_at_has_a_sentence() -> None:
    for place in range(len(places.PLACES)):
        for prefix in ("", PER_TENSOR):
            sentence = sentence_of(with_place((Cause("wraps", "range"), place), prefix).id)
            assert sentence.startswith(f"{sentence_of('wraps')}, ")
            assert ("per tensor" in sentence) == bool(prefix)
            assert "{}" not in sentence


def test_the_environment_is_told_from_arithmetic() -> None:
    both = at_place("own-reciprocal + flushes-inputs", "per-axis")
    assert (environment_of(both), without_environment(both)) == ("flushes", "own-reciprocal")
    assert (environment_of("flushes-all"), without_environment("flushes-all")) == ("flushes", "")
    assert (environment_of("wraps"), without_environment("wraps")) == ("", "wraps")


def waiver(cause: str) -> Waiver:
    return Waiver(1, "mine", "onnx.QuantizeLinear", "r", "https://a.b", date(2030, 1, 1), cause=cause)


@pytest.mark.parametrize(
    "cause", ["casts-to-int32", "casts-*", "casts to int32 *", "quotient cast to int32 before it is clamped"]
)
def test_a_waiver_names_a_cause_by_id_by_sentence_or_by_an_older_sentence(cause: str) -> None:
    row = {"backend": "mine", "operator": "onnx.QuantizeLinear", "clause": "ONQ-C1", "cause_id": "casts-to-int32"}
    row["root"] = sentence_of(row["cause_id"])
    assert waiver(cause).names(row, "1")
    assert not waiver("wraps").names(row, "1")
    assert not waiver(cause).names(row | {"cause_id": "wraps", "root": sentence_of("wraps")}, "1")
    older = {name: value for name, value in row.items() if name != "cause_id"}
    assert waiver(cause).names(older, "1") == cause.startswith("casts to")


@pytest.mark.parametrize(
    "cause",
    ["range-ratio-first + flushes", "flushes subnormals to zero, with a range ratio rounded first", "range-ratio-*"],
)
def test_a_waiver_still_names_what_had_one_id_with_another_arithmetic(cause: str) -> None:
    row = {"backend": "mine", "operator": "onnx.QuantizeLinear", "clause": "ONQ-C1", "root": "…"}
    now = "range-ratio-first + adds-half-and-truncates + flushes"
    assert waiver(cause).names(row | {"cause_id": now}, "1")
    assert waiver(cause).names(row | {"cause_id": "range-ratio-first + flushes"}, "1")
    assert waiver(now).names(row | {"cause_id": now}, "1")
    assert not waiver(now).names(row | {"cause_id": "range-ratio-first + flushes"}, "1")


def test_a_waiver_still_names_a_cause_whose_id_now_says_the_form_of_the_formula() -> None:
    row = {"backend": "mine", "operator": "onnx.QuantizeLinear", "clause": "ONQ-C1", "root": "…"}
    now = row | {"cause_id": "adds-min:ties upward + computes-in:float16, inputs too"}
    assert waiver("adds-min + computes-in:float16").names(now, "1")
    assert not waiver("adds-min:ties upward").names(row | {"cause_id": "adds-min"}, "1")
    assert not waiver("wraps").names(now, "1")


BOX = """
import numpy as np


class Box:
    name, version, operators = "box", "1", {"onnx.QuantizeLinear"}

    def compile(self, node):
        return lambda x, s, z: (np.clip(np.floor(x / s + 0.5) + z, 0, 255).astype(np.uint8),)
"""


def test_another_sentence_changes_no_comparison_and_an_older_run_is_still_read(tmp_path: Path) -> None:
    import numpy as np

    (tmp_path / "box.py").write_text(BOX)
    case = Case("c", make_node("onnx.QuantizeLinear"), (np.float32([0.5, 2.5, 1]), np.float32(1), np.uint8(0)))
    made = run_cases([f"{tmp_path / 'box.py'}:Box"], [case], time_limit=30, facts={"level": "x", "seed": 0})
    run = as_run(made)
    before = run.discrepancies.assign(cause="what it was called before")
    clusters = [{**row, "cause": "what it was called before"} for row in run.info["clusters"]]
    renamed = type(run)(run.info | {"clusters": clusters}, run.results, before)
    found = compare(renamed, run)
    assert [row["status"] for row in found["causes"]] == ["unchanged"] and found["exit"] == 0

    (id_,) = set(run.discrepancies["cause_id"])
    told = f"{run.discrepancies['cause'].iloc[0]}, rounded once"  # of a later version, whose id says the form
    later = run.discrepancies.assign(cause_id=f"{id_}, rounded once", cause=told)
    now = type(run)(
        run.info | {"clusters": [{**row, "cause": told} for row in run.info["clusters"]]}, run.results, later
    )
    found = compare(run, now)
    assert [row["status"] for row in found["causes"]] == ["unchanged"] and found["exit"] == 0
    assert {row["status"] for row in compare(now, run)["causes"]} == {"renamed"}, "an id is not read backwards"

    (tmp_path / "run").mkdir()
    write_run(tmp_path / "run", run, made.generated)
    path = tmp_path / "run" / "discrepancies.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["cause_id", "document", "domain"]), path)
    older = read_run(tmp_path / "run").discrepancies
    assert set(older["document"]) == {"own"} and set(older["cause_id"]) == {""} and len(older) == len(before)
    assert [row["status"] for row in compare(read_run(tmp_path / "run"), run)["causes"]] == ["unchanged"]


def test_no_cause_breaks_a_clause_that_leaves_its_subject_open() -> None:
    for spec in OPERATORS.values():
        is_open = {clause.id: clause.unspecified for clause in spec.clauses}
        for role in ("mode", *spec.roles):
            for mode in spec.modes or ("",):
                node = SimpleNamespace(operator=spec.id, round_mode=mode, output_type="uint8", value=lambda name: "")
                found = clause_of_cause(node, Cause("wraps", role), NOT_TOLD, set(is_open))  # type: ignore[arg-type]
                assert not is_open.get(found), (spec.id, role)
