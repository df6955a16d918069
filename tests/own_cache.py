"""A user's cache of a test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tiebreak.golden.nodes import Case


@pytest.fixture(name="own_cache")
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder in which entries will be, also for processes that the test starts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tiebreak" / "cases"


def fields(case: Case) -> list[Any]:
    """All that a case holds, for comparing: two cases with the same fields can't be told apart."""
    known = case.expected
    results = [] if known is None else [known.exact, known.exact_state, known.working, known.working_state]
    arrays = [(a.dtype, a.shape, a.tobytes(), a.flags.c_contiguous, a.flags.aligned) for a in (*case.inputs, *results)]
    attributes = [(name, type(value), value) for name, value in sorted(case.node.attributes.items())]
    same = known is not None and known.working is known.exact
    node = [case.node, case.node.key, attributes, case.node.document is None]
    return [case.id, *node, arrays, same, case.origin, case.flags, case.clauses]
