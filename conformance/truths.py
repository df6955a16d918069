"""What the kernel says a case must give, for its own rounding mode and for each of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.golden import kernel
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Array, Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.quantization import IN_RANGE, OUT_OF_RANGE, quantization_of
from tiebreak.golden.rounding import ROUND_MODES


@dataclass(frozen=True)
class Truth:
    """Both truths of one case under one mode, flat, each with the elements on which the spec says something.

    In nGraph's text a quotient may leave the range only when it is rounded to the input's type; then the spec speaks
    of the exact result but not of the other.
    """

    exact: Array
    working: Array
    exact_specified: Array
    working_specified: Array

    @property
    def specified(self) -> Array:
        """Where a result can be wrong: both forms are specified."""
        both: Array = self.exact_specified & self.working_specified
        return both

    def agrees(self, values: Array) -> Array:
        """Where `values` equal one of the two."""
        agreement: Array = (values == self.exact) | (values == self.working)
        return agreement


class Truths:
    """Truths of all nine modes, computed once for cases that share their inputs (the vectors of a group do)."""

    def __init__(self) -> None:
        self.inputs: object = None
        self.by_mode: dict[str, Truth] = {}

    def of(self, case: Case) -> dict[str, Truth]:
        if self.inputs is not case.inputs:
            self.by_mode = {mode: kernel_truth(case, mode) for mode in ROUND_MODES}
            self.inputs = case.inputs
        check_against_vector(case, self.by_mode[case.node.round_mode])
        return self.by_mode


def kernel_truth(case: Case, mode: str) -> Truth:
    problem = quantization_of(case)
    exact, exact_state = kernel.quantize(problem, working=False, mode=mode)
    working, working_state = kernel.quantize(problem, working=True, mode=mode)
    saturates = get_operator(case.node.operator).saturates
    specified = (is_specified(state, saturates).reshape(-1) for state in (exact_state, working_state))
    return Truth(exact.reshape(-1), working.reshape(-1), *specified)


def is_specified(state: Array, saturates: bool) -> Array:
    found: Array = (state == IN_RANGE) | ((state == OUT_OF_RANGE) & saturates)
    return found


def check_against_vector(case: Case, truth: Truth) -> None:
    """The stored results are the oracle's, `truth` is the kernel's: MachineryFailed if they differ."""
    stored = case.expected
    if stored is None:
        return
    exact, working = stored.exact_state == IN_RANGE, stored.working_state == IN_RANGE
    same = np.array_equal(exact, truth.exact_specified) and np.array_equal(working, truth.working_specified)
    if not same or np.any((stored.exact != truth.exact)[exact]) or np.any((stored.working != truth.working)[working]):
        raise MachineryFailed(f"{case.id}: the kernel and the golden vector disagree; one of them is wrong")
