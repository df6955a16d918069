"""Lets Tiebreak's modules, which are written for Python 3.11, run in a worker on Python 3.8 to 3.10.

Their source is changed as it is loaded, and no library sees any of it. It changes what a worker needs and no more:
types in subscripts, zip(strict=), `|` of dictionaries and types, two methods of texts and a few younger functions.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import functools
import itertools
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

GENERIC = {"np.dtype", "np.ndarray", "dict", "frozenset", "list", "set", "tuple", "type", *collections.abc.__all__}
STRING_METHODS = {"removeprefix": "tiebreak_removeprefix", "removesuffix": "tiebreak_removesuffix"}


def strict_zip(*iterables: Any, strict: bool = False) -> Any:
    """zip of Python 3.10."""
    if not strict:
        return builtins.zip(*iterables)  # noqa: B905 - an older zip
    return checked_zip(iterables)


def checked_zip(iterables: Any) -> Any:
    end = object()
    for row in itertools.zip_longest(*iterables, fillvalue=end):
        if any(one is end for one in row):
            raise ValueError("zip() arguments differ in length")
        yield row


def united(left: Any, right: Any) -> Any:
    """left | right of Python 3.10. A union of types is their tuple, which isinstance takes too."""
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    if isinstance(left, (type, tuple)) and isinstance(right, (type, tuple, builtins.type(None))):
        return (*as_tuple(left), *as_tuple(right))
    return left | right


def as_tuple(types: Any) -> tuple[Any, ...]:
    return types if isinstance(types, tuple) else (type(None) if types is None else types,)


def removeprefix(text: str, prefix: str) -> str:
    return text[len(prefix) :] if prefix and text.startswith(prefix) else text


def removesuffix(text: str, suffix: str) -> str:
    return text[: -len(suffix)] if suffix and text.endswith(suffix) else text


def pairwise(iterable: Any) -> Any:
    first, second = itertools.tee(iterable)
    next(second, None)
    return builtins.zip(first, second)  # noqa: B905


YOUNGER: dict[str, dict[str, Any]] = {  # what is imported from the standard library and is not there
    "functools": {"cache": functools.lru_cache(maxsize=None)},
    "itertools": {"pairwise": pairwise},
    "dataclasses": {"KW_ONLY": None},
}
NAMES = {
    "zip": strict_zip,
    **{name: value for names in YOUNGER.values() for name, value in names.items()},
    "tiebreak_united": united,
    "tiebreak_removeprefix": removeprefix,
    "tiebreak_removesuffix": removesuffix,
}


class Older(ast.NodeTransformer):
    """The same module in an older Python's words."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        is_type = isinstance(node.value, (ast.Name, ast.Attribute)) and dotted(node.value) in GENERIC
        return node.value if is_type and isinstance(node.ctx, ast.Load) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return called("tiebreak_united", node.left, node.right) if isinstance(node.op, ast.BitOr) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr) or not isinstance(node.target, ast.Name):
            return node
        value = called("tiebreak_united", ast.Name(node.target.id, ast.Load()), node.value)
        return ast.Assign([node.target], value)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        younger = YOUNGER.get(node.module or "", {})
        node.names = [one for one in node.names if one.name not in younger]
        return node if node.names else None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return None if isinstance(node.annotation, ast.Name) and node.annotation.id == "KW_ONLY" else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in STRING_METHODS:
            return called(STRING_METHODS[node.func.attr], node.func.value, *node.args)
        return node


def dotted(node: ast.Name | ast.Attribute) -> str:
    """A name, or a name with one attribute."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""


def called(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class Loader(SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        tree = ast.fix_missing_locations(Older().visit(ast.parse(data, path)))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> Any:  # never from a cache, which another version may have written
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: Any) -> None:
        vars(module).update(NAMES)
        super().exec_module(module)


class Finder(MetaPathFinder):
    """Finds Tiebreak's modules only."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith("tiebreak."):
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = Loader(found.loader.name, found.loader.path)
        return found


def install() -> None:
    """Load Tiebreak's modules so from here on."""
    sys.meta_path.insert(0, Finder())
