"""Python source that runs a model in onnxruntime's own API, for standalone scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiebreak.adapters.onnx_models import CAST, OnnxNode, onnx_type
from tiebreak.adapters.onnx_source import fed_source, model_source, names_source, type_source, with_imports
from tiebreak.adapters.onnxruntime_session import BY_BITS, CARRIERS, Settings
from tiebreak.adapters.packed_bits import BITS, SOURCE
from tiebreak.adapters.reproducer import CALL

VALUE = """

def value(array, element_type):
    # an array of a type that NumPy lacks goes in as its bits
    words = array.view(f"uint{8 * array.itemsize}")
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(words, element_type)

"""


def reproducer_source(model: Any, settings: Settings, written: OnnxNode, constants: Sequence[str] = ()) -> str:
    """Source that assigns `outputs` and `library`, feeding all inputs except the constants."""
    fed = [(name, kind) for name, kind in zip(written.names, written.inputs, strict=True) if name not in constants]
    run = run_source(fed, written, packs=written.operator == CAST)
    library = 'library = f"onnxruntime {onnxruntime.__version__}"\n'
    flat = any(node.op_type == "Flatten" for node in model.graph.node)
    reshape = f"outputs = (y.reshape({written.names[0]}.shape),)\n" if flat else ""
    return with_imports("\n".join((model_source(model), session_source(settings), run, reshape + library)))


def run_source(fed: Sequence[tuple[str, str]], written: OnnxNode, *, packs: bool) -> str:
    """Source that runs the session on inputs of these names and types; with `packs` as onnxruntime_session.answer."""
    by_bits = any(kind in BY_BITS or (packs and kind in BITS) for kind in (*dict(fed).values(), written.output))
    return bound_run_source(fed, written, packs=packs) if by_bits else plain_run_source(fed, written)


def session_source(settings: Settings) -> str:
    lines = ["options = onnxruntime.SessionOptions()", f"options.intra_op_num_threads = {settings.threads}"]
    if settings.level:
        lines.append(f"options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_{settings.level}")
    lines += [f'options.add_session_config_entry("{key}", "{value}")' for key, value in settings.entries.items()]
    rest = "".join(f", {name}={value!r}" for name, value in settings.optimisers().items())
    given = f"model.SerializeToString(), options, providers={settings.providers()!r}{rest}"
    lines.append(f"session = onnxruntime.InferenceSession({given})".replace("'", '"'))
    return "\n".join(lines)


def plain_run_source(fed: Sequence[tuple[str, str]], written: OnnxNode) -> str:
    """Source that passes arrays directly; 4-bit types go through the carriers of the Cast nodes."""
    feeds = fed_source("feeds", [(name, carried_source(name, kind)) for name, kind in fed])
    if written.further:
        return f"{feeds}\n{CALL}\noutputs = tuple(session.run({names_source(written)}, feeds))"
    after = f".astype(ml_dtypes.{written.output})" if written.output in CARRIERS else ""
    return f'{feeds}\n{CALL}\n(y,) = session.run(["y"], feeds)\noutputs = (y{after},)'


def bound_run_source(fed: Sequence[tuple[str, str]], written: OnnxNode, *, packs: bool) -> str:
    """Source that uses an IO binding, for types that NumPy lacks."""
    helper = SOURCE if packs and any(kind in BITS for kind in (*dict(fed).values(), written.output)) else ""
    values = fed_source("values", [(name, ort_value(name, kind, packs=packs)) for name, kind in fed])
    lines = [f"{helper}{VALUE}", "binding = session.io_binding()", values]
    lines += ["for name in values:", "    binding.bind_ortvalue_input(name, values[name])"]
    before, outputs = bound_output_source(written, packs=packs)
    return "\n".join((*lines, *before, CALL, "session.run_with_iobinding(binding)", f"outputs = ({outputs},)"))


def bound_output_source(written: OnnxNode, *, packs: bool) -> tuple[list[str], str]:
    """Lines that bind the output, and the expression that it is after the run."""
    kind, shape = written.output, f"{written.names[0]}.shape"
    if packs and kind in BITS:
        made = [f"y = np.zeros({shape}, np.uint8)", f'binding.bind_ortvalue_output("y", {typed_value("y", kind)})']
        return made, f"unpacked(y, {BITS[kind]}, y.shape, ml_dtypes.{kind})"
    if kind in BY_BITS:
        made = [f"y = np.zeros({shape}, ml_dtypes.{kind})"]
        return [*made, f'binding.bind_ortvalue_output("y", {typed_value("y", kind)})'], "y"
    after = f".astype(ml_dtypes.{kind})" if kind in CARRIERS else ""
    return ['binding.bind_output("y")'], f"binding.get_outputs()[0].numpy(){after}"


def ort_value(name: str, kind: str, *, packs: bool) -> str:
    if packs and kind in BITS:
        return typed_value(f"packed({name}, {BITS[kind]})", kind)
    if kind in BY_BITS:
        return typed_value(name, kind)
    return f"onnxruntime.OrtValue.ortvalue_from_numpy({carried_source(name, kind)})"


def typed_value(array: str, kind: str) -> str:
    return f"value({array}, {type_source(onnx_type(kind))})"


def carried_source(name: str, kind: str) -> str:
    return f"{name}.astype(np.{CARRIERS[kind]})" if kind in CARRIERS else name
