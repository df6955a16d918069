"""Each contradiction has operands with bits, both answers, an id, and a script that exits with 1 while they differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tiebreak.adapters.contradiction_reproducer import AnswerSide, ShownCall, contradiction_script
from tiebreak.adapters.outcome import CHANGED, NOT_DETERMINISTIC
from tiebreak.conformance.judging.both_answers import Given, example_of, number_contradictions, two_answers
from tiebreak.conformance.running.illustrations import with_calls
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.reports.records import Run
from tiebreak.reports.story import CONTRADICTIONS, Chapter
from tiebreak.reports.summary import chapter_table

NODE = make_node("onnx.QuantizeLinear", quantized="uint8")
INPUTS = np.array([1.5, 2.5], np.float32), np.float32(1).reshape(()), np.uint8(0).reshape(())
CASE = Case("c", NODE, INPUTS, "generated")
LIBRARY = 'library = "numpy"\noutputs = (np.{}(x + np.float32({})).astype("uint8"),)'


def example(*answers: list[int]) -> dict[str, Any]:
    one, other = (Given(name, CASE, np.array(codes)) for name, codes in zip(("lib", "lib-two"), answers, strict=True))
    found = example_of(one, other)
    assert found is not None
    return found


def run_with(**rows: Any) -> dict[str, Any]:
    backends = [{"name": name, "version": "1", "library": "lib"} for name in ("lib", "lib-two")]
    return {"backends": [*backends, {"name": "other", "version": "1"}], **rows}


PAIR = {"operator": NODE.operator, "cases": 1, "elements": 2, "differ": 1}


def test_every_kind_has_an_id_operands_with_bits_and_both_answers() -> None:
    element = example([2, 2], [2, 3])
    path = {"backend": "lib", "operator": NODE.operator, **element}
    path["answers"] = [{**one, "paths": ["here"]} for one in element["answers"]]
    relation = {"relation": "r", "backend": "lib", "operators": [NODE.operator], **PAIR, "itself": True}
    message = f"outputs change between two identical calls: {CHANGED.format(0, 1, 2, 3)}"
    failure = {"id": "F001", "backend": "lib", "operator": NODE.operator, "fault": NOT_DETERMINISTIC, "cases": 1}
    failure |= {"message": message, "witness": {"case": "c", "message": message}}
    with_calls(Run({"failures": [failure]}, pd.DataFrame(), pd.DataFrame()), {"c": CASE})
    info = run_with(
        repeated=[{"backend": "lib", "first": "c", **PAIR, "example": element}],
        paths=[path],
        pairs=[{"a": "lib", "b": "lib-two", **PAIR, "example": element}, {"a": "lib", "b": "other", **PAIR}],
        relations=[{**relation, "example": element}, {**relation, "itself": False, "operators": ["a", "b"]}],
        failures=[failure],
    )
    number_contradictions(info)
    ids = {"process": "S001", "call": "F001", "path": "S002", "configuration": "S003", "relation": "S004"}
    assert list(ids) == list(CONTRADICTIONS)
    for kind, name in ids.items():
        (finding,) = CONTRADICTIONS[kind](info)
        assert finding.ids == (name,)
        assert finding.shown.startswith("x = 2.5 (0x40200000), y_scale = 1.0 (0x3f800000), y_zero_point = 0: 2 ")
        assert ", 3 " in finding.shown
        cells = chapter_table(Chapter("itself", "", "", "", (finding,))).columns[3].cells
        assert finding.shown in "".join(map(str, cells))
        if kind == "call":
            continue
        found = two_answers(info, finding.ids[0])
        assert found is not None
        assert [(one["value"], one["index"]) for one in found[2]] == [("2", 1), ("3", 1)]
    assert two_answers(info, "S009") is None


@pytest.mark.parametrize(("second", "code"), [("rint", 0), ("ceil", 1), ("nothing_of_numpy", 2)])
def test_the_script_exits_with_1_while_the_answers_differ(tmp_path: Path, second: str, code: int) -> None:
    sides = [
        AnswerSide([ShownCall(NODE, INPUTS, LIBRARY.format(how, 0))], 0, 1, f"by {how}", "2")
        for how in ("rint", second)
    ]
    script = tmp_path / "script.py"
    operands = example([2, 2], [2, 3])["operands"]
    script.write_text(contradiction_script('a "title"', operands, (sides[0], sides[1])), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "x = 2.5 (0x40200000)" in done.stdout
    assert ("the answer is 0x03" in done.stdout) == (code == 1)


@pytest.mark.parametrize(("fails", "code"), [("first", 1), ("each", 2)])
def test_a_process_that_fails_where_another_answers_differs(tmp_path: Path, fails: str, code: int) -> None:
    lines = f"""
import os
library = "numpy"
if {fails == "each"} or not os.path.exists({str(tmp_path / "asked")!r}):
    open({str(tmp_path / "asked")!r}, "w").close()
    raise RuntimeError("it broke")
outputs = (x,)
"""
    side = AnswerSide([ShownCall(NODE, INPUTS, lines)], 0, 0, "where", "it")
    script = tmp_path / "script.py"
    script.write_text(contradiction_script("title", [], (side, side)), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == code and "RuntimeError: it broke" in done.stdout, done.stdout + done.stderr


def test_one_call_before_another_is_part_of_an_answer(tmp_path: Path) -> None:
    """What a call leaves behind in a session, which is built once: the second answer is that of the call before it."""
    leaves = 'library, session = "numpy", {}\noutputs = (session.setdefault("left", x),)'
    other = (INPUTS[0] + 1, *INPUTS[1:])
    calls = [[ShownCall(NODE, INPUTS, leaves)], [ShownCall(NODE, other, leaves), ShownCall(NODE, INPUTS, leaves)]]
    one, two = (AnswerSide(own, 0, 0, "where", "it") for own in calls)
    script = tmp_path / "script.py"
    script.write_text(contradiction_script("title", [], (one, two)), encoding="utf-8")
    assert subprocess.run([sys.executable, str(script)], capture_output=True, check=False).returncode == 1
