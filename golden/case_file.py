"""Cases as one block of bytes that is quick to read: a JSON head, then raw little-endian arrays. Nothing is executed.

    tiebreak-cases 1        a line that names the format
    <64 hexadecimal digits> SHA-256 of everything after this line
    <length>                bytes of the head, which is padded with spaces up to the first array
    {"key": …}              the head: what the cases were made from, their ids, nodes, types, shapes and labels
    arrays                  in the order of `SECTIONS`, each beginning at a multiple of 16 bytes

What cases share is stored once and shared again after reading: nodes, tuples of inputs, flags and clauses.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Case, Expected, Node
from tiebreak.golden.problem import Array, kind_of

MAGIC = b"tiebreak-cases 1\n"
DIGITS = 64  # of a SHA-256
ALIGNMENT = 16  # what NumPy gives an array of its own
CODES = ("int8", "int16", "int32", "int64")  # codes are stored in the narrowest type that holds all of them
NO_RESULTS = -1  # as the size of results: the case has none
SAME = -1  # as the start of results in working precision: they are the exact ones
SECTIONS = ("cases", "inputs", "tensors", "places", "results", "codes", "states", "bits")
USABLE = sys.byteorder == "little"  # arrays are views of the bytes as they are

T = TypeVar("T", bound=Hashable)
KNOWN_NODES: WeakValueDictionary[str, Node] = WeakValueDictionary()


class Numbered(dict[T, int]):
    """Numbers things in the order in which they first come."""

    def __missing__(self, key: T) -> int:
        self[key] = len(self)
        return self[key]


def pack(cases: Sequence[Case], key: Mapping[str, Any]) -> bytes:
    """The cases as bytes; `key`, plain JSON data, says what they were made from."""
    nodes, types, origins = Numbered[str](), Numbered[str](), Numbered[str]()
    shapes, labels = Numbered[tuple[int, ...]](), Numbered[tuple[str, ...]]()
    shared = {id(case.inputs): case.inputs for case in cases}
    number = {known: i for i, known in enumerate(shared)}
    rows = [
        (nodes[c.node.key], number[id(c.inputs)], origins[c.origin], labels[c.flags], labels[c.clauses]) for c in cases
    ]
    tensors = [tensor for inputs in shared.values() for tensor in inputs]
    places, bits = laid_out([tensor.tobytes() for tensor in tensors])
    results, codes, states = results_of(cases)
    sections = {
        "cases": np.array(rows, "<i4"),
        "inputs": np.cumsum([0, *map(len, shared.values())], dtype="<i4"),
        "tensors": np.array([(types[kind_of(tensor).name], shapes[tensor.shape]) for tensor in tensors], "<i4"),
        "places": np.array(places, "<i8"),
        "results": np.array(results, "<i8"),
        "codes": narrowest(codes),
        "states": states,
        "bits": np.frombuffer(bits, np.uint8),
    }
    head = {
        "key": dict(key),
        "ids": [case.id for case in cases],
        **{"nodes": list(nodes), "types": list(types), "origins": list(origins)},
        **{"shapes": list(shapes), "labels": list(labels)},
        "sections": [[sections[name].dtype.name, sections[name].size] for name in SECTIONS],
    }
    return sealed(json.dumps(head, separators=(",", ":")).encode(), [sections[name] for name in SECTIONS])


def laid_out(parts: Sequence[bytes]) -> tuple[list[int], bytes]:
    """Where each part begins, at a multiple of the alignment, and all of them together."""
    starts, padded, at = [], [], 0
    for part in parts:
        starts.append(at)
        padded.append(part + bytes(-len(part) % ALIGNMENT))
        at += len(padded[-1])
    return starts, b"".join(padded)


def results_of(cases: Sequence[Case]) -> tuple[list[tuple[int, int, int]], Array, Array]:
    """For each case the start and size of its exact results and the start of the others; codes and states of all."""
    rows: list[tuple[int, int, int]] = []
    codes, states, at = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)], 0
    for case in cases:
        known = case.expected
        if known is None:
            rows.append((0, NO_RESULTS, SAME))
            continue
        size, same = known.exact.size, known.working is known.exact and known.working_state is known.exact_state
        rows.append((at, size, SAME if same else at + size))
        codes += [known.exact] if same else [known.exact, known.working]
        states += [known.exact_state] if same else [known.exact_state, known.working_state]
        at += size if same else 2 * size
    return rows, np.concatenate(codes), np.concatenate(states)


def narrowest(codes: Array) -> Array:
    low, high = (int(codes.min()), int(codes.max())) if codes.size else (0, 0)
    return codes.astype(next(t for t in CODES if np.iinfo(t).min <= low and high <= np.iinfo(t).max))


def sealed(head: bytes, arrays: Sequence[Array]) -> bytes:
    """The whole file; the head's length counts the spaces after it."""
    before = len(MAGIC) + DIGITS + 1
    length = len(head) + -(before + len(f"{len(head):012d}\n") + len(head)) % ALIGNMENT
    body = f"{length:012d}\n".encode() + head.ljust(length) + laid_out([array.tobytes() for array in arrays])[1]
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(data: bytes, key: Mapping[str, Any]) -> list[Case]:
    """The cases. Their arrays are read-only views of `data`.

    Raises DamagedFile if the bytes are not what `pack` made, or made from something else than `key` says.
    """
    try:
        head, at = checked_head(data)
        if head["key"] != dict(key):
            raise ValueError("made from something else")
        with no_collection():
            return cases_of(head, sections_of(data, head["sections"], at), data)
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError, InvalidInput) as error:
        raise DamagedFile(f"damaged cases: {error}") from None


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector from looking again and again at the many objects that are made, none of them garbage.

    It took as long as making them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def checked_head(data: bytes) -> tuple[dict[str, Any], int]:
    """The head and where the first array begins. ValueError for damage."""
    digest, body = len(MAGIC), len(MAGIC) + DIGITS + 1
    if (
        data[:digest] != MAGIC
        or data[digest:body] != hashlib.sha256(memoryview(data)[body:]).hexdigest().encode() + b"\n"
    ):
        raise ValueError("not what was written")
    start = data.index(b"\n", body) + 1
    end = start + int(data[body:start])
    return json.loads(data[start:end]), end


