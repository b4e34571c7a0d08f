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

def apply_layers(layers: list[dict[str, object]], rows: object, out: object, hidden: str, last: str) -> bool:
    """
    Write the outputs of layers for rows; False if these are not arrays of float32 numbers that fit.
    """

class Policy:
    """A network, and a distribution over actions."""

    def __init__(self, *, layers: list[dict[str, object]], hidden: str, kind: str, values: Sequence[int], sources: Sequence[int], mean: Sequence[float], scale: Sequence[float], log_std: Sequence[float], bounds: Sequence[Sequence[float]], epsilon: float) -> None: ...

    def act(self, rows: object, *, noise: object | None, masks: object | None, indices: object | None, numbers: object | None, actions: object | None, log_probs: object | None) -> None:
        """
        Act on rows of inputs, and write what is wanted into arrays; without noise greedily.
        """

class Stepping:
    """Environments, and a policy acting in them."""

    def __init__(self, group: Group, policy: Policy, width: int, parts: int, masks: object | None) -> None: ...

    def collect(self, start: int, stop: int, noise: object, columns: dict[str, object], returns: object, lengths: object) -> tuple[int, list[tuple[float, int]]]:
        """
        Collect steps. Return the next one, and return and length of episodes that ended; a step below `stop` has to be finished in Python.
        """

    def play(self, active: Sequence[int], limit: int, returns: object, lengths: object, longest: int, actions: object) -> tuple[int, bool]:
        """
        Do greedy steps in some environments until an episode ends. Return their number, and whether the last one, with these actions, has to be finished in Python.
        """

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
