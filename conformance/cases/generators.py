"""Hypothesis strategies for nodes and cases that aim at ties, range edges and working-precision traps.

    from hypothesis import given
    from tiebreak.conformance.generators import cases

    @given(cases(operator="onnx.QuantizeLinear", real="float32"))
    def test_mine(case): ...

Inputs are chosen as exact quotients, rounded once to bits and moved by a few units in the last place, so they hit
values that random floats never hit. Everything shrinks: to rank 0, scale 1 and one element where one suffices.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as use_seed
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from tiebreak.conformance.cases.case_ids import case_id
from tiebreak.conformance.cases.situations import exercised_clauses
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.model import CaseConstraints, PlainNodes
from tiebreak.golden.elements import FloatType, IntegerType, decode, encode, neighbour, numpy_dtype
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.problem import Array

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Target:
    """The quotient that an input aims at: `base`, counted from the range's `end` if given, moved by `steps` ulp.

    `bits` are the input's bits themselves; they replace the quotient.
    """

    base: Fraction
    end: str = ""
    steps: int = 0
    bits: int | None = None

    def input_bits(self, scale: int, zero_point: int, real: FloatType, quantized: IntegerType, turn: int = 0) -> int:
        """The bits of the input. Each `turn` moves the quotient to another integer: 0, -1, +1, -2, +2 … away."""
        if self.bits is not None:
            return self.bits
        walk = (turn + 1) // 2 * (-1 if turn % 2 else 1)
        ends = {"": 0, "lowest": quantized.lowest - zero_point, "highest": quantized.highest - zero_point}
        divisor = decode(scale, real)
        exact = (self.base + walk + ends[self.end]) * divisor if isinstance(divisor, Fraction) else self.base
        return neighbour(encode(exact, real), real, self.steps)


@cache  # building a strategy costs more than drawing from it
def case_shapes() -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of rank 0 to 4 with at most 256 elements, also none; sometimes a vector longer than any SIMD width."""
    small = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple)
    long = st.integers(60, 300).map(lambda n: (n,))
    return st.one_of(st.just(()), st.integers(1, 9).map(lambda n: (n,)), small, long)


