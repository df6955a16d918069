"""Prints the operators' specifications on the terminal, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.sentences import sentences


def list_operators(names: Sequence[str], *, as_json: bool) -> None:
    """Print the named operators, or all of them. InvalidInput for an unknown name."""
    chosen = [get_operator(name) for name in names] or list(OPERATORS.values())
    if as_json:
        print(json.dumps({"operators": [as_data(spec) for spec in chosen]}, ensure_ascii=False))
        return
    for spec in chosen:
        print_operator(spec)


def as_data(spec: Operator) -> dict[str, Any]:
    return {
        "id": spec.id,
        "formula": spec.formula,
        "inputs": [list(form) for form in spec.forms],
        "outputs": list(spec.outputs),
        "attributes": [
            {"name": a.name, "text": a.text, "required": a.required, "default": a.default} for a in spec.attributes
        ],
        "family": spec.family,
        "real_types": list(spec.real_types),
        "quantized_types": list(spec.quantized_types),
        "opsets": list(spec.opsets),
        "working_precision": list(spec.steps),
        "sources": list(spec.sources),
        "contested": [
            {
                "id": c.id,
                "question": c.question,
                "clauses": list(c.clauses),
                "answers": [{"authority": a.authority, "says": a.says, "judged": a.judged} for a in c.answers],
            }
            for c in spec.contested
        ],
        "clauses": [
            {
                "id": c.id,
                "text": c.text,
                "source": c.source,
                "unspecified": c.unspecified,
                "derived": c.derived,
                "sentences": [asdict(one) for one in sentences().get(c.id, ())],
            }
            for c in spec.clauses
        ],
    }


def print_operator(spec: Operator) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    console.print(f"[bold]{spec.id}[/bold]   {escape(spec.formula)}")
    console.print(f"inputs: {' or '.join(map(', '.join, spec.forms))}; outputs: {', '.join(spec.outputs)}")
    for side, types in zip(spec.sides, (spec.real_types, spec.quantized_types), strict=True):
        if types:
            console.print(f"{side} types: {', '.join(types)}")
    if spec.opsets:
        console.print(f"opsets: {', '.join(map(str, spec.opsets))}")
    for number, step in enumerate(spec.steps, start=1):
        console.print(f"working precision, step {number}: {escape(step)}")
    for attribute in spec.attributes:
        console.print(f"attribute {attribute.name}: {escape(attribute.text)}")
    for source in spec.sources:
        console.print(f"source: {escape(source)}")
    for contest in spec.contested:
        console.print(f"contested, {contest.id}: {escape(contest.question)}")
    table = Table("clause", "says", "source")
    for clause in spec.clauses:
        says = ("unspecified: " if clause.unspecified else "") + clause.text
        table.add_row(clause.id, escape(says), clause.source + (" (derived)" if clause.derived else ""))
    console.print(table)
