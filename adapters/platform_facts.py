"""Facts about the machine that can change results."""

from __future__ import annotations

import platform
from pathlib import Path

TELLING = (
    "sse4_1",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512_vnni",
    "avx512_bf16",
    "amx_tile",
    "asimd",
)


def instruction_sets() -> str:
    """The processor's SIMD instruction sets by the system's names; "unknown" if the system doesn't list them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    flags = next((set(line.split()) for line in lines if line.startswith(("flags", "Features"))), set())
    return " ".join(name for name in TELLING if name in flags) or "unknown"


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
