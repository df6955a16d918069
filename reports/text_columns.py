"""Columns of text in memory. Text that repeats is kept as categories: each distinct text once, and a number a row.

Categories are sorted and all of them occur, so that grouping and sorting do as they do with plain text. Files and the
public tables have plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.golden.problem import Array

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def text_column(texts: pa.ChunkedArray) -> pd.Series[Any]:
    """Arrow's text as a column of dtype "string", without a copy."""
    import pandas as pd

    dtype: Any = pd.StringDtype()  # the stubs lack the protocol of its extension types
    return pd.Series(dtype.__from_arrow__(texts))


def category_column(texts: pa.ChunkedArray) -> pd.Series[Any]:
    """Arrow's text, plain or as dictionaries, as categories; missing text stays missing."""
    import pyarrow as pa

    found = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    found = found.unify_dictionaries()
    dictionary = found.chunk(0).dictionary if found.num_chunks else pa.array([], found.type.value_type)
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in found.chunks]
    return of_codes(np.concatenate([np.zeros(0, np.int32), *codes]), dictionary)


def column_of(texts: Array | Sequence[str]) -> pd.Series[Any]:
    """Python's texts, one a row, as categories."""
    return of_codes(*numbered(texts))


def numbered(texts: Array | Sequence[str]) -> tuple[Array, pa.Array]:
    """The number of each of Python's texts among the distinct ones, and these."""
    import pandas as pd
    import pyarrow as pa

    codes, distinct = pd.factorize(np.asarray(texts, object))
    return codes, pa.array(distinct, pa.large_string())


def of_numbers(numbers: Array, texts: Sequence[str]) -> pd.Series[Any]:
    """The text of each row, given by its number among a few distinct texts, as categories."""
    import pyarrow as pa

    return of_codes(numbers, pa.array(list(texts), pa.large_string()))


def of_codes(codes: Array, texts: pa.Array) -> pd.Series[Any]:
    """The text of each row, given by its number among distinct texts (-1: none), as categories."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import compute

    used = np.zeros(len(texts) + 1, bool)  # one more for -1
    used[codes] = True
    kept = texts.filter(pa.array(used[:-1]))
    # As bytes, which is how Python orders text, too.
    order = compute.call_function("array_sort_indices", [kept]).to_numpy()
    ranks = np.full(len(used), -1, np.int32)
    ranks[np.flatnonzero(used[:-1])[order]] = np.arange(len(kept), dtype=np.int32)
    sorted_texts = pa.chunked_array([kept.take(pa.array(order))]).cast(pa.large_string())
    return pd.Series(pd.Categorical.from_codes(ranks[codes], categories=pd.Index(text_column(sorted_texts))))


def for_each_text(column: pd.Series[Any], function: Callable[[str], Any]) -> Array:
    """What the function gives for each row's text; it is called once for each distinct text. No text is missing."""
    codes, distinct = codes_and_texts(column)
    return np.array([function(text) for text in distinct])[codes]


def mapped_text(column: pd.Series[Any], function: Callable[[str], str]) -> pd.Series[Any]:
    """The column with another text in place of each, as categories; missing text stays missing."""
    codes, distinct = codes_and_texts(column)
    numbers, texts = numbered([function(text) for text in distinct])
    return of_codes(np.append(numbers, -1).astype(np.int32)[codes], texts).set_axis(column.index)


def codes_and_texts(column: pd.Series[Any]) -> tuple[Array, list[str]]:
    """The number of each row's text among distinct ones (-1: missing), and these."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    codes, distinct = pd.factorize(column)
    return codes, distinct.tolist()


def with_plain_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with dtype "string" in place of categories."""
    import pandas as pd

    names = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)]
    return frame.astype(dict.fromkeys(names, "string")) if names else frame
