"""Lemmas: each case of small words, a solver's answer for 32 bits, and that they are about the operators' formulas."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tiebreak.golden import oracle
from tiebreak.golden.lemmas import LEMMAS
from tiebreak.golden.lemmas.model import SMALL, WIDTH, Lemma
from tiebreak.golden.lemmas.steps import divide_by_power, double, high_mul, kernels_single, single
from tiebreak.golden.lemmas.words import PythonMachine, Word
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "lemmas.md"
needs_solver = pytest.mark.skipif(importlib.util.find_spec("bitwuzla") is None, reason="needs the extra proofs")
needs_page = pytest.mark.skipif(not PAGE.is_file(), reason="a source distribution may have no docs")
EACH = [pytest.param(lemma, id=lemma.id) for lemma in LEMMAS.values()]
FALSE = [pytest.param(lemma, id=lemma.id) for lemma in LEMMAS.values() if not lemma.true]
# The smallest counterexamples, each computed by hand too.
SMALLEST = {
    "rounding-shift-is-divide-by-power": {"exponent": 1, "number": -1},
    "double-is-single": {"shift": 32, "value": 1, "multiplier": 1 << 30},
    "double-is-nearest": {"shift": 32, "value": 1, "multiplier": 1 << 30},
    "scale16-is-double": {"shift": 16, "value": 1, "multiplier": 1 << 14},
    "reduced-multiplier": {"shift": 31, "value": -1, "multiplier": (1 << 30) + 1},
    "single-fits-always": {"shift": 1, "value": 3, "multiplier": -(-((1 << 32) - 1) // 3)},
}


def answers(lemma: Lemma, w: int) -> Iterator[bool]:
    found = (lemma.holds(w, case) for case in lemma.cases(w))
    return (one for one in found if one is not None)


@pytest.mark.few(16)
@pytest.mark.parametrize("lemma", EACH)
@pytest.mark.parametrize("w", [*SMALL[:-1], pytest.param(SMALL[-1], marks=pytest.mark.slow)])
def test_each_case_of_small_words(lemma: Lemma, w: int) -> None:
    found = list(answers(lemma, w))
    assert len(found) > 20
    assert all(found) == lemma.true


@pytest.mark.few(8)
@needs_solver
@pytest.mark.parametrize("lemma", EACH)
def test_the_solver_finds_a_counterexample_of_false_lemmas_alone(lemma: Lemma) -> None:
    from tiebreak.golden.lemma_solver import Search

    found = Search(lemma).counterexample()
    assert (found is None) == lemma.true
    assert found is None or lemma.holds(WIDTH, found) is False


@pytest.mark.slow
@needs_solver
@pytest.mark.parametrize("lemma", FALSE)
def test_smallest_counterexamples(lemma: Lemma) -> None:
    from tiebreak.golden.lemma_solver import smallest_counterexample

    assert smallest_counterexample(lemma) == SMALLEST[lemma.id]


@pytest.mark.few(2)
@needs_solver
@pytest.mark.parametrize("lemma", FALSE)
def test_the_smallest_of_small_words_is_the_first_of_all_cases(lemma: Lemma) -> None:
    from tiebreak.golden.lemma_solver import smallest_counterexample

    cases = (case for case in lemma.cases(6) if lemma.holds(6, case) is False)
    first = min(cases, key=lambda case: [(abs(value), value < 0) for value in case.values()])
    assert smallest_counterexample(lemma, 6) == first


@pytest.mark.parametrize("lemma", FALSE)
def test_counterexamples_without_a_solver(lemma: Lemma) -> None:
    values = SMALLEST[lemma.id]
    assert lemma.holds(WIDTH, values) is False
    assert lemma.sides is not None
    one, other = (side.term for side in lemma.sides(WIDTH, **lemma.words(WIDTH, values)))
    assert one != other or lemma.id == "double-is-nearest"


@needs_solver
def test_a_wrong_lemma_is_refuted() -> None:
    """One in which the nudge of negative values is missing; so `unsat` does not mean that nothing was asked."""
    from dataclasses import replace

    from tiebreak.golden.lemma_solver import Search

    lemma = LEMMAS["double-is-gemmlowp"]
    wrong = replace(
        lemma,
        claim=lambda w, product, negative, shift: lemma.claim(
            w, product=product, negative=negative - negative, shift=shift
        ),
    )
    found = Search(wrong).counterexample()
    assert found is not None and found["negative"] == 1
    assert not all(answers(wrong, 4))


@needs_solver
@pytest.mark.parametrize("lemma", EACH)
def test_domains_are_not_empty(lemma: Lemma) -> None:
    """Something is allowed, so that `unsat` is about something."""
    from dataclasses import replace

    from tiebreak.golden.lemma_solver import Search

    def never(w: int, **words: Word) -> Word:
        one = next(iter(words.values()))
        return ~one.same(one)

    assert Search(replace(lemma, claim=never)).counterexample() is not None


@needs_solver
@needs_page
@pytest.mark.parametrize("lemma", EACH)
def test_the_published_formula_is_the_lemma(lemma: Lemma) -> None:
    from tiebreak.golden.lemma_solver import Search

    assert published(lemma).read_text(encoding="utf-8") == Search(lemma).text()


@pytest.mark.slow
@needs_solver
@needs_page
@pytest.mark.parametrize("lemma", EACH)
def test_the_published_formula_is_read_by_a_solver(lemma: Lemma) -> None:
    import bitwuzla

    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    parser.parse(str(published(lemma)), True, True)  # without its (check-sat)
    assert str(parser.bitwuzla().check_sat()) == ("unsat" if lemma.true else "sat")


def published(lemma: Lemma) -> Path:
    return PAGE.parent / "lemmas" / f"{lemma.id}.smt2"


@needs_page
def test_the_page_has_each_lemma_and_nothing_else() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == [
        *(lemma.id for lemma in LEMMAS.values() if lemma.true),
        *(lemma.id for lemma in LEMMAS.values() if not lemma.true),
    ]
    assert [lemma.id for lemma in LEMMAS.values() if lemma.statement not in text] == []
    files = {file.stem for file in (PAGE.parent / "lemmas").iterdir()}
    assert files == set(LEMMAS)
    for lemma, values in SMALLEST.items():
        given = ", ".join(f"{name} {value}" for name, value in values.items())
        assert f"Smallest counterexample: {given}. " in text.partition(f"### {lemma}\n")[2].partition("###")[0]


def test_lemmas_name_clauses_and_lemmas_that_there_are() -> None:
    clauses = {clause.id for spec in OPERATORS.values() for clause in spec.clauses}
    assert {lemma.id: set(lemma.clauses) - clauses for lemma in LEMMAS.values() if set(lemma.clauses) - clauses} == {}
    assert all(LEMMAS[name].true for lemma in LEMMAS.values() for name in lemma.after)


# What the steps of lemmas give is what the operators' formulas give.
VALUES = (0, 1, -1, 2, -2, 3, -3, 7, -25, 99, -100, 12345, -54321, (1 << 30) - 1, -(1 << 30))
FACTORS = (
    (1 << 30, 32),
    (1 << 30, 31),
    (0x5A827999, 33),
    ((1 << 31) - 1, 36),
    (0x6B8B4567, 40),
    (3, 62),
    (1 << 30, 45),
)


def words(*values: int) -> tuple[Word, ...]:
    machine = PythonMachine(64)
    return tuple(Word(machine, machine.constant(value)) for value in values)


def oracle_of(attributes: dict[str, object], multiplier: int, shift: int) -> dict[int, int]:
    """RESCALE of int32 by the oracle: the results of the values that have one."""
    node = make_node("tosa.RESCALE", real="int32", quantized="int32", attributes=attributes)
    rest = np.array([multiplier], np.int32), np.array([shift], np.int8), *(np.zeros(1, np.int32) for _ in range(2))
    found: dict[int, int] = {}
    for value in VALUES:  # one at a time: a graph with one undefined element has no result
        (problem,) = problems_of(Case("lemma", node, (np.array([value], np.int32), *rest)))
        codes, states = oracle.solve(problem, working=False)
        if states[0] != UNDEFINED:
            found[value] = int(codes[0])
    return found


@pytest.mark.parametrize(("multiplier", "shift"), FACTORS)
@pytest.mark.parametrize("mode", ["SINGLE_ROUND", "DOUBLE_ROUND"])
def test_steps_are_those_of_rescale(mode: str, multiplier: int, shift: int) -> None:
    expected = oracle_of({"scale32": True, "rounding_mode": mode, "per_channel": False}, multiplier, shift)
    assert len(expected) > 10
    for value, result in expected.items():
        product, distance = words(value * multiplier, shift)
        once, twice = single(product, distance), double(WIDTH, product, product < 0, distance)
        assert (twice if mode == "DOUBLE_ROUND" else once).term == result


@pytest.mark.parametrize("shift", [-9, -5, -1, 0])
@pytest.mark.parametrize("rounding", ["single", "double"])
def test_steps_are_those_of_requantize(rounding: str, shift: int) -> None:
    multiplier = 0x5A827999
    node = make_node("tflite.Requantize", real="int16", quantized="int16", attributes={"rounding": rounding})
    x = np.array([value for value in VALUES if abs(value) < 1 << 15], np.int16)
    scales = np.float32(multiplier >> 8), np.float32(1 << (23 - shift))  # a multiplier that float32 holds
    zero = np.array(0, np.int16)
    (problem,) = problems_of(Case("lemma", node, (x, np.array(scales[0]), zero, np.array(scales[1]), zero)))
    codes, _ = oracle.solve(problem, working=False)
    for value, code in zip(x.tolist(), codes, strict=True):
        product, total, right = words(value * (multiplier >> 8 << 8), 31 - shift, -shift)
        once, twice = kernels_single(product, total), divide_by_power(high_mul(WIDTH, product), right)
        assert (once if rounding == "single" else twice).term == int(code)


def test_lemmas_and_pages_need_no_solver() -> None:
    """It is an extra; pages link lemmas whoever writes them."""
    code = "import sys; sys.modules['bitwuzla'] = None; import tiebreak.reports.pages as p; print(len(p.LEMMAS))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == str(len(LEMMAS)), result.stderr
