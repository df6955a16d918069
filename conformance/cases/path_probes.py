"""Path probes: the same few elements at every place where a kernel may take another path.

An operator gives an element the same result wherever it stands: in the body of a vector loop or in its tail, in a
small array or a large one, with one scale for all or one for each slice, with the scale built in or given at run time.
A probe is a node, one value for each of its parameters, and a few inputs; its cases lay the same elements out in
arrays of 1 to 70 elements, at every position, and in the other layouts of `layouts`. paths/dependence.py compares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tiebreak.conformance.cases.situations import exercised
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node, with_constants
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, real_code

PREFIX = "path/"
LONGEST = 70
LARGE = 65_539  # odd, and beyond what the known runtimes give to one thread
FULL_TURNS = (17, 70)  # at level quick, the lengths at which every value stands at every position
SINGLE_TURNS = (*range(1, 17), 33)
EVEN, AWAY = "ROUND_NEAREST_TOWARD_EVEN", "ROUND_NEAREST_TOWARD_INFINITY"

Value = Fraction | float | int

# Multiples of a half of this are exact in float32 and float16; times its rounded reciprocal, 7.5 of it is below 7.5.
STEP = Fraction(41, 64)
LOW, HIGH = -64 * STEP, 191 * STEP  # 255 steps apart


@dataclass(frozen=True)
class Probe:
    """`node` are make_node's keywords, `parameters` a value for each input but the first.

    Of `values`, the inputs, the first `scanned` stand at every position of every length at level full; the last one
    fills large arrays: no kernel should err on it, since its element counts 65,000 times. `label` is unique among the
    operator's probes.
    """

    operator: str
    label: str
    node: Mapping[str, Any]
    parameters: tuple[Value, ...]
    values: tuple[Value, ...]
    scanned: int = 0


@dataclass(frozen=True)
class Layout:
    """How the elements lie: the array's shape, the axis on which parameters vary, and in blocks of how many.

    `ones` makes each parameter an array of one element, `constants` are the inputs that are built in (-1: all of
    them), `values` is how many of the probe's take turns, beginning with number `turn`.
    """

    shape: tuple[int, ...]
    turn: int = 0
    values: int = 0
    axis: int | None = None
    block: int = 0
    ones: bool = False
    constants: tuple[int, ...] = ()


def steps(base: Fraction = Fraction(0), far: int = 10**30, smallest: int = 149) -> tuple[Value, ...]:
    """Seven, so that no vector's length divides them evenly.

    A tie, one that the reciprocal moves, one past any integer, NaN, a subnormal 2^-smallest, a third tie (where the
    range begins at zero, the three tell the five tie rules apart, and the reciprocal from them), and an ordinary one.
    """
    first, moved, third = (base + Fraction(twice, 2) * STEP for twice in (5, 15 if base else -15, 3))
    return first, moved, Fraction(far), math.nan, Fraction(1, 1 << smallest), third, base + Fraction(1003, 10) * STEP


def quantizing() -> Iterator[Probe]:
    linear, v2 = "onnx.QuantizeLinear", "tensorflow.QuantizeV2"
    yield Probe(linear, "float32-uint8", {"quantized": "uint8"}, (STEP, 101), steps(), 4)
    yield Probe(linear, "float32-int8", {"quantized": "int8"}, (STEP, -3), steps())
    half = {"real": "float16", "quantized": "uint8"}
    yield Probe(linear, "float16-uint8", half, (STEP, 101), steps(far=60000, smallest=24))
    even, away = ({"attributes": {"round_mode": mode}} for mode in (EVEN, AWAY))
    yield Probe("ngraph.Quantize", "even-uint8", {"quantized": "uint8", **even}, (STEP, 101), steps(), 4)
    # What a runtime that has neither a zero point nor a division of its own can run too.
    plain = tuple(value if value != value else value * Fraction(1, 4) / STEP for value in steps())
    yield Probe("ngraph.Quantize", "away-int8", {"quantized": "int8", **away}, (Fraction(1, 4), 0), plain)
    yield Probe(v2, "combined-uint8", {"attributes": {"T": "uint8"}}, (LOW, HIGH), steps(LOW), 4)
    scaled = {"T": "int8", "mode": "SCALED", "round_mode": "HALF_TO_EVEN"}
    yield Probe(v2, "scaled-int8", {"attributes": scaled}, (-128 * STEP, 127 * STEP), steps())
    yield Probe(v2, "first-uint8", {"attributes": {"T": "uint8", "mode": "MIN_FIRST"}}, (LOW, HIGH), steps(LOW))


def dequantizing() -> Iterator[Probe]:
    """Inputs that other orders of the steps, or one of them fused, give another result for; then both ends and others.

    The last gives zero, or an end of the range.
    """
    linear, ngraph, tensorflow = "onnx.DequantizeLinear", "ngraph.Dequantize", "tensorflow.Dequantize"
    tenth, ends = Fraction(1, 10), (Fraction(-13, 10), Fraction(27, 10))
    signed = {"quantized": "int8"}
    yield Probe(linear, "uint8-float32", {"quantized": "uint8"}, (tenth, 131), (92, 94, 0, 255, 1, 200, 131), 2)
    yield Probe(
        linear, "int8-float16", {"real": "float16", **signed}, (tenth, -77), (-122, -113, -128, 127, 0, 70, -77)
    )
    yield Probe(ngraph, "int8-float32", signed, (tenth, -99), (-127, -122, -128, 127, 0, 70, -99), 2)
    yield Probe(tensorflow, "combined-uint8", {"quantized": "uint8"}, ends, (51, 96, 128, 255, 1, 200, 0), 2)
    scaled = {"quantized": "int8", "attributes": {"mode": "SCALED"}}
    yield Probe(tensorflow, "scaled-int8", scaled, (-ends[1], ends[1]), (-124, -121, -128, 127, 1, 70, 0))
    first = {"quantized": "uint8", "attributes": {"mode": "MIN_FIRST"}}
    yield Probe(tensorflow, "first-uint8", first, ends, (20, 51, 128, 255, 1, 200, 0))


def fake_steps(base: Fraction = Fraction(0), smallest: int = 149) -> tuple[Value, ...]:
    """NaN is the last, since the documents leave it open: every other result may be a unit in the last place off."""
    first, moved, far, nan, *others = steps(base, smallest=smallest)
    return first, moved, far, *others, nan


def fake() -> Iterator[Probe]:
    openvino, vars_, v4 = (
        "openvino.FakeQuantize",
        "tensorflow.FakeQuantWithMinMaxVars",
        "tensorflow.QuantizeAndDequantizeV4",
    )
    outputs = Fraction(-7, 10), Fraction(13, 10)
    yield Probe(openvino, "256", {"attributes": {"levels": 256}}, (LOW, HIGH, *outputs), fake_steps(LOW), 2)
    yield Probe(openvino, "16", {"attributes": {"levels": 16}}, (LOW, LOW + 15 * STEP, *outputs), fake_steps(LOW))
    yield Probe(vars_, "8-bits", {}, (LOW, HIGH), fake_steps(LOW), 2)
    narrow = {"attributes": {"num_bits": 4, "narrow_range": True}}
    yield Probe(vars_, "4-bits-narrow", narrow, (-8 * STEP, 6 * STEP), fake_steps(-8 * STEP))
    yield Probe(f"{vars_}PerChannel", "8-bits", {}, (LOW, HIGH), fake_steps(LOW), 2)
    signed = (-128 * STEP, 127 * STEP)
    yield Probe(v4, "even", {"attributes": {"range_given": True}}, signed, fake_steps(), 2)
    up = {"range_given": True, "round_mode": "HALF_UP"}
    yield Probe(v4, "up-float64", {"real": "float64", "attributes": up}, signed, fake_steps(smallest=1074))


PROBES = (*quantizing(), *dequantizing(), *fake())
AXIS_ATTRIBUTES = {
    "ngraph.Quantize": "axes",
    "ngraph.Dequantize": "axes",
    "onnx.QuantizeLinear": "axis",
    "onnx.DequantizeLinear": "axis",
    "openvino.FakeQuantize": "",  # limits broadcast
    "tensorflow.QuantizeV2": "axis",
    "tensorflow.Dequantize": "axis",
    "tensorflow.QuantizeAndDequantizeV4": "axis",
}
IN_BLOCKS = ("onnx.QuantizeLinear", "onnx.DequantizeLinear")
TAKES_ONES = ("openvino.FakeQuantize",)
PER_CHANNEL = ("tensorflow.FakeQuantWithMinMaxVarsPerChannel",)  # always, on the last axis


def path_cases(operators: Sequence[str], level: str) -> list[Case]:
    """The cases of every probe of these operators; the same ones at every call."""
    wanted = [probe for probe in PROBES if probe.operator in operators]
    return [case_of(probe, layout) for probe in wanted for layout in layouts(probe, level)]


def layouts(probe: Probe, level: str) -> Iterator[Layout]:
    """At quick fewer lengths for an operator's first probe, and for its others a few layouts only."""
    if level != "quick":
        yield from scan(range(1, LONGEST + 1), probe.scanned)
    if probe.scanned or level != "quick":
        yield from scan(FULL_TURNS, len(probe.values))
    if level == "quick" and not probe.scanned:
        yield from few_layouts(probe)
        return
    if level == "quick":
        yield from (Layout((length,), length % len(probe.values), len(probe.values)) for length in SINGLE_TURNS)
    yield from shapes(probe)
    yield from per_axis(probe)
    yield from constants(probe)


