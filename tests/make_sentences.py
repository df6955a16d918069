"""Writes golden/sentences.json from the quotes: `python tests/make_sentences.py`.

What it says of a document that is not at hand stays: of a library that is not installed, of a text not in the folder.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict

import pytest
from installed_documents import places
from quoted_sentences import QUOTES

from tiebreak.golden.sentences import FILE, Sentence, digest_of, sentences

GAP = "…"  # in a quote: what stands between its beginning and its end


def sentence(document: str, place: str, quote: str) -> Sentence:
    """The sentence that a quote begins and ends. ValueError if the place does not have it."""
    words = places(document)[place].split()
    first, gap, last = (part.split() for part in quote.partition(GAP))
    for start in range(len(words)):
        if words[start : start + len(first)] != first:
            continue
        ends = [start + len(first)] if not gap else range(start + len(first) + len(last), len(words) + 1)
        end = next((end for end in ends if words[end - len(last) : end] == last or not gap), None)
        if end is not None:
            return Sentence(document, place, end - start, digest_of(words[start:end]))
    raise ValueError(f"{document}, {place}: there is no {quote!r}")


def made(document: str) -> Iterator[tuple[str, Sentence]]:
    """Each clause with a sentence of a document. Skips where the document is not at hand."""
    for place, quotes in QUOTES[document].items():
        for quote, clauses in quotes.items():
            found = sentence(document, place, quote)
            yield from ((clause, found) for clause in clauses.split())


def stored(document: str) -> Iterator[tuple[str, Sentence]]:
    yield from ((clause, one) for clause, found in sentences().items() for one in found if one.document == document)


def renewed(document: str) -> list[tuple[str, Sentence]]:
    """What the quotes of a document make; what is stored, where it is not at hand."""
    try:
        return list(made(document))
    except pytest.skip.Exception as reason:
        print(f"{document} stays as it is: {reason}")
        return list(stored(document))


def written() -> str:
    """The file."""
    found = defaultdict[str, list[Sentence]](list)
    for document in QUOTES:
        for clause, one in renewed(document):
            found[clause].append(one)
    lines = (f"{json.dumps(clause)}: {json.dumps([*map(asdict, found[clause])])}" for clause in sorted(found))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
