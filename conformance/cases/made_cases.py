"""The cases of recipes: from the cache, else made, in the background if that is worth a process."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from tiebreak.conformance.cases.makers import Makers, cores
from tiebreak.conformance.cases.recipes import Recipe
from tiebreak.golden.case_cache import CaseCache
from tiebreak.golden.nodes import Case


def made_once(recipe: Recipe, cache: CaseCache) -> list[Case]:
    """The recipe's cases, from the cache or made and then kept there."""
    key = recipe.key()
    found = cache.get(key)
    if found is None:
        found = recipe.make()
        if cache.put(key, found):
            cache.tidy()
    return found


class MadeCases:
    """The cases of some recipes; what is missing in the cache is being made from now on until `close`.

    The processes use all cores. With `alone`, when nothing else is to go on meanwhile, a single process would gain
    nothing, and the cases are made when they are asked for. Where the user's cache can't be written to, the processes
    hand the cases over in a temporary folder.
    """

    def __init__(self, recipes: Sequence[Recipe], *, alone: bool = False) -> None:
        self.cache = CaseCache()
        self.handed = self.cache  # where the processes put the cases
        self.temporary: tempfile.TemporaryDirectory[str] | None = None
        self.makers: Makers | None = None
        missing = [recipe for recipe in dict.fromkeys(recipes) if not self.cache.has(recipe.key())]
        slow = sum(recipe.kind == "generated" for recipe in missing)  # the others take less than a process's start
        processes = min(slow, cores())
        if processes > alone:
            self.begin(missing, processes)

    def begin(self, missing: Sequence[Recipe], processes: int) -> None:
        """Start the processes, if there is any folder where they can leave the cases."""
        folder = self.cache.writable_folder()
        try:
            if folder is None:
                self.temporary = tempfile.TemporaryDirectory(prefix="tiebreak-", ignore_cleanup_errors=True)
                folder = Path(self.temporary.name)
                self.handed = CaseCache(folder)
            self.makers = Makers(missing, folder, processes)
        except (OSError, RuntimeError):  # no room, or no more threads: the cases are made here
            return

    def cases(self, recipe: Recipe) -> list[Case]:
        """The recipe's cases, as soon as they are there."""
        if self.makers is not None:
            self.makers.wait(recipe)
        handed = None if self.handed is self.cache else self.handed.get(recipe.key())
        return made_once(recipe, self.cache) if handed is None else handed

    def close(self) -> None:
        """End what still runs, and keep the cache small."""
        if self.makers is not None:
            self.makers.close()
        self.cache.tidy()
        if self.temporary is not None:
            self.temporary.cleanup()
