# SPDX-License-Identifier: Apache-2.0
"""Mutants of ``_program``: from declarations to a program."""

from __future__ import annotations

from typing import Final

from mutants.mutant import Mutant

_PROGRAM: Final = "src/reactorl/_program/"
_WIRING: Final = ("tests/program/test_wiring.py",)
_ELABORATION: Final = ("tests/program/test_elaboration.py",)
_PRECEDENCE: Final = ("tests/program/test_precedence.py",)

PROGRAM: Final = (
    Mutant(
        "program-mode-and-outside-of-modes-are-exclusive",
        _PROGRAM + "levels.py",
        "return outside not in (one.scope, other.scope)",
        "return outside is not None",
        ("tests/program/test_precedence.py",),
        "A causality loop is accepted.",
    ),
    Mutant(
        "program-reaction-outside-of-modes-shares-a-target",
        _PROGRAM + "wiring.py",
        "if outside in (reaction.scope, scope) or reaction.scope == scope:",
        "if outside == scope or reaction.scope == scope:",
        ("tests/program/test_wiring.py",),
        "A port has two drivers at the same tag.",
    ),
    Mutant(
        "program-connection-with-one-end-in-its-mode-is-not-forwarded",
        _PROGRAM + "wiring.py",
        "return not (all(map(inside, wire.sources)) or all(map(inside, wire.targets)))",
        "return not (any(map(inside, wire.sources)) or any(map(inside, wire.targets)))",
        ("tests/program/test_wiring.py",),
        "Values arrive after the mode of their connection was left.",
    ),
    Mutant(
        "program-deadlines-are-not-inherited",
        _PROGRAM + "levels.py",
        "inferred[reaction] = min(inferred[reaction], inferred[other])",
        "inferred[reaction] = min(inferred[reaction], FOREVER)",
        ("tests/program/test_precedence.py",),
        "Reactions upstream of a deadline run late.",
    ),
    Mutant(
        "program-interleaved-is-member-major",
        _PROGRAM + "wiring.py",
        """\
                for channel in range(widest)
                for node in nodes
                if channel""",
        """\
                for node in nodes
                for channel in range(widest)
                if channel""",
        ("tests/program/test_wiring.py",),
        "Values arrive at the wrong channels.",
    ),
    Mutant(
        "program-last-repetition-of-a-broadcast-is-missing",
        _PROGRAM + "wiring.py",
        "times = -(-len(right) // len(left))",
        "times = len(right) // len(left)",
        _WIRING,
        "Targets of a broadcast stay unconnected.",
    ),
    Mutant(
        "program-sources-give-no-order",
        _PROGRAM + "levels.py",
        "for listed in (reaction.trigger_ports, reaction.source_ports)",
        "for listed in (reaction.trigger_ports,)",
        _PRECEDENCE,
        "A reaction reads a port before it is set.",
    ),
    Mutant(
        "program-second-reaction-has-no-order",
        _PROGRAM + "levels.py",
        "if reaction.index > 0:",
        "if reaction.index > 1:",
        _PRECEDENCE,
        "Reactions of a reactor run concurrently.",
    ),
    Mutant(
        "program-rank-forgets-the-level",
        _PROGRAM + "levels.py",
        "keys = list(zip(inferred, level, strict=True))",
        "keys = [(deadline, 0) for deadline in inferred]",
        _PRECEDENCE,
        "Reactions with one deadline run in a wrong order.",
    ),
    Mutant(
        "program-only-the-first-loop-is-reported",
        _PROGRAM + "levels.py",
        "stuck = _still_stuck(upstream, downstream, stuck.difference(cycle))",
        "stuck = set()",
        ("tests/program/test_error_collector.py",),
        "Causality loops are shown one per attempt.",
    ),
    Mutant(
        "program-targets-of-a-delay-have-stages-of-their-own",
        _PROGRAM + "wiring.py",
        "stage = stages.setdefault(key, builder.stages)",
        "stage = builder.stages",
        _WIRING,
        "A broadcast after a delay copies the value for each target.",
    ),
    Mutant(
        "program-shared-targets-may-have-delays",
        _PROGRAM + "wiring.py",
        """\
            if target in shared:
                rules.check_simple(wire, self._name(target))
""",
        "",
        _WIRING,
        "A delay of a connection in a mode is ignored.",
    ),
    Mutant(
        "program-state-is-reset-outside-of-modes",
        _PROGRAM + "elaborate.py",
        """\
            if scope == NO_SCOPE:
                continue  # outside of modes there is no reset
""",
        "",
        _ELABORATION,
        "A reaction that never runs is in every program.",
    ),
    Mutant(
        "program-physical-connections-are-not-delayed",
        _PROGRAM + "routes.py",
        "if connection.delay is None and not connection.physical:\n            root",
        "if connection.delay is None:\n            root",
        (
            "tests/program/test_precedence.py",
            "tests/runtime/test_physical.py",
        ),
        "A physical connection delivers at the tag of its source.",
    ),
    Mutant(
        "program-inferred-widths-are-rounded",
        _PROGRAM + "wiring.py",
        "if rest or width < 0:",
        "if width < 0:",
        _WIRING,
        "Channels of a source are left out without a warning.",
    ),
    Mutant(
        "program-inferred-width-ignores-the-other-targets",
        _PROGRAM + "wiring.py",
        "width = left if wire.broadcast else left - known",
        "width = left",
        _WIRING,
        "A multiport has channels that nothing drives.",
    ),
    Mutant(
        "program-channel-after-the-last-is-accepted",
        _PROGRAM + "wiring.py",
        "if ref.channel >= len(node.channels):",
        "if ref.channel > len(node.channels):",
        _WIRING,
        "A connection goes to a channel of another port.",
    ),
    Mutant(
        "program-minus-one-nanosecond-is-a-time",
        _PROGRAM + "rules.py",
        "    if time < 0:",
        "    if time < -1:",
        _ELABORATION,
        "A negative delay is accepted.",
    ),
    Mutant(
        "program-connections-in-and-outside-of-modes-are-exclusive",
        _PROGRAM + "wiring.py",
        "return one is not None and other is not None and one is not other",
        "return one is not other",
        _WIRING,
        "A port has two drivers at the same tag.",
    ),
    Mutant(
        "program-forwarding-reactions-have-one-index",
        _PROGRAM + "wiring.py",
        "index = last.index + 1 if last is not None and last.reactor == node.id else 0",
        "index = 0 if last is None else 0",
        _WIRING,
        "Forwarding reactions have the same name and no order.",
    ),
    Mutant(
        "program-modes-of-other-reactors-are-entered",
        _PROGRAM + "elaborate.py",
        "[(frame.mode_base + p, e) for p, e in signature.effect_modes]",
        "[(p, e) for p, e in signature.effect_modes]",
        _ELABORATION,
        "The second modal reactor switches the modes of the first.",
    ),
    Mutant(
        "program-watchdogs-schedule-actions-of-other-reactors",
        _PROGRAM + "elaborate.py",
        "tuple(first_action + index for index in effects),",
        "tuple(index for index in effects),",
        _ELABORATION,
        "The handler of a watchdog schedules another reactor's action.",
    ),
    Mutant(
        "program-reactors-in-modes-are-always-active",
        _PROGRAM + "elaborate.py",
        "self._place(inst, node.id, node.path, frame.scope_of(inst.mode))",
        "self._place(inst, node.id, node.path, node.scope)",
        _ELABORATION,
        "A reactor inside a mode runs while the mode is inactive.",
    ),
)
