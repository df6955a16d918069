"""`tiebreak prove` against trying everything in another way: every code, zero point and scale, or every float."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.proving.claim import claim_of
from tiebreak.conformance.proving.codes import try_codes
from tiebreak.conformance.proving.deciding import decide, goals_of
from tiebreak.conformance.proving.findings import PROVED, REFUTED, UNKNOWN, Decision
from tiebreak.conformance.proving.job import ClaimDomain, prove_job
from tiebreak.conformance.proving.rules import RULES
from tiebreak.conformance.proving.scales import every_scale, of_exponent, value_of
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.exact import exact
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.stepwise import stepwise
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.reports.proofs import facts_of

IDENTITY = "Q(DQ(x, s), s) = x"
RELU = "Q(Relu(x), s) = Q(x, s)"
BF16 = np.dtype(ml_dtypes.bfloat16)


def decided(text: str, **where: str) -> Decision:
    return decide(claim_of(text, **where))


def scales_of_one_exponent(kind: np.dtype) -> Any:
    return (np.arange(128) / 128 + 1).astype(kind)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Q(DQ(x, s), s)", "x"),
        ("Q(Relu(DQ(x, s)), s)", "x"),
        ("Q(Add(DQ(x, s), DQ(x, s)), s)", "x"),
        ("Q(Relu(DQ(x, s)), s)", "Q(DQ(x, s), s)"),
        ("Q(Sub(DQ(x, s), Relu(DQ(x, s))), s)", "Q(DQ(x, s), s)"),
    ],
)
def test_zero_points_and_scales_with_a_difference_are_those_of_trying_everything(left: str, right: str) -> None:
    """bfloat16 and uint8: 65,536 pairs of code and zero point with each of 128 scales."""
    found = decided(f"{left} = {right}", real="bfloat16")
    scales = scales_of_one_exponent(BF16)
    differs: set[int] = set()
    with_any = np.zeros(128, bool)
    for zero in range(256):
        codes = np.arange(256, dtype=np.int32)[:, None]
        sides = [by_hand(side, codes, zero, scales) for side in (left, right)]
        unequal = np.asarray(sides[0] != sides[1])
        if unequal.any():
            differs.add(zero)
            with_any |= unequal.any(axis=0)
    shown = {zero for one in found.differs for zero in range(one.first, one.last + 1)}
    assert shown == differs == set(range(256)) - set(found.holds) and (found.verdict == REFUTED) == bool(differs)
    if differs:
        assert f"at {with_any.sum()} of the 128 scales tried" in facts(f"{left} = {right}", real="bfloat16")[0]


def facts(text: str, **where: Any) -> list[str]:
    """What is said of a claim that is refuted."""
    return facts_of(prove_job(text, ClaimDomain(**where), None, lambda done, of: None))


def by_hand(text: str, codes: Any, zero: int, scales: Any) -> Any:
    """A side's codes, [codes, scales], with every step written out for this test."""
    functions: dict[str, Callable[..., Any]] = {
        "Q": lambda x, s: np.clip(np.rint(x / scales).astype(np.int64) + zero, 0, 255),
        "DQ": lambda q, s: (q - zero).astype(BF16) * scales,
        "Relu": lambda x: np.where(x > 0, x, BF16.type(0)),
        "Add": lambda a, b: (a.astype(np.float32) + b.astype(np.float32)).astype(BF16),
        "Sub": lambda a, b: (a.astype(np.float32) - b.astype(np.float32)).astype(BF16),
    }
    return eval(text, {"__builtins__": {}}, {**functions, "x": codes, "s": "s"})  # noqa: S307 - this file's own text


def test_bfloat16_and_float16_lose_the_differences_that_are_known() -> None:
    for real, least in (("bfloat16", "73"), ("float16", "")):
        found = decided(IDENTITY, real=real)
        assert found.verdict == (REFUTED if least else PROVED)
        assert not least or facts(IDENTITY, real=real)[1].endswith(f" {least}")


@pytest.mark.slow
def test_float16_loses_differences_from_525() -> None:
    assert facts(IDENTITY, real="float16", type="int16")[1].endswith(" 525")


