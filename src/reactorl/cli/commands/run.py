# SPDX-License-Identifier: Apache-2.0
"""``reactorl run``: run a program, with LF's options and a few of our own."""

from __future__ import annotations

import sys
import time
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reactorl.cli.support.console import say
from reactorl.cli.support.errors import explained, fail, show
from reactorl.cli.support.run_options import add_options
from reactorl.cli.support.streams import repair_streams, stdout_is_broken
from reactorl.cli.support.trace_writer import TraceWriter
from reactorl.lf import Report, seed_globals

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from reactorl import Program, RayFederation, Result
    from reactorl.lf import Federates, Gather, LoadedProgram

DESCRIPTION = """\
Run the main reactor of a .lf file. Options take precedence over the target
properties of the file.
"""
EPILOG = """\
examples:
  reactorl run hello.lf
  reactorl run hello.lf --fast --timeout 5 s       two words, or '5 s'
  reactorl run hello.lf --workers 2 --seed 1 --trace hello.trace
  reactorl run hello.lf --timing hello.times       then 'reactorl trace'
  reactorl run hello.lf --dashboard                watch the run in a browser
  reactorl run robots.lf --federated               a process for each federate
  reactorl run robots.lf --federated --dashboard   with a row for each of them
  reactorl run robots.lf --federated --nodes ray   on the nodes of a Ray cluster

exit status: 0 if the run ended normally, 1 after an exception in a body, n
after exit(n) in a body, 2 if the program has errors and was not started.
"""
T = TypeVar("T")


