"""The Markdown page of documents and backends: who meets which document, and what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiebreak.reports.authorities import facets_text, gives_text, where_text
from tiebreak.reports.markdown import escaped
from tiebreak.reports.markdown_table import markdown_table
from tiebreak.reports.matrix import inputs_text
from tiebreak.reports.pages import own_text

Section = tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]  # backends of one node, and its documents apart
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HEAD = """\
# Which document does a backend meet?

Made by `{command}`; not edited by hand.
Each backend was audited: it answered thousands of inputs. Each answer is compared with what each document allows.

| verdict | means |
| --- | --- |
| **meets** | one arithmetic that the document allows gives every answer |
| contradicts, *n* | no arithmetic that the document allows gives some answer; *n* is the plainest such input |
| can't be told | the document allows each answer, but no one arithmetic of it gives them all |
| silent | the document has no formula, or is about other types |

What a document leaves open is allowed in every way. A verdict is about finite numbers; what a document says of NaN,
infinities or zeros alone has a table of its own. A contradiction that no ordinary input shows says so: *edge* means
extreme scales or quotients, *pathological* subnormal numbers. An input without a facet: no known arithmetic gives all
answers of that backend. A document that a backend does not claim accuses nobody: it says what happens to a model that
moves.
"""
APART = """\
A letter is an input for which two documents have no result in common; in brackets, one for which one of them allows
more. `=`: equal on all {count} inputs tried."""


@dataclass
class Contradictions:
    """The distinct contradictions of a table, in the order of their first mention, with who they are about."""

    rows: dict[tuple[str, ...], list[tuple[str, str]]] = field(default_factory=dict)

    def number(self, backend: str, row: Mapping[str, Any]) -> int:
        key = (inputs_text(row["witness"]), gives_text(row["gives"]), row["got"], facets_text(row))
        self.rows.setdefault(key, []).append((backend, row["id"]))
        return [*self.rows].index(key) + 1

    def table(self) -> str:
        head = ("", "input", "the document gives", "the backend gives", "facet", "whose")
        rows = [
            (str(number), *key, escaped("; ".join(grouped(whose)), 400))
            for number, (key, whose) in enumerate(self.rows.items(), 1)
        ]
        return markdown_table(head, rows)


def grouped(whose: Sequence[tuple[str, str]]) -> list[str]:
    """Pairs of a backend and a document in words: "a, b against x, y"."""
    documents: dict[str, list[str]] = {}
    for backend, document in whose:
        documents.setdefault(backend, []).append(document)
    backends: dict[str, list[str]] = {}
    for backend, own in documents.items():
        backends.setdefault(", ".join(own), []).append(backend)
    return [f"{', '.join(names)} against {own}" for own, names in backends.items()]


def authorities_page(
    sections: Sequence[Section], command: str = "tiebreak authorities --page", missing: Sequence[str] = ()
) -> str:
    """The page of one section or more, each about one node; `missing` are backends that were not there to be asked."""
    parts = [HEAD.format(command=command), documents_part(sections)]
    if missing:
        parts.insert(1, f"Not installed when this was made: {', '.join(dict.fromkeys(missing))}.\n")
    parts += [part for backends, apart in sections for part in section_parts(backends, apart)]
    return "\n".join(parts)


def documents_part(sections: Sequence[Section]) -> str:
    """Every document once, with what it says."""
    told = [(one, first.get("output", "")) for (first, *_), _ in sections for one in first["documents"]]
    lines = dict.fromkeys(document_line(one, output) for one, output in told)
    head = "| name | document | says | leaves open |\n| --- | --- | --- | --- |"
    return "\n".join(["## The documents", "", head, *lines, ""])


def document_line(row: Mapping[str, Any], output: str = "") -> str:
    name = f"[{row['title']}]({row['url']}), {row['version']}"
    short = f"`{row['id']}`, {output}" if output else f"`{row['id']}`"
    cells = (short, name, own_text(row["says"]), own_text(row["open"]))
    return f"| {' | '.join(cells)} |"


def section_parts(backends: Sequence[Mapping[str, Any]], apart: Mapping[str, Any]) -> Iterator[str]:
    first, contradictions = backends[0], Contradictions()
    types = " to ".join(dict.fromkeys((first["input_type"], first["output_type"])))
    types += f", {first['output']}" if "output" in first else ""
    attributes = "".join(f", {name} {value}" for name, value in first.get("asked_attributes", {}).items())
    yield f"## {first['operator']}, {types}{attributes}\n\n{verdict_table(backends, contradictions)}\n"
    if contradictions.rows:
        yield f"{contradictions.table()}\n"
    if any(one["special_documents"] for one in backends):
        yield f"{special_table(backends)}\n"
    if apart["pairs"]:
        yield apart_part(first, apart)


def special_table(backends: Sequence[Mapping[str, Any]]) -> str:
    """For each document and each of NaN, infinities and zeros of which it speaks: what each backend gives."""
    found = {(row["facet"], row["document"]): row for one in backends for row in one["special_documents"]}
    rows = []
    for (facet, document), row in found.items():
        cells = [special_cell(one["special_documents"], facet, document) for one in backends]
        rows.append([f"{facet.replace('_', ' ')}, {gives_text(row['gives'])} by `{document}`", *cells])
    return markdown_table(("of", *(column_name(one, backends[0]["operator"]) for one in backends)), rows)


def special_cell(rows: Sequence[Mapping[str, Any]], facet: str, document: str) -> str:
    row = next((one for one in rows if (one["facet"], one["document"]) == (facet, document)), None)
    if row is None:
        return "no answer"
    return "agrees" if row["agrees"] else f"{row['got']}, not {gives_text(row['gives'])}"


def apart_part(node: Mapping[str, Any], apart: Mapping[str, Any]) -> str:
    return f"## What tells the documents of {node['operator']} apart\n\n{apart_text(apart)}\n"


def verdict_table(backends: Sequence[Mapping[str, Any]], contradictions: Contradictions) -> str:
    names = [column_name(one, backends[0]["operator"]) for one in backends]
    rows = []
    for number, document in enumerate(backends[0]["documents"]):
        own = [(one["backend"], one["documents"][number]) for one in backends]
        rows.append([f"`{document['id']}`", *(verdict_cell(name, row, contradictions) for name, row in own)])
    return markdown_table(("document", *names), rows)


def column_name(backend: Mapping[str, Any], operator: str) -> str:
    """The backend with its release, and the operator that it was asked if it is another one than the section's."""
    name = f"{backend['backend']} {str(backend['version']).partition('-')[0]}"
    return escaped(name if backend["operator"] == operator else f"{name} ({backend['operator']})", 90)


