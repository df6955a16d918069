"""Memory that the allocator fills with a byte before a library gets it: what nobody writes is that byte.

glibc does so if it is told to. Memory that a thread keeps for itself is left as it is, so none is kept. Other
allocators, and memory that a library keeps from call to call, are not reached.
"""

from __future__ import annotations

from collections.abc import Mapping

BYTES = (0x5A, 0xC3)  # what memory is filled with in one process, and in another


def filling(byte: int, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variable by which a process gets memory filled with the byte, beside the tunables that are set.

    glibc fills with the complement of what it is told, and what is freed with that number itself.
    """
    own = [text for text in [environment.get("GLIBC_TUNABLES", "")] if text]
    tunables = [*own, f"glibc.malloc.perturb={byte ^ 0xFF}", "glibc.malloc.tcache_count=0"]
    return {"GLIBC_TUNABLES": ":".join(tunables)}
