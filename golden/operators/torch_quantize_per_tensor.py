"""`torch.quantize_per_tensor`: one scale and one zero point; its per-channel form takes its rules from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, finite, rounded, step, to_integer
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Clause, Contest, Kind, Operator, Types
from tiebreak.golden.problem import Array, Elementwise, along, flat, kind_of
from tiebreak.golden.rounding import EVEN, NEAREST
from tiebreak.golden.samples import torch_quantize_per_tensor as samples

ID = "torch.quantize_per_tensor"
DOCUMENT = "PyTorch 2.13, docstring of torch.quantize_per_tensor"
QUANTIZER = "PyTorch 2.13, ATen/quantized/Quantizer.h, comment on AffineQuantizer"
AFFINE = f"{QUANTIZER}: Y = clamp(round(X / scale + zero_point), min, max)"
FAKE = "PyTorch 2.13, docstring of torch.fake_quantize_per_tensor_affine"
KERNEL = "PyTorch 2.13, CPU kernel"
TYPES = ("uint8", "int8", "int32")
FORMULA = "output = clamp(round(input / scale + zero_point), min, max)"
STEPS = (
    "quotient = input / scale, rounded to float32",
    "sum = quotient + zero_point, both rounded to float32",
    "output = round(sum), an integer, clamped to the ends of the output's type, exact",
)
LETTERS: Mapping[Kind, str] = {
    "formula": "F",
    "rounding": "R",
    "saturation": "C",
    "signature": "TS",
}


def clauses(prefix: str, document: str) -> tuple[Clause, ...]:
    """The rules that both forms share, with a prefix for their ids and the docstring of the form."""
    return (
        Clause(f"{prefix}-F1", "The input is divided by the scale.", AFFINE),
        Clause(f"{prefix}-F2", "The zero point is added to the quotient, before anything is rounded.", AFFINE),
        Clause(f"{prefix}-R1", "The sum is rounded to an integer, a nearest one.", AFFINE),
        Clause(
            f"{prefix}-C1",
            "The integer is clamped to the least and the greatest value of the quantized type.",
            AFFINE,
            situation="a result out of range",
        ),
        Clause(f"{prefix}-T1", "The input is a float tensor.", f"{document}, Arguments"),
        Clause(
            f"{prefix}-T2",
            "The quantized types are quint8, qint8 and qint32; their integers are the output here.",
            f"{document}, Arguments, dtype",
        ),
        Clause(
            f"{prefix}-T3",
            "The zero point is the integer to which 0.0 is mapped, so one of the quantized type.",
            f"{document}, Arguments",
        ),
        Clause(
            f"{prefix}-S1",
            "The output has the shape of the input.",
            f"{document}: Converts a float tensor to a … quantized tensor",
        ),
        Clause(
            f"{prefix}-U1",
            "Which integer round gives halfway between two.",
            f"{QUANTIZER}: silent",
            unspecified=True,
        ),
        Clause(
            f"{prefix}-U2",
            "What a NaN input or scale gives.",
            f"{document}: silent",
            unspecified=True,
            situation="a NaN operand",
        ),
        Clause(
            f"{prefix}-U3",
            "What an infinite input or scale gives.",
            f"{document}: silent",
            unspecified=True,
            situation="an infinite operand",
        ),
        Clause(
            f"{prefix}-U4",
            "What a scale of zero gives.",
            f"{document}: silent",
            unspecified=True,
            situation="an undefined result",
        ),
    )


def roles(prefix: str) -> dict[str, str]:
    """The clause for each thing that a vector or a cause may be about."""
    names = {
        "quotient": "F1", "zero-point": "F2", "nearest": "R1", "clamp": "C1", "real-type": "T1", "output-type": "T2",
        "zero-point-type": "T3", "shape": "S1", "ties": "U1", "nan": "U2", "infinity": "U3", "zero-scale": "U4",
    }  # fmt: skip
    return {role: f"{prefix}-{clause}" for role, clause in names.items()}


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, types.real, types.quantized), (types.quantized,)


def problems_over(
    axes_of: Callable[[Node, tuple[int, ...]], tuple[int, ...]],
) -> Callable[..., tuple[Elementwise, ...]]:
    """The problems of nodes whose scale and zero point vary along the axes that `axes_of` gives for an input's shape.

    InvalidInput for parameters of another shape.
    """

    def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
        operands, kinds = operands_along(axes_of(node, inputs[0].shape), node, inputs), tuple(map(kind_of, inputs))
        shape = inputs[0].shape
        return (Elementwise(node.operator, "output", shape, node.quantized, node.real, EVEN, kinds, operands),)

    return problems


def operands_along(axes: tuple[int, ...], node: Node, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    """The operands of each element, flat: parameters vary along the axes. InvalidInput for those of another shape."""
    x, *parameters = inputs
    check_shapes(node, parameters, tuple(x.shape[axis] for axis in axes))
    return flat(x, x.shape), *(flat(along(array, axes, x.shape), x.shape) for array in parameters)


def check_shapes(node: Node, parameters: list[Array], wanted: tuple[int, ...]) -> None:
    for tensor, array in zip(node.inputs[1:], parameters, strict=True):
        if array.shape != wanted:
            raise InvalidInput(f"{node.operator}: {tensor.name} has shape {list(array.shape)}, not {list(wanted)}")


def contests(
    prefix: str, place: Callable[[float], Any], node: Mapping[str, Any], of_nan: tuple[str, tuple[float, ...]]
) -> tuple[Contest, ...]:
    """The questions about both forms; `place` puts a number into the form's shape. `of_nan`: what the kernel says."""
    given = {"quantized": "int8", **node}
    return (
        Contest(
            f"{prefix}-ORDER",
            "Is the zero point added before rounding or after it?",
            (f"{prefix}-F2", f"{prefix}-R1"),
            given,
            ([[0.5, 1.5, -0.5]], place(1.0), place(1)),
            (
                Answer(QUANTIZER, "before: round(X / scale + zero_point); no tie rule", "1 or 2, 2 or 3, 0 or 1", True),
                Answer(FAKE, "after: nearby_int(input / scale) + zero_point", (1.0, 3.0, 1.0)),
                Answer(KERNEL, "before, ties to even", (2.0, 2.0, 0.0)),
                Answer(
                    "torch.ao.quantization.fx._decomposed.quantize_per_tensor, PyTorch 2.13, source",
                    "after: torch.round(input * inv_scale) + zero_point",
                    (1.0, 3.0, 1.0),
                ),
            ),
        ),
        Contest(
            f"{prefix}-DIVIDE",
            "Is the input divided by the scale or multiplied by its inverse?",
            (f"{prefix}-F1",),
            given,
            ([[-4.8046875]], place(0.640625), place(0)),
            (
                Answer(QUANTIZER, "divided: a tie, -7.5", "-8 or -7", judged=True),
                Answer(KERNEL, "multiplied by the rounded inverse: below -7.5 in magnitude", (-7.0,)),
            ),
        ),
        Contest(
            f"{prefix}-NAN",
            "What does NaN become?",
            (f"{prefix}-U2",),
            given,
            ([[float("nan")]], place(1.0), place(3)),
            (
                Answer("the documents", "nothing is said", "unspecified", judged=True),
                Answer(KERNEL, *of_nan),
            ),
        ),
    )


