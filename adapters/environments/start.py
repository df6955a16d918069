"""Starts a worker in an environment that has nothing of Tiebreak's: a script, run by that environment's Python.

`python -I start.py PACKAGE SPEC FILE [CORES]`: PACKAGE is Tiebreak's folder, and SPEC is a module and an attribute of
it. Only Tiebreak is imported from there, none of what is installed beside it. The rest is as for worker.py.

It and the modules that a worker imports run on Python 3.8.
"""

from __future__ import annotations

import importlib.util
import os
import sys


def main() -> None:
    package = sys.argv.pop(1)
    own = importlib.util.spec_from_file_location(
        "tiebreak", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert own is not None and own.loader is not None
    sys.modules["tiebreak"] = module = importlib.util.module_from_spec(own)
    own.loader.exec_module(module)
    if sys.version_info < (3, 11):  # noqa: UP036 - not where Tiebreak is installed
        from tiebreak.adapters.environments.older_python import install

        install()
    from tiebreak.adapters.worker import main as work

    work()


if __name__ == "__main__":
    main()
