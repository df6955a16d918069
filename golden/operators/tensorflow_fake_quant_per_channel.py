"""`tensorflow.FakeQuantWithMinMaxVarsPerChannel`: one min and one max for each position of the last axis."""

from __future__ import annotations

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import tensorflow_fake_quant as per_tensor
from tiebreak.golden.operators.model import Clause, Operator
from tiebreak.golden.samples import tensorflow_fake_quant_per_channel as samples

DOCUMENT = "TensorFlow 2.21, API documentation of FakeQuantWithMinMaxVarsPerChannel"
RANKS = (1, 2, 4)


def channels(node: Node, shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) not in RANKS:
        raise InvalidInput(
            f"{node.operator}: inputs of rank {len(shape)}; the document has [d], [b, d] and [b, h, w, d]"
        )
    return shape[-1:]


OPERATOR = Operator(
    id="tensorflow.FakeQuantWithMinMaxVarsPerChannel",
    prefix="TFC",
    formula=per_tensor.FORMULA,
    sources=(DOCUMENT,),
    clauses=(
        *per_tensor.clauses("TFC", DOCUMENT),
        Clause(
            "TFC-G1",
            "min and max have the shape [d]; each belongs to one position of the last axis.",
            f"{DOCUMENT}: via per-channel floats min and max of shape [d]",
        ),
        Clause(
            "TFC-G2",
            "The inputs' shape is [d], [b, d] or [b, h, w, d].",
            f"{DOCUMENT}: one of the shapes: [d], [b, d] [b, h, w, d]",
        ),
    ),
    attributes=per_tensor.ATTRIBUTES,
    forms=(("inputs", "min", "max"),),
    outputs=("outputs",),
    family="fake",
    real_types=("float32",),
    quantized_types=(),
    signature=per_tensor.signature,
    problems=per_tensor.problems_over(channels),
    modes_of=per_tensor.modes_of,
    letters=per_tensor.LETTERS,
    roles=per_tensor.shared_roles("TFC") | {"range": "TFC-G1", "rank": "TFC-G2"},
    steps=per_tensor.STEPS,
    files=(("float32", "float32"),),
    samples=samples.samples,
    contested=per_tensor.contests(
        "TFC", lambda value: [value], ("upward, other than its form for a whole tensor", (0.501960813999176,))
    ),
)