def quantize(p: Elementwise, value: Term, scale: Term, zero_point: Term) -> Term:
    letters = PREFIXES[p.formula]
    x, size, zero = (finite(one, f"{letters}-U2", f"{letters}-U3") for one in (value, scale, zero_point))
    if isinstance(p.kinds[2], FloatType):
        quotient = step(x * step(1 / size)).by("PQC-F3", f"{letters}-U4")
    else:
        quotient = step(x / size).by(f"{letters}-F1", f"{letters}-U4")
    summed = step(quotient + step(zero)).by(f"{letters}-F2")
    assert isinstance(p.result, IntegerType)
    return to_integer(rounded(summed, p.mode).by(f"{letters}-R1", f"{letters}-U1"), p.result).by(f"{letters}-C1")


PREFIXES = {ID: "PQT", "torch.quantize_per_channel": "PQC"}
TERMS = dict.fromkeys(PREFIXES, quantize)


OPERATOR = Operator(
    id=ID,
    prefix="PQT",
    formula=FORMULA,
    sources=(DOCUMENT, QUANTIZER, FAKE),
    clauses=(
        *clauses("PQT", DOCUMENT),
        Clause("PQT-S2", "One scale and one zero point serve the whole tensor.", f"{DOCUMENT}, Arguments"),
    ),
    attributes=(),
    forms=(("input", "scale", "zero_point"),),
    outputs=("output",),
    family="quantize",
    real_types=("float32",),
    quantized_types=TYPES,
    signature=signature,
    problems=problems_over(lambda node, shape: ()),
    modes_of=lambda attributes: NEAREST,
    mode_clause=lambda mode: "PQT-R1",
    steps=STEPS,
    letters=LETTERS,
    roles=roles("PQT") | {"per-tensor": "PQT-S2"},
    saturates=True,
    files=tuple(("float32", kind) for kind in TYPES),
    samples=samples.samples,
    contested=contests("PQT", lambda value: value, {}, ("of 8 bits the greatest value; of qint32 the least", (127.0,))),
)
