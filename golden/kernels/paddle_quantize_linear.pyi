from collections.abc import Callable

from tiebreak.golden.problem import Array, Elementwise

def quantize(problem: Elementwise, working: bool, mode: str) -> tuple[Array, Array]: ...

LOOPS: dict[str, Callable[[Elementwise, bool, str], tuple[Array, Array]]]
