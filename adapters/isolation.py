"""A backend in a process of its own: what it does wrong costs one case and is named for it.

Cases go to the worker in batches and are answered one by one, so the one that never gets an answer is the guilty one.
After a crash the rest of the batch runs again in a new worker. A crash may also be the late revenge of an earlier case:
then the case at which it showed runs alone without it, and the earlier one is searched and blamed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from tiebreak.adapters.answering import text_of
from tiebreak.adapters.arena import WrittenOver, put_all
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.outcome import CLOSED_PIPE, CRASH, GARBAGE, GIVEN_UP, HANG, NO_START, OUT_OF_MEMORY, Outcome
from tiebreak.adapters.process import MIB, TooMuchMemory, WorkerProcess
from tiebreak.adapters.replies import START_LIMIT, hello_of, parse_reply
from tiebreak.golden.errors import InvalidInput, MachineryFailed, Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

MEMORY_LIMIT = 4096  # MiB
MOST_CASES = 64  # of a batch
MOST_BYTES = 4 * MIB  # of a batch's inputs
MOST_SPOILED = 20  # workers that are replaced for what a case left there; after so many the next cases have to bear it
MOST_SEARCHES = 3  # for the earlier case that made a later one crash
LONGEST_HISTORY = 256  # cases that such a search goes back

WRITTEN_OVER = "written over"  # never in a record: the case runs again
ITS_OWN = (CRASH, CLOSED_PIPE, OUT_OF_MEMORY, HANG, GARBAGE, NO_START)  # without an answer

Keep = Callable[[Case, Outcome], None]


class Abandoned(Exception):  # noqa: N818 - says what happened
    """The run was interrupted: what the worker was doing is nobody's fault."""


class Attempt(NamedTuple):
    """The outcomes of a batch up to the first fault, and that fault if there was one."""

    done: list[Outcome]
    fault: Outcome | None


