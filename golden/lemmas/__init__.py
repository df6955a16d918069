"""Lemmas about integers that scale: what documents and kernels say in different words, and whether it is the same.

Each lemma is written once, in words of w bits, and checked twice. Python tries every case of small words. An SMT
solver looks for a counterexample of 32 bits. A new lemma is in a file with `LEMMAS`.
"""

from __future__ import annotations

from tiebreak.golden.discovery import declared_entries
from tiebreak.golden.lemmas.model import Lemma

LEMMAS: dict[str, Lemma] = declared_entries(__name__, __path__, "LEMMAS")
