"""torch on another device: calls with their tensors there, and sweeps whose inputs are made and compressed there.

A sweep's results are runs of equal codes. The device finds the runs, and only these come back; Tiebreak judges both
ends of each. A block that has too many runs comes back whole. Results at both ends of each run and at a thousand places
between come back by themselves, too: what the device says of its runs is checked for each block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.adapters.torch_calls import Argument, Call, Plan, array_from_torch, is_tensor
from tiebreak.golden.errors import MachineryFailed, NoDevice
from tiebreak.golden.problem import Array

MOST_RUNS = 1 << 12  # of a piece; beyond that its results are no longer to send than they are
CHECKED = 1 << 10  # places of a piece, evenly spread, at which the runs are checked
WORDS = {2: "int16", 4: "int32"}


def check_device(library: Any, device: str) -> None:
    """Raise NoDevice unless torch has the device."""
    if device.startswith("cuda") and not library.cuda.is_available():
        raise NoDevice(f"torch {library.__version__} sees no CUDA device")


def moved(call: Call, device: str) -> Call:
    """The call with its tensors on the device."""

    def there(argument: Argument) -> Argument:
        if not is_tensor(argument):
            return argument
        return Argument(argument.value.to(device), f'{argument.source}.to("{device}")')

    keywords = {name: there(argument) for name, argument in call.keywords.items()}
    return replace(call, arguments=tuple(map(there, call.arguments)), keywords=keywords)


@dataclass
class DeviceSweep:
    """Calls of one plan on consecutive bit patterns of its first argument, which the device makes itself."""

    library: Any
    plan: Plan
    device: str

    def results(
        self, first: int, one: Array, size: int, others: tuple[Array, ...]
    ) -> list[tuple[int, int, bytes]] | Array:
        """Runs of equal results as (first, end, the bytes of one) in elements, or all results.

        `first` is the first bit pattern, `one` an array of x's type with one element, `size` the number of patterns.
        """
        call = moved(self.plan.call(one, *others), self.device)
        x, *rest = call.arguments
        swept = replace(
            call, arguments=(replace(x, value=self.patterns(first, size, x.value.dtype, one.itemsize)), *rest)
        )
        codes = swept.result(self.library)
        words = codes.view(getattr(self.library, f"uint{8 * codes.element_size()}"))
        signed = words.view(getattr(self.library, f"int{8 * codes.element_size()}"))  # more of torch takes these
        ends = self.library.nonzero(signed[1:] != signed[:-1]).reshape(-1)
        if ends.numel() >= MOST_RUNS:
            return array_from_torch(self.library, codes.cpu())
        firsts = np.concatenate([[0], ends.cpu().numpy() + 1])
        values = self.at(codes, firsts)
        places = np.concatenate([np.arange(0, size, max(1, size // CHECKED)), firsts[1:] - 1])
        if self.at(codes, places).tobytes() != values[np.searchsorted(firsts, places, "right") - 1].tobytes():
            raise MachineryFailed(f"{self.device}: the runs of equal results that it finds are not its results")
        bounds = [*firsts.tolist(), size]
        return [(bounds[k], bounds[k + 1], values[k : k + 1].tobytes()) for k in range(len(firsts))]

    def at(self, codes: Any, places: Array) -> Array:
        """The results at some places."""
        return array_from_torch(self.library, codes[self.library.from_numpy(places).to(self.device)].cpu())

    def patterns(self, first: int, size: int, dtype: Any, itemsize: int) -> Any:
        """Consecutive bit patterns from `first` on, as a tensor of the type."""
        word = getattr(self.library, WORDS[itemsize])
        start = first - (1 << 8 * itemsize) if first >= 1 << (8 * itemsize - 1) else first
        return self.library.arange(start, start + size, dtype=word, device=self.device).view(dtype)
