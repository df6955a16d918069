"""Standalone scripts that show a failure: a crash, a hang, an exception, malformed outputs or outputs that change.

The script starts itself again as a child process that makes the call, and reports how the child ended. Outputs that
change may be memory that nobody wrote. In a process of its own that may be the same at every call. So the call is then
made in two further processes, whose memory is filled with a byte before the library gets it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from tiebreak.adapters.filled_memory import BYTES
from tiebreak.adapters.outcome import NOT_DETERMINISTIC, OUT_OF_MEMORY
from tiebreak.adapters.reproducer import CALL, input_lines, reached_statements, safe_in_source
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

STARTING = 60.0  # seconds allowed for importing the library, added to the call's time limit
CALLS = 8  # of one kind, where outputs change
WORDS = 400  # characters of the recorded message


@dataclass(frozen=True)
class Failure:
    """A recorded failure: its verdict, kind of fault and message.

    `shapes` are the shapes that the outputs should have. The limits, in seconds and MiB, are those of the run.
    """

    verdict: str
    fault: str
    message: str
    shapes: Sequence[tuple[int, ...]]
    time_limit: float
    memory_limit: int


def failure_script(title: str, node: Node, inputs: Sequence[Array], failure: Failure, lines: str) -> str:
    """The script's text. It exits with 1 while the call fails, 0 once it succeeds, 2 if the library can't be run."""
    parts = [
        f'"""{safe_in_source(title)}\n\n'
        "Exits with 1 while the call fails, with 0 once its outputs have the right form, with 2 if the library can't\n"
        'be run. Save it to a file first: it starts itself again to make the call.\n"""',
        "import os\nimport subprocess\nimport sys\nimport tempfile\nimport time",
        watching(failure),
        FILLED if failure.fault == NOT_DETERMINISTIC else PLAIN,
        *input_lines(node, inputs, lines),
        lines.strip(),
        *([again(node, lines)] if failure.fault == NOT_DETERMINISTIC else []),
        form_check(node, failure),
    ]
    return "\n\n".join(parts) + "\n"


def answered_script(title: str, node: Node, inputs: Sequence[Array], lines: str) -> str:
    """The script of a forbidden call. It exits with 1 while that is answered or ends the process, 0 once rejected."""
    failure = Failure("forbidden call", "", "answered", (), STARTING, 0)
    parts = [
        f'"""{safe_in_source(title)}\n\n'
        "Exits with 1 while the call is answered, with 0 once it is rejected, with 2 if the library can't be run.\n"
        'Save it to a file first: it starts itself again to make the call.\n"""',
        "import os\nimport subprocess\nimport sys\nimport time",
        watching(failure),
        REJECTED,
        PLAIN,
        *input_lines(node, inputs, lines),
        lines.strip(),
        ANSWERED,
    ]
    return "\n\n".join(parts) + "\n"


ANSWERED = """
print(library)
print("answered with", *(np.asarray(output).reshape(-1)[:4] for output in outputs), flush=True)
os._exit(1)
""".strip("\n")

REJECTED = """
def failed(kind, error, trace):
    print(f"rejected: {kind.__name__}: {error}", flush=True)
    os._exit(NO_LIBRARY if issubclass(kind, ImportError) else 0)
""".strip("\n")


def watching(failure: Failure) -> str:
    """The part of the script that starts the child process and reports how it ended."""
    kind = failure.verdict if failure.fault in ("", failure.verdict) else f"{failure.verdict} ({failure.fault})"
    recorded = safe_in_source(f"{kind}: {failure.message[:WORDS]}")
    memory = failure.memory_limit if failure.fault == OUT_OF_MEMORY else 0
    return f'RECORDED = "{recorded}"\nSECONDS, MIB = {failure.time_limit + STARTING:g}, {memory}\n{WATCH}'


