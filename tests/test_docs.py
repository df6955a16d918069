"""The commands of the job pages, run as they are written, and the site that is built of all pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import make_api_page
import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#\s*exit (\d+)$")
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
PAGES = ("bring-up-a-backend", "audit-a-runtime", "write-vectors", "air-gapped", "scale-out")

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="a source distribution may have no docs")


def steps(page: str) -> list[tuple[str, str]]:
    """Files to write (name, text), and commands ("", line), in the page's order."""
    found = []
    for kind, body in BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if kind == "python":
            name = re.match(r"# (\w+\.py)\n", body)
            assert name, f"{page}: a Python block must begin with its file's name"
            found.append((name[1], body))
        else:
            found += [("", line) for line in body.splitlines() if line.strip()]
    return found


# These take a minute together, which CI has not got.
SLOW = ("audit-a-runtime", "scale-out")


@pytest.mark.parametrize("page", [pytest.param(p, marks=pytest.mark.slow) if p in SLOW else p for p in PAGES])
def test_the_pages_commands_do_what_they_say(page: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    if page == "scale-out":
        pytest.importorskip("distributed")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    commands = 0
    for name, text in steps(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
            continue
        ran = subprocess.run(
            ["bash", "-c", text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        wanted = EXIT.search(text)
        assert ran.returncode == (int(wanted[1]) if wanted else 0), (
            f"{text}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
        )
        commands += 1
    assert commands


def test_the_api_page_is_what_the_docstrings_say() -> None:
    """After a change: python tests/make_api_page.py."""
    assert make_api_page.PAGE.read_text(encoding="utf-8") == make_api_page.api_page()


def test_the_site_is_built_strictly_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(
        command, cwd=DOCS.parent, env=os.environ | QUIET, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 30
    fetched = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="https?://')
    for page in pages:
        outside = [tag for tag in fetched.findall(page.read_text(encoding="utf-8")) if "canonical" not in tag]
        assert not outside, page