def add_to(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "run",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add_options(parser)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run a file; return the exit status."""
    report = Report()
    level = args.logging
    wrong = _wrong_combination(args)
    if wrong:
        return fail(wrong, 2)
    _flush_each_line()
    if args.seed is not None:
        seed_globals(args.seed)  # before preambles, which may draw numbers as well
    try:
        started = _load(args.file, report)
        federates = None
        if started is not None and args.federated:
            federates = _federates(*started, report)
            started = None if federates is None else started
        if started is None:
            show(report.in_order(), level or "warn")
            return 2
        loaded, program = started
        show(report.in_order(), level or loaded.linked.properties.logging or "warn")
        return _run(loaded, program, federates, args)
    except SystemExit as error:  # exit(n) in a body
        return _status(error)
    except Exception as error:
        cause = error.__cause__ or error
        if isinstance(cause, BrokenPipeError) and stdout_is_broken():
            raise cause from None  # the reader of the output has ended
        say(*explained(error))
        return 1
    finally:
        repair_streams()
        sys.stdout.flush()


def _wrong_combination(args: argparse.Namespace) -> str:
    """Return what is wrong with the options together; empty: nothing."""
    for flag, needed in (
        ("--listen", args.listen),
        ("--nodes", args.nodes),
        ("--restarts", args.restarts or None),
    ):
        if needed is not None and not args.federated:
            return f"{flag} needs --federated"
    if args.listen is not None and args.nodes is not None:
        return "--listen cannot be combined with --nodes"
    if args.restarts and args.nodes is not None:
        return "--restarts cannot be combined with --nodes"
    if args.listen is not None and args.token_file is None:
        return "--listen needs --token-file FILE, which the federates need as well"
    if args.token_file is not None and args.listen is None:
        return "--token-file needs --listen HOST:PORT"
    if args.no_encryption and args.listen is None and args.nodes is None:
        return "--no-encryption needs --listen HOST:PORT or --nodes"
    for flag, value in (
        ("--ray-address", args.ray_address),
        ("--cpus-per-federate", args.cpus_per_federate),
        ("--python", args.python),
        ("--mixed", args.mixed or None),
    ):
        if value is not None and args.nodes is None:
            return f"{flag} needs --nodes ray"
    return ""


def _load(path: Path, report: Report) -> tuple[LoadedProgram, Program] | None:
    from reactorl.lf import LoadedProgram, resolve

    linked = resolve(path, report)
    if linked is None or report.failed:
        return None
    if linked.main is None:
        source = linked.root.source
        what = "the file has no main reactor to run"
        advice = "Write 'main reactor { ... }', or run a file that imports this one."
        report.error(source, linked.root.tree.span, what, advice)
        return None
    loaded = LoadedProgram.of(linked, [linked.main])
    program = loaded.program(report)
    return None if program is None else (loaded, program)


def _federates(
    loaded: LoadedProgram, program: Program, report: Report
) -> Federates | None:
    """Return the federates of a program; None if it has none, or cannot be cut."""
    from reactorl.lf import federates_of

    main = loaded.linked.main
    assert main is not None
    if main.tree.kind != "federated":
        what = "the main reactor must be federated to run with --federated"
        advice = "Write 'federated reactor', or leave out --federated."
        report.error(main.file.source, main.tree.span, what, advice)
        return None
    return federates_of(loaded.linked, program, report)


def _run(
    loaded: LoadedProgram,
    program: Program,
    federates: Federates | None,
    args: argparse.Namespace,
) -> int:
    from reactorl import MAX_WORKERS

    properties, main = loaded.linked.properties, loaded.linked.main
    assert main is not None
    level = args.logging or properties.logging
    if level == "error":
        warnings.simplefilter("ignore")
    trace = args.trace
    if trace is None and properties.tracing is not None:
        trace = Path(f"{properties.tracing}.trace")
    workers = _either(args.workers, properties.workers)
    options = {
        "workers": min(workers, MAX_WORKERS) if workers else None,
        "fast": _either(args.fast, properties.fast) or False,
        "timeout": _either(args.timeout, properties.timeout),
        "keepalive": _either(args.keepalive, loaded.keepalive),
        "seed": args.seed or 0,
        "trace": "values" if trace is not None else False,
        "check": args.check,
        "freeze": False,
    }
    tracepoints = loaded.lowering.tracepoints
    tracepoints.enabled = trace is not None
    writer = TraceWriter(trace, args.timing)
    if federates is not None:
        result = _run_as_processes(loaded, program, federates, options, args)
        writer.write(result, tracepoints)
    else:
        result = _run_here(loaded, program, options, writer, args)
    if writer.failed:
        return 1
    if level in ("info", "log", "debug"):
        say(f"reactorl: {result.summary()}\n")
    return 0


def _run_here(
    loaded: LoadedProgram,
    program: Program,
    options: dict[str, Any],
    writer: TraceWriter,
    args: argparse.Namespace,
) -> Result:
    from reactorl import run

    main = loaded.linked.main
    assert main is not None
    if main.tree.kind == "federated":
        note = "its federates run in this process, not distributed"
        say(f"reactorl: {main.name} is federated: {note}\n")
        if args.id:
            loaded.lowering.lf._federation_id = args.id
    with _dashboard(program, args, loaded) as dashboard:
        return run(
            program,
            **options,
            start_time=_start_time(args.start_time_multiple),
            timing=args.timing is not None,
            at_start=None if dashboard is None else dashboard.watch,
            at_end=lambda ended: writer.write(ended, loaded.lowering.tracepoints),
        )


def _run_as_processes(
    loaded: LoadedProgram,
    program: Program,
    federates: Federates,
    options: dict[str, Any],
    args: argparse.Namespace,
) -> Result:
    from reactorl.lf import LfSource, run_federates

    level = args.logging or loaded.linked.properties.logging
    hosts = sorted({host for host in federates.hosts.values() if not _is_here(host)})
    nodes = _nodes(args)
    if hosts and level != "error" and args.listen is None and nodes is None:
        note = f"its federates run on this machine, not at {', '.join(hosts)}"
        say(f"reactorl: {note}\n")
    source = LfSource(
        args.file.resolve(),
        seed=args.seed,
        federation_id=args.id,
        tracing=options["trace"] is not False,
        silent=level == "error",
    )
    with _dashboard(program, args, loaded) as dashboard:
        return run_federates(
            source,
            loaded,
            program,
            federates,
            **options,
            timing=args.timing is not None,
            start_time=_start_time(args.start_time_multiple)
            if options["fast"]
            else None,
            start_multiple=args.start_time_multiple or 1,
            gather=_gather(args),
            restarts=args.restarts,
            nodes=nodes,
            at_start=None if dashboard is None else dashboard.watch,
        )


def _nodes(args: argparse.Namespace) -> RayFederation | None:
    """Return the cluster that runs the federates; None: they do not run on one."""
    if args.nodes is None:
        return None
    from reactorl import RayFederation

    cpus = args.cpus_per_federate
    return RayFederation(
        cpus_per_federate=1.0 if cpus is None else cpus,
        address=args.ray_address,
        python=args.python,
        encrypt=not args.no_encryption,
        mixed=args.mixed,
    )


def _gather(args: argparse.Namespace) -> Gather | None:
    """Return where processes join; None: this process starts them."""
    if args.listen is None:
        return None
    from reactorl.lf import Gather

    def waiting(address: str, names: tuple[str, ...]) -> None:
        how = f"reactorl federate --join {address} --token-file {args.token_file}"
        say(f"reactorl: waiting for {len(names)} federates: {', '.join(names)}\n")
        say(f"reactorl: start each with: {how}\n")

    def joined(name: str, host: str) -> None:
        say(f"reactorl: {name} has joined from {host}\n")

    encrypt = False if args.no_encryption else None
    return Gather(args.listen, args.token_file, encrypt, waiting, joined)


def _is_here(host: str) -> bool:
    """Return whether a host of ``at``, as ``user@host:port/path``, is this machine."""
    name = host.rpartition("@")[2].partition("/")[0].partition(":")[0]
    return name == "localhost" or name.startswith("127.")


def _start_time(multiple: int | None) -> int:
    now = time.time_ns()  # noqa: TID251 - LF's first tag is the wall clock
    return now if not multiple else -(-now // multiple) * multiple


def _either(option: T | None, otherwise: T) -> T:
    return otherwise if option is None else option


def _flush_each_line() -> None:
    """Make output of bodies visible when it is printed, also through a pipe."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)


def _status(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    say(f"{error.code}\n")
    return 1


def _dashboard(
    program: Program, args: argparse.Namespace, loaded: LoadedProgram
) -> AbstractContextManager[Any]:
    """Return a context manager that serves a dashboard; it is imported only then."""
    if not args.dashboard:
        return nullcontext()
    from reactorl.dashboard import served

    main = loaded.linked.main
    assert main is not None
    return served(program, title=main.name, facts=[("file", str(args.file))])
