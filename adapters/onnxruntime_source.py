"""Python source that runs a model in onnxruntime's own API, for standalone scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiebreak.adapters.onnx_models import Linear, onnx_type
from tiebreak.adapters.onnx_source import fed_source, model_source, type_source, with_imports
from tiebreak.adapters.onnxruntime_session import BY_BITS, CARRIERS, Settings

VALUE = """

def value(array, element_type):
    # an array of a type that NumPy lacks goes in as its bits
    words = array.view(f"uint{8 * array.itemsize}")
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(words, element_type)

"""


def reproducer_source(model: Any, settings: Settings, linear: Linear, constants: Sequence[str] = ()) -> str:
    """Source that assigns `outputs` and `library`, feeding all inputs except the constants."""
    fed = [(name, kind) for name, kind in zip(linear.names, linear.inputs, strict=True) if name not in constants]
    by_bits = any(kind in BY_BITS for kind in (*dict(fed).values(), linear.output))
    run = bound_run_source(fed, linear) if by_bits else plain_run_source(fed, linear)
    library = 'library = f"onnxruntime {onnxruntime.__version__}"\n'
    flat = any(node.op_type == "Flatten" for node in model.graph.node)
    reshape = f"outputs = (y.reshape({linear.names[0]}.shape),)\n" if flat else ""
    return with_imports("\n".join((model_source(model), session_source(settings), run, reshape + library)))


def session_source(settings: Settings) -> str:
    lines = ["options = onnxruntime.SessionOptions()", f"options.intra_op_num_threads = {settings.threads}"]
    if settings.level:
        lines.append(f"options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_{settings.level}")
    lines += [f'options.add_session_config_entry("{key}", "{value}")' for key, value in settings.entries.items()]
    rest = "".join(f", {name}={value!r}" for name, value in settings.optimisers().items())
    given = f"model.SerializeToString(), options, providers={settings.providers()!r}{rest}"
    lines.append(f"session = onnxruntime.InferenceSession({given})".replace("'", '"'))
    return "\n".join(lines)


def plain_run_source(fed: Sequence[tuple[str, str]], linear: Linear) -> str:
    """Source that passes arrays directly; 4-bit types go through the carriers of the Cast nodes."""
    feeds = fed_source("feeds", [(name, carried_source(name, kind)) for name, kind in fed])
    after = f".astype(ml_dtypes.{linear.output})" if linear.output in CARRIERS else ""
    return f'{feeds}\n(y,) = session.run(["y"], feeds)\noutputs = (y{after},)'


def bound_run_source(fed: Sequence[tuple[str, str]], linear: Linear) -> str:
    """Source that uses an IO binding, for types that NumPy lacks."""
    lines = [VALUE, "binding = session.io_binding()"]
    lines += [f'binding.bind_ortvalue_input("{name}", {ort_value(name, kind)})' for name, kind in fed]
    if linear.output in BY_BITS:
        lines.append(f"y = np.zeros({linear.names[0]}.shape, ml_dtypes.{linear.output})")
        lines.append(f'binding.bind_ortvalue_output("y", {ort_value("y", linear.output)})')
    else:
        lines.append('binding.bind_output("y")')
    lines.append("session.run_with_iobinding(binding)")
    if linear.output in BY_BITS:
        return "\n".join((*lines, "outputs = (y,)"))
    after = f".astype(ml_dtypes.{linear.output})" if linear.output in CARRIERS else ""
    return "\n".join((*lines, f"outputs = (binding.get_outputs()[0].numpy(){after},)"))


def ort_value(name: str, kind: str) -> str:
    if kind in BY_BITS:
        return f"value({name}, {type_source(onnx_type(kind))})"
    return f"onnxruntime.OrtValue.ortvalue_from_numpy({carried_source(name, kind)})"


def carried_source(name: str, kind: str) -> str:
    return f"{name}.astype(np.{CARRIERS[kind]})" if kind in CARRIERS else name
