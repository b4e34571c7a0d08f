# SPDX-License-Identifier: Apache-2.0
"""Gymnasium's toy text: how their states, rules and tables are read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from reactorl.rl.envs.native._bodies import Table
from reactorl.rl.envs.native.foreign import ForeignError, NotYetError
from reactorl.rl.envs.native.kind import Kind, flag, parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reactorl.rl.envs.observation_buffer import Array
    from reactorl.rl.envs.sub_env import Info

_PACKAGE: Final = "gymnasium.envs.toy_text"
_SUITS: Final = ("C", "D", "H", "S")
_FACES: Final = ("J", "Q", "K")
_MOST_CARDS: Final = 24


class Blackjack(Kind):
    """``BlackjackEnv``."""

    body = "Blackjack"
    entry = f"{_PACKAGE}.blackjack:BlackjackEnv"
    sources = (
        entry,
        *(
            f"{_PACKAGE}.blackjack:{name}"
            for name in (
                "_hand_sum_and_usable_ace",
                "cmp",
                "deck",
                "draw_card",
                "draw_hand",
                "usable_ace",
                "sum_hand",
                "is_bust",
                "score",
                "is_natural",
            )
        ),
    )
    actions, width, parts = 2, 0, 3
    attributes = frozenset(
        {
            "natural",
            "sab",
            "player",
            "dealer",
            "dealer_top_card_suit",
            "dealer_top_card_value_str",
            "screen",
            "clock",
        }
    )

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body: rules, suit and face, and both hands."""
        held = vars(core)
        suit = held.get("dealer_top_card_suit")
        value = held.get("dealer_top_card_value_str")
        if suit not in _SUITS or not isinstance(value, str):
            raise NotYetError
        hands = [_hand(held.get(name)) for name in ("player", "dealer")]
        face = _FACES.index(value) + 1 if value in _FACES else 0
        if bool(face) != (hands[1][1] == 10):
            raise NotYetError
        rules = [flag(core, "sab"), flag(core, "natural")]
        return [*rules, float(_SUITS.index(suit)), float(face), *hands[0], *hands[1]]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state."""
        suit, face = int(numbers[2]), int(numbers[3])
        cards = [int(each) for each in numbers[4:]]
        hands = cards[: 1 + _MOST_CARDS], cards[1 + _MOST_CARDS :]
        core.player, core.dealer = (hand[1 : 1 + hand[0]] for hand in hands)
        core.dealer_top_card_suit = np.str_(_SUITS[suit])
        top = core.dealer[0]
        if face:
            core.dealer_top_card_value_str = np.str_(_FACES[face - 1])
        else:
            core.dealer_top_card_value_str = "A" if top == 1 else str(top)

    def last(self, arrays: Sequence[Array], at: int) -> tuple[int, ...]:
        """Return the observation in a row."""
        return tuple(int(part[at]) for part in arrays)


def _hand(cards: Any) -> list[float]:  # noqa: ANN401
    """Return the number of cards, the cards, and zeros."""
    if type(cards) is not list or not 2 <= len(cards) < _MOST_CARDS:
        raise NotYetError
    if any(type(card) is not int or not 1 <= card <= 10 for card in cards):
        raise NotYetError
    return [float(len(cards)), *map(float, cards), *[0.0] * (_MOST_CARDS - len(cards))]


class _Transitions(NamedTuple):
    """The transitions of a tabular environment, one after the other."""

    starts: list[int]
    """Where those of each state and action begin; and the end."""
    cumulative: list[float]
    probabilities: list[Any]
    next: list[Any]
    rewards: list[float]
    ends: list[bool]
    initial: list[float]
    rest: tuple[Any, ...]
    """What else the environment depends on."""


class Tabular(Kind):
    """An environment with a table of transitions, ``P``."""

    body = "Tabular"
    width = 0
    has_infos = True
    actions: int  # of the class
    first: Any = 1
    """The probability in the info of a reset."""
    is_taxi = False

    def __init__(self) -> None:
        self._held: _Transitions

    def table(self, core: Any) -> Table:  # noqa: ANN401
        """Return the table of transitions that all environments of a group share."""
        held = self._held = _transitions(core, self.actions, self.rest(core))
        fickle = self.is_taxi and flag(core, "fickle_passenger") != 0
        return Table(
            actions=self.actions,
            starts=held.starts,
            cumulative=held.cumulative,
            rewards=held.rewards,
            next=[int(state) for state in held.next],
            ends=held.ends,
            initial=held.initial,
            is_taxi=self.is_taxi,
            is_fickle=fickle,
            fickle_probability=parameter(core, "fickle_probability") if fickle else 0,
        )

    def check_table(self, core: Any) -> None:  # noqa: ANN401
        """Check that an environment has the transitions of the table."""
        if _transitions(core, self.actions, self.rest(core)) != self._held:
            msg = "its table of transitions is not that of the first environment"
            raise ForeignError(msg)

    def rest(self, core: Any) -> tuple[Any, ...]:  # noqa: ANN401
        """Return what else steps and infos depend on."""
        return ()

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        state = vars(core).get("s")
        if not isinstance(state, int | np.integer):
            raise NotYetError
        if not 0 <= state < len(self._held.initial):
            raise NotYetError
        return [float(state), -1.0, -1.0, 0.0, 0.0]

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state; the last action is that of a NumPy array."""
        state, action, transition = (int(each) for each in numbers[:3])
        if action < 0 and not numbers[4]:
            return  # neither a step nor a reset
        core.s = np.int64(state)
        core.lastaction = None if action < 0 else np.int64(action)
        if transition >= 0 and self._held.next[transition] == state:
            core.s = self._held.next[transition]

    def info(self, transition: int, state: int) -> Info:
        """Return the info of a step."""
        return {"prob": self._held.probabilities[transition]}

    def first_info(self, state: int) -> Info:
        """Return the info of a reset."""
        return {"prob": self.first}


