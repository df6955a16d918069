"""What a plan has, whether its cases come from the cache, from other processes or from this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import psutil
import pytest
from own_cache import fields, fresh_cache  # noqa: F401 - a fixture

from tiebreak.conformance.cases import made_cases, recipes
from tiebreak.conformance.cases.generators import generate_cases
from tiebreak.conformance.cases.path_probes import path_cases
from tiebreak.conformance.cases.plan import LEVELS, Planning, Selection, generated_cases, plan
from tiebreak.conformance.cases.recipes import Recipe
from tiebreak.conformance.cases.relations import RELATIONS, related_cases
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case

FORTH, BACK, NGRAPH = "onnx.QuantizeLinear", "onnx.DequantizeLinear", "ngraph.Quantize"
TWO = Selection(operators=(NGRAPH, FORTH), input_type="float32", output_type="uint8", level="quick")
SHORT = Selection(operators=(BACK,), input_type="uint8", output_type="float32", level="quick")
DEEP = Selection(operators=(FORTH, BACK), level="deep")


def held(cases: Sequence[Case]) -> list[object]:
    return [fields(case) for case in cases]


def made_here(selection: Selection) -> list[Case]:
    """The cases that are not stored, made one after the other in this process."""
    operators, count = selection.operators, LEVELS[selection.level]
    found = [case for name in operators for case in generate_cases(name, count, selection.seed)]
    found += [*related_cases(operators), *path_cases(operators, selection.level)]
    types = selection.input_type, selection.output_type
    return [case for case in found if (case.node.input_type, case.node.output_type) == types]


@cache
def cases_of_two_made_here() -> list[object]:
    return held(made_here(TWO))


def entries(folder: Path, kind: str) -> set[str]:
    """What the entries of a kind are of."""
    return {path.name.split("-")[1] for path in folder.glob(f"{kind}-*")}


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_cases, "cores", lambda: 2)


@pytest.mark.slow
@pytest.mark.usefixtures("two_cores")
def test_both_parts_are_the_plan_whoever_made_the_cases(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = cases_of_two_made_here()
    for way in ("other processes", "cache"):
        with monkeypatch.context() as patched:
            patched.setattr(Recipe, "make", lambda recipe, way=way: pytest.fail(f"made here, not by {way}"))
            with Planning(TWO) as planning:
                assert (planning.made.makers is not None) == (way == "other processes")
                stored, rest = planning.stored, planning.rest()
            assert held(rest) == wanted
            assert {case.origin for case in stored} == {"vector"}
            assert held(plan(TWO)) == held([*stored, *rest])
    assert entries(own_cache, "generated") == {NGRAPH, FORTH}


@pytest.mark.usefixtures("own_cache")
def test_one_process_in_the_background_is_not_worth_it_for_a_plan_alone() -> None:
    with Planning(SHORT, alone=True) as planning:
        assert planning.made.makers is None


@pytest.mark.few(1)
@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("claimed", [{FORTH}, {NGRAPH, "openvino.FakeQuantize"}, set()], ids=["one", "two", "none"])
def test_only_claimed_operators_are_planned(own_cache: Path, claimed: set[str]) -> None:
    with Planning(TWO, claimed) as planning:
        found = [*planning.stored, *planning.rest()]
    assert entries(own_cache, "generated") == entries(own_cache, "path") == claimed & set(TWO.operators)
    read = {path.name.split("-")[0] for path in own_cache.glob("onnx.*")}
    assert read == {FORTH} & claimed or not claimed  # then vectors are read to see whether the selection is wrong
    assert held(found) == held([case for case in plan(TWO) if case.node.operator in claimed])
    assert held(plan(TWO, claimed)) == held(found)


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_selection_without_a_match_is_wrong_whoever_claims_what() -> None:
    wrong = Selection(operators=(FORTH,), input_type="float64", level="quick")
    for claimed in (None, [FORTH], []):
        with pytest.raises(InvalidInput, match="--input-type float64 is none of"):
            plan(wrong, claimed)
    with pytest.raises(InvalidInput, match="no case 'nosuch'"):
        plan(Selection(case_ids=("nosuch",)), [])
    with pytest.raises(InvalidInput, match="unknown operator"):
        Planning(Selection(operators=("toy.Halve",)))
    with pytest.raises(InvalidInput, match="only ONNX's"):
        Planning(Selection(operators=(NGRAPH,), opset=21))


def test_a_typed_case_and_named_cases_need_a_claim_too(own_cache: Path) -> None:
    typed = Selection(operators=(FORTH,), inputs={"x": "2.5", "y_scale": "1"}, level="quick")
    named = Selection(case_ids=(plan(Selection(operators=(FORTH,), output_type="uint8", level=""))[0].id,))
    for selection in (typed, named):
        assert len(plan(selection)) == len(plan(selection, [FORTH])) == 1
        assert plan(selection, [NGRAPH]) == []
    assert not entries(own_cache, "generated")


def test_a_relation_is_planned_if_one_side_is_claimed() -> None:
    """Its cases are cases of their operators like all others."""
    (relation,) = (each for each in RELATIONS if each.operators == (FORTH, NGRAPH))
    for claimed, there in (({FORTH}, True), ({BACK}, False)):
        found = recipes.recipes_of([FORTH, NGRAPH, BACK], claimed, "quick", 1, 0)
        assert (Recipe("related", relation.id) in found) == there
    assert Recipe("related", relation.id) not in recipes.recipes_of([FORTH, BACK], {FORTH}, "quick", 1, 0)


@pytest.mark.slow
def test_a_damaged_entry_is_made_again(own_cache: Path) -> None:
    wanted = held(generated_cases(BACK, SHORT))
    (entry,) = own_cache.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2])
    assert held(plan(SHORT)[-1:]) == held(made_here(SHORT)[-1:])
    assert held(generated_cases(BACK, SHORT)) == wanted
    assert entry.read_bytes() == whole


def test_a_key_holds_all_that_decides_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Recipe("generated", FORTH, count=150, seed=0)
    keys = [first.key(), Recipe("generated", FORTH, count=150, seed=1).key(), Recipe("generated", FORTH, count=1).key()]
    keys += [Recipe("generated", BACK, count=150).key(), Recipe("path", FORTH, level="quick").key()]
    for name, value in (("makers_digest", lambda: "d"), ("hypothesis_version", lambda: "0"), ("__version__", "0")):
        with monkeypatch.context() as patched:
            patched.setattr(recipes, name, value)
            keys.append(first.key())
    texts = [json.dumps(key, sort_keys=True) for key in keys]
    assert len(set(texts)) == len(texts) == 8
    assert first.key() == keys[0]


@pytest.mark.few(1)
@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("hindrance", ["no cache", "no folder at all", "no Python", "processes that end"])
def test_whatever_fails_the_cases_are_the_same(hindrance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = cases_of_two_made_here()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("file" if hindrance.startswith("no ") else "cache")))
    if hindrance == "no folder at all":
        monkeypatch.setattr(made_cases.tempfile, "tempdir", str(tmp_path / "file"))
    if hindrance in ("no Python", "processes that end"):
        monkeypatch.setattr(sys, "executable", "/bin/false" if hindrance != "no Python" else str(tmp_path / "nowhere"))
    with Planning(TWO) as planning:
        assert held(planning.rest()) == wanted
        temporary = planning.made.temporary
    assert (temporary is not None) == (hindrance in ("no cache", "no Python"))
    assert temporary is None or not Path(temporary.name).exists()


@pytest.mark.usefixtures("own_cache", "two_cores")
def test_closing_ends_the_processes() -> None:
    with Planning(DEEP) as planning:
        makers = planning.made.makers
        assert makers is not None
        while len(makers.processes) < 2:
            assert any(thread.is_alive() for thread in makers.threads)
        started = list(makers.processes)
    assert [process.poll() for process in started] == [-signal.SIGKILL] * 2
    assert not any(thread.is_alive() for thread in makers.threads)


WAITING = """
from test_planning import DEEP, Planning, made_cases
made_cases.cores = lambda: 2
with Planning(DEEP) as planning:
    makers = planning.made.makers
    while len(makers.processes) < 2:
        pass
    print(*(process.pid for process in makers.processes), flush=True)
    planning.rest()
