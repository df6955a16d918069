"""A backend in Tiebreak's own process, for debugging it: same outcomes, but no isolation and no limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tiebreak.adapters import registry
from tiebreak.adapters.answering import Answerer, message_of
from tiebreak.adapters.claims import Claims, parsed_claims
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.replies import raise_for
from tiebreak.adapters.worker import load_failure_kind
from tiebreak.golden.nodes import Case


@dataclass
class InProcessBackend:
    """Has the interface of IsolatedBackend; a crash or a hang of the backend is one of the whole run."""

    spec: str
    name: str = ""
    version: str = ""
    operators: frozenset[str] | None = None
    claims: Claims = field(default_factory=Claims)
    always_constant: frozenset[str] = frozenset()  # operators whose parameters it always builds in
    faults: Faults = field(default_factory=Faults)
    answerer: Answerer | None = None

    def start(self) -> None:
        """Load the backend. Raises InvalidInput for a wrong spec, MachineryFailed if the backend can't be loaded."""
        try:
            self.answerer = Answerer(registry.load_backend(self.spec))
            hello = self.answerer.describe()
        except BaseException as error:  # never Ctrl-C, see Answerer
            raise_for(self.spec, {"kind": load_failure_kind(error), "message": message_of(error)})
        self.name, self.version = hello["name"], hello["version"]
        self.claims = parsed_claims(hello)
        self.operators = self.claims.operators
        self.always_constant = frozenset(hello["always_constant"])

    def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
        found = []
        for case in cases:
            found.append(self.answer(case))
            keep(case, found[-1])
        return found

    def answer(self, case: Case) -> Outcome:
        assert self.answerer is not None
        return self.answerer.answer(case.node.key, case.inputs)

    def recall(self, node: str, outcome: Outcome) -> None:
        pass

    def attestation(self, nodes: Sequence[str]) -> dict[str, str]:
        assert self.answerer is not None
        return self.answerer.attestation(nodes)

    def abandon(self) -> None:
        pass

    def close(self) -> None:
        self.answerer = None
