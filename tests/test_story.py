"""The story of a run: the order of its chapters, what is one finding, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.both_answers import number_contradictions
from tiebreak.conformance.running.backends import run_cases, running_backends
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.running.repeating import repeated_rows, rows_by_operator
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.verdicts import NOT_ASKED
from tiebreak.reports.folding import folded_causes
from tiebreak.reports.libraries import equal_configurations, library_of
from tiebreak.reports.records import Run, as_run
from tiebreak.reports.story import CHAPTERS, finding_text, story

QL, NQ, DL = "onnx.QuantizeLinear", "ngraph.Quantize", "onnx.DequantizeLinear"
NAMES = ("lib", "lib-two", "other")
CHANGING = """
import os
import numpy as np


class Changing:
    name, version, operators = "changing", "1", {"onnx.QuantizeLinear"}

    def compile(self, node):
        return lambda x, *parameters: (np.full(x.shape, os.getpid() % 251, node.outputs[0].dtype),)


class Steady(Changing):
    name = "steady"

    def compile(self, node):
        return lambda x, *parameters: (np.zeros(x.shape, node.outputs[0].dtype),)
"""


REFUSING = """
from tiebreak import Unsupported


class Refusing(Changing):
    name = "refusing"

    def compile(self, node):
        raise Unsupported("not today")
