"""The types of rows and the tables that are written of them say the same of every column."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from tiebreak.reports import rows
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES
from tiebreak.reports.rows import DiscrepancyRow, ResultRow
from tiebreak.reports.run_info import (
    ANSWER,
    CAUSE_OF_FAILURE,
    EXAMPLE,
    NAMED_OUTPUT,
    OF_CAUSE,
    PICTURE,
    POINT,
    ROWS,
    WITNESS,
)

KINDS = {"string": str, "float64": float, "int64": int, "uint64": int}


@pytest.mark.parametrize(("row", "dtypes"), [(ResultRow, RESULT_DTYPES), (DiscrepancyRow, DISCREPANCY_DTYPES)])
def test_tables_have_the_columns_of_their_rows(row: type, dtypes: dict[str, str]) -> None:
    assert get_type_hints(row) == {name: KINDS[dtype] for name, dtype in dtypes.items()}


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (rows.RootCauseRow, {**ROWS["clusters"], **OF_CAUSE, "picture": PICTURE}),
        (rows.Example, EXAMPLE),
        (rows.Picture, PICTURE),
        (rows.PicturePoint, POINT),
        (rows.PathRow, ROWS["paths"]),
        (rows.FailureRow, {**ROWS["failures"], **CAUSE_OF_FAILURE}),
        (rows.Witness, {**WITNESS, **NAMED_OUTPUT}),
        (rows.PathAnswer, ANSWER),
    ],
)
def test_reading_a_run_checks_the_fields_of_its_rows(row: type, fields: dict[str, object]) -> None:
    assert set(get_type_hints(row)) == set(fields)
