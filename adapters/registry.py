"""Finds backends by name, NAME@VERSION, module:attribute, file.py:attribute, exec:COMMAND or onnx-backend:MODULE."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.adapters.environments.named import (
    RELEASE,
    Environment,
    environment,
    folder_of,
    install_line,
    newest_environment,
    split_release,
)
from tiebreak.adapters.program_words import EXEC, program_words
from tiebreak.adapters.protocol import Backend
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.messages import instead_of
from tiebreak.golden.untrusted_text import printable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from packaging.requirements import Requirement

GROUP = "tiebreak.backends"
ONNX_BACKEND = "onnx-backend:"  # begins the spec of a module with ONNX's own interface for backends
OWN = "tiebreak.adapters."  # modules that are never looked for in the current folder
# The extra that installs a built-in backend, if it differs from the backend's name.
EXTRAS = {
    "onnx-reference": "onnx",
    "onnxruntime-no-optimisation": "onnxruntime",
    "onnxruntime-two-threads": "onnxruntime",
    "onnxruntime-qdq": "onnxruntime",
    "onnxruntime-qdq-unfused": "onnxruntime",
    "openvino-as-shipped": "openvino",
    "openvino-limits-as-inputs": "openvino",
    "openvino-paddle": "openvino",
    "openvino-low-precision": "openvino",
    "openvino-no-low-precision": "openvino",
    "onnxruntime-basic": "onnxruntime",
    "onnxruntime-extended": "onnxruntime",
    "onnxruntime-qdq-no-selectors": "onnxruntime",
    "onnxruntime-tool": "onnxruntime",
    "litert-no-xnnpack": "litert",
    "litert-reference": "litert",
    "tensorflow-graph": "tensorflow",
    "tensorflow-xla": "tensorflow",
    "tensorflow-no-onednn": "tensorflow",
    "torch-decomposed": "torch",
    "torch-compiled": "torch",
    "torch-fbgemm": "torch",
    "torch-onednn": "torch",
    "torch-qnnpack": "torch",
    "torch-cuda": "torch",
    "torch-cuda-compiled": "torch",
    "tensorflow-gpu": "tensorflow",
    "onnxruntime-cuda": "onnxruntime",
    "onnxruntime-tensorrt": "onnxruntime",
    "jax-cuda": "jax",
    "stablehlo-reference": "jax",
    "triton-cuda": "triton-interpreter",
    "ggml-cpu": "ggml",
    "paddle-program": "paddle",
}

# Backends for a device that many machines lack.
FOR_DEVICES = (
    *("jax-cuda", "onnxruntime-cuda", "onnxruntime-tensorrt", "tensorflow-gpu", "torch-cuda", "torch-cuda-compiled"),
    "triton-cuda",
)
# Further configurations, which run only where they are named: most of what they do is what another one does.
ON_REQUEST = (
    *("onnxruntime-basic", "onnxruntime-extended", "onnxruntime-qdq-no-selectors", "onnxruntime-tool"),
    *("openvino-low-precision", "openvino-no-low-precision", "openvino-paddle", "litert-reference"),
    *FOR_DEVICES,
    *(
        "ggml-cpu",
        "paddle-program",
        "tensorflow-graph",
        "tensorflow-xla",
        "torch-compiled",
        "torch-fbgemm",
        "torch-onednn",
        "torch-qnnpack",
    ),
)
# Libraries that need not go with the others: each gets an environment of its own, or is installed beside Tiebreak.
APART = (
    *("emx-onnx-cgen", "executorch", "ggml", "gguf", "iree", "jax", "mlx", "mnn", "ncnn", "onnxruntime-openvino"),
    *("paddle", "tflite-micro", "tinygrad", "torchao", "tosa-reference-model", "tract", "triton-interpreter", "tvm"),
)
WITHOUT_LIBRARY = ("numpy-naive",)  # no release of a package on PyPI is what it runs
ONLY_RELEASE = {"ngraph": "0.26.0"}  # of backends that run in an environment of their own, whether or not named so
BY_ENVIRONMENT = ("tensorflow",)  # extras whose backends set variables that the library reads once in a process


def registered() -> dict[str, EntryPoint]:
    """The entry points of backends by name, without loading any."""
    from importlib.metadata import entry_points  # slow to import, and most workers don't need it

    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def usual() -> list[str]:
    """The registered backends that run where none is named: of those with a library in APART, the installed ones."""
    return [name for name in registered() if name not in ON_REQUEST and (not is_apart(name) or is_installed(name))]


def extra_of(name: str) -> str:
    """The extra with a backend's library: its own name, unless several configurations share one."""
    return EXTRAS.get(name, name)


