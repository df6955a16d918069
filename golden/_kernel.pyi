from typing import Any

import numpy as np

def subnormals_flushed() -> bool: ...
def quantize(
    x: np.ndarray[Any, Any],
    scale: np.ndarray[Any, Any],
    zero_point: np.ndarray[Any, Any],
    kind: int,
    mode: int,
    working: bool,
    lowest: int,
    highest: int,
    values: np.ndarray[Any, Any],
    state: np.ndarray[Any, Any],
) -> None: ...
