"""Makes nodes of the specified operators: from validated requests, and from the text of a node's key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Constant, Node, TensorType, tensor_type
from tiebreak.golden.onnx_types import NEWEST_OPSET
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Operator, Types

TYPE_ATTRIBUTES = ("type", "T", "dtype", "output_dtype", "to")


def make_node(
    operator: str,
    *,
    real: str = "",
    quantized: str = "",
    scale: str = "",
    operands: Sequence[str] = (),
    attributes: Mapping[str, Any] | None = None,
    form: int = 0,
    zero_point: bool = True,
    opset: int = 0,
) -> Node:
    """A validated node.

    `real` and `quantized` are its real and its quantized element type, whichever is the input's. They default to
    float32 and uint8, or to the output's type named by an attribute (`type`, `T`, `dtype`, `output_dtype`, `to`), which
    they must not contradict. `scale` is the scale's type, if it may differ. `operands` are the types of those operands
    that have types of their own, such as both matrices of a product; none: the first that each may have. `form` picks
    the document's input names. `zero_point=False` leaves the optional input off. For an ONNX operator `opset` 0 means
    the first operator set from 21 on that has such a node.

    Raises InvalidInput for an unknown operator, type, attribute or attribute value.
    """
    spec = get_operator(operator)
    given = dict(attributes or {})
    check_request(spec, form, scale, zero_point, opset)
    real, quantized = asked_types(spec, real, quantized, given)
    types = Types(real, quantized, scale, zero_point, opset, operand_types(spec, operands), form)
    written = spec.parse_attributes(with_type(spec, types, given))
    said = spec.normalised(written)
    if spec.opsets:
        types = replace(types, opset=operator_version(spec, opset) if opset else spec.first_opset(types, said))
    # A requested version must support even attributes that repeat their default; a version that was found need not.
    inputs, outputs = spec.signature(types, written if opset else said)
    named = tensor_types(spec.forms[form][: len(inputs)], inputs), tensor_types(spec.outputs, outputs)
    return Node(operator, said, *named, types.opset, document=spec)


def check_request(spec: Operator, form: int, scale: str, zero_point: bool, opset: int) -> None:
    """Raise InvalidInput for a request that the operator can't fulfil with any types."""
    if isinstance(form, bool) or not isinstance(form, int) or not 0 <= form < len(spec.forms):
        raise InvalidInput(f"{spec.id}: form {form!r} is not one of 0 to {len(spec.forms) - 1}")
    if scale and not spec.opsets:
        raise InvalidInput(f"{spec.id}: its scale has no type of its own")
    if not zero_point and not spec.optional_inputs:
        raise InvalidInput(f"{spec.id}: {spec.forms[form][-1]} can't be left off")
    if opset and not spec.opsets:
        raise InvalidInput(f"{spec.id}: opset {opset}: only ONNX operators have one")


def operator_version(spec: Operator, opset: int) -> int:
    """The version of the operator that is in force in an operator set. InvalidInput if there is none."""
    version = spec.version_at(opset)
    if not version or opset > NEWEST_OPSET:
        raise InvalidInput(f"{spec.id}: opset {opset} is not one of {spec.opsets[0]} to {NEWEST_OPSET}")
    return version


def asked_types(spec: Operator, real: str, quantized: str, attributes: Mapping[str, Any]) -> tuple[str, str]:
    """The real and the quantized type, from the request and from the attribute that names the output's type.

    Raises InvalidInput if the two contradict each other, or for a type that the operator lacks.
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
    real = real or ("float32" if "float32" in spec.real_types else spec.real_types[0])
    check_choice(spec.id, "real type", real, spec.real_types)
    if spec.quantized_types:
        usual = "uint8" if "uint8" in spec.quantized_types and spec.family != "cast" else spec.quantized_types[0]
        quantized = quantized or usual
        check_choice(spec.id, "quantized type", quantized, spec.quantized_types)
    return real, quantized


def operand_types(spec: Operator, asked: Sequence[str]) -> tuple[str, ...]:
    """The types of the operands that have their own: those asked for, or the first that each may have."""
    if not asked:
        return tuple(allowed[0] for allowed in spec.operand_types)
    if len(asked) != len(spec.operand_types):
        raise InvalidInput(f"{spec.id}: types of {len(asked)} operands; {len(spec.operand_types)} have their own")
    for name, allowed in zip(asked, spec.operand_types, strict=True):
        check_choice(spec.id, "operand type", name, allowed)
    return tuple(asked)


def with_type(spec: Operator, types: Types, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes, completed by the required one that names the output's type."""
    named = types.real if spec.family == "dequantize" else types.quantized
    for attribute in spec.attributes:
        if attribute.required and attribute.name in ("type", "T", "to"):
            attributes.setdefault(attribute.name, named)
    return attributes


def tensor_types(names: Sequence[str], kinds: Sequence[str]) -> tuple[TensorType, ...]:
    return tuple(tensor_type(name, kind) for name, kind in zip(names, kinds, strict=True))


def check_choice(operator: str, what: str, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        raise InvalidInput(f"{operator}: {what} {name!r} is not one of {', '.join(allowed)}")


def node_from_key(key: str) -> Node:
    """The node that `Node.key` wrote."""
    data = json.loads(key)
    attributes = {k: tuple(v) if isinstance(v, list) else v for k, v in data["attributes"].items()}
    inputs, outputs = (tuple(tensor_type(name, dtype) for name, dtype in data[side]) for side in ("inputs", "outputs"))
    baked = tuple(
        Constant(name, dtype, tuple(shape), tuple(codes)) for name, dtype, shape, codes in data.get("constants", ())
    )
    document = OPERATORS.get(data["operator"])
    return Node(data["operator"], attributes, inputs, outputs, int(data.get("opset", 0)), baked, document)