"""


def cause(backend: str, operator: str, text: str, document: str = "own", **columns: Any) -> dict[str, Any]:
    row = {"id": "C1", "backend": backend, "operator": operator, "cause": text, "document": document, "version": "1"}
    row |= {"clause": "X-1", "types": ["float32 to int8"], "farthest": 1, "boundary_ulp": 0.0, "elements": 4}
    domains = {"calibrated": {"elements": 4, "judged": 100, "farthest": 1, "boundary_ulp": 0.0}}
    return row | {"cases": 1, "domains": domains} | columns


def a_run(**info: Any) -> Run:
    backends = [{"name": name, "version": "1", "library": "lib" if name != "other" else ""} for name in NAMES]
    columns = ["backend", "operator", "verdict", "document", "message", "fault", "case"]
    rows = [[name, QL, "exact", "own", "", "", "c"] for name in NAMES]
    return Run({"backends": backends, **info}, pd.DataFrame(rows, columns=columns), pd.DataFrame())


def told(run: Run) -> dict[str, list[str]]:
    return {chapter.id: [finding_text(one) for one in chapter.findings] for chapter in story(run)}


def test_the_chapters_stand_in_the_order_of_the_contract() -> None:
    assert list(CHAPTERS) == ["itself", "own", "failures", "calls", "hazards", "silent"]
    assert [chapter.id for chapter in story(a_run())] == list(CHAPTERS)


def test_a_foreign_document_is_a_hazard() -> None:
    found = told(a_run(clusters=[cause("lib", QL, "wraps"), cause("other", NQ, "wraps", "foreign")]))
    assert found["own"] == ["C1 lib, QuantizeLinear: wraps (wrong by one at ties, 4 % of calibrated elements)"]
    assert found["hazards"] == ["C1 other, Quantize: wraps (wrong by one at ties, 4 % of calibrated elements)"]


def test_configurations_and_mapped_operators_are_one_cause() -> None:
    rows = [cause("lib", QL, "wraps"), cause("lib-two", QL, "wraps"), cause("lib", NQ, "wraps", "foreign")]
    rows += [cause("lib", DL, "wraps"), cause("other", QL, "wraps"), cause("lib", QL, "rounds up")]
    first, *others = folded_causes(a_run(clusters=rows))
    assert (first.who, first.operators, first.document) == ("lib, -two", [QL, NQ], "own")
    assert first.row["domains"]["calibrated"]["judged"] == 300
    assert [(one.who, one.operators) for one in others] == [("lib", [DL]), ("other", [QL]), ("lib", [QL])]


def test_a_fact_of_the_environment_is_one_cause_for_all_operators() -> None:
    flush = {"environment": "flushes", "arithmetic": ""}
    rows = [cause("lib", op, f"flushes {op}", cause_id=f"flushes-{op}", **flush) for op in (QL, DL, "a.B")]
    rows += [cause("lib", QL, "by reciprocal", cause_id="own-reciprocal", arithmetic="own-reciprocal", environment="")]
    both = {"cause_id": "own-reciprocal + flushes", "arithmetic": "own-reciprocal", "environment": "flushes"}
    rows += [cause("lib", QL, "by reciprocal, flushes", **both), cause("other", QL, "by reciprocal, flushes", **both)]
    environment, reciprocal, alone = folded_causes(a_run(clusters=rows))
    assert (environment.operators, reciprocal.row["cause"]) == ([QL, DL, "a.B"], "by reciprocal")
    assert (len(reciprocal.rows), alone.row["cause"]) == (2, "by reciprocal, flushes")


def test_two_claimed_operators_with_one_mistake_stay_two_causes() -> None:
    rows = [cause("lib", QL, "wraps"), cause("lib", "openvino.FakeQuantize", "wraps"), cause("lib", NQ, "wraps")]
    assert len(folded_causes(a_run(clusters=rows))) == 3


def test_what_contradicts_itself_leads() -> None:
    answers = [{"paths": [f"per {what}"]} for what in ("tensor", "axis")]
    pairs = [{"a": a, "b": b, "operator": QL, "cases": 2, "elements": 9, "differ": 1} for a, b in PAIRS]
    relation = {"relation": "A gives as B what A gives", "operators": [QL], "elements": 9, "itself": True}
    found = told(
        a_run(
            paths=[{"backend": name, "operator": QL, "answers": answers} for name in NAMES[:2]],
            pairs=pairs,
            relations=[relation | {"backend": name, "differ": n} for name, n in (("other", 2), ("lib", 0))],
            repeated=[{"backend": "other", "operator": QL, "cases": 5, "differ": 1, "first": "c"}],
            failures=[a_failure("outputs change"), a_failure("crash")],
        )
    )
    assert found["itself"] == [
        "other, QuantizeLinear: another answer in another process, first c (1 of 5 cases)",
        "F1 lib, QuantizeLinear: it says so (3 cases)",
        "lib, -two, QuantizeLinear: another answer by path: per axis; per tensor (2 sets of operands)",
        "lib, -two, QuantizeLinear: another answer as lib-two than as lib (1 of 9 elements)",
        "other, QuantizeLinear: breaks: A gives as B what A gives (2 of 9 elements)",
    ]
    assert found["failures"] == ["F1 lib, QuantizeLinear: crash: it says so (3 of 1 cases)"]


PAIRS = (("lib", "lib-two"), ("lib", "other"), ("lib-two", "other"))


def a_failure(fault: str) -> dict[str, Any]:
    verdict = "crash" if fault == "crash" else "error"
    row = {"id": "F1", "backend": "lib", "operator": QL, "verdict": verdict, "fault": fault, "cases": 3}
    return row | {"message": "it says so"}


def test_configurations_that_break_one_relation_or_change_are_one_finding() -> None:
    relation = {"relation": "A gives as B what A gives", "operators": [QL], "elements": 9, "itself": True}
    names = zip(("lib", "lib-two", "other"), (2, 3, 4), strict=True)
    changes = a_failure("outputs change")
    found = told(
        a_run(
            relations=[relation | {"backend": name, "differ": differ} for name, differ in names],
            failures=[changes, changes | {"id": "F2", "backend": "lib-two"}, changes | {"id": "F3", "operator": DL}],
        )
    )
    assert found["itself"] == [
        "F1, F2, F3 lib, -two, QuantizeLinear, DequantizeLinear: it says so (9 cases)",
        "lib, -two, QuantizeLinear: breaks: A gives as B what A gives (5 of 18 elements)",
        "other, QuantizeLinear: breaks: A gives as B what A gives (4 of 9 elements)",
    ]


def test_a_relation_that_only_documents_make_is_no_contradiction() -> None:
    """Two operators that are one by their documents, and outputs that follow from others by a document's tie rule."""
    rows = [{"relation": "r", "backend": "other", "operators": [QL, NQ], "elements": 9, "differ": 2, "itself": False}]
    follows = {"relation": "f", "backend": "other", "operators": [QL], "elements": 9, "differ": 2, "itself": False}
    assert not told(a_run(relations=[*rows, follows]))["itself"]


