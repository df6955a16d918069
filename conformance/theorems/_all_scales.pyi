from collections.abc import Mapping

from tiebreak.golden.problem import Array

KINDS: Mapping[tuple[str, str], int]

class Side:
    start: Array
    least: Array
    def __init__(self, kind: int, added: float, first: float, last: float, start: Array, least: Array) -> None: ...
    def __len__(self) -> int: ...

def differing(left: Side, right: Side, scales: Array) -> Array: ...
def least_inputs(side: Side, scale: int) -> Array: ...
