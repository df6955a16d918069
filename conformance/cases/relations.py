"""Operators that must agree: pairs of cases to which both documents give the same results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from tiebreak.conformance.cases.situations import exercised_clauses
from tiebreak.conformance.judging.both_answers import Given, example_of, with_example
from tiebreak.conformance.judging.chunk import Chunk, chunks_of, part_of_truth
from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.conformance.judging.truths import Truth, truths_of
from tiebreak.conformance.operators import (
    ngraph_quantize,
    onnx_cast,
    onnx_dequantize_linear,
    onnx_quantize_linear,
    openvino_fake_quantize,
    tensorflow_fake_quant,
    tensorflow_fake_quant_per_channel,
    tensorflow_quantize_and_dequantize,
    tensorflow_quantize_v2,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, SMALL_FLOAT_TYPES, decode
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, with_constants
from tiebreak.golden.onnx_types import FLOAT8, REALS
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples.model import Tensor, bits, real_code, reals, scalar, with_neighbouring_codes

QUANTIZE_LINEAR, DEQUANTIZE_LINEAR = onnx_quantize_linear.TESTED.id, onnx_dequantize_linear.TESTED.id
CAST = onnx_cast.TESTED.id
NGRAPH, QUANTIZE_V2 = ngraph_quantize.TESTED.id, tensorflow_quantize_v2.TESTED.id
VARS, PER_CHANNEL = tensorflow_fake_quant.TESTED.id, tensorflow_fake_quant_per_channel.TESTED.id
BOTH_WAYS = tensorflow_quantize_and_dequantize.TESTED.id
FAKE_QUANTIZE = openvino_fake_quantize.TESTED.id
SCALES = (Fraction(1), Fraction(1, 4), Fraction(8))
UNEVEN_SCALES = (Fraction(1, 10), Fraction(3, 7), Fraction(41))
ENDS = (("-0.5", "0.5"), ("-3", "4.75"), ("0", "6"), ("-1", "2"), ("-128", "127"), ("0", "255"), ("-0.7", "-0.1"))
RANGES = tuple((Fraction(low), Fraction(high)) for low, high in (*ENDS, ("1", "3"), ("-63.5", "64")))
FAKE_ATTRIBUTES = ({"num_bits": 4}, {"num_bits": 8}, {"num_bits": 8, "narrow_range": True})
HALF = Fraction(1, 2)
RELATED = "related/"  # before the ids of their cases
BRIEF_STEP = 5  # no divisor of the 8 scales and zero points, nor of the 6 scales and modes


@dataclass(frozen=True)
class Related:
    """Two cases that must give the same results wherever both are specified.

    If the other side is two operators, `between` is the first of them: its result is the first input of `other`.
    If the other side gives integers times a scale, `step` is that scale, and the integers are compared.
    """

    one: Case
    other: Case
    between: Case | None = None
    step: float = 0.0

    @property
    def cases(self) -> tuple[Case, ...]:
        return (self.one, self.other) if self.between is None else (self.one, self.between, self.other)


@dataclass(frozen=True)
class Relation:
    """Operators that agree. With `everywhere` they do so on elements, too, that their documents leave open."""

    id: str
    text: str
    operators: tuple[str, ...]
    pairs: Callable[[], Iterator[Related]]
    everywhere: bool = False


def related_case(id: str, operator: str, node: dict[str, Any], *tensors: Tensor) -> Case:
    case = Case(f"{RELATED}{id}", make_node(operator, **node), tuple(t.array() for t in tensors), "generated")
    return replace(case, clauses=exercised_clauses(case))


def inputs_around(real: str, quantized: str, scale: Fraction) -> Tensor:
    """Ties, integers and both ends of the range, each with its neighbours, times the scale."""
    kind = INTEGER_TYPES[quantized]
    middle = [k + d for k in range(-9, 10) for d in (Fraction(0), HALF)]
    ends = [end + d for end in (kind.lowest, kind.highest) for d in (-2, -HALF, 0, HALF, 1, 40)]
    codes = [real_code((Fraction(q)) * scale, real) for q in (*middle, *ends)]
    infinity = FLOAT_TYPES[real].infinity_bits
    largest = (1 << (FLOAT_TYPES[real].bits - 1)) - 1
    return bits(real, [code for code in with_neighbouring_codes(real, codes) if code & largest < infinity])


def linear_and_ngraph() -> Iterator[Related]:
    """QuantizeLinear and ngraph.Quantize rounding ties to even, per tensor."""
    for real, quantized in itertools.product(("float32", "float16", "bfloat16"), ("int8", "uint8", "int16", "uint4")):
        for scale, zero_point in itertools.product((*SCALES, Fraction(1, 10)), (0, 3)):
            tensors = (inputs_around(real, quantized, scale), scalar(real, scale), scalar(quantized, zero_point))
            name = f"linear-ngraph/{real}-{quantized}-{float(scale):g}-{zero_point}"
            types = {"real": real, "quantized": quantized}
            yield Related(
                related_case(f"{name}/one", QUANTIZE_LINEAR, types, *tensors),
                related_case(f"{name}/other", NGRAPH, types | {"attributes": {"round_mode": EVEN}}, *tensors),
            )


def cast_and_linear() -> Iterator[Related]:
    """Cast, and QuantizeLinear with scale 1 and zero point 0, to a float 8 type."""
    for real, quantized, saturate in itertools.product(REALS, FLOAT8, (True, False)):
        x = inputs_around_small_floats(real, quantized)
        name = f"cast-linear/{real}-{quantized}-{'saturated' if saturate else 'unsaturated'}"
        types = {"real": real, "quantized": quantized, "attributes": {"saturate": saturate}}
        parameters = (scalar(real, 1), scalar(quantized, 0))
        yield Related(
            related_case(f"{name}/one", CAST, types, x),
            related_case(f"{name}/other", QUANTIZE_LINEAR, types, x, *parameters),
        )


def inputs_around_small_floats(real: str, quantized: str) -> Tensor:
    """The values of a small float type, their midpoints and what is beyond, each with its neighbours; both signs."""
    kind, sign = SMALL_FLOAT_TYPES[quantized], 1 << (FLOAT_TYPES[real].bits - 1)
    values = [Fraction(decode(code, kind)) for code in range(kind.largest_bits + 1)]
    halves = [(low + high) / 2 for low, high in itertools.pairwise(values)]
    beyond = [values[-1] + (values[-1] - values[-2]) * part / 2 for part in (1, 2, 3, 40)]
    near = with_neighbouring_codes(real, (real_code(value, real) for value in (*values, *halves, *beyond)))
    magnitudes = [code for code in near if 0 < code < FLOAT_TYPES[real].infinity_bits]
    return bits(real, [0, *(code | side for code in magnitudes for side in (0, sign))])


def scaled_and_ngraph() -> Iterator[Related]:
    """QuantizeV2 in SCALED mode and ngraph.Quantize: the range is lowest * scale to highest * scale, scale 2^n."""
    modes = {"HALF_TO_EVEN": EVEN, "HALF_AWAY_FROM_ZERO": "ROUND_NEAREST_TOWARD_INFINITY"}
    for quantized, scale, (theirs, ours) in itertools.product(("int8", "uint8", "int16"), SCALES, modes.items()):
        kind = INTEGER_TYPES[quantized]
        x = inputs_around("float32", quantized, scale)
        low, high = (scalar("float32", end * scale) for end in (kind.lowest, kind.highest))
        name = f"scaled-ngraph/{quantized}-{float(scale):g}-{theirs}"
        attributes = {"T": quantized, "mode": "SCALED", "round_mode": theirs, "ensure_minimum_range": 0.0}
        v2 = {"real": "float32", "quantized": quantized, "attributes": attributes}
        plain = {"real": "float32", "quantized": quantized, "attributes": {"round_mode": ours}}
        tensors = (x, scalar("float32", scale), scalar(quantized, 0))
        yield Related(
            related_case(f"{name}/one", QUANTIZE_V2, v2, x, low, high),
            related_case(f"{name}/other", NGRAPH, plain, *tensors),
        )


def fake_and_two_steps() -> Iterator[Related]:
    """FakeQuantize and QuantizeLinear followed by DequantizeLinear: both ranges are the integers', scale 2^n."""
    for quantized, scale, zero_point in itertools.product(("int8", "uint8"), SCALES, (0, 6, 101)):
        kind = INTEGER_TYPES[quantized]
        x = inputs_around("float32", quantized, scale)
        low, high = (scalar("float32", (end - zero_point) * scale) for end in (kind.lowest, kind.highest))
        name = f"fake-linear/{quantized}-{float(scale):g}-{zero_point}"
        types = {"real": "float32", "quantized": quantized}
        parameters = (scalar("float32", scale), scalar(quantized, zero_point))
        fake = {"real": "float32", "attributes": {"levels": 256}}
        first = related_case(f"{name}/between", QUANTIZE_LINEAR, types, x, *parameters)
        codes = truths_of(first).judged_by.exact
        middle = bits(quantized, codes.tolist())
        yield Related(
            related_case(f"{name}/one", FAKE_QUANTIZE, fake, x, low, high, low, high),
            related_case(f"{name}/other", DEQUANTIZE_LINEAR, types, middle, *parameters),
            first,
        )


