"""A box of audited_stages as a backend in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import Outcome
from tiebreak.golden.nodes import Case


class Backend:
    """A box as a backend in this process; `status` is that of every call."""

    name, version, operators = "box", "1", None

    def __init__(self, box: Callable[..., Any], status: str = "ok") -> None:
        self.box, self.status = box, status

    def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
        with np.errstate(all="ignore"):
            return [Outcome(self.status, self.box(*case.inputs), message="" if self.is_ok else "no") for case in cases]

    @property
    def is_ok(self) -> bool:
        return self.status == "ok"