def sections_of(data: bytes, described: Sequence[tuple[str, int]], at: int) -> dict[str, tuple[Array, int]]:
    """Each section as a flat array, with the place where it begins."""
    found = {}
    for name, (kind, count) in zip(SECTIONS, described, strict=True):
        array = np.frombuffer(data, np.dtype(kind), count, at)
        found[name] = array, at
        at += array.nbytes + -array.nbytes % ALIGNMENT
    return found


def cases_of(head: Mapping[str, Any], sections: Mapping[str, tuple[Array, int]], data: bytes) -> list[Case]:
    nodes, origins = [known_node(text) for text in head["nodes"]], head["origins"]
    labels = [tuple(map(sys.intern, label)) for label in head["labels"]]
    inputs = inputs_of(head, sections, data)
    rows = sections["cases"][0].reshape(-1, 5).tolist()
    return [
        Case(name, nodes[node], inputs[given], origins[origin], labels[flags], labels[clauses], known)
        for name, (node, given, origin, flags, clauses), known in zip(
            head["ids"], rows, expected_of(sections), strict=True
        )
    ]


def known_node(text: str) -> Node:
    """The node with this key; one object for all cases that are alive."""
    node = KNOWN_NODES.get(text)
    if node is None:
        node = KNOWN_NODES[text] = node_from_key(text)
        vars(node)["key"] = text  # what `Node.key` would compute
    return node


def inputs_of(
    head: Mapping[str, Any], sections: Mapping[str, tuple[Array, int]], data: bytes
) -> list[tuple[Array, ...]]:
    types, shapes = [numpy_dtype(name) for name in head["types"]], [tuple(shape) for shape in head["shapes"]]
    bits = sections["bits"][1]
    tensors: list[Array] = [
        np.ndarray(shapes[shape], types[kind], data, bits + place)
        for (kind, shape), place in zip(
            sections["tensors"][0].reshape(-1, 2).tolist(), sections["places"][0].tolist(), strict=True
        )
    ]
    return [tuple(tensors[start:end]) for start, end in pairwise(sections["inputs"][0].tolist())]


def expected_of(sections: Mapping[str, tuple[Array, int]]) -> list[Expected | None]:
    codes, states = sections["codes"][0].astype(np.int64), sections["states"][0]
    codes.flags.writeable = False
    found: list[Expected | None] = []
    for start, size, working in sections["results"][0].reshape(-1, 3).tolist():
        if size == NO_RESULTS:
            found.append(None)
            continue
        exact = codes[start : start + size], states[start : start + size]
        other = exact if working == SAME else (codes[working : working + size], states[working : working + size])
        found.append(Expected(*exact, *other))
    return found