def test_equal_configurations_have_equal_bits_and_one_library() -> None:
    info: dict[str, Any] = {"backends": a_run().info["backends"], "pairs": []}
    alone = [["lib"], ["lib-two"], ["other"]]
    assert equal_configurations(info, {}) == alone  # nothing was compared
    info["pairs"] = [{"a": a, "b": b, "operator": QL, "differ": 0} for a, b in PAIRS]
    assert equal_configurations(info, {}) == [["lib", "lib-two"], ["other"]]
    assert equal_configurations(info, {"lib": {QL: {"crash": 1}}}) == alone
    info["pairs"].append(info["pairs"][0] | {"operator": NQ, "differ": 1})
    assert equal_configurations(info, {}) == alone


def test_older_runs_tell_a_library_by_its_name() -> None:
    assert library_of({"name": "lib-two"}) == "lib"
    assert library_of({"name": "lib-two", "library": ""}) == "lib-two"
    assert library_of({"name": "lib@1.0", "spec": "lib@1.0", "library": ""}) == "lib"
    assert library_of({"name": "lib@1.0", "spec": "lib.py:Lib", "library": ""}) == "lib@1.0"


def test_another_process_that_answers_otherwise_is_found(tmp_path: Any) -> None:
    path = tmp_path / "boxes.py"
    path.write_text(CHANGING)
    import numpy as np

    case = Case("c", make_node(QL), (np.ones(3, np.float32), np.float32(1), np.uint8(0)))
    for name, differ in (("Changing", 1), ("Steady", 0)):
        with running_backends([f"{path}:{name}"], time_limit=30, memory_limit=512, in_process=False) as (backend,):
            records = BackendRecords({"name": backend.name, "version": "1"})
            record(records, case, backend.run_batch([case], lambda case, outcome: None)[0])
            (row,) = repeated_rows(backend, records)
        assert (row["cases"], row["differ"], row["first"]) == (1, differ, "c" if differ else "")


def test_another_process_that_fails_is_found_with_operands_and_an_id() -> None:
    """A code against how the other call ended; of an empty case alone there are no operands."""
    import numpy as np

    cases = [
        Case(f"c{size}", make_node(QL), (np.ones(size, np.float32), np.float32(1), np.uint8(0))) for size in (3, 0)
    ]
    records = BackendRecords({"name": "lib", "version": "1"})
    for case in cases:
        record(records, case, Outcome("ok", (np.ones(case.size, np.uint8),)))
    ends = Outcome("error", message="it broke"), Outcome("crash", message="exit status 9")
    for asked in (list(zip(cases, ends, strict=True)), [(cases[1], ends[1])]):
        (row,) = rows_by_operator(records, asked)
        run = a_run(repeated=[row])
        number_contradictions(run.info)
        (finding,) = story(run)[0].findings
        assert finding.ids == ("S001",) and row["differ"] == len(asked)
        said = (
            "1 by lib in c3, error: it broke by lib" if len(asked) > 1 else "an empty output by lib in c0, crash: exit"
        )
        assert said in finding.shown
        assert ("x = 1.0 (0x3f800000), " in finding.shown) == (len(asked) > 1)


def test_what_tiebreak_did_not_ask_is_no_refusal(tmp_path: Any) -> None:
    """Nodes with constants never reach a backend that does not say takes_constants."""
    file = tmp_path / "steady.py"
    file.write_text(CHANGING + REFUSING, encoding="utf-8")
    every = plan(Selection(operators=(QL,), input_type="float32", output_type="uint8", level="quick"))
    baked = [case for case in every if case.node.baked]
    cases = [*baked[:3], *[case for case in every if not case.node.baked][:2]]
    facts = {"level": "quick", "seed": 0, "command": "tiebreak run"}
    run = as_run(run_cases([f"{file}:Steady", f"{file}:Refusing"], cases, time_limit=30, facts=facts))
    refused = run.results[run.results["verdict"] == "unsupported"]
    faults = refused.groupby("backend")["fault"].agg(set).to_dict()
    assert faults == {"steady": {NOT_ASKED}, "refusing": {NOT_ASKED, ""}}
    (calls,) = (chapter for chapter in story(run) if chapter.id == "calls")
    assert [(one.who, one.how_much) for one in calls.findings if "refuses" in one.what] == [
        ("refusing", "refused: 2 of 5 cases")
    ]
