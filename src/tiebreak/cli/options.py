"""Options that several commands share."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from tiebreak.cli.kinds import ID, NAME, OPSET, PATH, WORDS, WholeNumber
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import InvalidInput

Command = TypeVar("Command", bound=Callable[..., Any])
LEVELS = ("brief", "quick", "full", "deep")
SEED = WholeNumber(-(1 << 63), (1 << 63) - 1)
JUDGE_FOREIGN = click.option(
    "--judge-foreign",
    is_flag=True,
    help="Let a deviation from a document that the backend does not claim count for the exit code, too.",
)
ANY_CHANGE = click.option(
    "--any-change", is_flag=True, help="Fail for every result with other bits, deviating or not, and for new hazards."
)
MUST_RUN = click.option("--must-run", is_flag=True, help="Fail if a case that ran before does not run now.")
STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Let results of another order of a document's steps (other-order) count for the exit code, too.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")


def parse_pairs(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE options as a mapping."""
    pairs = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", ctx, option)
        if name in pairs:
            raise click.BadParameter(f"{name} is given twice", ctx, option)
        pairs[name] = text
    return pairs


def attributes_option(command: Command) -> Command:
    """The option --attr of one node."""
    return click.option(
        "--attr",
        "attributes",
        type=WORDS,
        multiple=True,
        callback=parse_pairs,
        metavar="NAME=VALUE",
        help="An attribute's value.",
    )(command)


def input_option(said: str) -> Callable[[Command], Command]:
    """The option --input of one case, with what it says of itself."""
    return click.option(
        "--input", "inputs", type=WORDS, multiple=True, callback=parse_pairs, metavar="NAME=VALUE", help=said
    )


def once(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The single value of an option declared `multiple`, so that a second value is an error instead of replacing it."""
    if len(values) > 1:
        raise click.UsageError(f"{option.opts[0]} takes one value, not {len(values)}: {', '.join(values)}", ctx)
    return values[0] if values else None


def node_types(command: Command) -> Command:
    """The options that name one node's element types and operator-set version."""
    kind = click.Choice([*ELEMENT_TYPES])
    for name, said, attribute in (
        ("--input-type", "The first input's element type. Default: float32.", "input_type"),
        ("--type", "The output's element type. Default: uint8, if the operator has it.", "output_type"),
    ):
        command = click.option(name, attribute, type=kind, multiple=True, callback=once, metavar="TYPE", help=said)(
            command
        )
    opset = click.option(
        "--opset", type=OPSET, default=None, metavar="N", help="The version of the operator set, for an ONNX node."
    )
    return opset(command)


def given_input(command: Command) -> Command:
    """The option that gives a node an optional input which its audit leaves off."""
    said = "An optional input that the node has, too: global_amax of nvidia.NVFP4Quantize."
    return click.option("--with", "given", type=NAME, metavar="INPUT", help=said)(command)


def json_or_text(text: str) -> Any:
    """An attribute's typed value: parsed if it is JSON (1, [0, 2]), else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def backends_option(otherwise: str) -> Callable[[Command], Command]:
    """The option -b; `otherwise` says what happens without it."""
    return click.option(
        "-b",
        "--backend",
        "backends",
        type=WORDS,
        multiple=True,
        metavar="BACKEND",
        help="A backend's name, module:attribute, path/to/file.py:attribute or exec:COMMAND; repeat for more. "
        f"{otherwise}",
    )


def level_option(usual: str = "quick with a backend of your own, else brief") -> Callable[[Command], Command]:
    """The option --level, None unless it is given; `usual` says what it is then."""
    return click.option(
        "--level",
        type=click.Choice(LEVELS),
        multiple=True,
        callback=once,
        default=None,
        show_default=usual,
        help="brief runs some of the golden vectors, at least one for each thing that they look for; the others run "
        "all of them, with more and more generated cases.",
    )


def usual_level(backends: Sequence[str]) -> str:
    """The level of a run that names none: code that nobody has tested is asked all vectors, libraries a few."""
    from tiebreak.adapters.registry import is_own

    return "quick" if any(map(is_own, backends)) else "brief"


DISCARD = click.option(
    "--discard",
    is_flag=True,
    help="Start again in a folder with an unfinished run, or in the default one with a finished run; that run is lost.",
)


def selection_options(command: Command) -> Command:
    """The options that choose cases: operators, attributes, types, opset, ids and seed."""
    kind = click.Choice([*ELEMENT_TYPES])
    for option in reversed(
        (
            click.option(
                "--operator",
                "operators",
                type=NAME,
                multiple=True,
                help="An operator's id; repeat for more. Default: all.",
            ),
            click.option(
                "--attr",
                "attributes",
                type=WORDS,
                multiple=True,
                callback=parse_pairs,
                metavar="NAME=VALUE",
                help="Only nodes with this attribute value, such as round_mode=ROUND_UP or axes=[0,2].",
            ),
            click.option(
                "--type",
                "output_type",
                type=kind,
                multiple=True,
                callback=once,
                metavar="TYPE",
                help="Only this output element type.",
            ),
            click.option(
                "--input-type", type=kind, multiple=True, callback=once, metavar="TYPE", help="Only this input type."
            ),
            click.option(
                "--opset", type=OPSET, default=None, metavar="N", help="Only ONNX nodes of this operator-set version."
            ),
            click.option(
                "--case", "case_ids", type=ID, multiple=True, metavar="ID", help="Only this case; repeat for more."
            ),
            click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the generated cases."),
        )
    ):
        command = option(command)
    return command


def selection_keywords(chosen: dict[str, Any]) -> dict[str, Any]:
    """The values of `selection_options` as the keywords of a Selection."""
    attributes = {name: json_or_text(text) for name, text in chosen["attributes"].items()}
    types = {name: chosen[name] or "" for name in ("input_type", "output_type")}
    return {**chosen, **types, "attributes": attributes, "opset": chosen["opset"] or 0}


def run_folder(*names: str, **how: Any) -> Callable[[Command], Command]:
    """An option that is a path, by default of something to read; `type` changes that."""
    return click.option(*names, **{"type": PATH, **how})


def limit_options(seconds: float, least: float, of: str) -> Callable[[Command], Command]:
    """The options --timeout, with this default and least value in seconds, and --memory. `of` names what is limited."""
    timeout = click.option(
        "--timeout",
        "time_limit",
        type=click.FloatRange(least, 86400),
        callback=check_number,
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help=f"Time limit for {of}.",
    )
    memory = click.option(
        "--memory",
        "memory_limit",
        type=WholeNumber(64, 1 << 24),
        default=4096,
        show_default=True,
        metavar="MIB",
        help="Memory limit for each backend's process.",
    )
    return lambda command: timeout(memory(command))


def check_number(context: click.Context, option: click.Parameter, value: float) -> float:
    """Refuses NaN, which FloatRange lets through."""
    if math.isnan(value):
        raise click.BadParameter("nan is no number of seconds", context, option)
    return value


def check_apart(**files: Path | None) -> None:
    """Raise InvalidInput if two of the named options are the same file: one would replace the other."""
    given = {name: os.path.realpath(path) for name, path in files.items() if path is not None}
    for (one, file), (other, another) in itertools.combinations(given.items(), 2):
        if file == another:
            raise InvalidInput(f"--{one} and --{other} name the same file, {file}")


def typed_parameters(context: click.Context) -> set[str]:
    """The parameters that were typed, by name."""
    names = context.params
    return {name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
