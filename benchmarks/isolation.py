"""What isolation costs: a run of one backend in a worker process over the same run in our own process.

    python benchmarks/isolation.py [--level quick] [--rounds N] [BACKEND …]

Each pair is measured side by side, in alternation, in processes forked for it; the ratio is of the shortest times.
Planning, which happens once, and loading the library, which both ways have in common, are left out, and so are the
cases at which the backend crashes or hangs, which a first isolated run finds: in our own process they would end the
benchmark. Prints a Markdown table; --json one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from fresh import in_fresh_process

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_all, running_backends
from tiebreak.golden.nodes import Case

BACKENDS = ("numpy-naive", "onnx-reference", "onnxruntime", "openvino", "tensorflow", "torch", "litert", "ngraph")
ROUNDS = 3


def seconds(spec: str, cases: Sequence[Case], in_process: bool) -> float:
    """One run, from the first case to the last judgement."""
    with running_backends([spec], time_limit=60, memory_limit=1 << 16, in_process=in_process) as backends:
        begin = time.perf_counter()
        run_all(backends, cases)
        return time.perf_counter() - begin


def faulty_cases(spec: str, cases: Sequence[Case]) -> set[str]:
    """The ids of the cases at which the backend's process ends or hangs."""
    with running_backends([spec], time_limit=60, memory_limit=1 << 16, in_process=False) as backends:
        (records,) = run_all(backends, cases)
    verdicts = zip(records.cases, records.verdicts, strict=True)
    return {case.id for case, verdict in verdicts if verdict in ("crash", "timeout")}


def forked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function gives in a process of its own, which has the plan already and no library yet."""
    return in_fresh_process(function, *arguments, method="fork")[0]


def compare(spec: str, cases: Sequence[Case], rounds: int) -> dict[str, Any]:
    """Shortest times of both ways and their ratio; the way that runs first changes from round to round."""
    times: dict[bool, list[float]] = {False: [], True: []}
    faulty = forked(faulty_cases, spec, cases)
    sound = [case for case in cases if case.id not in faulty]
    for number in range(rounds):
        for in_process in (False, True) if number % 2 else (True, False):
            times[in_process].append(forked(seconds, spec, sound, in_process))
    isolated, own = min(times[False]), min(times[True])
    row = {"backend": spec, "isolated_s": isolated, "in_process_s": own, "ratio": isolated / own}
    return row | {"left_out": len(faulty)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="*", default=BACKENDS)
    parser.add_argument("--level", default="full")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    cases = plan(Selection(level=chosen.level))
    if chosen.json:
        rows = [compare(spec, cases, chosen.rounds) for spec in chosen.backends]
        print(json.dumps({"level": chosen.level, "rounds": chosen.rounds, "rows": rows}))
        return
    print(
        "| backend | isolated, s | in process, s | ratio | cases left out |\n| --- | --- | --- | --- | --- |",
        flush=True,
    )
    for spec in chosen.backends:
        row = compare(spec, cases, chosen.rounds)
        times = f"{row['isolated_s']:.2f} | {row['in_process_s']:.2f} | {row['ratio']:.3f}"
        print(f"| {row['backend']} | {times} | {row['left_out']} |", flush=True)


if __name__ == "__main__":
    main()
