"""A Chromium without a screen, and a page that notes everything that it must not do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page with everything that it must not do."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.wrong: list[str] = []
        self.page = self.open()

    def open(self) -> Any:
        page = self.context.new_page()
        page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda one: self.wrong.append(one.url) if not one.url.startswith(("file:", "data:")) else 0)
        return page


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """A file in a page of its own, which must have done nothing wrong in the end."""
    found = Watched(browser, **options)
    found.page.goto(path.as_uri())
    yield found.page
    found.context.close()
    assert found.wrong == []


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    found = Watched(
        chromium, viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    yield found
    assert found.wrong == []
    found.context.close()


SEEN = "s => [...document.querySelectorAll(s)].filter(e => !e.closest('[hidden]')).length"


# What is shown, whether it is near the window and drawn or not.
VIEW = "[...document.querySelectorAll('main .f:not([hidden])')].map(one => one.textContent).join('\\n')"
ZOOMS: list[dict[str, Any]] = [
    {"viewport": {"width": 1440, "height": 900}},
    {"viewport": {"width": 768, "height": 1024}, "color_scheme": "dark"},
    {"viewport": {"width": 720, "height": 450}, "device_scale_factor": 2},  # 1440 x 900 at 200 %
]


def shown(page: Any, selector: str) -> int:
    return int(page.evaluate(SEEN, selector))


def until(page: Any, condition: str) -> None:
    """Wait for a condition in JavaScript; Playwright's own way evaluates text in the page, which its policy forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never: {condition}")