def _transitions(core: Any, actions: int, rest: tuple[Any, ...]) -> _Transitions:  # noqa: ANN401
    """Return the transitions of an environment.

    Raises:
        ForeignError: They are not a table of plain numbers.
    """
    try:
        initial = core.initial_state_distrib
        found = _Transitions([0], [], [], [], [], [], np.cumsum(initial).tolist(), rest)
        for state in range(len(initial)):
            for action in range(actions):
                listed = core.P[state][action]
                probabilities = [each[0] for each in listed]
                found.cumulative.extend(np.cumsum(np.asarray(probabilities)).tolist())
                found.probabilities.extend(probabilities)
                found.next.extend(each[1] for each in listed)
                found.rewards.extend(float(each[2]) for each in listed)
                found.ends.extend(bool(each[3]) for each in listed)
                found.starts.append(len(found.next))
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        msg = f"its table of transitions is not a usual one: {error!r}"
        raise ForeignError(msg) from None
    return found


_SAMPLE: Final = f"{_PACKAGE}.utils:categorical_sample"
_TABULAR: Final = frozenset({"P", "initial_state_distrib", "s", "lastaction"})
_IMAGES: Final = frozenset({"window_surface", "clock", "cell_size", "window_size"})


class FrozenLake(Tabular):
    """``FrozenLakeEnv``, with any map."""

    entry = f"{_PACKAGE}.frozen_lake:FrozenLakeEnv"
    sources = (entry, _SAMPLE)
    actions = 4
    attributes = (
        _TABULAR
        | _IMAGES
        | {"desc", "nrow", "ncol", "reward_range"}
        | {"ice_img", "ice_crack_imgs", "hole_img", "agent_img", "goal_flag_img"}
        | {"letter_s_img", "letter_g_img", "cracked_hole_img", "goal_img", "start_img"}
        | {"elf_images"}
    )


class CliffWalking(Tabular):
    """``CliffWalkingEnv``, slippery or not."""

    entry = f"{_PACKAGE}.cliffwalking:CliffWalkingEnv"
    sources = (entry, _SAMPLE)
    actions = 4
    attributes = (
        _TABULAR
        | _IMAGES
        | {"shape", "start_state_index", "nS", "nA", "is_slippery", "_cliff"}
        | {"agent_img", "start_img", "goal_img", "goal_flag_img", "cliff_imgs"}
        | {"ground_img", "elf_images", "cliff_img", "mountain_bg_img", "near_cliff_img"}
        | {"tree_img"}
    )


class Taxi(Tabular):
    """``TaxiEnv``, with its rain and its fickle passengers."""

    entry = f"{_PACKAGE}.taxi:TaxiEnv"
    sources = (entry, _SAMPLE)
    actions = 6
    first = 1.0
    is_taxi = True
    attributes = (
        _TABULAR
        | {"desc", "locs", "locs_colors", "max_row", "max_col"}
        | {"rainy_probability", "_rainy_lateral_probability"}
        | {"fickle_probability", "fickle_passenger", "fickle_step"}
        | {"window", "clock", "cell_size", "taxi_imgs", "taxi_full_imgs"}
        | {"taxi_orientation", "passenger_img", "destination_img", "house_img"}
        | {"background_img", "median_horiz", "median_vert"}
    )

    def rest(self, core: Any) -> tuple[Any, ...]:  # noqa: ANN401
        """Return the map, the places, and how fickle passengers are."""
        return (
            core.desc.tobytes(),
            list(core.locs),
            core.fickle_passenger,
            core.fickle_probability,
        )

    def table(self, core: Any) -> Table:  # noqa: ANN401
        """Return the table, and keep the action masks."""
        made = super().table(core)
        self._masks = [core.action_mask(s) for s in range(len(self._held.initial))]
        self._mask_table = np.array(self._masks, np.bool_)
        return made

    @property
    def masks(self) -> Array | None:
        """The action mask of each state."""
        return self._mask_table

    def read(self, core: Any) -> list[float]:  # noqa: ANN401
        """Return the numbers of the body."""
        numbers = super().read(core)
        numbers[3] = flag(core, "fickle_step")
        return numbers

    def write(self, core: Any, numbers: Sequence[float]) -> None:  # noqa: ANN401
        """Write the state."""
        super().write(core, numbers)
        core.fickle_step = bool(numbers[3])
        if numbers[4]:
            core.taxi_orientation = 0

    def info(self, transition: int, state: int) -> Info:
        """Return the info of a step, with the action mask."""
        return {
            "prob": self._held.probabilities[transition],
            "action_mask": self._masks[state].copy(),
        }

    def first_info(self, state: int) -> Info:
        """Return the info of a reset, with the action mask."""
        return {"prob": self.first, "action_mask": self._masks[state].copy()}


TOY_TEXT: Final[tuple[type[Kind], ...]] = (Blackjack, FrozenLake, CliffWalking, Taxi)
