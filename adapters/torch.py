"""PyTorch on the CPU: its classic quantization functions, and the decomposed ones of exported programs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from tiebreak.adapters import torch_classic, torch_decomposed, torch_fake, torch_linear
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.torch_calls import Plan, Planner, call_script
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Why each is the same operation. torch claims none of the documents: its functions have docstrings of their own.
SAME = {**torch_linear.MAPS, **torch_fake.MAPS}
CLASSIC: Mapping[str, Planner] = {**torch_classic.PLANNERS, **torch_fake.PLANNERS}


class Torch:
    """`planners` plan the calls for a node, by operator id. Importing `modules` registers the functions in torch."""

    takes_constants = True
    configuration_of = "torch"

    def __init__(
        self, name: str = "torch", planners: Mapping[str, Planner] = CLASSIC, modules: tuple[str, ...] = ()
    ) -> None:
        import torch

        for module in modules:
            importlib.import_module(module)
        torch.set_num_threads(1)
        self.name, self.library, self.version = name, torch, str(torch.__version__)
        self.planners, self.modules = planners, modules
        self.maps = {operator: SAME[operator] for operator in planners}
        self.ways: set[str] = set()

    def compile(self, node: Node) -> Run:
        plan = self.plan(node)
        plan.probe.run(self.library)
        self.ways.add(plan.ways)

        def run(*inputs: Array) -> tuple[Array, ...]:
            return (plan.call(*inputs).run(self.library),)

        return run

    def plan(self, node: Node) -> Plan:
        if node.operator not in self.planners:
            raise Unsupported(f"torch has no {node.operator}; what it is run for: {', '.join(sorted(self.planners))}")
        return self.planners[node.operator](self.library, node)

    def reproducer(self, node: Node, inputs: tuple[Array, ...]) -> str:
        """Python lines that make the same call and set `outputs` and `library`."""
        return call_script(self.plan(node).call(*inputs), node, self.modules)

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
            "instruction sets": instruction_sets(),
        }


def decomposed() -> Torch:
    return Torch("torch-decomposed", torch_decomposed.PLANNERS, (torch_decomposed.MODULE,))


def essentials(text: str) -> str:
    """The parts of torch.__config__.show() that matter: compiler, kernel libraries and CPU capability."""
    lines = [line.strip(" -") for line in text.splitlines()]
    telling = ("GCC", "clang", "MSVC", "Intel(R) MKL-DNN", "OpenMP", "CPU capability")
    libraries = [name for name in ("FBGEMM", "PYTORCH_QNNPACK", "XNNPACK") if f"-DUSE_{name}" in text]
    return "; ".join([line for line in lines if line.startswith(telling)] + [f"USE_{name}" for name in libraries])