"""


def in_python(code: str, cache: Path) -> subprocess.Popen[str]:
    here = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen([sys.executable, "-c", code], env=here, stdout=subprocess.PIPE, stderr=-3, text=True)


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_one_that_planned(tmp_path: Path, number: signal.Signals) -> None:
    process = in_python(WAITING, tmp_path)
    assert process.stdout
    others = [psutil.Process(int(pid)) for pid in process.stdout.readline().split()]
    assert len(others) == 2
    process.send_signal(number)
    process.communicate(timeout=300)
    _, alive = psutil.wait_procs(others, timeout=300)
    assert process.returncode == -number and not alive


PLANNING = """
import sys
from tiebreak.conformance.cases.plan import Planning, Selection
with Planning(Selection(operators=("onnx.QuantizeLinear", "onnx.DequantizeLinear"), level="quick")) as planning:
    cases = [*planning.stored, *planning.rest()]
from tiebreak.conformance.running.journal import digest_of_cases
print(digest_of_cases(cases), "hypothesis" in sys.modules)
"""


@pytest.mark.slow
def test_two_processes_plan_at_once_and_a_warm_cache_needs_no_hypothesis(tmp_path: Path) -> None:
    both = [in_python(PLANNING, tmp_path) for _ in range(2)]
    said = [process.communicate(timeout=120)[0].split() for process in both]
    warm = in_python(PLANNING, tmp_path).communicate(timeout=120)[0].split()
    assert said[0][0] == said[1][0] == warm[0]
    assert warm[1] == "False"


def test_an_input_type_that_no_file_is_named_after_is_found() -> None:
    """Files of sums of products are named after their scales' type."""
    found = plan(Selection(("onnx.QLinearMatMul",), input_type="uint8", output_type="int8", level=""))
    assert len(found) > 50
    assert {(case.node.input_type, case.node.output_type) for case in found} == {("uint8", "int8")}


@pytest.mark.parametrize(("opset", "version"), [(22, 21), (26, 25), (27, 25), (28, 28)])
def test_an_operator_set_has_the_cases_of_the_version_in_force(opset: int, version: int) -> None:
    """A set without a version of its own has the newest one before it, as in ONNX."""
    planned = plan(Selection(operators=(FORTH,), input_type="float32", output_type="int8", opset=opset, level="quick"))
    found = {case.node.opset for case in planned}
    assert found == {version}
