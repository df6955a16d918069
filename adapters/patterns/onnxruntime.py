"""ONNX Runtime: levels of optimisation, and single optimisers. The saved model shows what ran."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tiebreak.adapters.onnxruntime_session import Sessions, Settings
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED, Opened, RuntimeWay
from tiebreak.adapters.patterns.onnx_graph import onnx_pattern, rows_again, tensors
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.problem import Array

INT8 = {"session.qdqisint8allowed": "1"}  # on x86 pairs of int8 are left alone without it
SETTINGS = {
    UNFUSED: Settings("DISABLE_ALL"),
    SHIPPED: Settings(),
    "basic": Settings("ENABLE_BASIC"),
    "extended": Settings("ENABLE_EXTENDED"),
    "layout": Settings("ENABLE_LAYOUT"),
    "int8 allowed": Settings(entries=INT8),
    "no QDQ": Settings(entries={"session.disable_quant_qdq": "1"}),
    "no selectors": Settings(disabled=("QDQSelectorActionTransformer",)),
    "no double pairs": Settings(disabled=("DoubleQDQPairsRemover",)),
    "no propagation": Settings(disabled=("QDQPropagationTransformer",)),
    "no final cleanup": Settings(disabled=("QDQFinalCleanupTransformer",)),
    "no clip or relu rewrite": Settings(disabled=("ClipQuantRewrite", "ReluQuantRewrite")),
}


class OnnxRuntimePatterns:
    """Sessions on the CPU with one thread."""

    name = "onnxruntime"
    ways = tuple(RuntimeWay(name, settings.described()) for name, settings in SETTINGS.items())

    def __init__(self) -> None:
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        self.library, self.version = onnxruntime, str(onnxruntime.__version__)

    def open(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], way: str) -> Opened:
        import onnx

        sessions = Sessions(self.library, SETTINGS[way])
        model = onnx_pattern(pattern, pairs, tensors(pattern, rows))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "optimised.onnx")
            session = sessions.open(model, optimised=str(path))
            graph = tuple(node.op_type for node in onnx.load(path).graph.node)
        names = [operand.name for operand in pattern.inputs]

        def run(given: Mapping[str, Array]) -> Array:
            placed = tensors(pattern, given)
            return rows_again(sessions.answers(session, {name: placed[name] for name in names}, ["y"])[0])

        return Opened(graph, run)


SCRIPT = """
import onnxruntime


def run(level):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(["y"], feeds)[0]


shipped = run(onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
unfused = run(onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
library = f"onnxruntime {onnxruntime.__version__}"
"""
