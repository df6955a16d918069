"""Other orders of a document's steps: what they give is admitted, and nothing else; ties are not touched."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tiebreak.cli import main
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.arithmetic.doubles import rounded
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.orders import ORDERS
from tiebreak.golden.orders.ends import OrderSteps, StepEnds, point, to_odd, two_product, two_sum
from tiebreak.golden.orders.products import product, total
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.verdicts import GRADES

F = np.float32
SINGLE, HALF = FLOAT_TYPES["float32"], FLOAT_TYPES["float16"]
MATMUL = "onnx.QLinearMatMul"


@dataclass(frozen=True)
class Example:
    """A node with inputs for which another order of steps gives `got`; and with a tie, of which `away` is the far end.

    `wrong` is what no order gives. Without `tie` nothing is rounded to an integer.
    """

    operator: str
    inputs: tuple[Any, ...]
    got: Any
    wrong: Any
    tie: tuple[Any, ...] = ()
    away: Any = None
    types: dict[str, Any] = field(default_factory=dict)
    further: tuple[Any, ...] = ()  # outputs, which are right

    def case(self, inputs: tuple[Any, ...]) -> Case:
        node = make_node(self.operator, **self.types)
        arrays = (np.asarray(one, tensor.dtype) for one, tensor in zip(inputs, node.inputs, strict=True))
        return Case("a", node, tuple(arrays), "typed")


BYTES = {"real": "uint8", "quantized": "uint8"}
MATRICES: dict[str, Any] = {"real": "float32", "quantized": "uint8", "operands": ("uint8", "uint8")}
GEMM = BYTES | {"operands": ("int8",), "form": 1}
# 100 * 0.02 * 0.05 / 0.2 is a little less than 0.5; 100 * ((0.02 * 0.05) / 0.2) is more in float32. 5 / 2 is a tie.
EXAMPLES = (
    Example(MATMUL, ([[10]], 0.02, 0, [[10]], 0.05, 0, 0.2, 128), [[129]], [[127]],
            ([[5]], 0.5, 0, [[1]], 1, 0, 1, 0), [[3]], MATRICES),
    Example("com.microsoft.QGemm", ([[10]], 0.02, 0, [[10]], 0.05, 0, 0.2, 128), [[129]], [[127]],
            ([[5]], 0.5, 0, [[1]], 1, 0, 1, 0), [[3]], GEMM),
    Example("onnx.QLinearConv", ([[[10]]], 0.02, 0, [[[10]]], 0.05, 0, 0.2, 128), [[[129]]], [[[127]]],
            ([[[5]]], 0.5, 0, [[[1]]], 1, 0, 1, 0), [[[3]]], BYTES | {"zero_point": False}),
    # (24.8 + 7.5) / 0.2 + 77 is a little more than 238.5; both ratios of scales, rounded to float32, give less.
    Example("com.microsoft.QLinearAdd", (248, 0.1, 0, 52, 0.3, 27, 0.2, 77), 238, 240,
            (5, 0.5, 0, 0, 1, 0, 1, 0), 4),
    # 14 * 45 * 0.7 * 0.05 / 0.1 + 20 is a little less than 240.5.
    Example("com.microsoft.QLinearMul", (14, 0.7, 0, 45, 0.05, 0, 0.1, 20), 241, 239,
            (5, 0.5, 0, 1, 1, 0, 1, 0), 4),
    # 0.3 * ((14 - 8) * 1.1), by way of 0.3 * 1.1.
    Example("com.microsoft.MatMulNBits", ([[0.3]], [[[14, *[0] * 7]]], [[1.1]]), F(0.3) * F(1.1) * F(6), 1.97,
            types={"zero_point": False, "attributes": {"K": 1, "N": 1, "block_size": 16}}),
    # One and a half levels above input_low, by x * scale + shift.
    Example("openvino.FakeQuantize", (-0.69058824, -0.7, 0.9, -0.7, 0.9), -0.68745095, -0.68117649,
            (2.5, 0, 255, 0, 255), 4, {"real": "float32", "attributes": {"levels": 256}}),
    # q * scale + min_adj for (q + min_adj / scale) * scale.
    *(Example(f"tensorflow.FakeQuantWithMinMaxVars{more}", (one([-0.95]), one(-1.5), one(2.75)), -0.9500001072883606,
              -0.95001, (one([0.5]), one(0), one(255)), 2)
      for more, one in (("", lambda value: value), ("PerChannel", np.atleast_1d))),
    # 4.0117645 times 255 / 6 is more than 170.5 once float32 has rounded the ratio.
    Example("tensorflow.QuantizeV2", ([4.0117645], 0, 6), 171, 169, ([2.5], 0, 255), 2, further=(0, 6)),
)  # fmt: skip


def grades(case: Case, *outputs: Any) -> list[str]:
    """The grade of each element, which a case and a chunk of cases agree on."""
    arrays = [
        np.asarray(one, tensor.dtype).reshape(problem.shape)
        for one, tensor, problem in zip(outputs, case.node.outputs, problems_of(case), strict=True)
    ]
    judgement = judge_outputs(arrays, truths_of(case))
    among = Chunk((case,)).in_other_order(judgement.values, np.ones(judgement.grades.shape, bool))
    assert among[judgement.grades == GRADES.index("other-order")].all()
    assert not among[judgement.grades == GRADES.index("deviates")].any()
    return [GRADES[grade] for grade in judgement.grades]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.operator)
def test_another_order_is_admitted_and_one_more_is_not(example: Example) -> None:
    case = example.case(example.inputs)
    assert grades(case, example.got, *example.further)[0] == "other-order"
    assert grades(case, example.wrong, *example.further)[0] == "deviates"


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one.tie], ids=lambda example: example.operator)
def test_where_the_real_argument_is_a_tie_nothing_is_admitted(example: Example) -> None:
    assert grades(example.case(example.tie), example.away, *example.further)[0] == "deviates"


@pytest.mark.parametrize(
    ("operator", "types", "conforms"),
    [
        ("ngraph.Quantize", {"attributes": {"round_mode": "ROUND_NEAREST_TOWARD_EVEN"}}, True),
        ("onnx.QuantizeLinear", {"opset": 21}, True),
        ("onnx.QuantizeLinear", {"opset": 23}, False),
    ],
)
def test_a_division_of_which_nothing_is_said_may_be_of_any_wider_type(
    operator: str, types: dict[str, Any], conforms: bool
) -> None:
    """5528 / 0.09998 is 55293.46: 55293 exactly, 55296 in float16, and a tie in float32, which makes it 55294."""
    node = make_node(operator, real="float16", quantized="uint16", **types)
    inputs = (np.full(5, 5528, np.float16), np.float16(0.1), np.uint16(0))
    case = Case("a", node, tuple(np.asarray(one) for one in inputs), "typed")
    found = grades(case, np.array([55293, 55296, 55294, 55295, 55292]))
    wider = "other-order" if conforms else "deviates"
    assert found == ["exact", "working-precision", wider, "deviates", "deviates"]


def test_a_constant_factor_may_underflow_in_a_step_too() -> None:
    """alpha * b_scale is subnormal in float32; in the written order no step is."""
    alpha, a_scale, b_scale, summed = F(1.3e-38), F(870.4), F(0.00107421875), F(77)
    given = np.uint8([[77]]), a_scale, np.uint8(0), np.int8([[1]]), b_scale, np.int8(0)
    node = make_node(
        "com.microsoft.QGemm", **GEMM | {"quantized": "float32", "form": 3, "attributes": {"alpha": alpha}}
    )
    case = Case("a", node, tuple(map(np.asarray, given)), "typed")
    other = alpha * b_scale * a_scale * summed
    assert grades(case, [[other]]) == ["other-order"]
    assert grades(case, [[other * F(1.001)]]) == ["deviates"]


def test_versions_of_a_document_that_leave_it_open_and_that_do_not_are_judged_apart_in_one_chunk() -> None:
    inputs = np.float16([5528]), np.float16(0.1), np.uint16(0)
    nodes = [make_node("onnx.QuantizeLinear", real="float16", quantized="uint16", opset=opset) for opset in (21, 23)]
    cases = tuple(Case(str(number), node, tuple(map(np.asarray, inputs)), "typed") for number, node in enumerate(nodes))
    found = Chunk(cases).in_other_order(np.array([55294, 55294]), np.ones(2, bool))
    assert found.tolist() == [True, False]


def test_every_operator_that_leaves_the_order_open_has_an_example_and_is_in_the_glossary() -> None:
    known = {formula.partition(":")[0] for formula in ORDERS} - {"a division"}
    assert known == {example.operator for example in EXAMPLES}
    glossary = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
    listed = glossary.partition("These operators leave the order open:")[2].partition("\n\n")[0]
    assert known == {word.strip("`,.\n") for word in listed.split()}


@pytest.mark.parametrize("operator", ["onnx.QuantizeLinear", "onnx.DequantizeLinear", "torch.quantize_per_tensor"])
def test_a_document_that_says_how_it_computes_is_held_to_it(operator: str) -> None:
    assert operator not in ORDERS


def test_a_step_that_overflows_is_a_step() -> None:
    """100 * 3e38 is infinite in float32, and so is what comes of it; no order gives what lies between 10 and that."""
    case = EXAMPLES[0].case(([[10]], 3e38, 0, [[10]], 1e-38, 0, 29, 0))
    told = {got: grades(case, [[got]])[0] for got in (9, 10, 11, 100, 254, 255)}
    assert told == {10: "exact", 255: "other-order"} | dict.fromkeys((9, 11, 100, 254), "deviates")


def test_a_step_that_underflows_is_a_step() -> None:
    """1e-25 * 1e-21 is 0 in float32."""
    case = EXAMPLES[0].case(([[255]], 1e-25, 0, [[255]], 1e-21, 0, 1e-43, 0))
    scales = [Fraction(float(case.inputs[at])) for at in (1, 4, 6)]
    right = round(255 * 255 * scales[0] * scales[1] / scales[2])
    assert 0 < right < 255
    working = grades(case, [[0]])[0]
    assert working == "working-precision" and grades(case, [[right]]) == ["exact"]
    assert grades(case, [[right // 2]]) == ["deviates"]


def test_a_factor_that_overflows_leaves_no_number_and_so_no_accusation() -> None:
    """127 / 5.9e-39 is infinite in float32: what is clipped at 127 / infinity is 0, and 0 times infinity no number."""
    attributes = {"mode": "SCALED", "ensure_minimum_range": 0.0}
    node = make_node("tensorflow.QuantizeV2", quantized="int8", attributes=attributes)
    case = Case("a", node, (F([-5e-39, 1e-39, 5.9e-39]), F(-5.9e-39), F(5.9e-39)), "typed")
    assert "deviates" not in grades(case, [0, 0, 0], 0, 0)
    wide = Case("b", node, (F([-5, 1, 5.9]), F(-5.9), F(5.9)), "typed")
    assert grades(wide, [0, 0, 0], -128 * 5.9 / 128, 127 * 5.9 / 128)[:3] == ["deviates"] * 3


RANDOM = np.random.default_rng(8)


def both(value: Array) -> list[Array]:
    """A step's result in float64 and in float32."""
    return [value, value.astype(F).astype(float)]


