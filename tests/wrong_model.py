"""What a backend that is wrong on purpose is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class WrongBackend:
    """`run(node, *inputs)` gives the outputs; for each of `types` (input, output) a vector with `flag` catches it."""

    name: str
    operator: str
    run: Callable[..., tuple[Array, ...]]
    flag: str
    types: tuple[tuple[str, str], ...]
