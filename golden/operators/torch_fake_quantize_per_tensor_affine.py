"""`torch.fake_quantize_per_tensor_affine`: to a grid and back; its per-channel form takes its rules from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import (
    Numeric,
    Term,
    clamp,
    finite,
    lifted,
    rounded,
    step,
    to_real,
)
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Attribute, Clause, Contest, Kind, Operator, Types, parse_integer
from tiebreak.golden.operators.torch_quantize_per_tensor import operands_along
from tiebreak.golden.problem import Array, Elementwise, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import torch_fake_quantize_per_tensor_affine as samples

ID = "torch.fake_quantize_per_tensor_affine"
DOCUMENT = "PyTorch 2.13, docstring of torch.fake_quantize_per_tensor_affine"
ROUNDING = "ISO C++, std::nearbyint, in the default rounding mode of IEEE 754"
KERNEL = "PyTorch 2.13, CPU kernel"
FORMULA = "output = (min(quant_max, max(quant_min, std::nearby_int(input / scale) + zero_point)) - zero_point) * scale"
STEPS = (
    "quotient = input / scale, rounded to float32",
    "level = nearby_int(quotient) + zero_point, limited to quant_min … quant_max, exact",
    "difference = level - zero_point, exact",
    "output = difference * scale, rounded to float32",
)
LETTERS: Mapping[Kind, str] = {
    "formula": "F",
    "rounding": "R",
    "saturation": "C",
    "signature": "TS",
}
LEAST, MOST = -(1 << 31), (1 << 31) - 1


def parse_level(value: Any) -> int:
    level = parse_integer(value)
    if not LEAST <= level <= MOST:
        raise ValueError(f"{level} is no int32")
    return level


ATTRIBUTES = (
    Attribute("quant_min", "the lower bound of the quantized domain", parse_level, required=True),
    Attribute("quant_max", "the upper bound of the quantized domain", parse_level, required=True),
)


def clauses(prefix: str, document: str) -> tuple[Clause, ...]:
    """The rules that both forms share, with a prefix for their ids and the docstring of the form."""
    silent = f"{document}: silent"
    return (
        Clause(f"{prefix}-F1", "The input is divided by the scale.", f"{document}, formula"),
        Clause(
            f"{prefix}-R1",
            "The quotient is rounded by std::nearby_int: to the nearest integer, ties to even.",
            f"{document}, formula; {ROUNDING}",
        ),
        Clause(f"{prefix}-F2", "The zero point is added to the rounded quotient.", f"{document}, formula"),
        Clause(f"{prefix}-C1", "The sum is limited to quant_min … quant_max.", f"{document}, formula"),
        Clause(f"{prefix}-F3", "The zero point is subtracted again.", f"{document}, formula"),
        Clause(f"{prefix}-F4", "The difference is multiplied by the scale.", f"{document}, formula"),
        Clause(f"{prefix}-T1", "Input, scale and output are float32.", f"{document}, Args and Returns"),
        Clause(f"{prefix}-T2", "quant_min and quant_max are integers.", f"{document}, Args"),
        Clause(
            f"{prefix}-S1",
            "The output has the shape of the input.",
            f"{document}: a new tensor with the data in input fake quantized",
        ),
        Clause(f"{prefix}-U1", "What a NaN operand gives.", silent, unspecified=True, situation="a NaN operand"),
        Clause(
            f"{prefix}-U2",
            "What an infinite operand gives.",
            silent,
            unspecified=True,
            situation="an infinite operand",
        ),
        Clause(
            f"{prefix}-U3", "What a scale of zero gives.", silent, unspecified=True, situation="an undefined result"
        ),
        Clause(
            f"{prefix}-U4",
            "The sign of a zero result: either zero is accepted.",
            silent,
            unspecified=True,
            situation="a zero result",
        ),
    )


def roles(prefix: str) -> dict[str, str]:
    names = {
        "quotient": "F1", "nearest": "R1", "add": "F2", "clamp": "C1", "subtract": "F3", "product": "F4",
        "type": "T1", "levels": "T2", "shape": "S1", "nan": "U1", "infinity": "U2", "zero-scale": "U3",
        "zero-sign": "U4",
    }  # fmt: skip
    return {role: f"{prefix}-{clause}" for role, clause in names.items()}


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, types.real, "int32"), (types.real,)


def problems_over(
    axes_of: Callable[[Node, tuple[int, ...]], tuple[int, ...]],
) -> Callable[..., tuple[Elementwise, ...]]:
    """The problems of nodes whose parameters vary along the axes that `axes_of` gives for an input's shape.

    InvalidInput for parameters of another shape.
    """

    def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
        shape = inputs[0].shape
        operands = operands_along(axes_of(node, shape), node, inputs)
        constants = {name: node.attributes[name] for name in ("quant_min", "quant_max")}
        kinds, real = tuple(map(kind_of, inputs)), node.real
        return (Elementwise(node.operator, "output", shape, real, real, EVEN, kinds, operands, constants),)

    return problems


def contests(prefix: str, place: Callable[[float], Any], node: Mapping[str, Any]) -> tuple[Contest, ...]:
    """The questions about both forms; `place` puts a scale or a zero point into the form's shape."""
    limits = {"attributes": {"quant_min": 0, "quant_max": 255, **node}}
    return (
        Contest(
            f"{prefix}-ORDER",
            "Is the zero point added before rounding or after it?",
            (f"{prefix}-F2", f"{prefix}-R1"),
            limits,
            ([[0.5, 1.5]], place(1.0), place(1)),
            (
                Answer(f"{DOCUMENT}, formula", "after", (0.0, 2.0), judged=True),
                Answer(
                    "PyTorch 2.13, docstring of torch.ao.quantization.FakeQuantize",
                    "before: round(x/scale + zero_point), whose tie rule is not said",
                    "0 or 1, 1 or 2",
                ),
                Answer(f"{KERNEL}, an integer zero point", "after", (0.0, 2.0)),
            ),
        ),
        Contest(
            f"{prefix}-DIVIDE",
            "Is the input divided by the scale or multiplied by its inverse?",
            (f"{prefix}-F1",),
            limits,
            ([[4.8046875]], place(0.640625), place(0)),
            (
                Answer(f"{DOCUMENT}, formula", "divided: 7.5, a tie, gives 8", (5.125,), judged=True),
                Answer(KERNEL, "multiplied by the rounded inverse: below 7.5", (4.484375,)),
            ),
        ),
        Contest(
            f"{prefix}-NAN",
            "What does NaN become?",
            (f"{prefix}-U1",),
            limits,
            ([[float("nan")]], place(1.0), place(1)),
            (
                Answer("the documents", "nothing is said", "unspecified", judged=True),
                Answer(KERNEL, "quant_min", (-1.0,)),
            ),
        ),
    )


