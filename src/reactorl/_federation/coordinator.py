# SPDX-License-Identifier: Apache-2.0
"""The coordinator: what promises on links cannot settle, from reports alone.

Promises travel on links and are made by who has done something. The coordinator is off
the data path and resolves the rest: jumps over idle time, the end of the program, and
physical inputs. It decides by the latest reports of all; an old report makes its answer
later, never wrong.

Safety. Let X(u) be the earliest tag at which u can act: what it reported, or what can
reach it from others, whichever is less; before all tags if a value is on its way to it.
After its report u first acts at X(u) or later, so what it sends from then on comes at
X(u) plus the delay of a link or later; what it sent before has been taken in, or its
receiver is unsure and gets no promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from reactorl._federation.messages import (
    BEFORE_ALL,
    NEVER_ENDS,
    Kind,
    Message,
    Report,
)
from reactorl.tag import FOREVER, MAX_MICROSTEP, Tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reactorl._program.cut import Cut, Link

Orders: TypeAlias = "list[tuple[int, Message]]"
"""Messages with the federates they go to."""


def unsure(cut: Cut, reports: Sequence[Report]) -> frozenset[int]:
    """Return the federates to which values may be on their way.

    One that is done with the final tag never acts again; what is sent to it is for tags
    after the end, by federates that had not reached the stop when they sent it.
    """
    return frozenset(
        link.target
        for link in cut.links  # values travel on links only
        if reports[link.source].sent[link.target]
        > reports[link.target].received[link.source]
        and not reports[link.target].is_over
    )


def earliest(cut: Cut, reports: Sequence[Report]) -> list[Tag]:
    """Return for each federate the earliest tag at which it can act."""
    away = unsure(cut, reports)
    act = [
        BEFORE_ALL if federate in away else report.bound
        for federate, report in enumerate(reports)
    ]
    changed = True
    while changed:
        changed = False
        for link in cut.links:
            reached = act[link.source]
            if not link.direct:
                if link.lookahead is None:
                    continue
                reached = delayed(reached, link.lookahead)
            over = reports[link.target].is_over
            if reached < act[link.target] and not over:
                act[link.target] = reached
                changed = True
    return act


def links_into(cut: Cut) -> list[list[Link]]:
    """Return for each federate the links by which others reach it."""
    found: list[list[Link]] = [[] for _ in cut.names]
    for link in cut.links:
        found[link.target].append(link)
    return found


def floors(incoming: Sequence[Link], act: Sequence[Tag]) -> tuple[Tag, Tag]:
    """Return the tags before which nothing can come at its tag, and nothing late.

    Args:
        incoming: The links into a federate.
        act: The earliest tag at which each federate can act.
    """
    direct = late = NEVER_ENDS
    for link in incoming:
        if link.direct:
            direct = min(direct, act[link.source])
        if link.lookahead is not None:
            late = min(late, delayed(act[link.source], link.lookahead))
    return direct, late


def delayed(tag: Tag, by: int) -> Tag:
    """Return when something arrives that is sent at a tag with a delay."""
    if tag in (BEFORE_ALL, NEVER_ENDS):
        return tag
    if by == 0:
        return Tag(tag.time, tag.microstep + 1)
    time = tag.time + by
    return NEVER_ENDS if time >= FOREVER else Tag(time, 0)


class Coordinator:
    """The coordinator's state: the latest reports, and what was said already.

    Its methods return the messages that follow; sending them is the caller's business.
    One thread at a time.

    Args:
        cut: How the program is cut.
        keepalive: Whether the program continues when no event is left.
        window: How much logical time, in nanoseconds, the first may be ahead of the
            last; None: any. It bounds the memory that waiting values take.
    """

    def __init__(
        self, cut: Cut, *, keepalive: bool = False, window: int | None = None
    ) -> None:
        self._cut = cut
        self._keepalive = keepalive
        self._window = window
        self._count = len(cut.names)
        self._reports: dict[int, Report] = {}
        self._floors: dict[int, tuple[Tag, Tag]] = {}
        self._horizons: dict[int, Tag] = {}
        self._attends: set[tuple[int, Tag]] = set()
        self._failure: Message | None = None
        self.failed: int | None = None
        """The federate that has the first failure in the order of the program."""
        self._halting = False
        self._above = _ancestors(cut)
        # Others are never asked: without physical inputs they act at `next` at once.
        self._physical_above = [
            sorted(other for other in above if cut.physical[other])
            for above in self._above
        ]
        self._into = links_into(cut)
        self.end: Tag | None = None
        """The final tag, when it is known."""

    @property
    def failure(self) -> Message | None:
        """The first failure in the order of the program, so far."""
        return self._failure

    @property
    def reports(self) -> Mapping[int, Report]:
        """The latest report of each federate."""
        return self._reports

    def begin(self, start: Tag) -> Orders:
        """Return what is to be said before the first tag."""
        if self._window is None:
            return []
        horizon = Tag(start.time + self._window, MAX_MICROSTEP)
        self._horizons = dict.fromkeys(range(self._count), horizon)
        return self._to_all(Message(Kind.HORIZON, tag=horizon))

    def advance(self, tag: Tag, driver: int) -> Orders:
        """Let federates begin tags up to this one: the driver of the program has asked.

        Args:
            tag: The last tag that may begin.
            driver: The federate that knows by itself, because it asked.
        """
        self._horizons = dict.fromkeys(range(self._count), tag)
        return self._to_all(Message(Kind.HORIZON, tag=tag), but=driver)

    def on_report(self, federate: int, report: Report) -> Orders:
        """Take the report of a federate that waits."""
        self._reports[federate] = report
        return self._coordinate()

    def on_message(self, federate: int, message: Message) -> Orders:
        """Take what a federate tells the coordinator."""
        if message.kind is Kind.ENDING:
            return self._end_at(message.tag)
        if message.kind is Kind.FAILURE:
            known = self._failure
            if known is None or _place(message) < _place(known):
                self._failure = message
                self.failed = federate
                return self._to_all(message, but=federate)
            if _place(message) == _place(known) and self.failed is not None:
                self.failed = min(self.failed, federate)  # copies of a replica
            return []
        msg = f"a federate must not send {message.kind.name} to the coordinator"
        raise ValueError(msg)

    def request_stop(self) -> Orders:
        """End the program at a tag that no federate has passed.

        All stop beginning tags and report; then those behind run to where the first one
        is, and the next microstep is the final tag.
        """
        if self._halting or self.end is not None:
            return []
        self._halting = True
        return self._to_all(Message(Kind.HORIZON, tag=BEFORE_ALL))

    def forget(self, federate: int) -> Orders:
        """Note that a federate begins again: what it said is of another life."""
        self._reports.pop(federate, None)
        self._floors.pop(federate, None)
        self._attends = {each for each in self._attends if each[0] != federate}
        orders: Orders = []
        horizon = self._horizons.get(federate)
        if self._halting and self.end is None:
            horizon = BEFORE_ALL
        if horizon is not None:
            orders.append((federate, Message(Kind.HORIZON, tag=horizon)))
        if self.end is not None:
            orders.append((federate, Message(Kind.END, at=self.end)))
        # The one that has failed gets there by itself, and says why.
        if self._failure is not None and federate != self.failed:
            orders.append((federate, self._failure))
        return orders

    # -- what follows from the reports ----------------------------------------------

    def _coordinate(self) -> Orders:
        if len(self._reports) < self._count:
            return []
        reports = [self._reports[federate] for federate in range(self._count)]
        away = unsure(self._cut, reports)
        if self._halting and self.end is None:
            return self._halt(reports)
        if self.end is None and not away and self._starved(reports):
            last = max(report.done for report in reports)
            return self._end_at(Tag(last.time, last.microstep + 1), all_done=True)
        act = earliest(self._cut, reports)
        orders = self._raise_horizon(reports, act)
        for federate, report in enumerate(reports):
            alone = not self._above[federate]
            if federate in away or alone or report.next == NEVER_ENDS:
                continue
            if not report.inside:
                floor = floors(self._into[federate], act)
                begins = floor[0] >= report.next and floor[1] > report.next
                if begins and floor != self._floors.get(federate):
                    self._floors[federate] = floor
                    message = Message(Kind.FLOOR, tag=floor[0], at=floor[1])
                    orders.append((federate, message))
                    continue
            orders += self._ask_physical(reports, federate)
        return orders

    def _starved(self, reports: Sequence[Report]) -> bool:
        if self._keepalive:
            return False
        return all(each.next == NEVER_ENDS and not each.inside for each in reports)

    def _end_at(self, tag: Tag, *, all_done: bool = False) -> Orders:
        if self.end is not None:
            return []
        self.end = tag
        orders: Orders = []
        if all_done:
            floor = Message(Kind.FLOOR, tag=tag, at=NEVER_ENDS)
            orders += self._to_all(floor)
        return orders + self._to_all(Message(Kind.END, at=tag))

    def _halt(self, reports: Sequence[Report]) -> Orders:
        """End after the last tag that was begun, once no other one is begun."""
        if self._failure is not None:  # that ends all
            return []
        if any(report.horizon != BEFORE_ALL for report in reports):
            return []
        begun = max(r.next if r.inside else r.done for r in reports)
        orders = self._end_at(Tag(begun.time, begun.microstep + 1))
        self._horizons = {}
        return orders + self._to_all(Message(Kind.HORIZON, tag=NEVER_ENDS))

    def _raise_horizon(self, reports: Sequence[Report], act: Sequence[Tag]) -> Orders:
        """Release those who waited for others to catch up, and no longer have to.

        Who is behind never waits for who is ahead, so every window is free of deadlock.
        """
        orders: Orders = []
        least = min(act)
        if self._window is None or least in (BEFORE_ALL, NEVER_ENDS):
            return orders
        horizon = Tag(min(least.time + self._window, FOREVER - 1), MAX_MICROSTEP)
        for federate, report in enumerate(reports):
            before = self._horizons.get(federate, NEVER_ENDS)
            if before < report.next <= horizon:
                self._horizons[federate] = horizon
                orders.append((federate, Message(Kind.HORIZON, tag=horizon)))
        return orders

    def _ask_physical(self, reports: Sequence[Report], federate: int) -> Orders:
        """Let those with physical inputs take part in a tag that a federate waits for.

        When its clock has passed the tag, nothing physical can come before.
        """
        orders: Orders = []
        wanted = reports[federate].next
        for other in self._physical_above[federate]:
            report = reports[other]
            asked = (other, wanted) in self._attends
            if report.bound <= wanted < report.next and not asked:
                self._attends.add((other, wanted))
                orders.append((other, Message(Kind.ATTEND, tag=wanted)))
        return orders

    def _to_all(self, message: Message, but: int = -1) -> Orders:
        return [(each, message) for each in range(self._count) if each != but]


def _place(failure: Message) -> tuple[Tag, int]:
    return failure.tag, failure.key


def _ancestors(cut: Cut) -> list[set[int]]:
    """Return for each federate those whose acts can reach it."""
    above: list[set[int]] = [set() for _ in cut.names]
    changed = True
    while changed:
        changed = False
        for link in cut.links:
            more = {link.source} | above[link.source]
            if not more <= above[link.target]:
                above[link.target] |= more
                changed = True
    return above
