"""The part of the TensorFlow backend that the compilers of its nodes use."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol


class RawOperators(Protocol):
    """Calls TensorFlow's raw operators; `library` is the module tensorflow."""

    library: Any

    def call(self, operation: str, constants: Collection[str] = (), **arguments: Any) -> Any:
        """The result of a function of tf.raw_ops. Unsupported with TensorFlow's own message if it refuses.

        With `constants` it is that of a graph, in which the arguments of these names are constants.
        """
        ...
