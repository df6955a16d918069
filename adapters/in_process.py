"""A backend in our own process, for debugging it: no isolation, no limits, the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tiebreak.adapters import registry
from tiebreak.adapters.answering import Answerer, failed, message_of
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.replies import raise_for
from tiebreak.adapters.worker import kind_of
from tiebreak.golden.nodes import Case


@dataclass
class InProcessBackend:
    """What IsolatedBackend is to a run; a crash or a hang is the run's own."""

    spec: str
    name: str = ""
    version: str = ""
    operators: frozenset[str] | None = None
    always_constant: frozenset[str] = frozenset()  # operators whose parameters it builds in unasked
    faults: Faults = field(default_factory=Faults)
    answerer: Answerer | None = None

    def start(self) -> None:
        """Load the backend. InvalidInput for a spec that is wrong, MachineryFailed if the backend can't be had."""
        try:
            self.answerer = Answerer(registry.load(self.spec))
            hello = self.answerer.describe()
        except (Exception, SystemExit) as error:
            raise_for(self.spec, {"kind": kind_of(error), "message": message_of(error)})
        self.name, self.version = hello["name"], hello["version"]
        self.operators = None if hello["operators"] is None else frozenset(hello["operators"])
        self.always_constant = frozenset(hello["always_constant"])

    def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
        found = []
        for case in cases:
            found.append(self.answer(case))
            keep(case, found[-1])
        return found

    def answer(self, case: Case) -> Outcome:
        assert self.answerer is not None
        try:
            return self.answerer.answer(case.node.key, case.inputs)
        except SystemExit as error:  # it would end us as if all were well
            return failed(error)

    def recall(self, node: str, outcome: Outcome) -> None:
        pass

    def attestation(self, nodes: Sequence[str]) -> dict[str, str]:
        assert self.answerer is not None
        return self.answerer.attestation(nodes)

    def abandon(self) -> None:
        pass

    def close(self) -> None:
        self.answerer = None
