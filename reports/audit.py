"""Prints an audit: each facet's value, and the input that refutes each other value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tiebreak.reports.authorities import special_sentences
from tiebreak.reports.console import terminal_text
from tiebreak.reports.matrix import inputs_text


def print_stages(data: Mapping[str, Any]) -> None:
    """Each output's audit, under its name and the outputs that it was given."""
    for stage in data["stages"]:
        given = f", given its own {' and '.join(stage['given'])}" if stage["given"] else ""
        print_audit({**stage, "seconds": data["seconds"], "operator": f"{data['operator']}, {stage['output']}{given},"})
    if "emulator" in data:
        print_emulator(Console(), data["emulator"])


def print_audit(data: Mapping[str, Any]) -> None:
    console = Console()
    node = f"{data['operator']} {data['input_type']} to {data['output_type']}"
    title = f"{terminal_text(data['backend'])} {terminal_text(data['version'])}: {node}"
    if data["path_dependent"]:
        sentence = path_sentence(data["path_dependent"])
        console.print(f"[bold]{title}[/bold]\n\npath-dependent: {sentence}\n", soft_wrap=True)
        print_paths(console, data.get("by_path", ()))
    if data["consistent"]:
        print_found(console, data, title)
    elif data["closest"] and "path" not in data["closest"]["facets"] and not fits_by_path(data):
        print_closest(console, data, title)
    for sentence in document_sentences(data):
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)
    if data["silence"]:
        console.print(f"{data['silence']}\n", soft_wrap=True)
    if "versus" in data:
        for sentence in versus_sentences(data):
            console.print(sentence, soft_wrap=True)
        console.print()
    if "emulator" in data:
        print_emulator(console, data["emulator"])
    if data["not_answered"]:
        one = data["not_answered"][0]
        console.print(
            f"{len(data['not_answered'])} calls had no result; the first: {terminal_text(one['message'], 200)}"
        )
    tried = f"{data['inputs_tried']:,} inputs tried in {data['seconds']:.1f} s"
    console.print(f"{tried}; {len(data['refuted']):,} semantics refuted, each by an input (--json has them all)")


def print_emulator(console: Console, emulator: Mapping[str, Any]) -> None:
    console.print(f"{emulator_sentence(emulator)}\n", soft_wrap=True, highlight=False, markup=False)


def emulator_sentence(emulator: Mapping[str, Any]) -> str:
    """Which file emulates the backend, or why none was written."""
    if emulator["differs"] is not None:
        wrong = emulator["differs"]
        gives = f"the backend gives {wrong['backend']}, the emulator {wrong['emulator']}"
        return f"no emulator was written: {inputs_text(wrong['inputs'])}: {gives}"
    if emulator["file"] is None:
        return f"no emulator was written: {emulator['why']}"
    return f"{emulator['file']}: an emulator, which gives what the backend gave for {emulator['elements']:,} elements"


def document_sentences(data: Mapping[str, Any]) -> Iterator[str]:
    """Which documents agree on NaN, infinities and zeros, and of which of them no document speaks."""
    rows = data["special_documents"]
    yield from special_sentences(rows)
    silent = [name.replace("_", " ") for name in data["specials"] if name not in {row["facet"] for row in rows}]
    if silent:
        yield f"{', '.join(silent)}: no document that is known here says what it gives"


def fits_by_path(data: Mapping[str, Any]) -> bool:
    """Whether some semantics fits each path, so that the closest to all of them says nothing more."""
    paths = data.get("by_path", ())
    return bool(paths) and all(one["semantics"] for one in paths)


def print_paths(console: Console, paths: Sequence[Mapping[str, Any]]) -> None:
    """A table of each path's facets."""
    if not paths:
        return
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("facet", *(", ".join(one["paths"]) for one in paths)):
        table.add_column(title)
    names = dict.fromkeys(name for one in paths for name in one["semantics"])
    for name in names:
        table.add_row(name.replace("_", " "), *(value_text(one["semantics"].get(name)) for one in paths))
    if not names:
        table.add_row("every", *("no known semantics fits" for _ in paths))
    console.print(table)


def value_text(value: str | list[str] | None) -> str:
    """A facet's value, or those that fit; nothing fits a path without one."""
    values = [value] if isinstance(value, str) else value
    return escape(" or ".join(values)) if values else "no known semantics fits"


