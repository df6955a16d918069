"""The wrong arithmetics that testing knows of an operator, and what each gives in a case.

They are the mistakes by which causes are named: the other rounding modes, the shared mistakes of quantization, operands
from wrong places, and the operator's own table. Nothing here decides what is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.causes.batches import runs_of
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.predictions import hypothesis_tables, predicted_by
from tiebreak.conformance.judging.truths import Truths, truths_of
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES


@dataclass(frozen=True)
class WrongArithmetic:
    """A wrong arithmetic: a cause's id and, of a mistake that is known in several forms, which of them from 1 on."""

    cause: str
    form: int = 1

    @property
    def text(self) -> str:
        """The mistake in words."""
        return sentence_of(self.cause) + (f" (form {self.form})" if self.form > 1 else "")


@dataclass(frozen=True)
class Answered:
    """A case with its truths, and the codes (int64, flat) that each wrong arithmetic gives that applies to it."""

    case: Case
    truths: Truths
    codes: dict[WrongArithmetic, Array]


def answered(cases: Sequence[Case]) -> Iterator[Answered]:
    """Each case with the answers of all wrong arithmetics. MachineryFailed if a table of them raises."""
    errors = ExplanationErrors()
    for case, run in zip(cases, runs_of(cases, [problems_of(case) for case in cases]), strict=True):
        truths = truths_of(case, tuple(ROUND_MODES) if case.node.modes else ())
        found, forms = dict[WrongArithmetic, Array](), Counter[str]()
        for cause, codes in predicted_by(hypothesis_tables(case, truths, run), errors, case.id):
            if cause.mode and cause.mode in case.node.modes:
                continue  # a loop whose parts both round as the document says
            forms[cause.id] += 1
            found[WrongArithmetic(cause.id, forms[cause.id])] = np.asarray(codes, np.int64).reshape(-1)
        if errors.found:
            raise MachineryFailed("a wrong arithmetic can't be computed: {about}: {error}".format(**errors.rows()[0]))
        yield Answered(case, truths, found)
