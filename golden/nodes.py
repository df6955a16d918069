"""Nodes and cases: a backend compiles a node and then runs its cases."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from tiebreak.golden.elements import CARRIERS, FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array, array_of, codes_of


@dataclass(frozen=True)
class TensorType:
    """The name of one input or output, and the dtype (NumPy's or ml_dtypes') of its arrays; shapes are free.

    `held` names the element type where no array has it: int48, whose values are held in int64.
    """

    name: str
    dtype: np.dtype[Any]
    held: str = ""

    @cached_property
    def element(self) -> str:
        """The name of the element type."""  # kept, since NumPy makes a dtype's name anew each time
        return self.held or str(self.dtype.name)


def tensor_type(name: str, element: str) -> TensorType:
    """An input or output of an element type. MissingType if ml_dtypes lacks it."""
    return TensorType(name, numpy_dtype(element), element if element in CARRIERS else "")


@dataclass(frozen=True)
class Constant:
    """An input known at compile time. `codes` are bit patterns of floats or values of integers, in row-major order."""

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
    """The part of an operator that its nodes use; `golden.operators.model.Operator` has it."""

    def normalised(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes in the node's form, without those that only repeat their default."""
        ...

    def default(self, attribute: str) -> Any:
        """The value that an absent attribute means; None if the attribute is required."""
        ...

    def allowed_modes(self, attributes: Mapping[str, Any]) -> tuple[str, ...]:
        """The rounding modes that the document allows with these attributes."""
        ...

    def shape_of(self, node: Node, inputs: tuple[Array, ...], /) -> tuple[int, ...]:
        """The shape of the first output."""
        ...

    def bounded(self, attributes: Mapping[str, Any], /) -> bool:
        """Whether the document allows every integer between two ends."""
        ...


@dataclass(frozen=True)
class Node:
    """An operator with its attributes and input and output types, in the spec's order.

    An attribute that only repeats its default is left off, so that nodes which mean the same are equal. `value` gives
    an attribute's value, default included.
    `baked` are the inputs that a backend may build in when it compiles; run() gets them too.
    `document` is None for an operator that Tiebreak does not specify.
    """

    operator: str
    attributes: Mapping[str, Any]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    opset: int = 0  # for an ONNX operator, the version of the operator set that it follows; otherwise 0
    baked: tuple[Constant, ...] = ()
    document: Document | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        said = self.document.normalised(self.attributes) if self.document else dict(self.attributes)
        object.__setattr__(self, "attributes", MappingProxyType(said))

    def value(self, attribute: str) -> Any:
        """An attribute's value, or else the document's default; None if a required one is missing."""
        if attribute in self.attributes or self.document is None:
            return self.attributes.get(attribute)
        return self.document.default(attribute)

    @cached_property
    def key(self) -> str:
        """A canonical JSON text, equal for equal nodes, from which the node can be rebuilt."""
        content: dict[str, Any] = {
            "operator": self.operator,
            "attributes": dict(self.attributes),
            "inputs": [[t.name, t.element] for t in self.inputs],
            "outputs": [[t.name, t.element] for t in self.outputs],
        }
        if self.opset:
            content["opset"] = self.opset
        if self.baked:
            content["constants"] = [[c.name, c.type, c.shape, c.codes] for c in self.baked]
        return json.dumps(content, sort_keys=True)

    @cached_property
    def constants(self) -> Mapping[str, Array]:
        """The inputs known at compile time, by name; usually none."""
        return MappingProxyType({constant.name: constant.array() for constant in self.baked})

    @cached_property
    def real(self) -> FloatType:
        """The real element type: the first input's, or the output's if the input is quantized."""
        names = [t.element for t in (*self.inputs[:1], *self.outputs, *self.inputs[1:])]
        return FLOAT_TYPES[next(name for name in names if name in FLOAT_TYPES)]

    @cached_property
    def quantized(self) -> IntegerType:
        """The integer element type: the output's, or the input's if the output is real."""
        names = [t.element for t in (*self.outputs[:1], *self.inputs)]
        return INTEGER_TYPES[next(name for name in names if name in INTEGER_TYPES)]

    @cached_property
    def input_type(self) -> str:
        return self.inputs[0].element

    @cached_property
    def output_type(self) -> str:
        return self.outputs[0].element

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The rounding modes that the document allows: one, several if it leaves them open, none if nothing rounds."""
        return self.document.allowed_modes(self.attributes) if self.document else ()

    @cached_property
    def is_bounded(self) -> bool:
        """Whether every integer conforms between what working precision gives in ROUND_DOWN and in ROUND_UP."""
        return self.document is not None and self.document.bounded(self.attributes)

    @cached_property
    def round_mode(self) -> str:
        """The rounding mode, if the document allows exactly one; otherwise empty."""
        return self.modes[0] if len(self.modes) == 1 else ""


def with_constants(node: Node, inputs: Mapping[str, Array]) -> Node:
    """The node with some inputs known at compile time. InvalidInput for a name or type that the node lacks."""
    types = {tensor.name: tensor.dtype for tensor in node.inputs}
    for name, array in inputs.items():
        if types.get(name) != array.dtype:
            raise InvalidInput(f"{node.operator}: no input {name!r} of type {array.dtype.name}")
    elements = {tensor.name: tensor.element for tensor in node.inputs}
    baked = [
        Constant(name, elements[name], array.shape, tuple(codes_of(array).reshape(-1).tolist()))
        for name, array in inputs.items()
    ]
    return replace(node, baked=tuple(baked))


@dataclass(frozen=True)
class Case:
    """A node with concrete, bit-exact inputs; `origin` is vector, generated or typed."""

    id: str
    node: Node
    inputs: tuple[Array, ...]
    origin: str = "typed"
    flags: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    expected: Expected | None = field(default=None, compare=False)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first output."""
        document = self.node.document
        return document.shape_of(self.node, self.inputs) if document else self.inputs[0].shape

    @property
    def size(self) -> int:
        """The number of elements of the first output."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Expected:
    """A golden vector's results, exact and in working precision: flat arrays, the outputs one after the other.

    Codes are int64: an integer's value, or the bit pattern of a real result. States are uint8; see problem.py.
    """

    exact: Array
    exact_state: Array
    working: Array
    working_state: Array