@pytest.mark.parametrize("zero", [0, 1, 128, 255])
def test_decisions_of_a_float_are_those_of_every_float(zero: int) -> None:
    """float16: all finite inputs with scales spread over one exponent."""
    with np.errstate(all="ignore"):
        x = np.arange(65536, dtype=np.uint16).view(np.float16)
        x = x[np.isfinite(x)][:, None]
        scales = (np.arange(0, 1024, 37) / 1024 + 1).astype(np.float16)
        codes = [np.clip(np.rint(v / scales).astype(np.float64) + zero, 0, 255) for v in (np.maximum(x, 0), x)]
    expected = REFUTED if (codes[0] != codes[1]).any() else PROVED
    assert decided(RELU, real="float16", zero_points=str(zero)).verdict == expected == (REFUTED if zero else PROVED)


@pytest.mark.parametrize("real", ["float16", "bfloat16"])
def test_a_counterexample_of_a_float_is_one_in_fractions(real: str) -> None:
    found = decided("Q(x, s) = exact(Q(x, s))", real=real).counterexample
    assert found is not None
    x, scale, zero = Fraction(float(found.operands["x"])), Fraction(float(found.scales["s"])), found.zero_points["s"]
    assert str(min(max(round(x / scale) + zero, 0), 255)) == found.right != found.left
    kind = np.dtype(np.float16) if real == "float16" else BF16
    quotient = np.divide(np.array(float(x), kind), np.array(float(scale), kind))
    assert str(int(np.clip(np.rint(float(quotient)) + zero, 0, 255))) == found.left


@pytest.mark.parametrize("text", [IDENTITY, "Q(Add(DQ(x, s), DQ(x, s)), s) = Q(DQ(x, s), s)"])
def test_one_exponent_stands_for_the_others_that_are_named(text: str) -> None:
    """The results of a block of significands are the same at both ends of the range of exponents."""
    claim = claim_of(text, real="float16")
    (goal,) = goals_of(claim)
    from tiebreak.conformance.proving.codes import ScaleSet, scales_for, span

    domain = ScaleSet("uint8", "float16", "positive", "normal", range(256))
    standing = scales_for(goal, domain, span("uint8"))
    tried = try_codes(goal, domain, 1 << 36, lambda done, of: None, 1)
    assert standing.low < 0 < standing.high
    digests = {digest for digest, _, _ in tried.chain.blocks}
    for exponent in (standing.low, standing.high):
        moved = [
            results_at(goal, block.first, block.count)
            for block in of_exponent(exponent, FLOAT_TYPES["float16"], "positive")
        ]
        assert set(moved) == digests, exponent
    outside = [results_at(goal, b.first, b.count) for b in of_exponent(15, FLOAT_TYPES["float16"], "positive")]
    assert set(outside) != digests  # the check can fail: there the largest numbers overflow


def results_at(goal: Any, first: int, count: int) -> str:
    """The digest of a block's results, computed for that block alone."""
    from tiebreak.conformance.proving import codes as module
    from tiebreak.conformance.proving.scales import ScaleSpan, Standing

    domain = module.ScaleSet("uint8", "float16", "positive", "normal", range(256))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "scales_for", lambda *_: Standing([ScaleSpan(first, count)], 0, 0))
        tried = module.try_codes(goal, domain, 1 << 36, lambda done, of: None, 1)
    return str(tried.chain.blocks[0][0])


@pytest.mark.parametrize("real", ["float16", "bfloat16", "float32"])
def test_blocks_hold_each_scale_once(real: str) -> None:
    kind = FLOAT_TYPES[real]
    blocks = list(every_scale(real, "positive"))
    assert blocks[0].first == 1 and sum(block.count for block in blocks) == kind.largest_bits
    assert all(a.first + a.count == b.first for a, b in pairwise(blocks))
    assert value_of(blocks[-1].first + blocks[-1].count - 1, real) < Fraction(2) ** (kind.emax + 1)


def test_a_search_finds_what_both_truths_show() -> None:
    found = decided("add = exact(add)")
    example = found.counterexample
    assert found.verdict == REFUTED and example is not None
    pattern = pattern_of("add")
    pairs = {
        name: ScalePair(np.float32(text), example.zero_points[name], "uint8") for name, text in example.scales.items()
    }
    rows = {name: np.array([[int(text)]], np.uint8) for name, text in example.operands.items()}
    assert str(stepwise(pattern, pairs, rows)[0, 0]) == example.left != example.right
    assert str(exact(pattern, pairs, rows)[0, 0]) == example.right


