"""A pattern in PyTorch: each operator in float32, and what torch.ao makes of DQ > operator > Q.

Eager mode replaces FloatFunctional's add, mul, cat and matmul by those of QFunctional, and nn.Linear, Conv2d, Sigmoid
and Softmax by modules of torch.ao.nn.quantized: functions that are told the output's scale and zero point. For other
operators FX mode runs the same function on quantized tensors (torch.ao.quantization.fx._lower_to_native_backend,
is_copy_node, is_fixed_qparams_node): the result has the operand's scale and zero point, or after tanh fixed ones. If
the pattern's are others it is dequantized and quantized again. There is no quantized subtraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tiebreak.adapters.patterns.onnx_graph import SPATIAL
from tiebreak.adapters.patterns.torch_program import TorchKind, TorchLine, TorchValue, needed
from tiebreak.adapters.torch_classic import QUANTIZED
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, Pattern, PatternStep, ScalePair

FUNCTIONAL = "nn.functional"
POOL: tuple[Any, ...] = ((1, 2),)  # the window, which is the step too
ONE_BY_ONE: tuple[Any, ...] = ((1, 1), (0, 0), (1, 1), 1)  # stride, padding, dilation, groups
# torch's function of an operator, and its arguments after the operands.
FUNCTIONS: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "Relu": ("relu", ()),
    "Add": ("add", ()),
    "Sub": ("sub", ()),
    "Mul": ("mul", ()),
    "MaxPool": (f"{FUNCTIONAL}.max_pool2d", POOL),
    "AveragePool": (f"{FUNCTIONAL}.avg_pool2d", POOL),
    "GlobalAveragePool": (f"{FUNCTIONAL}.adaptive_avg_pool2d", (1,)),
    "Sigmoid": ("sigmoid", ()),
    "Tanh": ("tanh", ()),
    "Softmax": (f"{FUNCTIONAL}.softmax", (-1,)),
    "Conv": (f"{FUNCTIONAL}.conv2d", ()),
}
# torch.ops.quantized's function that is told a scale and a zero point.
RESCALING = {"Add": "add", "Mul": "mul", "Sigmoid": "sigmoid", "Softmax": "softmax"}
SAME_FUNCTION = {"Relu", "Clip", "MaxPool", "AveragePool", "GlobalAveragePool", "Resize", "Tanh"}
WITH_RELU = {"Add", "Mul", "MatMul", "Gemm", "Conv"}
PRODUCTS = {"MatMul", "Gemm"}


def float_lines(pattern: Pattern, pairs: Mapping[str, ScalePair]) -> tuple[TorchLine, ...]:
    return tuple(finished(pattern, [float_line(pattern, step, pairs) for step in pattern.steps]))


def quantized_lines(pattern: Pattern, pairs: Mapping[str, ScalePair]) -> tuple[TorchLine, ...]:
    lowering = QuantizedLowering(pattern, pairs)
    lines = [line for step in pattern.steps for line in lowering.lowered(step)]
    return tuple(finished(pattern, needed(lines)))


def finished(pattern: Pattern, lines: Sequence[TorchLine]) -> Iterator[TorchLine]:
    """The lines, and one that takes the codes."""
    yield from lines
    if pattern.steps[-1].operation == QUANTIZE:
        yield TorchLine("codes", "int_repr", (TorchValue(lines[-1].output),))


def name_of(pattern: Pattern, value: str) -> str:
    """The name of a value in the lines. Operands have a prefix, so that none is called like a module."""
    return f"x_{value}" if value in {operand.name for operand in pattern.operands} else value


def float_line(pattern: Pattern, step: PatternStep, pairs: Mapping[str, ScalePair]) -> TorchLine:
    values = tuple(TorchValue(name_of(pattern, name)) for name in step.inputs)
    if step.operation == QUANTIZE:
        return quantize(values[0], pairs[step.pair], step.output)
    if step.operation == DEQUANTIZE:
        return TorchLine(step.output, "dequantize", values)
    return TorchLine(step.output, *call(pattern, step, values))


def quantize(value: TorchValue, pair: ScalePair, output: str) -> TorchLine:
    return TorchLine(output, "quantize_per_tensor", (value, *numbers(pair), TorchKind(quantized_kind(pair.type))))


def quantized_kind(kind: str) -> str:
    if kind not in QUANTIZED:
        raise Unsupported(f"torch's quantized dtypes are {', '.join(QUANTIZED.values())}, not {kind}")
    return QUANTIZED[kind]


def numbers(pair: ScalePair) -> tuple[float, int]:
    return float(pair.scale), pair.zero_point


def call(pattern: Pattern, step: PatternStep, values: tuple[TorchValue, ...]) -> tuple[str, tuple[Any, ...]]:
    """The function of an operator, which takes float and where it can quantized tensors, and its arguments."""
    if step.operation == "Clip":
        return "clamp", (*values, float(step.attributes["min"]), float(step.attributes["max"]))
    if step.operation == "Concat":
        return "cat", (values, -1)
    if step.operation == "Resize":
        mode = {"nearest": "nearest", "linear": "bilinear"}[step.attributes["mode"]]
        return f"{FUNCTIONAL}.interpolate", (*values, None, (1.0, 2.0), mode)
    if step.operation in PRODUCTS:
        return (f"{FUNCTIONAL}.linear" if has_weights(pattern, step) else "matmul"), values
    function, further = FUNCTIONS[step.operation]
    return function, (*values, *further)


def has_weights(pattern: Pattern, step: PatternStep) -> bool:
    """Whether the second factor is a constant."""
    made, value = {one.output: one for one in pattern.steps}, step.inputs[1]
    while value in made:
        value = made[value].inputs[0]
    return any(operand.constant for operand in pattern.operands if operand.name == value)


@dataclass(frozen=True)
class QuantizedLowering:
    """Replaces DQ > operator > Q, also with Relu before Q where torch has one function for both."""

    pattern: Pattern
    pairs: Mapping[str, ScalePair]

    @property
    def made(self) -> dict[str, PatternStep]:
        return {step.output: step for step in self.pattern.steps}

    def lowered(self, step: PatternStep) -> Iterator[TorchLine]:
        part = self.part(step) if step.operation == QUANTIZE else []
        if not part:
            yield float_line(self.pattern, step, self.pairs)
            return
        first, relu = part[0], "_relu" if len(part) > 1 else ""
        dequantized = [self.made[name] for name in first.inputs]
        values = tuple(TorchValue(name_of(self.pattern, one.inputs[0])) for one in dequantized)
        pair = self.pairs[step.pair]
        if first.operation in SAME_FUNCTION:
            yield from self.same_function(first, values, self.pairs[dequantized[0].pair], pair, step.output)
        else:
            yield from self.rescaling(first, values, relu, (*numbers(pair),), step.output)

    def part(self, quantize: PatternStep) -> list[PatternStep]:
        """The operators between DQ and this Q; none if torch.ao leaves them in float."""
        value, found = quantize.inputs[0], list[PatternStep]()
        while value in self.made and self.made[value].operation != DEQUANTIZE:
            if sum(step.inputs.count(value) for step in self.pattern.steps) != 1:
                return []
            found.insert(0, self.made[value])
            value = self.made[value].inputs[0]
        if not found or found[0].operation == "Sub" or not is_one(found):
            return []
        return found if all(map(self.is_dequantized, found[0].inputs)) else []

    def is_dequantized(self, value: str) -> bool:
        return value in self.made and self.made[value].operation == DEQUANTIZE

    def same_function(
        self, step: PatternStep, values: tuple[TorchValue, ...], source: ScalePair, target: ScalePair, output: str
    ) -> Iterator[TorchLine]:
        """The float function on quantized tensors."""
        line = TorchLine(output, *call(self.pattern, step, values))
        quantized_kind(source.type)
        if given(step, source) == target:
            yield line
            return
        yield replace(line, output=f"{output}_kept")
        yield TorchLine(f"{output}_float", "dequantize", (TorchValue(f"{output}_kept"),))
        yield quantize(TorchValue(f"{output}_float"), target, output)

    def rescaling(
        self, step: PatternStep, values: tuple[TorchValue, ...], relu: str, pair: tuple[Any, ...], output: str
    ) -> Iterator[TorchLine]:
        """torch.ops.quantized's function, with weights that are packed first."""
        if step.operation == "Concat":
            yield TorchLine(output, "ops.quantized.cat", (values, self.last_axis(), *pair))
        elif step.operation in RESCALING:
            further = (-1,) if step.operation == "Softmax" else ()
            yield TorchLine(output, f"ops.quantized.{RESCALING[step.operation]}{relu}", (*values, *further, *pair))
        elif step.operation == "Conv":
            yield TorchLine(f"{output}_packed", "ops.quantized.conv2d_prepack", (values[1], None, *ONE_BY_ONE))
            yield TorchLine(output, f"ops.quantized.conv2d{relu}", (values[0], TorchValue(f"{output}_packed"), *pair))
        elif has_weights(self.pattern, step):
            yield TorchLine(f"{output}_packed", "ops.quantized.linear_prepack", (values[1], None))
            yield TorchLine(output, f"ops.quantized.linear{relu}", (values[0], TorchValue(f"{output}_packed"), *pair))
        else:
            yield TorchLine(output, "ops.quantized.matmul", (*values, *pair))

    def last_axis(self) -> int:
        """quantized.cat counts from the front only."""
        operations = {step.operation for step in self.pattern.steps}
        return 3 if operations & SPATIAL or not operations & PRODUCTS else 2 if "MatMul" in operations else 1


def is_one(part: Sequence[PatternStep]) -> bool:
    """Whether these operators have one function."""
    names = [step.operation for step in part]
    return len(names) == 1 or (len(names) == 2 and names[0] in WITH_RELU and names[1] == "Relu")


def given(step: PatternStep, source: ScalePair) -> ScalePair:
    """The pair of what a function gives: the operand's; after tanh 1/128 and the middle of the type."""
    if step.operation != "Tanh":
        return source
    lowest, highest = source.ends
    return ScalePair(type(source.scale)(1 / 128), (lowest + highest + 1) // 2, source.type)