def verdict_cell(backend: str, row: Mapping[str, Any], contradictions: Contradictions) -> str:
    if row["witness"] is None:
        return f"**{row['verdict']}**" if row["verdict"] == "meets" else str(row["verdict"])
    return f"{row['verdict']}, {contradictions.number(backend, row)}{where_text(row)}"


def apart_text(apart: Mapping[str, Any]) -> str:
    """A triangle of letters, then the input of each letter with what the documents give for it."""
    ids, letters = apart["documents"], {}
    for pair in apart["pairs"]:
        one, other = pair["documents"]
        letter = "=" if pair["input"] is None else LETTERS[pair["input"]]
        letters[other, one] = f"({letter})" if pair["relation"] == "overlap" else letter
    rows = [[f"`{other}`", *(letters.get((other, one), "") for one in ids[:-1])] for other in ids[1:]]
    inputs = [
        [LETTERS[number], inputs_text(one["inputs"]), escaped(by_result(one["gives"]), 600)]
        for number, one in enumerate(apart["inputs"])
    ]
    if not inputs:
        return f"They are equal on all {apart['inputs_compared']:,} inputs tried."
    triangle = markdown_table(("", *(f"`{one}`" for one in ids[:-1])), rows)
    told = APART.format(count=f"{apart['inputs_compared']:,}")
    return "\n\n".join([told, triangle, markdown_table(("", "input", "gives"), inputs)])


def by_result(gives: Mapping[str, Sequence[str]]) -> str:
    """Which documents give which results: "1: onnx, webnn; 1 or 2: tflite"."""
    found: dict[str, list[str]] = {}
    for document, values in gives.items():
        found.setdefault(gives_text(values), []).append(document)
    return "; ".join(f"{values}: {', '.join(documents)}" for values, documents in found.items())
