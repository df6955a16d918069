"""Which wheels a release has, and what the container is built from."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
LINUX = ("manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64", "musllinux_aarch64")
PLATFORMS = {"linux": LINUX, "macos": ("macosx_x86_64", "macosx_arm64"), "windows": ("win_amd64",)}
BUILDER = Path(sys.executable).with_name("cibuildwheel")
pytestmark = pytest.mark.skipif(not (ROOT / "Containerfile").exists(), reason="a source distribution has none of it")


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.skipif(not BUILDER.exists(), reason="of the extra dev")
def test_a_release_has_these_wheels(platform: str) -> None:
    command = [BUILDER, "--print-build-identifiers", "--platform", platform, ROOT]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "CIBW_ARCHS": ""})
    wanted = {f"{python}-{tag}" for python in PYTHONS for tag in PLATFORMS[platform]}
    assert set(told.stdout.split()) == wanted


def test_the_job_builds_on_each_platform_and_keeps_what_it_built() -> None:
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8"))["jobs"]["wheels"]
    names = " ".join(job["strategy"]["matrix"]["os"])
    assert all(name in names for name in ("ubuntu", "arm", "macos", "windows"))
    assert job["steps"][-1]["with"]["path"] == "wheelhouse/*.whl"


def test_the_container_takes_wheels_alone_and_no_network() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    installs = re.findall(r"^RUN (.*)$", text, re.MULTILINE)  # .ci/run runs it
    assert len(installs) == 1 and {"--no-index", "--find-links", "/wheels"} <= set(installs[0].split())
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8").split() == ["*", "!wheels"]
