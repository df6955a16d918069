"""What there is to choose from, for a choice of cases that none matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator

MOST_NAMED = 40  # values of one option


def why_none(cases: Sequence[Case], asked: Mapping[str, Any]) -> str:
    """The message: each asked value that no case has with the others, and what there is instead.

    `cases` are those of the chosen operators, `asked` the values by what a person calls them: `--type`, `axis` …
    """
    values = [{name: value_of(case, name) for name in asked} for case in cases]
    lacking = list(told(values, asked))
    if not lacking:  # each is there, but never all of them together
        lacking = [f"no case has {' and '.join(f'{name} {shown(value)}' for name, value in asked.items())} together"]
    return f"no case matches this choice: {'; '.join(lacking)}"


def told(values: Sequence[Mapping[str, Any]], asked: Mapping[str, Any]) -> Iterator[str]:
    for name, wanted in asked.items():
        others = [row for row in values if all(row[key] == asked[key] for key in asked if key != name)]
        there = {row[name] for row in others or values} - ({0} if name == "--opset" else set())
        if wanted not in there:
            known = sorted(there, key=lambda value: (str(type(value)), value if isinstance(value, int) else str(value)))
            more = " …" if len(known) > MOST_NAMED else ""
            yield f"{name} {shown(wanted)} is none of {', '.join(map(shown, known[:MOST_NAMED]))}{more}"


def value_of(case: Case, name: str) -> Any:
    """What a case has of an option or an attribute, in a form that can be a key."""
    node = case.node
    options = {"--type": node.output_type, "--input-type": node.input_type, "--opset": node.opset}
    if name in options:
        return options[name]
    spec = get_operator(node.operator)
    return node.attributes.get(name, spec.attribute(name).default) if spec.has_attribute(name) else None


def shown(value: Any) -> str:
    """As a person types it."""
    return str(list(value)).replace(" ", "") if isinstance(value, tuple) else str(value)
