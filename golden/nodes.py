"""Nodes and cases: what a backend compiles, and what it is then run on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array, array_of, codes_of


@dataclass(frozen=True)
class TensorType:
    """The name and element type (a NumPy or ml_dtypes dtype) of one input or output; shapes are free."""

    name: str
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Constant:
    """An input that is known when the node is compiled: bit patterns of a float, values of an integer, row-major."""

    name: str
    type: str
    shape: tuple[int, ...]
    codes: tuple[int, ...]

    def array(self) -> Array:
        """A read-only array."""
        made = array_of(self.type, self.shape, self.codes)
        made.flags.writeable = False
        return made


class Document(Protocol):
    """What a node must know of its operator; `golden.operators.model.Operator` is one."""

    def normalised(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes in the node's form, those left off that say what their absence means."""
        ...

    def default(self, attribute: str) -> Any:
        """What an absent attribute means; None if it must be there."""
        ...

    def allowed_modes(self, attributes: Mapping[str, Any]) -> tuple[str, ...]:
        """The rounding modes that the document allows with these attributes."""
        ...


@dataclass(frozen=True)
class Node:
    """An operator with its attributes and input and output types, in the spec's order.

    An attribute that says what its absence means is left off, however the node is made: written out or not, it is one
    node. `value` gives what holds either way.
    `baked` are the inputs that a backend may build in when it compiles; run() gets them all the same.
    `document` is None for an operator that is not ours: a program may be asked about any.
    """

    operator: str
    attributes: Mapping[str, Any]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    opset: int = 0  # of an ONNX operator, the version of the operator set whose text it follows; else 0
    baked: tuple[Constant, ...] = ()
    document: Document | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        said = self.document.normalised(self.attributes) if self.document else dict(self.attributes)
        object.__setattr__(self, "attributes", MappingProxyType(said))

    def value(self, attribute: str) -> Any:
        """What holds for an attribute: what the node says, else the document's default; None if it must be there."""
        if attribute in self.attributes or self.document is None:
            return self.attributes.get(attribute)
        return self.document.default(attribute)

    @cached_property
    def key(self) -> str:
        """A canonical JSON text: equal for equal nodes, and enough to build the node again."""
        content: dict[str, Any] = {
            "operator": self.operator,
            "attributes": dict(self.attributes),
            "inputs": [[t.name, t.dtype.name] for t in self.inputs],
            "outputs": [[t.name, t.dtype.name] for t in self.outputs],
        }
        if self.opset:
            content["opset"] = self.opset
        if self.baked:
            content["constants"] = [[c.name, c.type, c.shape, c.codes] for c in self.baked]
        return json.dumps(content, sort_keys=True)

    @cached_property
    def constants(self) -> Mapping[str, Array]:
        """The inputs that are known when the node is compiled, by name; usually none."""
        return MappingProxyType({constant.name: constant.array() for constant in self.baked})

    @cached_property
    def real(self) -> FloatType:
        """The real type: the output's where the input is quantized."""
        names = [t.dtype.name for t in (*self.inputs[:1], *self.outputs, *self.inputs[1:])]
        return FLOAT_TYPES[next(name for name in names if name in FLOAT_TYPES)]

    @cached_property
    def quantized(self) -> IntegerType:
        """The integer type: the output's, or the input's where the output is real."""
        names = [t.dtype.name for t in (*self.outputs[:1], *self.inputs)]
        return INTEGER_TYPES[next(name for name in names if name in INTEGER_TYPES)]

    @property
    def input_type(self) -> str:
        return str(self.inputs[0].dtype.name)

    @property
    def output_type(self) -> str:
        return str(self.outputs[0].dtype.name)

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The rounding modes that the document allows: one if it says which, several if open, none if none rounds."""
        return self.document.allowed_modes(self.attributes) if self.document else ()

    @property
    def round_mode(self) -> str:
        """The mode asked for; empty where the document names none."""
        return self.modes[0] if len(self.modes) == 1 else ""


def with_constants(node: Node, inputs: Mapping[str, Array]) -> Node:
    """The node with some of its inputs known when it is compiled. InvalidInput for a name or type that it has not."""
    types = {tensor.name: tensor.dtype for tensor in node.inputs}
    for name, array in inputs.items():
        if types.get(name) != array.dtype:
            raise InvalidInput(f"{node.operator}: no input {name!r} of type {array.dtype.name}")
    baked = [
        Constant(name, array.dtype.name, array.shape, tuple(codes_of(array).reshape(-1).tolist()))
        for name, array in inputs.items()
    ]
    return replace(node, baked=tuple(baked))


@dataclass(frozen=True)
class Case:
    """A node with concrete inputs, bit-exact; `origin` is vector, generated or typed."""

    id: str
    node: Node
    inputs: tuple[Array, ...]
    origin: str = "typed"
    flags: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    expected: Expected | None = field(default=None, compare=False)

    @property
    def size(self) -> int:
        return int(self.inputs[0].size)


@dataclass(frozen=True)
class Expected:
    """A golden vector's stored results, exact and in working precision: flat arrays, the outputs one after the other.

    Codes are int64: an integer's value, or the bit pattern of a real result. States are uint8, as problem.py has them.
    """

    exact: Array
    exact_state: Array
    working: Array
    working_state: Array
