"""Changes of a node's inputs that give what a kernel gives that reads or combines them wrongly, whatever the operator.

They show in outputs whose elements need more than one element of an input each: sums of products, blocks, channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array

Inputs = tuple[Array, ...]
NamedInputs = tuple[str, Inputs]  # the id of a change, and the inputs then
TAILS = (2, 4, 8, 16, 32)
ZERO_POINTS = ("_zero_point", "_zero", "_zp", "zero_points")
Place = Callable[[Array, int], Array]
PLACES: dict[str, Place] = {  # which one stands at a place then, of so many
    "the first one": lambda at, count: 0 * at,
    "the last one": lambda at, count: 0 * at + count - 1,
    "the previous one": lambda at, count: at - 1,
    "the next one": lambda at, count: at + 1,
    "the one counted from the end": lambda at, count: count - 1 - at,
    "the even one of a pair": lambda at, count: at // 2 * 2,
    "the other one of a pair": lambda at, count: np.minimum(at ^ 1, count - 1),
    "four in turn": lambda at, count: at % 4,
    "those of the first half": lambda at, count: at % max(count // 2, 1),
    "those of the first third": lambda at, count: at % max(count // 3, 1),
    "those of the first quarter": lambda at, count: at % max(count // 4, 1),
    "the one before if it is the last": lambda at, count: np.minimum(at, max(count - 2, 0)),
}


def input_changes(node: Node, inputs: Inputs) -> Iterator[NamedInputs]:
    """Each change of the inputs that makes a difference to them."""
    names = [tensor.name for tensor in node.inputs]
    for number, (name, array) in enumerate(zip(names, inputs, strict=True)):
        others = of_parameter(name, array, places_in(node)) if number and array.size < inputs[0].size * 2 else ()
        for id_, other in others:
            yield id_, (*inputs[:number], other, *inputs[number + 1 :])
    for name, (place, point) in matrices(names, inputs).items():
        zero = inputs[point] if point is not None else np.zeros((), inputs[place].dtype)
        for id_, other in of_matrix(name, inputs[place], zero):
            yield id_, (*inputs[:place], other, *inputs[place + 1 :])


def places_in(node: Node) -> dict[str, Place]:
    groups = node.attributes.get("group", 1)
    if groups == 1:
        return PLACES
    return {**PLACES, "the one of that number in its group": lambda at, count: at % max(count // groups, 1)}


def of_parameter(name: str, array: Array, places: dict[str, Place]) -> Iterator[tuple[str, Array]]:
    """A parameter with several values, in other places along each of its axes."""
    for axis, count in enumerate(array.shape):
        along = f" along axis {axis}" if sum(size > 1 for size in array.shape) > 1 else ""
        for text, place in places.items():
            if count > 1:
                moved = np.take(array, place(np.arange(count), count) % count, axis=axis)
                if moved.tobytes() != array.tobytes():
                    yield f"input-taken-from:{name},{text}{along}", moved
    if array.ndim == 2 and min(array.shape) > 1:
        yield f"input-read-by-columns:{name}", array.reshape(-1).reshape(array.shape, order="F")


def matrices(names: list[str], inputs: Inputs) -> dict[str, tuple[int, int | None]]:
    """The integer inputs with several elements that have zero points, or floats: with the zero points' places."""
    found: dict[str, tuple[int, int | None]] = {}
    for place, (name, array) in enumerate(zip(names, inputs, strict=True)):
        if array.ndim < 1 or array.size < 2 or name.endswith((*ZERO_POINTS, "scale", "scales")):
            continue
        wanted = [f"{name}{end}".lower() for end in ZERO_POINTS]
        point = next((i for i, other in enumerate(names) if other.lower() in wanted), None)
        found[name] = place, point
    return found


def of_matrix(name: str, array: Array, zero: Array) -> Iterator[tuple[str, Array]]:
    """An input without the tail of its last axis, and with differences from its zero point that a type holds."""
    point = spread_point(zero, array)
    if point is None:
        return
    count = array.shape[-1]
    for size in TAILS:
        if count % size:
            other = array.copy()
            other[..., count // size * size :] = point[..., count // size * size :]
            yield f"tail-is-zero:{name},{size}", other
    if array.dtype.name in INTEGER_TYPES:
        wide, offset = array.astype(np.int64), point.astype(np.int64)
        for kind in ("int8", "uint8", "int4", "uint4"):
            ends = INTEGER_TYPES[kind]
            held = np.clip(wide - offset, ends.lowest, ends.highest) + offset
            if (held != wide).any():
                yield f"number-saturates-to:{name} - zero point,{kind}", held.astype(array.dtype)


def spread_point(zero: Array, array: Array) -> Array | None:
    """A zero point for each element; None if it does not broadcast as it is."""
    if zero.size == 1:
        return np.broadcast_to(zero.reshape(()), array.shape)
    try:
        return np.broadcast_to(zero, array.shape)
    except ValueError:
        return None


def absent_inputs(node: Node) -> list[str]:
    """The names of the optional inputs that a node does not have."""
    given = {tensor.name for tensor in node.inputs}
    form = next((form for form in get_operator(node.operator).forms if given <= set(form)), ())
    return [name for name in form if name not in given]
