"""`nvidia.NVFP4Quantize`: blocks of 16 numbers to a scale of 8 bits each and elements of 4 bits.

cuBLAS documents blocks alone; NVIDIA's paper on pretraining documents the second level, a scale of the whole tensor.
Both give the same real numbers. What neither says of a conversion beyond the largest value is that of PTX, whose
instructions for these types all saturate. The documentation of cuBLAS and PTX was read in copies that others keep, the
paper's appendix in a quotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    agreed,
    clamp,
    finite,
    held,
    is_finite,
    number,
    require,
    step,
    to_float,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, decode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.nvidia_nvfp4_quantize_contested import CONTESTED, CUBLAS, PAPER, PTX
from tiebreak.golden.problem import Array, Elementwise, Problem, codes_of, kind_of
from tiebreak.golden.samples import nvidia_nvfp4_quantize as samples

ID = "nvidia.NVFP4Quantize"
BLOCK = 16
ELEMENT_TYPE, SCALE_TYPE = "float4_e2m1fn", "float8_e4m3fn"
REALS = ("float32", "bfloat16")
AMAX, GLOBAL = "amax of its block", "global_amax"
LARGEST = 6.0
STEP = f"{CUBLAS}, 3.1.4.4.1"
FP4 = f"{STEP}, FP4 with UE4M3 scales"

CLAUSES = (
    Clause(
        "NVQ-F1",
        "A block's scale is its greatest magnitude divided by 6, the largest element, in float32.",
        f"{STEP}, step 2; {PAPER}, equation 2",
    ),
    Clause("NVQ-F2", "The scale is put out in E4M3.", f"{FP4}, step 1; {PAPER}, equation 3"),
    Clause(
        "NVQ-F3",
        "An element is its input times 1 / the scale that is put out; reciprocal and product are float32.",
        f"{FP4}, step 2, and Applying conversion factors",
    ),
    Clause(
        "NVQ-F4",
        "With global_amax the quotient is multiplied by 6 * 448 / global_amax, a float32, before it becomes E4M3.",
        f"{PAPER}, equations 1 and 3; {FP4}: scale_D^in",
        situation="a global_amax",
    ),
    Clause(
        "NVQ-F5",
        "With global_amax an element's factor is 1 / (scale * s_dec); s_dec is 1 / (6 * 448 / global_amax).",
        f"{PAPER}, equations 3 and 4",
        situation="a global_amax",
    ),
    Clause(
        "NVQ-R1",
        "A scale is rounded to nearest, ties to even.",
        f"{STEP}: RNE unless noted otherwise",
    ),
    Clause(
        "NVQ-R2",
        "An element is rounded to nearest, ties to even.",
        f"{STEP}: RNE unless noted otherwise",
    ),
    Clause(
        "NVQ-C1",
        "A scale beyond 448 becomes 448: a conversion to E4M3 has no other form.",
        f"{PTX}: .satfinite is mandatory for .e4m3x2",
        situation="a scale beyond 448",
    ),
    Clause(
        "NVQ-C2",
        "An element beyond 6 becomes 6, with its sign.",
        f"{PTX}: .satfinite is mandatory for .e2m1x2",
        situation="an input beyond 6 of its scales",
    ),
    Clause(
        "NVQ-T1",
        "Elements are E2M1 and scales E4M3 without a sign; global_amax is float32.",
        f"{CUBLAS}, 3.1.4.4: VEC16_UE4M3; {PAPER}, table 1",
    ),
    Clause(
        "NVQ-S1",
        "A block has 16 elements and one scale; here along the last axis.",
        f"{CUBLAS}, 3.1.4.4: VEC16_UE4M3",
    ),
    Clause(
        "NVQ-S2",
        "A last block with fewer elements is quantized as if the missing ones were zero.",
        f"{STEP}: partial blocks",
        situation="a part of 16 elements",
    ),
    Clause(
        "NVQ-S3",
        "global_amax is one number, which may be left off.",
        f"{PAPER}, equation 1; {FP4}: scale_D^in",
        situation="an optional input left off",
    ),
    Clause(
        "NVQ-U1",
        "What a block with NaN or an infinity gives.",
        f"{STEP}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "NVQ-U2",
        "What the elements of a block are whose scale rounds to zero, a block of zeros too: 1 / 0 is no number.",
        f"{STEP}: silent",
        unspecified=True,
        situation="a scale that rounds to zero",
    ),
    Clause(
        "NVQ-U3",
        "What a global_amax gives that is not positive, or so small that a factor that it makes is beyond float32.",
        f"{PAPER}, equations 1 and 3: silent",
        unspecified=True,
        situation="a global_amax that scales nothing",
    ),
    Clause(
        "NVQ-U5",
        "In which order global_amax takes part in working precision: the paper divides by 6 first and inverts a "
        "product, cuBLAS multiplies by the factor of the tensor. What the orders that the two write give alike is "
        "required.",
        f"{PAPER}, equations 1 to 4; {FP4}: scale_D^in",
        unspecified=True,
        situation="a global_amax",
    ),
    Clause(
        "NVQ-U4",
        "The sign of an element that is zero.",
        f"{STEP}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, "float32") if types.optional else (types.real,), (types.quantized, SCALE_TYPE)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For the elements each input with its block's greatest magnitude, for the scales that magnitude alone."""
    x = inputs[0]
    check_shapes(inputs)
    amax = greatest(x)
    kind, own = kind_of(x), codes_of(amax)
    return (
        posed(ID, "elements", ELEMENT_TYPE, x.shape, inputs, (("x", kind, codes_of(x)), (AMAX, kind, spread(own, x)))),
        posed(f"{ID}:scales", "scales", SCALE_TYPE, own.shape, inputs, ((AMAX, kind, own),)),
    )


