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

from tiebreak.conformance import proof_checker
from tiebreak.conformance.proof_checker import ProofRefused
from tiebreak.conformance.proof_checker.named_arithmetics import DIRECTED, NEAREST, arithmetic_of, whole_of
from tiebreak.conformance.proof_checker.recounting import CountedPair, counts_of, inputs_of
from tiebreak.conformance.proving.job import ClaimDomain, prove_job
from tiebreak.golden.elements import FLOAT_TYPES, decode, encode
from tiebreak.golden.patterns.exact import exact
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.golden.rounding import ROUND_MODES

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


def check(data: Certificate, whole: bool = False, seconds: float = 0, seed: int | None = None) -> list[str]:
    """As fast as may be: two blocks of each step."""
    return proof_checker.check(data, whole, seconds, None if seed is None else random.Random(seed))


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
    assert data["counterexample"]["left"] in " ".join(check(data))


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


def test_blocks_are_drawn_as_long_as_the_proof_took() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    count = len(data["steps"][0]["blocks"])
    assert f"{count} of {count} blocks" in proof_checker.check(data)[0]
    data["seconds"] = -1e9  # what anybody may have written: there is a least time
    assert f"{count} of {count} blocks" in proof_checker.check(data)[0]


def test_drawn_blocks_differ_from_check_to_check() -> None:
    data = certificate(EVERYWHERE[0], **EVERYWHERE[1])
    blocks = data["steps"][0]["blocks"]
    blocks[-1][0] = "0" * 64
    data["steps"][0]["chain"] = chain_of(blocks)
    found = []
    for seed in range(6):
        try:
            check(data, seed=seed)
            found.append(False)
        except ProofRefused:
            found.append(True)
    assert any(found)
    assert not all(found)
    with pytest.raises(ProofRefused, match="other results"):
        check(data, whole=True)


def chain_of(blocks: list[Any]) -> str:
    import hashlib

    last = hashlib.sha256(b"tiebreak-proof").hexdigest()
    for block in blocks:
        last = hashlib.sha256((last + json.dumps(block)).encode()).hexdigest()
    return last


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
    step["blocks"].pop()
    step["scales"] -= 128
    step["chain"] = chain_of(step["blocks"])


def forged(place: int, value: Any) -> Callable[[Certificate], None]:
    """Of the first block, with a chain that fits."""

    def apply(data: Certificate) -> None:
        old = data["steps"][0]["blocks"][0][place]
        data["steps"][0]["blocks"][0][place] = value(old) if callable(value) else value
        data["steps"][0]["chain"] = chain_of(data["steps"][0]["blocks"])

    return apply


def widened(data: Certificate) -> None:
    data["claim"]["zero_points"], data["holds"] = "all", [[0, 255]]


def held(data: Certificate) -> None:
    """A zero point with a difference is said to have none, and its witness is gone."""
    data["holds"] = [[0, 1]]
    data["differs"][0]["zero_points"] = [2, 255]


def minus(step: Any) -> Any:
    return {**step, "left": "Sub(DQ(a, s), DQ(b, t))", "right": "Sub(DQ(b, t), DQ(a, s))"}


