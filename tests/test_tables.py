"""A run's tables, their files, and the Markdown page, on a small real run and on hostile and damaged records."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

import tiebreak
from tiebreak.cli import main
from tiebreak.cli import tables as cli_tables
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports import markdown
from tiebreak.reports.markdown import append_step_summary, escaped, markdown_summary
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.run_views import VIEWS
from tiebreak.reports.tables import DTYPES, FORMATS, Tables, as_tables, guarded, load, read_csv, write_tables
from tiebreak.reports.text_columns import with_plain_text

HOSTILE = (
    "=cmd|' /C calc'!A0 | <img src=x onerror=alert(1)> `@octocat` [a](http://evil.example) #12\r\n$x$ **b** "
    "\x1b[31m\u202e"
)
DOCS = Path(__file__).parents[1] / "docs"
RUN = ("run", "-b", "numpy-naive", "-b", "onnx-reference", "--operator", "onnx.QuantizeLinear", "--input-type", "int32")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "run"
    result = CliRunner().invoke(main, [*RUN, "--level", "quick", "-o", str(path)])
    assert result.exit_code == 1, result.output
    return path


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return read_run(folder)


def hostile(run: Run) -> Run:
    """The run with a backend, messages and causes whose text is an attack, and with failures."""
    info = json.loads(json.dumps(run.info).replace("onnx-reference", "EVIL"))
    info = with_name(info, HOSTILE)
    plain = [with_plain_text(frame) for frame in (run.results, run.discrepancies)]
    frames = [frame.replace({"backend": {"onnx-reference": HOSTILE}}) for frame in plain]
    results = frames[0].assign(message=HOSTILE).astype({"message": "string"})
    results.loc[results.index[:3], "verdict"] = ["crash", "timeout", "error"]
    return Run(info, results, frames[1].assign(cause=HOSTILE).astype({"cause": "string"}))


def with_name(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: with_name(one, name) for key, one in value.items()}
    if isinstance(value, list):
        return [with_name(one, name) for one in value]
    return value.replace("EVIL", name) if isinstance(value, str) else value


def with_odd_values(run: Run) -> Tables:
    """NaN, infinities, the largest bits, and texts that readers like to take for something else."""
    tables = as_tables(hostile(run))
    odd = tables.discrepancies.copy()
    odd.loc[odd.index[0], ["expected", "got", "input"]] = [math.nan, math.inf, -math.inf]
    odd.loc[odd.index[1], ["got_bits", "input"]] = [2**64 - 1, 0.1 + 0.2]
    texts = [
        "NaN",
        "",
        "null",
        "'",
        "''=1",
        '"',
        'a,"b";c',
        "-8.0",
        "-x",
        "\t",
        "a\rb",
        "a\nb",
        "a\x00b",
        ";=1",
        "@SUM(1)",
        "0x1",
        "é😀\u2028",
    ]
    odd.loc[odd.index[: len(texts)], "cause"] = texts
    return replace(tables, discrepancies=odd)


@pytest.mark.slow
def test_load_has_every_table_with_its_columns_and_dtypes(folder: Path, run: Run) -> None:
    tables = load(folder)
    for name, frame in tables:
        assert {column: str(dtype) for column, dtype in frame.dtypes.items()} == DTYPES[name], name
    assert tables.info == run.info == load(str(folder)).info
    assert set(tables.backends["name"]) == {"numpy-naive", "onnx-reference"}
    assert tables.backends["operators"].tolist() == ["onnx.QuantizeLinear"] * 2
    assert len(tables.results) == len(run.results) and len(tables.pairs) == 1 and len(tables.forbidden) > 16
    assert tables.paths.empty and tables.relations.empty and not tables.observed.empty


def test_clusters_are_flat_and_count_the_discrepancies(folder: Path) -> None:
    tables = load(folder)
    assert tables.clusters["elements"].sum() == len(tables.discrepancies) > 0
    row = tables.clusters.iloc[0]
    witness = tables.discrepancies.set_index("id").loc[row["witness_id"]]
    assert row["backend"] == "onnx-reference" and row["clause"] == "ONQ-C1" and "int32 to int8" in row["types"]
    assert (row["witness_case"], row["witness_operands"]) == (witness["case"], witness["operands"])
    assert (
        float(row["witness_got"]) == witness["got"] and row["farthest"] == tables.discrepancies["distance"].abs().max()
    )
    assert math.isnan(row["boundary_ulp"])  # null in run.json


def test_paths_have_a_row_for_each_answer(run: Run) -> None:
    answer = {"bits": "1", "value": "1", "elements": 3, "paths": ["alone", "in a scalar"], "case": "c", "index": 0}
    row = dict.fromkeys(("backend", "operator", "input_type", "output_type", "node", "output"), "text")
    row |= {"operands": [["x", "0x00000001", "1e-45"]], "deviates": True}
    row |= {"answers": [answer | {"deviates": False}, answer | {"value": "2", "deviates": True}]}
    paths = as_tables(replace(run, info=run.info | {"paths": [row, row]})).paths
    assert paths["set"].tolist() == [0, 0, 1, 1] and paths["value"].tolist() == ["1", "2"] * 2
    assert paths["deviates"].tolist() == [False, True] * 2 and paths["any_deviates"].all()
    assert paths["paths"][0] == "alone; in a scalar" and json.loads(paths["operands"][0]) == row["operands"]


def test_an_older_run_without_the_lists_has_empty_tables(run: Run) -> None:
    tables = as_tables(replace(run, info={"backends": run.info["backends"]}))
    for name in ("clusters", "paths", "observed", "forbidden", "relations", "pairs"):
        frame = getattr(tables, name)
        assert len(frame) == 0 and {c: str(d) for c, d in frame.dtypes.items()} == DTYPES[name]


def first_changed(run: Run, table: str, **values: Any) -> dict[str, Any]:
    return {table: [run.info[table][0] | values, *run.info[table][1:]]}


def damages(run: Run) -> list[dict[str, Any]]:
    witness = run.info["clusters"][0]["witness"]
    return [
        {"clusters": {}},
        {"clusters": None},
        {"clusters": [1]},
        {"clusters": [{}]},
        first_changed(run, "clusters", witness=None),
        first_changed(run, "clusters", witness=witness | {"operands": 7}),
        first_changed(run, "clusters", witness=witness | {"operands": [["x", "1"]]}),
        first_changed(run, "clusters", witness=witness | {"operands": [["x", 1, 2]]}),
        first_changed(run, "clusters", types="float32"),
        first_changed(run, "clusters", elements="many"),
        first_changed(run, "clusters", elements=True),
        first_changed(run, "clusters", elements=10**30),
        first_changed(run, "clusters", boundary_ulp=10**400),
        first_changed(run, "clusters", cause="\ud800"),
        first_changed(run, "backends", name=None),
        first_changed(run, "backends", attestation=[]),
        first_changed(run, "observed", elements=1.5),
        first_changed(run, "pairs", differ=None),
        {"paths": [{"answers": 1, "operands": [], "deviates": True}]},
        {"forbidden": "none"},
        {"backends": []},
    ]


def test_wrong_shapes_are_damaged_files(run: Run) -> None:
    for damage in damages(run):
        with pytest.raises(DamagedFile, match=r"^here/run.json: damaged run file: .") as caught:
            as_tables(replace(run, info=run.info | damage), "here/run.json")
        assert "\n" not in str(caught.value), damage


def test_an_unknown_verdict_is_a_damaged_file(run: Run) -> None:
    with pytest.raises(DamagedFile, match="unknown verdict 'passed'"):
        as_tables(replace(run, results=run.results.assign(verdict="passed")))


def test_no_run_and_no_json_are_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no run here"):
        load(tmp_path)
    broken = Path(shutil.copytree(folder, tmp_path / "broken"))
    (broken / "results.parquet").write_bytes(b"no parquet")
    with pytest.raises(DamagedFile, match=r"results\.parquet: damaged"):
        load(broken)


def test_foreign_parquet_text_that_is_missing_or_no_utf8(folder: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(folder, tmp_path / "foreign")) / "results.parquet"
    table = pq.read_table(path)
    bad = pa.Array.from_buffers(pa.string(), len(table), pa.array([b"\xff\xfe"] * len(table), pa.binary()).buffers())
    number = table.schema.get_field_index("message")
    pq.write_table(table.set_column(number, "message", pa.array([None] * len(table), pa.string())), path)
    assert load(path.parent).results["message"].tolist() == [""] * len(table)
    pq.write_table(table.set_column(number, "message", bad), path)
    with pytest.raises(DamagedFile, match=r"results\.parquet: damaged run file: text of column message is not UTF-8"):
        load(path.parent)


def test_csv_reads_back_to_the_same_values(run: Run, tmp_path: Path) -> None:
    tables = with_odd_values(run)
    for path in write_tables(tables, tmp_path / "csv", "csv"):
        pd.testing.assert_frame_equal(read_csv(path), getattr(tables, path.stem), check_exact=True)
    assert sorted(p.name for p in (tmp_path / "csv").iterdir()) == sorted(f"{name}.csv" for name in DTYPES)


def test_no_csv_cell_begins_a_formula(run: Run, tmp_path: Path) -> None:
    import csv

    write_tables(with_odd_values(run), tmp_path, "csv")
    with (tmp_path / "discrepancies.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["backend"] for row in rows} == {f"'{HOSTILE}"}
    assert [row["cause"] for row in rows[5:12]] == ['"', 'a,"b";c', "-8.0", "'-x", "'\t", "a\rb", "a\nb"]
    assert rows[1]["got_bits"] == str(2**64 - 1) and (rows[0]["expected"], rows[0]["got"]) == ("NaN", "inf")
    for row in rows:
        assert not any(cell.startswith(("=", "@", "+", "\t", "\r")) for cell in row.values())


def test_numbers_are_not_guarded() -> None:
    for text in ("-8.0", "+1", "-inf", "-1e-45", "", "x=1", "0x12"):
        assert guarded(text) == text
    for text in ("-8.0+cmd", "-", "+A1", "-1\n", "=1", "@x", "'x", "-٣"):
        assert guarded(text) == f"'{text}"


def test_every_json_line_is_a_strict_json_object(run: Run, tmp_path: Path) -> None:
    tables = with_odd_values(run)
    for path in write_tables(tables, tmp_path, "jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
        frame, dtypes = getattr(tables, path.stem), DTYPES[path.stem]
        assert all(list(row) == list(dtypes) for row in rows)
        again = pd.DataFrame(rows, columns=list(dtypes), dtype=object).astype(dtypes)
        pd.testing.assert_frame_equal(again, frame, check_exact=True)
    row = json.loads((tmp_path / "discrepancies.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (row["expected"], row["got"], row["input"]) == (None, "Infinity", "-Infinity")


def test_parquet_keeps_values_and_dtypes(run: Run, tmp_path: Path) -> None:
    tables = with_odd_values(run)
    for path in write_tables(tables, tmp_path, "parquet"):
        pd.testing.assert_frame_equal(pd.read_parquet(path), getattr(tables, path.stem), check_exact=True)


def test_a_run_is_not_overwritten_and_a_file_is_no_folder(folder: Path, tmp_path: Path) -> None:
    before = (folder / "results.parquet").read_bytes()
    with pytest.raises(InvalidInput, match="holds a run"):
        write_tables(load(folder), folder, "parquet")
    assert (folder / "results.parquet").read_bytes() == before
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="can't write"):
        write_tables(load(folder), tmp_path / "file", "csv")


def test_the_command_writes_and_counts(folder: Path, tmp_path: Path) -> None:
    assert FORMATS == cli_tables.FORMATS
    result = CliRunner().invoke(cli_tables.tables, [str(folder), "-o", str(tmp_path), "--format", "jsonl", "--json"])
    found = json.loads(result.stdout)["tables"]
    assert set(found) == set(DTYPES) and result.exit_code == 0
    for one in found.values():
        assert len(Path(one["file"]).read_text(encoding="utf-8").splitlines()) == one["rows"]
    plain = CliRunner().invoke(cli_tables.tables, [str(folder), "-o", str(tmp_path)])
    assert plain.exit_code == 0 and len(plain.output.splitlines()) == len(DTYPES) and "results.csv" in plain.output


def test_the_page_has_denominators_causes_and_commands(run: Run) -> None:
    page = markdown_summary(run, "runs/a b")
    counts = run.results.groupby(["backend", "verdict"]).size()
    ran = len(run.results) // 2
    off = counts["onnx-reference", "deviates"]
    assert f"| onnx.QuantizeLinear | {ran} of {ran} | {off} of {ran} |" in page
    taken = counts["numpy-naive", "exact"]
    assert f"| onnx.QuantizeLinear | {taken} of {ran} | 0 of {taken} |" in page
    verdicts = page[page.index("## Verdicts") :]
    assert verdicts.index("| onnx-reference") < verdicts.index("| numpy-naive")  # what deviates first
    assert "`tiebreak repro C001 --run 'runs/a b'`" in page and "ONQ-C1" in page
    assert "## Crashes" not in page and "forbidden call accepted" in page


def test_the_page_begins_with_the_matrix_and_what_matters_most(run: Run) -> None:
    page = markdown_summary(run, "r")
    heads = re.findall(r"^## (.*)$", page, re.M)
    assert heads[:3] == ["What matters most", "All findings", "Contradicts its own document"]
    matrix, told = page.partition("## What matters most")[0], page.partition("## What matters most")[2]
    assert "| backend | onnx QL |" in matrix and re.search(r"^\| onnx-reference \| ✗ \d+ \|$", matrix, re.M)
    assert "QL onnx.QuantizeLinear." in matrix
    first = told.partition("## All findings")[0].strip().splitlines()
    assert re.match(r"1\. onnx-reference quantizes .* where ONNX says .* \(C001\)$", first[0])
    assert any(line.startswith("Unsupported: ") for line in first)


def test_the_page_tells_the_story_in_its_order_and_that_nothing_ran(run: Run) -> None:
    page = markdown_summary(hostile(run), "r")
    own, calls = page.index("## Contradicts its own document"), page.index("## Takes what its document forbids")
    assert own < calls < page.index("## Verdicts")
    idle = run.results.assign(verdict="unsupported")
    assert "none ran | – | – | – | – | – | 0 |" in markdown_summary(replace(run, results=idle), "r")
    empty = replace(run, results=run.results[:0], discrepancies=run.discrepancies[:0])
    assert "Nothing ran" in markdown_summary(empty, "r")


def test_hostile_text_stays_text(run: Run) -> None:
    page = markdown_summary(hostile(run), "x`|<b>\n@a")
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(page)
    tags = set(re.findall(r"<(\w+)", html))
    assert tags == {"h1", "h2", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code", "span", "ol", "li"}
    assert "@octocat" not in page and "://" not in page and "#12" not in page
    assert {c for c in page if not c.isprintable()} == {"\n", "\u200b"} and "<strong>b" not in html
    assert re.search(r"--run RUN_DIR -b [^<]+</code>", html) and "a@" not in html
    for table in re.findall(r"<table>.*?</table>", html, re.S):
        rows = [len(re.findall(r"<t[hd]", row)) for row in table.split("<tr>")[1:]]
        assert len(set(rows)) == 1 and len(rows) > 1


def test_escaped_breaks_every_kind_of_markup() -> None:
    assert escaped("a|b `c` *i* _j_ ~s~ ![t](u)").replace("\u200b", "") == (
        r"a\|b \`c\` \*i\* \_j\_ \~s\~ \!\[t\]\(u\)"
    )
    assert escaped("<b>&lt;$m$\\").replace("\u200b", "") == r"&lt;b&gt;&amp;lt;<span>$</span>m<span>$</span>\\"
    for text in ("@a", "#1", "www.a.b", "https://a", "!7", ":tada:", "GH-1", "a@b.c"):
        assert text not in escaped(text) and escaped(text).replace("\u200b", "").replace("\\", "") == text
    assert len(escaped("x" * 10_000)) == 120


def test_the_page_is_bounded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    row = run.info["clusters"][0]
    own = {"arithmetic": "", "cause": "$😀" * 500}
    clusters = [row | own | {"id": f"C{i}", "cause_id": str(i)} for i in range(5000)]
    many = replace(run, info=run.info | {"clusters": clusters})
    page = markdown_summary(many, "r")
    assert len(page.encode()) < markdown.MOST_BYTES and f"{5000 - markdown.MOST_CAUSES:,} more" in page
    monkeypatch.setattr(markdown, "MOST_BYTES", 1500)
    short = markdown_summary(many, "r")
    assert len(short.encode()) <= 1500 and short.endswith("bounded size.\n")


def test_the_step_summary_is_appended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert not append_step_summary("one")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    assert append_step_summary("one") and append_step_summary("twö\n")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == "one\ntwö\n"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    with pytest.raises(InvalidInput, match="GITHUB_STEP_SUMMARY"):
        append_step_summary("one")


def test_the_page_on_tables_does_what_it_says(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "read-tables.md").read_text(encoding="utf-8")
    shutil.copytree(folder, tmp_path / "tiebreak-run")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^tiebreak tables (.*)$", page, re.M)
    assert len(commands) == len(FORMATS)
    for command in commands:
        assert CliRunner().invoke(cli_tables.tables, command.split()).exit_code == 0
    monkeypatch.setitem(tiebreak.PUBLIC, "load", "tiebreak.reports.tables")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        exec(block, names)  # noqa: S102 - our own page
    assert isinstance(names["tables"], Tables) and names["clusters"]["id"].tolist() == ["C001"]


def test_the_documented_columns_are_those_of_the_tables() -> None:
    page = (DOCS / "tables.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\w+)$", page, flags=re.M)[1:]
    told = {
        name: dict(re.findall(r"^\| `(\w+)` \| (\w+) \| \S", text, re.M))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
    assert told.pop("info") == {}
    assert told.pop("matrix") == {}
    for name, dtypes in (DTYPES | VIEWS).items():
        plain = {re.sub(r"^(compared|differs)_.*", r"\1_MODE", column): dtype for column, dtype in dtypes.items()}
        assert told.pop(name) == plain, name
    assert told == {}