def test_a_proof_by_parts_names_its_steps() -> None:
    steps = decided("DQ(Q(DQ(Q(x, s), s), s), s) = DQ(Q(x, s), s)", real="float16").steps
    assert [step.rule for step in steps] == ["every code", "same step", "generalization"]
    steps = decided("Q(MaxPool(DQ(x, s)), s) = MaxPool(x)", real="float16").steps
    assert [step.rule for step in steps] == ["every code", "renaming", "same step", "maximum"]


def test_a_part_that_fails_is_no_counterexample_of_the_whole() -> None:
    """Relu(DQ(x)) is not DQ(x), but a Q with the highest zero point clamps what differs … the other way round."""
    found = decided("Q(Relu(DQ(x, s)), s) = Q(DQ(x, s), s)", real="float16", zero_points="lowest")
    assert found.verdict == PROVED
    found = decided("Q(Relu(DQ(x, s)), s) = Q(DQ(x, s), s)", real="float16")
    assert found.verdict == REFUTED and found.holds == [0]


def test_what_is_not_decided_is_unknown_with_a_reason() -> None:
    found = decided("sigmoid = exact(sigmoid)")
    assert found.verdict == UNKNOWN and found.missing and found.counterexample is None


def test_negative_scales_turn_a_maximum_round() -> None:
    assert decided("Q(MaxPool(x), s) = MaxPool(Q(x, s))").verdict == PROVED
    found = decided("Q(MaxPool(x), s) = MaxPool(Q(x, s))", sign="negative")
    assert found.verdict == REFUTED and float(next(iter(found.counterexample.scales.values()))) < 0  # type: ignore[union-attr]


def integers(text: str, given: str = "", **ranges: str) -> dict[str, Any]:
    pytest.importorskip("bitwuzla")
    return prove_job(text, ClaimDomain(ranges=ranges, given=given), None, lambda done, of: None)


def test_integers_are_decided_as_by_trying_all() -> None:
    """Small ranges, in Python's integers."""
    ranges = {"v": "-40..40", "z": "-3..3", "s": "1..4"}
    text = "round_even(v + (z << s), s) = round_even(v, s) + z"
    wrong = [
        (s, v, z)
        for s, v, z in product(range(1, 5), range(-40, 41), range(-3, 4))
        if round(Fraction(v + (z << s), 1 << s)) != round(Fraction(v, 1 << s)) + z
    ]
    found = integers(text, **ranges)
    assert found["verdict"] == REFUTED and found["counterexample"]["operands"] == {"s": "1", "v": "1", "z": "1"}
    assert wrong and all(z % 2 for _, _, z in wrong)
    assert integers(text, "(z & 1) == 0", **ranges)["verdict"] == PROVED


def test_an_integer_formula_holds_a_solver_formula() -> None:
    found = integers("(v << 2) - v = 3 * v", v="int16")
    (step,) = found["steps"]
    assert found["verdict"] == PROVED and step["rule"] == "solver" and "(check-sat)" in step["formula"]


def test_two_arithmetics_are_counted() -> None:
    where = ClaimDomain(real="bfloat16", zero_points="0")
    found = prove_job("reciprocal in bfloat16 = divide in bfloat16", where, None, lambda done, of: None)
    x, scale = (
        Fraction(float(found["counterexample"][part][name])) for part, name in (("operands", "x"), ("scales", "scale"))
    )
    assert found["verdict"] == REFUTED and facts_of(found)[1] == "1,137 of 32,639 scales have no difference"
    quotient = np.divide(np.array(float(x), BF16), np.array(float(scale), BF16))
    assert found["counterexample"]["right"] == str(int(np.clip(np.rint(float(quotient)), 0, 255)))


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.where.real != "float32"])
def test_rules_of_narrow_types_come_out_as_they_say(name: str) -> None:
    if name == "dq-q-float16-int16":
        pytest.skip("a test of its own, which is slow")
    rule = RULES[name]
    assert prove_job(rule.claim, rule.domain(), None, lambda done, of: None)["verdict"] == rule.verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", [*RULES])
def test_every_rule_comes_out_as_it_says(name: str) -> None:
    rule = RULES[name]
    assert prove_job(rule.claim, rule.domain(), None, lambda done, of: None, 2)["verdict"] == rule.verdict


def cli(*words: str) -> Any:
    return CliRunner().invoke(main, ["prove", *words])


