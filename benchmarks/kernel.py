"""The kernel beside its peers in one process: by mode and type, by data, by form and layout, by instruction set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import libraries
import numpy as np
from contenders import Contender, Missing, copy, numpy_naive, tiebreak
from setting import LAYOUTS, OUTPUTS, SCALES, Setting
from timing import best_times

from tiebreak.golden import _kernel
from tiebreak.golden.kernel import MODES
from tiebreak.golden.rounding import EVEN

REST = 0.05  # seconds in which other libraries' threads stop looking for work
Row = dict[str, Any]
Maker = Callable[[Setting], Contender]
PEERS: Mapping[str, Maker] = {
    "onnxruntime": libraries.onnxruntime,
    "torch": libraries.torch,
    "tensorflow": libraries.tensorflow,
    "numpy-naive": numpy_naive,
    "copy": copy,
}
RUNTIME = {"onnxruntime": libraries.onnxruntime}
FEW = 64  # elements of a call that is nothing but a call
THREADS = (1, 2)


@dataclass(frozen=True)
class Sizes:
    """Elements in cache and out, rounds, and seconds that a sample takes at the least."""

    cached: int = 1 << 16
    large: int = 1 << 24
    rounds: int = 7
    least: float = 0.005

    @property
    def places(self) -> dict[str, int]:
        return {"in cache": self.cached, "out of cache": self.large}


QUICK = Sizes(large=1 << 22, rounds=2, least=0.001)


def measure(sizes: Sizes) -> list[Row]:
    """A row for each setting and contender: seconds of one go through the elements, or a note why there is none."""
    return [*by_mode(sizes), *by_data(sizes), *by_form(sizes), *by_path(sizes)]


def by_mode(sizes: Sizes) -> Iterable[Row]:
    for place, elements in sizes.places.items():
        for output in OUTPUTS:
            for threads in THREADS:
                start = Setting(output, threads=threads, elements=elements)
                yield from group("modes", place, [replace(start, mode=mode) for mode in MODES], PEERS, sizes)


def by_data(sizes: Sizes) -> Iterable[Row]:
    for output in OUTPUTS:
        for data in SCALES:
            start = Setting(output, data=data, elements=sizes.cached)
            yield from group("data", "in cache", [replace(start, mode=mode) for mode in MODES], RUNTIME, sizes)


def by_form(sizes: Sizes) -> Iterable[Row]:
    for place, elements in sizes.places.items():
        for output in OUTPUTS:
            for layout in LAYOUTS:
                start = Setting(output, layout=layout, elements=elements)
                settings = [replace(start, form=form) for form in ("exact", "working")]
                yield from group("forms", place, settings, RUNTIME, sizes)


def by_path(sizes: Sizes) -> Iterable[Row]:
    for output in OUTPUTS:
        start = Setting(output, elements=sizes.cached)
        settings = [replace(start, mode=mode, path=path) for path in _kernel.available_paths() for mode in MODES]
        yield from group("paths", "in cache", settings, {}, sizes)


def group(about: str, place: str, settings: Iterable[Setting], peers: Mapping[str, Maker], sizes: Sizes) -> list[Row]:
    """The kernel in each of the settings and its peers in the first with ties to even, all side by side."""
    tasks: list[tuple[str, Maker, Setting]] = [("tiebreak", tiebreak, setting) for setting in settings]
    first = next(setting for _, _, setting in tasks if setting.mode == EVEN)
    tasks += [(who, maker, first) for who, maker in peers.items()]
    rows = [{"about": about, "who": who, "place": place, **asdict(setting)} for who, _, setting in tasks]
    makers = [partial(maker, setting) for _, maker, setting in tasks]
    add_times(rows, makers, sizes, "seconds", REST if first.threads > 1 else 0.0)
    if about == "modes" and place == "in cache" and first.threads == 1:
        makers = [partial(maker, replace(setting, elements=min(FEW, setting.elements))) for _, maker, setting in tasks]
        add_times(rows, makers, sizes, "call_seconds")
    return [row | derived(row) for row in rows]


def add_times(
    rows: list[Row], makers: Iterable[Callable[[], Contender]], sizes: Sizes, name: str, rest: float = 0.0
) -> None:
    contenders: dict[int, Contender] = {}
    for number, make in enumerate(makers):
        try:
            contenders[number] = make()
        except Missing as reason:
            rows[number]["note"] = str(reason)
    repeats = {number: found.repeat for number, found in contenders.items()}
    times = best_times(repeats, sizes.rounds, sizes.least, rest)
    for number, seconds in times.items():
        rows[number][name] = seconds


def derived(row: Row) -> Row:
    """10^9 elements in a second, as called and without what a call costs, and bytes read and written in a second."""
    if "seconds" not in row:
        return {}
    found = {"gelems": row["elements"] / row["seconds"] / 1e9}
    written = 4 if row["who"] == "copy" else np.dtype(row["output"]).itemsize
    found["gbytes"] = found["gelems"] * (4 + written)
    if "call_seconds" in row and row["seconds"] > row["call_seconds"]:
        found["net_gelems"] = (row["elements"] - FEW) / (row["seconds"] - row["call_seconds"]) / 1e9
    return found
