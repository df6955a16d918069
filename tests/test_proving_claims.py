"""What a claim may say, which steps prove it, and when it is unknown."""

from __future__ import annotations

import pytest
from proven_claims import IDENTITY, RELU, decided

from tiebreak.conformance.proving.claim import claim_of
from tiebreak.conformance.proving.findings import PROVED, REFUTED, UNKNOWN
from tiebreak.conformance.proving.job import ClaimDomain, prove_job
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.text import pattern_of


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
