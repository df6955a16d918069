"""Usual mistakes of products of quantized matrices, which MatMulInteger and QLinearMatMul share: the exact sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.products import matrix, of_columns, of_rows

LOW, HIGH = -(1 << 15), (1 << 15) - 1  # of 16 bits


@dataclass(frozen=True)
class Operands:
    """Matrices (int64, vectors as one row or column) and zero points that broadcast to them; both types' names."""

    a: Array
    a_zero_point: Array
    b: Array
    b_zero_point: Array
    kinds: tuple[str, str]

    def differences(self) -> tuple[Array, Array]:
        return self.a - self.a_zero_point, self.b - self.b_zero_point


Sum = Callable[[Operands], Array]
Read = Callable[[Node, Operands], Operands]


def operands_of(operator: str, a: Array, a_zero_point: Array, b: Array, b_zero_point: Array) -> Operands:
    rows = of_rows(operator, "a_zero_point", a_zero_point.astype(np.int64), a.shape)
    columns = of_columns(operator, "b_zero_point", b_zero_point.astype(np.int64), b.shape)
    return Operands(matrix(a, first=True), rows, matrix(b, first=False), columns, (a.dtype.name, b.dtype.name))


def as_they_are(node: Node, operands: Operands) -> Operands:
    return operands


def exact(operands: Operands) -> Array:
    a, b = operands.differences()
    return np.asarray(a @ b)


# Sums


def wrapped(values: Array, bits: int) -> Array:
    half = 1 << (bits - 1)
    return np.asarray(np.mod(values + half, 1 << bits) - half)


def in_16_bits_wraps(operands: Operands) -> Array:
    return wrapped(exact(operands), 16)


def in_16_bits_saturates(operands: Operands) -> Array:
    """Each step of the sum saturates, from the first product on."""
    total = np.zeros(exact(operands).shape, np.int64)
    for products in each_product(*operands.differences()):
        total = np.clip(total + products, LOW, HIGH)
    return total


def each_product(a: Array, b: Array) -> list[Array]:
    """The products of each index of the inner axis, of the result's shape."""
    return [a[..., :, k : k + 1] * b[..., k : k + 1, :] for k in range(a.shape[-1])]


def pairs_saturate(operands: Operands) -> Array:
    """Products of an unsigned and a signed byte, two of which are added in 16 bits that saturate; what the zero points
    make of it is subtracted exactly. An instruction does so. An unsigned b is read 128 lower, a signed a 128 higher.
    """
    raised, lowered = (
        128 if kind == wrong else 0 for kind, wrong in zip(operands.kinds, ("int8", "uint8"), strict=True)
    )
    a, b = operands.a + raised, operands.b - lowered
    a_zero_point, b_zero_point = operands.a_zero_point + raised, operands.b_zero_point - lowered
    products = each_product(a, b)
    products += [np.zeros_like(products[0])] * (len(products) % 2) if products else []
    both = [np.clip(one + other, LOW, HIGH) for one, other in zip(products[::2], products[1::2], strict=True)]
    wrong = sum(both) if both else np.zeros_like(exact(operands))
    right = a @ b
    return np.asarray(wrong - right + (a - a_zero_point) @ (b - b_zero_point))


def without_last(operands: Operands) -> Array:
    a, b = operands.differences()
    if a.shape[-1] < 2:
        raise ValueError("there is nothing to mistake")
    return np.asarray(a[..., :-1] @ b[..., :-1, :])


def products_in_16_bits(*, saturate: bool) -> Sum:
    """Each product in 16 bits, the sum in more."""

    def found(operands: Operands) -> Array:
        products = each_product(*operands.differences())
        kept = [np.clip(one, LOW, HIGH) if saturate else wrapped(one, 16) for one in products]
        return np.asarray(sum(kept, np.zeros(exact(operands).shape, np.int64)))

    return found


def in_float(kind: Any) -> Sum:
    """The sum rounded to a floating-point type after each product."""

    def found(operands: Operands) -> Array:
        total = np.zeros(exact(operands).shape, kind)
        for products in each_product(*operands.differences()):
            total = (total + products.astype(kind)).astype(kind)
        if not np.isfinite(total.astype(np.float64)).all():
            raise ValueError("no integer")
        return total.astype(np.int64)

    return found


def differences_in_8_bits(*, saturate: bool) -> Sum:
    def found(operands: Operands) -> Array:
        kept = []
        for difference, kind in zip(operands.differences(), operands.kinds, strict=True):
            own = INTEGER_TYPES[kind]
            clipped = np.clip(difference, own.lowest, own.highest)
            kept.append(clipped if saturate else np.mod(difference - own.lowest, 256) + own.lowest)
        return np.asarray(kept[0] @ kept[1])

    return found


SUMS = (
    frequent("pairs-saturate-in-16-bits", "sum", total=pairs_saturate),
    frequent("sum-in-16-bits:saturates", "sum", total=in_16_bits_saturates),
    frequent("sum-in-16-bits:wraps around", "sum", total=in_16_bits_wraps),
    step("products-in-16-bits:saturate", "sum", total=products_in_16_bits(saturate=True)),
    step("products-in-16-bits:wrap around", "sum", total=products_in_16_bits(saturate=False)),
    frequent("sum-without-last-product", "sum", total=without_last),
    step("sum-of-products-in:float16", "sum", total=in_float(np.float16)),
    frequent("difference-wraps", "sum", total=differences_in_8_bits(saturate=False)),
    frequent("difference-saturates", "sum", total=differences_in_8_bits(saturate=True)),
)

