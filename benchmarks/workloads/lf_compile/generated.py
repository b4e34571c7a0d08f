# SPDX-License-Identifier: Apache-2.0
"""Programs of any length: chains of stages, each stage a class of its own.

They have some of everything that takes time to compile: parameters, state, methods,
modes, multiports, banks, deadlines, comments, and bodies that are parsed as Python.
"""

from __future__ import annotations

HEAD = """\
target Python {
  fast: true
}

preamble {=
  import math
=}
"""

STAGE = """
// Stage {n} of the chain.
reactor Stage{n}(gain = {n}, delay = 10 ms, width = 2) {{
  input x
  input[width] more
  output y
  output[width] less
  logical action later(delay)
  timer tick(0, 1 s)
  state seen = 0
  state recent = [1, 2, 3]

  method scaled(value) {{=
    return self.gain * value
  =}}

  reaction(x, more) -> y, later {{=
    self.seen += 1
    total = self.scaled(x.value) + math.floor(0.5)
    for port in more:
      if port.is_present:
        total += port.value
    y.set(total)
    later.schedule(0, total)
  =}} deadline(50 ms) {{=
    print("late", lf.time.logical_elapsed())
  =}}

  reaction(later) -> less {{=
    for channel, port in enumerate(less):
      port.set(later.value + channel)
  =}}

  reaction(tick) x {{=
    # Only now and then.
    if x.is_present and self.seen > 3:
      self.recent = self.recent[1:] + [self.seen]
  =}}

  initial mode Busy {{
    reaction(tick) -> reset(Idle) {{=
      Idle.set()
    =}}
  }}

  mode Idle {{
    reaction(tick) -> history(Busy) {{=
      Busy.set()
    =}}
  }}
}}
"""

INSTANCES = """\
  s{n} = new Stage{n}(gain = {n}, delay = 5 ms)
  b{n} = new[2] Stage{n}(width = 1)
"""
CONNECTIONS = """\
  s{n}.y -> s{next}.x
  (s{n}.less)+ -> b{n}.x, s{next}.more after 1 ms
"""


def program(lines: int) -> str:
    """Return a program of about this many lines, at most one stage more."""
    fixed = HEAD.count("\n") + 4
    each = sum(part.count("\n") for part in (STAGE, INSTANCES, CONNECTIONS))
    count = max(2, -(-(lines - fixed) // each))
    stages = range(1, count + 1)
    parts = [HEAD, *(STAGE.format(n=n) for n in stages), "\nmain reactor {\n"]
    parts += [INSTANCES.format(n=n) for n in stages]
    parts += [CONNECTIONS.format(n=n, next=n + 1) for n in stages[:-1]]
    return "".join([*parts, "}\n"])
