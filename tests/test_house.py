"""How the house is built: no module needs itself, however long the way round."""

from __future__ import annotations

import grimp


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules each of which can be reached from each other one; a module alone is none."""
    left = {name: set(wanted) for name, wanted in arrows.items()}
    changed = True
    while changed:  # who needs nobody, or is needed by nobody, is in no circle
        needed = set().union(*left.values()) if left else set()
        out = [name for name, wanted in left.items() if not wanted or name not in needed]
        changed = bool(out)
        for name in out:
            del left[name]
        for wanted in left.values():
            wanted.difference_update(out)
    return [sorted(left)] if left else []


def test_no_module_needs_itself() -> None:
    """But for a package that imports compiled modules of its own, which grimp takes for itself."""
    graph = grimp.build_graph("tiebreak", exclude_type_checking_imports=False, cache_dir=None)
    arrows = {name: set(graph.find_modules_directly_imported_by(name)) - {name} for name in graph.modules}
    assert len(arrows) > 250
    assert circles(arrows) == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}, "e": set()}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