def fake_quantize(p: Elementwise, value: Term, scale: Term, zero_point: Term) -> Term:
    letters, of_floats = PREFIXES[p.formula], isinstance(p.kinds[2], FloatType)
    x, size, zero = (finite(one, f"{letters}-U1", f"{letters}-U2") for one in (value, scale, zero_point))

    def in_type(number: Numeric) -> Term:
        """What is computed in the type of a zero point that is a float; with integers it is exact."""
        return step(number) if of_floats else lifted(number)

    quotient = step(x / size).by(f"{letters}-F1", f"{letters}-U3")
    level = in_type(rounded(quotient, p.mode).by(f"{letters}-R1") + zero).by(f"{letters}-F2")
    ends = (in_type(p.constants[end]) for end in ("quant_min", "quant_max"))
    difference = in_type(clamp(level, *ends).by(f"{letters}-C1").named("clamped level") - zero).by(f"{letters}-F3")
    return to_real((difference * size).by(f"{letters}-F4"), p.working).by(f"{letters}-U4")


PREFIXES = {ID: "PFT", "torch.fake_quantize_per_channel_affine": "PFC"}
TERMS = dict.fromkeys(PREFIXES, fake_quantize)


OPERATOR = Operator(
    id=ID,
    prefix="PFT",
    formula=FORMULA,
    sources=(DOCUMENT, ROUNDING),
    clauses=(
        *clauses("PFT", DOCUMENT),
        Clause("PFT-T3", "The zero point is an integer.", f"{DOCUMENT}, Args, zero_point"),
        Clause("PFT-S2", "One scale and one zero point serve the whole tensor.", f"{DOCUMENT}, Args"),
    ),
    attributes=ATTRIBUTES,
    forms=(("input", "scale", "zero_point"),),
    outputs=("output",),
    family="fake",
    real_types=("float32",),
    quantized_types=(),
    signature=signature,
    problems=problems_over(lambda node, shape: ()),
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "PFT-R1",
    steps=STEPS,
    letters=LETTERS,
    roles=roles("PFT") | {"zero-point-type": "PFT-T3", "per-tensor": "PFT-S2"},
    files=(("float32", "float32"),),
    samples=samples.samples,
    contested=contests("PFT", lambda value: value, {}),
)
