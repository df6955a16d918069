"""Path probes: the same few elements at every place where a kernel may take another code path.

An element's result must not depend on its place: the body of a vector loop or its tail, a small or a large array.
Nor may it matter whether there is one scale or one per slice, or whether the scale is a constant or an input.

A probe is a node, one value for each of its parameters, and a few inputs. Its cases put these elements at every
position of arrays of 1 to 70 elements and into the other arrangements below. paths/dependence.py compares the results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tiebreak.conformance.cases.brief import BRIEF
from tiebreak.conformance.cases.situations import exercised_clauses
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
LARGE = 65_539  # odd, and more than the known runtimes give to one thread
FULL_TURNS = (17, 70)  # the lengths at which level quick puts every value at every position
SINGLE_TURNS = (*range(1, 17), 33)


@dataclass(frozen=True)
class Arrangement:
    """How the elements are laid out: the array's shape, the axis along which parameters vary, and the block size.

    `ones` makes each parameter an array of one element. `constants` are the numbers of the inputs that are built in
    (-1: all). The first `values` values of the probe (0: all) take turns, beginning with number `turn`.
    """

    shape: tuple[int, ...]
    turn: int = 0
    values: int = 0
    axis: int | None = None
    block: int = 0
    ones: bool = False
    constants: tuple[int, ...] = ()


def path_cases(operators: Sequence[str], level: str) -> list[Case]:
    """The cases of every probe of these operators, in a fixed order."""
    return [
        probe_case(record, probe, arrangement)
        for record, probe in all_probes()
        if record.id in operators
        for arrangement in arrangements(record, probe, level)
    ]


def all_probes() -> list[tuple[OperatorUnderTest, PathProbe]]:
    """Every probe with its operator, in the order in which runs number their cases: by family, ONNX first."""

    def place(record: OperatorUnderTest) -> tuple[int, bool]:
        spec = OPERATORS[record.id]
        return FAMILIES.index(spec.family), not spec.opsets

    return [(record, probe) for record in sorted(TESTED.values(), key=place) for probe in record.path_probes or ()]


def tested_axis(record: OperatorUnderTest) -> Axis:
    """The operator's axis; an empty one if its parameters are always scalars."""
    return record.axis or Axis()


def arrangements(record: OperatorUnderTest, probe: PathProbe, level: str) -> Iterator[Arrangement]:
    """The arrangements of a level, each once; of whole blocks where the operator has no others."""
    found = arrangements_of_any_length(record, probe, level)
    axis = tested_axis(record)
    yield from dict.fromkeys(filled_up(one, axis.measured) for one in found) if axis.whole_blocks else found


