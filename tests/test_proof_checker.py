"""The checker of certificates: it takes what the prover writes, and finds every kind of tampering."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.proof_checker import ProofRefused, check
from tiebreak.conformance.proof_checker.checked_patterns import check_patterns
from tiebreak.conformance.proof_checker.exact_numbers import rounded
from tiebreak.conformance.proof_checker.float_terms import DTYPES
from tiebreak.conformance.proof_checker.named_arithmetics import DIRECTED, NEAREST, arithmetic_of, whole_of
from tiebreak.conformance.proof_checker.recounting import CountedPair, counts_of, inputs_of
from tiebreak.conformance.proving.job import ClaimDomain, prove_job

Certificate = dict[str, Any]
RESCALED = {"v": "int32", "m": "0..2147483647", "s": "2..62"}
PROVED = [
    ("Q(DQ(x, s), s) = x", {"real": "float16"}),
    ("Q(DQ(x, s), s) = x", {"real": "float16", "type": "int8", "sign": "negative"}),
    ("exact(Q(DQ(x, s), s)) = x", {"real": "float16"}),
    ("Q(Relu(x), s) = Q(x, s)", {"real": "float16", "zero_points": "lowest"}),
    pytest.param(
        "Q(Clip(x, 0, 6), s) = Q(Clip(Clip(x, 0, 6), 0, 6), s)",
        {"real": "bfloat16", "extent": "all"},
        marks=pytest.mark.slow,
    ),
    ("DQ(Q(DQ(Q(x, s), s), s), s) = DQ(Q(x, s), s)", {"real": "float16"}),
    ("MaxPool(Q(x, s)) = Q(MaxPool(x), s)", {}),
    ("Q(MaxPool(DQ(x, s)), s) = MaxPool(x)", {"real": "float16"}),
    ("Q(Resize(DQ(x, s)), s) = Resize(x)", {"real": "float16"}),
    ("Q(Sub(DQ(x, s), DQ(x, s)), s) = exact(Q(Sub(DQ(x, s), DQ(x, s)), s))", {"real": "bfloat16"}),
    ("Relu(DQ(x, s)) = DQ(x, s)", {"real": "bfloat16", "zero_points": "lowest"}),
    ("single_round(v, m, s) = kernels_single(v, m, s)", {"ranges": RESCALED}),
    ("single_round(v, m, s) = double_round(v, m, s)", {"ranges": RESCALED, "given": "s <= 31"}),
    ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "0..2147483647", "s": "1..31"}}),
]
REFUTED = [
    ("Q(DQ(x, s), s) = x", {"real": "bfloat16"}),
    ("Q(DQ(x, s), s) = x", {"real": "float16", "extent": "all"}),  # at a scale at which a number overflows
    ("Q(x, s) = exact(Q(x, s))", {"real": "float16"}),
    ("MaxPool(Q(x, s)) = Q(MaxPool(x), s)", {"sign": "negative"}),
    ("Q(Clip(DQ(x, s), 0, 6), s) = Q(DQ(x, s), s)", {}),
    pytest.param(
        "Q(AveragePool(DQ(x, s)), s) = exact(Q(AveragePool(DQ(x, s)), s))",
        {"real": "bfloat16"},
        marks=pytest.mark.slow,
    ),
    pytest.param("single_round(v, m, s) = double_round(v, m, s)", {"ranges": RESCALED}, marks=pytest.mark.slow),
    ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "int32", "s": "1..31"}}),
]


@cache
def written(text: str, words: str) -> str:
    """A certificate's text; `words` are the domain, as JSON."""
    return json.dumps(prove_job(text, ClaimDomain(**json.loads(words)), None, lambda done, of: None))


def certificate(text: str, **domain: Any) -> Certificate:
    found: Certificate = json.loads(written(text, json.dumps(domain)))
    return found


@pytest.mark.parametrize(("text", "domain"), PROVED)
def test_a_proof_is_taken(text: str, domain: dict[str, Any]) -> None:
    data = certificate(text, **domain)
    assert data["verdict"] == "PROVED"
    assert check(data)


@pytest.mark.parametrize(("text", "domain"), REFUTED)
def test_a_counterexample_is_taken(text: str, domain: dict[str, Any]) -> None:
    data = certificate(text, **domain)
    assert data["verdict"] == "REFUTED"
    (line,) = check(data)
    assert data["counterexample"]["left"] in line