def vars_and_per_channel() -> Iterator[Related]:
    """FakeQuantWithMinMaxVars, and its form for channels with one channel of the same range."""
    for bits_, (low, high) in itertools.product((4, 8), RANGES):
        x = inputs_around("float32", "int8", (high - low) / 255)
        name, node = f"vars-channel/{bits_}-{float(low):g}-{float(high):g}", {"attributes": {"num_bits": bits_}}
        column = replace(x, shape=(len(x.codes), 1))
        yield Related(
            related_case(f"{name}/one", VARS, node, x, *(scalar("float32", end) for end in (low, high))),
            related_case(f"{name}/other", PER_CHANNEL, node, column, *(reals("float32", [end]) for end in (low, high))),
        )


def inputs_and_constants(operator: str) -> Iterator[Related]:
    """A range as inputs, and the same range as constants."""
    per_channel = operator == PER_CHANNEL
    for attributes, (low, high) in itertools.product(FAKE_ATTRIBUTES, RANGES):
        x = inputs_around("float32", "int8", (high - low) / ((1 << attributes["num_bits"]) - 1))
        name = f"{operator.partition('.')[2]}-constants/{'-'.join(map(str, attributes.values()))}"
        ends = [reals("float32", [end]) if per_channel else scalar("float32", end) for end in (low, high)]
        tensors = (replace(x, shape=(len(x.codes), 1)) if per_channel else x, *ends)
        one = related_case(f"{name}-{float(low):g}-{float(high):g}/one", operator, {"attributes": attributes}, *tensors)
        node = with_constants(one.node, dict(zip(("min", "max"), one.inputs[1:], strict=True)))
        yield Related(one, replace(one, id=one.id.replace("/one", "/other"), node=node))


