"""Nodes and cases: what a backend compiles, and what it is then run on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Operator, Types
from tiebreak.golden.problem import Array, codes_of

TYPE_ATTRIBUTES = ("type", "T", "dtype", "output_dtype")


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
        kind, dtype = ELEMENT_TYPES[self.type], numpy_dtype(self.type)
        if isinstance(kind, FloatType):
            made = np.array(self.codes, f"uint{8 * dtype.itemsize}").view(dtype).reshape(self.shape)
        else:
            made = np.array(self.codes, np.int64).astype(dtype).reshape(self.shape)
        made.flags.writeable = False
        return made


@dataclass(frozen=True)
class Node:
    """An operator with its attributes and input and output types, in the spec's order.

    An attribute that says what its absence means is left off, however the node is made: written out or not, it is one
    node. `value` gives what holds either way.
    `baked` are the inputs that a backend may build in when it compiles; run() gets them all the same.
    """

    operator: str
    attributes: Mapping[str, Any]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    opset: int = 0  # of an ONNX operator, the version of the operator set whose text it follows; else 0
    baked: tuple[Constant, ...] = ()

    def __post_init__(self) -> None:
        spec = OPERATORS.get(self.operator)  # a program may be asked about operators that are not ours
        said = spec.normalised(self.attributes) if spec else dict(self.attributes)
        object.__setattr__(self, "attributes", MappingProxyType(said))

    def value(self, attribute: str) -> Any:
        """What holds for an attribute: what the node says, else the document's default; None if it must be there."""
        return self.attributes.get(attribute, get_operator(self.operator).attribute(attribute).default)

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
        return get_operator(self.operator).modes_of(self.attributes)

    @property
    def round_mode(self) -> str:
        """The mode asked for; empty where the document names none."""
        return self.modes[0] if len(self.modes) == 1 else ""


def node_from_key(key: str) -> Node:
    """The node that `Node.key` wrote."""
    data = json.loads(key)
    attributes = {k: tuple(v) if isinstance(v, list) else v for k, v in data["attributes"].items()}
    inputs, outputs = (
        tuple(TensorType(name, numpy_dtype(dtype)) for name, dtype in data[side]) for side in ("inputs", "outputs")
    )
    baked = tuple(
        Constant(name, dtype, tuple(shape), tuple(codes)) for name, dtype, shape, codes in data.get("constants", ())
    )
    return Node(data["operator"], attributes, inputs, outputs, int(data.get("opset", 0)), baked)


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


def make_node(
    operator: str,
    *,
    real: str = "",
    quantized: str = "",
    scale: str = "",
    attributes: Mapping[str, Any] | None = None,
    form: int = 0,
    zero_point: bool = True,
    opset: int = 0,
) -> Node:
    """A validated node.

    `real` and `quantized` are its real and its quantized element type, whichever goes in; float32 and uint8 unless an
    attribute (`type`, `T`, `dtype`, `output_dtype`) names the output's, which they must not contradict. `scale` is the
    scale's type, where it may be another. `form` picks the document's input names; `zero_point=False` leaves the
    optional input off; `opset` 0 means the first from 21 on that has such a node, for an ONNX operator.

    Raises InvalidInput for an unknown operator, type, attribute or attribute value.
    """
    spec = get_operator(operator)
    given = dict(attributes or {})
    check_request(spec, form, scale, zero_point, opset)
    real, quantized = asked_types(spec, real, quantized, given)
    types = Types(real, quantized, scale, zero_point, opset)
    written = spec.parse_attributes(with_type(spec, types, given))
    said = spec.normalised(written)
    if spec.opsets:
        types = replace(types, opset=version_of(spec, opset) if opset else spec.first_opset(types, said))
    # A version that was asked for must have what is written out; one that was found need not.
    inputs, outputs = spec.signature(types, written if opset else said)
    named = tensor_types(spec.forms[form][: len(inputs)], inputs), tensor_types(spec.outputs, outputs)
    return Node(operator, said, *named, types.opset)


def check_request(spec: Operator, form: int, scale: str, zero_point: bool, opset: int) -> None:
    """InvalidInput for what the operator has not, whatever its types."""
    if isinstance(form, bool) or not isinstance(form, int) or not 0 <= form < len(spec.forms):
        raise InvalidInput(f"{spec.id}: form {form!r} is not one of 0 to {len(spec.forms) - 1}")
    if scale and not spec.opsets:
        raise InvalidInput(f"{spec.id}: its scale has no type of its own")
    if not zero_point and not spec.optional_inputs:
        raise InvalidInput(f"{spec.id}: {spec.forms[form][-1]} can't be left off")
    if opset and not spec.opsets:
        raise InvalidInput(f"{spec.id}: opset {opset}: only ONNX operators have one")


def version_of(spec: Operator, opset: int) -> int:
    """The version of the operator that an operator set means: the last one up to it."""
    earlier = [version for version in spec.opsets if version <= opset]
    if not earlier or opset > spec.opsets[-1]:
        raise InvalidInput(f"{spec.id}: opset {opset} is not one of {spec.opsets[0]} to {spec.opsets[-1]}")
    return earlier[-1]


def asked_types(spec: Operator, real: str, quantized: str, attributes: Mapping[str, Any]) -> tuple[str, str]:
    """The real and the quantized type, from what was asked and from the attribute that names the output's type.

    InvalidInput if the two differ, or for a type that the operator has not.
    """
    attribute = next((a for a in spec.attributes if a.name in TYPE_ATTRIBUTES and attributes.get(a.name)), None)
    if attribute is not None:
        named = str(spec.parse_attributes_given({attribute.name: attributes[attribute.name]})[attribute.name])
        asked = real if spec.family == "dequantize" else quantized
        if asked and asked != named and not (spec.opsets and spec.family == "dequantize"):
            raise InvalidInput(f"{spec.id}: {attribute.name} is {named}, but the output's type {asked} is asked for")
        if spec.family == "dequantize":
            real = real or named
        else:
            quantized = named
    real = real or "float32"
    check_choice(spec.id, "real type", real, spec.real_types)
    if spec.quantized_types:
        quantized = quantized or ("uint8" if "uint8" in spec.quantized_types else spec.quantized_types[0])
        check_choice(spec.id, "quantized type", quantized, spec.quantized_types)
    return real, quantized


def with_type(spec: Operator, types: Types, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes with the required one that names the output's type, if it is absent."""
    named = types.real if spec.family == "dequantize" else types.quantized
    for attribute in spec.attributes:
        if attribute.required and attribute.name in ("type", "T"):
            attributes.setdefault(attribute.name, named)
    return attributes


def tensor_types(names: Sequence[str], kinds: Sequence[str]) -> tuple[TensorType, ...]:
    return tuple(TensorType(name, numpy_dtype(kind)) for name, kind in zip(names, kinds, strict=True))


def check_choice(operator: str, what: str, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        raise InvalidInput(f"{operator}: {what} {name!r} is not one of {', '.join(allowed)}")


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
    """A golden vector's stored results for both truths: codes (int64) and states (uint8, see problem.py).

    Flat, the outputs one after the other.
    """

    exact: Array
    exact_state: Array
    working: Array
    working_state: Array