@pytest.mark.parametrize(("text", "domain"), REFUTED)
def test_a_verdict_that_is_flipped_is_found(text: str, domain: dict[str, Any]) -> None:
    data = certificate(text, **domain)
    data["verdict"] = "PROVED"
    with pytest.raises(ProofRefused):
        check(data)
    data["counterexample"] = None
    with pytest.raises(ProofRefused):
        check(data)


def test_all_blocks_are_tried_if_whole() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    assert data["verdict"] == "PROVED"
    count = len(data["steps"][0]["blocks"])
    assert f"2 of {count} blocks" in check(data)[0]
    assert f"{count} of {count} blocks" in check(data, whole=True)[0]


def test_drawn_blocks_differ_from_check_to_check() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    blocks = data["steps"][0]["blocks"]
    blocks[-1][2] = "0" * 64
    data["steps"][0]["chain"] = chain_of(blocks)
    found = []
    for seed in range(6):
        try:
            check_patterns(data, False, random.Random(seed))
            found.append(False)
        except ProofRefused:
            found.append(True)
    assert any(found)
    assert not all(found)
    with pytest.raises(ProofRefused, match="other results"):
        check(data, whole=True)


def chain_of(blocks: list[Any]) -> str:
    import hashlib

    last = hashlib.sha256(b"tiebreak-proof").digest()
    for _, _, digest in blocks:
        last = hashlib.sha256(last + bytes.fromhex(digest)).digest()
    return last.hex()


def change(path: str, value: Any) -> Callable[[Certificate], None]:
    """Puts a value at a path of names and numbers."""

    def apply(data: Certificate) -> None:
        *names, last = [int(one) if one.lstrip("-").isdigit() else one for one in path.split("/")]
        place: Any = data
        for name in names:
            place = place[name]
        place[last] = value(place[last]) if callable(value) else value

    return apply


def without_block(data: Certificate) -> None:
    """Of the last exponent; everything else is made to fit."""
    step = data["steps"][0]
    _, count, _ = step["blocks"].pop()
    step["scales"] -= count
    step["chain"] = chain_of(step["blocks"])


def forged_digest(data: Certificate) -> None:
    data["steps"][0]["blocks"][0][2] = "ab" * 32
    data["steps"][0]["chain"] = chain_of(data["steps"][0]["blocks"])


def widened(data: Certificate) -> None:
    data["claim"]["zero_points"], data["holds"] = "all", list(range(256))


