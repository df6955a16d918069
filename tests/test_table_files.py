"""Text as categories in memory, and tables as Parquet files with plain text."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_cases
from tiebreak.golden.errors import DamagedFile
from tiebreak.reports import report_data, table_files
from tiebreak.reports.findings import findings
from tiebreak.reports.html import render
from tiebreak.reports.markdown import markdown_summary
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES, Run, as_run, read_run, write_run
from tiebreak.reports.summary import print_details
from tiebreak.reports.table_files import read_table, write_table
from tiebreak.reports.text_columns import column_of, for_each_text, mapped_text, with_plain_text

DTYPES = {"name": "string", "id": "string", "value": "float64", "count": "int64"}
FACTS = {"command": "tiebreak run", "level": "quick", "seed": 0, "folder": "run"}
WRONG = f"{Path(__file__).parents[1] / 'benchmarks' / 'wrong.py'}:TiesUpward"
FEW = Selection(("onnx.QuantizeLinear",), level="quick", input_type="float32", output_type="uint8")


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few rows, so that a small table has several."""
    monkeypatch.setattr(table_files, "ROWS", 7)
    monkeypatch.setattr(report_data, "PIECE", 7)


@pytest.fixture(scope="module")
def run() -> Run:
    return as_run(run_cases([WRONG, "numpy-naive"], plan(FEW), time_limit=60, facts=FACTS))


def table(rows: int = 20) -> pd.DataFrame:
    """Each third name is b, é or a; each fourth value is NaN."""
    names = column_of([("b", "é", "a")[number % 3] for number in range(rows)])
    ids = pd.Series([f"D{number}" for number in range(rows)], dtype="string")
    values = np.where(np.arange(rows) % 4 == 3, np.nan, np.arange(rows) / 3)
    return pd.DataFrame({"name": names, "id": ids, "value": values, "count": np.arange(rows) - 2**62})


def test_categories_are_sorted_as_python_sorts_and_all_occur() -> None:
    texts = ["z", "", "é", "Z", "z", "😀", "\uffff", ""]
    column = column_of(texts)
    assert column.tolist() == texts
    assert column.cat.categories.tolist() == sorted(set(texts))
    assert column_of([]).tolist() == []


def test_a_text_is_mapped_once_and_a_missing_one_stays_missing() -> None:
    asked: list[str] = []

    def first_letter(text: str) -> str:
        asked.append(text)
        return text[:1]

    for column in (column_of(["ba", "a", "bb", "ba"]), pd.Series(["ba", "a", "bb", "ba"], dtype="string")):
        asked.clear()
        mapped = mapped_text(column, first_letter)
        assert mapped.tolist() == ["b", "a", "b", "b"] and mapped.cat.categories.tolist() == ["a", "b"]
        assert sorted(asked) == ["a", "ba", "bb"]
        assert for_each_text(column, len).tolist() == [2, 1, 2, 2]
        kept = column[[3, 1]]
        assert mapped_text(kept, first_letter).to_dict() == {3: "b", 1: "a"}
    missing = pd.Series(["x", None], dtype="string")
    for column in (missing, missing.astype("category")):
        assert mapped_text(column, str.upper).isna().tolist() == [False, True]


def test_files_are_what_pandas_writes_of_plain_text(few_rows: None, tmp_path: Path) -> None:
    for rows in (20, 0):
        frame = table(rows)
        write_table(frame, tmp_path / "ours.parquet")
        with_plain_text(frame).to_parquet(tmp_path / "theirs.parquet", index=False)
        ours, theirs = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("ours", "theirs"))
        assert ours.equals(theirs) and ours.schema.equals(theirs.schema, check_metadata=True)
    write_table(table(), tmp_path / "ours.parquet")
    assert pq.ParquetFile(tmp_path / "ours.parquet").num_row_groups == 3


def test_what_is_read_is_what_was_written(few_rows: None, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    for rows in (20, 7, 0):
        write_table(table(rows), path)
        found = read_table(path, DTYPES, plain=("id",))
        pd.testing.assert_frame_equal(found, table(rows))
        assert with_plain_text(found).dtypes.astype(str).to_dict() == DTYPES


def test_other_programs_may_write_other_types(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    values = {"id": ["1", "2", "3"], "value": [1, 2, 3], "count": pa.array([1, 2, 3], pa.int8())}
    names = (pa.array(["b", None, "a"]).dictionary_encode(), pa.array([7, 8, 7]), pa.array(["b", "b", "a"]))
    wanted = (["b", None, "a"], ["7", "8", "7"], ["b", "b", "a"])
    for name, texts in zip(names, wanted, strict=True):
        pq.write_table(pa.table({"more": [0, 0, 0], "name": name, **values}), path)
        found = read_table(path, DTYPES)
        assert [None if pd.isna(text) else text for text in found["name"]] == texts
        assert list(found) == list(DTYPES) and found["count"].dtype == np.int64
        assert read_table(path, DTYPES, plain=("name",))["name"].dtype == "string"


@pytest.mark.parametrize(
    "column",
    [
        {"value": pa.array(["x", "y"])},
        {"count": pa.array([1, None], pa.int64())},
        {"count": pa.array([0.5, np.inf])},
    ],
)
def test_columns_that_do_not_fit_are_damage(tmp_path: Path, column: dict[str, pa.Array]) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"name": ["a", "b"], "id": ["a", "b"], "value": [0.5, 1], "count": [1, 2]} | column), path)
    with pytest.raises(DamagedFile, match=r"table\.parquet: damaged run file: .*convert"):
        read_table(path, DTYPES)
    pq.write_table(pa.table({"name": ["a"]}), path)
    with pytest.raises(DamagedFile, match="no column id"):
        read_table(path, DTYPES)


@pytest.mark.slow
def test_a_run_holds_each_text_once(run: Run, few_rows: None, tmp_path: Path) -> None:
    write_run(tmp_path, run, [])
    for made in (run, read_run(tmp_path)):
        for frame, dtypes in ((made.results, RESULT_DTYPES), (made.discrepancies, DISCREPANCY_DTYPES)):
            texts = [name for name, dtype in dtypes.items() if dtype == "string" and name != "id"]
            assert {str(frame[name].dtype) for name in texts} == {"category"}
            plain = with_plain_text(frame)
            assert plain.dtypes.astype(str).to_dict() == dtypes
    assert len(run.discrepancies) > 100
    for ours, theirs in ((run.results, read_run(tmp_path).results), (run.discrepancies, made.discrepancies)):
        pd.testing.assert_frame_equal(ours, theirs)


@pytest.mark.slow
def test_reports_are_the_same_of_plain_text_and_of_small_pieces(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = replace(run, results=with_plain_text(run.results), discrepancies=with_plain_text(run.discrepancies))
    wanted = texts_of(plain)
    assert "ties-upward" in wanted[0] and wanted == texts_of(run)
    monkeypatch.setattr(report_data, "PIECE", 7)
    assert wanted == texts_of(run)


def texts_of(run: Run) -> list[str]:
    file = io.StringIO()
    print_details(run, "run", console=Console(file=file, width=200))
    return [file.getvalue(), render(run, "run"), findings(run), markdown_summary(run, "run")]
