# SPDX-License-Identifier: Apache-2.0
"""The process of a federate that a launcher on the same machine has started.

Two pipes are inherited: one with the run's secret, one with the job, which stays open
as long as the parent lives. Nothing else comes from the command line but their
numbers, and ``sys.path``.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from reactorl._federation.launch.parent import end_with_parent
from reactorl._util.child_process import accept_signals
from reactorl._util.serialization import deserialize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reactorl._federation.launch.job import Job

OTHERS_FAILED: Final = 3
"""Exit status of a federate that ended because another one did."""


def main() -> int:
    """Take part in a run; return the exit status."""
    # Ctrl-C is for the parent, which then ends all federates.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    accept_signals()
    secret_fd, job_fd = map(int, sys.argv[1:3])
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)
    with os.fdopen(os.dup(job_fd), "rb", buffering=0) as pipe:
        parent = int.from_bytes(_exactly(pipe, 8), "little")
        size = int.from_bytes(_exactly(pipe, 8), "little")
        data = _exactly(pipe, size)
    end_with_parent(job_fd, parent)
    # Only now: what it imports may take long, or never end.
    from reactorl._federation.secret import RunSecret

    secret = RunSecret.receive(secret_fd)
    job: Job = deserialize(data)
    return take_part(job, secret)


def take_part(job: Job, secret: Any) -> int:  # noqa: ANN401 - a RunSecret
    """Run a federate; return the exit status.

    An exception that ended it is the coordinator's, if that could be reached.
    """
    from reactorl._federation.certificate import Certificate
    from reactorl._federation.endpoint import Address
    from reactorl._federation.link_errors import LinkError
    from reactorl._federation.member import Member, Membership, run_digest
    from reactorl._program.cut import cut_program
    from reactorl._runtime.recording import Recording

    source = deserialize(job.source)
    program = source.program()
    if not _computes_like(job.fingerprint):
        return 1
    cut = cut_program(program, job.federation)
    restored = job.restored
    if restored is not None and run_digest(cut, job.options) != restored.own:
        msg = "restoring a federate failed: the program differs in its new process"
        raise LinkError(msg, "build() must give the same program in every process.")
    source.prepare(cut.names[job.index])
    membership = Membership(
        job.index,
        Address.parse(job.coordinator),
        Address.parse(job.address),
        secret,
        life=job.life,
        certificate=Certificate() if job.encrypt else None,
        keeps=job.keeps,
        fixed=job.fixed,
        base=None if restored is None else restored.base,
        digest=b"" if restored is None else restored.run,
    )
    member = Member(
        program,
        cut,
        job.options,
        membership,
        replay=job.replay,
        record=Recording() if job.record else None,
        attend=getattr(source, "attend", None),  # only driven programs have one
        extra=source.extra,
    )
    try:
        return 0 if member.run() else OTHERS_FAILED
    except LinkError as error:
        if not member.reported:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except BaseException:
        if member.reported:
            return 1
        raise


def _computes_like(expected: Mapping[str, str]) -> bool:
    """Return whether this process computes the same bits as the calling one.

    With the packages that the program has imported here; else it says what differs.
    """
    if not expected:
        return True
    from reactorl._util.numeric_fingerprint import numeric_fingerprint

    parts = [name for name in expected if name == "python" or name in sys.modules]
    found = numeric_fingerprint(parts)
    wrong = sorted(name for name in found if found[name] != expected[name])
    if wrong:
        print(
            f"numeric results must be those of the head, got others of "
            f"{', '.join(wrong)}: results would depend on where reactors run. Install "
            "the same versions on all nodes, set OMP_NUM_THREADS if their numbers of "
            "cores differ, or use --mixed (mixed=True), without that promise.",
            file=sys.stderr,
        )
    return not wrong


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = pipe.read(min(size - len(data), 1 << 20))
        if not more:
            sys.exit("the process that started this federate has ended")
        data += more
    return bytes(data)
