"""What isolation costs: a run of one backend in a worker process over the same run in our own process.

    python benchmarks/isolation.py [--level quick] [--rounds N] [BACKEND …]

Each pair is measured side by side, in alternation, in fresh processes; the ratio is of the shortest times. Planning
and loading the library, which both ways have in common, are left out, and so are the cases at which the backend
crashes or hangs, which a first isolated run finds: in our own process they would end the benchmark. Prints a Markdown
table; --json one JSON object.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence

from tiebreak.conformance.plan import Selection, plan
from tiebreak.conformance.run import run_all, started

BACKENDS = ("numpy-naive", "onnx-reference", "onnxruntime", "openvino", "tensorflow", "torch", "litert", "ngraph")
ROUNDS = 3


def seconds(spec: str, level: str, in_process: bool, without: Sequence[str]) -> float:
    """One run, from the first case to the last judgement."""
    faulty = set(without)
    cases = [case for case in plan(Selection(level=level)) if case.id not in faulty]
    with started([spec], time_limit=60, memory_limit=1 << 16, in_process=in_process) as backends:
        begin = time.perf_counter()
        run_all(backends, cases)
        return time.perf_counter() - begin


def faulty_cases(spec: str, level: str) -> list[str]:
    """The ids of the cases at which the backend's process ends or hangs."""
    with started([spec], time_limit=60, memory_limit=1 << 16, in_process=False) as backends:
        (records,) = run_all(backends, plan(Selection(level=level)))
    return [row["case"] for row in records.results if row["verdict"] in ("crash", "timeout")]


def measured(spec: str, level: str, in_process: bool, without: Sequence[str]) -> float:
    command = [sys.executable, __file__, "--one", "--level", level, *(["--in-process"] if in_process else []), spec]
    done = subprocess.run(command, input=json.dumps(without), capture_output=True, text=True, check=True)
    return float(done.stdout)


def compare(spec: str, level: str, rounds: int) -> dict[str, object]:
    """Shortest times of both ways and their ratio; the way that runs first changes from round to round."""
    times: dict[bool, list[float]] = {False: [], True: []}
    without = faulty_cases(spec, level)
    for number in range(rounds):
        for in_process in (False, True) if number % 2 else (True, False):
            times[in_process].append(measured(spec, level, in_process, without))
    isolated, own = min(times[False]), min(times[True])
    return {
        "backend": spec,
        "isolated_s": isolated,
        "in_process_s": own,
        "ratio": isolated / own,
        "left_out": len(without),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backends", nargs="*", default=BACKENDS)
    parser.add_argument("--level", default="full")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(seconds(chosen.backends[0], chosen.level, chosen.in_process, json.load(sys.stdin)))
        return
    rows = [compare(spec, chosen.level, chosen.rounds) for spec in chosen.backends]
    if chosen.json:
        print(json.dumps({"level": chosen.level, "rounds": chosen.rounds, "rows": rows}))
        return
    print("| backend | isolated, s | in process, s | ratio | cases left out |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        times = f"{row['isolated_s']:.2f} | {row['in_process_s']:.2f} | {row['ratio']:.3f}"
        print(f"| {row['backend']} | {times} | {row['left_out']} |")


if __name__ == "__main__":
    main()
