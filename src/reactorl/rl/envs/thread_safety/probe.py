# SPDX-License-Identifier: Apache-2.0
"""Finds out whether environments may run concurrently in threads."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

from reactorl._util.child_process import start_child
from reactorl._util.serialization import serialize_by_value
from reactorl.rl.envs.factory import Recipe
from reactorl.rl.envs.thread_safety.cache import load_verdict, save_verdict
from reactorl.rl.envs.thread_safety.identity import Identity
from reactorl.rl.envs.thread_safety.known import look, name_of
from reactorl.rl.envs.thread_safety.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_log: Final = logging.getLogger(__name__)

MAX_THREADS: Final = 4
LIMIT_SECONDS: Final = 60.0
"""Time for the probe, most of which is for slow constructors on a busy machine."""
_MODULE: Final = "reactorl.rl.envs.thread_safety.child"
_FROM_OUTSIDE: Final = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGKILL,
    signal.SIGTERM,
)
_lock = threading.Lock()
_verdicts: dict[str, tuple[Verdict, list[object]]] = {}
"""Verdicts of this process by identity, with the objects that these name by address."""


def thread_safety(
    makers: Sequence[Callable[[], Any]], *, anew: bool = False
) -> Verdict:
    """Return whether environments may run concurrently in threads.

    Uses, in this order: what is known, verdicts of this process, the user's cache, and
    a probe.

    Args:
        makers: Make the environments.
        anew: Run the probe even if there is a verdict; one against threads stands.
    """
    chosen = representatives(makers)
    try:
        looks = [look(maker) for maker in _distinct(chosen)]
    except Exception:
        return Verdict("unmade", "cannot be made", name_of(makers[0]))
    known = [each.verdict() for each in looks]
    against = [verdict for verdict in known if verdict is not None and not verdict.safe]
    if against:
        return against[0]
    if known[0] is not None and None not in known and not anew:
        return known[0]
    with _lock:  # a second thread waits for the verdict of the first
        return _found(chosen, looks[0].name, anew=anew)


def recorded_verdict(makers: Sequence[Callable[[], Any]]) -> Verdict | None:
    """Return a verdict if there is one without making or running anything."""
    chosen = representatives(makers)
    if isinstance(chosen[0], Recipe):
        known = look(chosen[0]).verdict()
        if known is not None:
            return known
    identity = Identity(chosen)
    if identity.text in _verdicts:
        return _verdicts[identity.text][0]
    return load_verdict(identity.key()) if identity.sure else None


def _found(makers: Sequence[Callable[[], Any]], name: str, *, anew: bool) -> Verdict:
    identity = Identity(makers)
    if identity.text in _verdicts and not anew:
        return _verdicts[identity.text][0]
    key = identity.key() if identity.sure else None
    verdict = None if key is None or anew else load_verdict(key)
    if verdict is None:
        began = time.perf_counter()
        verdict = replace(run_probe(makers), name=name)
        seconds = time.perf_counter() - began
        _log.info("probe of thread safety, %.1f s: %s", seconds, verdict)
        if key is not None and verdict.lasting:
            save_verdict(key, verdict)
    _verdicts[identity.text] = verdict, identity.objects
    return verdict


def representatives(makers: Sequence[Callable[[], Any]]) -> list[Callable[[], Any]]:
    """Return makers that stand for all: one of each kind, and at least two."""
    kinds = {_kind(maker): maker for maker in reversed(makers)}
    if len(kinds) == 1:
        return [makers[0], makers[-1]]
    return list(kinds.values())[::-1][:MAX_THREADS]


def _kind(maker: Any) -> int:  # noqa: ANN401
    """Return a number that functions with the same code share."""
    if isinstance(maker, partial):
        return _kind(maker.func)
    return id(getattr(maker, "__code__", maker))


def _distinct(makers: Sequence[Callable[[], Any]]) -> list[Callable[[], Any]]:
    return list({id(maker): maker for maker in makers}.values())


def run_probe(makers: Sequence[Callable[[], Any]]) -> Verdict:
    """Run environments concurrently in threads of another process.

    Args:
        makers: Make the environments, one for each thread.
    """
    try:
        sent = pickle.dumps((_registry(), serialize_by_value(list(makers))))
    except Exception as error:
        return _unsendable(error)
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as answer:
        try:
            process = start_child(
                _MODULE,
                [theirs],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        finally:
            os.close(theirs)
        try:
            _, printed = process.communicate(sent, LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            text = f"could not be probed in {LIMIT_SECONDS:g} s"
            return Verdict("timeout", text)
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stderr):
                with suppress(OSError):  # what it did not read is lost
                    pipe.close()  # type: ignore[union-attr]
        return _verdict(answer.read(), process.returncode, printed)


def _verdict(answer: bytes, status: int, printed: bytes) -> Verdict:
    if not answer:
        how = f"status {status}"
        if status < 0:
            with suppress(ValueError):
                how = signal.Signals(-status).name
            if -status in _FROM_OUTSIDE:  # says nothing about the environment
                return Verdict("failed", f"could not be probed (killed by {how})")
            text = f"crashed its process ({how}) in concurrent threads"
            return Verdict("crashed", text)
        last = printed.decode(errors="replace").strip().rpartition("\n")[2]
        return Verdict("failed", f"could not be probed ({how}; {last or 'no output'})")
    found: dict[str, Any] = pickle.loads(answer)  # of our own process
    kind = found["verdict"]
    if kind == "safe":
        return Verdict("safe", "gives the same results as alone")
    if kind == "unmade":
        return _unsendable(f"it cannot be made there: {found['error']}")
    if kind == "unrepeatable":
        return Verdict(
            "unrepeatable", "gives other results each time, even alone with one seed"
        )
    if kind == "unsendable":
        return _unsendable(found["error"])
    if "error" in found:
        return Verdict("differs", f"raises in concurrent threads ({found['error']})")
    if "library" in found:
        text = f"draws its images with {found['library']}, which is not thread-safe"
        return Verdict("differs", text)
    when = f"in step {found['step']}" if found["step"] else "in its reset"
    return Verdict("differs", f"gives other results in concurrent threads, {when}")


def _unsendable(error: object) -> Verdict:
    text = f"cannot run in another process ({error})"
    return Verdict("unsendable", text)


def _registry() -> bytes:
    """Return the registered environments that can be sent to another process."""
    with suppress(Exception):
        return serialize_by_value(dict(gym.registry))
    found = {}
    for name, spec in gym.registry.items():
        with suppress(Exception):
            serialize_by_value(spec)
            found[name] = spec
    return serialize_by_value(found)
