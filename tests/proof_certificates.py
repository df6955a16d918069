"""Certificates of small claims, and what is done to them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

from tiebreak.conformance import proof_checker
from tiebreak.conformance.proving.job import ClaimDomain, prove_job

Certificate = dict[str, Any]
RESCALED = {"v": "int32", "m": "0..2147483647", "s": "2..62"}


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


def forged(place: int, value: Any) -> Callable[[Certificate], None]:
    """Of the first block, with a chain that fits."""

    def apply(data: Certificate) -> None:
        old = data["steps"][0]["blocks"][0][place]
        data["steps"][0]["blocks"][0][place] = value(old) if callable(value) else value
        data["steps"][0]["chain"] = chain_of(data["steps"][0]["blocks"])

    return apply


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