TRIED = ("Q(DQ(x, s), s) = x", {"real": "float16"})
EVERYWHERE = ("Relu(DQ(x, s)) = DQ(x, s)", {"real": "bfloat16", "extent": "all", "zero_points": "lowest"})
CHAINED = ("DQ(Q(DQ(Q(x, s), s), s), s) = DQ(Q(x, s), s)", {"real": "float16"})
POOLED = ("Q(MaxPool(DQ(x, s)), s) = MaxPool(x)", {"real": "float16"})
STAIRS = ("Q(Relu(x), s) = Q(x, s)", {"real": "float16", "zero_points": "lowest"})
OTHER = ("Q(DQ(x, s), s) = x", {"real": "bfloat16"})
PARTLY = ("Q(Relu(x), s) = Q(x, s)", {"real": "float16"})
SWAPPED = ("Q(Add(DQ(a, s), DQ(b, t)), r) = Q(Add(DQ(b, t), DQ(a, s)), r)", {})
WORDS = ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "0..2147483647", "s": "1..31"}})
APART = ("divide_by_power(v, s) = shift_up(v, s)", {"ranges": {"v": "int32", "s": "1..31"}})
TAMPERED = [
    (TRIED, change("steps/0/blocks/0/0", "ab" * 32), "chain of digests is broken"),
    (TRIED, change("steps/0/blocks/0/1", 1), "chain of digests is broken"),
    (TRIED, forged(0, "ab" * 32), "other results"),
    (TRIED, forged(1, 1), "other results"),
    (TRIED, forged(2, 1), "other results"),
    (TRIED, change("steps/0/blocks", []), "0 blocks of scales are listed"),
    (EVERYWHERE, without_block, "blocks of scales are listed"),
    (TRIED, change("steps/0/scales", 512), "are needed"),
    (TRIED, change("steps/0/exponents", [[-14, 15]]), "other exponents"),
    (TRIED, change("steps/0/rule", "every decision"), "not one float operand"),
    (TRIED, change("claim/extent", "all"), "1 blocks of scales are listed: 12 are needed"),
    (TRIED, change("claim/real", "bfloat16"), "does not hold"),
    (TRIED, change("claim/left", "Q(Relu(DQ(x, s)), s)"), "which the claim says"),
    (TRIED, change("claim/right", "x[1]"), "which the claim says"),
    (TRIED, change("claim/pairs", {"s": "int16"}), "takes numbers of int16|element types"),
    (TRIED, change("claim/codes", {}), "takes numbers of uint8|element types"),
    (TRIED, change("steps/0/codes", {}), "takes numbers of uint8|element types"),
    (TRIED, change("steps", []), "which the claim says"),
    (TRIED, change("holds", [[1, 1]]), "lists of zero points"),
    (TRIED, change("holds", []), "lists of zero points"),
    (PARTLY, change("holds", [[0, 0], [0, 0]]), "ascending spans"),
    (OTHER, change("differs/1/zero_points/1", 256), "has not the zero points|16 bits"),
    (STAIRS, change("claim/sign", "negative"), "a side falls"),
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
    (SWAPPED, change("steps/2/rule", "same step"), "nothing shows"),
    (SWAPPED, change("steps/2/premises", [1, 0]), "nothing shows"),
    (SWAPPED, change("steps/2", minus), "may not change places"),
    (POOLED, change("steps/1/right", "x"), "no renaming"),
    (POOLED, change("steps/2/premises", [1, 0]), "nothing shows"),
    (POOLED, change("steps/3/right", "Max(x[1], x)"), "maxima moved"),
    (OTHER, change("counterexample/left", "2"), "do not differ"),
    (OTHER, change("counterexample/operands/x", "87"), "do not differ"),
    (OTHER, change("counterexample/operands/x", "256"), "is no uint8"),
    (OTHER, change("counterexample/operands/x", "nan"), "no uint8"),
    (OTHER, change("counterexample/scales/s", "1.0000001"), "no bfloat16"),
    (OTHER, change("counterexample/scales/s", "-1.5"), "no positive finite"),
    (OTHER, change("counterexample/scales/s", "inf"), "no positive finite"),
    (OTHER, change("counterexample/scales/s", "3.3e38"), "no bfloat16"),
    (OTHER, change("counterexample/scales/s", str(2.0**127)), "leave the normal range"),
    (OTHER, change("counterexample/zero_points/s", 256), "not about zero point"),
    (OTHER, change("claim/zero_points", "0"), "zero point"),
    (OTHER, change("counterexample", None), "another form"),
    (OTHER, change("differs", lambda differs: differs[1:]), "lists of zero points"),
    (OTHER, change("differs/0/operands/x", "1"), "shows no difference"),
    (OTHER, change("differs/0/operands/x", "200"), "no uint8"),
    (OTHER, change("differs/0/scales/s", "1.0"), "shows no difference"),
    (OTHER, change("differs/0/zero_points/0", 1), "lists of zero points"),
    (OTHER, change("holds", [[3, 3]]), "listed twice|differ for zero point"),
    (OTHER, forged(1, 125), "other results"),
    (OTHER, forged(2, 72), "other results"),
    (PARTLY, change("holds", []), "lists of zero points"),
    (PARTLY, change("holds", [[0, 1]]), "differ for zero point"),
    (PARTLY, held, "differ for zero point"),
    (PARTLY, change("steps", []), "which the claim says"),
    (OTHER, change("steps/0/right", "Q(DQ(x, s), s)"), "last step is none|other results"),
    (PARTLY, change("differs/0/operands/x", "1.0"), "shows no difference"),
    (WORDS, change("claim/ranges/v/0", -(1 << 31)), "z3 finds words"),
    (WORDS, change("claim/ranges/s/0", 0), "a shift by -1"),
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
    ignored = ("formula", "machine", "created", "seconds", "missing", "tiebreak")
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


@pytest.mark.parametrize("mode", [*NEAREST, *DIRECTED])
def test_modes_are_those_of_the_oracle(mode: str) -> None:
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
    pair = CountedPair(sides, "float16", 1, *ends)
    for scale, count in zip(scales, counts, strict=True):
        found = pair.codes(inputs, np.full(inputs.shape, scale))
        for side, codes in zip(sides, found, strict=True):
            for k in range(0, len(inputs), 61):
                assert codes[k] == by_fractions(side, Fraction(float(inputs[k])), Fraction(float(scale)), ends)
        assert abs(int((found[0] != found[1]).sum()) - count / 7) <= 16  # one input in seven, and ends of spans


def by_fractions(side: Any, x: Fraction, scale: Fraction, ends: tuple[int, int]) -> int:
    """One code with zero point 1, each step in fractions, and rounded by this project's own encoder."""
    kind = side.precision if side.precision != "exact" else ""
    try:
        if side.scaling == "divide":
            value = to(x / to(scale, kind), kind)
        else:
            inverse = to(to(1 / scale, "float16"), kind) if side.scaling == "narrow-reciprocal" else to(1 / scale, kind)
            value = to(x * inverse, kind)
        before, after = side.before_and_after(1)
        if before:
            value = to(value + before, "float64" if side.order.endswith("float64") else kind)
    except (OverflowError, ZeroDivisionError):  # an infinity
        return 1 if x == 0 else ends[1] if x > 0 else ends[0]
    return min(max(int(ROUND_MODES[side.mode](value)) + after, ends[0]), ends[1])


def to(value: Fraction, real: str) -> Fraction:
    """Rounded to a type. OverflowError of an infinity."""
    if not real:
        return value
    found = decode(encode(value, FLOAT_TYPES[real]), FLOAT_TYPES[real])
    if not isinstance(found, Fraction):
        raise OverflowError
    return found


SAME = ("divide in float32 = exact", {"real": "bfloat16", "type": "int8", "zero_points": "0"})
COMPARED = "steps/0"
TAMPERED_SUMS = [
    (change("claim/left", "divide in float32, ROUND_UP"), "other counts"),
    (change("claim/left", "range in float32"), "not recounted"),
    (change("claim/left", "exact in divide, " * 200), "not recounted"),
    (change("claim/zero_points", "1"), "neither about all"),
    (change("claim/zero_points", "128"), "no zero points"),
    (change("claim/real", "float16"), "are needed|counts of zero"),
    (change("claim/extent", "normal"), "each scale is counted"),
    (forged(0, "0" * 64), "counts of zero"),
    (change(f"{COMPARED}/blocks", lambda blocks: blocks[:-1]), "blocks are listed"),
    (forged(1, 5), "the steps say something else"),
    (forged(2, 5), "counts of zero"),
    (change(f"{COMPARED}/blocks/3/2", 5), "chain of digests"),
    (change(f"{COMPARED}/zero_point", 1), "neither about all"),
    (change(f"{COMPARED}/left", "exact"), "this checker knows"),
    (change("holds", []), "lists of zero points"),
    (change("verdict", "REFUTED"), "the counterexample has another form"),
    (change("counterexample", {"operands": {"x": "1"}}), "has no counterexample"),
    (change("steps", []), "neither about all"),
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
    assert check(data)[-1].endswith(" gives 38 and 37")
    assert "16 of 16 blocks" in check(data, whole=True)[0]
    for tamper, why, whole in (
        (change("counterexample/left", "3"), "do not differ", False),
        (change("counterexample/scales/scale", "-1.5"), "not positive", False),
        (change("differs/0/operands/x", "0.0"), "shows no difference", False),
        (change("differs", []), "lists of zero points", False),
        (change("verdict", "PROVED"), "has no counterexample", False),
        (forged(0, "0" * 64), "other counts", True),
        (forged(1, lambda count: count + 1), "other counts", True),
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
    change("claim/left", "reciprocal in float32, before-rounding")(data)
    with pytest.raises(ProofRefused, match="depends on the zero point"):
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


@pytest.mark.parametrize("operation", ["Relu(DQ(x, s))", "MaxPool(DQ(x, s))", "Clip(DQ(x, s), -3, 5)"])
def test_the_exact_truth_minds_the_sign_of_scales(operation: str) -> None:
    """Each code, in fractions written out here; the search once took a negative scale's greatest for the least."""
    functions: dict[str, Callable[..., Any]] = {
        "DQ": lambda x, s: [(one - 3) * s for one in x],
        "Relu": lambda x: [max(one, Fraction(0)) for one in x],
        "MaxPool": lambda x: [max(x)],
        "Clip": lambda x, low, high: [min(max(one, Fraction(low)), Fraction(high)) for one in x],
    }
    pattern = pattern_of(f"Q({operation}, s)")
    codes = np.random.default_rng(5).integers(0, 256, (64, pattern.operands[0].width))
    found = exact(pattern, {"s": ScalePair(np.float32(-0.75), 3, "uint8")}, {"x": codes.astype(np.uint8)})
    for row, result in zip(codes.tolist(), found.tolist(), strict=True):
        values = eval(operation, {"__builtins__": {}}, {**functions, "x": row, "s": Fraction(-3, 4)})  # noqa: S307
        assert result == [min(max(round(one / Fraction(-3, 4)) + 3, 0), 255) for one in values]


def test_scales_are_counted_where_neither_side_depends_on_them() -> None:
    """The prover once counted one scale of them all."""
    text = "MaxPool(x) = exact(Q(MaxPool(DQ(x, s)), s))"
    data = certificate(text, real="bfloat16", sign="negative", type="uint4")
    assert data["verdict"] == "REFUTED"
    assert [block[1] for block in data["steps"][0]["blocks"]] == [128]
    assert check(data)


def test_a_maximum_moves_out_of_what_has_no_scale() -> None:
    """With a negative scale, too."""
    text = "Q(Clip(MaxPool(Concat(DQ(a, s), DQ(b, s))), 1, 2), s) = Q(DQ(a, s), s)"
    data = certificate(text, real="bfloat16", sign="negative", type="uint4", extent="all")
    assert data["verdict"] == "REFUTED"
    assert "maximum" in [step["rule"] for step in data["steps"]]
    assert check(data)
