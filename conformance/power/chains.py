"""What a program of several operations stops: an arithmetic takes every step, each from what the step before gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tiebreak.conformance.judging.truths import Truths, truths_of
from tiebreak.conformance.power.arithmetics import Answered, WrongArithmetic, answered
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor

Follow = Callable[[Array], Case]  # the next case, from the output of the one before


def output_of(one: Answered, arithmetic: WrongArithmetic | None) -> Array:
    """What an arithmetic gives in a case, or the exact result where it does not apply."""
    exact = one.truths.judged_by.exact
    return as_output(one.case, one.truths, one.codes.get(arithmetic, exact) if arithmetic else exact)


def as_output(case: Case, truths: Truths, codes: Array) -> Array:
    output, (problem, *_) = case.node.outputs[0], truths.problems
    return Tensor(str(output.element), tuple(problem.shape), codes.tolist()).array()


def as_written(case: Case) -> Array:
    """What the document's own steps give, each rounded to its type."""
    truths = truths_of(case, ())
    return as_output(case, truths, truths.judged_by.working)


def last_outputs(first: Case, following: Sequence[Follow]) -> dict[WrongArithmetic | None, Array]:
    """The last output of a program by arithmetic; None stands for the right one. Outputs are integers."""
    (start,) = answered([first])
    found: dict[WrongArithmetic | None, Array] = {None: output_of(start, None)}
    found |= {name: output_of(start, name) for name in start.codes}
    for follow in following:
        known: dict[bytes, Answered] = {}
        found = {name: step(name, array, follow, known) for name, array in found.items()}
    return found


def step(name: WrongArithmetic | None, array: Array, follow: Follow, known: dict[bytes, Answered]) -> Array:
    """An arithmetic's next output. `known` has what is computed already of equal inputs."""
    key = array.tobytes()
    if key not in known:
        (known[key],) = answered([follow(array)])
    return output_of(known[key], name)
