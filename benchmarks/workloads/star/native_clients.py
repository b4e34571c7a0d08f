# SPDX-License-Identifier: Apache-2.0
"""The star with clients whose bodies are C functions; the server is the usual one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engines.ours import run_program
from benchmarks.workloads.star.ours import Server
from reactorl import Input, Output, Reactor, get_include, native, param, reaction

if TYPE_CHECKING:
    from benchmarks.harness.engine import Engine
    from benchmarks.harness.watch import Watch

SOURCE = Path(__file__).with_name("client.c")


def client_class() -> type[Reactor]:
    """Compile the body, and return the class of clients."""
    compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory, "client.so")
        command = [compiler, "-O2", "-shared", "-fPIC", "-I", get_include()]
        subprocess.run([*command, str(SOURCE), "-o", str(library)], check=True)

        class Client(Reactor):
            """Replies with the request."""

            request = Input[int](dtype="int64")
            reply = Output[int](dtype="int64")
            work = reaction(request, effects=[reply])(native(library, "work"))

    return Client


class Main(Reactor):
    """A server and native clients."""

    width: int = param()
    watch: Watch = param()
    client: type[Reactor] = param()

    def build(self) -> None:
        server: Any = self.add("server", Server, watch=self.watch)
        clients: Any = self.add_bank("clients", self.client, width=self.width)
        self.connect(server.request, clients.request, after=0, broadcast=True)
        self.connect(clients.reply, server.replies)


def run(params: dict[str, Any], watch: Any, engine: Engine) -> dict[str, Any]:  # noqa: ANN401
    """Run the program."""
    main = Main(width=params["clients"], watch=watch, client=client_class())
    return run_program(main, engine, params.get("workers"))
