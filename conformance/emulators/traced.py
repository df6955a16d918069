"""Runs a table's own formulas on steps instead of numbers, so that an emulator has each of them as the table has it.

A table's formula takes NumPy arrays and asks nothing of their values: what it does to `Traced` numbers are its steps.
What NumPy lacks, semantics/places.py does; its functions that formulas use are here for steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.emulators.steps import (
    LONG,
    TRUTH,
    Computed,
    cast,
    constant,
    double,
    flushed,
    named,
    step,
    where,
)
from tiebreak.conformance.semantics.places import as_array, flush_subnormals, fused_multiply_add
from tiebreak.golden.elements import numpy_dtype

UFUNCS: Mapping[Any, str] = {
    np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.true_divide: "divide",
    np.floor_divide: "floor_divide", np.remainder: "modulus",
    np.negative: "negative", np.absolute: "abs", np.copysign: "copysign",
    np.minimum: "minimum", np.maximum: "maximum",
    np.rint: "rint", np.floor: "floor", np.ceil: "ceil", np.trunc: "truncate",
    np.less: "less", np.less_equal: "at_most", np.greater: "greater", np.greater_equal: "at_least", np.equal: "equal",
    np.logical_and: "and", np.bitwise_and: "and", np.bitwise_or: "or", np.invert: "not",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """A step that NumPy's operations are done to."""

    of: Computed

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.of.type) if self.of.type in (TRUTH, LONG) else numpy_dtype(self.of.type)

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        return Traced(cast(np.dtype(dtype).name, self.of))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc not in UFUNCS:
            return NotImplemented
        operands = steps_of(inputs)
        if changes_nothing(ufunc, operands[-1]):
            return Traced(operands[0])
        if UFUNCS[ufunc] == "copysign" and operands[0].type == TRUTH:  # a truth counts 0 or 1
            kind = operands[1].type
            operands[0] = where(operands[0], constant(1, kind), constant(0, kind))
        return Traced(step(UFUNCS[ufunc], *operands))

    def __array_function__(
        self, function: Any, types: Any, arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        if function is np.where:
            condition, *both = arguments
            return Traced(where(condition.of, *steps_of(both)))
        if function is np.broadcast_arrays:
            return arguments
        if function is np.clip:
            return Traced(step("clamp", *steps_of(arguments)))
        return NotImplemented

    def __bool__(self) -> bool:
        raise TypeError("a step has no value to decide by")


def changes_nothing(ufunc: np.ufunc, last: Computed) -> bool:
    """Times 1, or plus 0: of floating-point numbers a sum would change the sign of a zero."""
    if last.op != "constant":
        return False
    return last.value == 1 if ufunc is np.multiply else ufunc is np.add and last.type == LONG and last.value == 0


def line(name: str, value: Any) -> Any:
    """The same number on a line of its own, if it is a step."""
    return Traced(named(name, value.of)) if isinstance(value, Traced) else value


def steps_of(operands: Sequence[Any]) -> list[Computed]:
    """The operands as steps of one type, that of the traced ones or of arrays: a number without a type takes it.

    Integers beside such a number that has a fraction become float64.
    """
    typed = [one.of.type if isinstance(one, Traced) else one.dtype.name for one in operands if hasattr(one, "dtype")]
    kinds = {one for one in typed if one != TRUTH} or {TRUTH}
    if len(kinds) > 1:
        raise TypeError(f"{' beside '.join(sorted(kinds))}: NumPy would compute in one of them or in a third one")
    (kind,) = kinds
    if kind == LONG and any(isinstance(one, float) for one in operands):
        return [double(one.of) if isinstance(one, Traced) else constant(float(one)) for one in operands]
    return [one.of if isinstance(one, Traced) else constant(float(one), kind) for one in operands]


@fused_multiply_add.register
def fused(a: Traced, b: Any, added: Any, dtype: np.dtype[Any]) -> Any:  # type: ignore[misc]
    """As places.fused_multiply_add."""
    x, y, more = (double(one.of) if isinstance(one, Traced) else constant(float(one)) for one in (a, b, added))
    return Traced(cast(dtype.name, step("odd_sum", x * y, more)))


@as_array.register
def array(values: Traced) -> Any:
    """As places.as_array."""
    return values


@flush_subnormals.register
def flush(values: Traced, emin: int) -> Any:  # type: ignore[misc]
    """As places.flush_subnormals."""
    return Traced(flushed(values.of, emin))
