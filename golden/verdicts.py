"""What can be said of an element and of a case, in the contract's words and order."""

from __future__ import annotations

# Elements are graded by these numbers; a case takes the greatest of its elements.
EXACT, WORKING, OTHER_ORDER, UNSPECIFIED, DEVIATES = 0, 1, 2, 3, 4
GRADES = ("exact", "working-precision", "other-order", "unspecified", "deviates")
RAN = GRADES  # the verdicts of cases that ran
FAILED = ("error", "crash", "timeout")
VERDICTS = (*RAN, "unsupported", *FAILED)
# Whose document a verdict is about: one that the backend claims, one that its operation is mapped to, or nobody's.
OWN, FOREIGN, NO_DOCUMENT = "own", "foreign", "none"
DOCUMENTS = (OWN, FOREIGN, NO_DOCUMENT)
HAZARD = "hazard"  # how "deviates" is shown where the document is foreign: a conversion hazard
SHOWN = (*GRADES, HAZARD, "unsupported", *FAILED)
# How usual an element's operands are: as calibration makes them, unusual but finite, or subnormal, NaN and the like.
DOMAINS = ("calibrated", "edge", "pathological")
NO_ELEMENTS = "no elements"  # stands for a domain where an input is empty
NOT_DETERMINISTIC = "outputs change"  # the fault of a backend whose two identical calls differ
REDUCED = "reduced by default"  # the attested fact that a library computes in fewer bits, as its documentation says
NOT_JUDGED, ADAPTER = "not judged", "adapter"  # faults of Tiebreak's own: it could not judge, or its adapter failed
OURS = (NOT_JUDGED, ADAPTER)
NOT_ASKED = "not asked"  # the fault of an unsupported case that the backend never saw: it refused nothing
UNEXPLAINED = "unexplained"  # the cause of every element until one is found


def shown_verdict(verdict: str, document: str) -> str:
    return HAZARD if verdict == "deviates" and document == FOREIGN else verdict