# Operands and zero points


def without_point(which: str) -> Read:
    return lambda node, operands: changed(operands, which, 0 * getattr(operands, which))


def without_points(node: Node, operands: Operands) -> Operands:
    return replace(operands, a_zero_point=0 * operands.a_zero_point, b_zero_point=0 * operands.b_zero_point)


def changed(operands: Operands, which: str, values: Array) -> Operands:
    given: dict[str, Any] = {which: values}
    return replace(operands, **given)


def exchanged(node: Node, operands: Operands) -> Operands:
    """One zero point for the other's operand, as far as both are scalars."""
    if operands.a_zero_point.size > 1 or operands.b_zero_point.size > 1:
        raise ValueError("zero points of rows and columns")
    one, other = (point.reshape(()) for point in (operands.a_zero_point, operands.b_zero_point))
    return replace(operands, a_zero_point=other, b_zero_point=one)


def added(which: str) -> Read:
    return lambda node, operands: changed(operands, which, -getattr(operands, which))


def first_point(which: str) -> Read:
    def found(node: Node, operands: Operands) -> Operands:
        own = getattr(operands, which)
        if own.size < 2:
            raise ValueError("there is nothing to mistake")
        return changed(operands, which, own.reshape(-1)[0])

    return found


def read_otherwise(number: int, *, unsigned: bool, point: bool) -> Read:
    """An operand, and its zero point or not, read with the other signedness."""

    def found(node: Node, operands: Operands) -> Operands:
        name, kind = "ab"[number], INTEGER_TYPES[operands.kinds[number]]
        if kind.signed == unsigned:
            raise NotImplementedError
        low = 0 if kind.signed else -128
        for each in (name, f"{name}_zero_point") if point else (name,):
            operands = changed(operands, each, np.mod(getattr(operands, each) - low, 256) + low)
        return operands

    return found


def both_read_otherwise(*, unsigned: bool) -> Read:
    """Both operands, which have one type, read with the other signedness; their zero points are right."""

    def found(node: Node, operands: Operands) -> Operands:
        for number in (0, 1):
            operands = read_otherwise(number, unsigned=unsigned, point=False)(node, operands)
        return operands

    return found


def along_inner_axis(which: str) -> Read:
    """Zero points of rows or columns along the inner axis of a matrix: the first ones, and 0 if there are too few."""

    def found(node: Node, operands: Operands) -> Operands:
        own, tensor = getattr(operands, which), getattr(operands, which[0])
        if own.size < 2 or own.ndim != 2:
            raise ValueError("there is nothing to mistake")
        inner, shape = (tensor.shape[1], (1, -1)) if which == "a_zero_point" else (tensor.shape[0], (-1, 1))
        return changed(operands, which, first_of(own, inner).reshape(shape))

    return found


def first_of(values: Array, count: int) -> Array:
    """So many values as they lie in memory, zeros behind the last one."""
    kept = values.reshape(-1)[:count]
    return np.concatenate([kept, np.zeros(count - kept.size, kept.dtype)])


def of_elements(which: str) -> Read:
    """Zero points of rows or columns of a batch read where those of its elements would lie."""

    def found(node: Node, operands: Operands) -> Operands:
        own, tensor = getattr(operands, which), getattr(operands, which[0])
        if own.size < 2 or own.ndim < 3:
            raise ValueError("there is nothing to mistake")
        return changed(operands, which, first_of(own, tensor.size).reshape(tensor.shape))

    return found


READS = (
    *(frequent(f"ignores:{which}", "sum", read=without_point(which)) for which in ("a_zero_point", "b_zero_point")),
    frequent("ignores:both zero points of a and b", "sum", read=without_points),
    *(step(f"adds-zero-point-of:{which[0]}", "sum", read=added(which)) for which in ("a_zero_point", "b_zero_point")),
    step("zero-points-exchanged", "sum", read=exchanged),
    *(
        step(f"operand-as-{'signed' if unsigned else 'unsigned'}:{name}{', zero point too' if point else ''}", "sum",
             read=read_otherwise(number, unsigned=unsigned, point=point))
        for number, name in enumerate("ab")
        for unsigned in (True, False)
        for point in (False, True)
    ),
    step("operand-as-signed:a and b", "sum", read=both_read_otherwise(unsigned=True)),
    step("operand-as-unsigned:a and b", "sum", read=both_read_otherwise(unsigned=False)),
    step("one-for-all:a_zero_point", "rows", read=first_point("a_zero_point")),
    step("one-for-all:b_zero_point", "columns", read=first_point("b_zero_point")),
    step("along-other-axis:a_zero_point", "rows", read=along_inner_axis("a_zero_point")),
    step("along-other-axis:b_zero_point", "columns", read=along_inner_axis("b_zero_point")),
    step("one-for-each-element:a_zero_point", "rows", read=of_elements("a_zero_point")),
    step("one-for-each-element:b_zero_point", "columns", read=of_elements("b_zero_point")),
)  # fmt: skip
