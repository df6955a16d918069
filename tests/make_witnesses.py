"""Writes golden/witnesses.json from the separation matrices: `python tests/make_witnesses.py`, then
`tiebreak vectors build golden/vectors`."""

from __future__ import annotations

import json
from typing import Any

from tiebreak.conformance.audit.matrix import separations
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import codes_of
from tiebreak.golden.separating import WITNESSES

OPERATOR = "ngraph.Quantize"


def rows(real: str, quantized: str) -> list[list[Any]]:
    """[bits of a scale, zero point, bits of inputs], each witness once, in the matrix's order."""
    _, pairs, _ = separations(arithmetic_of(audited_node(OPERATOR, {}, real, quantized, 0)))
    found: dict[tuple[int, int], list[int]] = {}
    for pair in pairs:
        if pair.witness is not None:
            x, scale, zero_point = (
                int(codes_of(array).reshape(-1)[0]) for array in (pair.witness.x, *pair.witness.others)
            )
            own = found.setdefault((scale, zero_point), [])
            if x not in own:
                own.append(x)
    return [[*key, inputs] for key, inputs in found.items()]


def all_rows() -> dict[str, list[list[Any]]]:
    spec = get_operator(OPERATOR)
    return {f"{real}-{kind}": rows(real, kind) for real in spec.real_types for kind in spec.quantized_types}


if __name__ == "__main__":
    lines = [f" {json.dumps(name)}: {json.dumps(found)}" for name, found in all_rows().items()]
    WITNESSES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
