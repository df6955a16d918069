"""A backend in a process of its own: a crash or a hang costs one case, and that case is named.

Cases go to the worker in batches and are answered one by one, so the case without an answer is the guilty one. After a
crash the rest of the batch runs in a new worker. A crash may also be the late effect of an earlier case: then the case
at which it showed runs well alone, and the earlier one is found by bisection and blamed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from tiebreak.adapters.arena import WrittenOver
from tiebreak.adapters.claims import Claims, parsed_claims
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.outcome import CLOSED_PIPE, CRASH, GARBAGE, GIVEN_UP, HANG, NO_START, OUT_OF_MEMORY, Outcome
from tiebreak.adapters.process import MIB, TooMuchMemory, WorkerProcess
from tiebreak.adapters.registry import environment_of
from tiebreak.adapters.replies import START_LIMIT, hello_of, parse_reply
from tiebreak.adapters.reproducer import fault_of_lines
from tiebreak.golden.errors import InvalidInput, MachineryFailed, Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import safe_text

MEMORY_LIMIT = 4096  # MiB
MOST_SPOILED = 20  # workers replaced because a case left one spoiled; later cases run in a spoiled worker
MOST_SEARCHES = 3  # bisections for an earlier case that made a later one crash
LONGEST_HISTORY = 256  # cases that a bisection goes back

WRITTEN_OVER = "written over"  # never recorded: the case runs again
ITS_OWN = (CRASH, CLOSED_PIPE, OUT_OF_MEMORY, HANG, GARBAGE, NO_START)  # the case's own, if it ran alone

Keep = Callable[[Case, Outcome], None]


class Abandoned(Exception):  # noqa: N818 - says what happened
    """The run was interrupted; no case is to blame for what the worker was doing."""


class Attempt(NamedTuple):
    """The outcomes of a batch up to the first fault, and that fault if there was one."""

    done: list[Outcome]
    fault: Outcome | None


@dataclass
class IsolatedBackend:
    """Runs cases in a worker process, which it starts when first needed and again after a fault.

    `time_limit` is in seconds for one case, `memory_limit` in MiB for the worker.
    """

    spec: str
    time_limit: float = 10.0
    memory_limit: int = MEMORY_LIMIT
    name: str = ""
    version: str = ""
    operators: frozenset[str] | None = None
    claims: Claims = field(default_factory=Claims)
    always_constant: frozenset[str] = frozenset()  # operators whose parameters it always builds in
    faults: Faults = field(default_factory=Faults)
    refused: dict[str, Outcome] = field(default_factory=dict)  # nodes that compile() does not support or survive
    history: deque[Case] = field(default_factory=lambda: deque(maxlen=LONGEST_HISTORY))  # this worker's latest cases
    compiling: bool = False
    searches: int = 0
    spoiled: int = 0  # workers replaced although they answered
    abandoned: bool = False
    confirmed: set[str] = field(default_factory=set)  # nodes with a case that fails alone
    hung_alone: bool = False  # a case hung as its worker's first: further hangs are believed at once
    worker: WorkerProcess | None = None
    command: tuple[str, ...] = ()  # what starts the worker, if it is not what the spec names
    variables: Mapping[str, str] = field(default_factory=dict)  # of the worker's environment, on top of our own
    double: IsolatedBackend | None = None  # see in_another_process

    def start(self) -> None:
        """Start the worker. Raises InvalidInput for a wrong spec, MachineryFailed if the backend can't be started."""
        if self.abandoned:
            raise Abandoned
        try:
            worker = WorkerProcess(self.spec, self.memory_limit * MIB, command=self.command, variables=self.variables)
        except OSError as error:
            raise MachineryFailed(f"backend {self.spec!r} did not start: no worker process: {error}") from None
        self.worker = worker
        if self.abandoned:  # while the process was being made
            self.stop()
            raise Abandoned
        self.history.clear()
        try:
            hello = hello_of(worker, self.spec)
        except (InvalidInput, MachineryFailed):
            self.worker = None
            raise
        self.introduce(hello)

    def start_in(self, other: IsolatedBackend) -> None:
        """As start, in the worker of another backend of the same library, which loses it; importing takes the time."""
        if other.worker is None:
            return self.start()
        self.worker, other.worker = other.worker, None
        try:
            self.worker.send({"request": "load", "spec": self.spec}, time.monotonic() + START_LIMIT)
        except (OSError, EOFError):
            self.stop()
            return self.start()
        try:
            hello = hello_of(self.worker, self.spec)
        except (InvalidInput, MachineryFailed):
            self.worker = None
            raise
        self.introduce(hello)

    def introduce(self, hello: Mapping[str, Any]) -> None:
        if not self.name:  # only the first worker introduces the backend
            self.name, self.version = hello["name"], hello["version"]
            self.claims = parsed_claims(hello)
            self.operators = self.claims.operators
            self.always_constant = frozenset(hello["always_constant"])

    def run(self, case: Case) -> Outcome:
        """Run one case; never raises for what the backend does."""
        return self.run_batch([case])[0]

    def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
        """An outcome for each case, in order; never raises for what the backend does.

        `keep` is called with each outcome as soon as it is known, and again for a case that is blamed later.
        """
        outcomes: dict[int, Outcome] = {}

        def settled(found: Mapping[int, Outcome]) -> None:
            for number, outcome in found.items():
                self.faults.note(outcome, cases[number].node.key)
                keep(cases[number], outcome)
            outcomes.update(found)

        todo = list(range(len(cases)))
        while todo:
            if self.faults.too_many(self.time_limit):
                settled(dict.fromkeys(todo, self.given_up()))
            elif known := [i for i in todo if cases[i].node.key in self.refused]:
                settled({i: self.refused[cases[i].node.key] for i in known})
            else:
                batch, numbers = [cases[i] for i in todo], iter(todo)
                done, fault = self.attempt(batch, partial(settle_next, settled, numbers))
                if fault is not None:
                    settled(self.settle(cases, todo[len(done)], fault))
            todo = [i for i in todo if i not in outcomes]
        return [outcomes[i] for i in range(len(cases))]

    def given_up(self) -> Outcome:
        faults = f"{self.faults.crashes} crashes and {self.faults.hangs} timeouts"
        if self.faults.failed_starts:
            faults += f", its worker having failed to start {self.faults.failed_starts} times"
        return Outcome("error", message=f"not run: the backend was given up after {faults}", fault=GIVEN_UP)

    def attempt(self, cases: Sequence[Case], keep: Callable[[Outcome], None] = lambda outcome: None) -> Attempt:
        """Send the cases and read the outcomes, up to the first fault."""
        done: list[Outcome] = []
        try:
            for outcome in self.answers(cases):
                self.learn(cases[len(done)].node.key, outcome)
                done.append(outcome)
                keep(outcome)
            if self.worker is not None:
                self.worker.check_memory()  # small leaks in each case add up to here
        except (TimeoutError, EOFError, OSError, BrokenFrame, TooMuchMemory, MachineryFailed) as error:
            if self.abandoned:
                raise Abandoned from None
            fault = self.fault_of(error)
            return Attempt(done, fault) if len(done) < len(cases) else Attempt(done, None)
        return Attempt(done, None)

    def answers(self, cases: Sequence[Case]) -> Iterator[Outcome]:
        if self.worker is None:
            self.start()
        worker = self.worker
        assert worker is not None
        nodes: dict[str, int] = {}
        worker.arena.reset()
        described = [
            {"node": nodes.setdefault(case.node.key, len(nodes)), "inputs": worker.arena.put(case.inputs)}
            for case in cases
        ]
        request = {"request": "run", "nodes": list(nodes), "cases": described, "free": worker.arena.used}
        more = {"limit": self.time_limit, "replace": self.spoiled < MOST_SPOILED}
        worker.send(request | more, time.monotonic() + self.time_limit)
        for number, case in enumerate(cases):
            self.history.append(case)
            reply = worker.read_line(time.monotonic() + self.time_limit)
            self.compiling = reply == {"compiling": number}
            if self.compiling:  # compiling has a time limit of its own
                worker.read_line(time.monotonic() + self.time_limit)
                self.compiling = False
                reply = worker.read_line(time.monotonic() + self.time_limit)
            outcome = parse_reply(worker.arena, reply, number)
            if reply.get("spoiled"):  # another worker runs the rest
                self.spoiled += 1
                self.stop()
                yield outcome
                return
            yield outcome

    def fault_of(self, error: BaseException) -> Outcome:
        """The outcome for an error of the worker, which is ended."""
        if isinstance(error, MachineryFailed):
            return Outcome("crash", message=str(error), fault=NO_START)
        worker, self.worker = self.worker, None
        assert worker is not None
        if isinstance(error, TimeoutError):
            end_worker(worker)
            return Outcome("timeout", message=f"no answer within {self.time_limit:g} s", fault=HANG)
        if isinstance(error, WrittenOver):  # by none of the cases that answered: their memory was checked
            end_worker(worker)
            return Outcome("error", message=str(error), fault=WRITTEN_OVER)
        if isinstance(error, BrokenFrame):
            end_worker(worker)
            return Outcome("error", message=str(error), fault=GARBAGE)
        if isinstance(error, TooMuchMemory):
            end_worker(worker)
            return Outcome("crash", message=str(error), fault=OUT_OF_MEMORY)
        message = worker.end()
        fault = CLOSED_PIPE if "closed its pipe" in message else CRASH
        if "killed by SIGKILL" in message:  # not by us
            message += "; perhaps by the system, which so gets memory back"
        return Outcome("crash", message=message, fault=OUT_OF_MEMORY if "bad_alloc" in message else fault)

    def settle(self, cases: Sequence[Case], guilty: int, fault: Outcome) -> dict[int, Outcome]:
        """Find the guilty case: outcomes by number, of the case that showed the fault and perhaps an earlier one."""
        case, compiling = cases[guilty], self.compiling
        self.compiling = False
        before = [earlier for earlier in self.history if earlier is not case]
        if self.proven(case, fault, before):
            return {guilty: self.of_node(case, replace(fault, alone=not before), compiling)}
        alone = self.alone(case)
        compiling, self.compiling = self.compiling, False
        if alone.fault in ITS_OWN:
            return {guilty: self.of_node(case, replace(alone, alone=True), compiling)}
        if fault.fault in (
            OUT_OF_MEMORY,
            WRITTEN_OVER,
        ):  # caused by all cases together, or by a later one: a new worker is enough
            return {guilty: alone}
        return self.blame(cases, guilty, fault, self.search(before, case, fault.fault), alone)

    def proven(self, case: Case, fault: Outcome, before: Sequence[Case]) -> bool:
        """Whether the case is guilty beyond doubt, so that it need not run alone."""
        if fault.fault == WRITTEN_OVER:
            return False
        if not before or fault.fault == NO_START or case.node.key in self.confirmed:
            return True
        return fault.fault == HANG and self.hung_alone

    def blame(
        self, cases: Sequence[Case], guilty: int, fault: Outcome, culprit: Case | None, alone: Outcome
    ) -> dict[int, Outcome]:
        """Outcomes of the case that showed a fault, which runs well alone, and of the culprit if it is in the batch."""
        case = cases[guilty]
        number = next((i for i in range(guilty) if culprit is not None and cases[i] is culprit), None)
        if number is None:
            blamed = f" (after {culprit.id}; alone it runs)" if culprit else " (once; alone it runs)"
            return {guilty: replace(fault, message=fault.message + blamed)}
        did = "ended the worker" if fault.status == "crash" else "did not answer well"
        message = f"the next case to run after it, {case.id}, which runs alone, {did}: {fault.message}"
        return {number: replace(fault, message=message), guilty: alone}

    def of_node(self, case: Case, fault: Outcome, compiling: bool) -> Outcome:
        """The fault, learned: if it came while the node compiled, it stands for all cases of that node."""
        fault = replace(fault, compiling=compiling)
        self.learn(case.node.key, fault)
        return fault

    def learn(self, node: str, outcome: Outcome) -> None:
        """Note what the outcome of a case says about other cases of its node."""
        if (known := refusal(outcome)) is not None:
            self.refused[node] = known
        if outcome.alone and outcome.fault != NO_START:
            self.confirmed.add(node)
            self.hung_alone |= outcome.fault == HANG

    def recall(self, node: str, outcome: Outcome) -> None:
        """Take over an outcome from an earlier part of a resumed run."""
        self.faults.note(outcome, node)
        self.learn(node, outcome)

    def alone(self, case: Case) -> Outcome:
        """The outcome of the case as the first one in a new worker."""
        self.stop()
        done, fault = self.attempt([case])
        if fault is None:
            return done[0]
        return replace(fault, fault=GARBAGE) if fault.fault == WRITTEN_OVER else fault

    def search(self, before: Sequence[Case], case: Case, fault: str) -> Case | None:
        """The earlier case after which this one fails: the last, or one found by bisection; None if there is none."""
        if self.fails_after(before[-1:], case, fault):
            return before[-1]
        self.searches += 1
        if self.searches > MOST_SEARCHES:
            return None
        suspects = list(before[:-1])
        while len(suspects) > 1:
            half = len(suspects) // 2
            suspects = suspects[half:] if self.fails_after(suspects[half:], case, fault) else suspects[:half]
        return suspects[0] if suspects and self.fails_after(suspects, case, fault) else None

    def fails_after(self, suspects: Sequence[Case], case: Case, fault: str) -> bool:
        self.stop()
        found = self.attempt([*suspects, case]).fault
        return found is not None and found.fault == fault

    def attestation(self, nodes: Sequence[str]) -> dict[str, str]:
        """What the backend attests after compiling the nodes, or why it can't answer any more."""
        if self.worker is None and self.faults.too_many(self.time_limit):  # another start would only take time
            return {"attestation failed": self.given_up().message}
        try:
            told = self.ask({"request": "attest", "nodes": list(nodes)})["attestation"]
            found = {safe_text(key, 100): safe_text(value, 500) for key, value in dict(told).items()}
            own = environment_of(self.spec)
            return found | {"environment": own.summary()} if own is not None else found
        except (EOFError, OSError, BrokenFrame, TooMuchMemory, MachineryFailed) as error:
            worker, self.worker = self.worker, None
            ended_by = worker.end() if worker is not None else ""
            return {"attestation failed": str(error) or ended_by}
        except (KeyError, TypeError, ValueError) as error:
            self.stop()
            return {"attestation failed": f"no attestation: {error}"}

    def reproducer(self, node: str, inputs: Sequence[Array]) -> str:
        """The backend's own lines of a standalone script.

        Raises Unsupported if it writes none, MachineryFailed if it can't be started or fails while it writes them.
        """
        if self.worker is None:
            self.start()
        assert self.worker is not None
        self.worker.arena.reset()
        request = {"request": "reproduce", "node": node, "inputs": self.worker.arena.put(inputs)}
        try:
            reply = self.ask(request)
        except (EOFError, OSError, BrokenFrame, TooMuchMemory) as error:
            self.stop()
            raise MachineryFailed(f"backend {self.spec!r}: {str(error) or 'the worker ended'}") from None
        if reply.get("failed"):
            raise MachineryFailed(f"backend {self.spec!r}: {reply.get('message', 'reproducer() failed')}")
        if not reply.get("lines"):
            raise Unsupported(str(reply.get("message", "it writes no reproducer")))
        lines = str(reply["lines"]).strip()
        if fault := fault_of_lines(lines):
            raise MachineryFailed(f"backend {self.spec!r}: reproducer() returned lines that {fault}")
        return lines

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.worker is None:
            self.start()
        assert self.worker is not None
        self.worker.send(request, time.monotonic() + START_LIMIT)
        return self.worker.read_line(time.monotonic() + START_LIMIT)

    def abandon(self) -> None:
        """End the worker at once; a thread that waits for an answer gets Abandoned."""
        self.abandoned = True
        if self.double is not None:
            self.double.abandon()
        if self.worker is not None:
            self.worker.kill()

    @contextmanager
    def in_another_process(self, variables: Mapping[str, str] = MappingProxyType({})) -> Iterator[IsolatedBackend]:
        """The same backend in a second worker, which is abandoned with this one. Errors are those of `start`.

        `variables` come on top of its environment.
        """
        double = self.double = IsolatedBackend(
            self.spec, self.time_limit, self.memory_limit, command=self.command, variables=variables
        )
        double.abandoned = self.abandoned
        try:
            double.start()
            yield double
        finally:
            double.close()
            self.double = None

    def stop(self) -> None:
        """End the worker, if there is one."""
        worker, self.worker = self.worker, None
        if worker is not None:
            end_worker(worker)

    def close(self) -> None:
        """Let the worker end by itself; kill it if it doesn't."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.finish()


def refusal(outcome: Outcome) -> Outcome | None:
    """The outcome for all other cases of a node, given one case's outcome; None if they have to run."""
    if outcome.compiling:
        message = f"not run, since compiling the node did this: {outcome.message}"
        return replace(outcome, message=message, refused=True, compiling=False)
    return outcome if outcome.refused else None


def end_worker(worker: WorkerProcess) -> None:
    worker.kill()
    worker.close()


def settle_next(settled: Callable[[Mapping[int, Outcome]], None], numbers: Iterator[int], outcome: Outcome) -> None:
    """Pass on the outcome of the next of the numbered cases."""
    settled({next(numbers): outcome})
