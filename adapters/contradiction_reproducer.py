"""Standalone scripts that show two answers of a library to the same numbers.

Each answer is that of a process of its own: what one call leaves behind, or settings that a process has for good, can't
change the other. The script needs the library and NumPy, and no Tiebreak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tiebreak.adapters.reproducer import input_lines, reached_statements, safe_in_source
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

TIMES = 8  # processes of each, where nothing but chance or the process tells the answers apart


@dataclass(frozen=True)
class ShownCall:
    """A call in a library's own API: the backend's `lines` assign `outputs` and `library`."""

    node: Node
    inputs: Sequence[Array]
    lines: str

    @property
    def source(self) -> str:
        return "\n\n".join([*input_lines(self.node, self.inputs, self.lines), self.lines.strip()])


@dataclass(frozen=True)
class AnswerSide:
    """One of two answers: the calls of a process, the last of which gives it, and its place in the outputs.

    `where` says in words where it is given, `recorded` is the bits and the number that were. `variables` are of the
    process's environment.
    """

    calls: Sequence[ShownCall]
    output: int
    index: int
    where: str
    recorded: str
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        first, *others = self.calls
        shown = SHOW.format(output=self.output, index=self.index)
        return "\n\n".join([first.source, *map(once_more, others), shown])


def once_more(call: ShownCall) -> str:
    """The call in what another call of the same node has built: those statements that its inputs reach, and no other.

    What the call before gave is let go first, so that its memory is free.
    """
    statements, let_go = reached_statements(call.lines, (tensor.name for tensor in call.node.inputs))
    imports, *arrays = input_lines(call.node, call.inputs, call.lines)
    freed = [f"{' = '.join(sorted(let_go))} = None"] if let_go else []
    return "\n\n".join([imports, *freed, *arrays, *statements])


SHOW = """element = np.ascontiguousarray(outputs[{output}]).reshape(-1)[{index} : {index} + 1]
bits = "NaN" if (element != element).any() else element.tobytes()[::-1].hex()
print("the answer is", "0x" + bits, "that is", element[0], "by", library)"""


def contradiction_script(title: str, operands: Sequence[Sequence[str]], sides: tuple[AnswerSide, AnswerSide]) -> str:
    """The script's text: it exits with 1 while the answers differ, with 0 once they do not, with 2 if it can't ask.

    Where both sides are one call, it is asked in several processes, and one that fails where another answers differs.
    """
    one, other = (side.source for side in sides)
    told = ", ".join(f"{name} = {value} ({bits})" for name, bits, value in operands)
    sources = [f"ONE = {quoted(one)}", "OTHER = ONE" if one == other else f"OTHER = {quoted(other)}"]
    recorded = [safe_in_source(f"{side.where}: {side.recorded}") for side in sides]
    parts = [
        f'"""{safe_in_source(title)}\n\n'
        "Exits with 1 while the two answers to the same numbers differ, with 0 once they do not, with 2 if the\n"
        "library can't be run. Each answer is that of a process of its own.\n"
        '"""',
        "import os\nimport subprocess\nimport sys",
        *sources,
        f'OPERANDS = "{safe_in_source(told)}"\nRECORDED = {tuple(recorded)!r}\nTIMES = {TIMES if one == other else 1}',
        f"VARIABLES = {tuple(dict(side.variables) for side in sides)!r}  # of each one's environment",
        ASK,
    ]
    return "\n\n".join(parts) + "\n"


def quoted(source: str) -> str:
    """Source text as a literal that can be read, where a raw one holds it."""
    return f'r"""\n{source}\n"""' if '"""' not in source else repr(source)


ASK = """
FAILED = "could not run:"


def answer(source, variables):
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=environment)
    told = [line for line in done.stdout.splitlines() if line.startswith("the answer is ")]
    return told[-1] if told else f"{FAILED} exit status {done.returncode}: {done.stderr.strip()[-300:]}"


print("operands:", OPERANDS)
answers = [answer(*side) for side in zip((ONE, OTHER), VARIABLES) for _ in range(TIMES)]
failed = [told for told in answers if told.startswith(FAILED)]
if len(failed) > (len(answers) - 1 if ONE == OTHER else 0):
    print(failed[0])
    sys.exit(2)
for told, where in zip((answers[0], answers[-1]), RECORDED):
    print(f"{told}; recorded {where}")
different = len({FAILED if told in failed else told.partition(" that is ")[0] for told in answers})
print(f"{different} different answers in {len(answers)} processes")
sys.exit(1 if different > 1 else 0)
""".strip("\n")