WATCH = '''
NO_LIBRARY = 77  # the child's exit status if it can't import what it needs
CHILD = "FAILURE_SCRIPT_MAKES_THE_CALL"  # in the environment of the child alone


def resident(pid):
    """MiB, where the system tells."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, IndexError):
        return 0


def watch(variables={}):
    if not os.path.isfile(globals().get("__file__", "")):
        print("save this script to a file first: it starts itself again to make the call")
        return 2
    command = [sys.executable, *(["-I"] if sys.flags.isolated else []), __file__]
    child = subprocess.Popen(command, env={**os.environ, CHILD: "1", **variables})
    ends, how = time.monotonic() + SECONDS, ""
    while child.poll() is None and not how:
        time.sleep(0.05)
        if time.monotonic() > ends:
            how = f"no answer within {SECONDS:g} s"
        elif MIB and resident(child.pid) > MIB:
            how = f"more than {MIB} MiB of memory"
    child.kill()
    code = child.wait()
    if how or code < 0:
        how = how or f"the process was killed by signal {-code}"
    elif code not in (0, 1, NO_LIBRARY):
        how = f"the process ended with exit status {code}"
    if how:
        print(how)
    print(f"recorded {RECORDED}", flush=True)
    return 2 if code == NO_LIBRARY and not how else 1 if how or code else 0


def failed(kind, error, trace):
    print(f"{kind.__name__}: {error}", flush=True)
    os._exit(NO_LIBRARY if issubclass(kind, ImportError) else 1)

'''.strip("\n")

PLAIN = """
if CHILD not in os.environ:
    sys.exit(watch())
sys.excepthook = failed
""".strip("\n")

FILLED = f"""
KEEP_IN = "FAILURE_SCRIPT_KEEPS_OUTPUTS_IN"  # in the environment of such a child: a file


def watch_in_filled_memory():
    \"\"\"Whether the outputs are others where glibc fills memory with another byte before the library gets it.\"\"\"
    given = []
    for byte in {BYTES}:
        tunables = f"glibc.malloc.perturb={{byte ^ 0xFF}}:glibc.malloc.tcache_count=0"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs")
            if code := watch({{"GLIBC_TUNABLES": tunables, KEEP_IN: path}}):
                return code
            with open(path) as kept:
                given.append(kept.read())
        print(f"where memory is filled with {{byte:#04x}}, the outputs are, byte by byte: {{given[-1][:200]}}")
    if given[0] == given[1]:
        print("The outputs do not change here: this may need the calls that came before it in its run.")
    return int(given[0] != given[1])


if CHILD not in os.environ:
    sys.exit(watch() or watch_in_filled_memory())
sys.excepthook = failed
""".strip("\n")


def again(node: Node, lines: str) -> str:
    """Source that makes the call so many times in all, and keeps the outputs of each: what changes may need a few."""
    kept = "each_call.append([np.array(output) for output in outputs])"
    statements = textwrap.indent(f"{call_of(node, lines)}\n{kept}", "    ")
    return f"each_call = []\n{kept}\nfor _ in range({CALLS - 1}):\n{statements}"


def call_of(node: Node, lines: str) -> str:
    """The statements that make the call and assign `outputs`; below the head of the block that they stand in.

    Without a line CALL those that the inputs reach, or all, if these do not make `outputs`.
    """
    before, marked, after = lines.rpartition(f"{CALL}\n")
    if not marked:
        statements, assigned = reached_statements(lines, (tensor.name for tensor in node.inputs))
        return "\n".join(statements) if "outputs" in assigned else lines
    indent = before.rpartition("\n")[2]
    if not indent:
        return after.strip("\n")
    head = next(line for line in reversed(before.splitlines()) if line.strip() and not line.startswith(indent))
    own = takewhile(lambda line: line.startswith(indent) or not line.strip(), after.splitlines())
    return "\n".join([head, *own]).rstrip()


def form_check(node: Node, failure: Failure) -> str:
    """The part that compares the outputs' types and shapes with the node's and, if they change, two calls' bits."""
    pairs = zip(node.outputs, failure.shapes, strict=True)
    wanted = [(tensor.dtype.name, tuple(shape)) for tensor, shape in pairs]
    lines = [
        "outputs = [np.asarray(output) for output in outputs]",
        "form = [(output.dtype.name, output.shape) for output in outputs]",
        f"wanted = {wanted!r}",
        "print(library)",
        'print(f"expected outputs {wanted}, got {form}")',
    ]
    same = "form == wanted"
    if failure.fault == NOT_DETERMINISTIC:
        lines += [
            "same = [all(a.tobytes() == b.tobytes() for a, b in zip(each_call[0], later)) for later in each_call[1:]]",
            'print(f"identical calls that give what the first one gave: {same}")',
        ]
        same += " and all(same)"
        lines += [
            "if KEEP_IN in os.environ:",
            '    with open(os.environ[KEEP_IN], "w") as kept:',
            '        kept.write("; ".join(output.tobytes().hex(" ") for output in outputs))',
        ]
    return "\n".join([*lines, f"sys.exit(0 if {same} else 1)"])
