"""`python -m benchmarks.known_defects`, in the folder above benchmarks/."""

from __future__ import annotations

from benchmarks.known_defects.measure import main

main()
