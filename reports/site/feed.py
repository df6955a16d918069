"""The Atom feed of what changed, by RFC 4287: an entry for each run's news of a library.

Ids are tag: URIs by RFC 4151, and dates those of the runs, so that the same runs always make the same feed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from tiebreak.reports.site.addresses import digest, file_name, library_page
from tiebreak.reports.site.changes import LibraryChange

MOST_ENTRIES = 50
AUTHORITY = "tiebreak"  # of ids where the site's address is not known


@dataclass(frozen=True)
class FeedEntry:
    """An entry; `content` is HTML."""

    title: str
    id: str
    updated: str
    page: str
    summary: str
    content: str


@dataclass(frozen=True)
class Feed:
    """The feed; `address` is the site's, with a slash at its end, or empty: then links are relative."""

    id: str
    updated: str
    address: str
    entries: tuple[FeedEntry, ...]


def feed_of(
    changes: Sequence[LibraryChange], created: str, address: str, content: Callable[[LibraryChange], str]
) -> Feed:
    """The newest news; `created` is the date of the newest run, `content` makes an entry's HTML."""
    authority = urlsplit(address).hostname or AUTHORITY
    entries = tuple(feed_entry(one, authority, content(one)) for one in changes[:MOST_ENTRIES])
    return Feed(f"tag:{authority},2026:tiebreak-site", created, address, entries)


def feed_entry(one: LibraryChange, authority: str, content: str) -> FeedEntry:
    place = f"{file_name(one.run)}/{file_name(one.library)}/{digest(one.run, one.library, one.version)}"
    return FeedEntry(
        f"{one.library} {one.releases}: {one.counts}",
        f"tag:{authority},2026:run/{place}",
        one.created,
        library_page(one.library),
        f"{one.counts} in {one.run}",
        content,
    )
