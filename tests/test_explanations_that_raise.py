"""Records before explanations: whatever raises while results are explained or drawn costs no row."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import sample_backends
import sample_explained_backends as samples

from tiebreak import conformance
from tiebreak.adapters.answering import Answerer
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance import main_job
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.causes import predictions, weighing
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.gate.compare import checked_run
from tiebreak.conformance.judging import chunk_judgement
from tiebreak.conformance.judging.chunk import Chunk, Chunks, chunks_of
from tiebreak.conformance.operators import quantize_mistakes
from tiebreak.conformance.running import asking, assembling
from tiebreak.conformance.running.assembling import explained_records, unexplained_records
from tiebreak.conformance.running.recording import BackendRecords, record, record_chunk
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import NOT_ASKED, UNEXPLAINED
from tiebreak.reports import html, records
from tiebreak.reports.records import RunRecords
from tiebreak.reports.rows import discrepancy_rows, result_rows, rows_of

FACTS = {"command": "tiebreak run", "level": "quick", "seed": 0, "time_limit": 30, "folder": "run", "forbidden": []}
BACKENDS = (samples.WrongRange(), samples.WrongTies(), samples.WrongTail())
OF_CAUSES = {"cause_id", "cause", "clause", "boundary_ulp"}  # of a row of an element, what is found out after judging
CHOSEN = (  # operator, output type, how many cases are left out between two
    ("tensorflow.QuantizeV2", "int8", 60),
    ("onnx.QuantizeLinear", "uint8", 97),
    ("openvino.FakeQuantize", "float32", 97),
)


class Injected(RuntimeError):  # noqa: N818 - says what happened
    """What the tests throw."""


@cache
def outcomes() -> tuple[tuple[Case, ...], tuple[tuple[Outcome, ...], ...]]:
    """A few cases of several operators, path probes and typed ones among them, and what each backend makes of them."""
    cases: list[Case] = []
    for operator, kind, step in CHOSEN:
        selection = Selection(operators=(operator,), input_type="float32", output_type=kind, level="quick")
        own = plan(selection)
        cases += [*own[::step], *(case for case in own if samples.telling(case))]
    inputs = {"x": "[0.5,1.5]", "y_scale": "1", "y_zero_point": "0"}
    cases += plan(Selection(operators=("onnx.QuantizeLinear",), inputs=inputs))
    cases = list({case.id: case for case in cases}.values())
    given = [[answer(backend, case) for case in cases] for backend in BACKENDS]
    return tuple(cases), tuple(map(tuple, given))


def answer(backend: Any, case: Case) -> Outcome:
    if case.node.operator not in backend.operators:
        return Outcome("unsupported")
    return Answerer(backend).answer(case.node.key, case.inputs)


def run() -> RunRecords:
    """Judge, record and explain, as the main job does."""
    cases, given = outcomes()
    chunks, parts = Chunks(), list(chunks_of(cases))
    done = [judged(backend, parts, own, chunks) for backend, own in zip(BACKENDS, given, strict=True)]
    return explained_records(unexplained_records(done, cases, dict(FACTS)), done, cases)


def judged(backend: Any, parts: Sequence[tuple[Case, ...]], given: Sequence[Outcome], chunks: Chunks) -> BackendRecords:
    facts = {"name": backend.name, "version": "1", "spec": backend.name, "operators": [], "attestation": {}}
    records, outcomes = BackendRecords(facts), iter(given)
    for part in parts:
        record_chunk(records, part, list(islice(outcomes, len(part))), chunks)
    return records


def run_alone(backend: Any, cases: Sequence[Case]) -> RunRecords:
    """The same with one backend."""
    done = [judged(backend, list(chunks_of(cases)), [answer(backend, case) for case in cases], Chunks())]
    return explained_records(unexplained_records(done, cases, dict(FACTS)), done, cases)


@cache
def sound() -> RunRecords:
    return run()


def facts_of(found: RunRecords) -> list[Any]:
    """What judging alone says."""
    results, discrepancies = found.results, found.discrepancies.drop(columns=list(OF_CAUSES))
    rows = [[repr(row) for row in rows_of(frame)] for frame in (results, discrepancies)]  # NaN is as NaN
    return [*rows, [case.id for case in found.generated], found.info["exit"]]


FOLDERS = tuple(str(Path(module.__file__ or "").resolve().parent) for module in (conformance, html))


@cache
def is_explaining(file: str) -> bool:
    """Whether a file is of the packages that explain and draw, and not the one that notes what they throw."""
    return str(Path(file).resolve()).startswith(FOLDERS) and not file.endswith("explanation_errors.py")


@contextmanager
def traced(enter: Callable[[CodeType], None]) -> Iterator[None]:
    """Call `enter` with each function that is entered while something is explained; it may throw in its place."""
    depth, attempt = 0, ExplanationErrors.attempt

    def tracer(frame: FrameType, event: str, arg: Any) -> None:
        if depth and is_explaining(frame.f_code.co_filename):
            enter(frame.f_code)

    def counted(self: ExplanationErrors, *args: Any) -> Any:
        nonlocal depth
        depth += 1
        try:
            return attempt(self, *args)
        finally:
            depth -= 1

    before = sys.gettrace()
    ExplanationErrors.attempt = counted  # type: ignore[method-assign, assignment]
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)
        ExplanationErrors.attempt = attempt  # type: ignore[method-assign]


@cache
def entered() -> tuple[CodeType, ...]:
    """Every function that is entered while something is explained, in the order in which that happens."""
    found: dict[CodeType, None] = {}
    sound()  # what is made once for all runs is made then
    with traced(found.setdefault):  # type: ignore[arg-type]
        run()
    return tuple(found)


def thrown(at: CodeType) -> RunRecords:
    """A run in which the function throws when it is first entered."""

    def enter(code: CodeType) -> None:
        if code is at:
            raise Injected(code.co_qualname)

    with traced(enter):
        return run()


def check(at: CodeType) -> None:
    found = thrown(at)
    assert facts_of(found) == facts_of(sound()), at
    assert found.info["explained"], at
    assert any("Injected" in row["error"] for row in found.info["explanation_errors"]), at


def first_of_each_file() -> list[CodeType]:
    first = {code.co_filename: code for code in reversed(entered())}
    assert len(first) > 20
    return list(first.values())


@pytest.mark.slow
def test_a_stage_may_throw() -> None:
    for code in first_of_each_file()[::4]:
        check(code)


@pytest.mark.slow
def test_every_stage_may_throw() -> None:
    for code in first_of_each_file():
        check(code)


@pytest.mark.slow
def test_every_function_may_throw() -> None:
    assert len(entered()) > 150
    for code in entered():
        check(code)


@pytest.mark.parametrize("operators", [{"onnx.QuantizeLinear"}, set()])
def test_where_nothing_deviates_nothing_raises(operators: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_backends.sound, "operators", operators, raising=False)
    cases = outcomes()[0]
    found = run_alone(sample_backends.sound, cases)
    ran = sum(row["exact"] > 0 for row in result_rows(found.results))
    assert (ran > 10) is bool(operators)
    assert len(found.results) == len(cases) and len(found.discrepancies) == 0
    assert (found.info["explanation_errors"], found.info["clusters"]) == ([], [])


@pytest.mark.slow
def test_ranges_along_an_axis_are_explained() -> None:
    """Causes of a kind of node are looked for over all its layouts; a part of one is no case of another's node."""
    chosen = Selection(operators=("tensorflow.QuantizeV2",), input_type="float32", output_type="int8", level="")
    cases = [case for case in plan(chosen) if case.node.attributes.get("mode", "MIN_COMBINED") == "MIN_COMBINED"]
    cases.sort(key=lambda case: case.node.attributes.get("axis", -1) < 0)  # a kind is known by its first
    found = run_alone(BACKENDS[0], cases)
    layouts = {case.id: (case.node.attributes.get("axis", -1) >= 0, case.inputs[1].shape) for case in cases}
    wrong = {layouts[row["case"]] for row in discrepancy_rows(found.discrepancies)}
    assert {along for along, _ in wrong} == {True, False}
    assert (False, (1,)) in wrong or (True, (1,)) in wrong, wrong  # odd shapes
    assert found.info["explanation_errors"] == []
    along = [row for row in discrepancy_rows(found.discrepancies) if layouts[row["case"]][0]]
    named = Counter(row["cause"] == UNEXPLAINED for row in along)
    assert named[False] > named[True], named


