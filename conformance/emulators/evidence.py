"""What an emulator's file says of itself: who is emulated, which arithmetic, how it was found, and what stays open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tiebreak.conformance.audit.answer import AuditAnswer
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.golden.nodes import Node

LONGEST = 300  # characters of a text that isn't ours


def header_of(
    answer: AuditAnswer, data: Mapping[str, Any], semantics: Semantics, elements: int, command: str
) -> list[str]:
    """Lines without comment marks. The first two hold no text from a backend, which could name an encoding there.

    `data` is the audit as plain data, `elements` how many elements the file was compared on.
    """
    return [*top_lines(answer.node, data, command), *found_lines(answer, data, semantics, elements)]


def top_lines(node: Node, data: Mapping[str, Any], command: str) -> list[str]:
    """Whose node this is, and what the person typed."""
    backend = f"{one_line(data['backend'])} {one_line(data['version'])}"
    types = ", ".join(f"{tensor.name} {tensor.element}" for tensor in (*node.inputs, *node.outputs))
    return [
        "An emulator, written by `tiebreak audit` from the answers of a backend; see docs/emulators.md of Tiebreak.",
        "",
        f"backend: {backend}",
        f"node: {node.operator}, {types}",
        *(f"attribute {name}: {one_line(value)}" for name, value in node.attributes.items()),
        f"made by: {one_line(command, 2000)}",
        "",
    ]


def found_lines(answer: AuditAnswer, data: Mapping[str, Any], semantics: Semantics, elements: int) -> list[str]:
    """The arithmetic, and how it was found."""
    return [
        *facet_lines(answer, semantics),
        "",
        f"evidence: the backend answered {elements:,} elements, and this file gives the same for each of them",
        *(f"{len(answer.failed):,} calls had no result; the first: {one_line(why)}" for _, why in answer.failed[:1]),
        *open_lines(answer, data, semantics),
        *(f"theorem ({one['page']}): this arithmetic {one['sentence']}" for one in data["theorems"]),
    ]


def facet_lines(answer: AuditAnswer, semantics: Semantics) -> Iterator[str]:
    """Each facet's value in the audit's words."""
    sentences = answer.sentences()
    special = {name: values[0].id for name, values in answer.inference.specials.items()}
    for name, value in (answer.by_name(semantics) | special).items():
        yield f"{name.replace('_', ' ')}: {value} ({sentences[name][value]})"
    as_infinite = getattr(answer.inference.arithmetic, "as_infinite", None)
    if as_infinite is not None:
        yield f"a finite x with an infinite quotient: as {'an infinite x' if as_infinite else 'a large number'}"


def open_lines(answer: AuditAnswer, data: Mapping[str, Any], semantics: Semantics) -> Iterator[str]:
    """The facets that have several values left, and what is known of the arithmetics that differ in them."""
    several = {name: value for name, value in data["semantics"].items() if isinstance(value, list)}
    for name, values in several.items():
        yield f"left open by the audit: {name.replace('_', ' ')} is {' or '.join(values)}"
    if several:
        yield f"this file does one of the {len(data['consistent'])} arithmetics that are left"
    if len(answer.inference.alive) > 1:
        yield from (f"of these, {sentence}" for sentence in data["equal"])
    else:
        yield f"all others of the table, {len(answer.inference.refuted):,}, are refuted, each by an answer"
    if "not-answered" in {value for value in data["semantics"].values() if isinstance(value, str)}:
        yield "the backend gave no answer to what is not-answered above: what this file gives there means nothing"


def one_line(text: object, longest: int = LONGEST) -> str:
    """Text of somebody else's on one line of a comment: printable, and without what ends a comment of C."""
    found = "".join(c if c.isprintable() else "?" for c in str(text))[:longest]
    return found.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
