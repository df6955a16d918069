"""Checks a certificate of `tiebreak prove`, with no code of the prover or of the rest of tiebreak.

What it trusts is Python, NumPy's floats, SHA-256, and for integers z3.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.proof_checker.blocks import BlockDraw
from tiebreak.conformance.proof_checker.checked_arithmetics import check_arithmetics
from tiebreak.conformance.proof_checker.checked_integers import check_integers
from tiebreak.conformance.proof_checker.checked_patterns import check_patterns
from tiebreak.conformance.proof_checker.refusal import NUMBER, ProofRefused, ProofUndecided, check_form, require

SHORTEST, LONGEST = 10.0, 600.0  # seconds in which blocks are drawn, if the certificate does not say between
MOST_STEPS = 1000
CHECKS = {"patterns": check_patterns, "arithmetics": check_arithmetics, "integers": check_integers}
FORM = {
    "claim": {"kind": set(CHECKS)},
    "verdict": {"PROVED", "REFUTED"},
    "holds": [(int, int)],
    "differs": [dict],
    "steps": [dict],
    "seconds": int | float,
}
EXAMPLE = {"operands": {str: NUMBER}, "scales": {str: NUMBER}, "zero_points": {str: int}}
EXAMPLE |= {"left": NUMBER, "right": NUMBER}


def check(
    data: Mapping[str, Any], whole: bool = False, seconds: float | None = None, chance: random.Random | None = None
) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold.

    `data` is the certificate as JSON reads it. `whole` tries every block of scales again. Otherwise blocks are drawn,
    two of each step and as many more as `seconds` allow: as many as the proof took, if they are not given.
    """
    is_one = isinstance(data, dict) and (data.get("format"), data.get("version")) == ("tiebreak-proof", 1)
    require(is_one, "this is no certificate of version 1 of the format tiebreak-proof")
    if data.get("verdict") == "UNKNOWN":
        raise ProofUndecided("the certificate says UNKNOWN: there is nothing to check")
    check_form(data, FORM)
    if data["verdict"] == "REFUTED":
        check_form(data.get("counterexample"), EXAMPLE, "the counterexample")
    else:
        require(data.get("counterexample") is None, "a claim that is proved has no counterexample")
    count = len(data["steps"])
    require(count <= MOST_STEPS, f"a proof has {count} steps: at most {MOST_STEPS} are allowed")
    tried = sum("blocks" in step for step in data["steps"]) or 1
    some = min(max(data["seconds"], SHORTEST), LONGEST) if seconds is None else seconds
    draw = BlockDraw(some / tried, whole, chance or random.SystemRandom())
    try:
        return CHECKS[data["claim"]["kind"]](data, draw)
    except RecursionError:
        raise ProofRefused("an expression is nested too deeply") from None