TRIED = ("Q(DQ(x, s), s) = x", {"real": "float16"})
EVERYWHERE = ("Relu(DQ(x, s)) = DQ(x, s)", {"real": "bfloat16", "extent": "all", "zero_points": "lowest"})
CHAINED = ("DQ(Q(DQ(Q(x, s), s), s), s) = DQ(Q(x, s), s)", {"real": "float16"})
POOLED = ("Q(MaxPool(DQ(x, s)), s) = MaxPool(x)", {"real": "float16"})
STAIRS = ("Q(Relu(x), s) = Q(x, s)", {"real": "float16", "zero_points": "lowest"})
OTHER = ("Q(DQ(x, s), s) = x", {"real": "bfloat16"})
WORDS = ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "0..2147483647", "s": "1..31"}})
APART = ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "int32", "s": "1..31"}})
TAMPERED = [
    (TRIED, change("steps/0/blocks/0/2", "ab" * 32), "chain of digests is broken"),
    (TRIED, forged_digest, "other results"),
    (EVERYWHERE, without_block, "not all scales of exponent|exponent that stands for others"),
    (TRIED, change("steps/0/blocks/0/1", 512), "exponent that stands|number of scales"),
    (TRIED, change("steps/0/blocks/0/0", 0xBC00), "another sign|has none"),
    (TRIED, change("steps/0/blocks/0/1", 1 << 40), "has none"),
    (TRIED, change("steps/0/exponents", [-14, 15]), "other exponents"),
    (TRIED, change("steps/0/points", 510), "510 points"),
    (TRIED, change("steps/0/rule", "every decision"), "not one float operand"),
    (TRIED, change("claim/extent", "all"), "not all scales of exponent -15"),
    (TRIED, change("claim/sign", "negative"), "another sign|has none"),
    (TRIED, change("claim/real", "bfloat16"), "does not hold"),
    (TRIED, change("claim/left", "Q(Relu(DQ(x, s)), s)"), "which the claim says"),
    (TRIED, change("claim/right", "x[1]"), "neither an operand"),
    (TRIED, change("claim/pairs", {"s": "int16"}), "takes numbers of int16|element types"),
    (TRIED, change("claim/codes", {}), "takes numbers of uint8|element types"),
    (TRIED, change("steps", []), "which the claim says"),
    (TRIED, change("holds", [1]), "lists of zero points"),
    (STAIRS, change("claim/zero_points", "all"), "lists of zero points"),
    (STAIRS, widened, "differ for zero point"),
    (STAIRS, change("claim/zero_points", "lowest,0"), "no zero points"),
    (STAIRS, change("steps/0/rule", "every code"), "does not hold"),
    (STAIRS, change("steps/0/exact", [False, True]), "does not hold"),
    (CHAINED, change("steps/1/premises", [2]), "does not precede"),
    (CHAINED, change("steps/1/premises", [1]), "does not precede"),
    (CHAINED, change("steps/1/premises", [-1]), "does not precede"),
    (CHAINED, change("steps/1/premises", []), "rests on 1 steps"),
    (CHAINED, change("steps/2/premises", [0]), "no case of"),
    (CHAINED, change("steps/1/exact", [True, True]), "another arithmetic"),
    (CHAINED, change("steps/2/exact", [True, False]), "another arithmetic"),
    (CHAINED, change("steps/2/rule", "identity"), "rests on 0 steps"),
    (CHAINED, change("claim/left", lambda text: f"exact({text})"), "which the claim says"),
    (POOLED, change("claim/sign", "negative"), "does not hold"),
    (POOLED, change("steps/1/right", "x"), "no renaming"),
    (POOLED, change("steps/2/premises", [1, 0]), "nothing shows"),
    (POOLED, change("steps/3/right", "Max(x[1], x)"), "maxima moved"),
    (OTHER, change("counterexample/left", "2"), "do not differ"),
    (OTHER, change("counterexample/operands/x", "87"), "do not differ"),
    (OTHER, change("counterexample/operands/x", "256"), "is no uint8"),
    (OTHER, change("counterexample/operands/x", "nan"), "no number"),
    (OTHER, change("counterexample/scales/s", "1.0000001"), "no scale"),
    (OTHER, change("counterexample/scales/s", "-1.5"), "positive scales"),
    (OTHER, change("counterexample/scales/s", "inf"), "no scale"),
    (OTHER, change("counterexample/zero_points/s", 256), "not about zero point"),
    (OTHER, change("claim/zero_points", "0"), "not about zero point"),
    (OTHER, change("counterexample", None), "lacks counterexample"),
    (WORDS, change("claim/ranges/v/0", -(1 << 31)), "z3 finds words"),
    (WORDS, change("claim/ranges/s/0", 0), "a shift by 0"),
    (WORDS, change("claim/right", "divide_by_power(v, s) + 1"), "z3 finds words"),
    (WORDS, change("claim/left", "eval(v, s)"), "names of the claim"),
    (APART, change("counterexample/operands/v", "1"), "do not differ"),
    (APART, change("counterexample/operands/s", "0"), "outside its range"),
    (APART, change("counterexample/left", "7"), "do not differ"),
    (APART, change("claim/given", "v >= 0"), "condition"),
]


@pytest.mark.parametrize(("case", "tamper", "why"), TAMPERED)
def test_tampering_is_found(case: tuple[str, dict[str, Any]], tamper: Callable[[Certificate], None], why: str) -> None:
    data = certificate(case[0], **case[1])
    changed = copy.deepcopy(data)
    tamper(changed)
    assert changed != data
    with pytest.raises(ProofRefused, match=why):
        check(changed)


JUNK: list[Any] = [
    None,
    7,
    -1,
    True,
    1.5,
    "",
    "(" * 300,
    "-" * 900 + "x",
    "Q(x, s",
    "x" * 5000,
    "\x00",
    [],
    [[]],
    {},
    {"s": []},
]


@pytest.mark.parametrize("case", [TRIED, CHAINED, OTHER, APART], ids=str)
def test_no_junk_in_a_certificate_gives_a_traceback(case: tuple[str, dict[str, Any]]) -> None:
    data = certificate(case[0], **case[1])
    refused = 0
    for number, path in enumerate(paths_of(data)):
        for junk in (JUNK[(number + turn) % len(JUNK)] for turn in range(0, len(JUNK), 4)):
            changed = copy.deepcopy(data)
            change(path, junk)(changed)
            with suppress(ProofRefused):
                check(changed)
                refused -= 1
            refused += 1
    assert refused > 50