def test_a_mistake_that_raises_costs_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def throw(own: Any) -> Any:
        raise Injected("in a table")

    wrong, cases = samples.WrongTies(), outcomes()[0]
    own = [case for case in cases if case.node.operator == "onnx.QuantizeLinear"]
    before = run_alone(wrong, own)
    (cause, _), *others = quantize_mistakes.HYPOTHESES
    monkeypatch.setattr(predictions, "HYPOTHESES", ((cause, throw), *others))
    after = run_alone(wrong, own)
    assert after.discrepancies["cause"].tolist() == before.discrepancies["cause"].tolist() != []
    (error,) = after.info["explanation_errors"]
    assert (error["stage"], error["times"]) == (f"known mistakes: {cause.id}", len(cases_of(after)))
    assert error["error"].startswith("Injected: in a table (at test_explanations_that_raise.py:")


def cases_of(found: RunRecords) -> set[str]:
    return set(found.discrepancies["case"])


def test_one_kind_of_node_that_raises_leaves_the_others_their_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    plausible = weighing.plausible_candidates

    def of_most(evidence: Evidence) -> Any:
        if any(evidence.cases[case].node.output_type == "int8" for case in evidence.deviating.case.tolist()):
            raise Injected("of one kind")
        return plausible(evidence)

    monkeypatch.setattr(weighing, "plausible_candidates", of_most)
    monkeypatch.setattr(BACKENDS[0], "name", "wrong ties")  # one backend with two kinds of node
    cases, given = outcomes()
    one = BackendRecords({"name": "both", "version": "1", "spec": "both"})
    for case, *pair in zip(cases, *given, strict=True):
        for outcome in pair[:2]:
            if outcome.status == "ok":
                record(one, case, outcome)
    found = explained_records(unexplained_records([one], cases, dict(FACTS)), [one], cases)
    kinds: dict[str, set[str]] = {}
    for row in discrepancy_rows(found.discrepancies):
        kinds.setdefault(row["output_type"], set()).add(row["cause"])
    assert "wrong tie rule: NEAREST_TOWARD_INFINITY" in kinds["uint8"]
    assert {row["stage"] for row in found.info["explanation_errors"]} == {"weighing causes"}


