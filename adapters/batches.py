"""Cuts cases into the batches that go to a worker at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiebreak.golden.nodes import Case

MOST_CASES = 256  # in a batch
MOST_BYTES = 4 << 20  # in a batch's inputs


def batches(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """The cases in order, in batches of at most MOST_CASES cases and about MOST_BYTES bytes of inputs."""
    start, size = 0, 0
    for at, case in enumerate(cases):
        size += sum(array.nbytes for array in case.inputs)
        if at > start and (at - start >= MOST_CASES or size > MOST_BYTES):
            yield cases[start:at]
            start, size = at, sum(array.nbytes for array in case.inputs)
    if start < len(cases):
        yield cases[start:]
