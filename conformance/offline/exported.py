"""One case with its expected results, ready to be written in any layout."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.judging.truths import Truths
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor

# The status of an element: not specified in both forms; exact and working conform; so does either zero, too.
OPEN, SPECIFIED, EITHER_ZERO = 0, 1, 2

Files = dict[str, bytes]  # by their paths in the export's folder


@dataclass(frozen=True)
class ExpectedOutput:
    """One output: the codes of both results (int64) and a status (uint8) for each element, flat."""

    name: str
    type: str
    shape: tuple[int, ...]
    exact: Array
    working: Array
    status: Array

    def codes(self, form: str) -> list[int]:
        """Codes of the form "exact" or "working": bits of floats, values of integers; 0 where nothing is specified."""
        kind, codes = ELEMENT_TYPES[self.type], self.exact if form == "exact" else self.working
        mask = (1 << kind.bits) - 1 if isinstance(kind, FloatType) else -1
        return [int(code) & mask if status else 0 for code, status in zip(codes, self.status, strict=True)]

    def array(self, form: str) -> Array:
        return Tensor(self.type, self.shape, self.codes(form)).array()

    def text(self, form: str) -> str:
        """Codes as in the vector files: `?` where nothing is specified, a lone 0 where either zero conforms."""
        kind = ELEMENT_TYPES[self.type]
        width = max(2, kind.bits // 4)
        tokens = []
        for code, status in zip(self.codes(form), self.status, strict=True):
            text = f"{code:0{width}x}" if isinstance(kind, FloatType) else str(code)
            tokens.append("?" if status == OPEN else "0" if status == EITHER_ZERO and code == 0 else text)
        return " ".join(tokens)


@dataclass(frozen=True)
class CaseToExport:
    """A case with its expected outputs."""

    case: Case
    outputs: tuple[ExpectedOutput, ...]

    @property
    def is_plain(self) -> bool:
        """Whether every element is specified and both results are equal, so that one array says it all."""
        return all(np.all(o.status != OPEN) and np.array_equal(o.exact, o.working) for o in self.outputs)


Numbered = tuple[int, CaseToExport]  # its number in the export and the case


def check_plain(one: CaseToExport) -> None:
    """Raise Unsupported for a case that a suite with one expected result can't hold."""
    if any(np.any(output.status == OPEN) for output in one.outputs):
        raise Unsupported("the document leaves elements of the result open")
    if not one.is_plain:
        raise Unsupported("two results conform: the exact one and the one of the operator's own precision")


def case_to_export(case: Case, truths: Truths) -> CaseToExport:
    truth, outputs, start = truths.judged_by, [], 0
    zero = np.broadcast_to(truth.zero, truth.exact.shape)
    status = np.where(truth.specified, np.where(zero, EITHER_ZERO, SPECIFIED), OPEN).astype(np.uint8)
    for tensor, problem in zip(case.node.outputs, truths.problems, strict=True):
        part = slice(start, start + math.prod(problem.shape))
        forms = (truth.exact[part], truth.working[part])
        outputs.append(ExpectedOutput(tensor.name, str(tensor.dtype.name), problem.shape, *forms, status[part]))
        start = part.stop
    return CaseToExport(case, tuple(outputs))
