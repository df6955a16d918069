"""Writes golden/sentences.json from the quotes: `python tests/make_sentences.py`, with the libraries installed."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict

from installed_documents import places
from quoted_sentences import QUOTES

from tiebreak.golden.sentences import FILE, Sentence, digest_of

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


def made() -> dict[str, list[Sentence]]:
    """The sentences of each clause."""
    found = defaultdict[str, list[Sentence]](list)
    for document, of_places in QUOTES.items():
        for place, quotes in of_places.items():
            for quote, clauses in quotes.items():
                for clause in clauses.split():
                    found[clause].append(sentence(document, place, quote))
    return dict(found)


def main() -> None:
    found = made()
    lines = (f"{json.dumps(clause)}: {json.dumps([*map(asdict, found[clause])])}" for clause in sorted(found))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