@dataclass
class IsolatedBackend:
    """Starts the worker when first needed and again after a fault.

    `time_limit` is in seconds for one case, `memory_limit` in MiB for the worker.
    """

    spec: str
    time_limit: float = 10.0
    memory_limit: int = MEMORY_LIMIT
    name: str = ""
    version: str = ""
    operators: frozenset[str] | None = None
    always_constant: frozenset[str] = frozenset()  # operators whose parameters it builds in unasked
    faults: Faults = field(default_factory=Faults)
    refused: dict[str, Outcome] = field(default_factory=dict)  # nodes that compile() does not support or survive
    history: deque[Case] = field(default_factory=lambda: deque(maxlen=LONGEST_HISTORY))  # what this worker ran last
    compiling: bool = False
    searches: int = 0
    spoiled: int = 0  # workers that were replaced though they answered
    abandoned: bool = False
    confirmed: set[str] = field(default_factory=set)  # nodes with a case that goes wrong all alone
    hung_alone: bool = False  # a case hung as the first of its worker: waiting for others alone would only take time
    worker: WorkerProcess | None = None

    def start(self) -> None:
        """Start the worker. InvalidInput for a spec that is wrong, MachineryFailed if the backend can't be had."""
        if self.abandoned:
            raise Abandoned
        try:
            worker = WorkerProcess(self.spec, self.memory_limit * MIB)
        except OSError as error:
            raise MachineryFailed(f"backend {self.spec!r} did not start: no worker process: {error}") from None
        self.worker = worker
        if self.abandoned:  # while the process was made
            self.stop()
            raise Abandoned
        self.history.clear()
        try:
            hello = hello_of(worker, self.spec)
        except (InvalidInput, MachineryFailed):
            self.worker = None
            raise
        if not self.name:  # a worker that replaces one changes nothing
            self.name, self.version = hello["name"], hello["version"]
            self.operators = None if hello["operators"] is None else frozenset(hello["operators"])
            self.always_constant = frozenset(hello["always_constant"])

    def run(self, case: Case) -> Outcome:
        """Run one case; never raises for what the backend does."""
        return self.run_batch([case])[0]

    def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
        """An outcome for each case, in order; never raises for what the backend does.

        `keep` is told each outcome as soon as it is there, and once more the one of a case that is blamed later.
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
        """Send the cases and take the answers, up to the first that brings none."""
        done: list[Outcome] = []
        try:
            for outcome in self.answers(cases):
                self.learn(cases[len(done)].node.key, outcome)
                done.append(outcome)
                keep(outcome)
            if self.worker is not None:
                self.worker.check_memory()  # what leaks a little in each case shows here
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
            {"node": nodes.setdefault(case.node.key, len(nodes)), "tensors": put_all(worker.arena, case.inputs)}
            for case in cases
        ]
        request = {"request": "run", "nodes": list(nodes), "cases": described, "free": worker.arena.used}
        more = {"limit": self.time_limit, "replace": self.spoiled < MOST_SPOILED}
        worker.send(request | more, time.monotonic() + self.time_limit)
        for number, case in enumerate(cases):
            self.history.append(case)
            reply = worker.read_line(time.monotonic() + self.time_limit)
            self.compiling = reply == {"compiling": number}
            if self.compiling:  # that has a time limit of its own
                worker.read_line(time.monotonic() + self.time_limit)
                self.compiling = False
                reply = worker.read_line(time.monotonic() + self.time_limit)
            outcome = parse_reply(worker.arena, reply, number)
            if reply.get("spoiled"):  # the rest is for another worker
                self.spoiled += 1
                self.stop()
                yield outcome
                return
            yield outcome

    def fault_of(self, error: BaseException) -> Outcome:
        """What went wrong as an outcome; the worker is gone afterwards."""
        if isinstance(error, MachineryFailed):
            return Outcome("crash", message=str(error), fault=NO_START)
        worker, self.worker = self.worker, None
        assert worker is not None
        if isinstance(error, TimeoutError):
            ended(worker)
            return Outcome("timeout", message=f"no answer within {self.time_limit:g} s", fault=HANG)
        if isinstance(error, WrittenOver):  # by a case that ran before we looked: none of those that answered
            ended(worker)
            return Outcome("error", message=str(error), fault=WRITTEN_OVER)
        if isinstance(error, BrokenFrame):
            ended(worker)
            return Outcome("error", message=str(error), fault=GARBAGE)
        if isinstance(error, TooMuchMemory):
            ended(worker)
            return Outcome("crash", message=str(error), fault=OUT_OF_MEMORY)
        message = worker.end()
        fault = CLOSED_PIPE if "closed its pipe" in message else CRASH
        if "killed by SIGKILL" in message:  # not by us
            message += "; perhaps by the system, which so gets memory back"
        return Outcome("crash", message=message, fault=OUT_OF_MEMORY if "bad_alloc" in message else fault)

    def settle(self, cases: Sequence[Case], guilty: int, fault: Outcome) -> dict[int, Outcome]:
        """Whose fault it was: outcomes of the case at which it showed and perhaps of an earlier one of the batch."""
        case, compiling = cases[guilty], self.compiling
        self.compiling = False
        before = [earlier for earlier in self.history if earlier is not case]
        if self.proven(case, fault, before):
            return {guilty: self.of_node(case, replace(fault, alone=not before), compiling)}
        alone = self.alone(case)
        compiling, self.compiling = self.compiling, False
        if alone.fault in ITS_OWN:
            return {guilty: self.of_node(case, replace(alone, alone=True), compiling)}
        if fault.fault in (OUT_OF_MEMORY, WRITTEN_OVER):  # by all together, or a later one: a new worker is enough
            return {guilty: alone}
        return self.blame(cases, guilty, fault, self.search(before, case, fault.fault), alone)

    def proven(self, case: Case, fault: Outcome, before: Sequence[Case]) -> bool:
        """Whether nobody else can have done it, or it is known well enough without a run of this case alone."""
        if fault.fault == WRITTEN_OVER:
            return False
        if not before or fault.fault == NO_START or case.node.key in self.confirmed:
            return True
        return fault.fault == HANG and self.hung_alone

    def blame(
        self, cases: Sequence[Case], guilty: int, fault: Outcome, culprit: Case | None, alone: Outcome
    ) -> dict[int, Outcome]:
        """Outcomes of the case at which a fault showed, which runs alone, and of the culprit if it is of this batch."""
        case = cases[guilty]
        number = next((i for i in range(guilty) if culprit is not None and cases[i] is culprit), None)
        if number is None:
            blamed = f" (after {culprit.id}; alone it runs)" if culprit else " (once; alone it runs)"
            return {guilty: replace(fault, message=fault.message + blamed)}
        did = "ended the worker" if fault.status == "crash" else "did not answer well"
        message = f"the next case to run after it, {case.id}, which runs alone, {did}: {fault.message}"
        return {number: replace(fault, message=message), guilty: alone}

    def of_node(self, case: Case, fault: Outcome, compiling: bool) -> Outcome:
        """The fault; if it came while the node was compiled, what all other cases of that node get without a run."""
        fault = replace(fault, compiling=compiling)
        self.learn(case.node.key, fault)
        return fault

    def learn(self, node: str, outcome: Outcome) -> None:
        """What the outcome of a case says of the others of its node."""
        if (known := refusal(outcome)) is not None:
            self.refused[node] = known
        if outcome.alone and outcome.fault != NO_START:
            self.confirmed.add(node)
            self.hung_alone |= outcome.fault == HANG

    def recall(self, node: str, outcome: Outcome) -> None:
        """What an earlier part of this run found out, as if it had been found now."""
        self.faults.note(outcome, node)
        self.learn(node, outcome)

    def alone(self, case: Case) -> Outcome:
        """The case as the first that a new worker runs."""
        self.stop()
        done, fault = self.attempt([case])
        if fault is None:
            return done[0]
        return replace(fault, fault=GARBAGE) if fault.fault == WRITTEN_OVER else fault

    def search(self, before: Sequence[Case], case: Case, fault: str) -> Case | None:
        """The earlier case after which this one goes wrong: the last, or found by halving; None if none does alone."""
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
        """What the backend says of itself after compiling the nodes; says so if it cannot answer any more."""
        if self.worker is None and self.faults.too_many(self.time_limit):  # a start more would only take time
            return {"attestation failed": self.given_up().message}
        try:
            told = self.ask({"request": "attest", "nodes": list(nodes)})["attestation"]
            return {text_of(key, 100): text_of(value, 500) for key, value in dict(told).items()}
        except (EOFError, OSError, BrokenFrame, TooMuchMemory, MachineryFailed) as error:
            worker, self.worker = self.worker, None
            ended_by = worker.end() if worker is not None else ""
            return {"attestation failed": str(error) or ended_by}
        except (KeyError, TypeError, ValueError) as error:
            self.stop()
            return {"attestation failed": f"no attestation: {error}"}

    def reproducer(self, node: str, inputs: Sequence[Array]) -> str:
        """The backend's own lines of a standalone script.

        Unsupported if it writes none, MachineryFailed if it can't be had.
        """
        if self.worker is None:
            self.start()
        assert self.worker is not None
        self.worker.arena.reset()
        request = {"request": "reproduce", "node": node, "tensors": put_all(self.worker.arena, inputs)}
        try:
            reply = self.ask(request)
        except (EOFError, OSError, BrokenFrame, TooMuchMemory) as error:
            self.stop()
            raise MachineryFailed(f"backend {self.spec!r}: {str(error) or 'the worker ended'}") from None
        if not reply.get("lines"):
            raise Unsupported(str(reply.get("message", "it writes no reproducer")))
        return str(reply["lines"])

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.worker is None:
            self.start()
        assert self.worker is not None
        self.worker.send(request, time.monotonic() + START_LIMIT)
        return self.worker.read_line(time.monotonic() + START_LIMIT)

    def abandon(self) -> None:
        """End everything at once: whoever waits for an answer gets Abandoned."""
        self.abandoned = True
        if self.worker is not None:
            self.worker.kill()

    def stop(self) -> None:
        """End the worker, if there is one."""
        worker, self.worker = self.worker, None
        if worker is not None:
            ended(worker)

    def close(self) -> None:
        """Let the worker end by itself, or end it."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.finish()


def refusal(outcome: Outcome) -> Outcome | None:
    """What all other cases of a node get without a run, given the outcome of one; None if they are to be run."""
    if outcome.compiling:
        message = f"not run, since compiling the node did this: {outcome.message}"
        return replace(outcome, message=message, refused=True, compiling=False)
    return outcome if outcome.refused else None


def ended(worker: WorkerProcess) -> None:
    worker.kill()
    worker.close()


def settle_next(settled: Callable[[Mapping[int, Outcome]], None], numbers: Iterator[int], outcome: Outcome) -> None:
    """Settle the outcome of the next of these cases."""
    settled({next(numbers): outcome})


def batches(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """The cases in order, in batches that are neither long nor large."""
    start, size = 0, 0
    for at, case in enumerate(cases):
        size += sum(array.nbytes for array in case.inputs)
        if at > start and (at - start >= MOST_CASES or size > MOST_BYTES):
            yield cases[start:at]
            start, size = at, sum(array.nbytes for array in case.inputs)
    if start < len(cases):
        yield cases[start:]
