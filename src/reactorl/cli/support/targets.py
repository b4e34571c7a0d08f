# SPDX-License-Identifier: Apache-2.0
"""Finds the main reactor that a TARGET on the command line denotes.

``module:Class`` and ``file.py:Class`` name a Python class. For a ``file.py`` alone it
is the one reactor that no other one contains, for a ``.lf`` file its main reactor, and
for the directory of a training run the program of that training.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reactorl import Program, Reactor, analyze
from reactorl.errors import ReactorlError

if TYPE_CHECKING:
    from types import ModuleType

FORMS = "module:Class, file.py:Class, file.py, file.lf, or the directory of a run"


class TargetError(ReactorlError):
    """The target does not denote a program.

    Attributes:
        what: The fact.
        remedy: What to write instead.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy=remedy)
        self.args = (what, remedy)


@dataclass(frozen=True)
class Target:
    """A main reactor, and a short name for it."""

    main: type[Reactor] | Reactor | Program
    name: str
    is_run: bool = False


def find_target(text: str) -> Target:
    """Return the main reactor that a TARGET denotes.

    Python files and modules are imported; preambles of ``.lf`` files are executed.

    Raises:
        TargetError: The name does not exist, or is not a program.
        ReactorlError: The program has errors.
    """
    path = Path(text)
    if path.is_dir():
        return _run(path)
    if path.suffix == ".lf":
        return _lf(path)
    if path.suffix == ".py":
        module = _from_file(path)
        return _only(module, text)
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        msg = f"program '{text}' does not exist"
        raise TargetError(msg, f"Write {FORMS}.")
    file = Path(place)
    module = _from_file(file) if file.suffix == ".py" else _from_name(place, text)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            known = ", ".join(_reactors(module)) or "none"
            msg = f"'{place}' has no '{name}'"
            raise TargetError(msg, f"Its reactors are: {known}.")
    return Target(_main(found, text), name.rpartition(".")[2])


def _main(found: Any, text: str) -> type[Reactor] | Reactor | Program:  # noqa: ANN401
    if isinstance(found, Reactor | Program):
        return found
    if isinstance(found, type) and issubclass(found, Reactor):
        return found
    make = getattr(found, "main", None)  # of a flow
    if callable(make) and not isinstance(found, type):
        made = make()
        if isinstance(made, Reactor):
            return made
    msg = f"target must be a reactor, got '{text}' of type {type(found).__name__}"
    raise TargetError(msg, "Name a reactor class, a reactor, a program or a flow.")


# -- Python ---------------------------------------------------------------------------


def _from_name(name: str, text: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        whole = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        if not whole:
            raise  # a module that it imports is missing
        msg = f"module '{name}' of '{text}' does not exist"
        raise TargetError(msg, f"Write {FORMS}.") from None


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        msg = f"file '{path}' does not exist"
        raise TargetError(msg, f"Write {FORMS}.")
    directory = str(path.resolve().parent)
    if directory not in sys.path:
        sys.path.insert(0, directory)  # as Python does for a script
    name = path.stem if path.stem not in sys.modules else f"_target_{path.stem}"
    spec = spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _reactors(module: ModuleType) -> dict[str, type[Reactor]]:
    """Return the reactor classes that a module defines, in order."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Reactor)
        and value.__module__ == module.__name__
    }


def _only(module: ModuleType, text: str) -> Target:
    """Return the one reactor of a file that no other reactor of it contains."""
    known = _reactors(module)
    if not known:
        msg = f"'{text}' defines no reactors"
        raise TargetError(msg, f"Write {FORMS}.")
    inner: set[type] = set()
    whole = []
    for name, cls in known.items():
        program = analyze(cls).program
        if program is None:
            continue  # it needs parameters, for example: it is not a main reactor
        inner.update(node.cls for node in program.reactors[1:])
        whole.append(name)
    mains = [name for name in whole if known[name] not in inner]
    if len(mains) > 1:
        closed = [n for n in mains if not known[n].__reactor__.ports]
        mains = closed or mains
    if len(mains) == 1:
        return Target(known[mains[0]], mains[0])
    names = mains or list(known)
    which = "several main reactors" if mains else "no reactor that can be the main one"
    msg = f"'{text}' has {which}: {', '.join(names)}"
    raise TargetError(
        msg,
        f"Name one of them: {text}:{names[0]}",
    )


# -- LF files and training runs -------------------------------------------------------


def _lf(path: Path) -> Target:
    from reactorl.lf import load

    if not path.exists():
        msg = f"file '{path}' does not exist"
        raise TargetError(msg, f"Write {FORMS}.")
    main = load(path).main
    if main is None:
        msg = f"'{path}' has no main reactor"
        raise TargetError(
            msg,
            "Write 'main reactor { ... }', or name a file that imports this one.",
        )
    return Target(main, path.stem)


def _run(path: Path) -> Target:
    from reactorl.cli.commands.train import NEEDED, import_from_here
    from reactorl.cli.support.errors import missing

    if not (path / "config.json").is_file():
        msg = f"'{path}' is not the directory of a training run"
        raise TargetError(msg, "'reactorl runs' lists the runs.")
    lacking = missing(NEEDED, "graph")
    if lacking is not None:
        raise TargetError(lacking.what, lacking.remedy)
    from reactorl.rl import RunDirectory, task_of

    import_from_here()
    task = task_of(RunDirectory.open(path))
    return Target(task.main(), path.resolve().name, is_run=True)
