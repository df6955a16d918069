"""`python -m benchmarks.unseen_defects`, in the folder above benchmarks/."""

from __future__ import annotations

from benchmarks.unseen_defects.measure import main

main()
