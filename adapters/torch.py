"""PyTorch on the CPU: its classic quantization functions, and those of exported programs, also compiled."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tiebreak.adapters import (
    torch_cast,
    torch_classic,
    torch_decomposed,
    torch_fake,
    torch_fake_own,
    torch_linear,
    torch_quantize,
)
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.torch_calls import TYPES, Call, Compiler, Plan, Planner, call_script
from tiebreak.adapters.torch_compiled import Inductor
from tiebreak.adapters.torch_device import DeviceSweep, check_device, moved, region_of
from tiebreak.adapters.torch_linear import kinds_of
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Why each is the same operation. torch claims its own documents alone, those of its functions.
SAME = {**torch_linear.MAPS, **torch_fake.MAPS, **torch_cast.MAPS}
CLAIMS = {**torch_quantize.CLAIMS, **torch_fake_own.CLAIMS}
OWN: Mapping[str, Planner] = {**torch_quantize.PLANNERS, **torch_fake_own.PLANNERS}
CLASSIC: Mapping[str, Planner] = {**torch_classic.PLANNERS, **torch_fake.PLANNERS, **OWN}
EAGER: Mapping[str, Planner] = {**CLASSIC, **torch_cast.PLANNERS}  # an engine has no say in casts
PLAIN: Mapping[str, Planner] = {**torch_decomposed.PLANNERS, **torch_fake.PLANNERS, **torch_cast.PLANNERS, **OWN}


class Torch:
    """`planners` plan the calls for a node, by operator id. Importing `modules` registers the functions in torch.

    With a `compiler` the calls are compiled first. `engine` is one of torch's quantized engines, if not the usual one.
    `device` is where the tensors are, if not on the CPU; NoDevice where torch does not have it.
    """

    takes_constants = True
    configuration_of = "torch"
    claims: Mapping[str, str] = CLAIMS

    def __init__(
        self,
        name: str = "torch",
        planners: Mapping[str, Planner] = EAGER,
        modules: tuple[str, ...] = (),
        *,
        compiler: Callable[[Any], Compiler] | None = None,
        device: str = "",
        engine: str = "",
    ) -> None:
        import torch

        check_device(torch, device)
        for module in modules:
            importlib.import_module(module)
        torch.set_num_threads(1)
        if engine:
            torch.backends.quantized.engine = engine
        self.name, self.library, self.version = name, torch, str(torch.__version__)
        self.planners, self.modules, self.device = planners, modules, device
        self.maps = {operator: SAME[operator] for operator in planners if operator in SAME}
        self.claims = {operator: CLAIMS[operator] for operator in planners if operator in CLAIMS}
        self.ways: set[str] = set()
        self.compiler = compiler(torch) if compiler else None

    def compile(self, node: Node) -> Run:
        plan = self.plan(node)
        plan.probe.run(self.library)
        self.ways.add(plan.ways)

        def run(*inputs: Array) -> tuple[Array, ...]:
            call = self.placed(plan.call(*inputs))
            if self.compiler is None:
                return (call.run(self.library),)
            compiler = self.compiler
            return (call.run_by(self.library, lambda library: compiler.result(call)),)

        return run

    def placed(self, call: Call) -> Call:
        """The call on the backend's device."""
        return moved(call, self.device) if self.device else call

    def device_sweep(self, node: Node) -> DeviceSweep | None:
        """What sweeps the node on the device; None where it is swept like any backend: on the CPU, and if compiled."""
        if not self.device or self.compiler is not None:
            return None
        return DeviceSweep(self.library, self.plan(node), self.device, region_of(self.device))

    def plan(self, node: Node) -> Plan:
        if node.operator not in self.planners:
            raise Unsupported(f"torch has no {node.operator}; what it is run for: {', '.join(sorted(self.planners))}")
        if missing := [name for name in kinds_of(node) if name in TYPES and not hasattr(self.library, name)]:
            raise Unsupported(f"torch {self.version} has no {missing[0]}")
        return self.planners[node.operator](self.library, node)

    def reproducer(self, node: Node, inputs: tuple[Array, ...]) -> str:
        """Python lines that make the same call and set `outputs` and `library`."""
        script = call_script if self.compiler is None else self.compiler.script
        return script(self.placed(self.plan(node).call(*inputs)), node, self.modules)

    def attest(self) -> dict[str, str]:
        torch = self.library
        return {
            "library": str(torch.__file__),
            "torch": self.version,
            "kernels": ", ".join(map(str, Path(str(torch.__file__)).parent.glob("lib/*torch_cpu.*"))) or "unknown",
            "commit": str(torch.version.git_version),
            "build": essentials(torch.__config__.show()),
            "CPU capability": str(torch.backends.cpu.get_cpu_capability()),
            "quantized engine": str(torch.backends.quantized.engine),
            "threads": str(torch.get_num_threads()),
            "subnormals": "flushed" if float(torch.tensor(1e-39) * 1) == 0 else "kept",
            "deterministic algorithms": "on" if torch.are_deterministic_algorithms_enabled() else "as shipped (off)",
            "functions": "; ".join(sorted(self.ways)) or "nothing",
            **({"device": self.described_device()} if self.device else {}),
            **({} if self.compiler is None else {"compiled": self.compiler.described()}),
            "instruction sets": instruction_sets(),
        }

    def described_device(self) -> str:
        cuda = self.library.cuda
        return f"{self.device}: {cuda.get_device_name()}" if self.device.startswith("cuda") else self.device


def on_cuda() -> Torch:
    return Torch("torch-cuda", PLAIN, (torch_decomposed.MODULE,), device="cuda")


def compiled_for_cuda() -> Torch:
    """TorchInductor's Triton kernels."""
    return Torch("torch-cuda-compiled", PLAIN, (torch_decomposed.MODULE,), compiler=Inductor, device="cuda")


def decomposed() -> Torch:
    return Torch("torch-decomposed", torch_decomposed.PLANNERS, (torch_decomposed.MODULE,))


def compiled() -> Torch:
    return Torch("torch-compiled", PLAIN, (torch_decomposed.MODULE,), compiler=Inductor)


def qnnpack() -> Torch:
    return Torch("torch-qnnpack", CLASSIC, engine="qnnpack")


def onednn() -> Torch:
    return Torch("torch-onednn", CLASSIC, engine="onednn")


def fbgemm() -> Torch:
    return Torch("torch-fbgemm", CLASSIC, engine="fbgemm")


def essentials(text: str) -> str:
    """The parts of torch.__config__.show() that matter: compiler, kernel libraries and CPU capability."""
    lines = [line.strip(" -") for line in text.splitlines()]
    telling = ("GCC", "clang", "MSVC", "Intel(R) MKL-DNN", "OpenMP", "CPU capability")
    libraries = [name for name in ("FBGEMM", "PYTORCH_QNNPACK", "XNNPACK") if f"-DUSE_{name}" in text]
    return "; ".join([line for line in lines if line.startswith(telling)] + [f"USE_{name}" for name in libraries])