def scaled_and_both_ways() -> Iterator[Related]:
    """QuantizeV2 in SCALED mode, and QuantizeAndDequantizeV4: the same integers, which the second multiplies."""
    for quantized, scale in itertools.product(("int8", "int16"), (*SCALES, *UNEVEN_SCALES)):
        highest = INTEGER_TYPES[quantized].highest
        x = inputs_around("float32", quantized, scale)
        low, high = (scalar("float32", end * scale) for end in (-highest, highest))
        name = f"scaled-both-ways/{quantized}-{float(scale):g}"
        shared = {"narrow_range": True, "round_mode": "HALF_TO_EVEN"}
        v2 = {"T": quantized, "mode": "SCALED", "ensure_minimum_range": 0.0, **shared}
        v4 = {"num_bits": INTEGER_TYPES[quantized].bits, "range_given": True, **shared}
        yield Related(
            related_case(f"{name}/one", QUANTIZE_V2, {"quantized": quantized, "attributes": v2}, x, low, high),
            related_case(f"{name}/other", BOTH_WAYS, {"attributes": v4}, x, low, high),
            step=float(high.array()) / highest,
        )


RELATIONS = (
    Relation(
        "vars-constants",
        "FakeQuantWithMinMaxVars gives with min and max as constants (in TensorFlow FakeQuantWithMinMaxArgs) what it "
        "gives with them as inputs",
        (VARS,),
        partial(inputs_and_constants, VARS),
        everywhere=True,
    ),
    Relation(
        "channel-constants",
        "FakeQuantWithMinMaxVarsPerChannel gives with min and max as constants what it gives with them as inputs",
        (PER_CHANNEL,),
        partial(inputs_and_constants, PER_CHANNEL),
        everywhere=True,
    ),
    Relation(
        "vars-channel",
        "FakeQuantWithMinMaxVars gives what FakeQuantWithMinMaxVarsPerChannel gives for one channel",
        (VARS, PER_CHANNEL),
        vars_and_per_channel,
        everywhere=True,
    ),
    Relation(
        "scaled-both-ways",
        "QuantizeV2 in SCALED mode gives the integers that QuantizeAndDequantizeV4 multiplies by the scale",
        (QUANTIZE_V2, BOTH_WAYS),
        scaled_and_both_ways,
    ),
    Relation(
        "cast-linear",
        "Cast to a float 8 type gives what QuantizeLinear gives with scale 1 and zero point 0",
        (CAST, QUANTIZE_LINEAR),
        cast_and_linear,
    ),
    Relation(
        "linear-ngraph",
        "QuantizeLinear gives what ngraph.Quantize gives rounding to nearest even",
        (QUANTIZE_LINEAR, NGRAPH),
        linear_and_ngraph,
    ),
    Relation(
        "scaled-ngraph",
        "QuantizeV2 in SCALED mode, its range that of the integers times a power of two, gives what ngraph.Quantize "
        "gives",
        (QUANTIZE_V2, NGRAPH),
        scaled_and_ngraph,
    ),
    Relation(
        "fake-linear",
        "FakeQuantize, both ranges those of the integers times a power of two, gives what QuantizeLinear followed by "
        "DequantizeLinear gives, but for ties, which FakeQuantize's document leaves open",
        (FAKE_QUANTIZE, QUANTIZE_LINEAR, DEQUANTIZE_LINEAR),
        fake_and_two_steps,
    ),
)


