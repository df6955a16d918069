"""Checks a certificate of `tiebreak prove`.

It needs the standard library, NumPy and ml_dtypes; claims about integers need z3, another solver than the prover's.

A proof is a list of steps. Each is checked by its rule: that it follows from the steps before it, or, where every scale
was tried, by trying blocks of scales again and comparing SHA-256 of the results. The blocks are drawn by the operating
system's random numbers when the certificate is checked, so that no writer knows which; `whole` tries all. A
counterexample is computed in fractions or integers, each float step rounded as IEEE 754 says.

The writer's freedom that is left: each block of scales holds its own results. Whoever forges one of 128 blocks is found
by two drawn ones in one of 64 checks, and by `whole` always. The lists of zero points for which a refuted claim holds,
notes, and times are not checked.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.proof_checker.checked_arithmetics import check_arithmetics
from tiebreak.conformance.proof_checker.checked_integers import check_integers
from tiebreak.conformance.proof_checker.checked_patterns import check_patterns
from tiebreak.conformance.proof_checker.refusal import ProofRefused, chosen_in, mapping_in

CHECKS = {"patterns": check_patterns, "arithmetics": check_arithmetics, "integers": check_integers}


def check(data: Mapping[str, Any], whole: bool = False) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold.

    `data` is the certificate as JSON reads it. `whole` tries every block of scales again, which takes as long as the
    proof did; otherwise two of each step are drawn.
    """
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != ("tiebreak-proof", 1):
        raise ProofRefused("this is no certificate of version 1 of the format tiebreak-proof")
    claim = mapping_in(data, "claim")
    if chosen_in(data, "verdict", ("PROVED", "REFUTED", "UNKNOWN")) == "UNKNOWN":
        raise ProofRefused("the certificate says UNKNOWN: there is nothing to check")
    kind = chosen_in(claim, "kind", tuple(CHECKS))
    try:
        return CHECKS[kind](data, whole, random.SystemRandom())
    except RecursionError:
        raise ProofRefused("an expression is nested too deeply") from None
