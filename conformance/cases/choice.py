"""The message for options that match no case: which value is unknown, and which values there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator

MOST_NAMED = 40  # values of one option


def why_none(cases: Sequence[Case], asked: Mapping[str, Any]) -> str:
    """The message: each asked value that no case combines with the others, and the values that exist instead.

    `cases` are those of the chosen operators. `asked` maps an option or attribute (`--type`, `axis` …) to its value.
    """
    values = [{name: option_value(case, name, wanted) for name, wanted in asked.items()} for case in cases]
    lacking = list(unmatched_values(values, asked))
    if not lacking:  # each value exists, but no case has all of them
        lacking = [f"no case has {' and '.join(f'{name} {as_typed(value)}' for name, value in asked.items())} together"]
    return f"no case matches this choice: {'; '.join(lacking)}"


def unmatched_values(values: Sequence[Mapping[str, Any]], asked: Mapping[str, Any]) -> Iterator[str]:
    for name, wanted in asked.items():
        others = [row for row in values if all(row[key] == asked[key] for key in asked if key != name)]
        there = {row[name] for row in others or values} - ({0} if name == "--opset" else set())
        if wanted not in there:
            known = sorted(there, key=lambda value: (str(type(value)), value if isinstance(value, int) else str(value)))
            more = " …" if len(known) > MOST_NAMED else ""
            rest = [f"{key} {as_typed(value)}" for key, value in asked.items() if key != name] if others else []
            beside = f", which go with {' '.join(rest)}" if rest else ""
            yield f"{name} {as_typed(wanted)} is none of {', '.join(map(as_typed, known[:MOST_NAMED]))}{more}{beside}"


def option_value(case: Case, name: str, wanted: Any) -> Any:
    """The value that a case has for an option or an attribute, hashable.

    Of operator sets it is the wanted one, if the case's version is in force there.
    """
    node = case.node
    spec = get_operator(node.operator)
    if name == "--opset":
        return wanted if wanted and spec.version_at(wanted) == node.opset else node.opset
    options = {"--type": node.output_type, "--input-type": node.input_type}
    if name in options:
        return options[name]
    return node.attributes.get(name, spec.attribute(name).default) if spec.has_attribute(name) else None


def as_typed(value: Any) -> str:
    """A value as a person types it."""
    return str(list(value)).replace(" ", "") if isinstance(value, tuple) else str(value)
