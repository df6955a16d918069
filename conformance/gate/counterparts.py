"""Which backend of one run is which of another: a library in one configuration, in whatever release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tiebreak.adapters.environments.named import split_release
from tiebreak.golden.errors import DamagedFile
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import Run
from tiebreak.reports.text_columns import mapped_text

Configuration = tuple[str, str]  # library, and what the spec names before the release
Backends = dict[str, tuple[Configuration, str]]  # by name, with the version


def counterparts(before: Run, after: Run) -> dict[str, str]:
    """The name that a backend of the first run has in the second, for each that is there.

    Equal names are one backend. Of the others, one is another's counterpart if it alone in its run is that
    configuration of the library, or that configuration at the same version. All else keeps its name.
    """
    old, new = backends_of_run(before), backends_of_run(after)
    found = {name: name for name in old if name in new}
    for name, (configuration, version) in old.items():
        if name not in found:
            for wanted in ((configuration,), (configuration, version)):
                here, there = (alike(backends, wanted) for backends in (old, new))
                if here == [name] and len(there) == 1 and there[0] not in found.values():
                    found[name] = there[0]
                    break
    return found


def other_names(names: Mapping[str, str]) -> dict[str, str]:
    """Those of the counterparts that have another name."""
    return {name: other for name, other in names.items() if name != other}


def alike(backends: Backends, wanted: tuple[object, ...]) -> list[str]:
    """The backends of a configuration, or of one at a version."""
    return [name for name, facts in backends.items() if facts[: len(wanted)] == wanted]


def backends_of_run(run: Run) -> Backends:
    try:
        return {str(one["name"]): (configuration_of(one), str(one["version"])) for one in run.info["backends"]}
    except (KeyError, TypeError):
        raise DamagedFile("run.json: damaged run file: no list of backends") from None


def configuration_of(backend: Mapping[str, Any]) -> Configuration:
    """The library and the configuration of a row of run.json's `backends`; of the user's own code the name is it."""
    spec = str(backend.get("spec") or backend["name"])
    return library_of(backend), str(backend["name"]) if ":" in spec else split_release(spec)[0]


def under_names(run: Run, names: Mapping[str, str]) -> Run:
    """The run with other names for some of its backends; how each was named on the command line stays."""
    if not other_names(names):
        return run

    def named(name: object) -> str:
        return names.get(str(name), str(name))

    info = run.info | {"backends": [{**one, "name": named(one["name"])} for one in run.info["backends"]]}
    for rows in ("clusters", "failures"):
        info[rows] = [{**one, "backend": named(one["backend"])} for one in run.info.get(rows, [])]
    tables = [rows.assign(backend=mapped_text(rows["backend"], named)) for rows in (run.results, run.discrepancies)]
    return replace(run, info=info, results=tables[0], discrepancies=tables[1])
