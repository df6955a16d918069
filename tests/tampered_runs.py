"""Ways to tamper with a run's folder, which is packed then, so that all checksums fit; and why each is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def info(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "run.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def table(folder: Path, name: str, change: Callable[[pd.DataFrame], pd.DataFrame | None]) -> pd.DataFrame:
    """Change a table in place, or put another in its place; the table as it was."""
    path = folder / f"{name}.parquet"
    before = pd.read_parquet(path)
    after = before.copy()
    changed = change(after)
    (after if changed is None else changed).to_parquet(path, index=False)
    return before


def first(rows: pd.DataFrame, verdict: str) -> int:
    return int(np.flatnonzero(rows["verdict"] == verdict)[0])


def call_it_exact(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.loc[first(rows, "deviates"), "verdict"] = "exact"

    table(folder, "results", change)


def hide_a_deviation(folder: Path) -> None:
    """In every table but the outputs."""

    def change(rows: pd.DataFrame) -> None:
        at = first(rows, "deviates")
        rows.loc[at, ["verdict", "exact"]] = ["exact", rows.loc[at, "exact"] + rows.loc[at, "deviates"]]
        rows.loc[at, "deviates"] = 0

    before = table(folder, "results", change)
    hidden = before.iloc[first(before, "deviates")]
    gone = table(folder, "discrepancies", lambda rows: rows[rows["case"] != hidden["case"]])
    gone = gone[gone["case"] == hidden["case"]]

    def fewer(data: dict[str, Any]) -> None:
        for row in data["clusters"]:
            row["elements"] -= int((gone["cause"] == row["cause"]).sum())
        data["clusters"] = [row for row in data["clusters"] if row["elements"]]

    info(folder, fewer)


def drop_what_deviates(folder: Path) -> None:
    table(folder, "results", lambda rows: rows[rows["verdict"] != "deviates"])
    table(folder, "discrepancies", lambda rows: rows.head(0))
    kept = {*map(tuple, pd.read_parquet(folder / "results.parquet")[["backend", "case"]].to_numpy())}
    drop_outputs(folder, kept)
    info(folder, lambda data: data.update(clusters=[], exit=0))


def drop_outputs(folder: Path, kept: set[Any]) -> None:
    import pyarrow.parquet as pq

    path = folder / "outputs.parquet"
    rows = pq.read_table(path)
    mask = [pair in kept for pair in zip(rows["backend"].to_pylist(), rows["case"].to_pylist(), strict=True)]
    pq.write_table(rows.filter(mask), path)


def drop_what_is_unsupported(folder: Path) -> None:
    table(folder, "results", lambda rows: rows[rows["verdict"] != "unsupported"])


def drop_a_generated_case(folder: Path) -> None:
    gone = str(table(folder, "cases", lambda rows: rows.iloc[1:])["id"].iloc[0])
    table(folder, "results", lambda rows: rows[rows["case"] != gone])
    table(folder, "discrepancies", lambda rows: rows[rows["case"] != gone])
    rows = pd.read_parquet(folder / "outputs.parquet")
    drop_outputs(folder, {pair for pair in zip(rows["backend"], rows["case"], strict=True) if pair[1] != gone})


def drop_outputs_of_a_case(folder: Path) -> None:
    rows = pd.read_parquet(folder / "outputs.parquet")
    drop_outputs(folder, set(zip(rows["backend"], rows["case"], strict=True)) - {tuple(rows.iloc[0, :2])})


def repeat_a_row(folder: Path) -> None:
    table(folder, "results", lambda rows: pd.concat([rows, rows[rows["verdict"] == "unsupported"].head(1)]))


def count_less(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.loc[first(rows, "deviates"), "deviates"] -= 1

    table(folder, "results", change)


def call_it_unsupported(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.loc[first(rows, "deviates"), "verdict"] = "unsupported"

    table(folder, "results", change)


def move_to_another_domain(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        at = int(np.flatnonzero(rows["judged_calibrated"] > 0)[0])
        rows.loc[at, ["judged_calibrated", "deviates_calibrated"]] = 0

    table(folder, "results", change)


def change_a_bit(folder: Path) -> None:
    table(folder, "discrepancies", lambda rows: rows.assign(got_bits=rows["got_bits"] ^ np.uint64(1)))


def change_an_output(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        at = int(np.flatnonzero((rows["type"] == "uint8") & (rows["outputs"].str.len() > 0))[0])
        rows.at[at, "outputs"] = bytes([rows.at[at, "outputs"][0] ^ 1]) + rows.at[at, "outputs"][1:]

    write_outputs(folder, change)


def write_outputs(folder: Path, change: Callable[[pd.DataFrame], None]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tiebreak.reports.outputs_file import schema

    rows = pd.read_parquet(folder / "outputs.parquet")
    change(rows)
    pq.write_table(pa.Table.from_pandas(rows, schema(), preserve_index=False), folder / "outputs.parquet")


def give_too_much(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> None:
        rows.at[0, "outputs"] = rows.at[0, "outputs"] * 2

    write_outputs(folder, change)


def name_another_version(folder: Path) -> None:
    info(folder, lambda data: data["backends"][1].update(version="9.9"))


def claim_less(folder: Path) -> None:
    info(folder, lambda data: data["backends"][0].update(claimed=[]))


def map_instead(folder: Path) -> None:
    info(folder, lambda data: data["backends"][1].update(maps={"onnx.QuantizeLinear": "nearly the same"}))


def end_well(folder: Path) -> None:
    info(folder, lambda data: data.update(exit=0))


def shrink_a_cause(folder: Path) -> None:
    info(folder, lambda data: data["clusters"][0].update(elements=1))


def run_edited_vectors(folder: Path) -> None:
    info(folder, lambda data: data["vectors"]["onnx.QuantizeLinear"].update(sha256="0" * 64))


def invent_a_vector(folder: Path) -> None:
    def change(rows: pd.DataFrame) -> pd.DataFrame:
        one = rows[(rows["origin"] == "vector") & (rows["verdict"] == "unsupported")].head(1)
        return pd.concat([rows, one.assign(case="onnx.QuantizeLinear/float32/uint8/easy/ROUND_DOWN")])

    table(folder, "results", change)


def say_another_type(folder: Path) -> None:
    table(folder, "results", lambda rows: rows.assign(output_type="int8"))


def invent_an_operator(folder: Path) -> None:
    table(folder, "results", lambda rows: rows.assign(operator="onnx.Nothing"))


def forget_the_plan(folder: Path) -> None:
    info(folder, lambda data: data["selection"].update(level="other"))


def choose_cases(folder: Path) -> None:
    info(folder, lambda data: data["selection"].update(output_type="int8"))


TAMPERINGS = {
    call_it_exact: (1, "its verdict is not that of its counts"),
    hide_a_deviation: (1, "judged again, its exact is"),
    drop_what_deviates: (1, "planned cases have no row"),
    drop_what_is_unsupported: (1, " golden vectors have rows"),
    drop_a_generated_case: (1, "planned cases have no row"),
    drop_outputs_of_a_case: (1, "it ran, but its outputs are not stored"),
    repeat_a_row: (1, "1 row more than cases were planned"),
    count_less: (1, "its counts are not its elements"),
    call_it_unsupported: (1, "it has counts, but did not run"),
    move_to_another_domain: (1, "judged again, its judged_calibrated is"),
    change_a_bit: (1, "has got_bits"),
    change_an_output: (1, "judged again, its "),
    give_too_much: (1, "its stored outputs are not its elements"),
    name_another_version: (1, "its version is not the backend's"),
    claim_less: (1, "which it does not claim"),
    map_instead: (1, "its document is not the backend's"),
    end_well: (1, "its exit code is 0, that of its verdicts is 1"),
    shrink_a_cause: (1, "has 1 elements, discrepancies.parquet"),
    run_edited_vectors: (1, "the run had other golden vectors than the manifest lists"),
    invent_a_vector: (1, "has rows, but is not listed"),
    say_another_type: (1, "its output_type is 'int8', not 'uint8'"),
    invent_an_operator: (2, "unknown operator 'onnx.Nothing'"),
    forget_the_plan: (2, "selection/level: 'other' is not one of"),
    choose_cases: (1, "planned cases have no row"),
}
