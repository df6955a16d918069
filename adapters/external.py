"""The backend `exec:COMMAND`: a program in any language that reads and writes frames on standard input and output.

docs/external-programs.md specifies the frames. A program that replies "unsupported" or "error" keeps running. One that
writes an invalid reply is killed and started again for the next request. One that ends, ends this worker process too;
see external_process.
"""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiebreak.adapters.claims import Claims, parsed_claims
from tiebreak.adapters.external_process import Program, ProgramError
from tiebreak.adapters.program import PROTOCOL, raw, tensor_headers
from tiebreak.adapters.program_words import program_words
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


class External:
    """The program that `command` starts. The command is split into words as in a POSIX shell, but no shell runs it.

    Raises InvalidInput if it can't be started, ProgramError if it does not say what it is.
    """

    def __init__(self, command: str) -> None:
        self.command, self.words = command, program_words(command)
        self.program: Program | None = None
        self.compiled: dict[int, int] = {}  # ids of the nodes that the running program has compiled
        self.nodes = 0
        atexit.register(self.close)
        self.identity = self.start()
        self.name, self.version, said = self.identity.name, self.identity.version, self.identity.claims
        self.operators, self.claims, self.maps = said.operators, said.documents, said.maps
        self.configuration_of = said.library

    def compile(self, node: Node) -> Run:
        self.nodes += 1
        number, header = self.nodes, node_header(node)
        self.compile_there(number, header)
        return lambda *inputs: self.run(number, header, [array for array in inputs if array is not None])

    def attest(self) -> dict[str, str]:
        file = Path(shutil.which(self.words[0]) or self.words[0]).resolve()
        return {"command": self.command, "program": str(file), **self.identity.attestation}

    def run(self, number: int, node: Mapping[str, Any], inputs: Sequence[Array]) -> tuple[Array, ...]:
        if number not in self.compiled:
            self.compile_there(number, node)
        data = [raw(array) for array in inputs]
        header = {"node": self.compiled[number], "bytes": sum(map(len, data)), "tensors": tensor_headers(inputs)}
        return tuple(self.ask("run", header, data)[1])

    def compile_there(self, number: int, node: Mapping[str, Any]) -> None:
        if self.program is None and self.start() != self.identity:
            raise ProgramError("the program says, started again, that it is another one")
        self.compiled[number] = self.ask("compile", {"node": node})[0]["id"]

    def start(self) -> Identity:
        try:
            self.program = Program(self.words)
        except OSError as error:
            raise InvalidInput(f"can't start {self.words[0]}: {error.strerror or error}") from None
        return identity_of(self.ask("hello", {"protocol": PROTOCOL})[0])

    def ask(
        self, request: str, header: Mapping[str, Any], data: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[Array]]:
        """The header and tensors of an "ok" reply; otherwise Unsupported or ProgramError with the program's message."""
        assert self.program is not None
        try:
            self.program.send(request, header, data)
            reply, outputs = self.program.receive()
        except (EOFError, BrokenPipeError):
            ended, self.program = self.program, None
            self.compiled.clear()
            ended.share_fate()
        except BaseException:
            self.close()  # nobody knows where its next frame begins
            raise
        if reply["status"] == "ok":
            return reply, outputs
        message = str(reply.get("message") or "the program gave no reason")
        raise Unsupported(message) if reply["status"] == "unsupported" else ProgramError(message)

    def close(self) -> None:
        """End the program, if it runs."""
        self.compiled.clear()
        if self.program is not None:
            self.program.close()
            self.program = None


@dataclass(frozen=True)
class Identity:
    """What the program says it is."""

    name: str
    version: str
    claims: Claims
    attestation: Mapping[str, str]


def identity_of(hello: Mapping[str, Any]) -> Identity:
    name, version, operators = hello.get("name"), hello.get("version"), hello.get("operators")
    attestation, protocol = hello.get("attestation") or {}, hello.get("protocol", PROTOCOL)
    if protocol != PROTOCOL:
        raise ProgramError(f"the program speaks protocol {protocol}, not {PROTOCOL}")
    for what, value in (("name", name), ("version", version)):
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput(f"the program's reply to hello lacks a {what}, a text not empty; it has {value!r:.80}")
    if operators is not None and (not isinstance(operators, list) or not all(isinstance(o, str) for o in operators)):
        raise ProgramError("the program's operators are no list of texts")
    if not isinstance(attestation, dict):
        raise ProgramError("the program's attestation is no object")
    return Identity(
        str(name), str(version), parsed_claims(hello), {str(key): str(value) for key, value in attestation.items()}
    )


def node_header(node: Node) -> dict[str, Any]:
    """The node as a request's header holds it: keys in this order, attributes sorted by name."""
    return {
        "operator": node.operator,
        "opset": node.opset,
        "attributes": dict(sorted(node.attributes.items())),
        "inputs": [{"name": tensor.name, "dtype": tensor.element} for tensor in node.inputs],
        "outputs": [{"name": tensor.name, "dtype": tensor.element} for tensor in node.outputs],
    }
