"""What an operator consists of: for each one, a list by file name of what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from test_wrong_operators import WRONG

import wrong_backends
from tiebreak import conformance, golden
from tiebreak.adapters.claims import claims_of
from tiebreak.adapters.registry import registered
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Absent, OperatorUnderTest
from tiebreak.golden.builder import file_name, themed_files
from tiebreak.golden.discovery import entries_by_module
from tiebreak.golden.kernels import LOOPS
from tiebreak.golden.operators import OPERATORS, place
from tiebreak.golden.operators.model import Operator

ROOT = Path(__file__).parent.parent
FEWEST_WORDS = 3  # of a reason


@dataclass(frozen=True)
class Known:
    """What an operator's files add to the registries; `stem` is the name that its files share."""

    spec: Operator
    stem: str
    record: OperatorUnderTest | None
    loops: dict[str, Any]
    wrong: frozenset[str]
    claimed: frozenset[str]


def missing_pieces(known: Known, root: Path) -> list[str]:
    """The files that an operator lacks, each by its path from the root; after a colon what a file lacks."""
    named = [name for name in (*written_files(known), *truth_files(known)) if not (root / name).is_file()]
    return [*named, *absent_fields(known), *unregistered(known), *not_in_navigation(known.spec.id, root)]


def written_files(known: Known) -> Iterator[str]:
    """What a person writes under the operator's own name, or builds from it."""
    spec = known.spec
    yield f"golden/operators/{known.stem}.py"
    yield f"conformance/operators/{known.stem}.py"
    if not spec.themes:  # else its vectors' inputs are in golden/operators and golden/vector_inputs
        yield f"golden/samples/{known.stem}.py"
    yield f"docs/operators/{spec.id}.md"
    for types in (*themed_files(spec), *spec.files):
        yield f"golden/vectors/{file_name(spec.id, *types)}"


def truth_files(known: Known) -> Iterator[str]:
    """The kernel that is registered for the operator, else the one that it should have."""
    if known.record and known.record.plain_nodes and not known.record.draw:  # both truths have plain nodes apart
        yield from ("golden/_kernel.pyx", "golden/_kernel.pyi")
        return
    loops = known.loops.get(known.spec.id)
    for suffix in ("pyx", "pyi"):
        yield f"golden/kernels/{module_name(loops) or known.stem}.{suffix}"


def module_name(function: Any) -> str:
    return function.__module__.rpartition(".")[2] if function else ""


def absent_fields(known: Known) -> Iterator[str]:
    """Fields of the record that hold nothing and give no reason."""
    if known.record:
        for field in (field for field in fields(known.record) if field.default is MISSING):
            value = getattr(known.record, field.name)
            reason = value.reason if isinstance(value, Absent) else ""
            if not value and len(reason.split()) < FEWEST_WORDS:
                yield f"conformance/operators/{known.stem}.py: {field.name}"


def unregistered(known: Known) -> Iterator[str]:
    if known.spec.id not in known.wrong:
        yield f"tests/wrong_{known.stem}.py"
    if known.spec.id not in known.claimed:
        yield f"adapters/: no backend whose operators have {known.spec.id}"


def not_in_navigation(operator: str, root: Path) -> Iterator[str]:
    navigation = root / "mkdocs.yml"
    if not navigation.is_file() or f" operators/{operator}.md\n" not in navigation.read_text():
        yield f"mkdocs.yml: operators/{operator}.md"
    table = root / "docs" / "operators.md"
    if not table.is_file() or f"(operators/{operator}.md)" not in table.read_text(encoding="utf-8"):
        yield f"docs/operators.md: a row with a link to operators/{operator}.md"


def claimed_by_backends() -> frozenset[str]:
    """By the backends that are classes; of a function nothing is known before it is called."""
    found = [claims_of(point.load()).operators or () for point in registered().values()]
    return frozenset(operator for operators in found for operator in operators)


