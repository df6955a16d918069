"""A sweep of every float32 input over the time and memory that the backend alone takes for the same inputs.

Each way runs in a process of its own, one after the other in every round; memory is watched in a further round, since
looking costs time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from alone import alone, alone_on_made_inputs
from fresh import Failed, in_fresh_process

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep.block_sweeper import cores
from tiebreak.conformance.sweep.job import space_of, sweep_job
from tiebreak.conformance.sweep.session import SweepLimits
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.golden.space import space_from

Times = dict[str, float]
BACKEND = "onnxruntime"
SELECTION = Selection(
    ("onnx.QuantizeLinear",),
    input_type="float32",
    output_type="uint8",
    inputs={"y_scale": "0.1", "y_zero_point": "128"},
)
CAST = Selection(("onnx.Cast",), {"to": "float8_e4m3fn"}, "float32", "float8_e4m3fn")
FEW = 16  # blocks of a quick look


def measure(spec: str, selection: Selection, rounds: int, blocks: int = 0) -> dict[str, Any]:
    """A row for each way: shortest seconds, and peak bytes. `blocks` that many instead of all; 0 means all."""
    space = space_of(selection)
    step = max(1, space.blocks // blocks) if blocks else 1
    numbers = list(range(0, space.blocks, step)) if blocks else None
    arguments = spec, space.described(), numbers, cores()[1]
    ways = {name: way for name, way in WAYS.items() if way is not swept_for_all_modes or space.node.modes}
    found = {"backend": spec, "node": space.node.key, "inputs": space.inputs, "blocks": space.blocks}
    found |= {"blocks_measured": len(numbers or range(space.blocks)), "rounds": rounds}
    try:
        return found | {"rows": [*compared(arguments, rounds, ways).values()]}
    except Failed as error:
        return found | {"rows": [], "note": str(error)}


def compared(
    arguments: tuple[Any, ...], rounds: int, ways: Mapping[str, Callable[..., Times]]
) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            times, _ = in_fresh_process(way, *arguments)
            if name not in rows or times["seconds"] < rows[name]["seconds"]:
                rows[name] = {"way": name, **times}
    for name, way in ways.items():
        rows[name]["peak_bytes"] = in_fresh_process(way, *arguments, watch=True)[1]
    return rows


def swept(
    spec: str,
    described: Mapping[str, Any],
    numbers: Sequence[int] | None,
    backend_cores: Sequence[int],
    all_modes: bool = False,
) -> Times:
    """Our time, the time within the backend's calls, and from start to certificate. It picks the cores itself."""
    space, started = space_from(described), time.perf_counter()
    if numbers is None:
        with tempfile.TemporaryDirectory() as folder:
            data = sweep_job(spec, space, Path(folder) / "certificate.json", SweepLimits(all_modes=all_modes))
        whole = time.perf_counter() - started
        return {"seconds": data["seconds"], "backend_seconds": data["backend_seconds"], "whole_seconds": whole}
    sweeper = Sweeper(spec, space, all_modes=all_modes)
    try:
        sweeper.start()
        started = time.perf_counter()
        within = sum(block.seconds for block in sweeper.sweep(numbers))
        return {"seconds": time.perf_counter() - started, "backend_seconds": within}
    finally:
        sweeper.close()


def swept_for_all_modes(
    spec: str, described: Mapping[str, Any], numbers: Sequence[int] | None, backend_cores: Sequence[int]
) -> Times:
    return swept(spec, described, numbers, backend_cores, all_modes=True)


WAYS: Mapping[str, Callable[..., Times]] = {
    "sweep": swept,
    "sweep --modes all": swept_for_all_modes,
    "backend alone": alone,
    "backend alone, inputs made before": alone_on_made_inputs,
}
