"""Writes docs/api.md from the docstrings of tiebreak's public names: python tests/make_api_page.py."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import tiebreak

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
HEAD = """# API

The names that `import tiebreak` offers. What is not here may change without notice.
"""


def api_page() -> str:
    parts = [HEAD]
    for name in sorted(tiebreak.__all__, key=str.lower):
        if not name.startswith("_"):
            parts.append(entry(name, getattr(tiebreak, name)))
    return "\n".join(parts)


def entry(name: str, found: Any) -> str:
    lines = [f"## {name}", ""]
    if inspect.isclass(found) and issubclass(found, BaseException):
        lines += [f"An exception; its base is `{found.__bases__[0].__name__}`.", ""]
    elif callable(found):
        lines += ["```python", signature(name, found), "```", ""]
    else:
        lines += [f"A `{type(found).__name__}` with {len(found)} entries.", ""]
    if callable(found):
        lines += [*(inspect.getdoc(found) or "").splitlines(), ""]
    lines += [line for member in members(found) for line in member]
    return "\n".join(lines)


def members(found: Any) -> list[list[str]]:
    """The documented public methods and properties of a class."""
    if not inspect.isclass(found) or issubclass(found, BaseException):
        return []
    own = [(name, value) for name, value in vars(found).items() if not name.startswith("_")]
    documented = [(name, value, getattr(value, "__doc__", None)) for name, value in own if not isinstance(value, str)]
    return [
        [f"`{name}`: {' '.join(inspect.cleandoc(text).split())}", ""]
        for name, value, text in documented
        if text and (callable(value) or isinstance(value, property) or hasattr(value, "func"))
    ]


def signature(name: str, found: Any) -> str:
    try:
        return name + re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(found)))
    except ValueError:
        return name


if __name__ == "__main__":
    PAGE.write_text(api_page(), encoding="utf-8")
