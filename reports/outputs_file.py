"""outputs.parquet: what every backend gave for every case that ran, so that somebody else can judge it again.

A row holds the codes of all elements of a case, output by output: an integer's value, or the bits of a real result.
Every NaN has one pattern, and a zero one sign where the document allows both. `type` is the narrowest NumPy type that
holds them all, `outputs` their little-endian bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.files import check_plain
from tiebreak.golden.problem import Array
from tiebreak.reports.records import replace_file

if TYPE_CHECKING:
    import pyarrow as pa

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
COLUMNS = ("backend", "case", "type", "outputs")
ROWS = 1 << 13  # of a row group: what is bytes at a time
Row = tuple[str, str, str, bytes]


def write_outputs(path: Path, outputs: Mapping[str, Mapping[str, Array]]) -> None:
    """Write the codes (flat, of one of TYPES) by backend and case id. NotWritten if that fails."""
    import pyarrow.parquet as pq

    def write(aside: Path) -> None:
        with pq.ParquetWriter(aside, schema(), compression="zstd") as writer:
            rows = rows_of(outputs)
            while part := list(islice(rows, ROWS)):
                writer.write_table(table_of(part))

    replace_file(path, write)


def rows_of(outputs: Mapping[str, Mapping[str, Array]]) -> Iterator[Row]:
    for backend, cases in outputs.items():
        for case, codes in cases.items():
            yield backend, case, codes.dtype.name, codes.astype(codes.dtype.newbyteorder("<"), copy=False).tobytes()


def schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, pa.binary() if name == "outputs" else pa.string()) for name in COLUMNS])


def table_of(rows: list[Row]) -> pa.Table:
    import pyarrow as pa

    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), schema().types, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema())


def read_outputs(path: Path, only: Collection[str] | None = None) -> dict[tuple[str, str], Array]:
    """The codes (int64, flat) by backend and case id, of all cases or `only` of some.

    DamagedFile if the file is not what `write_outputs` writes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found: dict[tuple[str, str], Array] = {}
    try:
        check_plain(path)
        with pq.ParquetFile(path.absolute()) as file:
            if file.schema_arrow.remove_metadata() != schema():
                raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
            for batch in file.iter_batches(ROWS, use_threads=False):
                batch.validate(full=True)
                for backend, case, kind, codes in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    if only is not None and case not in only:
                        continue
                    if (backend, case) in found:
                        raise ValueError(f"two rows of {backend!r:.80} and {case!r:.200}")
                    found[backend, case] = codes_of(kind, codes)
    except (OSError, ValueError, TypeError, pa.ArrowException) as error:
        raise DamagedFile(f"{path}: damaged run file: {' '.join(str(error).split())[:200]}") from None
    return found


def codes_of(kind: str, codes: bytes) -> Array:
    if kind not in TYPES:
        raise ValueError(f"unknown type {kind!r:.40}")
    return np.frombuffer(codes, np.dtype(kind).newbyteorder("<")).astype(np.int64)
