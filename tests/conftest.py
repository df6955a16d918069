"""Shared by the tests of the tester."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes says nothing about right and wrong, least of all on a busy machine.
settings.register_profile("tiebreak", deadline=None)
settings.load_profile("tiebreak")