def every_product(factors: dict[str, Array], names: str, inverse: bool) -> list[Array]:
    """All values of a product of some factors, or of its inverse; d divides. None of the inverse of what multiplies."""
    if len(names) == 1:
        if (names == "d") == inverse:
            return [factors[names]]
        return [] if inverse else both(1 / factors["d"])
    found = []
    for size in range(1, len(names)):
        for one in map("".join, combinations(names, size)):
            other = "".join(name for name in names if name not in one)
            for a in every_product(factors, one, inverse):
                found += [way for b in every_product(factors, other, inverse) for way in both(a * b)]
                found += [way for b in every_product(factors, other, not inverse) for way in both(a / b)]
    return found


def test_a_product_has_the_ends_of_all_its_orders() -> None:
    """Every grouping of two factors and a divisor, each step in float32 or float64, by NumPy."""
    factors = {name: RANDOM.uniform(0.5, 2, 400).astype(F).astype(float) for name in "abd"}
    given = every_product(factors, "abd", inverse=False)
    found = product(OrderSteps(SINGLE), [point(factors[name]) for name in "ab"], [point(factors["d"])])
    assert np.array_equal(found.low, np.min(given, axis=0)) and np.array_equal(found.high, np.max(given, axis=0))
    assert (found.high / found.low < 1 + 2.0**-21).all()


