"""Terms and kernels are found where their modules declare them; they agree with the operators."""

from __future__ import annotations

import importlib.machinery
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from golden_files import GOLDEN, file_name, keys, loop_keys, problems, source

from tiebreak.conformance.operators import TESTED
from tiebreak.golden import kernels
from tiebreak.golden.discovery import declared_entries
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.kernels import LOOPS
from tiebreak.golden.operators import OPERATORS, place
from tiebreak.golden.oracle import TERMS
from tiebreak.golden.problem import Quantization

REGISTRIES = {"TERMS": ("operators", ".py", TERMS, keys), "LOOPS": ("kernels", ".pyx", LOOPS, loop_keys)}


@pytest.mark.parametrize("table", REGISTRIES)
def test_operators_terms_and_kernels_agree(table: str) -> None:
    folder, suffix, found, named = REGISTRIES[table]
    wanted = {key: f"golden/{folder}/{file_name(spec)}{suffix}" for spec in OPERATORS.values() for key in named(spec)}
    unbuilt = "is not compiled (`pip install -e .`) or " if suffix == ".pyx" else ""
    lacking = [f"{file} {unbuilt}has no {table}[{key!r}]" for key, file in wanted.items() if key not in found]
    assert not lacking, "\n".join(lacking)
    left = sorted(set(found) - set(wanted))
    assert not left, f"of no operator: {', '.join(left)}; delete what an older build left in golden/{folder}"
    declaring = {key: source(function.__module__, suffix) for key, function in found.items()}  # type: ignore[attr-defined]
    assert {key: f"golden/{path.relative_to(GOLDEN)}" for key, path in declaring.items()} == wanted


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_has_its_two_files(operator: str) -> None:
    spec = OPERATORS[operator]
    name = file_name(spec)
    parts = [f"operators/{name}.py"]
    parts += ["_kernel.pyx"] if problems(spec) == {Quantization} else [f"kernels/{name}.pyx", f"kernels/{name}.pyi"]
    lacking = [f"golden/{part}" for part in parts if not (GOLDEN / part).is_file()]
    assert not lacking, "\n".join(lacking)


def test_compiled_modules_are_discovered() -> None:
    suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    files = {str(sys.modules[loop.__module__].__file__) for loop in LOOPS.values()}
    compiled = {Path(file).name.partition(".")[0] for file in files}
    assert sorted({path.stem for path in GOLDEN.glob("kernels/*.pyx")} - compiled) == [], "pip install -e . again"
    assert all(file.endswith(suffixes) for file in files), files
    assert declared_entries(kernels.__name__, kernels.__path__, "LOOPS") == LOOPS


def test_a_key_that_two_modules_declare_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "declaring_twice"
    folder.mkdir()
    for name, text in (("__init__", ""), ("first", "T = {'a': 1}"), ("helper", ""), ("second", "T = {'b': 2}")):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert declared_entries("declaring_twice", [str(folder)], "T") == {"a": 1, "b": 2}
    (folder / "third.py").write_text("T = {'a': 3}")
    with pytest.raises(MachineryFailed, match=r"both first and third declare T\['a'\]"):
        declared_entries("declaring_twice", [str(folder)], "T")


def test_an_operator_without_a_term_a_kernel_or_a_record_is_told_where_it_belongs() -> None:
    for table, name in ((TERMS, "golden.operators"), (LOOPS, "golden.kernels"), (TESTED, "conformance.operators")):
        with pytest.raises(MachineryFailed, match=rf"\['toy.Halve'\] in tiebreak.{name}; CONTRIBUTING.md lists"):
            table["toy.Halve"]


def test_a_family_that_is_none_is_named_with_its_operator() -> None:
    spec = replace(OPERATORS["ngraph.Dequantize"], id="toy.Halve")
    with pytest.raises(MachineryFailed, match=r"toy\.Halve: family 'half' is not one of quantize, dequantize, fake"):
        place(replace(spec, family="half"))  # type: ignore[arg-type]
