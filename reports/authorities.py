"""Which documents a backend meets, on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.reports.console import terminal_text
from tiebreak.reports.matrix import inputs_text

CALIBRATED = "calibrated"


def print_authorities(data: Mapping[str, Any]) -> None:
    """Print what each document says, then one row for each; of outputs in stages one after the other."""
    for stage in data.get("stages", [data]):
        print_documents(stage)


def print_documents(data: Mapping[str, Any]) -> None:
    console = Console()
    for row in data["documents"]:
        for sentence in document_sentences(row):
            console.print(sentence, soft_wrap=True, highlight=False, markup=False)
    console.print(f"[bold]{title(data)}[/bold]", soft_wrap=True)
    for sentence in backend_sentences(data):
        console.print(sentence, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("document", "verdict"):
        table.add_column(heading, no_wrap=True)
    table.add_column("the backend")
    for row in data["documents"]:
        table.add_row(*cells(row))
    console.print(table)
    for sentence in special_sentences(data["special_documents"]):
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)
    console.print(f"{counts_text(data)}; {data['inputs_tried']:,} inputs tried in {data['seconds']:.1f} s")


def document_sentences(row: Mapping[str, Any]) -> Iterator[str]:
    yield f"{row['id']}: {row['title']}, {row['version']}, {row['url']}"
    yield f"    says: {row['says']}"
    yield f"    open: {row['open']}"


def title(data: Mapping[str, Any]) -> str:
    types = " to ".join(dict.fromkeys((data["input_type"], data["output_type"])))
    types += f", {data['output']}" if "output" in data else ""
    return f"{terminal_text(data['backend'])} {terminal_text(data['version'])}: {data['operator']} {types}"


def backend_sentences(data: Mapping[str, Any]) -> Iterator[str]:
    """What the backend says of itself, and what an audit leaves in doubt."""
    if data["run"]:
        yield f"from the records of {terminal_text(data['run'], 200)}; nothing was asked"
    if data["claims"]:
        yield f"claims: {terminal_text(data['claims'], 200)}"
    if data["maps"]:
        yield f"claims none of these documents; is asked as: {terminal_text(data['maps'], 200)}"
    if data["path_dependent"]:
        yield "an answer depends on the operand's place: tiebreak audit shows it"
    elif not data["consistent"]:
        yield "no known arithmetic gives all of its answers: tiebreak audit shows the closest"


def special_sentences(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """For each of NaN, infinities and zeros of which some document speaks: what came, who agrees and who does not."""
    for facet in dict.fromkeys(row["facet"] for row in rows):
        own = [row for row in rows if row["facet"] == facet]
        agree = [row["document"] for row in own if row["agrees"]]
        against = [
            f"{row['document']} ({row['got']}, not {gives_text(row['gives'])})" for row in own if not row["agrees"]
        ]
        parts = [f"as documented by {', '.join(agree)}"] if agree else []
        parts += [f"not as documented by {', '.join(against)}"] if against else []
        yield f"{facet.replace('_', ' ')}: {'; '.join(parts)}"


def cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The cells of a document's row: with the input that contradicts it, else with a reason if there is one."""
    if row["witness"] is None:
        return row["id"], row["verdict"], row["why"] or row["reading"]
    against = f"{inputs_text(row['witness'])} gives {row['got']}, not {gives_text(row['gives'])}"
    facets = f" ({facets_text(row)})" if row["facets"] else ""
    return row["id"], row["verdict"], against + facets + where_text(row)


def facets_text(row: Mapping[str, Any]) -> str:
    return ", ".join(row["facets"]).replace("_", " ")


def where_text(row: Mapping[str, Any]) -> str:
    """Which inputs show a contradiction, if no ordinary ones do."""
    return "" if row["domain"] in ("", CALIBRATED) else f"; {row['domain']} inputs only"


def gives_text(values: Sequence[str], most: int = 3) -> str:
    return " or ".join([*values[:most], *(["…"] if len(values) > most else [])])


def counts_text(data: Mapping[str, Any]) -> str:
    verdicts = [row["verdict"] for row in data["documents"]]
    kinds = ("meets", "contradicts", "can't be told", "silent")
    return ", ".join(f"{kind}: {verdicts.count(kind)}" for kind in kinds)