def test_a_sum_has_the_ends_of_all_its_orders() -> None:
    terms = [RANDOM.uniform(-1, 1, 300).astype(F).astype(float) for _ in range(3)]
    found = total(OrderSteps(SINGLE), list(map(point, terms)))
    given = [way for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0)) for one in both(terms[i] + terms[j])
             for way in both(one + terms[k])]  # fmt: skip
    assert np.array_equal(found.low, np.min(given, axis=0)) and np.array_equal(found.high, np.max(given, axis=0))


def test_rounding_twice_by_way_of_an_odd_number_is_rounding_once() -> None:
    """A product of float32 numbers needs more bits than float64 has only with a third factor."""
    a, b = (RANDOM.uniform(1, 2, 4000) for _ in range(2))
    product_, rest = two_product(a, b)
    wide = np.longdouble(a) * np.longdouble(b)
    assert (np.longdouble(product_) + np.longdouble(rest) == wide).mean() > 0.4
    tie = np.array([1 + 2.0**-24]), np.array([2.0**-80])
    assert rounded(tie[0], SINGLE)[0] == 1 and rounded(to_odd(*two_sum(*tie)), SINGLE)[0] == 1 + 2.0**-23
    assert rounded(to_odd(*two_sum(tie[0], -tie[1])), SINGLE)[0] == 1


