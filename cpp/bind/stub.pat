# What stubgen cannot see: types written against the plain C API.

reactorl._core.Port.value:
    @property
    def value(self) -> object:
        \doc

reactorl._core.Port.is_present:
    @property
    def is_present(self) -> bool:
        \doc

reactorl._core.Port.set:
    def set(self, value: object, /) -> None:
        \doc

reactorl._core.Action.value:
    @property
    def value(self) -> object:
        \doc

reactorl._core.Action.is_present:
    @property
    def is_present(self) -> bool:
        \doc

reactorl._core.Action.schedule:
    \from datetime import timedelta
    def schedule(self, delay: int | timedelta = 0, value: object = None) -> None:
        \doc

reactorl._core.Session.federate:
    \from collections.abc import Callable
    def federate(
        self,
        plan: GatePlan,
        say: Callable[[list[tuple[int, bool, int, int, int, int, int, int, int, object, tuple[int, int, int, int] | None]]], object],
        wait: Callable[[tuple[int, int, int, int, int, int, int, int, bool, int, tuple[int, ...], tuple[int, ...]]], object],
    ) -> None:
        \doc

reactorl._core.ModeSwitch.set:
    def set(self) -> None:
        \doc