def scan(lengths: Sequence[int], values: int) -> Iterator[Layout]:
    """Each of so many values at every position of arrays of these lengths."""
    for length in lengths:
        for turn in range(values):
            yield Layout((length,), turn, values)


def few_layouts(probe: Probe) -> Iterator[Layout]:
    """Every value also per tensor with inputs, both in a row and in the shape of the one layout per axis."""
    yield from scan((67,), 2)
    for shape in ((3,), (67,), (3, 67)):
        yield Layout(shape)
    yield from list(per_axis(probe))[:1]
    yield Layout((67,), constants=(-1,))


def shapes(probe: Probe) -> Iterator[Layout]:
    if probe.operator not in PER_CHANNEL:
        yield from scan_scalars(probe)
    for shape in ((3,), (67,), (3, 23), (1, 3, 5, 7)):
        yield Layout(shape)
    yield Layout((LARGE // 7 + 1, 7) if probe.operator in PER_CHANNEL else (LARGE,))
    if probe.operator in TAKES_ONES:
        yield Layout((67,), ones=True)


def scan_scalars(probe: Probe) -> Iterator[Layout]:
    for turn in range(len(probe.values)):
        yield Layout((), turn)


def per_axis(probe: Probe) -> Iterator[Layout]:
    """A last axis, a first one, one between, and blocks; every slice has the same parameters."""
    if probe.operator in AXIS_ATTRIBUTES:
        yield Layout((3, 67), axis=1)
        yield Layout((67, 3), axis=0)
        yield Layout((2, 3, 5, 7), axis=1)
    if probe.operator in IN_BLOCKS:
        yield Layout((2, 64), axis=1, block=16)


def constants(probe: Probe) -> Iterator[Layout]:
    """All parameters built in, in several layouts; and each of them alone."""
    for shape in ((67,), (3,), (3, 23)):
        yield Layout(shape, constants=(-1,))
    if probe.operator not in PER_CHANNEL:
        yield Layout((), 1, constants=(-1,))
    for layout in list(per_axis(probe))[:1]:
        yield replace(layout, constants=(-1,))
    for which in range(len(probe.parameters)):
        yield Layout((67,), constants=(which,))


def case_of(probe: Probe, layout: Layout) -> Case:
    node = node_of(probe, layout)
    first, *others = (tensor.dtype.name for tensor in node.inputs)
    values = probe.values[: layout.values or None]
    x = Tensor(first, layout.shape, arranged([code_of(value, first) for value in values], layout))
    shape = parameter_shape(probe, layout)
    parameters = [filled(kind, shape, value) for kind, value in zip(others, probe.parameters, strict=True)]
    names = [tensor.name for tensor in node.inputs[1:]]
    built_in = dict(zip(names, parameters, strict=True))
    if -1 not in layout.constants:
        built_in = {names[which]: parameters[which] for which in layout.constants}
    if built_in and layout.constants:
        node = with_constants(node, built_in)
    case = Case(id_of(probe, layout, names), node, (x.array(), *parameters), "generated")
    return replace(case, clauses=exercised(case))


def node_of(probe: Probe, layout: Layout) -> Node:
    """The probe's node with the attributes that the layout needs."""
    keywords, attribute = dict(probe.node), AXIS_ATTRIBUTES.get(probe.operator, "")
    attributes = dict(keywords.pop("attributes", {}))
    if layout.axis is not None and attribute:
        attributes[attribute] = (layout.axis,) if attribute == "axes" else layout.axis
    if layout.block:
        attributes["block_size"] = layout.block
    return make_node(probe.operator, **keywords, attributes=attributes)


def parameter_shape(probe: Probe, layout: Layout) -> tuple[int, ...]:
    shape, axis = layout.shape, layout.axis
    if probe.operator in PER_CHANNEL:
        return shape[-1:]
    if axis is None:
        return (1,) if layout.ones else ()
    if layout.block:
        return tuple(-(-size // layout.block) if i == axis else size for i, size in enumerate(shape))
    ones = (1,) * (len(shape) - axis - 1) if probe.operator == "openvino.FakeQuantize" else ()
    return (shape[axis], *ones)


def code_of(value: Value, kind: str) -> int:
    return real_code(value, kind) if isinstance(ELEMENT_TYPES[kind], FloatType) else int(value)


def filled(kind: str, shape: tuple[int, ...], value: Value) -> Array:
    return Tensor(kind, shape, [code_of(value, kind)] * math.prod(shape)).array()


def arranged(codes: Sequence[int], layout: Layout) -> list[int]:
    """The codes in turn; in a large array only at telling positions, among the last of them."""
    size = math.prod(layout.shape)
    if size < LARGE // 2:
        return [codes[(i + layout.turn) % len(codes)] for i in range(size)]
    result = [codes[-1]] * size
    for turn, position in enumerate(telling_positions(size)):
        result[position] = codes[turn % len(codes)]
    return result


def telling_positions(size: int) -> list[int]:
    """Both ends, and the neighbourhood of powers of two and of sixteenths, where threads may part the work."""
    edges = [1 << power for power in range(7, size.bit_length())] + [size * part // 16 for part in range(1, 16)]
    near = {edge + step for edge in edges for step in range(-2, 3)}
    return sorted(near | set(range(LONGEST)) | set(range(size - LONGEST, size)))


def id_of(probe: Probe, layout: Layout, names: Sequence[str]) -> str:
    """Says what the case is, in words that stay the same."""
    words = ["x".join(map(str, layout.shape)) or "rank-0"]
    words += [f"axis-{layout.axis}"] if layout.axis is not None else []
    words += [f"blocks-{layout.block}"] if layout.block else []
    words += ["ones"] if layout.ones else []
    words += ["constant-" + ("all" if which < 0 else names[which]) for which in layout.constants]
    words += [f"of-{layout.values}"] if layout.values else []
    return f"{PREFIX}{probe.operator}/{probe.label}/{'-'.join(words)}/{layout.turn}"
