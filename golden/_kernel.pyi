from typing import Any

import numpy as np

PATHS: tuple[str, ...]

def available_paths() -> tuple[str, ...]: ...
def chosen_path() -> str: ...
def choose_path(name: str) -> None: ...
def subnormals_flushed() -> bool: ...

class Parameters:
    wide: bool
    plain: bool
    mode: int
    working: bool
    def __init__(
        self,
        scale: np.ndarray[Any, Any],
        zero_point: np.ndarray[Any, Any],
        wide: bool,
        mode: int,
        working: bool,
        lowest: int,
        highest: int,
    ) -> None: ...

def round_quotients(
    x: np.ndarray[Any, Any],
    kind: int,
    parameters: Parameters,
    out: np.ndarray[Any, Any],
    starts: np.ndarray[Any, Any],
    columns: bool,
    path: int = -1,
) -> None: ...
def settle(
    codes: np.ndarray[Any, Any],
    x: np.ndarray[Any, Any],
    infinity: int,
    defined: np.ndarray[Any, Any],
    starts: np.ndarray[Any, Any],
    columns: bool,
    lowest: int,
    highest: int,
    values: np.ndarray[Any, Any],
    state: np.ndarray[Any, Any],
) -> None: ...
def fill_patterns(out: np.ndarray[Any, Any], first: int) -> None: ...
def deviating_pieces(
    first: int, got: np.ndarray[Any, Any], width: int, kind: int, exact: Parameters, working: Parameters
) -> tuple[list[int], int]: ...
def repeated(values: np.ndarray[Any, Any], width: int) -> bytes: ...
def count_modes(
    first: int,
    got: np.ndarray[Any, Any],
    width: int,
    kind: int,
    exact: Parameters,
    working: Parameters,
    zero_point: int,
    lowest: int,
    highest: int,
    leaves: bool,
    differ: np.ndarray[Any, Any],
) -> None: ...

PIECE: int
