"""What a document's formula can give by correctly rounded steps in another order than it is written in.

ends.py has the steps, products.py their orders, question.py what is asked. The other modules say of the operators whose
documents name no precision what their formulas are products and sums of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tiebreak.golden.discovery import declared_entries
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array

# By operator id; an operator's further outputs as "id:output"; "a division" for quantizers with no other step. A module
# of this package declares its own ORDERS.
ORDERS: Mapping[str, Callable[[Question], Array]] = declared_entries(__name__, __path__, "ORDERS")