@pytest.mark.parametrize("kind", [SINGLE, HALF], ids=lambda kind: kind.name)
def test_rounding_to_a_type_is_numpys_own(kind: Any) -> None:
    values = np.concatenate([RANDOM.normal(0, 1, 2000) * 10.0 ** RANDOM.integers(-48, 40, 2000), [0, np.inf, -np.inf]])
    with np.errstate(all="ignore"):
        assert np.array_equal(rounded(values, kind), values.astype(kind.name).astype(float))


def test_a_factor_that_may_be_zero_or_of_either_sign_has_both() -> None:
    with np.errstate(all="ignore"):
        found = product(OrderSteps(SINGLE), [StepEnds(np.array([-1.0]), np.array([2.0])), point(np.array([3.0]))])
    assert found.low[0] <= -3 and found.high[0] >= 6


BOX = """
import numpy as np

F = np.float32


class Box:
    name, version, operators = "box", "1", {"onnx.QLinearMatMul"}

    def compile(self, node):
        return self.run

    def run(self, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
        total = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)
        quotient = total.astype(F) * (F(a_scale * b_scale) / y_scale)
        return (np.clip(np.rint(quotient).astype(np.int64) + int(y_zero) + MORE, 0, 255).astype(np.uint8),)
"""
NAMES = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")


def cli(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)


def typed(folder: Path, *more: str, add: int = 0) -> Result:
    """A run of the first example on a box that computes in another order."""
    box = folder / "box.py"
    box.write_text(BOX.replace("MORE", str(add)), encoding="utf-8")
    inputs = [f"{name}={json.dumps(value)}" for name, value in zip(NAMES, EXAMPLES[0].inputs, strict=True)]
    words = ["--input-type", "float32", "--type", "uint8"]
    for one in inputs:
        words += ["--input", one]
    return cli("run", "-b", f"{box}:Box", "--operator", MATMUL, *words, "-o", folder / "run", *more)


@pytest.mark.slow
def test_a_run_tells_another_order_apart_and_fails_only_if_strict(tmp_path: Path) -> None:
    shown = typed(tmp_path)
    assert shown.exit_code == 0 and "other-" in shown.output and "another order of steps" in shown.output
    told = json.loads(typed(tmp_path, "--json").output)
    assert told["backends"]["box"]["operators"][MATMUL]["verdicts"] == {"other-order": 1}
    assert not told["clusters"] and not told["discrepancies"]
    assert typed(tmp_path, "--strict").exit_code == 1
    assert typed(tmp_path, add=1).exit_code == 1, "one more is a deviation"


@pytest.mark.slow
def test_a_gate_tells_it_and_fails_only_if_strict_and_new(tmp_path: Path) -> None:
    typed(tmp_path)
    run = tmp_path / "run"
    plain = cli("gate", run)
    assert plain.exit_code == 0 and "other order" in plain.output
    junit = tmp_path / "gate.xml"
    assert cli("gate", run, "--strict", "--junit", junit).exit_code == 1
    assert "other order" in junit.read_text(encoding="utf-8")
    known = cli("gate", run, "--strict", "--baseline", run)
    assert known.exit_code == 0 and "other order" not in known.output


@pytest.mark.slow
def test_a_report_shows_it_and_a_junit_file_fails_it_only_if_strict(tmp_path: Path) -> None:
    for words, failures in ((), 0), (("--strict",), 1):
        typed(tmp_path, *words)
        assert cli("report", tmp_path / "run", "--junit", tmp_path / "j.xml").exit_code == 0
        assert (tmp_path / "j.xml").read_text(encoding="utf-8").count("<failure") == failures
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "≋" in page and "other order" in page
