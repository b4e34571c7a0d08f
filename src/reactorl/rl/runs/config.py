# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run: a task as a flat table of settings, and back.

``config.json`` has one table with the environment's id, the options of the task and the
hyper-parameters of the algorithm: the same names as the flags of ``reactorl train``;
and ``preset``, the name of the preset that was applied, if there was one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reactorl._util.key_values import format_key_values, parse_key_values
from reactorl.rl._public import public
from reactorl.rl.algorithms.registry import ALGORITHMS, algorithm_class, registered_name
from reactorl.rl.checkpoint.identity import described
from reactorl.rl.runs.directory import RunDirectory, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.flow.algorithm import Algorithm
    from reactorl.rl.flow.task import Task, TaskOptions
    from reactorl.rl.presets.lookup import Preset

_FROM_PYTHON: Final = "Resume it from Python: Trainer(task, directory, resume=True)."


@dataclass(frozen=True, kw_only=True)
class EnvironmentFlag:
    """The flag that names the environment."""

    env_id: str
    """Environment id; "module:id" imports a module first. For several agents: a module
    with parallel_env, or "module:function"."""


def algorithm_name(task: Task) -> str:
    """Return the name of a task's algorithm in ``config.json``."""
    algorithm = task.algorithm
    return registered_name(algorithm) or type(algorithm).__name__


def settings_of(task: Task) -> dict[str, Any]:
    """Return the settings of a task, in terms of JSON."""
    found: dict[str, Any] = {"env_id": described(task.env)}
    flags = {f.name for f in fields(task.options_type)}
    default = _default(task)
    for one in fields(task):
        value = getattr(task, one.name)
        if one.name in ("env", "algorithm"):
            continue
        if one.name in flags or value != getattr(default, one.name):
            found[one.name] = _setting(value)
    algorithm = task.algorithm
    found |= {f.name: described(getattr(algorithm, f.name)) for f in fields(algorithm)}
    return found


def new_run(
    task: Task, path: Path | None, *, runs: Path = Path("runs"), command: Sequence[str]
) -> RunDirectory:
    """Create the directory of a new run of a task; see ``RunDirectory.create``.

    Raises:
        RunError: It cannot be created, or has a run already.
    """
    return RunDirectory.create(
        path,
        runs=runs,
        algorithm=algorithm_name(task),
        settings=settings_of(task),
        command=command,
        preprocessing=task.preprocessing_steps,
    )


def _setting(value: Any) -> Any:  # noqa: ANN401
    """Return a setting in terms of JSON; arguments as ``key=value``, as flags are."""
    texts = format_key_values(value) if isinstance(value, Mapping) else None
    return described(value) if texts is None else texts


def _default(task: Task) -> Task:
    return type(task)(task.env, task.algorithm)


def default_settings(task: Task) -> dict[str, Any]:
    """Return the settings with the defaults of all hyper-parameters and options."""
    algorithm = type(task.algorithm)()
    return settings_of(algorithm.task())


@public
def task_flags(
    name: str, run: Path | None = None, preset: Preset | None = None
) -> tuple[Any, Any, Any]:
    """Return dataclasses whose fields are the flags of an algorithm's task.

    Args:
        name: Of the algorithm.
        run: The directory of a run whose settings are the values; None: the defaults.
        preset: Settings that replace the defaults.

    Returns:
        The environment, the options of the task, and the algorithm.

    Raises:
        FlowError: There is no such algorithm.
        RunError: The run is of another algorithm, or its settings cannot be used.
    """
    cls = algorithm_class(name)
    if run is None:
        env, options = cls.default_env, cls.task_type().options_type()
        algorithm = cls()
        if preset is not None:
            options, algorithm = preset.applied(options), preset.applied(algorithm)
        return EnvironmentFlag(env_id=env), options, algorithm
    found = RunDirectory.open(run)
    if found.config["algorithm"] != name:
        what = f"this is a run of {found.config['algorithm']}, not of {name}"
        remedy = "Resume it with the algorithm that it was started with."
        raise RunError(run, what, remedy)
    algorithm, options, env_id = parts_of(found)
    return EnvironmentFlag(env_id=env_id), options, algorithm


@public
def task_of(run: RunDirectory) -> Task:
    """Return the task of a run that ``reactorl train`` could have started.

    Raises:
        RunError: The run was started from Python with more than flags can express, or
            by another version.
    """
    algorithm, options, env_id = parts_of(run)
    values = {f.name: getattr(options, f.name) for f in fields(options)}
    preset = str(run.config["settings"].get("preset", ""))
    return algorithm.task(env_id, preset=preset, **values)


def parts_of(run: RunDirectory) -> tuple[Algorithm, TaskOptions, str]:
    """Return the algorithm, the options and the environment of a run.

    Raises:
        RunError: As for ``task_of``.
    """
    name = str(run.config["algorithm"])
    if name not in ALGORITHMS:
        what = f"algorithm {name!r} is not one of reactorl"
        raise RunError(run.path, what, _FROM_PYTHON)
    cls = algorithm_class(name)
    options = cls.task_type().options_type
    settings = dict(run.config["settings"])
    env_id = settings.pop("env_id", None)
    settings.pop("preset", None)
    known = {f.name for f in (*fields(cls), *fields(options))}
    if settings.keys() != known or not isinstance(env_id, str):
        other = ", ".join(sorted(settings.keys() ^ known)) or "env_id"
        what = f"settings must be flags of this version of reactorl, got {other}"
        remedy = "Resume it from Python with the same version, or start a new run."
        raise RunError(run.path, what, remedy)
    wrappers = settings.get("wrappers", ())
    unnamed = [each for each in wrappers if ":" not in str(each) or type(each) is dict]
    if unnamed:
        what = f"wrappers must be names (module:function), got {unnamed[0]}"
        raise RunError(run.path, what, _FROM_PYTHON)
    return _made(cls, settings, run), _made(options, settings, run), env_id


def _made(cls: Any, settings: dict[str, Any], run: RunDirectory) -> Any:  # noqa: ANN401
    """Return a dataclass with the settings that are its fields."""
    given: dict[str, Any] = {}
    for one in fields(cls):
        value = settings[one.name]
        if isinstance(one.default, tuple) and isinstance(value, list):
            value = tuple(value)
        if one.default_factory is dict:
            if not isinstance(value, list):
                what = f"{one.name} has values that are not literals, got {value}"
                raise RunError(run.path, what, _FROM_PYTHON)
            value = parse_key_values(value)
        given[one.name] = value
    try:
        return cls(**given)
    except (TypeError, ValueError) as error:  # of a rule that expects another type
        what = f"the settings are damaged: {error}"
        raise RunError(run.path, what, _FROM_PYTHON) from error
