"""What testing knows of each operator, one file each. A new operator is a new file here that defines `TESTED`.

Files without a `TESTED` hold what several operators share; `model` defines the record.
"""

from __future__ import annotations

from tiebreak.conformance.operators.model import OperatorUnderTest
from tiebreak.golden.discovery import Registry, entries_by_module
from tiebreak.golden.operators import OPERATORS


def discovered() -> dict[str, OperatorUnderTest]:
    """Every operator's record by id, in the order of golden's OPERATORS."""
    found = {record.id: record for record in entries_by_module(__name__, __path__, "TESTED").values()}
    ordered = {operator: found[operator] for operator in OPERATORS if operator in found}
    return Registry(ordered, "TESTED", __name__)


TESTED: dict[str, OperatorUnderTest] = discovered()
