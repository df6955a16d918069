"""Builds what is written in Cython and the index of the golden vectors; everything else is in pyproject.toml."""

import os
import subprocess
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_py import build_py

GOLDEN = Path("src/tiebreak/golden")
# GCC contracts a*b+c to one FMA by default, which changes results; the kernel asks for fma() where it wants one.
# Nobody debugs what is installed, and without its symbols compiling takes three quarters of the time.
NO_CONTRACTION = [] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]
KERNEL = Extension(
    "tiebreak.golden._kernel",
    [str(GOLDEN / "_kernel.pyx")],
    depends=[str(path) for path in sorted(GOLDEN.glob("kernels/*.h"))],
    include_dirs=[str(GOLDEN)],
    extra_compile_args=NO_CONTRACTION,
)
SEMANTICS = Path("src/tiebreak/conformance/semantics")
# No loop looks at the floating-point flags; without that promise the compiler makes no vectors of comparisons.
STEPS = Extension(
    "tiebreak.conformance.semantics._steps",
    [str(SEMANTICS / "_steps.pyx")],
    depends=[str(SEMANTICS / "steps.h"), str(GOLDEN / "clones.h")],
    include_dirs=[str(SEMANTICS), str(GOLDEN)],
    extra_compile_args=[*NO_CONTRACTION, "-fno-trapping-math", "-fno-math-errno"] if NO_CONTRACTION else [],
)
THEOREMS = Path("src/tiebreak/conformance/theorems")
ALL_SCALES = Extension(
    "tiebreak.conformance.theorems._all_scales",
    [str(THEOREMS / "_all_scales.pyx")],
    depends=[str(THEOREMS / "all_scales.h"), str(GOLDEN / "clones.h")],
    include_dirs=[str(THEOREMS), str(GOLDEN)],
    extra_compile_args=STEPS.extra_compile_args,
)
THRESHOLDS = Extension(
    "tiebreak.golden._thresholds",
    [str(GOLDEN / "_thresholds.pyx")],
    depends=[str(GOLDEN / "thresholds.h"), str(GOLDEN / "clones.h")],
    include_dirs=[str(GOLDEN)],
    extra_compile_args=NO_CONTRACTION,
)
LOOPS = [
    Extension(f"tiebreak.golden.kernels.{path.stem}", [str(path)], extra_compile_args=NO_CONTRACTION)
    for path in sorted(GOLDEN.glob("kernels/*.pyx"))
]
# Cython writes what its memoryviews need here, once, instead of into every module.
SHARED = "tiebreak.golden.kernels._memoryviews"
MEMORYVIEWS = Extension(SHARED, [str(GOLDEN / "kernels" / "_memoryviews.c")])

INDEX = "import sys; sys.path.insert(0, sys.argv[1]); from tiebreak.golden import vector_index as v; v.write_indices()"


class BuildWithIndex(build_py):
    """Copies the package and indexes the copied vectors. A checkout has its index in the user's cache."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            place = str(Path(self.build_lib).absolute())
            # -B, or the wheel would hold compiled Python, too.
            subprocess.run([sys.executable, "-B", "-c", INDEX, place], check=True)


setup(
    cmdclass={"build_py": BuildWithIndex},
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=cythonize(
        [MEMORYVIEWS, KERNEL, STEPS, THRESHOLDS, ALL_SCALES, *LOOPS],
        include_path=["src"],
        compiler_directives={"language_level": "3"},
        shared_utility_qualified_name=SHARED,
    ),
)
