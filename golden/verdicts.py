"""What can be said of an element and of a case, in the contract's words and order."""

from __future__ import annotations

# Elements are graded by these numbers; a case takes the greatest of its elements.
EXACT, WORKING, UNSPECIFIED, DEVIATES = 0, 1, 2, 3
GRADES = ("exact", "working-precision", "unspecified", "deviates")
RAN = GRADES  # the verdicts of cases that ran
FAILED = ("error", "crash", "timeout")
VERDICTS = (*RAN, "unsupported", *FAILED)
UNEXPLAINED = "unexplained"  # the cause of every element until one is found
