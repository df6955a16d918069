from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
MODES: dict[str, int]
SUMS: dict[tuple[str, str], int]
SATURATIONS: dict[str, int]

def rounded(values: Array, number: int) -> Array: ...
def saturated(
    whole: Array, zero_point: Array, lowest: float, highest: float, bits: int, kind: int
) -> tuple[Array, Array]: ...
def sums(whole: Array, zero_point: Array, lowest: float, highest: float, kind: int) -> Array: ...
def odd_sums(products: Array, added: Array) -> Array: ...
def codes_of_singles(bits: Array, nan_code: int) -> Array: ...
def words32(ordinals: Array) -> Array: ...
def never_falls(below: Array, above: Array) -> bool: ...
def same(codes: Array, others: Array) -> bool: ...
def open_halves(
    low: Array,
    high: Array,
    below: Array,
    above: Array,
    middle: Array,
    stages: Array,
    to_low: Array,
    to_high: Array,
    to_below: Array,
    to_above: Array,
) -> int: ...
