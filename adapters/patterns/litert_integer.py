"""What LiteRT's converter makes of DEQUANTIZE > operator > QUANTIZE: the operator on quantized tensors.

Seen with the converter of TensorFlow 2.21. RELU and RELU6 go into the operator before them. LiteRT's 8-bit
quantization specification says of pools and of resizing: "Input and outputs must all have same scale/zero_point". So
QUANTIZE rescales what a pool gives, and what is to be resized. LOGISTIC, TANH and SOFTMAX have the output's scale and
zero point that the specification fixes. A clip is cut above before it is rescaled, and below after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.adapters.patterns.litert_graph import RESIZERS, Graph, Held, LiteRtOperator
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import REAL, ScalePair

ACTIVATIONS = {"RELU", "RELU6"}
FUSING = {"ADD", "SUB", "MUL", "CONV_2D", "FULLY_CONNECTED"}  # they apply an activation to their result
CLIP = ["MINIMUM", "MAXIMUM"]
KEEPING = {"MAX_POOL_2D", "AVERAGE_POOL_2D", "MINIMUM"}  # the scale of their input
# Scale and zero point, counted from the middle of the type, by bits.
FIXED: Mapping[str, Mapping[int, tuple[float, int]]] = {
    "LOGISTIC": {8: (1 / 256, -128), 16: (1 / 32768, 0)},
    "SOFTMAX": {8: (1 / 256, -128), 16: (1 / 32768, 0)},
    "TANH": {8: (1 / 128, 0), 16: (1 / 32768, 0)},
}


def integer_graph(graph: Graph) -> Graph:
    """The graph with each such part replaced. Unsupported if it has none."""
    lowering = IntegerLowering(dict(graph.tensors), graph.operators, {one.output: one for one in graph.operators})
    operators = needed([new for one in graph.operators for new in lowering.lowered(one)])
    if operators == graph.operators:
        raise Unsupported("no operator of this pattern lies alone between DEQUANTIZE and QUANTIZE")
    used = {name for one in operators for name in (*one.inputs, one.output)}
    tensors = {name: held for name, held in lowering.tensors.items() if name in used}
    return replace(graph, tensors=tensors, operators=operators)


def needed(operators: Sequence[LiteRtOperator]) -> tuple[LiteRtOperator, ...]:
    """Those that the last one needs."""
    wanted, found = {operators[-1].output}, list[LiteRtOperator]()
    for one in reversed(operators):
        if one.output in wanted:
            wanted |= set(one.inputs)
            found.append(one)
    return tuple(reversed(found))


@dataclass(frozen=True)
class IntegerLowering:
    """The tensors so far, the float graph's operators, and the one that makes each of its values."""

    tensors: dict[str, Held]
    operators: Sequence[LiteRtOperator]
    made: Mapping[str, LiteRtOperator]

    def lowered(self, one: LiteRtOperator) -> Iterator[LiteRtOperator]:
        """What stands for this operator: itself, unless it is a QUANTIZE that ends such a part."""
        part = self.part(one) if one.name == "QUANTIZE" else None
        if part is None:
            yield one
        elif not part:
            yield replace(one, inputs=(self.quantized(one.inputs[0]),))
        elif [each.name for each in part] == CLIP:
            least = self.new(f"{one.output}:quantized", self.tensors[one.output])
            yield from self.integer(part[0], least)
            yield from self.integer(replace(part[1], inputs=(least, part[1].inputs[1])), one.output)
        else:
            activation = part[1].name if len(part) > 1 else "NONE"
            yield from self.integer(replace(part[0], activation=activation), one.output)

    def part(self, quantize: LiteRtOperator) -> list[LiteRtOperator] | None:
        """The operators between DEQUANTIZE and this QUANTIZE; None if the converter leaves them in float."""
        value, found = quantize.inputs[0], list[LiteRtOperator]()
        while value in self.made and self.made[value].name != "DEQUANTIZE":
            if sum(one.inputs.count(value) for one in self.operators) != 1:
                return None
            found.insert(0, self.made[value])
            value = self.made[value].inputs[0]
        inputs = found[0].inputs if found else quantize.inputs
        return found if is_one([one.name for one in found]) and all(map(self.is_known, inputs)) else None

    def is_known(self, name: str) -> bool:
        """Whether a value is dequantized or a constant."""
        return self.quantized(name) != name or self.tensors[name].constant is not None

    def quantized(self, name: str) -> str:
        """The tensor that is dequantized; any other tensor itself."""
        return self.made[name].inputs[0] if name in self.made and self.made[name].name == "DEQUANTIZE" else name

    def integer(self, one: LiteRtOperator, output: str) -> Iterator[LiteRtOperator]:
        """The operator on quantized tensors, with QUANTIZE before or after it where a scale is not the output's own."""
        inputs, target = [self.quantized(name) for name in one.inputs], self.tensors[output]
        check(one, [self.tensors[name] for name in inputs], target)
        source = self.tensors[inputs[0]]
        given = fixed(one.name, source) if one.name in FIXED else source if one.name in KEEPING else target
        if one.name in RESIZERS.values() and same(source) != same(target):
            before = inputs[0]
            inputs[0] = self.new(f"{output}:before", target)
            yield LiteRtOperator("QUANTIZE", (before,), inputs[0])
        if one.name == "CONV_2D":
            inputs[2] = self.bias(*inputs)
        inputs[1:] = [self.constant(name, self.tensors[inputs[0]]) for name in inputs[1:]]
        if same(given) == same(target):
            yield replace(one, inputs=tuple(inputs), output=output)
            return
        after = self.new(f"{output}:after", given)
        yield replace(one, inputs=tuple(inputs), output=after)
        yield LiteRtOperator("QUANTIZE", (after,), output)

    def new(self, name: str, like: Held) -> str:
        """The name of a new tensor of the same type, scale and zero point."""
        self.tensors[name] = Held(like.type, (), like.pair)
        return name

    def constant(self, name: str, like: Held) -> str:
        """A limit as a quantized constant; any other tensor as it is."""
        held = self.tensors[name]
        if held.constant is None or held.type != REAL or like.pair is None:
            return name
        codes = np.clip(np.rint(held.constant / like.pair.scale) + like.pair.zero_point, *like.pair.ends)
        self.tensors[f"{name}:quantized"] = replace(like, shape=held.shape, constant=codes.astype(like.type))
        return f"{name}:quantized"

    def bias(self, x: str, w: str, name: str) -> str:
        """The bias as int32, or int64 beside int16. Its scale is the product of both others."""
        held, first, second = self.tensors[name], self.tensors[x].pair, self.tensors[w].pair
        assert first is not None and second is not None and held.constant is not None
        kind = "int64" if first.type == "int16" else "int32"
        pair = ScalePair(first.scale * second.scale, 0, kind)
        self.tensors[f"{name}:quantized"] = Held(kind, held.shape, pair, held.constant.astype(kind))
        return f"{name}:quantized"


