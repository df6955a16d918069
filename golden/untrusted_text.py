"""Text from elsewhere: backends' names and messages, and what files say."""

from __future__ import annotations


def printable(text: object, longest: int, instead: str = "?") -> str:
    """The first characters, without any that a terminal, a browser or a parser would act on."""
    return "".join(c if c.isprintable() else instead for c in str(text)[:longest])


def one_line(text: object, longest: int) -> str:
    """Printable, with single spaces between words; an ellipsis says that something is left out."""
    words = " ".join(printable(text, 16 * longest, " ").split())
    return words if len(words) <= longest else words[: longest - 1] + "…"


def plural(count: int, noun: str) -> str:
    """A count with its noun: "1 case", "1,200 cases"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def safe_text(value: object, longest: int) -> str:
    """A value from a backend as text that can always be written: cut, without lone surrogates. Never raises."""
    try:
        return str(value)[:longest].encode("utf-8", "replace").decode()
    except Exception as error:
        return f"(its text can't be had: {type(error).__name__})"
