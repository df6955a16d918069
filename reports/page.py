"""What all HTML pages share: one Jinja environment, texts made visible, bounded tables, and the largest size.

Jinja escapes every text from a backend.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tiebreak.golden.messages import gist
from tiebreak.golden.rounding import short_mode
from tiebreak.reports.compiled_templates import CompiledTemplates
from tiebreak.reports.severity import percent
from tiebreak.reports.story import operator_names

SCRIPTS = ("pictures.js", "cards.js", "report.js")
MENU = (  # of a site of results
    ("Results", "index.html"),
    ("Causes", "causes.html"),
    ("Runs", "runs.html"),
    ("Compare", "compare.html"),
    ("Badges", "badges.html"),
)
RELEASES = ("Releases", "releases.html")  # of a site with a history
Menu = Sequence[tuple[str, str]]  # names and addresses of a site's pages
LARGEST = 1_950_000  # bytes; rows that do not fit are in the Parquet files only
LONGEST_TEXT = 700
MOST_WORDS = 4000  # characters of a runtime's own message
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]"
)


def environment_of() -> Environment:
    """The Jinja environment: texts are made visible, bounded and escaped; style and script are built in."""
    loader = PackageLoader("tiebreak.reports", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
        bytecode_cache=CompiledTemplates(),
    )
    style = loader.get_source(environment, "report.css")[0]
    script = "\n".join(['"use strict";', *(loader.get_source(environment, name)[0] for name in SCRIPTS)])
    environment.globals |= {"mode_text": mode_text, "visible": visible, "style": Markup(style)}
    environment.globals |= {"script": Markup(script), "script_hash": hash_of(script), "home": "", "menu": MENU}
    environment.filters["gist"] = gist
    environment.filters["percent"] = percent
    environment.filters["breakable"] = breakable
    environment.filters["dotted"] = dotted
    environment.filters["json"] = json_text
    environment.filters["quoted"] = shlex.quote
    environment.filters["short"] = operator_names
    environment.filters["whole"] = lambda text: Markup("{}").format(unseen_shown(str(text)[:MOST_WORDS]))
    environment.filters["n"] = lambda count: f"{int(count):,}"
    return environment


def visible(value: Any) -> Any:
    """A text, cut, with control and direction characters as \\u escapes; markup and numbers stay as they are."""
    if isinstance(value, (Markup, int, float, StrictUndefined)):
        return value
    text = unseen_shown(str(value)[: LONGEST_TEXT + 1])
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def unseen_shown(text: str) -> str:
    """A text with control and direction characters as \\u escapes."""
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def breakable(name: str) -> Markup:
    """A name that may break before its capital letters, and behind an underscore."""
    return Markup("<wbr>").join(re.split(r"(?<=[a-z0-9.])(?=[A-Z])|(?<=_)", str(visible(name))))


def dotted(name: str) -> Markup:
    """A name that may break behind its dots."""
    return Markup(".<wbr>").join(str(visible(name)).split("."))


def hash_of(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def mode_text(mode: str) -> str:
    return short_mode(mode).replace("_", " ").lower() or "no mode"


@dataclass(frozen=True)
class BoundedRows:
    """The rows of a table that are shown, and how many are left out."""

    rows: Sequence[Any]
    left_out: int = 0

    def cut(self, most: int) -> BoundedRows:
        return BoundedRows(self.rows[:most], self.left_out + max(0, len(self.rows) - most))


def json_text(value: Any) -> Markup:
    """JSON for an attribute in single quotes; its texts are made visible and cut."""
    text = json.dumps(visible_texts(value), separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;").replace(">", "&gt;"))


def visible_texts(value: Any) -> Any:
    """A JSON value whose texts are visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {str(key): visible_texts(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [visible_texts(one) for one in value]
    return value


def page_fits(page: str) -> bool:
    return len(page.encode()) <= LARGEST
