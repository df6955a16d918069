"""A pattern as operators of LiteRT's schema on named tensors. Rows are the batch: [rows, 1, width, 1] around images.

Without images they are [rows, width], and [rows, 1, k] times [rows, k, 1] if both factors of a product are inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Operand, Pattern, PatternStep, ScalePair
from tiebreak.golden.problem import Array

SPATIAL = {"MaxPool", "AveragePool", "GlobalAveragePool", "Resize", "Conv"}  # they take images
MATRICES = {"MatMul", "Gemm"}
IMAGES, ROWS, PRODUCTS = "images", "rows", "products"  # layouts
NAMES = {
    QUANTIZE: "QUANTIZE",
    DEQUANTIZE: "DEQUANTIZE",
    "Relu": "RELU",
    "Add": "ADD",
    "Sub": "SUB",
    "Mul": "MUL",
    "MaxPool": "MAX_POOL_2D",
    "AveragePool": "AVERAGE_POOL_2D",
    "GlobalAveragePool": "MEAN",
    "Concat": "CONCATENATION",
    "Sigmoid": "LOGISTIC",
    "Tanh": "TANH",
    "Softmax": "SOFTMAX",
}
RESIZERS = {"nearest": "RESIZE_NEAREST_NEIGHBOR", "linear": "RESIZE_BILINEAR"}


@dataclass(frozen=True)
class Held:
    """A tensor's element type, its scale and zero point, and its value if it is a constant.

    `shape` is of inputs and constants; the runtime works out the others.
    """

    type: str
    shape: tuple[int, ...] = ()
    pair: ScalePair | None = None
    constant: Array | None = None


@dataclass(frozen=True)
class LiteRtOperator:
    """An operator by the schema's name. `activation` is what it applies to its result."""

    name: str
    inputs: tuple[str, ...]
    output: str
    activation: str = "NONE"


@dataclass(frozen=True)
class Graph:
    """Operators in the order in which they run; the last one gives the output. `axis` is that of a row's values."""

    tensors: Mapping[str, Held]
    operators: tuple[LiteRtOperator, ...]
    inputs: tuple[str, ...]
    axis: int

    @property
    def output(self) -> str:
        return self.operators[-1].output


def layout_of(pattern: Pattern) -> str:
    """How rows are laid out. Unsupported if the pattern's operations take tensors of unlike ranks."""
    found = {step.operation for step in pattern.steps}
    if (images := sorted(found & SPATIAL)) and (others := sorted(found & (MATRICES | {"Softmax"}))):
        raise Unsupported(f"{images[0]} takes images, and {others[0]} the last axis: tensors of unlike ranks")
    if found & MATRICES and any(operand.columns and not operand.constant for operand in pattern.operands):
        return PRODUCTS
    return IMAGES if images else ROWS


def laid_out(operand: Operand, array: Array, layout: str) -> Array:
    """The operand's rows, or constant, as the model has it; filters are [columns, 1, k, 1], weights [columns, k]."""
    if operand.constant and operand.columns:
        columns = array[0].T
        return np.ascontiguousarray(columns[:, None, :, None] if layout == IMAGES else columns)
    if layout == PRODUCTS:
        return np.ascontiguousarray(array[:, :, None] if operand.columns else array[:, None, :])
    if operand.columns:
        raise Unsupported(f"{operand.name}: the filter of CONV_2D is a constant, one for all rows")
    return np.ascontiguousarray(array[:, None, :, None] if layout == IMAGES else array)


def float_graph(pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> Graph:
    """Each step as its operator in float32, between DEQUANTIZE and QUANTIZE."""
    layout = layout_of(pattern)
    reads = {step.inputs[0]: pairs[step.pair] for step in pattern.steps if step.operation == DEQUANTIZE}
    tensors: dict[str, Held] = {}
    operators: list[LiteRtOperator] = []
    for operand in pattern.operands:
        array = laid_out(operand, rows[operand.name], layout)
        value = array if operand.constant else None
        tensors[operand.name] = Held(operand.type, array.shape, reads.get(operand.name), value)
    for step in pattern.steps:
        operators += operators_of(step, layout)
        tensors |= further_tensors(step)
        if step.operation == "Conv":
            tensors[f"{step.output}:bias"] = zeros(tensors[origin(pattern, step.inputs[1])].shape[0])
        pair = pairs[step.pair] if step.operation == QUANTIZE else None
        tensors[step.output] = Held(pair.type if pair else REAL, (), pair)
    check_pairs(pattern, pairs, tensors)
    return Graph(tensors, tuple(operators), tuple(one.name for one in pattern.inputs), 2 if layout == IMAGES else -1)


def check_pairs(pattern: Pattern, pairs: Mapping[str, ScalePair], tensors: Mapping[str, Held]) -> None:
    """Unsupported if a DQ has another pair than its tensor: in LiteRT they belong to the tensor."""
    for step in pattern.steps:
        if step.operation == DEQUANTIZE and tensors[step.inputs[0]].pair != pairs[step.pair]:
            raise Unsupported(f"{step.inputs[0]} has one scale and zero point in LiteRT, for all its readers")


def origin(pattern: Pattern, value: str) -> str:
    """The operand of which a value is made."""
    made = {step.output: step for step in pattern.steps}
    while value in made:
        value = made[value].inputs[0]
    return value


def operators_of(step: PatternStep, layout: str) -> Iterator[LiteRtOperator]:
    if step.operation == "Clip":
        yield from clip(step)
    elif step.operation == "Resize":
        yield LiteRtOperator(RESIZERS[step.attributes["mode"]], (*step.inputs, ":size"), step.output)
    elif step.operation in MATRICES:
        yield LiteRtOperator("BATCH_MATMUL" if layout == PRODUCTS else "FULLY_CONNECTED", step.inputs, step.output)
    elif step.operation == "Conv":
        yield LiteRtOperator("CONV_2D", (*step.inputs, f"{step.output}:bias"), step.output)
    else:
        further = (":axes",) if step.operation == "GlobalAveragePool" else ()
        yield LiteRtOperator(NAMES[step.operation], (*step.inputs, *further), step.output)


def is_relu6(step: PatternStep) -> bool:
    return (step.attributes["min"], step.attributes["max"]) == (0, 6)


def clip(step: PatternStep) -> Iterator[LiteRtOperator]:
    """RELU6, or the smaller of the value and the upper limit, then the larger of that and the lower limit."""
    if is_relu6(step):
        yield LiteRtOperator("RELU6", step.inputs, step.output)
        return
    yield LiteRtOperator("MINIMUM", (*step.inputs, f"{step.output}:max"), f"{step.output}:least")
    yield LiteRtOperator("MAXIMUM", (f"{step.output}:least", f"{step.output}:min"), step.output)


def further_tensors(step: PatternStep) -> dict[str, Held]:
    """The tensors that a step has beside its operands and its output."""
    if step.operation == "Clip" and not is_relu6(step):
        ends = {f"{step.output}:{end}": number(step.attributes[end]) for end in ("min", "max")}
        return {**ends, f"{step.output}:least": Held(REAL)}
    if step.operation == "Resize":
        return {":size": integers([1, 4])}
    return {":axes": integers([1, 2])} if step.operation == "GlobalAveragePool" else {}


def number(value: float) -> Held:
    return Held(REAL, (), None, np.array(value, np.float32))


def zeros(count: int) -> Held:
    """A bias, which CONV_2D needs."""
    return Held(REAL, (count,), None, np.zeros(count, np.float32))


def integers(values: Sequence[int]) -> Held:
    return Held("int32", (len(values),), None, np.array(values, np.int32))
