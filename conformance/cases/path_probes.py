"""Path probes: the same few elements at every place where a kernel may take another path.

An operator gives an element the same result wherever it stands: in the body of a vector loop or in its tail, in a
small array or a large one, with one scale for all or one for each slice, with the scale built in or given at run time.
A probe is a node, one value for each of its parameters, and a few inputs; its cases lay the same elements out in
arrays of 1 to 70 elements, at every position, and in the other arrangements below. paths/dependence.py compares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tiebreak.conformance.cases.situations import exercised
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Axis, OperatorUnderTest
from tiebreak.conformance.operators.path_probe import PathProbe, Value
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node, with_constants
from tiebreak.golden.operators import FAMILIES, OPERATORS
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, real_code

PREFIX = "path/"
LONGEST = 70
LARGE = 65_539  # odd, and beyond what the known runtimes give to one thread
FULL_TURNS = (17, 70)  # at level quick, the lengths at which every value stands at every position
SINGLE_TURNS = (*range(1, 17), 33)


@dataclass(frozen=True)
class Arrangement:
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


def path_cases(operators: Sequence[str], level: str) -> list[Case]:
    """The cases of every probe of these operators; the same ones at every call."""
    return [
        case_of(record, probe, arrangement)
        for record, probe in probes()
        if record.id in operators
        for arrangement in arrangements(record, probe, level)
    ]


def probes() -> list[tuple[OperatorUnderTest, PathProbe]]:
    """Every operator's, in the order in which runs number their cases: by family, ONNX's before the others."""

    def place(record: OperatorUnderTest) -> tuple[int, bool]:
        spec = OPERATORS[record.id]
        return FAMILIES.index(spec.family), not spec.opsets

    return [(record, probe) for record in sorted(TESTED.values(), key=place) for probe in record.path_probes or ()]


def axis_of(record: OperatorUnderTest) -> Axis:
    """One that says nothing if the operator has one value of each parameter for all."""
    return record.axis or Axis()


def arrangements(record: OperatorUnderTest, probe: PathProbe, level: str) -> Iterator[Arrangement]:
    """At quick fewer lengths for an operator's first probe, and for its others a few arrangements only."""
    if level != "quick":
        yield from scan(range(1, LONGEST + 1), probe.scanned)
    if probe.scanned or level != "quick":
        yield from scan(FULL_TURNS, len(probe.values))
    if level == "quick" and not probe.scanned:
        yield from few_arrangements(record)
        return
    if level == "quick":
        yield from (Arrangement((length,), length % len(probe.values), len(probe.values)) for length in SINGLE_TURNS)
    yield from shapes(record, probe)
    yield from per_axis(record)
    yield from constants(record, probe)


def scan(lengths: Sequence[int], values: int) -> Iterator[Arrangement]:
    """Each of so many values at every position of arrays of these lengths."""
    for length in lengths:
        for turn in range(values):
            yield Arrangement((length,), turn, values)


def few_arrangements(record: OperatorUnderTest) -> Iterator[Arrangement]:
    """Every value also per tensor with inputs, both in a row and in the shape of the one arrangement per axis."""
    yield from scan((67,), 2)
    for shape in ((3,), (67,), (3, 67)):
        yield Arrangement(shape)
    yield from list(per_axis(record))[:1]
    yield Arrangement((67,), constants=(-1,))


