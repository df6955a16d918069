"""Where the sentence of a clause stands in its document, and how to find it in a later release.

A digest stands for the sentence, whose words are the document's own. White space counts for nothing: a sentence is a
number of words, each run of them in a text has a digest, and one of these is the sentence's while it is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("sentences.json")
DIGITS = 16  # of a SHA-256


@dataclass(frozen=True)
class Sentence:
    """A sentence of `words` words in a place of a document: "QuantizeLinear-21" of "onnx", its "attribute axis"."""

    document: str
    place: str
    words: int
    sha256: str

    def is_in(self, text: str) -> bool:
        found = text.split()
        return any(
            digest_of(found[start : start + self.words]) == self.sha256 for start in range(len(found) - self.words + 1)
        )


def digest_of(words: list[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:DIGITS]


@cache
def sentences() -> Mapping[str, tuple[Sentence, ...]]:
    """The sentences that each clause rests on, by its id; a clause of a document that tests can't read has none."""
    written = json.loads(FILE.read_text(encoding="utf-8"))
    return {clause: tuple(Sentence(**one) for one in found) for clause, found in written.items()}
