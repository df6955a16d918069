"""What the shared mistakes of quantization give in many cases at once: for small arrays the calls cost the most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, pairwise

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands, operands_along
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem, Quantization

Run = Callable[[Predict], Array | None]  # what a mistake gives in one case; None: it makes no difference to its types
ARRAYS = ("x", "scale", "zero_point")


@dataclass
class Batch:
    """The operands of cases with the same types and mode, end to end, and what each mistake gives for them.

    Mistakes are elementwise, so that the cases do not touch each other.
    """

    operands: QuantizationOperands
    found: dict[Predict, Array | Exception | None] = field(default_factory=dict)

    def codes(self, predict: Predict, place: slice) -> Array | None:
        """The codes of the case at this place. A mistake that raises does so for each case."""
        if predict not in self.found:
            try:
                self.found[predict] = predict(self.operands)
            except Exception as error:
                self.found[predict] = error
        codes = self.found[predict]
        if isinstance(codes, Exception):
            raise codes
        return None if codes is None else codes[place]


def runs_of(cases: Sequence[Case], problems: Sequence[Sequence[Problem]]) -> Iterator[Run | None]:
    """For each case, in order, what gives the codes of a mistake in it; None if the case is no quantization."""
    own = [
        operands_along(case, problem, problem.axes) if isinstance(problem, Quantization) else None
        for case, (problem, *_) in zip(cases, problems, strict=True)
    ]
    places, batches = dict[int, slice](), dict[int, Batch]()
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, one in enumerate(own):
        if one is not None:
            alike[kind_of(one)].append(number)
    for numbers in alike.values():
        batch = Batch(joined([one for number in numbers if (one := own[number]) is not None]))
        ends = accumulate((cases[number].inputs[0].size for number in numbers), initial=0)
        for number, (first, last) in zip(numbers, pairwise(ends), strict=True):
            places[number], batches[number] = slice(first, last), batch
    for number, one in enumerate(own):
        yield None if one is None else run_of(batches[number], places[number])


def run_of(batch: Batch, place: slice) -> Run:
    return lambda predict: batch.codes(predict, place)


def kind_of(own: QuantizationOperands) -> tuple[object, ...]:
    """What operands must have in common to be joined: all but the arrays themselves."""
    rest = (getattr(own, one.name) for one in fields(own) if one.name not in ARRAYS)
    return (*(getattr(own, name).dtype for name in ARRAYS), *rest)


def joined(operands: Sequence[QuantizationOperands]) -> QuantizationOperands:
    x, scale, zero_point = (np.concatenate([getattr(one, name) for one in operands]) for name in ARRAYS)
    return replace(operands[0], x=x, scale=scale, zero_point=zero_point)
