"""StableHLO's quantized programs: what each gives with the right arithmetic and with wrong ones.

A program is uniform_quantize of its operands, one operation on the integers, uniform_quantize of what it gives,
uniform_dequantize and check.eq. benchmarks/suites/stablehlo_quantized.json describes them and says how it is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.power.arithmetics import Answered, WrongArithmetic
from tiebreak.conformance.power.chains import as_written, last_outputs, step
from tiebreak.conformance.power.own_tests import OwnTest, Power
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

UNIFORM_QUANTIZE = "stablehlo.uniform_quantize"
DATA = Path(__file__).parent / "suites" / "stablehlo_quantized.json"
SPREAD = 3  # of JAX's random numbers
Array = np.ndarray[Any, Any]
Program = Mapping[str, Any]
Outputs = dict[WrongArithmetic | None, Array]  # by arithmetic; None is the right one


def programs() -> list[Program]:
    found: list[Program] = json.loads(DATA.read_text(encoding="utf-8"))["programs"]
    return found


def operands_of(program: Program) -> list[Array]:
    """The real numbers that are quantized first."""
    if "numbers" in program:
        return [np.array(one, np.float32) for one in program["numbers"]]
    if "count_from" in program:
        first = program["count_from"]
        return [np.arange(first, first + prod(shape), dtype=np.float32).reshape(shape) for shape in program["shapes"]]
    random = np.random.RandomState(program["seed"])
    return [(SPREAD * random.randn(*shape)).astype(np.float32) for shape in program["shapes"]]


def first_steps() -> Iterator[OwnTest]:
    """The first operations of each program, uniform_quantize of float32 to int8."""
    for program in programs():
        for place, operand in enumerate(operands_of(program)):
            yield OwnTest(program["name"], first_step(program, operand, place), ())


# The steps


def first_step(program: Program, operand: Array, place: int) -> Case:
    node = make_node(UNIFORM_QUANTIZE, real="float32", quantized="int8")
    return Case(program["name"], node, (operand, *parameters(program, place)))


def parameters(program: Program, place: int, kind: type[Any] = np.int8) -> tuple[Array, Array]:
    """The scale and the zero point of a step's result, of this type."""
    return np.array(program["scales"][place], np.float32), np.array(program["zero_points"][place], kind)


def last_step(program: Program, given: Array) -> Case:
    """uniform_quantize of integers: of int8 those that gather took, of int32 sums."""
    kind = given.dtype.type
    node = make_node(UNIFORM_QUANTIZE, real=given.dtype.name, quantized="int8")
    last = len(program["scales"]) - 1
    return Case(program["name"], node, (given, *parameters(program, last), *parameters(program, last - 1, kind)))


def outputs_of(program: Program) -> Outputs:
    """The codes that are dequantized last."""
    sides = [last_outputs(first_step(program, one, place), []) for place, one in enumerate(operands_of(program))]
    operation = once_for_equal(OPERATIONS[program["operation"]], program)
    found: Outputs = {}
    known: dict[bytes, Answered] = {}
    for name in dict.fromkeys(name for side in sides for name in side):
        taken = operation([side.get(name, side[None]) for side in sides])
        found[name] = step(name, taken, partial(last_step, program), known)
    return found


def written_codes(program: Program) -> Array:
    """What the document's own steps give, each rounded to float32; outputs_of has exact ones."""
    sides = [as_written(first_step(program, one, place)) for place, one in enumerate(operands_of(program))]
    return as_written(last_step(program, OPERATIONS[program["operation"]](program, *sides)))


def once_for_equal(operation: Callable[..., Array], program: Program) -> Callable[[Sequence[Array]], Array]:
    """Most arithmetics give the same codes, which need one operation."""
    known: dict[tuple[bytes, ...], Array] = {}

    def found(codes: Sequence[Array]) -> Array:
        key = tuple(one.tobytes() for one in codes)
        if key not in known:
            known[key] = operation(program, *codes)
        return known[key]

    return found


def difference(program: Program, codes: Array, place: int) -> Array:
    return codes.astype(np.int64) - int(program["zero_points"][place])


def product(program: Program, lhs: Array, rhs: Array) -> Array:
    """dot_general: the axes of batches first, then lhs's own, then rhs's."""
    labels = list(range(lhs.ndim)), list(range(lhs.ndim, lhs.ndim + rhs.ndim))
    batching, contracting = (program.get(name, ([], [])) for name in ("batching", "contracting"))
    for first, second in (*zip(*batching, strict=True), *zip(*contracting, strict=True)):
        labels[1][second] = labels[0][first]
    gone = [labels[0][axis] for axis in contracting[0]]
    batch = [labels[0][axis] for axis in batching[0]]
    own = [label for side in labels for label in side if label not in (*gone, *batch)]
    first, second = (difference(program, one, place) for place, one in enumerate((lhs, rhs)))
    return np.asarray(np.einsum(first, labels[0], second, labels[1], [*batch, *own])).astype(np.int32)