def test_the_exit_code_is_the_verdict(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    for words, code, verdict in (
        (["per-axis"], 0, PROVED),
        ([IDENTITY, "--float", "bfloat16"], 1, REFUTED),
        (["sigmoid = exact(sigmoid)"], 4, UNKNOWN),
    ):
        result = cli(*words, "-o", str(file), "--json")
        assert result.exit_code == code, result.output
        assert json.loads(result.stdout)["verdict"] == json.loads(file.read_text())["verdict"] == verdict
        told = cli(*words, "-o", str(file))
        assert told.exit_code == code and told.stdout.startswith(verdict)


def test_a_certificate_is_checked_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert cli(IDENTITY, "--float", "float16", "-o", str(file)).exit_code == 0
    checked = cli("--check", str(file), "--json")
    assert checked.exit_code == 0 and json.loads(checked.stdout)["holds"] is True
    data = json.loads(file.read_text())
    data["steps"][0]["blocks"][0][0] = "0" * 64
    file.write_text(json.dumps(data))
    checked = cli("--check", str(file))
    assert checked.exit_code == 1 and "does not hold" in checked.stdout


def test_a_file_that_is_no_certificate_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"format": "tiebreak-proof", "version": 2}')
    result = cli("--check", str(file))
    assert result.exit_code == 2 and "damaged" in result.stderr


def test_what_is_tried_is_bounded() -> None:
    found = decide(claim_of(IDENTITY), 1000)
    assert found.verdict == UNKNOWN and "combinations of codes and scales, more than 1e+03" in found.missing


def test_a_range_that_leaves_the_words_is_refused() -> None:
    with pytest.raises(InvalidInput, match="can leave words of 72 bits"):
        integers("v * m * m = v", v="int32", m="0..2147483647")


def test_rules_are_listed() -> None:
    assert set(json.loads(cli("--list", "--json").stdout)) == set(RULES)
    assert "dq-q-bfloat16" in cli("--list").stdout


def test_a_search_keeps_to_the_normal_range() -> None:
    """Relu of a Relu differs from nothing; only sums that overflow in float16 differ from real arithmetic here."""
    text = "Q(Add(DQ(a, s), DQ(b, t)), t) = exact(Q(Add(DQ(a, s), DQ(b, t)), t))"
    for extent in ("normal", "all"):
        found = decided(text, real="float16", extent=extent).counterexample
        assert found is not None
        numbers = [
            (int(found.operands[name]) - found.zero_points[pair]) * Fraction(float(found.scales[pair]))
            for name, pair in (("a", "s"), ("b", "t"))
        ]
        assert extent == "all" or all(
            abs(one) <= 65504 and (one == 0 or abs(one) >= 2**-14) for one in (*numbers, sum(numbers))
        )


def test_float64_division_of_float32_numbers_is_exact_below_two_to_the_29() -> None:
    """The nearest quotients to a half that there are, from a modular inverse: exact below 2^29, not from there on."""
    wrong, right = [], 0
    for scale, e, side in product(range(2**23 + 1, 2**23 + 8001, 2), (27, 28, 29, 30), (1, -1)):
        x = pow(2, -(e + 1), scale) * side % scale
        while x < 1 << 23:
            x += scale
        number, rest = divmod((x << (e + 1)) - side, scale)
        if x >= 1 << 24 or rest or number % 2 == 0:
            continue
        quotient = Fraction(x << e, scale)
        found = np.rint(np.float64(np.float32(x) * np.float32(2.0**e)) / np.float64(np.float32(scale)))
        if int(found) == round(quotient):
            right += quotient < 1 << 29
        else:
            wrong.append(quotient)
    assert wrong and min(wrong) >= 1 << 29 and right > 1000
    x, scale = np.float32(4508925923688448), np.float32(8392535)
    assert int(np.rint(np.float64(x) / np.float64(scale))) != round(Fraction(float(x)) / Fraction(float(scale)))


def test_a_condition_that_nothing_fulfils_proves_nothing() -> None:
    with pytest.raises(InvalidInput, match="no integers of these ranges fulfil --given"):
        integers("v = v + 1", "v < -200", v="int8")


def test_integers_do_not_wrap_and_the_output_says_so(tmp_path: Path) -> None:
    pytest.importorskip("bitwuzla")
    told = cli("(v << 3) >> 3 = v", "--let", "v=int32", "-o", str(tmp_path / "p.json"))
    assert told.exit_code == 0 and "for integers that never wrap: v from" in told.stdout


def test_a_rule_that_is_misspelt_is_named() -> None:
    result = cli("relu-q-lowst")
    assert result.exit_code == 2 and "did you mean relu-q-lowest?" in result.stderr


