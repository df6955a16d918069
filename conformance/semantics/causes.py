"""What a cause is: its id, and the sentence that the table in cause_sentences.py gives it.

A cause's id is made of keys of that table. A key may have a parameter behind a colon; several mistakes at once are
joined by " + ", and a place where they hold only follows " @ ": "reciprocal:float32 + casts-to-int32 @ tail:8".
Records, baselines and waivers hold ids, so that a better sentence breaks nobody's gate.

An id has one arithmetic in the tables of an operator. The same mistake in another form of the formula may give other
results. Then the id says the form. It stands behind the colon of a key that has no parameter, or it is one of FORMS
behind a parameter: "adds-min:ties upward", "computes-in:float16, inputs too".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from tiebreak.conformance.semantics.cause_sentences import FORMS, PLACES, SENTENCES
from tiebreak.reports.root_cause import UNWRITTEN

JOINT, AT = " + ", " @ "
ENVIRONMENT = "flushes"  # what begins so is no arithmetic of an operator's: a thread or a library flushes subnormals
ENVIRONMENTS = (ENVIRONMENT, UNWRITTEN)
PER_TENSOR = "per-tensor-"  # before a place, where it holds per tensor only


@dataclass(frozen=True)
class Cause:
    """A named mistake. `role` is the part of the formula that it breaks: a key of Operator.roles, or "mode"."""

    id: str
    role: str
    # Among causes that explain equally much, the lowest rank is named: its place in a table. An operator may have two
    # tables, for different nodes; the cause is the same.
    rank: int = field(default=0, compare=False)
    mode: str = ""  # the rounding mode used instead, if that is the whole mistake or the one at its positions
    ties: str = ""  # the rounding mode that it agrees with at ties, if it is another one than the document's
    width: int = 0  # it depends on positions modulo this; named only if no other cause explains
    of_kind: bool = False  # it speaks of all nodes of a kind, whatever their attributes: one of them may refute it
    of_some_numbers: bool = False  # it holds for some numbers only, of one sign say; no place is named beside it

    def __hash__(self) -> int:
        """Sets of causes are compared all the time, and few causes differ in anything else."""
        return hash(self.id)

    @property
    def by_position(self) -> bool:
        return self.width > 0

    @property
    def text(self) -> str:
        """The cause in words."""
        return sentence_of(self.id)


@lru_cache(maxsize=1 << 14)
def sentence_of(id: str) -> str:
    """The sentence for a cause's id. KeyError for a key that the table lacks."""
    keys, _, place = id.partition(AT)
    words = [filled(SENTENCES, key) for key in keys.split(JOINT)]
    if place.startswith(PER_TENSOR):
        words.append(PLACES["per-tensor"])
    return ", ".join([*words, filled(PLACES, place.removeprefix(PER_TENSOR))] if place else words)


def filled(table: dict[str, str], key: str) -> str:
    name, _, parameter = key.partition(":")
    sentence = table[name]
    several = sentence.count("{}") > 1
    if parameter and "{}" not in sentence:
        return f"{sentence}, {parameter}"
    return sentence.format(*(parameter.split(",") if several else [parameter]))


@lru_cache(maxsize=1 << 14)
def environment_of(id: str) -> str:
    """The id of the fact of the environment that a cause consists of or has beside others; empty if it has none."""
    return next((fact for fact in ENVIRONMENTS if any(key.startswith(fact) for key in keys_of(id))), "")


def without_environment(id: str) -> str:
    """The id without facts of the environment and without a place; empty if nothing else is left."""
    return JOINT.join(key for key in keys_of(id) if not key.startswith(ENVIRONMENTS))


def keys_of(id: str) -> list[str]:
    return id.partition(AT)[0].split(JOINT)


def mistakes_of(id: str) -> list[str]:
    """The keys of an id, whatever the forms of the formula."""
    return keys_of(without_forms(id))


@lru_cache(maxsize=1 << 14)
def without_forms(id: str) -> str:
    """The id of the same mistakes, whatever the form of the formula in which they are made."""
    keys, at, place = id.partition(AT)
    return JOINT.join(map(without_form, keys.split(JOINT))) + at + place


def without_form(key: str) -> str:
    name, _, parameter = key.partition(":")
    if "{}" not in SENTENCES.get(name, "{}"):  # a key of another version is left as it is
        return name
    return next((key.removesuffix(f", {form}") for form in FORMS if parameter.endswith(f", {form}")), key)


def at_place(id: str, place: str) -> str:
    """The id of a cause that holds only at a place."""
    return f"{id}{AT}{place}" if place else id