def convolution(program: Program, lhs: Array, rhs: Array) -> Array:
    """Padding is lhs's zero point. Groups of batches or features meet a part each of rhs's outputs."""
    order = [program["layouts"][place] for place in range(3)]
    axes = [str(axis) for axis in range(lhs.ndim - 2)]
    x = arranged(difference(program, lhs, 0), order[0], ["b", "f", *axes])
    kernel = arranged(difference(program, rhs, 1), order[1], ["o", "i", *axes])
    batches, features = program.get("batch_groups", 1), program.get("feature_groups", 1)
    x = padded(dilated(x, program.get("lhs_dilation")), program.get("padding"))
    images = np.split(x, batches, 0) if batches > 1 else np.split(x, features, 1)
    parts = np.split(kernel, batches * features, 0)
    found = np.concatenate([convolved(program, *pair) for pair in zip(images, parts, strict=True)], 1)
    return np.ascontiguousarray(arranged(found, "".join(["b", "f", *axes]), list(order[2]))).astype(np.int32)


def arranged(array: Array, layout: str, wanted: Sequence[str]) -> Array:
    """An array whose axes have these letters, in another order of them."""
    return array.transpose([layout.index(letter) for letter in wanted])


def dilated(x: Array, steps: Sequence[int] | None) -> Array:
    """With so many steps from one element to the next along each axis of an image, and 0 between them."""
    if not steps:
        return x
    sizes = [(size - 1) * step + 1 for size, step in zip(x.shape[2:], steps, strict=True)]
    found = np.zeros((*x.shape[:2], *sizes), x.dtype)
    found[:, :, *(slice(None, None, step) for step in steps)] = x
    return found


def padded(x: Array, padding: Sequence[Sequence[int]] | None) -> Array:
    return np.pad(x, [(0, 0), (0, 0), *map(tuple, padding)]) if padding else x


def convolved(program: Program, x: Array, kernel: Array) -> Array:
    """b, f and an image's axes with o, i and the same: each output a sum over i and the kernel's axes."""
    kernel = dilated(kernel, program.get("rhs_dilation"))
    images = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], axis=images)
    strides = program.get("strides", [1] * len(images))
    windows = windows[:, :, *(slice(None, None, step) for step in strides)]
    inner = [1, *range(x.ndim, windows.ndim)]
    return np.moveaxis(np.tensordot(windows, kernel, (inner, range(1, kernel.ndim))), -1, 1)


def gathered(program: Program, operand: Array) -> Array:
    """The slices that begin at `starts`, whose last axis names a place; a start beyond its place is the nearest one."""
    starts, sizes = np.array(program["starts"], np.int64), program["slice_sizes"]
    most = [size - taken for size, taken in zip(operand.shape, sizes, strict=True)]
    found = []
    for start in starts.reshape(-1, starts.shape[-1]):
        place = np.zeros(operand.ndim, np.int64)
        place[program["start_index_map"]] = start
        place = np.clip(place, 0, most)
        taken = operand[tuple(slice(at, at + size) for at, size in zip(place, sizes, strict=True))]
        found.append(taken.squeeze(tuple(program["collapsed"])))
    batch = starts.shape[:-1]
    array = np.stack(found).reshape(*batch, *found[0].shape)
    return np.ascontiguousarray(np.moveaxis(array, range(len(batch), array.ndim), program["offset_dims"]))


OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "convolution": convolution,
    "dot_general": product,
    "gather": gathered,
}


# What the programs stop


def remark() -> str:
    """What a program does, and why it shows little."""
    ends, total = 0, 0
    for test in first_steps():
        codes = last_outputs(test.case, [])[None]
        ends += int(np.isin(codes, (-128, 127)).sum())
        total += codes.size
    return (
        "A program quantizes its operands to int8, each with one scale, does its operation on the integers, and "
        "quantizes and dequantizes what that gives. So no program shows what is wrong with scales along an axis. Of "
        f"{total:,} numbers that are quantized first, {ends:,} become an end of int8, which most arithmetics give. "
        "Operands are made again from JAX's seeds. Of the results the file has a few of each program, and all of them "
        "are right. At two elements of all, the exact result and that of the document's steps in float32 differ: once "
        "the program expects the one, once the other."
    )


def power() -> Power:
    """Numbers are codes times a scale, so codes that differ give numbers that differ.

    An element stops what gives neither the exact result nor that of the document's steps.
    """
    stopped, known, wrong, elements = set[WrongArithmetic](), set[WrongArithmetic](), list[str](), 0
    for program in programs():
        found, written = outputs_of(program), written_codes(program)
        exact = found.pop(None)
        wrong += [program["name"]] * (not gives(program, exact, written))
        known |= {name for name in found if name}
        stopped |= {name for name, codes in found.items() if name and ((codes != exact) & (codes != written)).any()}
        elements += exact.size
    return Power(len(programs()), elements, frozenset(known), frozenset(stopped), frozenset(stopped), tuple(wrong))


def gives(program: Program, *right: Array) -> bool:
    """Whether one of these codes gives each number that the program expects, as far as the file has them."""
    scale, zero = parameters(program, len(program["scales"]) - 1)
    numbers = [((codes.astype(np.float32) - zero.astype(np.float32)) * scale).reshape(-1) for codes in right]
    shown: dict[str, Any] = {
        "output": slice(None), "everywhere": slice(None), "first": slice(8), "last": slice(-8, None),
        "at": [int(place) for place in program.get("at", ())],
    }  # fmt: skip
    expected = {name: program[name] for name in shown if name in program}
    if "at" in expected:
        expected["at"] = list(expected["at"].values())
    are_equal = [
        np.any([one[shown[name]] == np.array(wanted, np.float32) for one in numbers], axis=0).all()
        for name, wanted in expected.items()
    ]
    return bool(expected) and right[0].shape == tuple(program["shape"]) and all(are_equal)