def stems() -> dict[str, str]:
    """By operator id, the file name in golden/operators without its ending."""
    package = golden.operators
    return {spec.id: stem for stem, spec in entries_by_module(package.__name__, package.__path__, "OPERATOR").items()}


def known_of(operator: str) -> Known:
    wrong = frozenset(each.operator for each in (*WRONG, *wrong_backends.WRONG))
    return Known(OPERATORS[operator], stems()[operator], TESTED.get(operator), LOOPS, wrong, claimed_by_backends())


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_has_all_its_pieces(operator: str) -> None:
    lacking = missing_pieces(known_of(operator), ROOT)
    assert not lacking, "\n".join([f"{operator} lacks, by CONTRIBUTING.md's table:", *lacking])


def test_records_are_as_many_as_operators_and_lie_in_files_of_the_same_name() -> None:
    package = conformance.operators
    found = entries_by_module(package.__name__, package.__path__, "TESTED")
    assert len(entries_by_module(golden.operators.__name__, golden.operators.__path__, "OPERATOR")) == len(OPERATORS)
    assert {record.id: stem for stem, record in found.items()} == stems()
    assert len(found) == len(TESTED) == len(OPERATORS)
    assert list(TESTED) == list(OPERATORS) == sorted(OPERATORS, key=lambda name: place(OPERATORS[name]))


def toy() -> Known:
    """An operator of which only the document is written down."""
    spec = replace(OPERATORS["ngraph.Dequantize"], id="toy.Halve", files=(("int8", "float32"),))
    return Known(spec, "toy_halve", None, {}, frozenset(), frozenset())


def test_an_operator_that_lacks_pieces_is_told_which(tmp_path: Path) -> None:
    touch(tmp_path, "golden/operators/toy_halve.py")
    assert missing_pieces(toy(), tmp_path) == [
        "conformance/operators/toy_halve.py",
        "golden/samples/toy_halve.py",
        "docs/operators/toy.Halve.md",
        "golden/vectors/toy.Halve-int8-float32.json",
        "golden/kernels/toy_halve.pyx",
        "golden/kernels/toy_halve.pyi",
        "tests/wrong_toy_halve.py",
        "adapters/: no backend whose operators have toy.Halve",
        "mkdocs.yml: operators/toy.Halve.md",
        "docs/operators.md: a row with a link to operators/toy.Halve.md",
    ]


def test_what_is_there_is_not_missing_and_shared_files_count(tmp_path: Path) -> None:
    others = [f"golden/{path}" for path in ("samples/toy_halve.py", "vectors/toy.Halve-int8-float32.json")]
    touch(tmp_path, "golden/operators/toy_halve.py", "docs/operators/toy.Halve.md", *others)
    touch(tmp_path, "conformance/operators/toy_halve.py", "golden/kernels/shared.pyx")
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - toy.Halve: operators/toy.Halve.md\n")
    (tmp_path / "docs" / "operators.md").write_text("| `toy.Halve` | [Halve](operators/toy.Halve.md) |\n")

    def halve() -> None: ...

    halve.__module__ = "tiebreak.golden.kernels.shared"
    tables = {"toy.Halve": halve}
    record = replace(TESTED["ngraph.Dequantize"], id="toy.Halve", forbidden_calls=(), situations=Absent("none"))
    known = Known(toy().spec, "toy_halve", record, tables, frozenset(tables), frozenset(tables))
    assert missing_pieces(known, tmp_path) == [
        "golden/kernels/shared.pyi",
        "conformance/operators/toy_halve.py: forbidden_calls",
        "conformance/operators/toy_halve.py: situations",
    ]


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_a_new_operator_is_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "toy_operators"
    touch(tmp_path, "toy_operators/__init__.py")
    (package / "halve.py").write_text("OPERATOR = 'toy.Halve'\n")
    (package / "helper.py").write_text("SHARED = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert entries_by_module("toy_operators", [str(package)], "OPERATOR") == {"halve": "toy.Halve"}
