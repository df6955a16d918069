"""How the README and the pages are written: short, short lines, short sentences; every link alive, no page lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
GENERATED = {
    "authorities.md",
    "pattern-decisions.md",
    "pattern-results.md",
    "lemmas.md",
    "versions.md",
}  # and docs/findings/, docs/operators/, docs/semantics/
MOST_LINES, MOST_COLUMNS, MOST_WORDS = 110, 120, 35

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="a source distribution may have no docs")

WRITTEN = [README, ROOT / "CONTRIBUTING.md", *sorted(page for page in DOCS.glob("*.md") if page.name not in GENERATED)]
ALL = [README, *sorted(DOCS.rglob("*.md"))]


def prose(text: str) -> Iterator[str]:
    """The lines that people read as text: no code, no tables, no comments, no headings, nothing generated."""
    text = re.sub(r"^<!-- tables: .*?^<!-- end of tables -->", "", text, flags=re.MULTILINE | re.DOTALL)
    fence = ""
    for line in text.splitlines():
        mark = re.match(r"\s*(```+)", line)
        if mark:
            fence = "" if fence else mark[1]
            yield ""
        elif fence or line.startswith(("    ", "|", "#", "<!--", "![")):
            yield ""
        else:
            yield line


def sentences(text: str) -> Iterator[str]:
    """Each sentence of a page; code and links count as a word of text."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(prose(text))):
        plain = re.sub(r"`[^`]*`", "CODE", " ".join(block.split()))
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
        yield from re.split(r"(?<=[.!?])[\"”)*]* (?=[^a-z])", re.sub(r"^(?:[-*]|\d+\.) ", "", plain))


def words(sentence: str) -> int:
    return len([word for word in sentence.split() if re.search(r"\w", word)])


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [to for to in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", to)]


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_lines_fit_a_screen(page: Path) -> None:
    long = [line for line in prose(page.read_text(encoding="utf-8")) if len(line) > MOST_COLUMNS and " " in line]
    assert not long


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    found = {one: words(one) for one in sentences(page.read_text(encoding="utf-8"))}
    assert not {one: count for one, count in found.items() if count > MOST_WORDS}


def test_sentences_are_cut_where_they_end() -> None:
    text = "# T\n\nOne two, `three four`\nfive. Six [seven eight](x.md)! `nine` is.\n\n```sh\nnot this\n```\n"
    listed = "- ten and\n  eleven\n- twelve\n\n| no | no |\n"
    assert [words(one) for one in sentences(text + listed) if one] == [4, 3, 2, 3, 1]


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_site_has_every_page_once_and_a_reader_gets_to_each() -> None:
    listed = re.findall(r"([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(
        page for page in pages if page.count("/") < 2
    )  # not the files below a library: links lead there
    reached, found = set(), [DOCS / "index.md"]
    while found:
        page = found.pop()
        if page not in reached and page.exists():
            reached.add(page)
            found += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if ".md" in link]
    assert pages <= {str(page.relative_to(DOCS)) for page in reached if page.is_relative_to(DOCS)}
