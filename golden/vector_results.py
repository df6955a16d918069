"""The exact oracle's results for samples. The builder of vectors uses the oracle here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.golden import oracle
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, Array, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.model import Sample, Tensor
from tiebreak.golden.vector_text import token


@dataclass(frozen=True)
class OutputResults:
    """One output: flat codes and states; `is_open` where the document or its rounding modes leave it open."""

    problem: Problem
    codes: Array
    states: Array
    is_open: Array

    def text(self) -> str:
        elements = zip(self.codes, self.states, self.is_open, strict=True)
        return " ".join("?" if open_ else token(self.problem, int(code), int(state)) for code, state, open_ in elements)


@dataclass(frozen=True)
class SolvedSample:
    """A sample as a case, with the results of each output in real arithmetic and in working precision."""

    sample: Sample
    case: Case
    exact: tuple[OutputResults, ...]
    working: tuple[OutputResults, ...]


def solved_parts(spec: Operator, sample: Sample) -> Iterator[SolvedSample]:
    """The solved sample. One of independent elements is split if some are open, and left out if it is empty."""
    solved = solve_sample(spec, sample)
    if not sample.independent:
        yield solved
    elif solved.case.size:
        yield from split_by_openness(spec, solved)


def split_by_openness(spec: Operator, solved: SolvedSample) -> Iterator[SolvedSample]:
    """The specified elements, and the open ones as a second sample whose name ends in -open."""
    is_open = solved.exact[0].is_open | solved.working[0].is_open
    if not is_open.any():
        yield solved
        return
    for kept, suffix in ((~is_open, ""), (is_open, "-open")):
        if kept.any():
            yield solve_sample(spec, sample_part(solved.sample, kept.tolist(), suffix))


def sample_part(sample: Sample, kept: Sequence[bool], suffix: str) -> Sample:
    """A 1-D sample of the elements that are `kept`; `suffix` is added to its name."""
    x, *others = sample.tensors
    codes = [code for code, keep in zip(x.codes, kept, strict=True) if keep]
    return replace(sample, theme=sample.theme + suffix, tensors=(Tensor(x.type, (len(codes),), codes), *others))


def solve_sample(spec: Operator, sample: Sample) -> SolvedSample:
    case = sample_case(spec, sample)
    problems, modes = problems_of(case), case.node.modes or ("",)
    exact, working = (
        tuple(oracle_results(spec, problem, modes, working=form) for problem in problems) for form in (False, True)
    )
    return SolvedSample(sample, case, exact, working)


def sample_case(spec: Operator, sample: Sample) -> Case:
    attributes = {**sample.node.get("attributes", {}), **mode_attribute(spec, sample)}
    node = make_node(spec.id, **{**sample.node, "attributes": attributes})
    return Case(sample.theme, node, tuple(tensor.array() for tensor in sample.tensors))


def mode_attribute(spec: Operator, sample: Sample) -> dict[str, str]:
    """The sample's rounding mode as an attribute, if the operator has one for it."""
    return {"round_mode": sample.mode} if sample.mode and spec.has_attribute("round_mode") else {}


def oracle_results(spec: Operator, problem: Problem, modes: Sequence[str], *, working: bool) -> OutputResults:
    """The oracle's results by the first mode; open where another mode gives something else.

    One end of the range is one result, also where it is in range by one mode and saturated by another.
    """
    codes, states = oracle.solve(problem, working=working, mode=modes[0])
    is_open = (states == UNDEFINED) | ((states == OUT_OF_RANGE) & (not spec.saturates))
    for mode in modes[1:]:
        other_codes, other_states = oracle.solve(problem, working=working, mode=mode)
        ends = (states == OUT_OF_RANGE) | (other_states == OUT_OF_RANGE) if spec.saturates else np.zeros(1, bool)
        is_open |= (codes != other_codes) | ((states != other_states) & ~ends) | (other_states == UNDEFINED)
    return OutputResults(problem, codes, states, is_open)
