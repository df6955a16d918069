"""The commands of the job pages, run as they are written, and the site that is built of all pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_api_page
import make_command_page
import numpy as np
import pytest

import tiebreak
from tiebreak.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(sh|python|toml|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#\s*exit (\d+)$")
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
PAGES = ("tutorial", "bring-up-a-backend", "audit-a-runtime", "write-vectors", "air-gapped", "scale-out")

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="a source distribution may have no docs")


def steps(page: str) -> list[tuple[str, str]]:
    """Files to write (name, text), and commands ("", line), in the page's order."""
    found = []
    for kind, body in BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if kind != "sh":
            name = re.match(r"# ([\w./]+)\n", body)
            assert name, f"{page}: a block that is no command must begin with its file's name"
            found.append((name[1], body))
        else:
            found += [("", line) for line in body.splitlines() if line.strip()]
    return found


# These take minutes together, which CI has not got.
SLOW = ("tutorial", "audit-a-runtime", "bring-up-a-backend", "scale-out")


@pytest.mark.few(1)
@pytest.mark.parametrize("page", [pytest.param(p, marks=pytest.mark.slow) if p in SLOW else p for p in PAGES])
def test_the_pages_commands_do_what_they_say(page: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    if page == "scale-out":
        pytest.importorskip("distributed")
    places = [no_pip(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(places)}
    commands = 0
    for name, text in steps(page):
        if name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
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


def no_pip(folder: Path) -> str:
    """A folder with a pip that installs nothing: Tiebreak is here."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "pip").write_text("#!/bin/sh\ntest $1 = install\n", encoding="utf-8")
    (tools / "pip").chmod(0o755)
    return str(tools)


def test_the_readmes_backend_rounds_ties_up_and_nothing_else() -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert len(source.splitlines()) <= 20
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - our own page
    node = tiebreak.make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
    inputs = (np.float32([0.5, 1.5, 2.4, -9, 999]), np.array(1, np.float32), np.array(0, np.uint8))
    (found,) = tiebreak.verdicts(names["Mine"](), node, inputs)
    assert found.tolist() == ["deviates", "exact", "exact", "exact", "exact"]


def test_the_gate_of_the_tutorial_runs_the_tutorials_commands() -> None:
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (ran,), (gated,) = re.findall(r"(tiebreak run .*) \|\|", job), re.findall(r"(tiebreak gate .*)", job)
    assert (page.count(ran), page.count(gated)) == (3, 2)


def test_the_command_page_is_what_help_says() -> None:
    """After a change: python tests/make_command_page.py."""
    page = make_command_page.PAGE.read_text(encoding="utf-8")
    assert page == make_command_page.command_page(), "stale: python tests/make_command_page.py"
    assert all(f"## tiebreak {name}\n" in page for name in main.commands)


def test_every_public_name_has_a_section_of_the_api_page() -> None:
    sections = re.findall(r"^### (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(sections) == sorted({*tiebreak.__all__} - {"__version__"})


def test_the_api_page_is_what_the_docstrings_say() -> None:
    """After a change: python tests/make_api_page.py."""
    assert make_api_page.PAGE.read_text(encoding="utf-8") == make_api_page.api_page(), (
        "stale: python tests/make_api_page.py"
    )


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
