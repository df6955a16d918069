"""Matrix products of integers with zero points, as ONNX's MatMulInteger and QLinearMatMul pose them.

Both documents say of the shapes: like numpy.matmul; a's zero point is a scalar or has a value for each row, b's for
each column. Of the sums: they may leave 32 bits only as a whole. Oracle and kernel begin with these sums, which may
have tens of thousands of terms; tests add them up again, term by term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

WORD = INTEGER_TYPES["int32"]


@dataclass(frozen=True)
class MatrixProduct:
    """The `shape` of a result, and its shape if vectors are matrices of one row or one column: `full`.

    `positive` and `negative` (int64, flat) are the sums, for each element, of those products
    (a - a_zero_point) * (b - b_zero_point) that are.
    """

    shape: tuple[int, ...]
    full: tuple[int, ...]
    positive: Array
    negative: Array

    @property
    def sums(self) -> Array:
        """Those of all products (int64, flat); beyond int32 its nearer end."""
        return np.asarray(np.clip(self.positive + self.negative, WORD.lowest, WORD.highest))

    @property
    def overflows(self) -> Array:
        """1 where some order of summation leaves int32, else 0 (flat): there the parts of one sign alone do."""
        return ((self.positive > WORD.highest) | (self.negative < WORD.lowest)).astype(np.int64)

    def plus(self, term: Array) -> MatrixProduct:
        """With another term (flat) in each sum."""
        return replace(self, positive=self.positive + np.maximum(term, 0), negative=self.negative + np.minimum(term, 0))

    def spread(self, parameter: Array) -> Array:
        """A parameter of rows or columns, or a scalar, for each element: flat."""
        return np.ascontiguousarray(np.broadcast_to(parameter, self.full)).reshape(-1)


def matrix_product(operator: str, a: Array, a_zero_point: Array, b: Array, b_zero_point: Array) -> MatrixProduct:
    """The product of integer arrays of one axis or more. InvalidInput for shapes that the documents do not allow."""
    shape = product_shape(operator, a.shape, b.shape)
    left = matrix(a, first=True) - of_rows(operator, "a_zero_point", a_zero_point.astype(np.int64), a.shape)
    right = matrix(b, first=False) - of_columns(operator, "b_zero_point", b_zero_point.astype(np.int64), b.shape)
    sums, magnitudes = left @ right, np.abs(left) @ np.abs(right)
    positive, negative = (sums + magnitudes) // 2, (sums - magnitudes) // 2
    return MatrixProduct(shape, sums.shape, positive.reshape(-1), negative.reshape(-1))


def points_of_both(node: Node, inputs: Sequence[Array], names: Sequence[str]) -> tuple[Array, Array]:
    """The zero points of the first and the second operand, which have these names; one that is left off is 0."""
    given = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=False))
    found = [given.get(name, np.zeros((), array.dtype)) for name, array in zip(names, inputs, strict=False)]
    return found[0], found[1]


def product_shape(operator: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of numpy.matmul's result. InvalidInput where it has none."""
    if not a or not b:
        raise InvalidInput(f"{operator}: a scalar is no matrix: shapes {list(a)} and {list(b)}")
    rows, columns = (a[:-1], a[-1]), (b[-2:][0], b[-1:] if len(b) > 1 else ())
    if rows[1] != columns[0]:
        raise InvalidInput(f"{operator}: {rows[1]} columns of {list(a)} beside {columns[0]} rows of {list(b)}")
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise InvalidInput(f"{operator}: shapes {list(a)} and {list(b)} do not broadcast") from None
    return (*batch, *rows[0][-1:], *columns[1])


def matrix(array: Array, *, first: bool) -> Array:
    """The array as int64; a vector as a row if it is the first operand, else as a column."""
    wide = np.asarray(array, np.int64)
    return wide if array.ndim > 1 else wide[np.newaxis, :] if first else wide[:, np.newaxis]


def of_rows(operator: str, name: str, parameter: Array, a: tuple[int, ...]) -> Array:
    """A parameter of a as it broadcasts to a's rows: [M] beside a matrix [M, K], else [D1, ..., M, 1]."""
    return spread_over(operator, name, parameter, a, a[:1] if len(a) == 2 else (*a[:-1], 1), (*a[:-1], 1))


def of_columns(operator: str, name: str, parameter: Array, b: tuple[int, ...]) -> Array:
    """A parameter of b as it broadcasts to b's columns: [N] beside a matrix [K, N], else [D1, ..., 1, N]."""
    made = (*b[:-2], 1, *b[-1:])
    return spread_over(operator, name, parameter, b, b[1:] if len(b) == 2 else made, made)


def spread_over(
    operator: str, name: str, parameter: Array, of: tuple[int, ...], wanted: tuple[int, ...], made: tuple[int, ...]
) -> Array:
    """The parameter in the shape `made`. InvalidInput unless it is a scalar or has the shape `wanted`."""
    if parameter.shape == ():
        return parameter
    if len(of) < 2 or parameter.shape != wanted:
        many = f" or {list(wanted)}" if len(of) > 1 else ""
        raise InvalidInput(f"{operator}: {name} of shape {list(parameter.shape)} beside {list(of)}; it needs []{many}")
    return parameter.reshape(made)
