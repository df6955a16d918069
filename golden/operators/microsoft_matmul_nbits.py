"""`com.microsoft.MatMulNBits`: a matrix of floats times weights of 2, 4 or 8 bits that are dequantized in blocks.

The order in which products and a bias are added is open. So an element has a result where one product alone is not
zero, as in rows with a single number, which show the dequantized weights; or where every order gives the same sum. A
bias is added to a product that A's type holds, so that a fused step shows nothing.

Left out are weights that are laid out for one provider or omitted, and g_idx. All that the document says of g_idx is
"group_idx. This input is deprecated", and that it is int32: neither its shape nor what it does. Code differs. ONNX
Runtime's CPU kernel takes K numbers, or also those of the places beyond K. They name the block whose scale each place
of a row has, if weights have 4 bits. It reads weights of 2 bits as if they had 4, past their end, and refuses 8.
emx-onnx-cgen takes constants alone that change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import Term, equal, finite, require, step, to_real, total
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, decode, encode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import REALS
from tiebreak.golden.operators.model import Answer, Attribute, Clause, Contest, Operator, Types, parse_integer
from tiebreak.golden.packed_weights import Weights, exact_sum, places_of, sums_in_float64, unpacked
from tiebreak.golden.problem import Array, Elementwise, bits_of, codes_of, kind_of
from tiebreak.golden.samples import microsoft_matmul_nbits as samples

ID = "com.microsoft.MatMulNBits"
PAGE = "onnxruntime 1.32, docs/ContribOperators.md"
DOCUMENT = f"{PAGE}, MatMulNBits"
INPUTS = ("A", "B", "scales", "zero_points")
BIAS = "bias"
# Which optional inputs are there: zero_points, which can be left off; these and a bias; a bias alone.
FORMS: tuple[tuple[str, ...], ...] = (INPUTS, (*INPUTS, BIAS), (*INPUTS[:3], BIAS))
EVERY_INPUT = (*INPUTS, "g_idx", BIAS)  # in the document's places
OPERANDS = ("A", "weight", "zero_point", "scale", "other_products")  # whether a result is open is no input
BIASED = "a bias of each column"  # a situation
BITS, LEVELS = (2, 4, 8), (0, 1, 2, 3, 4)
LEAST_BLOCK = 16
HALVES = {2: "float16", 3: "bfloat16"}  # what A may become, by accuracy_level
OF_INTEGERS = 4

CLAUSES = (
    Clause("MNB-F1", "A weight is (quantized_weight - zero_point) * scale.", f"{DOCUMENT}: 1., the formula"),
    Clause("MNB-F2", "Y is A times the dequantized weights.", f"{DOCUMENT}: 2."),
    Clause(
        "MNB-F3",
        "A bias is added to the product.",
        f"{DOCUMENT}, bias: to add to result",
        situation=BIASED,
    ),
    Clause(
        "MNB-P1",
        "A row of B is quantized in blocks of block_size along K; each block has its scale and its zero point.",
        f"{DOCUMENT}: quantized block-wise along the K dimension",
    ),
    Clause(
        "MNB-P2",
        "Weights of fewer than 8 bits lie in bytes along K, the first in the lowest bits.",
        f"{DOCUMENT}: for 4 bits, the first 4 bits are stored in the lower 4 bits of a byte",
        when={"bits": (2, 4)},
    ),
    Clause(
        "MNB-P3",
        "Zero points of uint8 are packed like B: a row has ceil(k_blocks * bits / 8) bytes.",
        f"{DOCUMENT}, zero_points",
        situation="packed zero points",
    ),
    Clause(
        "MNB-P4",
        "Zero points of A's type are not packed, and need not be integers.",
        f"{DOCUMENT}, zero_points",
        situation="zero points of A's type",
    ),
    Clause(
        "MNB-P5",
        "Zero points that are left off are 2^(bits - 1).",
        f"{DOCUMENT}, zero_points",
        situation="zero points left off",
    ),
    Clause(
        "MNB-P6",
        "k_blocks is K / block_size, rounded up: what the last block has beyond K belongs to no input.",
        f"{DOCUMENT}, B",
        situation="a last block beyond K",
    ),
    Clause("MNB-P7", "Each of the N columns has a bias of its own.", f"{DOCUMENT}, bias: shape [N]", situation=BIASED),
    Clause("MNB-S1", "B has the shape [N, k_blocks, block_size * bits / 8].", f"{DOCUMENT}, B"),
    Clause("MNB-S2", "scales have the shape [N, k_blocks].", f"{DOCUMENT}, scales"),
    Clause("MNB-S3", "The last axis of A has K elements.", f"{DOCUMENT}, K"),
    Clause("MNB-S4", "Y has as many axes as A; its last one has N elements.", f"{DOCUMENT}, Y and N"),
    Clause("MNB-S5", "A bias has the shape [N].", f"{DOCUMENT}, bias", situation=BIASED),
    Clause("MNB-N1", "bits is 2, 4 or 8; if it is absent, 4.", f"{DOCUMENT}, bits"),
    Clause("MNB-N2", "block_size is a power of two and not smaller than 16.", f"{DOCUMENT}, block_size"),
    Clause(
        "MNB-N3",
        "accuracy_level is 0 to 4; up to 1 A is neither quantized nor downcast.",
        f"{DOCUMENT}, accuracy_level",
    ),
    Clause("MNB-T1", "A, scales, bias and Y have one type, B is uint8.", f"{DOCUMENT}, T1 and T2"),
    Clause("MNB-T2", "zero_points are uint8 or have A's type.", f"{DOCUMENT}, zero_points and T3"),
    Clause(
        "MNB-T3",
        "zero_points and bias can be left off, each by itself. g_idx is left off: the text gives it neither a shape "
        "nor a meaning.",
        f"{DOCUMENT}, its inputs; g_idx: this input is deprecated",
    ),
    Clause(
        "MNB-U1",
        "In which order and precision products and a bias are added. A sum is judged where none of that shows.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="several products",
    ),
    Clause(
        "MNB-U2",
        "What A becomes with accuracy_level 4: it can be quantized to int8, in blocks.",
        f"{DOCUMENT}, accuracy_level",
        unspecified=True,
        when={"accuracy_level": 4},
        situation="an undefined result",
    ),
    Clause(
        "MNB-U3",
        "What A becomes with accuracy_level 2 or 3: it can be downcast to float16 or bfloat16. Numbers that these "
        "types hold are judged.",
        f"{DOCUMENT}, accuracy_level",
        unspecified=True,
        when={"accuracy_level": (2, 3)},
    ),
    Clause(
        "MNB-U4",
        "What NaN and infinities give, and a weight that overflows beside a zero of A.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "MNB-U5",
        "The sign of a zero result: real arithmetic has one zero.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)


def parse_size(value: Any) -> int:
    number = parse_integer(value)
    if number < 1:
        raise ValueError(f"{value!r} is not at least 1")
    return number


def parse_block(value: Any) -> int:
    number = parse_integer(value)
    if number < LEAST_BLOCK or number & (number - 1):
        raise ValueError(f"{value!r} is not a power of two from {LEAST_BLOCK} on")
    return number


def parse_bits(value: Any) -> int:
    return one_of(value, BITS)


def parse_level(value: Any) -> int:
    return one_of(value, LEVELS)


def one_of(value: Any, allowed: tuple[int, ...]) -> int:
    number = parse_integer(value)
    if number not in allowed:
        raise ValueError(f"{value!r} is not one of {', '.join(map(str, allowed))}")
    return number


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names, (point,) = FORMS[types.form], types.operands
    if not types.optional:
        if BIAS in names:
            raise InvalidInput(f"{ID}: a bias without zero_points is form {len(FORMS) - 1}")
        names = names[:-1]
    if "zero_points" in names and point not in ("uint8", types.real):
        raise InvalidInput(f"{ID}: zero_points of {point} beside an A of {types.real}: uint8 or A's type is right")
    kinds = {"B": "uint8", "zero_points": point}
    return tuple(kinds.get(name, types.real) for name in names), (types.real,)


def given(node: Node, inputs: tuple[Array, ...]) -> dict[str, Array]:
    """The inputs by name; those that are left off are absent."""
    return {tensor.name: array for tensor, array in zip(node.inputs, inputs, strict=False)}


def shape_of(node: Node, inputs: tuple[Array, ...]) -> tuple[int, ...]:
    """The shape of Y. InvalidInput if A has another K, or no axis beside it."""
    shape, inner = inputs[0].shape, node.value("K")
    if len(shape) < 2 or shape[-1] != inner:
        raise InvalidInput(f"{ID}: A of shape {list(shape)} is no matrix with {inner} columns, which is K")
    return (*shape[:-1], node.value("N"))


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For each element the one number of its row of A that is not zero, its weight, the sum of other products, bias."""
    shape = shape_of(node, inputs)
    weights, a, bias = weights_of(node, inputs), inputs[0], bias_of(node, inputs)
    rows = a.reshape(-1, a.shape[-1])
    numbers = rows != 0
    first = numbers.argmax(axis=1)
    other, unclear = other_products(rows, numbers, weights, bias)
    unclear |= fused_differs(rows, numbers, weights, bias)
    unclear |= beside_overflows(weights, first) | open_level(node.value("accuracy_level"), rows, numbers)[:, np.newaxis]
    block = weights.block_of(first)
    found = (bits_of(rows)[np.arange(len(rows)), first][:, np.newaxis], weights.codes[:, first].T,
             codes_of(weights.points)[:, block].T, bits_of(weights.scales)[:, block].T, bits_of(other),
             *(() if bias is None else (bits_of(bias),)), unclear.astype(np.int64))  # fmt: skip
    operands = tuple(np.ascontiguousarray(np.broadcast_to(each, other.shape)).reshape(-1) for each in found)
    real, byte = FLOAT_TYPES[a.dtype.name], INTEGER_TYPES["uint8"]
    kinds = real, byte, kind_of(weights.points), *(real,) * (len(operands) - 4), byte
    named = OPERANDS if bias is None else (*OPERANDS, BIAS)
    return (Elementwise(ID, "Y", shape, real, real, "", kinds, operands, named=named),)