SOUND = f"{Path(__file__).parent / 'sample_explained_backends.py'}:WrongTies"
CHOICE = Selection(operators=("onnx.QuantizeLinear",), input_type="float32", output_type="uint8", level="")


def job(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main_job.main_job([SOUND], CHOICE, folder, main_job.RunLimits(in_process=True))
    return code, capsys.readouterr().err


def throw(*args: Any, **named: Any) -> Any:
    raise Injected("here")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("module", "name", "stage"),
    [
        (asking, "forbidden_rows", "forbidden calls"),
        (assembling, "with_explanations", "explaining"),
        (main_job, "write_report", "drawing"),
        (main_job, "print_summary", "drawing"),
    ],
)
def test_a_run_ends_as_if_nothing_had_raised(
    module: Any, name: str, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(module, name, throw)
    code, err = job(tmp_path / "run", capsys)
    assert code == 1
    assert f"tiebreak: could not explain ({stage}; " in err
    assert "Injected: here" in err
    run = records.read_run(tmp_path / "run")
    assert len(run.discrepancies) > 100
    assert run.info["exit"] == 1
    noted = [row["error"] for row in run.info["explanation_errors"]]
    assert name == "print_summary" or any("Injected: here" in text for text in noted)
    assert not (tmp_path / "run/unfinished").exists()
    assert (tmp_path / "run/report.html").exists() == (name != "write_report")


def test_a_report_names_what_could_not_be_explained(tmp_path: Path) -> None:
    found = sound()
    error = {"stage": "<b>stage", "about": "it", "error": "Injected: <script>", "times": 2}
    for info, says in (
        ({"explanation_errors": [error]}, "&lt;b&gt;stage: Injected: &lt;script&gt;"),
        ({"explained": False}, "--resume"),
    ):
        page = html.render(records.as_run(replace(found, info=found.info | info)), "run")
        assert says in page
        assert says not in html.render(records.as_run(found), "run")


def test_a_page_that_can_not_be_made_of_the_records_is_a_fault_of_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def damaged(*args: Any) -> Any:
        raise KeyError("of a row")

    monkeypatch.setattr(html, "facts_of", damaged)
    code, err = job(tmp_path / "run", capsys)
    assert code == 1
    assert "could not explain (drawing; report.html; 1 time): DamagedFile" in err or "damaged run: KeyError" in err


def test_records_are_on_the_disk_before_causes_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no handler stops, such as a kill, leaves whole records; nobody takes them for a run with causes."""

    def interrupt(*args: Any) -> Any:
        raise KeyboardInterrupt

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(main_job, "explained_records", interrupt)
        with pytest.raises(MachineryFailed, match="--resume"):
            job(folder, capsys)
    left = records.read_run(folder)
    assert not left.info["explained"]
    with pytest.raises(InvalidInput, match=r"ended before causes were looked for: tiebreak run --resume"):
        checked_run(folder)
    assert main_job.resume_job(folder) == 1
    found = checked_run(folder)
    assert found.results.drop(columns="seconds").equals(left.results.drop(columns="seconds"))
    assert set(left.discrepancies["cause"]) == {UNEXPLAINED} != set(found.discrepancies["cause"])
    same = [name for name in left.discrepancies if name not in ("cause_id", "cause", "clause")]
    assert found.discrepancies[same].equals(left.discrepancies[same])


def test_what_tiebreak_can_not_judge_is_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The case says so, no other is lost, and the run is no pass."""
    confirm = chunk_judgement.confirm
    cases, given = outcomes()
    guilty = sound().discrepancies["case"][0]

    def disagree(chunk: Chunk, places: Array) -> None:
        if guilty in {chunk.cases[number].id for number in chunk.case_of[places].tolist()}:
            raise MachineryFailed(f"{guilty}: the kernel and the oracle disagree; one of them is wrong")
        confirm(chunk, places)

    monkeypatch.setattr(chunk_judgement, "confirm", disagree)
    found = run()
    rows = {row["case"]: row for row in result_rows(found.results) if row["fault"] not in ("", NOT_ASKED)}
    assert set(rows) == {guilty}
    assert max(map(len, chunks_of(cases))) > 1, "others were judged together with it"
    assert rows[guilty]["verdict"] == "error"
    assert "Tiebreak could not judge this: " in rows[guilty]["message"]
    assert found.info["exit"] == 3
    assert cases_of(found) == cases_of(sound()) - {guilty}
    assert len(found.results) == len(cases) * len(given)
