"""`python -m benchmarks.frozen`, in the folder above benchmarks/."""

from __future__ import annotations

import os
import sys

# Some mistakes add products as NumPy's BLAS does, which chooses the order by the processor when NumPy is imported.
os.environ.update(OPENBLAS_CORETYPE="Haswell", OPENBLAS_NUM_THREADS="1")

from benchmarks.frozen.record import main

sys.exit(main())
