"""Patterns are read from text and from Python, and whatever is no pattern is refused in one line."""

from __future__ import annotations

import pytest

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns import build
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.golden.patterns.writing import text_of


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_pattern_is_read_back_from_its_own_text(name: str) -> None:
    pattern = pattern_of(name, "int8")
    again = pattern_of(text_of(pattern))
    assert (again.operands, again.steps, again.pairs, again.output) == (
        pattern.operands, pattern.steps, pattern.pairs, pattern.output,
    )  # fmt: skip


def test_pairs_are_named_in_the_order_of_the_data() -> None:
    pattern = pattern_of("Q(Add(DQ(a), DQ(b)))")
    assert [(step.operation, step.pair) for step in pattern.steps] == [
        ("DQ", "s1"),
        ("DQ", "s2"),
        ("Add", ""),
        ("Q", "s3"),
    ]


def test_a_pair_that_the_text_names_is_no_other_ones() -> None:
    pattern = pattern_of("Q(Add(DQ(a), DQ(b, s1)))")
    assert [step.pair for step in pattern.steps] == ["s2", "s1", "", "s3"]


def test_dq_of_a_q_has_its_pair() -> None:
    assert list(pattern_of("DQ(Q(DQ(Q(x))))").pairs) == ["s1", "s2"]
    assert list(pattern_of("DQ(Q(x), other)").pairs) == ["s1", "other"]


def test_types_can_differ() -> None:
    pattern = pattern_of("Q(Add(DQ(a, type='int8'), DQ(b)), type='int16')")
    assert list(pattern.pairs.values()) == ["int8", "uint8", "int16"]
    assert pattern.output == "int16"


def test_operands_have_the_width_that_their_reader_needs() -> None:
    widths = {operand.name: operand.width for operand in pattern_of("Q(MaxPool(Add(DQ(a), DQ(b))))").operands}
    assert widths == {"a": 2, "b": 2}
    weight = pattern_of("conv-2").operands[1]
    assert (weight.name, weight.width, weight.constant, weight.columns) == ("w", 2, True, True)


def test_python_form_is_the_text() -> None:
    made = build.pattern(
        build.Q(build.Relu(build.Conv(build.DQ("x"), build.DQ(build.constant("w")), k=2)), "s9", type="int8")
    )
    assert made.text == "Q(Relu(Conv(DQ(x), DQ(constant(w)), k=2)), s9, type='int8')"
    assert made.pairs == {"s1": "uint8", "s2": "uint8", "s9": "int8"}
    for name in (
        "Clip",
        "Add",
        "Sub",
        "Mul",
        "MaxPool",
        "AveragePool",
        "GlobalAveragePool",
        "Concat",
        "Sigmoid",
        "Tanh",
    ):
        arguments = {"Clip": ("x", 0, 6), "Add": ("x", "a"), "Sub": ("x", "a"), "Mul": ("x", "a"), "Concat": ("x", "a")}
        whole = build.Q(getattr(build, name)(*arguments.get(name, ("x",))))
        assert build.pattern(whole).steps[0].operation == name
    for whole in (build.Resize(build.DQ("x"), "linear"), build.Softmax(build.DQ("x"))):
        assert build.pattern(build.Q(whole)).pairs == {"s1": "uint8", "s2": "uint8"}
    for product in (build.MatMul, build.Gemm):
        assert build.pattern(build.Q(product(build.DQ("x"), build.DQ("a"), 2))).steps[2].attributes == {"k": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("addd", "no pattern 'addd'; known: relu, clip, add"),
        ("Q(Add(DQ(a), DQ(b))", "was never closed"),
        ("Q(Erf(DQ(a)))", "no operation 'Erf'; known: Q, DQ, Relu"),
        ("Q(Add(DQ(a)))", "Add takes 2 arguments, not 1"),
        ("Q(Clip(DQ(a), 0, b))", "b is no number"),
        ("Q(Clip(DQ(a), 0, 1e99))", "is no number"),
        ("Q(DQ(a), s, s)", "takes a value and, if it is shared, the name of its scale"),
        ("Q(DQ(a, 1))", "takes a value and, if it is shared, the name of its scale"),
        ("Q(DQ(a), type='float32')", "type is one of uint8, int8, uint16, int16"),
        ("Q(DQ(a, s, type='int8'), s, type='uint8')", "scale s is of int8 and of uint8"),
        ("Q(DQ(Relu(a)))", "DQ takes an operand, a constant, or what a Q of its type gives"),
        ("Q(Resize(DQ(a), mode='cubic'))", "mode is nearest or linear"),
        ("Q(Relu(DQ(a), axis=1))", "axis is not known; it has no attributes"),
        ("Q(MatMul(DQ(a), DQ(b), k=3))", "k is 1 or 2"),
        ("Q(Add(DQ(a), a))", "used in two ways"),
        ("Q(DQ(constant(a)))", "has an operand that is no constant"),
        ("Q(MaxPool(MaxPool(DQ(a))))", "values a row where"),
        ("Q(a.b)", "neither an operand nor an operation"),
        ("Q(x[0])", "neither an operand nor an operation"),
        ("__import__('os').system('true')", "neither an operand nor an operation"),
        ("Q(Relu(lambda: 0))", "neither an operand nor an operation"),
        ("Q(" * 400 + "x" + ")" * 400, "at most 500 characters"),
        ("Q(" + "Relu(" * 40 + "x" + ")" * 41, "at most 16 operations"),
        ("Q(\x00)", "no pattern"),
        ("Q(None)", "neither an operand nor an operation"),
        ("Q(Relu)", "an operand can't be called Relu"),
        ("Q(DQ(y))", "an operand can't be called y: take a letter from a to x"),
        ("Q(DQ(model))", "an operand can't be called model"),
    ],
)
def test_what_is_no_pattern_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        pattern_of(text)
    message = str(refused.value)
    assert said in message
    assert "\n" not in message
    assert len(message) < 600


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match="type 'int32' is none of uint8, int8, uint16, int16"):
        pattern_of("add", "int32")
