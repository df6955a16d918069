"""A worker's environment: what libraries read is recorded, and what only costs time is not passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Words with which libraries begin the names of variables that change their kernels, threads or devices. FLAGS_ are
# Paddle's. TF_ alone is not enough: it begins those of Terraform, too, whose TF_VAR_ may hold anything.
READ = re.compile(
    r"(ONEDNN|DNNL|MKL|OMP|KMP|GOMP|OPENBLAS|BLIS|VECLIB|ATEN|TORCH|TORCHAO|TORCHDYNAMO|TORCHINDUCTOR|PYTORCH|TFLITE"
    r"|TF_(ENABLE|DISABLE|ALLOW|OVERRIDE|SET|AUTO|DETERMINISTIC|USE|FORCE|NUM|FP16|BF16|CPU|GPU|CUDNN|CUBLAS|ROCM|XLA"
    r"|ONEDNN|MKL|MLIR|JITRT|GRAPH|EAGER|MATMUL|CONV2D)"
    r"|FLAGS|LITERT|MLX|NGRAPH|XNN|XNNPACK|NPY|OV"
    r"|OPENVINO|ORT|ONNXRUNTIME|XLA|JAX|TVM|IREE|TRITON|TRACT|GGML|MNN|NCNN|CUDA|NVIDIA|CUBLAS|CUDNN|HIP|ROCR)_.*"
    r"|LD_PRELOAD|GLIBC_TUNABLES"
)
FOLDERS = re.compile(r"[^\s:;,=]*/")  # of a path, which tell of a machine what no result depends on
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
# They make libraries say more of an error, and each refusal slower: no result depends on them.
COSTLY = frozenset({"RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "PYTHONDEVMODE", "PYTHONTRACEMALLOC", "PYTHONFAULTHANDLER"})
LONGEST = 200  # characters of a value


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a worker gets: all but those that cost time and change no result."""
    return {name: value for name, value in environment.items() if name not in COSTLY}


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that can change what a library computes, sorted by name; no secrets, no folders."""
    names = sorted(name for name in worker_environment(environment) if READ.fullmatch(name) and not SECRET.search(name))
    return {name: FOLDERS.sub("", environment[name])[:LONGEST] for name in names}


def differing_settings(one: object, other: object) -> list[dict[str, str | None]]:
    """The settings that two runs do not share, with both values; none where a run is too old to have recorded any."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return []
    pairs = [(str(name), one.get(name), other.get(name)) for name in sorted({*one, *other})]
    return [{"name": name, "before": a, "after": b} for name, a, b in pairs if a != b]
