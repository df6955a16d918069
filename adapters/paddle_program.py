"""A PaddlePaddle program of one quantize_linear in the bytes of its model files: protobuf, ProgramDesc.

The numbers of the fields are those of framework.proto in PaddlePaddle. As its own files do, a program holds the
defaults, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tiebreak.golden.nodes import Node

FLOAT32, TENSOR, FEED, FETCH = 5, 7, 9, 10  # VarType.Type
INT = 0  # AttrType
ATTRIBUTES = ("quant_axis", "bit_length", "qmin", "qmax", "round_type")
FEEDS, FETCHES = "feed", "fetch"


def program(node: Node, shapes: Sequence[tuple[int, ...]]) -> bytes:
    """The program of a node for inputs of these shapes."""
    names = [tensor.name for tensor in node.inputs]
    (y,) = (tensor.name for tensor in node.outputs)
    tensors = [tensor_variable(name, shape) for name, shape in zip((*names, y), (*shapes, shapes[0]), strict=True)]
    lists = [variable(FEEDS, number(1, FEED), persistable=True), variable(FETCHES, number(1, FETCH), persistable=True)]
    feeds = [operator("feed", {"X": FEEDS}, {"Out": name}, {"col": place}) for place, name in enumerate(names)]
    said = {name: int(node.value(name)) for name in ATTRIBUTES} | dict(node.attributes)
    own = operator("quantize_linear", {name: name for name in names}, {y: y}, said)
    fetch = operator("fetch", {"X": y}, {"Out": FETCHES}, {"col": 0})
    block = number(1, 0) + number(2, -1)
    block += b"".join(inside(3, one) for one in (*lists, *tensors))
    block += b"".join(inside(4, one) for one in (*feeds, own, fetch))
    return inside(1, block) + inside(4, number(1, 0))


def operator(kind: str, inputs: Mapping[str, str], outputs: Mapping[str, str], attributes: Mapping[str, int]) -> bytes:
    """OpDesc; its attributes are integers."""
    described = [inside(1, text(1, parameter) + text(2, name)) for parameter, name in inputs.items()]
    described += [inside(2, text(1, parameter) + text(2, name)) for parameter, name in outputs.items()]
    given = (text(1, name) + number(2, INT) + number(3, int(value)) for name, value in attributes.items())
    return b"".join([*described, text(3, kind), *(inside(4, one) for one in given)])


def tensor_variable(name: str, shape: Iterable[int]) -> bytes:
    described = number(1, FLOAT32) + b"".join(number(2, size) for size in shape)
    return variable(name, number(1, TENSOR) + inside(3, inside(1, described)), persistable=False)


def variable(name: str, kind: bytes, *, persistable: bool) -> bytes:
    """VarDesc."""
    return text(1, name) + inside(2, kind) + number(3, int(persistable))


def number(field: int, value: int) -> bytes:
    """A field that holds an integer; a negative one has ten bytes."""
    return varint(field << 3) + varint(value)


def text(field: int, value: str) -> bytes:
    return inside(field, value.encode())


def inside(field: int, content: bytes) -> bytes:
    """A field that holds bytes, such as a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    rest, found = value & (1 << 64) - 1, bytearray()
    while rest > 127:
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes((*found, rest))
