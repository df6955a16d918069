"""What a maintainer needs of a difference: the smallest graph, a script, and the graph as an ONNX file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from tiebreak.adapters.patterns.isolated import IsolatedRuntime
from tiebreak.adapters.patterns.onnx_graph import onnx_pattern, tensors
from tiebreak.adapters.patterns.script import fused_script
from tiebreak.conformance.patterns.operands import rows_of
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.conformance.patterns.records import WayRow, WitnessRow
from tiebreak.conformance.patterns.shrinking import smallest
from tiebreak.conformance.patterns.summary import Cell
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.places import write_text_aside
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import one_line
from tiebreak.reports.finding_files import safe_name
from tiebreak.reports.records import write_aside

SHOWN, LONGEST = 40, 300  # characters of a name in a file's name, and of a problem


class PatternExplanation(TypedDict):
    """What one cell that differs has. Paths are relative to the run's folder, empty where there is no file.

    `problem` says why something is not there.
    """

    backend: str
    pattern: str
    smallest: str
    smallest_differ: int
    script: str
    model: str
    problem: str


def explain(
    found: Iterable[Cell], patterns: Mapping[str, Pattern], runtimes: Mapping[str, IsolatedRuntime], folder: Path
) -> Iterator[PatternExplanation]:
    """An explanation for each cell whose shipped and unfused graphs differ. None can fail the run."""
    for number, cell in enumerate(found, 1):
        if (row := cell["worst"]) is not None:
            yield explanation(number, cell, row, patterns[cell["pattern"]], runtimes[cell["backend"]], folder)


def explanation(
    number: int, cell: Cell, row: WayRow, pattern: Pattern, runtime: IsolatedRuntime, folder: Path
) -> PatternExplanation:
    setting = PatternSetting(pairs_again(row, pattern), row["reason"])
    found: PatternExplanation = {
        "backend": cell["backend"],
        "pattern": cell["pattern"],
        "smallest": "",
        "smallest_differ": 0,
        "script": "",
        "model": "",
        "problem": "",
    }
    name = f"{number:03}-{safe_name(cell['backend'])[-SHOWN:]}-{safe_name(cell['pattern'])[:SHOWN]}"
    try:
        least = smallest(runtime, pattern, setting, row["differ_unfused"])
        found["smallest"], found["smallest_differ"] = least.pattern.text, least.differ
        found["script"] = write_script(cell, row, pattern, setting, folder / "scripts" / f"{name}.py", folder)
        found["model"] = write_model(pattern, setting, folder / "models" / f"{name}.onnx", folder)
    except Exception as error:  # the records are there already, and stay as they are
        found["problem"] = one_line(f"{type(error).__name__}: {error}", LONGEST)
    return found


def pairs_again(row: WayRow, pattern: Pattern) -> dict[str, ScalePair]:
    return {
        name: ScalePair(np.float32(row["pairs"][name][0]), int(row["pairs"][name][1]), kind)
        for name, kind in pattern.pairs.items()
    }


def write_script(cell: Cell, row: WayRow, pattern: Pattern, setting: PatternSetting, path: Path, folder: Path) -> str:
    witness = row["witness"]
    if witness is None:
        return ""
    title = f"{cell['backend']} {cell['version']}: a graph gives another answer as shipped than unfused"
    text = fused_script(
        cell["backend"], title, pattern, setting.pairs, rows_again(pattern, setting, witness), witness["exact"]
    )
    write_text_aside(path, text)
    return str(path.relative_to(folder))


def rows_again(pattern: Pattern, setting: PatternSetting, witness: WitnessRow) -> dict[str, Array]:
    """The witness's operands; with other rows around it if it differs only so."""
    full = rows_of(pattern, setting.pairs)
    if not witness["alone"]:
        return full
    return {
        operand.name: shaped(witness["operands"][operand.name], full[operand.name], operand.type)
        for operand in pattern.operands
    }


def shaped(values: Sequence[str], like: Array, kind: str) -> Array:
    """Values as one row, or as a constant of as many dimensions as the whole one."""
    array = np.array([float(value) if kind.startswith("float") else int(value) for value in values], kind)
    return array.reshape((1, like.shape[1], -1) if like.ndim == 3 else (1, -1))


def write_model(pattern: Pattern, setting: PatternSetting, path: Path, folder: Path) -> str:
    model: Any = onnx_pattern(pattern, setting.pairs, tensors(pattern, rows_of(pattern, setting.pairs)))
    path.parent.mkdir(exist_ok=True)
    write_aside(path, lambda aside: aside.write_bytes(model.SerializeToString()))
    return str(path.relative_to(folder))
