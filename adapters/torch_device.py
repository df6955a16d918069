"""torch on another device: calls with their tensors there, and sweeps whose inputs are made and compressed there.

A sweep's results are runs of equal codes. The device finds the runs of many blocks in one call, and only these come
back; Tiebreak judges every one of them. A block that has too many runs comes back whole. Results at both ends of each
run and at a thousand places of each block between come back by themselves, too: what the device says of its runs is
checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tiebreak.adapters.torch_calls import Argument, Call, Plan, array_from_torch, is_tensor
from tiebreak.golden.errors import MachineryFailed, NoDevice
from tiebreak.golden.problem import Array

REGION = 1 << 26  # patterns of one call on a GPU, where a call costs more than its elements
MOST_RUNS = 1 << 12  # of a call; beyond that its results are no longer to send than they are
CHECKED = 1 << 12  # patterns, evenly spread, from one place at which the runs are checked to the next
MOST_CHECKED = 1 << 10  # such places among fewer patterns
WIDEST = 4  # bytes
WORDS = {1: "int8", 2: "int16", 4: "int32"}


def check_device(library: Any, device: str) -> None:
    """Raise NoDevice unless torch has the device."""
    if device.startswith("cuda") and not library.cuda.is_available():
        raise NoDevice(f"torch {library.__version__} sees no CUDA device")


def region_of(device: str) -> int:
    """How many patterns a call takes there; 0 for no more than a block has."""
    return REGION if device.startswith("cuda") else 0


def moved(call: Call, device: str) -> Call:
    """The call with its tensors on the device."""

    def there(argument: Argument) -> Argument:
        if not is_tensor(argument):
            return argument
        return Argument(argument.value.to(device), f'{argument.source}.to("{device}")')

    keywords = {name: there(argument) for name, argument in call.keywords.items()}
    return replace(call, arguments=tuple(map(there, call.arguments)), keywords=keywords)


@dataclass(frozen=True)
class Runs:
    """Runs of equal results: where each begins, in elements, and one result of each."""

    firsts: Array
    values: Array

    def part(self, start: int, size: int) -> list[tuple[int, int, bytes]]:
        """The runs among `size` elements as (first, end, the bytes of a result), counted from `start` on."""
        low, high = np.searchsorted(self.firsts, [start, start + size - 1], "right") - 1
        bounds = [start, *self.firsts[low + 1 : high + 1].tolist(), start + size]
        values = self.values[low : high + 1]
        return [(bounds[k] - start, bounds[k + 1] - start, values[k : k + 1].tobytes()) for k in range(len(bounds) - 1)]


@dataclass
class DeviceSweep:
    """Calls of one plan on consecutive bit patterns of its first argument, which the device makes itself.

    `region` is the number of patterns of a call, where a block of a 32-bit type has fewer. `known` has the runs of
    regions for the inputs `others`, None where there are too many.
    """

    library: Any
    plan: Plan
    device: str
    region: int = 0
    others: bytes = b""
    known: dict[int, Runs | None] = field(default_factory=dict)

    def results(
        self, first: int, one: Array, size: int, others: tuple[Array, ...]
    ) -> list[tuple[int, int, bytes]] | Array:
        """Runs of equal results as (first, end, the bytes of one) in elements, or all results.

        `first` is the first bit pattern, a multiple of `size`, which is the number of patterns and a power of two.
        `one` is an array of x's type with one element.
        """
        region = self.region if one.itemsize == WIDEST else 0
        start = first - first % max(region, size)
        runs = self.runs_in(start, one, region, others) if region > size else None
        if runs is None:
            start, codes = first, self.codes(first, one, size, others)
            runs = self.runs(codes)
            if runs is None:
                return array_from_torch(self.library, codes.cpu())
        return runs.part(first - start, size)

    def runs_in(self, start: int, one: Array, region: int, others: tuple[Array, ...]) -> Runs | None:
        """The runs of a region, which are kept for its other blocks."""
        if (now := b"".join(array.tobytes() for array in others)) != self.others:
            self.others, self.known = now, {}
        if start not in self.known:
            self.known[start] = self.runs(self.codes(start, one, region, others))
        return self.known[start]

    def codes(self, first: int, one: Array, size: int, others: tuple[Array, ...]) -> Any:
        """The results for consecutive patterns, on the device."""
        call = moved(self.plan.call(one, *others), self.device)
        x, *rest = call.arguments
        patterns = self.patterns(first, size, x.value.dtype, one.itemsize)
        return replace(call, arguments=(replace(x, value=patterns), *rest)).result(self.library)

    def runs(self, codes: Any) -> Runs | None:
        """The runs of equal results, checked; None if there are too many."""
        size = codes.numel()
        words = codes.view(getattr(self.library, f"uint{8 * codes.element_size()}"))
        signed = words.view(getattr(self.library, f"int{8 * codes.element_size()}"))  # more of torch takes these
        ends = self.library.nonzero(signed[1:] != signed[:-1]).reshape(-1)
        if ends.numel() >= MOST_RUNS:
            return None
        firsts = np.concatenate([[0], ends.cpu().numpy() + 1])
        values = self.at(codes, firsts)
        steps = max(1, min(CHECKED, size // MOST_CHECKED))
        places = np.concatenate([np.arange(0, size, steps), firsts[1:] - 1])
        if self.at(codes, places).tobytes() != values[np.searchsorted(firsts, places, "right") - 1].tobytes():
            raise MachineryFailed(f"{self.device}: the runs of equal results that it finds are not its results")
        return Runs(firsts, values)

    def at(self, codes: Any, places: Array) -> Array:
        """The results at some places."""
        return array_from_torch(self.library, codes[self.library.from_numpy(places).to(self.device)].cpu())

    def patterns(self, first: int, size: int, dtype: Any, itemsize: int) -> Any:
        """Consecutive bit patterns from `first` on, as a tensor of the type."""
        word = getattr(self.library, WORDS[itemsize])
        start = first - (1 << 8 * itemsize) if first >= 1 << (8 * itemsize - 1) else first
        whole = self.library.arange(start, start + size, dtype=self.library.int32, device=self.device)
        return whole.to(word).view(dtype)
