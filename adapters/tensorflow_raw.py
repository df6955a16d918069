"""What the compilers of TensorFlow's nodes ask of its backend."""

from __future__ import annotations

from typing import Any, Protocol


class RawOperators(Protocol):
    """TensorFlow (`library`) and its raw operators."""

    library: Any

    def call(self, operation: str, **arguments: Any) -> Any:
        """What tf.raw_ops gives; Unsupported with TensorFlow's own message if it refuses."""
        ...