@cache
def scales(real: FloatType) -> st.SearchStrategy[int]:
    """Bits of a scale: 1, values of few bits, powers of two, moderate positive values, subnormals, negative values."""
    top = 1 << (real.precision - 1)
    few = st.sampled_from([encode(Fraction(n, d), real) for n, d in ((3, 1), (3, 4), (1, 2), (5, 8), (1, 10), (7, 1))])
    powers = st.integers(real.emin // 2, real.emax // 2).map(lambda e: encode(Fraction(2) ** e, real))
    moderate = st.tuples(st.integers(-8, 8), st.integers(0, top - 1)).map(
        lambda p: ((p[0] + real.bias) * top) + p[1]  # exponent field and fraction
    )
    negative = moderate.map(lambda bits: bits | 1 << (real.bits - 1))
    return st.one_of(st.just(encode(Fraction(1), real)), few, powers, moderate, st.integers(1, top - 1), negative)


@cache
def targets(real: FloatType, *, specials: bool = True) -> st.SearchStrategy[Target]:
    """Ties and integers of all sizes with their neighbours, both ends of the range, and arbitrary bits."""
    size = st.one_of(st.integers(-12, 12), st.integers(-300, 300), st.integers(-(1 << 32), 1 << 32))
    steps = st.integers(-2, 2)
    ties = st.builds(lambda k, n: Target(k + HALF, steps=n), size, steps)
    integers = st.builds(lambda k, n: Target(Fraction(k), steps=n), size, steps)
    ends = st.sampled_from(["lowest", "highest"])
    edges = st.builds(lambda d, end, n: Target(Fraction(d, 4), end, n), st.integers(-12, 12), ends, steps)
    bits = st.integers(0, (1 << real.bits) - 1)
    if not specials:
        bits = bits.filter(lambda b: b & ~(1 << (real.bits - 1)) < real.infinity_bits)
    return st.one_of(ties, integers, edges, bits.map(lambda b: Target(Fraction(0), bits=b)))


@cache
def scale_lists(real: FloatType) -> st.SearchStrategy[list[int]]:
    return st.lists(scales(real), min_size=1, max_size=5)


@cache
def target_lists(real: FloatType, specials: bool) -> st.SearchStrategy[list[Target]]:
    return st.lists(targets(real, specials=specials), min_size=1, max_size=12)


@cache
def zero_point_lists(quantized: IntegerType) -> st.SearchStrategy[list[int]]:
    values = st.one_of(st.just(0), st.integers(quantized.lowest, quantized.highest))
    return st.lists(values, min_size=1, max_size=5)


@st.composite
def nodes(
    draw: st.DrawFn,
    /,
    *,
    operator: str | None = None,
    real: str | None = None,
    quantized: str | None = None,
    round_mode: str | None = None,
    rank: int | None = None,
) -> Node:
    """Nodes; operator, types, rounding mode and the inputs' rank are drawn unless given.

    `real` and `quantized` are names of element types such as "float32" and "uint8".
    """
    spec = get_operator(operator or draw(operators_with(real, quantized)))
    plain = plain_nodes(draw, spec.id, real, quantized)
    if plain is None:
        return draw_other(draw, spec.id, CaseConstraints(real or "", quantized or "", round_mode or "", rank)).node
    rank = draw(st.integers(0, 4)) if rank is None else rank
    return draw_node(draw, spec.id, plain, rank, {"real": real, "quantized": quantized, "round_mode": round_mode})[0]


def operators_with(real: str | None, quantized: str | None) -> st.SearchStrategy[str]:
    """Ids of the operators that have these types, if any does; else of all, which say what they have."""
    specs = OPERATORS.values()
    fitting = [
        spec.id for spec in specs
        if (not real or real in spec.real_types) and (not quantized or quantized in spec.quantized_types)
    ]  # fmt: skip
    return st.sampled_from(sorted(fitting or OPERATORS))


def draw_node(
    draw: st.DrawFn, operator: str, plain: PlainNodes, rank: int, given_node: dict[str, Any]
) -> tuple[Node, dict[str, Any]]:
    """A plain node for inputs of a rank, and its attributes as drawn, defaults included."""
    spec = get_operator(operator)
    quantized = given_node.get("quantized") or draw(st.sampled_from(plain.quantized_types or spec.quantized_types))
    real = given_node.get("real") or draw(st.sampled_from(plain.real_types or spec.real_types))
    attributes = plain.attributes(draw, rank, given_node.get("round_mode"))
    form = draw(st.integers(0, len(spec.forms) - 1))
    zero_point = not (spec.optional_inputs and quantized == "uint8" and draw(st.booleans()))
    node = make_node(operator, real=real, quantized=quantized, attributes=attributes, form=form, zero_point=zero_point)
    return node, attributes


def plain_nodes(draw: st.DrawFn, operator: str, real: str | None, quantized: str | None) -> PlainNodes | None:
    """How to draw a plain node, or None to draw any other node.

    If an operator has both, half of its nodes are plain ones, as far as plain nodes exist for the types.
    """
    plain, draws_others = TESTED[operator].plain_nodes, TESTED[operator].draw
    if not plain or not draws_others:
        return plain or None
    if quantized and plain.quantized_types and quantized not in plain.quantized_types:
        return None
    if real and plain.real_types and real not in plain.real_types:
        return None
    return plain if draw(st.booleans()) else None


def draw_other(draw: st.DrawFn, operator: str, wanted: CaseConstraints) -> Case:
    """A case of a node that is not plain."""
    draw_inputs = TESTED[operator].draw
    assert draw_inputs, f"{operator} has plain nodes only"
    keywords, tensors = draw_inputs(draw, wanted)
    node, inputs = make_node(operator, **keywords), tuple(tensor.array() for tensor in tensors)
    return Case(case_id(node, inputs), node, inputs, "generated")


@st.composite
def cases(draw: st.DrawFn, /, *, specials: bool = True, **given_node: Any) -> Case:
    """Cases: a node (see `nodes` for the keywords) with inputs. `specials=False` leaves out NaN and infinite inputs."""
    types = given_node.get("real"), given_node.get("quantized")
    operator = given_node.pop("operator", None) or draw(operators_with(*types))
    get_operator(operator)
    plain = plain_nodes(draw, operator, *types)
    if plain is None:
        wanted = {name: value or "" for name, value in given_node.items() if name != "rank"}
        return draw_other(draw, operator, CaseConstraints(**wanted, rank=given_node.get("rank"), specials=specials))
    rank = given_node.pop("rank", None)
    shape = draw(case_shapes() if rank is None else case_shapes().filter(lambda found: len(found) == rank))
    return draw_plain(draw, operator, plain, shape, specials, given_node)


def draw_plain(
    draw: st.DrawFn,
    operator: str,
    plain: PlainNodes,
    shape: tuple[int, ...],
    specials: bool,
    given_node: dict[str, Any],
) -> Case:
    """A case of a plain node."""
    node, attributes = draw_node(draw, operator, plain, len(shape), given_node)
    axes = plain.varying_axes(draw, attributes, shape)
    count = math.prod(tuple(shape[axis] for axis in axes))
    scale = repeat(draw(scale_lists(node.real)), count)
    zero_point = repeat(draw(zero_point_lists(node.quantized)), count)
    aims = draw(target_lists(node.real, specials))
    return build_case(node, shape, axes, aims, scale, zero_point)


def build_case(
    node: Node,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    aims: Sequence[Target],
    scale: Sequence[int],
    zero_point: Sequence[int],
) -> Case:
    """The case whose elements aim at the targets in turn, each with its own scale and zero point.

    `scale` (bits) and `zero_point` (integers) have one value for each index along `axes`, in row-major order.
    """
    projected = tuple(shape[axis] for axis in axes)
    if len(node.inputs) == 2:
        zero_point = [0] * len(scale)
    kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    owner = np.broadcast_to(np.arange(len(scale)).reshape(kept), shape).reshape(-1).tolist()
    x = []
    for i, j in enumerate(owner):
        turn, which = divmod(i, len(aims))
        x.append(aims[which].input_bits(scale[j], zero_point[j], node.real, node.quantized, turn))
    inputs = [float_array(x, shape, node.real), float_array(scale, projected, node.real)]
    if len(node.inputs) == 3:
        inputs.append(np.array(zero_point, np.int64).astype(node.inputs[2].dtype).reshape(projected))
    return Case(case_id(node, inputs), node, tuple(inputs), "generated")


def float_array(bits: Sequence[int], shape: tuple[int, ...], real: FloatType) -> Array:
    words = np.array(bits, dtype=f"uint{real.bits}")
    return words.view(numpy_dtype(real.name)).reshape(shape)


@contextmanager
def without_loaded_constants() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it finds in loaded source files outside site-packages.

    With them, a seed would give other cases in a clone than in an installed wheel, and others after every edit.
    Hypothesis has no setting for this. A release that renamed these private names runs unchanged.
    """
    names = ("_get_local_constants", "Constants", "CONSTANTS_CACHE")
    original, nothing, kept = (getattr(providers, each, None) for each in names)
    if original is None or nothing is None or kept is None:
        yield
        return
    setattr(providers, names[0], nothing)
    setattr(providers, names[2], type(kept)(kept.max_size))  # it caches the constants chosen so far
    try:
        yield
    finally:
        setattr(providers, names[0], original)
        setattr(providers, names[2], kept)


def generate_cases(operator: str, count: int, seed: int) -> list[Case]:
    """At most `count` distinct generated cases of an operator; the same ones for the same seed.

    Another release of Hypothesis may draw other cases for a seed; therefore a run stores its cases.
    """
    found: dict[str, Case] = {}

    @use_seed(seed)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType] - its metaclass iterates
    )
    @given(cases(operator=operator))
    def collect(case: Case) -> None:
        found[case.id] = replace(case, clauses=exercised_clauses(case))

    state = random.getstate()
    with without_loaded_constants():
        collect()
    random.setstate(state)
    return list(found.values())
