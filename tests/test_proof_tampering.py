"""The checker finds every kind of tampering, and no junk in a certificate gives a traceback."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from proof_certificates import (
    APART,
    CHAINED,
    EVERYWHERE,
    OTHER,
    PARTLY,
    POOLED,
    STAIRS,
    SWAPPED,
    TRIED,
    WORDS,
    Certificate,
    certificate,
    chain_of,
    change,
    check,
    forged,
)

from tiebreak.conformance.proof_checker import ProofRefused


def without_block(data: Certificate) -> None:
    """Of the last exponent; everything else is made to fit."""
    step = data["steps"][0]
    step["blocks"].pop()
    step["scales"] -= 128
    step["chain"] = chain_of(step["blocks"])


def widened(data: Certificate) -> None:
    data["claim"]["zero_points"], data["holds"] = "all", [[0, 255]]


def held(data: Certificate) -> None:
    """A zero point with a difference is said to have none, and its witness is gone."""
    data["holds"] = [[0, 1]]
    data["differs"][0]["zero_points"] = [2, 255]


def minus(step: Any) -> Any:
    return {**step, "left": "Sub(DQ(a, s), DQ(b, t))", "right": "Sub(DQ(b, t), DQ(a, s))"}


TAMPERED = [
    (TRIED, change("steps/0/blocks/0/0", "ab" * 32), "chain of digests is broken"),
    (TRIED, change("steps/0/blocks/0/1", 1), "chain of digests is broken"),
    (TRIED, forged(0, "ab" * 32), "other results"),
    (TRIED, forged(1, 1), "other results"),
    (TRIED, forged(2, 1), "other results"),
    (TRIED, change("steps/0/blocks", []), "0 blocks of scales are listed"),
    (EVERYWHERE, without_block, "scales are said to be tried"),
    (TRIED, change("steps/0/scales", 512), "are needed"),
    (TRIED, change("steps/0/exponents", [[-14, 15]]), "other exponents"),
    (TRIED, change("steps/0/rule", "every decision"), "not one float operand"),
    (TRIED, change("claim/extent", "all"), "1024 scales are said to be tried: 12287 are needed"),
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
    (CHAINED, change("steps/1/premises", []), "it does not follow: same step"),
    (CHAINED, change("steps/2/premises", [0]), "it does not follow: generalization, step 0"),
    (CHAINED, change("steps/1/exact", [True, True]), "another arithmetic"),
    (CHAINED, change("steps/2/exact", [True, False]), "another arithmetic"),
    (CHAINED, change("steps/2/rule", "identity"), "it does not follow: identity, step 1"),
    (CHAINED, change("claim/left", lambda text: f"exact({text})"), "which the claim says"),
    (POOLED, change("claim/sign", "negative"), "does not hold"),
    (SWAPPED, change("steps/2/rule", "same step"), "it does not follow: same step, step 0, step 1"),
    (SWAPPED, change("steps/2/premises", [1, 0]), "it does not follow"),
    (SWAPPED, change("steps/2", minus), "it does not follow: same step, operands changed places"),
    (POOLED, change("steps/1/right", "x"), "it does not follow: renaming"),
    (POOLED, change("steps/2/premises", [1, 0]), "it does not follow: same step, step 1, step 0"),
    (POOLED, change("steps/3/right", "Max(x[1], x)"), "it does not follow: maximum"),
    (OTHER, change("counterexample/left", "2"), "do not differ"),
    (OTHER, change("counterexample/operands/x", "87"), "do not differ"),
    (OTHER, change("counterexample/operands/x", "256"), "is no uint8"),
    (OTHER, change("counterexample/operands/x", "nan"), "is no number"),
    (OTHER, change("counterexample/scales/s", "1.0000001"), "no finite bfloat16"),
    (OTHER, change("counterexample/scales/s", "-1.5"), "no scale of the claim's sign"),
    (OTHER, change("counterexample/scales/s", "inf"), "no finite bfloat16"),
    (OTHER, change("counterexample/scales/s", "3.3e38"), "no finite bfloat16"),
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


@pytest.mark.parametrize(
    ("left", "why"),
    [
        ("f()", "neither an operand nor an operation"),  # once taken, as a claim without equations
        ("exact(Clip(x, -1e30, 1e30))", "real arithmetic is infinite"),  # once a traceback, as was the next
        ("MatMul(x, x, k=1.0)", "neither an operand nor an operation"),
        ("MatMul(x, x, k=True)", "neither an operand nor an operation"),
        ("Resize(x, mode='cubic')", "neither an operand nor an operation"),
        ("Clip(x, 0, 1e31)", "is no number"),
    ],
)
def test_claims_that_no_prover_writes_are_refused(left: str, why: str) -> None:
    right = "g()" if left == "f()" else "x"
    data = certificate(*OTHER[:1], **OTHER[1])
    pairless = {"pairs": {}, "codes": {}, "real": "float16", "left": left, "right": right}
    example = {"operands": {"x": "1.0"}, "scales": {}, "zero_points": {}, "left": "1.0", "right": "2.0"}
    none: dict[str, Any] = {"steps": [], "holds": [], "differs": []}
    refuted = {**data, **none, "claim": {**data["claim"], **pairless}, "counterexample": example}
    proved = {**refuted, "verdict": "PROVED", "counterexample": None}
    with pytest.raises(ProofRefused, match=why):
        check(refuted)
    with pytest.raises(ProofRefused, match=f"{why}|which the claim says"):
        check(proved)