def print_found(console: Console, data: Mapping[str, Any], title: str) -> None:
    console.print(f"[bold]{title}[/bold]\n")
    for name, value in data["semantics"].items():
        values, known = value if isinstance(value, list) else [value], data["sentences"][name]
        meaning = "" if len(values) > 1 else f" ({escape(known[value])})"
        console.print(f"{name.replace('_', ' ')}: [bold]{escape(' or '.join(values))}[/bold]{meaning}", soft_wrap=True)
        for other, witness, gives in against(data, name):
            console.print(f"    not {escape(other)}: {witness} gives {gives}", soft_wrap=True)
    console.print()
    if len(data["consistent"]) > 1:
        console.print(f"{len(data['consistent'])} semantics are left:")
        for sentence in data["equal"]:
            console.print(f"  {sentence}", soft_wrap=True)
    for theorem in data["theorems"]:
        text = f"theorem ({theorem['page']}): this arithmetic {theorem['sentence']}"
        console.print(text, soft_wrap=True, highlight=False, markup=False)


def against(data: Mapping[str, Any], facet: str) -> Iterator[tuple[str, str, str]]:
    """For each refuted value of a facet: the value, the refuting input, and "got, not expected"."""
    chosen, seen = data["consistent"][0], set[str]()
    kept = {one[facet] for one in data["consistent"]}
    rows = [row for row in data["refuted"] if facet in row["semantics"]]
    for row in sorted(rows, key=lambda row: sum(chosen[name] != v for name, v in row["semantics"].items())):
        value = row["semantics"][facet]
        if value not in seen | kept:
            seen.add(value)
            yield value, inputs_text(row["witness"]), f"{row['got']}, not {row['expected']}"


def print_closest(console: Console, data: Mapping[str, Any], title: str) -> None:
    closest = data["closest"]
    console.print(f"[bold]{title}[/bold]\n\nno known semantics fits; the closest is", soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("facet")
    table.add_column("value")
    for name, value in closest["semantics"].items():
        mark = "  (this broke)" if name in closest["facets"] else ""
        table.add_row(name.replace("_", " "), f"{value}{mark}")
    console.print(table)
    if not set(closest["facets"]) & {*closest["semantics"]}:
        console.print("what broke is none of these facets, or several of them")
    elif "other" in closest["facets"]:
        console.print("what broke besides is none of these facets, or several of them")
    console.print(f"it differs on {closest['differs']:,} of {closest['inputs']:,} inputs, such as:")
    for row in closest["examples"]:
        wanted = "" if row["expected"] is None else f" instead of {row['expected']}"
        console.print(f"  {inputs_text(row['inputs'])} gives {row['got']}{wanted}", soft_wrap=True)


def path_sentence(path: Mapping[str, Any]) -> str:
    place = path["place"]
    if len(path["repeated"]) == 1:
        return f"{inputs_text(path['inputs'])} gives {path['alone']} alone and {path['repeated'][0]} among others"
    return (
        f"{inputs_text(path['inputs'])} gives {path['alone']} alone and {path['repeated'][place]} "
        f"at place {place} of an array of {len(path['repeated'])} such"
    )


def versus_sentences(data: Mapping[str, Any]) -> Iterator[str]:
    """What changed since an earlier run, or that its records are consistent with the same semantics."""
    versus = data["versus"]
    version, run = terminal_text(versus["version"]), terminal_text(versus["run"], 200)
    then = f"version {version} in {run} ({versus['inputs']:,} inputs recorded)"
    if versus["same"] is None:
        yield f"Compared with {then}: {versus['why']}."
        return
    if versus["same"]:
        yield f"Compared with {then}: nothing that was recorded speaks against the same semantics."
        return
    yield f"Compared with {then}, the semantics changed:"
    for name, (old, new) in versus["changed"].items():
        yield f"  {name.replace('_', ' ')} was {escape(' or '.join(old))}, is {escape(' or '.join(new))}"
    if not versus["changed"]:
        yield "  in a combination of facets, none of them alone"
    if versus["witness"]:
        witness = versus["witness"]
        yield f"  {inputs_text(witness['inputs'])} gave {witness['was']}, gives {witness['is']}"
