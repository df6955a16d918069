from collections.abc import Callable

from tiebreak.golden.problem import Array, Elementwise

def of_attributes(problem: Elementwise, working: bool, mode: str) -> tuple[Array, Array]: ...
def of_width(problem: Elementwise, working: bool, mode: str) -> tuple[Array, Array]: ...

LOOPS: dict[str, Callable[[Elementwise, bool, str], tuple[Array, Array]]]
