"""What a case asks, as numbers: the problems that the oracle and the kernel each solve in their own way.

Both kinds of problem answer the same questions: `operands` and their types `kinds`, the type of the `result`, the type
of `working` precision, `some` of the elements, the operands' `names`.

A result has a code and a state. The code is the value itself of an integer type and the bit pattern of a real type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from tiebreak.golden.elements import CARRIERS, ELEMENT_TYPES, INTEGER_TYPES, FloatType, IntegerType, numpy_dtype

Array = np.ndarray[Any, np.dtype[Any]]

# IN_RANGE: the code is the result.
# OUT_OF_RANGE: an integer result is beyond its type's range; the code is the nearer end of that range.
# UNDEFINED: the document defines no result for these operands; the code is 0.
# ZERO: a real result is zero, exactly or by its last rounding, and the document says nothing about a zero's sign, nor
#   does real arithmetic. So either zero is right; the code is the positive one.
IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO = 0, 1, 2, 3


@dataclass(frozen=True)
class Quantization:
    """round(x / scale) + zero_point to an integer type, `x` and `scale` of the same real type.

    `x` and `scale` hold bit patterns, `zero_point` int64; scale[j] belongs to x projected onto `axes`. With
    `open_division` the document names no type for the division.
    """

    real: FloatType
    quantized: IntegerType
    mode: str
    axes: tuple[int, ...]
    x: Array
    scale: Array
    zero_point: Array
    output: str = "output"
    open_division: bool = False

    @property
    def orders(self) -> str:
        """The name of the formula's orders in golden/orders, if it has any."""
        return "a division" if self.open_division else ""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape)

    @property
    def result(self) -> IntegerType:
        return self.quantized

    @property
    def working(self) -> FloatType:
        return self.real

    @property
    def kinds(self) -> tuple[FloatType | IntegerType, ...]:
        return self.real, self.real, self.quantized

    @cached_property
    def operands(self) -> tuple[Array, ...]:
        """x, scale and zero point, flat, one of each for every element."""
        parameters = (along(array, self.axes, self.shape) for array in (self.scale, self.zero_point))
        return self.x.reshape(-1), *(np.broadcast_to(array, self.shape).reshape(-1) for array in parameters)

    def some(self, at: Array) -> Quantization:
        """The problem of some elements only (flat indices), each with its own parameters."""
        x, scale, zero_point = (operand[at] for operand in self.operands)
        return replace(self, axes=(0,), x=x, scale=scale, zero_point=zero_point)

    def names(self, inputs: Sequence[str], form: Sequence[str]) -> Sequence[str]:
        """The names of those operands that the node has inputs for; `form` are all that the document names."""
        return inputs


@dataclass(frozen=True)
class Elementwise:
    """One output of any other node, element by element.

    `formula` names what is to be computed: an operator's id, and the output's name for all but the first. `operands`
    are flat, of the output's size and of the types `kinds`: unsigned bit patterns of floats, int64 values of integers.
    `working` is the type in which working precision rounds each step. `constants` are what the attributes say. With
    `signed_zeros` the document tells an operand's negative zero from zero. `named` are the operands' names where they
    are not the inputs themselves. Last operands without a name only say which results are defined: no row shows them.
    With `open_division` the formula is a quantizer's, and its document names no type for the division.
    """

    formula: str
    output: str
    shape: tuple[int, ...]
    result: FloatType | IntegerType
    working: FloatType
    mode: str
    kinds: tuple[FloatType | IntegerType, ...]
    operands: tuple[Array, ...]
    constants: Mapping[str, Any] = field(default_factory=dict)
    signed_zeros: bool = False
    named: tuple[str, ...] = ()
    open_division: bool = False

    @property
    def orders(self) -> str:
        """The name of the formula's orders in golden/orders, if it has any."""
        return "a division" if self.open_division else self.formula

    def some(self, at: Array) -> Elementwise:
        """The problem of some elements only (flat indices)."""
        return replace(self, shape=(at.size,), operands=tuple(operand[at] for operand in self.operands))

    def names(self, inputs: Sequence[str], form: Sequence[str]) -> Sequence[str]:
        """The names of the operands; those of the document's `form` where an optional input poses as its default."""
        if self.named:
            return self.named
        return inputs[-len(self.operands) :] if len(inputs) >= len(self.operands) else form[: len(self.operands)]


Problem = Quantization | Elementwise


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """The name of a dtype, which NumPy makes anew each time."""
    return str(dtype.name)


def codes_of(array: Array) -> Array:
    """Bit patterns (unsigned, of the same width) of a floating-point array, values (int64) of an integer one."""
    name = name_of(array.dtype)
    if name in INTEGER_TYPES or name in HELD:
        return np.asarray(array.astype(np.int64))
    return bits_of(array)


def array_of(element: str, shape: tuple[int, ...], codes: Sequence[int] | Array, name: str = "a tensor") -> Array:
    """The array of an element type that has these codes, row-major: what `codes_of` undoes.

    ValueError for a code outside the type, with the tensor's name, and for more or fewer codes than the shape has.
    """
    type_, dtype = ELEMENT_TYPES[element], numpy_dtype(element)
    low, high = code_range(type_)
    try:
        words = np.array(codes, np.int64 if isinstance(type_, IntegerType) else f"uint{8 * dtype.itemsize}")
    except OverflowError:
        raise ValueError(f"{name} has a value outside {element}") from None
    if words.size and not (low <= int(words.min()) and int(words.max()) <= high):
        raise ValueError(f"{name} has a value outside {element}")
    return (words.astype(dtype) if isinstance(type_, IntegerType) else words.view(dtype)).reshape(shape)


def code_range(type_: FloatType | IntegerType) -> tuple[int, int]:
    """The lowest and the highest code."""
    return (type_.lowest, type_.highest) if isinstance(type_, IntegerType) else (0, (1 << type_.bits) - 1)


def bits_of(array: Array) -> Array:
    """The bit patterns of a floating-point array as unsigned integers of the same width and shape."""
    return np.ascontiguousarray(array).view(f"uint{8 * array.dtype.itemsize}").reshape(array.shape)


HELD = {carrier: name for name, carrier in CARRIERS.items()}


def kind_of(array: Array) -> FloatType | IntegerType:
    """The element type; of an array of int64 it is int48, which no other array holds."""
    name = name_of(array.dtype)
    return ELEMENT_TYPES[HELD.get(name, name)]


def flat(array: Array, shape: tuple[int, ...]) -> Array:
    """The codes of an array broadcast (NumPy's rules) to a shape, flat."""
    return np.ascontiguousarray(np.broadcast_to(codes_of(array), shape)).reshape(-1)


def along(array: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """An array that varies on `axes` reshaped so that it broadcasts to `shape`."""
    return array.reshape([size if axis in axes else 1 for axis, size in enumerate(shape)])
