"""Where the sentences of the clauses stand: document, place, quote, and the clauses that rest on it.

A quote is a sentence, or its first words, … and its last words. Of what it says golden/sentences.json keeps a digest.
"""

from __future__ import annotations

from collections.abc import Mapping

from quoted_sentences import microsoft, onnx, tensorflow, texts, torch

Quotes = Mapping[str, Mapping[str, Mapping[str, str]]]

QUOTES: Quotes = {**onnx.QUOTES, **microsoft.QUOTES, **tensorflow.QUOTES, **torch.QUOTES, **texts.QUOTES}