def check(one: LiteRtOperator, inputs: Sequence[Held], target: Held) -> None:
    """Unsupported for what the converter never makes and a kernel would take for something else."""
    types = {held.type for held in inputs if held.pair is not None}
    if one.name == "CONCATENATION" and types == {"int16"} and any(same(held) != same(target) for held in inputs):
        raise Unsupported("converter: 'tfl.concatenation' op quantization parameters violate the same scale constraint")
    if one.name == "CONV_2D" and inputs[0].type == "int16" and inputs[1].type != "int8":
        raise Unsupported("CONV_2D of int16 has int8 weights: with int16 activations LiteRT quantizes 16x8")


def is_one(names: Sequence[str]) -> bool:
    """Whether these operators become one, or no operator, or a clip."""
    if len(names) < 2 or names == CLIP:
        return "QUANTIZE" not in names
    return len(names) == 2 and names[0] in FUSING and names[1] in ACTIVATIONS


def same(held: Held) -> tuple[str, ScalePair | None]:
    return held.type, held.pair


def fixed(name: str, source: Held) -> Held:
    """A tensor of the source's type with the scale and the zero point that the operator's output has."""
    ends = INTEGER_TYPES[source.type]
    scale, offset = FIXED[name][ends.bits]
    return Held(
        source.type, (), ScalePair(np.float32(scale), offset + (ends.lowest + ends.highest + 1) // 2, source.type)
    )