def test_there_is_nothing_to_check_in_what_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert cli("sigmoid = exact(sigmoid)", "-o", str(file)).exit_code == 4
    result = cli("--check", str(file))
    assert result.exit_code == 4 and "nothing to check" in result.stderr


def test_a_limit_of_its_own_needs_all_scales() -> None:
    text = "Q(Clip(x, 0, 6), s) = Q(Clip(Clip(x, 0, 6), 0, 6), s)"
    assert "--scales all" in decided(text, real="bfloat16").missing
    assert decided(text, real="bfloat16", extent="all").verdict == PROVED


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("Add(DQ(a, s), DQ(b, t)) = Add(DQ(b, t), DQ(a, s))", {"real": "float16", "type_": "int16", "extent": "all"}),
        ("Q(Clip(DQ(x, s), -65504, 65504), s) = x", {"real": "float16", "zero_points": "0"}),
        ("Relu(MaxPool(x)) = MaxPool(Relu(x))", {}),
        ("Relu(Relu(x)) = Relu(x)", {}),
    ],
)
def test_no_difference_of_nan_or_outside_the_claim_refutes_it(text: str, where: dict[str, str]) -> None:
    assert decided(text, **where).verdict != REFUTED


def test_zero_points_are_told_only_of_a_claim_that_is_decided_whole() -> None:
    found = decided("Q(Concat(Relu(a), Add(b, b)), s) = Q(Concat(a, b), s)", real="float16")
    assert found.verdict == REFUTED and found.holds == [] and found.differs == []


def test_a_counterexample_has_the_names_of_the_claim() -> None:
    text = "Concat(Q(DQ(Q(x, s), s), s), Q(DQ(v, s), s)) = Concat(Q(x, s), v)"
    found = decided(text, real="bfloat16").counterexample
    assert found is not None and set(found.operands) <= {"x", "v"}


@pytest.mark.parametrize("type_", ["int4", "int2"])
def test_a_counterexample_for_all_zero_points_shows_two_codes(type_: str) -> None:
    where = ClaimDomain(real="bfloat16", type=type_)
    found = prove_job("divide in bfloat16 = exact", where, None, lambda done, of: None)["counterexample"]
    ends = INTEGER_TYPES[type_]
    x, scale = (Fraction(float(found[part][name])) for part, name in (("operands", "x"), ("scales", "scale")))
    zero = found["zero_points"]["scale"]
    assert found["left"] != found["right"] and ends.lowest <= zero <= ends.highest
    assert found["right"] == str(min(max(round(x / scale) + zero, ends.lowest), ends.highest))


def test_what_is_missing_is_said_of_the_claim_itself() -> None:
    found = decided(RELU, type_="int16", zero_points="lowest")
    assert found.verdict == UNKNOWN and "decisions and scales, more than" in found.missing


POOLED = "DQ(MaxPool(x), s) = MaxPool(DQ(x, s))"


