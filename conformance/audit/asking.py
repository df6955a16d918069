"""Asks a backend in its own process, and finds answers that depend on an operand's place in the array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.audit.inference import Refutation
from tiebreak.conformance.audit.operators import AUDITED
from tiebreak.conformance.judging.judge import output_problem
from tiebreak.conformance.semantics.model import Probe, codes
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

AT_ONCE = 16  # probes in a batch
MOST_FAILED = 12  # calls without a result, after which the audit is given up if none had one
REPEATED = 67  # copies of an operand in an array: enough for whole vectors and a tail
MOST_WITNESSES = 96  # witnesses that are asked again, alone
LOOKED_AT = 12  # operands of a probe that are asked again at other places


@dataclass
class Asker:
    """Gives the codes of each probe, or None where there is no answer; such probes are kept in `failed`.

    Raises Unsupported if the backend refuses the node, MachineryFailed if no call has a result.
    """

    backend: IsolatedBackend
    node: Node
    number: int = 0
    answered: int = 0  # calls with a result
    unsupported: int = 0  # calls that were refused, though the node was not
    failed: list[tuple[Probe, str]] = field(default_factory=list)

    def __call__(self, probes: Sequence[Probe]) -> list[Array | None]:
        found: list[Array | None] = []
        for start in range(0, len(probes), AT_ONCE):
            found += self.batch(probes[start : start + AT_ONCE])
        return found

    def batch(self, probes: Sequence[Probe]) -> list[Array | None]:
        as_called = AUDITED[self.node.operator].as_called
        cases = [as_called(self.node, probe).case(self.node, self.number + i) for i, probe in enumerate(probes)]
        self.number += len(cases)
        found: list[Array | None] = []
        for probe, case, outcome in zip(probes, cases, self.backend.run_batch(cases), strict=True):
            if outcome.status == "unsupported" and outcome.refused:
                raise Unsupported(outcome.message)
            problem = outcome.message or outcome.status
            if outcome.status == "ok":
                problem = output_problem(case, outcome.outputs)
            self.unsupported += outcome.status == "unsupported"
            if problem:
                self.failed.append((probe, problem))
            else:
                self.answered += 1
            found.append(None if problem else codes(outcome.outputs[0]))
        if not self.answered and len(self.failed) >= MOST_FAILED:
            self.give_up()
        return found

    def give_up(self) -> NoReturn:
        """Raises Unsupported if every call was refused, else MachineryFailed."""
        _, message = self.failed[-1]
        if self.unsupported == len(self.failed):
            raise Unsupported(message)
        raise MachineryFailed(f"given up after {len(self.failed)} calls without a result: {message}")


class PathDependence(NamedTuple):
    """An operand that has more than one answer.

    `alone` is the code in an array of one element. `repeated` are the codes at each place of an array of copies; or,
    if they do not differ, the one code at its place among other operands.
    """

    probe: Probe
    alone: int
    repeated: list[int]


def path_dependence(ask: Any, probes: Sequence[Probe]) -> tuple[PathDependence | None, int]:
    """The first operand whose answer depends on its place, or None; and the number of elements that were asked."""
    every = [probe.only(np.array([place])) for probe in probes for place in spread_places(probe)]
    copies = [Probe(np.repeat(one.x, REPEATED), one.others) for one in every]
    asked = ask([*every, *copies])
    for one, alone, repeated in zip(every, asked[: len(every)], asked[len(every) :], strict=True):
        if alone is not None and repeated is not None and (repeated != alone[0]).any():
            return PathDependence(one, int(alone[0]), repeated.tolist()), len(every) * (REPEATED + 1)
    return None, len(every) * (REPEATED + 1)


def path_of_witnesses(ask: Any, witnesses: Iterable[Refutation]) -> tuple[PathDependence | None, int]:
    """The first witness with another answer alone, or among copies, than in its probe; and the elements asked."""
    distinct = {(w.probe.x.tobytes(), *(a.tobytes() for a in w.probe.others)): w for w in witnesses}
    chosen = list(distinct.values())[:MOST_WITNESSES]
    copies = [Probe(np.repeat(one.probe.x, REPEATED), one.probe.others) for one in chosen]
    asked = ask([*(one.probe for one in chosen), *copies])
    for one, alone, repeated in zip(chosen, asked[: len(chosen)], asked[len(chosen) :], strict=True):
        if alone is not None and (alone[0] != one.got or (repeated is not None and (repeated != one.got).any())):
            places = [one.got] if repeated is None or alone[0] != one.got else repeated.tolist()
            return PathDependence(one.probe, int(alone[0]), places), len(chosen) * (REPEATED + 1)
    return None, len(chosen) * (REPEATED + 1)


def spread_places(probe: Probe) -> Array:
    """Indices of elements at places spread over a probe, and of numbers spread over all sizes."""
    every = np.linspace(0, probe.x.size - 1, LOOKED_AT).astype(int)
    return np.unique([every, np.argsort(probe.x.astype(np.float64))[every]])
