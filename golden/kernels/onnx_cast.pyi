from collections.abc import Callable

from tiebreak.golden.problem import Array, Problem

LOOPS: dict[str, Callable[[Problem, bool, str], tuple[Array, Array]]]
