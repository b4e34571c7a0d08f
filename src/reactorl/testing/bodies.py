# SPDX-License-Identifier: Apache-2.0
"""Bodies of generated reactions: all effects depend on all values read.

A body hashes everything it may read into one number, which decides what to set,
schedule and switch. If a reaction reads different values in two runs, everything
downstream differs as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reactorl.testing.plans import ClassPlan, ReactionPlan

_MASK: Final = 2**64 - 1
_DELAYS: Final = (0, 0, 1, 2, 3, 5)


class Stir:
    """A running hash of everything read so far."""

    def __init__(self, salt: int) -> None:
        self._state = (salt * 2 + 1) & _MASK

    def add(self, value: object) -> None:
        """Add a value: None, a number, or a list of such."""
        if isinstance(value, list):
            for item in value:
                self.add(item)
            value = len(value)
        number = 977 if value is None else int(value)  # type: ignore[call-overload]
        self._state = (self._state ^ (number & _MASK)) * 6364136223846793005 & _MASK
        self._state ^= self._state >> 29

    def pick(self, count: int) -> int:
        """Return a number below ``count``."""
        self.add(count)
        return (self._state >> 33) % count


def body(plan: ReactionPlan, owner: ClassPlan) -> Callable[[Any], None]:
    """Return the body of a reaction of class ``owner``."""

    def react(self: Any) -> None:  # noqa: ANN401 - a reactor of a class made at run time
        _react(self, plan, owner, Stir(plan.salt))

    return react


def handler(plan: ReactionPlan, owner: ClassPlan) -> Callable[[Any], None]:
    """Return its deadline handler, which does something else."""

    def react_late(self: Any) -> None:  # noqa: ANN401 - see above
        _react(self, plan, owner, Stir(~plan.salt))

    return react_late


def views(reactor: Any, name: str) -> Iterator[Any]:  # noqa: ANN401 - see above
    """Yield all channels of a port that is named as in a signature."""
    holders = [reactor]
    child, dot, port = name.rpartition(".")
    if dot:
        member, _, index = child.partition("[")
        inside = getattr(reactor, member)
        if index:
            holders = [inside[int(index[:-1])]]
        else:
            holders = list(inside) if hasattr(inside, "__len__") else [inside]
    for holder in holders:
        view = getattr(holder, port)
        yield from view if hasattr(view, "__len__") else (view,)


def _react(self: Any, plan: ReactionPlan, owner: ClassPlan, stir: Stir) -> None:  # noqa: ANN401
    runs = _read(self, plan, owner, stir)
    if plan.updates_deadline and runs == 2:
        self.update_deadline(0)
    if runs > plan.budget:
        return
    for name in plan.effect_ports:
        for view in views(self, name):
            _set(view, stir, lists=_sends_lists(owner, name))
    for name in plan.effect_actions:
        for _ in range(stir.pick(3)):
            delay = _DELAYS[stir.pick(len(_DELAYS))]
            value = None if stir.pick(8) == 0 else stir.pick(1000)
            getattr(self, name).schedule(delay, value)
    if plan.effect_modes and stir.pick(2) == 0:
        name, _ = plan.effect_modes[stir.pick(len(plan.effect_modes))]
        getattr(self, name).set()
    if plan.may_stop and stir.pick(8) == 0:
        self.request_stop()


def _read(self: Any, plan: ReactionPlan, owner: ClassPlan, stir: Stir) -> int:  # noqa: ANN401
    """Add everything readable; return how often this reaction has run."""
    stir.add(self.elapsed)
    stir.add(self.tag.microstep)
    stir.add(self.bank_index)
    for name in owner.all_params():
        stir.add(getattr(self, name))
    for name in (*plan.trigger_ports, *plan.source_ports, *plan.effect_ports):
        for view in views(self, name):
            stir.add(view.is_present)
            stir.add(view.value)
    for name in plan.trigger_actions:
        stir.add(getattr(self, name).is_present)
        stir.add(getattr(self, name).value)
    if plan.uses_random:
        stir.add(self.random.randrange(1000))
    for name in plan.trigger_ports:
        if name in _mutable(owner):
            for view in views(self, name):
                if isinstance(view.value, list):
                    view.value.append(plan.salt)  # a private copy
                    stir.add(view.value)

    names = [f"memory_{owner.name}"]
    if plan.mode is not None:
        names.append(f"memory_{owner.name}_{plan.mode}")
    for name in names:
        stir.add(getattr(self, name))
        setattr(self, name, stir.pick(1000))
    runs: dict[str, int] = getattr(self, f"runs_{owner.name}")
    runs[plan.name] = runs.get(plan.name, 0) + 1
    return runs[plan.name]


def _set(view: Any, stir: Stir, *, lists: bool) -> None:  # noqa: ANN401
    """Perhaps set a channel, perhaps twice, perhaps to None."""
    for _ in range((0, 1, 1, 2)[stir.pick(4)]):
        if stir.pick(8) == 0:
            view.set(None)
        elif lists:
            view.set([stir.pick(1000), stir.pick(1000)])
        else:
            view.set(stir.pick(1000))
    stir.add(view.is_present)
    stir.add(view.value)


def _mutable(owner: ClassPlan) -> frozenset[str]:
    return frozenset(port.name for port in owner.all_ports() if port.mutable)


def _sends_lists(owner: ClassPlan, name: str) -> bool:
    """Whether the port ``name`` of a signature carries lists."""
    child, dot, port = name.rpartition(".")
    plans = owner.all_ports()
    if dot:
        children = {plan.name: plan.cls for plan in owner.children}
        plans = children[child.partition("[")[0]].all_ports()
    return any(plan.name == port and plan.sends_lists for plan in plans)
