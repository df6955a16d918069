"""Why cases were unsupported: the commonest reasons of the runtimes, in one sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tiebreak.golden.messages import gist
from tiebreak.golden.untrusted_text import one_line
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import Run
from tiebreak.reports.rows import values_by_key

MOST = 3  # reasons, each of another library
LONGEST = 60  # characters of a reason
MODE = re.compile(r"\bROUND_[A-Z_]+")  # to refuse one mode or another is one reason


def refusal_text(run: Run) -> str:
    """How many cases were unsupported, and the commonest reason of each of the libraries with most; empty if none."""
    counts = refusals(run)
    if not counts:
        return ""
    told = "; ".join(f"{library} {count:,}: {one_line(reason, LONGEST)}" for library, reason, count in leading(counts))
    return f"unsupported: {counts.total():,} of {len(run.results):,} cases; most often {told}"


def refusals(run: Run) -> Counter[tuple[str, str]]:
    """The number of unsupported cases by library and reason."""
    libraries = {str(one["name"]): library_of(one) for one in run.info["backends"]}
    refused = run.results[run.results["verdict"] == "unsupported"]
    counts: Counter[tuple[str, str]] = Counter()
    for (backend, message), count in values_by_key(refused.groupby(["backend", "message"], observed=True).size()):
        counts[libraries[str(backend)], MODE.sub("ROUND_…", gist(str(message)))] += int(count)
    return counts


def leading(counts: Counter[tuple[str, str]]) -> Iterator[tuple[str, str, int]]:
    """The commonest reason of each library, with its cases, the commonest first; at most MOST."""
    seen: set[str] = set()
    for (library, reason), count in counts.most_common():
        if library not in seen and len(seen) < MOST:
            seen.add(library)
            yield library, reason, count
