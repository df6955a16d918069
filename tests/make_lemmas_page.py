"""Writes docs/lemmas.md and docs/lemmas/*.smt2 from real solver runs: `python tests/make_lemmas_page.py`.

Needs the extra `proofs`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tiebreak.golden.lemma_solver import NAME, Search, smallest_counterexample
from tiebreak.golden.lemmas import LEMMAS
from tiebreak.golden.lemmas.model import SMALL, WIDTH, Lemma
from tiebreak.reports.markdown_table import markdown_table

DOCS = Path(__file__).parent.parent / "docs"
HEAD = f"""# Lemmas

Made by `python tests/make_lemmas_page.py`; not edited by hand.

Documents and kernels describe the same integers in different words. These lemmas say where the words mean the same,
and where they do not. Each is written once, for words of any width, in `golden/lemmas/`, and checked twice:

- all cases of words of {", ".join(map(str, SMALL[:-1]))} and {SMALL[-1]} bits, in Python;
- all cases of words of {WIDTH} bits, by the SMT solver {NAME}. It looks for a counterexample. `unsat`: there is none.

The formulas are beside this page in SMT-LIB 2, for any other solver. What is *assumed* is a lemma of this page, too.
A product stands for value times multiplier where only its range and its sign count.
`pytest tests/test_lemmas.py` runs all of this again.
"""


def row_of(lemma: Lemma, seconds: float, found: Mapping[str, int] | None) -> tuple[str, ...]:
    answer = "sat" if found else "unsat"
    return answer, f"{max(seconds, 0.1):.1f} s", str(sum(tried(lemma, w) for w in SMALL))


def tried(lemma: Lemma, w: int) -> int:
    return sum(lemma.holds(w, case) is not None for case in lemma.cases(w))


def section(lemma: Lemma) -> Iterator[str]:
    started = time.perf_counter()
    found = Search(lemma).counterexample()
    seconds = time.perf_counter() - started
    yield f"### {lemma.id}"
    yield lemma.statement
    rows = [(*row_of(lemma, seconds, found), ", ".join(lemma.clauses), assumed(lemma), f"[SMT-LIB]({file_of(lemma)})")]
    yield markdown_table(("solver", "in", "small cases", "clauses", "assumed", "formula"), rows)
    if found:
        yield counterexample(lemma)
    yield f"Sources: {'; '.join(lemma.sources)}."


def assumed(lemma: Lemma) -> str:
    return ", ".join(f"[{name}](#{name})" for name in lemma.after) or "nothing"


def file_of(lemma: Lemma) -> str:
    return f"lemmas/{lemma.id}.smt2"


def counterexample(lemma: Lemma) -> str:
    """The smallest counterexample, and the two results that differ."""
    values = smallest_counterexample(lemma)
    assert values is not None and lemma.sides is not None
    one, other = (side.term for side in lemma.sides(WIDTH, **lemma.words(WIDTH, values)))
    given = ", ".join(f"{name} {value}" for name, value in values.items())
    return f"Smallest counterexample: {given}. The sides are {one} and {other}. {lemma.why}"


def main() -> None:
    (DOCS / "lemmas").mkdir(exist_ok=True)
    parts = [HEAD.strip()]
    for title, true in (("## Proven", True), ("## False", False)):
        parts.append(title)
        for lemma in (one for one in LEMMAS.values() if one.true == true):
            parts += section(lemma)
            (DOCS / file_of(lemma)).write_text(Search(lemma).text(), encoding="utf-8")
    (DOCS / "lemmas.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
