"""Which shared libraries of a process a certificate names."""

from __future__ import annotations

import os
import sys

import pytest

from tiebreak.adapters.libraries import libraries_of
from tiebreak.golden import _kernel


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_tiebreaks_own_modules_are_no_libraries_of_a_backend() -> None:
    import onnxruntime

    found = libraries_of(os.getpid())
    assert _kernel.__file__ and onnxruntime.__file__
    assert any(name.startswith("onnxruntime/") for name in found)
    assert not [name for name in found if "_kernel" in name or "/golden/" in name]