def shapes(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    axis = axis_of(record)
    if not axis.always_last:
        yield from scan_scalars(probe)
    for shape in ((3,), (67,), (3, 23), (1, 3, 5, 7)):
        yield Arrangement(shape)
    yield Arrangement((LARGE // 7 + 1, 7) if axis.always_last else (LARGE,))
    if axis.broadcast:
        yield Arrangement((67,), ones=True)


def scan_scalars(probe: PathProbe) -> Iterator[Arrangement]:
    for turn in range(len(probe.values)):
        yield Arrangement((), turn)


def per_axis(record: OperatorUnderTest) -> Iterator[Arrangement]:
    """A last axis, a first one, one between, and blocks; every slice has the same parameters."""
    axis = axis_of(record)
    if axis.attribute or axis.broadcast:
        yield Arrangement((3, 67), axis=1)
        yield Arrangement((67, 3), axis=0)
        yield Arrangement((2, 3, 5, 7), axis=1)
    if axis.block_attribute:
        yield Arrangement((2, 64), axis=1, block=16)


def constants(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    """All parameters built in, in several arrangements; and each of them alone."""
    for shape in ((67,), (3,), (3, 23)):
        yield Arrangement(shape, constants=(-1,))
    if not axis_of(record).always_last:
        yield Arrangement((), 1, constants=(-1,))
    for arrangement in list(per_axis(record))[:1]:
        yield replace(arrangement, constants=(-1,))
    for which in range(len(probe.parameters)):
        yield Arrangement((67,), constants=(which,))


def case_of(record: OperatorUnderTest, probe: PathProbe, arrangement: Arrangement) -> Case:
    node = node_of(record, probe, arrangement)
    first, *others = (tensor.dtype.name for tensor in node.inputs)
    values = probe.values[: arrangement.values or None]
    x = Tensor(first, arrangement.shape, arranged([code_of(value, first) for value in values], arrangement))
    shape = parameter_shape(axis_of(record), arrangement)
    parameters = [filled(kind, shape, value) for kind, value in zip(others, probe.parameters, strict=True)]
    names = [tensor.name for tensor in node.inputs[1:]]
    built_in = dict(zip(names, parameters, strict=True))
    if -1 not in arrangement.constants:
        built_in = {names[which]: parameters[which] for which in arrangement.constants}
    if built_in and arrangement.constants:
        node = with_constants(node, built_in)
    case = Case(id_of(record.id, probe.label, arrangement, names), node, (x.array(), *parameters), "generated")
    return replace(case, clauses=exercised(case))


def node_of(record: OperatorUnderTest, probe: PathProbe, arrangement: Arrangement) -> Node:
    """The probe's node with the attributes that the arrangement needs."""
    keywords, axis = dict(probe.node), axis_of(record)
    attributes = dict(keywords.pop("attributes", {}))
    if arrangement.axis is not None and axis.attribute:
        attributes[axis.attribute] = arrangement.axis
    if arrangement.block:
        attributes[axis.block_attribute] = arrangement.block
    return make_node(record.id, **keywords, attributes=attributes)


def parameter_shape(how: Axis, arrangement: Arrangement) -> tuple[int, ...]:
    shape, axis = arrangement.shape, arrangement.axis
    if how.always_last:
        return shape[-1:]
    if axis is None:
        return (1,) if arrangement.ones else ()
    if arrangement.block:
        return tuple(-(-size // arrangement.block) if i == axis else size for i, size in enumerate(shape))
    ones = (1,) * (len(shape) - axis - 1) if how.broadcast else ()
    return (shape[axis], *ones)


def code_of(value: Value, kind: str) -> int:
    return real_code(value, kind) if isinstance(ELEMENT_TYPES[kind], FloatType) else int(value)


def filled(kind: str, shape: tuple[int, ...], value: Value) -> Array:
    return Tensor(kind, shape, [code_of(value, kind)] * math.prod(shape)).array()


def arranged(codes: Sequence[int], arrangement: Arrangement) -> list[int]:
    """The codes in turn; in a large array only at telling positions, among the last of them."""
    size = math.prod(arrangement.shape)
    if size < LARGE // 2:
        return [codes[(i + arrangement.turn) % len(codes)] for i in range(size)]
    result = [codes[-1]] * size
    for turn, position in enumerate(telling_positions(size)):
        result[position] = codes[turn % len(codes)]
    return result


def telling_positions(size: int) -> list[int]:
    """Both ends, and the neighbourhood of powers of two and of sixteenths, where threads may part the work."""
    edges = [1 << power for power in range(7, size.bit_length())] + [size * part // 16 for part in range(1, 16)]
    near = {edge + step for edge in edges for step in range(-2, 3)}
    return sorted(near | set(range(LONGEST)) | set(range(size - LONGEST, size)))


def id_of(operator: str, label: str, arrangement: Arrangement, names: Sequence[str]) -> str:
    """Says what the case is, in words that stay the same."""
    words = ["x".join(map(str, arrangement.shape)) or "rank-0"]
    words += [f"axis-{arrangement.axis}"] if arrangement.axis is not None else []
    words += [f"blocks-{arrangement.block}"] if arrangement.block else []
    words += ["ones"] if arrangement.ones else []
    words += ["constant-" + ("all" if which < 0 else names[which]) for which in arrangement.constants]
    words += [f"of-{arrangement.values}"] if arrangement.values else []
    return f"{PREFIX}{operator}/{label}/{'-'.join(words)}/{arrangement.turn}"
