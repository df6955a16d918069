"""What a page says of backends that a newer run did not ask."""

from __future__ import annotations

from tiebreak.reports.page_results import with_recorded

FIRST = "Cases by verdict, level full, 2026-11-26, Linux:"
BEFORE = f"""{FIRST}

| backend | exact | deviates |
| --- | --- | --- |
| one 1.0 | 5 |  |
| two\\_b 2.0 | 3 | 2 |

| backend | differs because | clause | elements |
| --- | --- | --- | --- |
| two\\_b | a \\| b | X-1 | 2 in 1 cases |

Where the documents are silent:

| backend | situation | gives | elements |
| --- | --- | --- | --- |
| one | NaN: x | 0 | 4 |
| two\\_b | NaN: x | 1 | 4 |"""
AFTER = f"""{FIRST}

| backend | exact | unsupported |
| --- | --- | --- |
| two\\_b 2.1 | 4 | 1 |
| three 3 | 5 |  |

| backend | differs because | clause | elements |
| --- | --- | --- | --- |
| three | c | X-2 | 1 in 1 cases |"""
BOTH = f"""{FIRST}

| backend | exact | deviates | unsupported |
| --- | --- | --- | --- |
| one 1.0 | 5 |  |  |
| two\\_b 2.1 | 4 |  | 1 |
| three 3 | 5 |  |  |

| backend | differs because | clause | elements |
| --- | --- | --- | --- |
| three | c | X-2 | 1 in 1 cases |

Where the documents are silent:

| backend | situation | gives | elements |
| --- | --- | --- | --- |
| one | NaN: x | 0 | 4 |"""


def test_backends_that_a_run_did_not_ask_keep_their_rows() -> None:
    assert with_recorded(AFTER, BEFORE) == BOTH


def test_a_table_that_only_the_page_has_stays() -> None:
    alone = AFTER.partition("\n\n| backend | differs")[0].replace("two\\_b", "four")
    found = with_recorded(alone, BEFORE)
    assert "a \\| b" in found and found.count("NaN: x") == 2


def test_runs_of_another_day_or_level_are_not_mixed() -> None:
    assert with_recorded(AFTER, BEFORE.replace("26,", "25,")) == AFTER
    assert with_recorded(AFTER, BEFORE.replace("full", "quick")) == AFTER
    assert with_recorded(AFTER, "") == AFTER
    assert with_recorded(AFTER, AFTER) == AFTER