def test_a_dq_takes_codes_that_were_chosen() -> None:
    assert [step.rule for step in decided(POOLED).steps] == ["identity", "maximum"]
    example = decided(POOLED, sign="negative").counterexample
    assert example is not None and example.scales == {"s": "-1.0"} and set(example.operands) == {"x", "x[1]"}
    for text in (
        "DQ(Concat(a, b), s) = Concat(DQ(a, s), DQ(b, s))",
        "DQ(Resize(x), s) = Resize(DQ(x, s))",
        "DQ(MaxPool(Q(x, s)), s) = MaxPool(DQ(Q(x, s), s))",
    ):
        assert decided(text).verdict == PROVED


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("DQ(MaxPool(Q(x, s))) = x", "names its scale"),
        ("DQ(MaxPool(Relu(x)), s) = x", "DQ takes an operand"),
        ('DQ(Resize(x, mode="linear"), s) = Resize(DQ(x, s))', "write DQ around it"),
        ('DQ(MaxPool(Q(x, t, type="int8")), s) = MaxPool(DQ(Q(x, s), s))', "what a Q of its type gives"),
    ],
)
def test_a_dq_takes_no_other_values(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        claim_of(text)


def test_a_pattern_to_run_has_no_dq_of_chosen_codes() -> None:
    with pytest.raises(InvalidInput, match="what a Q of its type gives"):
        pattern_of("Q(Relu(DQ(MaxPool(x), s)), s)")


@pytest.mark.parametrize(
    "text",
    [
        "Q(Add(DQ(a, s), DQ(b, t)), r) = Q(Add(DQ(b, t), DQ(a, s)), r)",
        "Q(Mul(Relu(DQ(a, s)), Add(DQ(b, t), DQ(c, t))), r) = Q(Mul(Add(DQ(c, t), DQ(b, t)), Relu(DQ(a, s))), r)",
        "Concat(MaxPool(Concat(a, b)), Add(c, d)) = Concat(MaxPool(Concat(b, a)), Add(d, c))",
    ],
)
def test_operands_may_change_places(text: str) -> None:
    found = decided(text)
    assert found.verdict == PROVED and "same step, operands changed places" in [step.rule for step in found.steps]


def test_operands_of_a_difference_may_not_change_places() -> None:
    found = decided("Q(Sub(DQ(a, s), DQ(b, t)), r) = Q(Sub(DQ(b, t), DQ(a, s)), r)")
    assert found.verdict == REFUTED


@pytest.mark.parametrize("type_", ["int4", "uint4"])
def test_types_of_four_bits_are_tried(type_: str) -> None:
    assert decided(IDENTITY, real="bfloat16", type_=type_).verdict == PROVED
    found = decided("Q(Relu(DQ(x, s)), s) = x", real="bfloat16", type_=type_)
    assert found.verdict == REFUTED and found.holds == [INTEGER_TYPES[type_].lowest]
    assert decided(f'Q(DQ(x, s, type="{type_}"), s) = x', real="bfloat16").verdict == PROVED


def test_a_type_that_is_too_wide_is_refused_in_a_line() -> None:
    with pytest.raises(InvalidInput, match="int32 has more codes than can be tried"):
        claim_of(IDENTITY, type_="int32")


BEFORE = "exact, before-rounding = exact"


def test_zero_points_of_arithmetics_are_told_apart() -> None:
    """By the exact rule itself: a tie goes to the other side if an odd number is added before."""
    even = prove_job(BEFORE, ClaimDomain("uint4", "bfloat16", zero_points="even"), None, lambda done, of: None)
    assert even["verdict"] == PROVED and even["holds"] == [[zero, zero] for zero in range(0, 16, 2)]
    some = prove_job(BEFORE, ClaimDomain("uint4", "bfloat16", zero_points="3,4"), None, lambda done, of: None)
    assert some["verdict"] == REFUTED and some["holds"] == [[4, 4]]
    assert [one["zero_points"] for one in some["differs"]] == [[3, 3]]


def test_zero_points_that_do_not_matter_are_compared_at_once() -> None:
    found = prove_job(
        "divide in float64 = exact", ClaimDomain("int4", "bfloat16", zero_points="odd"), None, lambda done, of: None
    )
    assert found["verdict"] == PROVED and len(found["steps"]) == 1 and found["steps"][0]["zero_point"] is None


def test_too_many_zero_points_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 256 are allowed"):
        prove_job(BEFORE, ClaimDomain("uint16", "bfloat16"), None, lambda done, of: None)


@pytest.mark.parametrize("real", ["float16", "bfloat16"])
def test_an_input_has_the_fewest_bits_under_its_scale(real: str) -> None:
    """Against every float of the type."""
    text = "Q(x, s) = exact(Q(x, s))"
    found = decided(text, real=real).counterexample
    assert found is not None
    kind = np.dtype(np.float16) if real == "float16" else BF16
    scale = np.array(float(found.scales["s"]), kind)
    best = None
    with np.errstate(all="ignore"):
        every = np.arange(1 << 16, dtype=np.uint16).view(kind)
        near = every[np.abs(every.astype(np.float64)) <= 300 * float(scale)]
        rounded = np.rint(np.divide(near, scale)).astype(np.float64)
    for x, left in zip(near.astype(np.float64).tolist(), rounded.tolist(), strict=True):
        right = round(Fraction(x) / Fraction(float(scale)))
        if left != right and min(abs(left), abs(right)) < 255:
            number = abs(Fraction(x).numerator)
            key = ((number // (number & -number)).bit_length(), abs(x))
            best = key if best is None else min(best, key)
    x = Fraction(float(found.operands["x"]))
    number = abs(x.numerator)
    assert best == ((number // (number & -number)).bit_length(), float(abs(x)))


def test_a_search_simplifies_its_operands() -> None:
    found = decided("Q(MaxPool(x), s) = MaxPool(Q(x, s))", sign="negative").counterexample
    assert found is not None and (found.operands, found.scales) == ({"x": "0.0", "x[1]": "-1.0"}, {"s": "-1.0"})
