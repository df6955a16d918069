"""A claim about patterns: equal terms for every code, scale and zero point of a domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.conformance.proof_checker.evaluation import CODES, FORMATS
from tiebreak.conformance.proof_checker.refusal import check_form, require
from tiebreak.conformance.proof_checker.terms import Equation, TermReader

FORM = dict.fromkeys(("left", "right", "zero_points"), str) | {
    "real": set(FORMATS),
    "sign": {"positive", "negative"},
    "extent": {"normal", "all"},
    "pairs": {str: set(CODES)},
    "codes": {str: set(CODES)},
}


@dataclass(frozen=True)
class CheckedClaim:
    """`goals` are to be shown. `kinds` are the types of its pairs, `sign` is that of its scales.

    By element type, `chosen` are the zero points that it is about, and `proved` those for which the steps are said to
    prove it.
    """

    goals: tuple[Equation, ...]
    kinds: Mapping[str, str]
    real: str
    sign: int
    is_normal: bool
    chosen: Mapping[str, Sequence[int]]
    proved: Mapping[str, Sequence[int]]


def claim_in(data: Mapping[str, Any]) -> CheckedClaim:
    """The claim of a certificate. ProofRefused if it is none."""
    claim = data["claim"]
    check_form(claim, FORM, "the claim")
    reader, kinds = TermReader(claim["real"], claim["pairs"], claim["codes"]), claim["pairs"]
    (lefts, left_exact), (rights, right_exact) = (reader.read(claim[name]) for name in ("left", "right"))
    fit = [one.kind for one in lefts] == [one.kind for one in rights]
    require(fit, "the sides have different numbers of values a row, or element types")
    chosen: dict[str, Sequence[int]] = {kind: chosen_zero_points(claim["zero_points"], kind) for kind in kinds.values()}
    holds = spanned(data["holds"])
    proved: dict[str, Sequence[int]] = dict.fromkeys(chosen, holds)
    if data["verdict"] == "PROVED":
        fit = not data["differs"] and holds == (list(*chosen.values()) if len(kinds) == 1 else [])
        require(fit, "the lists of zero points are not those of a claim that is proved")
        proved = chosen
    goals = tuple(Equation(*sides, (left_exact, right_exact)) for sides in zip(lefts, rights, strict=True))
    sign = -1 if claim["sign"] == "negative" else 1
    return CheckedClaim(goals, kinds, claim["real"], sign, claim["extent"] == "normal", chosen, proved)


def spanned(spans: Sequence[Sequence[int]]) -> list[int]:
    """The zero points of spans. ProofRefused unless they ascend, and have 16 bits."""
    ends = [end for first, last in spans for end in (first, last + 1)]
    fit = ends == sorted(ends) and all(-(1 << 15) <= end <= 1 << 16 for end in ends)
    require(fit, "the lists of zero points are no ascending spans of 16 bits")
    return [zero for first, last in spans for zero in range(first, last + 1)]


def chosen_zero_points(words: str, kind: str) -> Sequence[int]:
    """The zero points of an element type for which a claim is made."""
    lowest, highest = CODES[kind]
    every = range(lowest, highest + 1)
    named = {"all": every, "lowest": every[:1], "highest": every[-1:]}
    named |= {"even": every[lowest % 2 :: 2], "odd": every[1 - lowest % 2 :: 2]}
    if words in named:
        return named[words]
    texts = words.split(",")
    are_numbers = all(len(one) < 8 and one.strip().removeprefix("-").isdecimal() for one in texts)
    numbers: list[int] = sorted({int(one) for one in texts}) if are_numbers else [highest + 1]
    require(all(one in every for one in numbers), f"{words} are no zero points of {kind}")
    return numbers
