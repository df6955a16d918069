"""A worker's environment: what libraries read is recorded, and what only costs time is not passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Words with which libraries begin the names of variables that change their kernels, threads or devices.
READ = re.compile(
    r"(ONEDNN|DNNL|MKL|OMP|KMP|GOMP|OPENBLAS|BLIS|VECLIB|ATEN|TORCH|TORCHINDUCTOR|PYTORCH|TF|TFLITE|XNN|XNNPACK|NPY|OV"
    r"|OPENVINO|ORT|ONNXRUNTIME|XLA|JAX|TVM|IREE|TRITON|TRACT|GGML|MNN|NCNN|CUDA|NVIDIA|CUBLAS|CUDNN|HIP|ROCR)_.*"
    r"|LD_PRELOAD|GLIBC_TUNABLES"
)
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
# They make libraries say more of an error, and each refusal slower: no result depends on them.
COSTLY = frozenset({"RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "PYTHONDEVMODE", "PYTHONTRACEMALLOC", "PYTHONFAULTHANDLER"})
LONGEST = 200  # characters of a value


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a worker gets: all but those that cost time and change no result."""
    return {name: value for name, value in environment.items() if name not in COSTLY}


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that can change what a library computes, sorted by name; none whose name tells of a secret."""
    names = sorted(name for name in worker_environment(environment) if READ.fullmatch(name) and not SECRET.search(name))
    return {name: environment[name][:LONGEST] for name in names}


def differing_settings(one: object, other: object) -> list[dict[str, str | None]]:
    """The settings that two runs do not share, with both values; none where a run is too old to have recorded any."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return []
    pairs = [(str(name), one.get(name), other.get(name)) for name in sorted({*one, *other})]
    return [{"name": name, "before": a, "after": b} for name, a, b in pairs if a != b]