def paths_of(data: Any, before: str = "") -> list[str]:
    """Paths to each value that a checker reads."""
    if not isinstance(data, dict | list) or not data:
        return [before] if before else []
    items = data.items() if isinstance(data, dict) else enumerate(data)
    inner = [path for name, one in items for path in paths_of(one, f"{before}/{name}" if before else str(name))]
    ignored = ("formula", "machine", "created", "seconds", "notes", "missing", "tiebreak", "holds", "differs")
    return [
        *([before] if before else []),
        *(one for one in inner if not any(word in one.split("/") for word in ignored)),
    ]


def test_unknown_is_nothing_to_check() -> None:
    data = certificate(*TRIED[:1], **TRIED[1])
    data["verdict"] = "UNKNOWN"
    with pytest.raises(ProofRefused, match="nothing to check"):
        check(data)
    with pytest.raises(ProofRefused, match="no certificate"):
        check({"claim": {}})


FLOATS = ["float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("real", FLOATS)
def test_fractions_are_rounded_as_numpy_rounds(real: str) -> None:
    draw = random.Random(7)
    for _ in range(2000):
        value = float(draw.randint(1, 1 << 53)) * 2.0 ** draw.randint(-300 if real == "float64" else -200, 100)
        number = np.array(value).astype(np.float64)
        if real == "bfloat16":  # ml_dtypes rounds a float64 twice, by way of float32
            with np.errstate(over="ignore"):
                number = number.astype(np.float32)
            if not np.isfinite(number):
                continue
        with np.errstate(all="ignore"):
            assert float(rounded(Fraction(float(number)), real)) == float(number.astype(DTYPES[real]))


@pytest.mark.parametrize("mode", [*NEAREST, *DIRECTED])
def test_modes_are_those_of_the_oracle(mode: str) -> None:
    from tiebreak.golden.rounding import ROUND_MODES

    values = [k / 8 for k in range(-40, 41)] + [0.49999999999999994, -0.49999999999999994, 2.5000000000000004]
    found = whole_of(np.array(values), mode)
    assert found.tolist() == [ROUND_MODES[mode](Fraction(value)) for value in values]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("reciprocal in float16", "divide in float16"),
        ("divide in float32, ROUND_UP", "exact, before-rounding"),
        ("narrow-reciprocal in float32, before-rounding", "divide in float16, before-rounding-in-float64"),
    ],
)
def test_counts_are_those_of_fractions(left: str, right: str) -> None:
    """Some scales, subnormal and huge ones too, and every float16 input."""
    ends = (-4, 3)
    sides = arithmetic_of(left), arithmetic_of(right)
    scales = np.array([0.1, 1.5, 60000, 6e-8, 0.0007], np.float16)
    counts = counts_of(CountedPair(sides, "float16", 1, *ends), scales)
    inputs = inputs_of(np.arange(-0x7BFF, 0x7C00, 7), "float16")
    for scale, count in zip(scales, counts, strict=True):
        found = []
        for side in sides:
            passed = [side.passes(inputs, np.full(inputs.shape, scale), np.array(code), 1) for code in range(*ends)]
            found.append(ends[0] + np.sum(passed, axis=0))
            some = range(0, len(inputs), 61)
            exactly = [code_or_none(side, float(inputs[k]), float(scale), ends) for k in some]
            assert [one for one in exactly if one is not None] == [
                int(found[-1][k]) for k, one in zip(some, exactly, strict=True) if one is not None
            ]
        assert abs(int((found[0] != found[1]).sum()) - count / 7) <= 16  # one input in seven, and ends of spans


def code_or_none(side: Any, x: float, scale: float, ends: tuple[int, int]) -> int | None:
    from tiebreak.conformance.proof_checker.exact_numbers import NoNumber

    try:
        return int(side.code(Fraction(x), Fraction(scale), 1, "float16", ends))
    except NoNumber:
        return None


