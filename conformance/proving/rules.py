"""Rewrite rules that compilers and runtimes use, each as a claim with the types for which it is settled here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tiebreak.conformance.proving.deciding import MOST
from tiebreak.conformance.proving.findings import PROVED, REFUTED
from tiebreak.conformance.proving.job import ClaimDomain

RESCALE = {"v": "int32", "m": "0..2147483647", "s": "2..62"}


@dataclass(frozen=True)
class RewriteRule:
    """A claim, for which types and scales it is made, what comes out, and who uses it or what follows."""

    claim: str
    verdict: str
    why: str
    where: ClaimDomain = field(default_factory=ClaimDomain)

    def domain(self, most: int = MOST) -> ClaimDomain:
        return replace(self.where, most=most)

    @property
    def about(self) -> str:
        """The types, scales and zero points, in words."""
        where = self.where
        if where.ranges:
            words = [f"{name} of {text}" for name, text in where.ranges.items()]
            return ", ".join([*words, *([f"given {where.given}"] if where.given else [])])
        words = [where.type, where.real]
        words += ["all finite scales"] if where.extent == "all" else []
        words += ["negative scales"] if where.sign == "negative" else []
        words += [f"zero points: {where.zero_points}"] if where.zero_points != "all" else []
        return ", ".join(words)

    def described(self) -> dict[str, Any]:
        return {"claim": self.claim, "verdict": self.verdict, "why": self.why, **asdict(self.where)}


def rule(claim: str, verdict: str, why: str, **where: Any) -> RewriteRule:
    return RewriteRule(claim, verdict, why, ClaimDomain(**where))


IDENTITY = "Q(DQ(x, s), s) = x"
TWICE = "DQ(Q(DQ(Q(x, s), s), s), s) = DQ(Q(x, s), s)"
RELU = "Q(Relu(x), s) = Q(x, s)"
POOL_DQ = "DQ(MaxPool(x), s) = MaxPool(DQ(x, s))"
POOL = "Q(MaxPool(x), s) = MaxPool(Q(x, s))"
SINGLE = "single_round(v, m, s) = double_round(v, m, s)"
SHIFTED = "round_even(v + (z << s), s) = round_even(v, s) + z"
SHIFTS = {"v": "int32", "z": "-256..256", "s": "1..24"}

RULES: Mapping[str, RewriteRule] = {
    "dq-q": rule(IDENTITY, PROVED, "DequantizeLinear, QuantizeLinear with equal parameters may be dropped."),
    "dq-q-int8": rule(IDENTITY, PROVED, "The same for int8.", type="int8"),
    "dq-q-float16": rule(IDENTITY, PROVED, "A byte's differences are small enough for float16.", real="float16"),
    "dq-q-float16-all-scales": rule(
        IDENTITY, REFUTED, "DQ overflows at the largest scales.", real="float16", extent="all"
    ),
    "dq-q-float16-int16": rule(
        IDENTITY, REFUTED, "float16 has 11 bits; a difference of 525 needs more.", real="float16", type="int16"
    ),
    "dq-q-bfloat16": rule(IDENTITY, REFUTED, "bfloat16 has 8 bits; a difference of 73 needs more.", real="bfloat16"),
    "q-dq-q-dq": rule(TWICE, PROVED, "A second pair with equal parameters may be dropped."),
    "q-dq-q-dq-bfloat16": rule(TWICE, REFUTED, "Not in bfloat16, as dq-q-bfloat16.", real="bfloat16"),
    "per-axis": rule(
        "Q(Concat(a, b), s) = Concat(Q(a, s), Q(b, s))",
        PROVED,
        "One scale for the whole tensor is the same as that scale for each slice of an axis.",
    ),
    "relu-q": rule(RELU, REFUTED, "A Relu before Q may be dropped only where Q clamps at zero.", real="float16"),
    "relu-q-lowest": rule(RELU, PROVED, "With the lowest zero point it may.", zero_points="lowest"),
    "relu-q-int8-lowest": rule(
        RELU, PROVED, "The same for int8, in float16.", zero_points="lowest", type="int8", real="float16"
    ),
    "max-pool-q": rule(POOL, PROVED, "MaxPool may move behind Q: Q never falls."),
    "max-pool-q-negative": rule(POOL, REFUTED, "Not with a negative scale: then Q falls.", sign="negative"),
    "max-pool-dq": rule(POOL_DQ, PROVED, "MaxPool may move behind DQ: DQ never falls."),
    "max-pool-dq-negative": rule(POOL_DQ, REFUTED, "Not with a negative scale: then DQ falls.", sign="negative"),
    "per-axis-dq": rule("DQ(Concat(a, b), s) = Concat(DQ(a, s), DQ(b, s))", PROVED, "The same of DQ."),
    "add-other-order": rule(
        "Q(Add(DQ(a, s), DQ(b, t)), r) = Q(Add(DQ(b, t), DQ(a, s)), r)", PROVED, "A sum of two has no order."
    ),
    "max-pool-codes": rule(
        "Q(MaxPool(DQ(x, s)), s) = MaxPool(x)", PROVED, "MaxPool of codes needs no DQ and Q around it."
    ),
    "q-as-written": rule(
        "Q(x, s) = exact(Q(x, s))",
        REFUTED,
        "A quotient that is nearly a tie is rounded to the tie; division-float32 counts it.",
        real="float16",
    ),
    "add-as-written": rule("add = exact(add)", REFUTED, "Products and sums in float32 are rounded before Q."),
    "zero-point-before-even": rule(
        SHIFTED, PROVED, "A zero point may be added before rounding if it is even.", ranges=SHIFTS, given="(z & 1) == 0"
    ),
    "zero-point-before": rule(SHIFTED, REFUTED, "Not if it is odd: ties then go the other way.", ranges=SHIFTS),
    "zero-point-uint4": rule(
        "exact, before-rounding = exact",
        REFUTED,
        "Zero points one by one, with every scale: the even ones may be added before rounding, the odd ones not.",
        type="uint4",
    ),
    "zero-point-128": rule(
        "exact, before-rounding = exact", PROVED, "The same for one zero point of uint8.", zero_points="128"
    ),
    "zero-point-before-float32": rule(
        "divide in float32, before-rounding = divide in float32",
        REFUTED,
        "In float32 not even for an even one: the sum is rounded.",
        zero_points="128",
    ),
    "reciprocal": rule(
        "reciprocal in float32 = divide in float32",
        REFUTED,
        "x * (1 / scale) is not x / scale; a few scales in a hundred have no difference.",
        zero_points="0",
    ),
    "division-float32": rule(
        "divide in float32 = exact", REFUTED, "Division in float32 is not exact enough.", zero_points="0"
    ),
    "division-float64": rule("divide in float64 = exact", PROVED, "Division in float64 is, for bytes."),
    "single-double": rule(SINGLE, REFUTED, "TOSA's two roundings differ.", ranges=RESCALE),
    "single-double-short": rule(SINGLE, PROVED, "Not for shifts up to 31.", ranges=RESCALE, given="s <= 31"),
}