def is_apart(name: str) -> bool:
    """Whether the library of a backend is one of APART."""
    return extra_of(name) in APART


def is_installed(name: str) -> bool:
    """Whether the library of a backend in APART is installed, beside Tiebreak or in an environment of its own."""
    return is_beside(name) or bool(newest_environment(extra_of(name)))


def is_beside(name: str) -> bool:
    """Whether the library of a built-in backend is installed in Tiebreak's own environment."""
    return bool(release_beside(name))


def release_beside(name: str) -> str:
    """The release of a built-in backend's library in Tiebreak's own environment, from its metadata; empty if absent."""
    from importlib.metadata import PackageNotFoundError, distribution

    wanted = requirements_of(extra_of(name))
    try:
        return distribution(wanted[0].name).version if wanted else ""
    except PackageNotFoundError:
        return ""


def requirements_of(extra: str) -> list[Requirement]:
    """What an extra of Tiebreak needs; the library itself comes first."""
    return [one for one in of_all_extras() if one.marker is not None and one.marker.evaluate({"extra": extra})]


@cache
def of_all_extras() -> list[Requirement]:
    """What Tiebreak and its extras need."""
    from importlib.metadata import requires

    from packaging.requirements import Requirement

    return [Requirement(text) for text in requires("tiebreak") or ()]


def library_of(name: str) -> str:
    """The extra that a built-in backend needs, one for all configurations of a library. InvalidInput if it has none."""
    if name not in registered():
        meant = instead_of(name, registered(), "tiebreak backends")
        raise InvalidInput(f"unknown backend {printable(name, 80)!r}; {meant}")
    if entry_point(name).startswith(OWN) and name not in WITHOUT_LIBRARY:
        return extra_of(name)
    known = ", ".join(one for one in registered() if one not in WITHOUT_LIBRARY)
    raise InvalidInput(f"{printable(name, 80)!r} has no releases to install; these have: {known}")


def environment_of(spec: str) -> Environment | None:
    """The environment that a spec names, None for Tiebreak's own. MachineryFailed if it is missing or damaged."""
    if spec in ONLY_RELEASE and not folder_of(spec, ONLY_RELEASE[spec]).is_dir():
        return None  # a worker in Tiebreak's own environment says what is missing
    name, version = split_release(with_release(spec))
    return environment(library_of(name), version) if version else None


def with_release(spec: str) -> str:
    """The spec, with its release if the backend has only one, or if only an environment has its library."""
    if spec in ONLY_RELEASE:
        return f"{spec}@{ONLY_RELEASE[spec]}"
    version = newest_environment(extra_of(spec)) if is_apart(spec) and not is_beside(spec) else ""
    return f"{spec}@{version}" if version else spec


def entry_point(name: str) -> str:
    """The module and the attribute of a registered backend."""
    return registered()[name].value


def is_own(spec: str) -> bool:
    """Whether a spec names the user's code: a file, a module, a program or a plugin, and no library of an adapter."""
    return not entry_point(spec).startswith(OWN) if spec in registered() else ":" in spec


