"""Maps the repository's folders to packages and builds the Cython kernel; everything else is in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# GCC contracts a*b+c to one FMA by default, which changes results; the kernel asks for fma() where it wants one.
NO_CONTRACTION = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]

setup(
    packages=[
        "tiebreak",
        "tiebreak.cli",
        "tiebreak.templates",
        "tiebreak.golden",
        "tiebreak.golden.formulas",
        "tiebreak.golden.kernels",
        "tiebreak.golden.operators",
        "tiebreak.golden.samples",
        "tiebreak.golden.vectors",
        "tiebreak.adapters",
        "tiebreak.conformance",
        "tiebreak.conformance.audit",
        "tiebreak.conformance.suite",
        "tiebreak.conformance.sweep",
        "tiebreak.reports",
        "tiebreak.reports.templates",
    ],
    package_dir={
        "tiebreak": "src/tiebreak",
        "tiebreak.golden": "golden",
        "tiebreak.adapters": "adapters",
        "tiebreak.conformance": "conformance",
        "tiebreak.reports": "reports",
    },
    package_data={
        "tiebreak": ["py.typed"],
        "tiebreak.templates": ["*.txt"],
        "tiebreak.golden": ["_kernel.pyx", "_kernel.pyi", "witnesses.json"],
        "tiebreak.golden.kernels": ["*.pyx", "*.pyi", "*.pxi"],
        "tiebreak.golden.vectors": ["*.json"],
        "tiebreak.reports.templates": ["*.j2", "*.css", "*.js"],
    },
    exclude_package_data={"tiebreak.golden": ["*.c"], "tiebreak.golden.kernels": ["*.c"]},
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=cythonize(
        [
            Extension(
                "tiebreak.golden._kernel",
                ["golden/_kernel.pyx"],
                depends=[str(path) for path in sorted(Path("golden/kernels").glob("*.h"))],
                include_dirs=["golden"],
                extra_compile_args=NO_CONTRACTION,
            ),
            *(
                Extension(f"tiebreak.golden.kernels.{path.stem}", [str(path)], extra_compile_args=NO_CONTRACTION)
                for path in sorted(Path("golden/kernels").glob("*.pyx"))
            ),
        ],
        compiler_directives={"language_level": "3"},
    ),
)