SAME = ("divide in float32 = exact", {"real": "bfloat16", "type": "int8", "zero_points": "0"})
COMPARED = "steps/0/comparison"
TAMPERED_SUMS = [
    (change("claim/left", "divide in float16"), "another arithmetic"),
    (change("claim/left", "divide in float32, ROUND_UP"), "another arithmetic"),
    (change("claim/left", "range in float32"), "not recounted"),
    (change("claim/left", "exact in divide, " * 200), "not recounted"),
    (change("claim/zero_point", 1), "another domain"),
    (change("claim/zero_point", 128), "no zero point 128"),
    (change("claim/real", "float16"), "another domain"),
    (change("claim/extent", "normal"), "another domain"),
    (change(f"{COMPARED}/digests/3", "0" * 16), "counts of zero"),
    (change(f"{COMPARED}/digests", lambda digests: digests[:-1]), "blocks are listed"),
    (change(f"{COMPARED}/ends/differing", 5), "contradict each other"),
    (change(f"{COMPARED}/ends/scales", 5), "not over|negative"),
    (change(f"{COMPARED}/ends/without", 5), "contradict each other"),
    (change(f"{COMPARED}/ends", None), "without sums"),
    (change("verdict", "REFUTED"), "the verdict is REFUTED"),
    (change("counterexample", {"operands": {"x": "1"}}), "has no counterexample"),
    (change("steps", []), "one step"),
]


@pytest.mark.slow
def test_counts_of_two_arithmetics_are_checked() -> None:
    data = certificate(SAME[0], **SAME[1])
    assert "2 of 16 blocks" in check(data)[0]
    for tamper, why in TAMPERED_SUMS:
        changed = copy.deepcopy(data)
        tamper(changed)
        with pytest.raises(ProofRefused, match=why):
            check(changed)


@pytest.mark.slow
def test_a_difference_of_two_arithmetics_is_checked() -> None:
    data = certificate("reciprocal in bfloat16 = divide in bfloat16", real="bfloat16", type="int8", zero_points="0")
    assert "by fractions" in check(data)[-1]
    assert "16 of 16 blocks" in check(data, whole=True)[0]
    for tamper, why, whole in (
        (change("counterexample/left", "3"), "do not differ", False),
        (change("counterexample/scales/scale", "-1.5"), "no positive finite", False),
        (change("verdict", "PROVED"), "the verdict is PROVED", False),
        (change(f"{COMPARED}/sha256", "0" * 64), "SHA-256 of all blocks", True),
        (change(f"{COMPARED}/ends/worst", lambda worst: worst + 1), "not those of the blocks", True),
        (change(f"{COMPARED}/digests/3", "0" * 16), "other counts", True),
    ):
        changed = copy.deepcopy(data)
        tamper(changed)
        with pytest.raises(ProofRefused, match=why):
            check(changed, whole)


@pytest.mark.slow
def test_all_zero_points_are_counted_at_once() -> None:
    domain = {"real": "bfloat16", "type": "int8", "zero_points": "all"}
    data = certificate("reciprocal in float32 = narrow-reciprocal in float32", **domain)
    assert "2 of 16 blocks" in check(data)[0]
    change("claim/zero_point", 0)(data)
    with pytest.raises(ProofRefused, match="another domain"):
        check(data)


# Each of these was once decided wrongly by the prover.


def test_a_part_that_one_side_rounds_is_not_generalized() -> None:
    """round(x / s) of a real quotient is not that of a float quotient, though both are written Q(x, s)."""
    data = certificate("exact(Q(DQ(Q(x, s), s), s)) = Q(x, s)", real="float16")
    assert data["verdict"] == "REFUTED"
    assert check(data)


@pytest.mark.slow
def test_the_greatest_number_of_a_negative_scale_has_the_least_code() -> None:
    data = certificate("MaxPool(x) = exact(Q(MaxPool(DQ(x, s)), s))", real="float16", sign="negative")
    assert data["verdict"] == "REFUTED"
    assert check(data)


def test_real_arithmetic_minds_the_sign_of_scales() -> None:
    same = certificate("Q(Relu(DQ(x, s)), s) = exact(Q(Relu(DQ(x, s)), s))", real="float16", sign="negative")
    assert same["verdict"] == "PROVED"
    assert check(same)


def test_zeros_are_one_number() -> None:
    """Relu and MaxPool may give either zero."""
    data = certificate("Relu(DQ(x, s)) = DQ(x, s)", real="bfloat16", zero_points="highest", sign="negative")
    assert data["verdict"] == "PROVED"
    assert check(data)
