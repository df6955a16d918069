"""The operators that a backend claims, each by a document, and those that are merely mapped to its own operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import safe_text
from tiebreak.golden.verdicts import FOREIGN, OWN

MOST_OPERATORS = 1000
LONGEST_ID, LONGEST_TEXT = 200, 500


@dataclass(frozen=True)
class Claims:
    """`operators`: the ids that the backend can be asked; None means all.

    `documents`: for operators that it claims, the document and version that it says it implements. An operator that is
    neither here nor in `maps` is claimed too, by the document that Tiebreak has for it.
    `maps`: for operators that it does not claim, why an operation of its own is the same.
    `library`: the name that all configurations of one library share; empty for a backend that is its only one.
    """

    operators: frozenset[str] | None = None
    documents: Mapping[str, str] = field(default_factory=dict)
    maps: Mapping[str, str] = field(default_factory=dict)
    library: str = ""

    def document(self, operator: str) -> str:
        """Whose document judges this operator: "own" or "foreign"."""
        return FOREIGN if operator in self.maps else OWN

    def header(self) -> dict[str, Any]:
        """These claims as JSON."""
        operators = None if self.operators is None else sorted(self.operators)
        texts = {"claims": dict(self.documents), "maps": dict(self.maps), "library": self.library}
        return {"operators": operators, **texts}


def claims_of(backend: Any) -> Claims:
    """What a backend object says by `operators`, `claims`, `maps` and `configuration_of`, as bounded text.

    InvalidInput if one of them has the wrong form, or if an operator is both claimed and mapped.
    """
    said = {name: getattr(backend, name, None) for name in ("operators", "claims", "maps")}
    return parsed_claims({**said, "library": getattr(backend, "configuration_of", None)})


def parsed_claims(given: Mapping[str, Any]) -> Claims:
    """Claims from their JSON form, in which every key may be missing. InvalidInput if one has the wrong form."""
    documents, maps = (texts_by_operator(name, given.get(name)) for name in ("claims", "maps"))
    both = sorted(set(documents) & set(maps))
    if both:
        raise InvalidInput(f"it claims {both[0]} and maps it too: an operator is one or the other")
    operators = operator_ids(given.get("operators"))
    if operators is not None or documents or maps:
        operators = (operators or frozenset()) | set(documents) | set(maps)
    if operators and not operators & set(OPERATORS):
        raise InvalidInput(
            f"it claims {', '.join(sorted(operators))[:200]}, no operator; known: {', '.join(OPERATORS)}"
        )
    library = given.get("library") or ""
    if not isinstance(library, str):
        raise InvalidInput(f"it is a configuration of {safe_text(library, 80)!r}, which is no text")
    return Claims(operators, documents, maps, safe_text(library, LONGEST_ID))


def operator_ids(given: Any) -> frozenset[str] | None:
    if isinstance(given, str):
        raise InvalidInput(f"its operators are text, {safe_text(given, 80)!r}; a set of ids is wanted")
    if given is not None and not isinstance(given, Iterable):
        raise InvalidInput(f"its operators are {safe_text(given, 80)!r}; a set of ids is wanted")
    return None if given is None else frozenset(safe_text(name, LONGEST_ID) for name in given)


def texts_by_operator(what: str, given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise InvalidInput(f"its {what} are {safe_text(given, 80)!r}; a mapping of operator id to text is wanted")
    if len(given) > MOST_OPERATORS:
        raise InvalidInput(f"its {what} name {len(given):,} operators, more than {MOST_OPERATORS:,}")
    return {safe_text(name, LONGEST_ID): safe_text(text, LONGEST_TEXT) for name, text in sorted(given.items())}