@dataclass(frozen=True)
class ComparedPair:
    """A pair with the elements to compare (bool, flat) and the codes that the step between must give."""

    pair: Related
    specified: Array
    between: Array | None


@cache
def compared_pairs(relation: Relation) -> tuple[ComparedPair, ...]:
    """A relation's pairs, computed once for the plan and all backends."""
    pairs = list(relation.pairs())
    truths = truths_by_case([case for pair in pairs for case in pair.cases])
    return tuple(compared_pair(pair, truths, everywhere=relation.everywhere) for pair in pairs)


def truths_by_case(cases: Sequence[Case]) -> dict[str, Truth]:
    """The truths by which the cases are judged, by id."""
    chunks = [Chunk(part) for part in chunks_of(sorted(cases, key=lambda case: case.node.operator))]
    return {
        case.id: part_of_truth(chunk.judged_by, chunk.of_case(number))
        for chunk in chunks
        for number, case in enumerate(chunk.cases)
    }


def compared_pair(pair: Related, truths: Mapping[str, Truth], *, everywhere: bool) -> ComparedPair:
    size = pair.one.size
    found = everywhere | np.logical_and(*(truths[case.id].exact_specified[:size] for case in (pair.one, pair.other)))
    between = None if pair.between is None else truths[pair.between.id].exact
    return ComparedPair(pair, np.asarray(found), between)


def related_cases(operators: Sequence[str]) -> list[Case]:
    """The cases of every relation whose operators are all among these."""
    wanted = [relation for relation in RELATIONS if set(relation.operators) <= set(operators)]
    return [case for relation in wanted for case in cases_of_relation(relation.id)]


def cases_of_relation(id: str, *, brief: bool = False) -> list[Case]:
    """The cases of a relation's pairs; for a brief run of every fifth, which mixes scales, zero points and types."""
    (relation,) = (relation for relation in RELATIONS if relation.id == id)
    pairs = compared_pairs(relation)[:: BRIEF_STEP if brief else 1]
    return [case for found in pairs for case in found.pair.cases]


def relation_rows(backend: str, outputs: Mapping[str, Array]) -> list[dict[str, Any]]:
    """A row for each relation that a backend ran: how many elements that both documents specify differ.

    `itself` says that one operator is asked the same numbers twice. Of two operators only documents say that they are
    one: what differs there is for their documents to judge, and each discrepancy is a row of its own.

    Where the other side is two steps, elements with a wrong first step are not compared: discrepancies report them.
    """
    if not any(case.startswith(RELATED) for case in outputs):
        return []  # before pairs and their truths are made
    rows = [relation_row(relation, backend, outputs) for relation in RELATIONS]
    return [row for row in rows if row["cases"]]


def relation_row(relation: Relation, backend: str, outputs: Mapping[str, Array]) -> dict[str, Any]:
    cases = elements = differ = 0
    itself, example = len(relation.operators) == 1, None
    for found in compared_pairs(relation):
        pair = found.pair
        if all(case.id in outputs for case in pair.cases):
            wanted = comparable_elements(found, outputs)
            one, other = comparable_codes(pair, outputs)
            cases, elements = cases + 1, elements + int(wanted.sum())
            differ += int((wanted & (one != other)).sum())
            both = Given(backend, pair.one, one), Given(backend, pair.other, other)
            example = example or (example_of(*both, wanted) if itself else None)
    counts = {"cases": cases, "elements": elements, "differ": differ, "itself": itself}
    row = {"relation": relation.text, "backend": backend, "operators": list(relation.operators), **counts}
    return with_example(row, example)


def comparable_elements(found: ComparedPair, outputs: Mapping[str, Array]) -> Array:
    """The elements that both sides specify and whose first step, if any, gave the right result."""
    if found.pair.between is None:
        return found.specified
    return np.asarray(found.specified & (outputs[found.pair.between.id] == found.between))


def comparable_codes(pair: Related, outputs: Mapping[str, Array]) -> tuple[Array, Array]:
    """The codes of both sides' first outputs; where there is a step, the integers by which the other multiplies it."""
    one, other = (outputs[case.id][: case.size] for case in (pair.one, pair.other))
    if pair.step:
        with np.errstate(invalid="ignore"):
            other = np.rint(values_of_codes(other, ELEMENT_TYPES[pair.other.node.output_type]) / pair.step)
    return one, other
