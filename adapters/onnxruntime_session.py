"""ONNX Runtime's sessions: making one with given settings, running it on arrays, and profiling it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import OnnxNode, as_old_as, onnx_type
from tiebreak.adapters.packed_bits import BITS, packed, unpacked
from tiebreak.golden.elements import SMALL_FLOAT_TYPES, numpy_dtype
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.problem import Array

PROVIDER = "CPUExecutionProvider"
# The Python API has no arrays of these types; they enter and leave through Cast nodes, but those of a Cast packed.
CARRIERS = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
BY_BITS = ("bfloat16", *SMALL_FLOAT_TYPES)  # passed as bits with an element type


# What releases say about an unknown version; they have no error type for it.
VERSION_MESSAGES = ("Unsupported model IR version", "is under development and support for this is limited")


class UnknownVersion(Unsupported):
    """The release does not know the model's operator set or IR version."""


def is_about_versions(message: str) -> bool:
    return any(words in message for words in VERSION_MESSAGES)


@dataclass(frozen=True)
class Settings:
    """How a session is made; `entries` are session configuration entries, `disabled` the names of optimisers.

    `level` is the end of a name of GraphOptimizationLevel; empty for what is shipped, which is ORT_ENABLE_ALL.
    """

    level: str = ""
    threads: int = 1
    entries: Mapping[str, str] = field(default_factory=dict)
    disabled: tuple[str, ...] = ()
    provider: str = PROVIDER
    options: Mapping[str, str] = field(default_factory=dict)  # of the provider

    def described(self) -> str:
        level = f"ORT_{self.level}" if self.level else "as shipped (ORT_ENABLE_ALL)"
        entries = [f"{key}={value}" for key, value in self.entries.items()]
        return ", ".join([level, *entries, *(f"without {name}" for name in self.disabled)])

    def providers(self) -> list[Any]:
        """The argument of InferenceSession."""
        return [(self.provider, dict(self.options)) if self.options else self.provider]

    def optimisers(self) -> dict[str, list[str]]:
        """A further argument of InferenceSession, if there is one."""
        return {"disabled_optimizers": list(self.disabled)} if self.disabled else {}