def check_spec(spec: str) -> str:
    """The spec, if it may name a backend. Otherwise InvalidInput with the known names."""
    if spec in registered():
        return spec
    name, version = split_release(spec)
    if version:
        library_of(name)
        if not RELEASE.fullmatch(version):
            raise InvalidInput(f"backend {printable(spec, 80)!r}: name a release after the @, such as {name}@1.20.1")
        return spec
    if spec.startswith(EXEC):
        program_words(spec.removeprefix(EXEC))
        return spec
    if spec.startswith(ONNX_BACKEND):
        check_module(spec.removeprefix(ONNX_BACKEND))
        return spec
    place, colon, attribute = spec.rpartition(":")
    if spec.endswith(".py") and Path(spec).is_file():
        raise InvalidInput(f"backend {spec!r}: name the attribute in it too, as {spec}:attribute")
    if not colon or not place or not attribute:
        raise InvalidInput(
            f"unknown backend {spec!r}; {instead_of(spec, registered(), 'tiebreak backends')}; a release of one is "
            "NAME@VERSION, your own module:attribute, path/to/file.py:attribute, exec:COMMAND or onnx-backend:MODULE"
        )
    if place.endswith(".py") and not Path(place).is_file():
        raise InvalidInput(f"backend {spec!r}: no file {place}")
    return spec


def check_module(place: str) -> None:
    """Raise InvalidInput unless this is the name of a module, perhaps with that of an attribute."""
    module, colon, attribute = place.partition(":")
    parts = [*module.split("."), *([attribute] if colon else [])]
    if not all(part.isidentifier() for part in parts):
        raise InvalidInput(
            f"{ONNX_BACKEND}{printable(place, 80)}: name a module, as in {ONNX_BACKEND}onnxruntime.backend"
        )


def spec_from_file(written: str, named: str, file: str) -> str:
    """The backend that a file is about: a registered one, or the one that the user `named`.

    Raises InvalidInput for any other spec: it would let a file choose code or a command to run.
    """
    if named:
        return check_spec(named)
    if written in registered() or split_release(written)[0] in registered():
        return check_spec(written)
    shown = printable(written, 80)
    raise InvalidInput(f"{file}: its backend is {shown!r}, which is not run because a file says so: name it yourself")


def load_backend(spec: str) -> Backend:
    """The backend object that a spec names. A class or function is called without arguments.

    Raises InvalidInput for a missing module, attribute or method. Exceptions of the user's code pass through.
    """
    if spec.startswith(EXEC):
        from tiebreak.adapters.external import External

        return External(spec.removeprefix(EXEC))
    if spec.startswith(ONNX_BACKEND):
        from tiebreak.adapters.onnx_backend import named_backend

        return named_backend(spec, load_module(spec.removeprefix(ONNX_BACKEND).partition(":")[0]))
    if ":" not in spec and spec not in registered():
        raise InvalidInput(f"backend {spec!r} runs in an environment of its own, so not in this process")
    point = None if ":" in spec else registered()[spec]
    found = point.load() if point else load_attribute(*spec.rsplit(":", 1))
    is_instance = hasattr(found, "compile") and not isinstance(found, type)
    backend = found if is_instance or not callable(found) else found()
    missing = [name for name in ("name", "version", "compile") if not hasattr(backend, name)]
    if missing:
        raise InvalidInput(f"backend {spec!r} has no {', '.join(missing)}; it needs name, version and compile(node)")
    return backend  # type: ignore[no-any-return]


def install_command(name: str) -> str:
    """The command that installs a built-in backend."""
    name, version = split_release(name)
    if version:
        return install_line(library_of(name), version)
    library = extra_of(name)
    if name in ONLY_RELEASE or library in APART:
        return f"tiebreak backends install {library}"
    return f"pip install 'tiebreak[{library}]'"


def load_attribute(place: str, attribute: str) -> Any:
    module = load_file(Path(place)) if place.endswith(".py") else load_module(place)
    if not hasattr(module, attribute):
        public = ", ".join(name for name in vars(module) if not name.startswith("_"))
        raise InvalidInput(f"backend {place}:{attribute}: no {attribute!r} there; it has: {public[:800]}")
    return getattr(module, attribute)


def load_module(name: str) -> Any:
    if name.startswith(OWN):
        return importlib.import_module(name)
    sys.path.insert(0, str(Path.cwd()))
    missing = InvalidInput(f"no module {name!r} to load a backend from")
    first, *others = name.split(".")
    if not all(part.isidentifier() for part in (first, *others)) or importlib.util.find_spec(first) is None:
        raise missing
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise missing from None
        raise  # the module itself imports something that is missing


def load_file(path: Path) -> Any:
    """The module in a file. As for a script, its folder is put on sys.path."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(f"tiebreak_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