def filled_up(arrangement: Arrangement, block: int) -> Arrangement:
    """The arrangement with its last axis lengthened to whole blocks."""
    *outer, last = arrangement.shape
    return replace(arrangement, shape=(*outer, -(-last // block) * block))


def arrangements_of_any_length(record: OperatorUnderTest, probe: PathProbe, level: str) -> Iterator[Arrangement]:
    """The arrangements of a level: quick has fewer lengths for the first probe and few arrangements for the others.

    Level brief has a single length at which every value stands everywhere.
    """
    if probe.constants_only:
        found = list(each_constant(record, probe))
        yield from found if level != BRIEF else [one for one in found if one.constants and one.axis is None][-1:]
        return
    if level == BRIEF:
        yield from brief_arrangements(record, probe)
        return
    if level != "quick":
        yield from every_position(range(1, LONGEST + 1), probe.scanned)
    if probe.scanned or level != "quick":
        yield from every_position(FULL_TURNS, len(probe.values))
    if level == "quick" and not probe.scanned:
        yield from few_arrangements(record, probe)
        return
    if level == "quick":
        yield from (Arrangement((length,), length % len(probe.values), len(probe.values)) for length in SINGLE_TURNS)
    yield from shape_arrangements(record, probe)
    yield from axis_arrangements(record)
    yield from constant_arrangements(record, probe)


def each_constant(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    """No parameter as a constant, each alone and all; then all of them with one value for each slice."""
    sliced = tested_axis(record).always_last
    shape = (3, 7) if sliced else (row_of_blocks(record) or 7,)
    for constants in ((), *((which,) for which in range(len(probe.parameters))), (-1,)):
        yield Arrangement(shape, constants=constants)
    for arrangement in list(axis_arrangements(record))[1:2]:
        yield Arrangement((7, 3), axis=arrangement.axis)
        yield Arrangement((7, 3), axis=arrangement.axis, constants=(-1,))


def row_of_blocks(record: OperatorUnderTest) -> int:
    """The length of a row that has a value of each parameter, and no part of a block; 0 of other operators."""
    axis = tested_axis(record)
    return axis.measured * axis.one_for_each_block


def brief_arrangements(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    """For the first probe one of each kind of place, since answers may differ in any; few for the others."""
    if probe.scanned:
        yield from every_position(FULL_TURNS[:1], len(probe.values))
        yield from list(scan_scalars(probe))[: tested_axis(record).takes_scalars]
        yield large_arrangement(record)
        yield from list(axis_arrangements(record))[1:]
        yield from (Arrangement((67,), constants=(which,)) for which in range(len(probe.parameters)))
    yield from few_arrangements(record, probe)


def every_position(lengths: Sequence[int], values: int) -> Iterator[Arrangement]:
    """Each of the first `values` values at every position of arrays of these lengths."""
    for length in lengths:
        for turn in range(values):
            yield Arrangement((length,), turn, values)


def few_arrangements(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    """Two values at every position, a few shapes per tensor, one arrangement per axis and one with constants."""
    yield from every_position((67,), 2)
    for shape in ((3,), (67,), (3, 67)):
        yield Arrangement(shape)
    yield from list(axis_arrangements(record))[:1]
    if probe.parameters:
        yield Arrangement((67,), constants=(-1,))


def shape_arrangements(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    axis = tested_axis(record)
    if axis.takes_scalars:
        yield from scan_scalars(probe)
    for shape in ((3,), (67,), (3, 23), (1, 3, 5, 7)):
        yield Arrangement(shape)
    yield large_arrangement(record)
    if axis.broadcast:
        yield Arrangement((67,), ones=True)


def large_arrangement(record: OperatorUnderTest) -> Arrangement:
    axis = tested_axis(record)
    if axis.always:
        return Arrangement((7, LARGE // 7 + 1))
    row = 7 if axis.always_last else 4 * axis.measured
    return Arrangement((LARGE // row + 1, row) if row else (LARGE,))


def scan_scalars(probe: PathProbe) -> Iterator[Arrangement]:
    for turn in range(len(probe.values)):
        yield Arrangement((), turn)


def axis_arrangements(record: OperatorUnderTest) -> Iterator[Arrangement]:
    """Parameters along the last, the first and a middle axis, and in blocks; every slice has the same values."""
    axis = tested_axis(record)
    if axis.attribute or axis.broadcast:
        yield Arrangement((3, 67), axis=1)
        yield Arrangement((67, 3), axis=0)
        yield Arrangement((2, 3, 5, 7), axis=1)
    if axis.channels:
        yield from (Arrangement(shape, axis=len(shape) - 1) for shape in ((3, 67), (67, 3)))
    if axis.block_attribute:
        yield Arrangement((2, 64), axis=1, block=16)
    if axis.measured:
        yield from (Arrangement((rows, 2 * axis.measured)) for rows in (2, 3, 33))


def constant_arrangements(record: OperatorUnderTest, probe: PathProbe) -> Iterator[Arrangement]:
    """All parameters as constants, in several arrangements; then each parameter alone. Nothing without parameters."""
    if not probe.parameters:
        return
    for shape in ((67,), (3,), (3, 23)):
        yield Arrangement(shape, constants=(-1,))
    if tested_axis(record).takes_scalars:
        yield Arrangement((), 1, constants=(-1,))
    for arrangement in list(axis_arrangements(record))[:1]:
        yield replace(arrangement, constants=(-1,))
    for which in range(len(probe.parameters)):
        yield Arrangement((67,), constants=(which,))


def probe_case(record: OperatorUnderTest, probe: PathProbe, arrangement: Arrangement) -> Case:
    node = probe_node(record, probe, arrangement)
    values = [encoded_value(value, kind_at(node, probe.into)) for value in probe.values[: arrangement.values or None]]
    shapes = probe.layout.shapes(arrangement.shape) if probe.layout else {0: arrangement.shape}
    x = Tensor(kind_at(node, probe.into), shapes[probe.into], arranged_codes(values, arrangement)).array()
    others = [number for number in range(len(node.inputs)) if number != probe.into]
    how = tested_axis(record)
    parameters = [
        constant_tensor(kind_at(node, number), shapes.get(number, parameter_shape(how, arrangement, place)), value)
        for place, (number, value) in enumerate(zip(others, probe.parameters, strict=True))
    ]
    names = [node.inputs[number].name for number in others]
    built_in = dict(zip(names, parameters, strict=True))
    if -1 not in arrangement.constants:
        built_in = {names[which]: parameters[which] for which in arrangement.constants}
    if built_in and arrangement.constants:
        node = with_constants(node, built_in)
    inputs = (*parameters[: probe.into], x, *parameters[probe.into :])
    case = Case(probe_case_id(record.id, probe.label, arrangement, names), node, inputs, "generated")
    return replace(case, clauses=exercised_clauses(case))


def kind_at(node: Node, number: int) -> str:
    """The element type of an input."""
    return node.inputs[number].element


def probe_node(record: OperatorUnderTest, probe: PathProbe, arrangement: Arrangement) -> Node:
    """The probe's node with the attributes that the arrangement needs."""
    keywords, axis = dict(probe.node), tested_axis(record)
    attributes = dict(keywords.pop("attributes", {}))
    if arrangement.axis is not None and axis.attribute:
        attributes |= {name: arrangement.axis for name in (axis.attribute, axis.also) if name}
    if arrangement.axis is not None and axis.channels:
        attributes[axis.channels] = True
    if arrangement.block:
        attributes[axis.block_attribute] = arrangement.block
    return make_node(record.id, **keywords, attributes=attributes)


def parameter_shape(how: Axis, arrangement: Arrangement, place: int) -> tuple[int, ...]:
    """The shape of the parameter number `place`."""
    shape, axis = arrangement.shape, arrangement.axis
    if how.spread and place >= how.spread:
        return (1,) if how.channels else ()
    if how.always_last:
        return shape[-1:]
    if axis is None and how.always:
        return shape[:1]
    if how.one_for_each_block:
        return (*shape[:-1], -(-shape[-1] // how.measured))
    if axis is None:
        return (1,) if arrangement.ones or how.ones else ()
    if arrangement.block:
        return tuple(-(-size // arrangement.block) if i == axis else size for i, size in enumerate(shape))
    ones = (1,) * (len(shape) - axis - 1) if how.broadcast else ()
    return (shape[axis], *ones)


def encoded_value(value: Value, kind: str) -> int:
    return real_code(value, kind) if isinstance(ELEMENT_TYPES[kind], FloatType) else int(value)


def constant_tensor(kind: str, shape: tuple[int, ...], value: Value) -> Array:
    return Tensor(kind, shape, [encoded_value(value, kind)] * math.prod(shape)).array()


def arranged_codes(codes: Sequence[int], arrangement: Arrangement) -> list[int]:
    """The codes in turn; in a large array only near possible splits, and the last code everywhere else."""
    size = math.prod(arrangement.shape)
    if size < LARGE // 2:
        return [codes[(i + arrangement.turn) % len(codes)] for i in range(size)]
    result = [codes[-1]] * size
    for turn, position in enumerate(positions_near_splits(size)):
        result[position] = codes[turn % len(codes)]
    return result


def positions_near_splits(size: int) -> list[int]:
    """Both ends, and the neighbours of powers of two and of sixteenths, where threads may split the work."""
    edges = [1 << power for power in range(7, size.bit_length())] + [size * part // 16 for part in range(1, 16)]
    near = {edge + step for edge in edges for step in range(-2, 3)}
    return sorted(near | set(range(LONGEST)) | set(range(size - LONGEST, size)))


def probe_case_id(operator: str, label: str, arrangement: Arrangement, names: Sequence[str]) -> str:
    """The case's id, which describes its arrangement; ids must never change."""
    words = ["x".join(map(str, arrangement.shape)) or "rank-0"]
    words += [f"axis-{arrangement.axis}"] if arrangement.axis is not None else []
    words += [f"blocks-{arrangement.block}"] if arrangement.block else []
    words += ["ones"] if arrangement.ones else []
    words += ["constant-" + ("all" if which < 0 else names[which]) for which in arrangement.constants]
    words += [f"of-{arrangement.values}"] if arrangement.values else []
    return f"{PREFIX}{operator}/{label}/{'-'.join(words)}/{arrangement.turn}"
