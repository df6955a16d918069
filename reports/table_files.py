"""Tables as Parquet files with plain text, which any program reads. Neither way holds the text of all rows at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import check_plain
from tiebreak.golden.problem import Array
from tiebreak.reports.text_columns import category_column, of_numbers, with_plain_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

NOTHING: Mapping[str, Any] = MappingProxyType({})
ROWS = 1 << 15  # of a row group: what is text at a time


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table with the schema that pandas gives its plain text, a row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.Schema.from_pandas(with_plain_text(frame.head(0)), preserve_index=False)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, max(1, len(frame)), ROWS):
            rows = frame.iloc[start : start + ROWS]
            columns = [arrow_column(rows[name], kind) for name, kind in zip(rows, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def arrow_column(column: pd.Series[Any], kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """The column as pandas would convert it, but categories as text without a Python object for each row."""
    import pandas as pd
    import pyarrow as pa

    if not isinstance(column.dtype, pd.CategoricalDtype):
        return pa.array(column, kind, from_pandas=True)
    codes = column.cat.codes.to_numpy()
    texts = pa.array(column.cat.categories.to_numpy(object), kind)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts).dictionary_decode()


def read_table(
    path: Path, dtypes: Mapping[str, str], *, plain: Collection[str] = (), later: Mapping[str, Any] = NOTHING
) -> pd.DataFrame:
    """The columns of a table with these dtypes; text as categories, but "string" in those that are to stay `plain`.

    `later` are columns that older tables lack, with the value that they have in every row then. DamagedFile if another
    column is missing or one does not fit.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [name for name, dtype in dtypes.items() if dtype == "string" and name not in plain]
    try:
        check_plain(path)
        names = pq.read_schema(path.absolute()).names
        missing = [name for name in later if name in dtypes and name not in names]
        check_columns(names, [name for name in dtypes if name not in missing])
        there = [name for name in texts if name not in missing]
        with pq.ParquetFile(path.absolute(), read_dictionary=there) as file:
            columns = {
                name: constant_column(later[name], file.metadata.num_rows, dtype)
                if name in missing
                else column_of_file(file, name, dtype, name in texts)
                for name, dtype in dtypes.items()
            }
        pa.default_memory_pool().release_unused()  # a third of the table may lie there for Arrow's next use
        return pd.DataFrame(columns, copy=False)  # a copy would put all numbers side by side, and need them twice
    except (OSError, ValueError, TypeError, KeyError, OverflowError, InvalidInput, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise DamagedFile(f"{path}: damaged run file: {reason}") from None


def constant_column(value: Any, rows: int, dtype: str) -> pd.Series[Any] | Array:
    """The value in every row: text as a category, numbers with the dtype."""
    return of_numbers(np.zeros(rows, np.int8), (value,)) if dtype == "string" else np.full(rows, value, dtype)


def check_columns(names: Collection[str], wanted: Collection[str]) -> None:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise ValueError(f"no column {missing[0]}")


def column_of_file(file: pq.ParquetFile, name: str, dtype: str, as_categories: bool) -> pd.Series[Any] | Array:
    """One column with this dtype. ValueError if it does not fit or is not UTF-8."""
    import pyarrow as pa

    if dtype != "string":
        return numbers_of_file(file, name, dtype)
    column = file.read([name], use_threads=False).column(name)  # threads would hold several row groups
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text:
        check_text(column, name)
    if not as_categories:
        text: pd.Series[Any] = column.to_pandas().astype(dtype)
        return text
    return category_column(column if is_text else as_text(column))


def numbers_of_file(file: pq.ParquetFile, name: str, dtype: str) -> Array:
    """A column of numbers, converted piece by piece into its place."""
    found, begin = np.empty(file.metadata.num_rows, dtype), 0
    for batch in file.iter_batches(ROWS, columns=[name], use_threads=False):
        piece = batch.column(0).to_pandas().astype(dtype)
        found[begin : begin + len(piece)] = piece
        begin += len(piece)
    return found


def check_text(column: pa.ChunkedArray, name: str) -> None:
    """Raise ValueError if text is not UTF-8, which Arrow lets pass."""
    import pyarrow as pa

    try:
        for chunk in column.chunks:
            (chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk).validate(full=True)
    except pa.ArrowException:
        raise ValueError(f"text of column {name} is not UTF-8") from None


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """What another program wrote in place of text, as text."""
    import pyarrow as pa

    return pa.chunked_array([pa.array(column.to_pandas().astype("string"), pa.large_string())])
