"""Environments in native code. Use `reactorl.rl.envs.native.shard`."""

from collections.abc import Sequence


STEPPED: int = 0

RESET: int = 1

ENDED: int = 2

ENDED_LEFT: int = 3

LEFT: int = 4

class Table:
    """The transitions of a tabular environment."""

    def __init__(self, *, actions: int, starts: Sequence[int], cumulative: Sequence[float], rewards: Sequence[float], next: Sequence[int], ends: Sequence[bool], initial: Sequence[float], is_taxi: bool, is_fickle: bool, fickle_probability: float) -> None: ...

class Group:
    """Native bodies of some environments of one kind."""

    def __init__(self, kind: str, count: int, autoreset: int, table: Table | None) -> None: ...

    def assign(self, *, observations: tuple[object, ...], rewards: object, terminations: object, truncations: object, last: tuple[object, ...], status: object, transitions: object, row: int) -> None:
        """Write results into these arrays, from this row on."""

    def adopt(self, at: int, generator: object, *, numbers: Sequence[float], elapsed: int, limit: int, has_ended: bool, steps: int) -> bool:
        """
        Take the state of an environment over; False: another one has its generator.
        """

    def release(self, at: int) -> tuple[list[float], int, bool, int]:
        """
        Return numbers, elapsed steps, whether the episode has ended, and the number of steps; the state is no longer here.
        """

    def fits(self, actions: object, first_action: int) -> bool:
        """Whether actions have the form that bodies take."""

    def step(self, actions: object, first_action: int) -> tuple[int, int] | None:
        """
        Step all. Return how many steps are left to Python and how many episodes ended; None if the actions have another form.
        """

    def step_one(self, at: int, action: object) -> bool:
        """Step one; False if its action has another form."""

    def is_live(self, at: int) -> bool:
        """Whether its state is here."""

def sine(arg: float, /) -> float: ...

def cosine(arg: float, /) -> float: ...

def squared(arg: float, /) -> float: ...

def squared_float(arg: float, /) -> float: ...

def floor_mod(arg0: float, arg1: float, /) -> float: ...

def as_float(arg: float, /) -> float: ...

def product_sum(arg0: float, arg1: float, arg2: float, /) -> float:
    """x * y + z, rounded twice."""

def product_sum_float(arg0: float, arg1: float, arg2: float, /) -> float: ...

def draw_random(arg: object, /) -> float: ...

def draw_uniform(arg0: object, arg1: float, arg2: float, /) -> float: ...

def draw_below(arg0: object, arg1: int, /) -> int: ...
