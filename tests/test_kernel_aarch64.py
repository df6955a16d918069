"""The kernel's loops compiled for AArch64 and run in an emulator, against the loops that run here."""

from __future__ import annotations

import itertools
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tiebreak.golden import _kernel
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES

HERE = Path(__file__).resolve().parent
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
FLAGS = ("-O3", "-ffp-contract=off", "-static", "-Wall", "-Werror=implicit-function-declaration")
FLOAT32 = 2
SIZE = 3000  # some blocks, and an end that fills no vector

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is not installed"),
    pytest.mark.skipif(not shutil.which(EMULATOR), reason=f"{EMULATOR} is not installed"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of aarch64_quotients.c, built with setup.py's flags."""
    built = tmp_path_factory.mktemp("aarch64") / "quotients"
    source, include = HERE / "aarch64_quotients.c", HERE.parent / "golden"
    subprocess.run([COMPILER, *FLAGS, f"-I{include}", str(source), "-o", str(built), "-lm"], check=True)
    return built


def inputs(scale: float, random: np.random.Generator) -> Array:
    """Ties and their neighbours, ordinary numbers, subnormal ones, and any bits that are finite."""
    halves = (random.integers(-600, 600, SIZE) * scale / 2).astype(np.float32).view(np.uint32)
    near = halves + random.integers(-1, 2, SIZE).astype(np.uint32)
    ordinary = (random.uniform(-200, 200, SIZE) * scale).astype(np.float32).view(np.uint32)
    subnormal = random.integers(0, 1 << 23, SIZE, np.uint32)
    anything = random.integers(0, 1 << 32, SIZE, np.uint32)
    found = np.concatenate([ordinary, halves, near, subnormal, anything])
    return np.where(np.isfinite(found.view(np.float32)), found, 0).astype(np.uint32)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_the_same_source_gives_the_same_results_on_aarch64(program: Path, dtype: str) -> None:
    random, limits = np.random.default_rng(3), np.iinfo(dtype)
    requests, wanted = [], []
    for mode, scale, columns in itertools.product(range(len(ROUND_MODES)), (0.1, 0.25, 3.0, 1e-20), (False, True)):
        x = inputs(scale, random)
        scales = np.float32(scale) * (1 + np.arange(x.size if columns else 1) % 5).astype(np.float64)
        zero_point = np.full(scales.size, (int(limits.min) + int(limits.max) + 1) // 2 + 1, np.int64)
        parameters = _kernel.Parameters(scales, zero_point, False, mode, False, limits.min, limits.max)
        out = np.empty(x.size, dtype)
        _kernel.round_quotients(x, FLOAT32, parameters, out, np.zeros(1, np.int64), columns)
        head = mode, out.itemsize, columns, parameters.wide, scales.size, x.size, limits.min, limits.max
        requests += [struct.pack("<6i2q", *map(int, head)), scales.tobytes(), zero_point.tobytes(), x.tobytes()]
        wanted.append(out.tobytes())
    done = subprocess.run([EMULATOR, str(program)], input=b"".join(requests), capture_output=True, check=True)
    assert done.stdout == b"".join(wanted)