def weights_of(node: Node, inputs: tuple[Array, ...]) -> Weights:
    """The unpacked weights. InvalidInput for shapes that the document does not allow."""
    own = given(node, inputs)
    b, scales = own["B"], own["scales"]
    bits, size, columns, inner = (node.value(name) for name in ("bits", "block_size", "N", "K"))
    blocks = -(-inner // size)
    check_shape("B", b, (columns, blocks, size * bits // 8))
    check_shape("scales", scales, (columns, blocks))
    codes = unpacked(b.reshape(columns, -1), bits, inner)
    return Weights(codes, zero_points(bits, (columns, blocks), own.get("zero_points")), scales, size)


def bias_of(node: Node, inputs: tuple[Array, ...]) -> Array | None:
    """The bias of each column, if there is one. InvalidInput for another shape."""
    bias = given(node, inputs).get(BIAS)
    if bias is not None:
        check_shape(BIAS, bias, (node.value("N"),))
    return bias


def zero_points(bits: int, shape: tuple[int, ...], points: Array | None) -> Array:
    """A zero point for each block: uint8, or of A's type."""
    if points is None:
        return np.full(shape, 1 << (bits - 1), np.uint8)
    if points.dtype != np.uint8:
        check_shape("zero_points", points, shape)
        return points
    check_shape("zero_points", points, (shape[0], -(-shape[1] * bits // 8)))
    return unpacked(points, bits, shape[1]).astype(np.uint8)


def check_shape(name: str, array: Array, wanted: tuple[int, ...]) -> None:
    if array.shape != wanted:
        raise InvalidInput(f"{ID}: {name} has shape {list(array.shape)}, {list(wanted)} is right")


def other_products(rows: Array, numbers: Array, weights: Weights, bias: Array | None) -> tuple[Array, Array]:
    """The sums of the products of each row after its first number, and where their order or precision shows (bool).

    A bias is one more term, whose order is open, too.
    """
    kind = FLOAT_TYPES[rows.dtype.name]
    found = np.zeros((len(rows), len(weights.codes)), rows.dtype)
    unclear = np.zeros(found.shape, bool)
    finite = np.isfinite(weights.in_working_precision())
    terms = np.zeros(len(weights.codes)) if bias is None else bias.astype(np.float64)
    several = np.flatnonzero(numbers.sum(axis=1) > 1)
    quick = sums_in_float64(rows[several], weights, terms, kind) if finite.all() and np.isfinite(terms).all() else None
    if quick:
        found[several], unclear[several] = np.where(quick[1], quick[0], 0), ~quick[1]
        return found, unclear
    for row, columns in places_of(numbers):
        for n in range(len(weights.codes)):
            unclear[row, n] = True
            if np.isfinite(rows[row]).all() and finite[n].all() and np.isfinite(terms[n]):
                products = [(Fraction(float(rows[row, k])), weights.weight(n, k)) for k in columns]
                unclear[row, n] = not exact_sum([*products, (Fraction(1), Fraction(float(terms[n])))], kind)
                rest = sum((number * weight for number, weight in products[1:]), Fraction(0))
                found[row, n] = 0 if unclear[row, n] else float(rest)
    return found, unclear


def fused_differs(rows: Array, numbers: Array, weights: Weights, bias: Array | None) -> Array:
    """Where a row has one number whose product A's type does not hold, beside a bias that is not zero (bool).

    A product of two numbers of A's type is exact in float64, but for one that is no number.
    """
    kind, shape = rows.dtype, (len(rows), len(weights.codes))
    if bias is None:
        return np.zeros(shape, bool)
    first = numbers.argmax(axis=1)
    with np.errstate(all="ignore"):
        number = rows[np.arange(len(rows)), first].astype(np.float64)
        product = number[:, np.newaxis] * weights.in_working_precision().astype(np.float64)[:, first].T
        rounded = product.astype(kind).astype(np.float64) != product
    return np.asarray(rounded & (numbers.sum(axis=1) == 1)[:, np.newaxis] & (bias != 0))


def beside_overflows(weights: Weights, first: Array) -> Array:
    """Where a weight that is no number stands beside the first number of a row, at a zero of A (bool)."""
    special = ~np.isfinite(weights.in_working_precision())
    return np.asarray((special.sum(axis=1)[np.newaxis, :] - special[:, first].T) > 0)


def open_level(level: int, rows: Array, numbers: Array) -> Array:
    """The rows (bool) that the accuracy level lets become others."""
    if level == OF_INTEGERS:
        return np.asarray(numbers.any(axis=1))
    if level not in HALVES:
        return np.zeros(len(rows), bool)
    kind = FLOAT_TYPES[HALVES[level]]
    held = [all(fits(float(value), kind) for value in row) for row in rows]
    return ~np.array(held, bool)


def fits(value: float, kind: FloatType) -> bool:
    return not np.isfinite(value) or decode(encode(Fraction(value), kind), kind) == Fraction(value)


def one_of_a_row(
    p: Elementwise, a: Term, weight: Term, zero_point: Term, scale: Term, others: Term, *last: Term
) -> Term:
    """`others` are the products of the other numbers of the row; `last` are a bias, and whether the sum is open."""
    *bias, unclear = last
    number, point, factor, rest, *added = (finite(one, "MNB-U4") for one in (a, zero_point, scale, others, *bias))
    dequantized = step(step(weight - point) * factor).by("MNB-F1")
    product = step(step(number * dequantized) + rest).by("MNB-F2")
    result = to_real(total([product, *added]).by("MNB-F3"), p.working).by("MNB-U5")
    return require(equal(unclear, 0), result, "MNB-U1", "MNB-U2", "MNB-U3", "MNB-U4")


TERMS = {ID: one_of_a_row}


OPERATOR = Operator(
    id=ID,
    prefix="MNB",
    formula="Y = A @ transpose((B - zero_points) * scales) + bias",
    sources=(DOCUMENT,),
    clauses=CLAUSES,
    attributes=(
        Attribute("K", "the number of input features", parse_size, required=True),
        Attribute("N", "the number of output features", parse_size, required=True),
        Attribute("bits", "the bits of a weight: 2, 4 or 8", parse_bits, default=4),
        Attribute("block_size", "how many weights along K share a scale, a power of two from 16 on", parse_block,
                  required=True),
        Attribute("accuracy_level", "what A can become: 0 and 1 nothing else, 2 float16, 3 bfloat16, 4 int8",
                  parse_level, default=0),
    ),
    forms=FORMS,
    outputs=("Y",),
    family="fake",
    real_types=REALS,
    quantized_types=(),
    operand_types=(("uint8", *REALS),),
    signature=signature,
    problems=problems,
    shape_of=shape_of,
    modes_of=lambda attributes: (),
    steps=(
        "weight = (quantized_weight - zero_point) * scale, difference and product rounded to A's type",
        "Y = A * weight, rounded to A's type, for the only number of a row; other products are added where their sum "
        "is exact",
        "Y + bias, rounded to A's type",
    ),
    optional_inputs=1,
    letters={"formula": "F", "placement": "P", "signature": "SNT"},
    roles={
        "weight": "MNB-F1",
        "product": "MNB-F2",
        "bias": "MNB-F3",
        "block": "MNB-P1",
        "packed": "MNB-P2",
        "packed-points": "MNB-P3",
        "real-points": "MNB-P4",
        "left-off": "MNB-P5",
        "beyond": "MNB-P6",
        "bias-column": "MNB-P7",
        "b-shape": "MNB-S1",
        "scales-shape": "MNB-S2",
        "inner": "MNB-S3",
        "shape": "MNB-S4",
        "bias-shape": "MNB-S5",
        "bits": "MNB-N1",
        "block-size": "MNB-N2",
        "level": "MNB-N3",
        "types": "MNB-T1",
        "point-types": "MNB-T2",
        "inputs": "MNB-T3",
        "order": "MNB-U1",
        "integers": "MNB-U2",
        "halves": "MNB-U3",
        "special": "MNB-U4",
        "sign": "MNB-U5",
    },
    files=tuple((real, real) for real in REALS),
    samples=samples.samples,
    not_offered=(
        "weight_prepacked other than 0: B lies as one GPU's kernel reads it, and the text describes no layout.",
        "An omitted projection, a B with a dimension of 0: Y is zeros or the bias, without arithmetic.",
        "g_idx: the text has neither its shape nor what it does.",
    ),
    contested=(
        Contest(
            "MNB-FLOAT-ZERO-POINT",
            "Is a zero point of A's type subtracted before the product with the scale?",
            ("MNB-F1", "MNB-P4"),
            {"operands": ["float32"], "attributes": {"K": 1, "N": 1, "block_size": 16}},
            ([[1.0]], [[[9.0] * 8]], [[0.1]], [[8.3]]),
            (
                Answer("the document", "yes: (9 - 8.3) * 0.1", (0.06999998539686203,), judged=True),
                Answer("onnxruntime 1.32, CPU kernel", "no: 9 * 0.1 - 8.3 * 0.1", (0.06999999284744263,)),
            ),
        ),
    ),
)  # fmt: skip