def posed(
    formula: str, output: str, to: str, shape: tuple[int, ...], inputs: tuple[Array, ...], given: tuple[Any, ...]
) -> Elementwise:
    """A problem with these operands (name, type, codes), and with global_amax for each element, if there is one."""
    single = FLOAT_TYPES["float32"]
    for array in inputs[1:]:
        given = (*given, (GLOBAL, single, np.broadcast_to(codes_of(array).reshape(-1), int(np.prod(shape)))))
    names, kinds, codes = zip(*given, strict=True)
    flat = tuple(np.ascontiguousarray(each).reshape(-1) for each in codes)
    make = partial(Elementwise, working=single, mode="", constants={"largest": LARGEST, "given": "scale" in names})
    return make(formula, output, shape, ELEMENT_TYPES[to], kinds=kinds, operands=flat, named=names)


def check_shapes(inputs: tuple[Array, ...]) -> None:
    if not inputs[0].ndim:
        raise InvalidInput(f"{ID}: a scalar has no axis along which a block could lie")
    if any(array.size != 1 for array in inputs[1:]):
        raise InvalidInput(f"{ID}: {GLOBAL} is one number, not {inputs[1].size}")


def greatest(x: Array) -> Array:
    """The greatest magnitude of each block along the last axis; NaN if it has one."""
    *outer, length = x.shape
    blocks = -(-length // BLOCK)
    padded = np.zeros((*outer, blocks * BLOCK), x.dtype)
    padded[..., :length] = np.abs(x)
    with np.errstate(invalid="ignore"):  # which bfloat16 says of NaN
        return np.asarray(padded.reshape(*outer, blocks, BLOCK).max(axis=-1))


def spread(blocks: Array, x: Array) -> Array:
    """What each block has, for each of its elements."""
    return np.repeat(blocks, BLOCK, axis=-1)[..., : x.shape[-1]]


def chain(node: Node, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> dict[int, Problem]:
    """The elements given the scales that a backend gave."""
    x, scales = inputs[0], outputs[1]
    given = (("x", kind_of(x), codes_of(x)), ("scale", kind_of(scales), spread(codes_of(scales), x)))
    return {0: posed(ID, "elements", ELEMENT_TYPE, x.shape, inputs, given)}


SIX, WHOLE = Fraction(6), Fraction(6 * 448)
FLOAT32 = FLOAT_TYPES["float32"]


def elements(p: Elementwise, x: Term, of_block: Term, global_amax: Term | None = None) -> Term:
    """`of_block` is the block's greatest magnitude, or its scale if that is given."""
    scale_type = ELEMENT_TYPES["float8_e4m3fn"]
    assert isinstance(p.result, FloatType) and isinstance(scale_type, FloatType)
    scale = of_block if p.constants["given"] else as_put_out(scale_before_rounding(of_block, global_amax), scale_type)
    value, divisor = finite(x, "NVQ-U1"), finite(scale, "NVQ-U1")
    if global_amax is None:
        products = [step(value * reciprocal(divisor)).by("NVQ-F3")]
    else:
        whole = encoding(global_amax)
        own = reciprocal(step(divisor * step(1 / whole)))
        factor = step(in_float32(whole * reciprocal(divisor)))
        products = [
            step(value * own).by("NVQ-F5"),
            step(value * factor),
            step(step(value * whole) * reciprocal(divisor)),
        ]
    return agreed(*(to_float(number(one), p.result, "largest", "any") for one in products)).by(
        "NVQ-R2", "NVQ-C2", "NVQ-U4", "NVQ-U5"
    )


def reciprocal(divisor: Term) -> Term:
    return step(in_float32(1 / divisor)).by("NVQ-F3", "NVQ-U2", "NVQ-U3")


def scales(p: Elementwise, amax: Term, global_amax: Term | None = None) -> Term:
    assert isinstance(p.result, FloatType)
    kind = p.result
    orders = (to_float(number(one), kind, "largest", "no") for one in scale_before_rounding(amax, global_amax))
    return agreed(*orders).by("NVQ-F2", "NVQ-R1", "NVQ-C1", "NVQ-U5")


def as_put_out(orders: list[Term], kind: FloatType) -> Term:
    """The scale in which all orders agree."""
    end = decode(kind.largest_bits, kind)
    assert isinstance(end, Fraction)
    return agreed(*(held(clamp(one, -end, end), kind) for one in orders)).by("NVQ-F2", "NVQ-R1", "NVQ-C1", "NVQ-U5")


def scale_before_rounding(amax: Term, global_amax: Term | None) -> list[Term]:
    """amax / 6, or its product with global_amax's factor in each order."""
    largest = finite(amax, "NVQ-U1")
    quotient = step(largest / SIX).by("NVQ-F1")
    if global_amax is None:
        return [quotient]
    whole = encoding(global_amax)
    return [step(quotient * whole).by("NVQ-F4"), step(step(largest * whole) / SIX), step(largest * step(whole / SIX))]


def encoding(global_amax: Term) -> Term:
    """The factor s_enc."""
    whole = finite(global_amax)
    return require(whole > 0, step(in_float32(WHOLE / whole)), "NVQ-U3").by("NVQ-F4")


def in_float32(factor: Term) -> Term:
    """A factor that is a float32 when it is rounded to one. Even in real arithmetic undefined for a greater."""
    return require(is_finite(held(factor, FLOAT32)), factor, "NVQ-U2", "NVQ-U3")


TERMS = {ID: elements, f"{ID}:scales": scales}


OPERATOR = Operator(
    id=ID,
    prefix="NVQ",
    formula="scales = e4m3(max|x| / 6 * s_enc); elements = e2m1(x * s_enc / scales); "
    "s_enc = 6 * 448 / global_amax, or 1",
    sources=(CUBLAS, PAPER, PTX),
    clauses=CLAUSES,
    attributes=(),
    forms=(("x", GLOBAL),),
    outputs=("elements", "scales"),
    family="quantize",
    real_types=REALS,
    quantized_types=(ELEMENT_TYPE,),
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    optional_inputs=1,
    steps=(
        "s_enc = 2688 / global_amax and s_dec = 1 / s_enc, each rounded to float32",
        "max|x| / 6, then times s_enc, each rounded to float32; scale = that as float8_e4m3fn",
        "scale * s_dec, then 1 / that, each rounded to float32",
        "x times that, rounded to float32; element = that as float4_e2m1fn",
        "with global_amax there is a result where the orders that cuBLAS and the paper write for these steps agree",
        "without global_amax: max|x| / 6, 1 / scale and x * (1 / scale), each rounded to float32",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "TS"},
    roles={
        "scales": "NVQ-F1",
        "put-out": "NVQ-F2",
        "elements": "NVQ-F3",
        "global": "NVQ-F4",
        "global-elements": "NVQ-F5",
        "scale-nearest": "NVQ-R1",
        "nearest": "NVQ-R2",
        "saturate-scale": "NVQ-C1",
        "saturate": "NVQ-C2",
        "types": "NVQ-T1",
        "block": "NVQ-S1",
        "part": "NVQ-S2",
        "one-global": "NVQ-S3",
        "special": "NVQ-U1",
        "no-scale": "NVQ-U2",
        "no-global": "NVQ-U3",
        "sign": "NVQ-U4",
        "order": "NVQ-U5",
    },
    saturates=True,
    measures=lambda attributes: True,
    files=tuple((real, ELEMENT_TYPE) for real in REALS),
    samples=samples.samples,
    contested=CONTESTED,
    chain=chain,
)