@dataclass(frozen=True)
class Sessions:
    """Makes and runs sessions of the library (the module onnxruntime) with the settings.

    What the runtime refuses is Unsupported with its own message.
    """

    library: Any
    settings: Settings

    def open(self, model: Any, *, profile: str = "", optimised: str = "") -> Any:
        """A session. `profile` is the prefix of the profile's file, `optimised` the file for the optimised model."""
        options = self.library.SessionOptions()
        options.intra_op_num_threads = self.settings.threads
        if self.settings.level:
            level = getattr(self.library.GraphOptimizationLevel, f"ORT_{self.settings.level}")
            options.graph_optimization_level = level
        for key, value in self.settings.entries.items():
            options.add_session_config_entry(key, value)
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, profile
        if optimised:
            options.optimized_model_filepath = optimised
        errors = self.library.capi.onnxruntime_pybind11_state
        try:
            session = self.library.InferenceSession(
                model.SerializeToString(),
                options,
                providers=self.settings.providers(),
                **self.settings.optimisers(),
            )
        except (errors.NotImplemented, errors.InvalidGraph, errors.InvalidArgument, errors.Fail) as error:
            kind = UnknownVersion if is_about_versions(str(error)) else Unsupported
            raise kind(str(error)) from None
        if session.get_providers()[0] != self.settings.provider:
            raise MachineryFailed(f"the session fell back to {session.get_providers()}")
        return session

    def open_known(self, written: OnnxNode, make: Callable[[OnnxNode], Any]) -> tuple[OnnxNode, Any]:
        """The node at its own operator set, or at the latest earlier one that the release knows, and a session for it.

        Raises Unsupported with the message about the node's own operator set if there is none.
        """
        refusals: list[Unsupported] = []
        for found in as_old_as(written):
            try:
                return found, self.open(make(found))
            except UnknownVersion as refusal:
                refusals.append(refusal)
        raise refusals[0]

    def answer(
        self, session: Any, feeds: Mapping[str, Array], output: str, shape: tuple[int, ...], *, packs: bool = False
    ) -> Array:
        """The output y, of element type `output` and this shape, for inputs by name.

        With `packs` tensors of 2 and 4 bits are the model's own, without carriers.
        """
        errors = self.library.capi.onnxruntime_pybind11_state
        try:
            if not {output, *(array.dtype.name for array in feeds.values())} & {*BY_BITS, *CARRIERS}:
                return np.asarray(session.run(["y"], feeds)[0])
            return self.bound_answer(session, feeds, output, shape, packs=packs)
        except (errors.Fail, errors.InvalidArgument, errors.NotImplemented, RuntimeError) as error:
            raise Unsupported(str(error)) from None

    def answers(self, session: Any, feeds: Mapping[str, Array], names: Sequence[str]) -> tuple[Array, ...]:
        """The outputs of these names, of types that NumPy has."""
        errors = self.library.capi.onnxruntime_pybind11_state
        try:
            return tuple(np.asarray(output) for output in session.run(list(names), feeds))
        except (errors.Fail, errors.InvalidArgument, errors.NotImplemented, RuntimeError) as error:
            raise Unsupported(str(error)) from None

    def bound_answer(
        self, session: Any, feeds: Mapping[str, Array], output: str, shape: tuple[int, ...], *, packs: bool
    ) -> Array:
        """The output, by an IO binding. The API makes no array of some types, but writes into one.

        The values live until the end of the run: a binding of release 1.24 keeps neither them nor their arrays.
        """
        binding, dtype = session.io_binding(), numpy_dtype(output)
        values = {name: self.value(array, packs=packs) for name, array in feeds.items()}
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        if output not in BY_BITS and not (packs and output in BITS):
            binding.bind_output("y")
            session.run_with_iobinding(binding)
            return np.asarray(binding.get_outputs()[0].numpy().astype(dtype, copy=False))
        words = np.zeros(shape, f"uint{8 * dtype.itemsize}")
        binding.bind_ortvalue_output("y", self.typed(words, output))
        session.run_with_iobinding(binding)
        return unpacked(words, output, shape) if packs and output in BITS else words.view(dtype)

    def value(self, array: Array, *, packs: bool = False) -> Any:
        """An OrtValue. A type that NumPy lacks is passed as bits with its element type, or as its carrier."""
        name = array.dtype.name
        if packs and name in BITS:
            return self.typed(packed(array), name)
        if name in BY_BITS:
            return self.typed(np.asarray(array, order="C").view(f"uint{8 * array.dtype.itemsize}"), name)
        carried = np.asarray(array, order="C").astype(CARRIERS.get(name, name), copy=False)
        return self.library.OrtValue.ortvalue_from_numpy(carried)

    def typed(self, words: Array, name: str) -> Any:
        """An OrtValue of this element type on the bits."""
        make = getattr(self.library.OrtValue, "ortvalue_from_numpy_with_onnx_type", None)
        if make is None:
            raise Unsupported(f"onnxruntime {self.library.__version__} makes no OrtValue of {name}")
        return make(words, onnx_type(name))

    def profiled(
        self, model: Any, feeds: Mapping[str, Array], output: str, shape: tuple[int, ...], *, packs: bool = False
    ) -> str:
        """`operator on provider` for each node that a run of the model executes; `packs` as in `answer`."""
        with tempfile.TemporaryDirectory() as folder:
            session = self.open(model, profile=f"{folder}/p")
            try:
                self.answer(session, feeds, output, shape, packs=packs)
            except Unsupported as reason:
                return f"refused: {str(reason)[:60]}"
            events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        ran = [event["args"] for event in events if event.get("cat") == "Node" and "provider" in event.get("args", {})]
        return ", ".join(dict.fromkeys(f"{args['op_name']} on {args['provider']}" for args in ran))
