"""Steps, and where their results land. Use `reactorl.rl.envs.sub_env`."""

from typing import Any


LEFT: int = 0

GOES_ON: int = 1

ENDED: int = 2

class ResultWriter:
    """Where the results of one environment land."""

    def __init__(self, observation: object | None, reward: object, terminated: object, truncated: object, *, ends: bool) -> None:
        """
        The row of an observation, or a tuple of rows; the places of the rest; and whether the last steps of episodes land, too.
        """

    def take(self, result: object | None) -> int:
        """
        Put what a step returned where it belongs, or nothing at all: then it is LEFT to the caller, as it is not what most steps return.
        """

    def take_first(self, result: object | None) -> bool:
        """
        Likewise for the observation of what a reset returned; tells if it landed.
        """

class Unfinished:
    """What is left to do of a step."""

    @property
    def begun(self) -> bool:
        """Whether the environment was stepped."""

    @property
    def is_reset(self) -> bool:
        """Whether it was reset instead."""

    @property
    def result(self) -> Any:
        """What it returned, which did not land."""

    @property
    def error(self) -> BaseException | None:
        """What it raised, if it failed."""

class Stepper:
    """Steps one environment the way most steps go."""

    def __init__(self, index: object, *, plain: bool, resets: bool) -> None:
        """
        Which one it is; whether steps are done here, or all left to the caller; and whether a reset after the end of an episode is done here, too.
        """

    @property
    def env(self) -> Any:
        """The environment."""

    @env.setter
    def env(self, env: object | None) -> None: ...

    @property
    def ended(self) -> bool:
        """Whether its episode has."""

    @ended.setter
    def ended(self, arg: bool, /) -> None: ...

    @property
    def steps(self) -> int:
        """How many it has begun."""

    @steps.setter
    def steps(self, arg: int, /) -> None: ...

    def land(self, landing: object | None) -> None:
        """Let results land there from now on; nowhere, if it is None."""

    def step(self, action: object | None) -> Unfinished | None:
        """Step it, and return what is left to do of that; None if nothing is."""

class StepperGroup:
    """Steps several environments, in their order."""

    def __init__(self, steppers: list[Stepper]) -> None: ...

    def step(self, first: int, actions: object) -> tuple[int, Unfinished] | None:
        """
        Step them from one on, each with its own of the actions. Returns None if that was all; else which one left something to do, and what.
        """
