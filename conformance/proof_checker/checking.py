"""Checks a certificate of `tiebreak prove`, with no code of the prover or of the rest of tiebreak.

What it trusts is Python, NumPy's floats, SHA-256, and for integers z3.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.proof_checker.checked_arithmetics import check_arithmetics
from tiebreak.conformance.proof_checker.checked_integers import check_integers
from tiebreak.conformance.proof_checker.checked_patterns import check_patterns
from tiebreak.conformance.proof_checker.claims import BlockDraw
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form

SHORTEST, LONGEST = 10.0, 600.0  # seconds in which blocks are drawn, if the certificate does not say between
MOST_STEPS = 1000
FORM = {
    "claim": {"kind": {"patterns", "arithmetics", "integers"}},
    "verdict": {"PROVED", "REFUTED", "UNKNOWN"},
    "holds": [(int, int)],
    "differs": [dict],
    "steps": [dict],
    "seconds": int | float,
}
EXAMPLE = {"operands": {str: str}, "scales": {str: str}, "zero_points": {str: int}, "left": str, "right": str}


def check(
    data: Mapping[str, Any], whole: bool = False, seconds: float | None = None, chance: random.Random | None = None
) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold.

    `data` is the certificate as JSON reads it. `whole` tries every block of scales again. Otherwise blocks are drawn,
    two of each step and as many more as `seconds` allow: as many as the proof took, if they are not given.
    """
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != ("tiebreak-proof", 1):
        raise ProofRefused("this is no certificate of version 1 of the format tiebreak-proof")
    check_form(data, FORM)
    if data["verdict"] == "UNKNOWN":
        raise ProofRefused("the certificate says UNKNOWN: there is nothing to check")
    if data["verdict"] == "REFUTED":
        check_form(data.get("counterexample"), EXAMPLE, "the counterexample")
    elif data.get("counterexample") is not None:
        raise ProofRefused("a claim that is proved has no counterexample")
    if len(data["steps"]) > MOST_STEPS:
        raise ProofRefused(f"a proof has {len(data['steps'])} steps: at most {MOST_STEPS} are allowed")
    tried = sum("blocks" in step for step in data["steps"]) or 1
    some = min(max(data["seconds"], SHORTEST), LONGEST) if seconds is None else seconds
    draw = BlockDraw(some / tried, whole, chance or random.SystemRandom())
    try:
        if data["claim"]["kind"] == "integers":
            return check_integers(data)
        return (check_patterns if data["claim"]["kind"] == "patterns" else check_arithmetics)(data, draw)
    except RecursionError:
        raise ProofRefused("an expression is nested too deeply") from None
