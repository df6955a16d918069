"""Which wheels a release has, and what the container is built from."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from test_ci_jobs import check

from tiebreak import __version__

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
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8"))
    check({"on" if key is True else key: value for key, value in jobs.items()}, "github-workflows")  # YAML 1.1
    job, publish = jobs["jobs"]["wheels"], jobs["jobs"]["publish"]
    names = " ".join(job["strategy"]["matrix"]["os"])
    assert all(name in names for name in ("ubuntu", "arm", "macos", "windows"))
    assert job["steps"][-1]["with"]["path"] == "wheelhouse/*.whl"
    assert publish["needs"] == ["wheels", "source"] and publish["permissions"] == {"id-token": "write"}


@pytest.mark.parametrize(("tag", "status"), [(f"v{__version__}", 0), ("v99.0", 1), (__version__, 1)])
def test_a_tag_of_another_version_publishes_nothing(tag: str, status: int, tmp_path: Path) -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8"))["jobs"]
    (shell,) = [step["run"] for step in jobs["publish"]["steps"] if "run" in step]
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / f"tiebreak-{__version__}.tar.gz").touch()
    named = {**os.environ, "GITHUB_REF_NAME": tag}
    told = subprocess.run(["bash", "-e", "-c", shell], cwd=tmp_path, env=named, check=False)
    assert told.returncode == status


def test_the_container_takes_wheels_alone_and_no_network() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    installs = re.findall(r"^RUN (.*)$", text, re.MULTILINE)  # .ci/run runs it
    assert len(installs) == 1 and {"--no-index", "--find-links", "/wheels"} <= set(installs[0].split())
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8").split() == ["*", "!wheels"]
