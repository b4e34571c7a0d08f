# SPDX-License-Identifier: Apache-2.0
"""Diagrams of programs that notebooks display and that can be saved."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reactorl._program.cut import cut_program
from reactorl._program.elaborate import analyze, first_error
from reactorl._program.placement import Federation
from reactorl._program.program import Program
from reactorl._util.files import write_atomic
from reactorl.diagram.compose import scene
from reactorl.diagram.dot import dot
from reactorl.diagram.federates import with_federates
from reactorl.diagram.fold import fold
from reactorl.diagram.graphviz import DrawingError, is_installed, rendered
from reactorl.diagram.html import html_page
from reactorl.diagram.mermaid import mermaid

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from reactorl._decl.reactor import Reactor
    from reactorl.diagram.fold import Fold
    from reactorl.diagram.html import Mark
    from reactorl.diagram.scene import Scene

SUFFIXES: Final = (".html", ".svg", ".png", ".mmd", ".dot", ".json")
"""Suffixes of files in which a diagram can be saved."""

MOST_STILL: Final = 200
"""Most reactors in the static diagram beside the page in a notebook, for speed."""


@dataclass(frozen=True)
class Graph:
    """A diagram of a program. ``str()`` of it is Mermaid text; notebooks draw it.

    Attributes:
        scene: What is in it.
        depth: How many levels of reactors are open; None: all, or on a page as many
            as are readable.
        expand_banks: Whether all members of banks are drawn.
        title: The heading.
    """

    scene: Scene
    depth: int | None = None
    expand_banks: bool = False
    title: str = ""

    @property
    def _view(self) -> Fold:
        return fold(self.scene, depth=self.depth, expand_banks=self.expand_banks)

    def __str__(self) -> str:
        return self.mermaid()

    def mermaid(self) -> str:
        """Return it as a Mermaid flowchart."""
        return mermaid(self._view)

    def dot(self) -> str:
        """Return it in the language of Graphviz."""
        return dot(self._view)

    def svg(self) -> str:
        """Return it as an SVG document.

        Raises:
            DrawingError: Graphviz is not installed, or fails.
        """
        return rendered(self.dot(), "svg").decode()

    def html(self, *, overlay: Mapping[str, Mark] | None = None) -> str:
        """Return it as a page in one piece; see ``html_page``."""
        return html_page(
            self.scene,
            title=self.title or self.scene.title,
            overlay=overlay,
            depth=self.depth,
            expand_banks=self.expand_banks,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file of the kind that the suffix says, replaced as a whole.

        Raises:
            DrawingError: There is no such kind, or Graphviz is needed and missing.
            OSError: The file cannot be written.
        """
        path = Path(path)
        write_atomic(path, self.encoded(path.suffix))

    def encoded(self, suffix: str) -> bytes:
        """Return what a file with this suffix has in it.

        Raises:
            DrawingError: As for ``save``.
        """
        match suffix.lower():
            case ".html":
                return self.html().encode()
            case ".svg":
                return rendered(self.dot(), "svg")
            case ".png":
                return rendered(self.dot(), "png")
            case ".mmd":
                return self.mermaid().encode()
            case ".dot":
                return self.dot().encode()
            case ".json":
                return f"{self.scene.to_json()}\n".encode()
        msg = f"suffix of a diagram must be one of its formats, got '{suffix}'"
        raise DrawingError(
            msg,
            f"Choose {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.",
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:  # noqa: ANN401
        """Return what notebooks show: a page in a frame, or else a still picture."""
        frame = (
            f'<iframe srcdoc="{escape(self.html())}" style="width: 100%; '
            'height: 480px; border: 1px solid #b6bdc9; border-radius: 6px"></iframe>'
        )
        bundle = {"text/html": frame, "text/plain": str(self)}
        if is_installed() and len(self._view.boxes) <= MOST_STILL:
            with suppress(DrawingError):  # the page is there all the same
                bundle["image/svg+xml"] = self.svg()
        return bundle


def graph(
    target: type[Reactor] | Reactor | Program,
    *,
    depth: int | None = None,
    expand_banks: bool = False,
    title: str = "",
    federation: Federation | int | None = None,
) -> Graph:
    """Return a diagram of a program.

    A program with causality loops can be drawn as well: they are red. With a
    federation each federate has a colour, and lines between federates are thick.

    Args:
        target: The main reactor, as for ``run``, or a program.
        depth: How many levels of reactors are open; None: all, or on a page as many
            as are readable.
        expand_banks: Whether all members of banks are drawn.
        title: The heading; the class's name if not given.
        federation: Which reactors run in which federate, or the number of federates;
            None: the diagram shows no federates.

    Raises:
        DeclarationError: ``target`` lacks parameters, or ``build()`` is wrong.
        ProgramError: There are errors other than loops; with a federation also if
            there are loops, or if the program cannot be cut there.
        ValueError: ``depth`` is less than 1.

    Example:
        >>> reactorl.graph(Main(width=4)).save("main.html")
    """
    if depth is not None and depth < 1:
        msg = f"depth must be at least 1 (the main reactor), got {depth}"
        raise ValueError(msg)
    if isinstance(target, Program):
        program = target
        drawn = scene(program)
    else:
        found = analyze(target)
        if found.program is None or (federation is not None and found.errors):
            raise first_error(found.errors)
        program = found.program
        drawn = scene(program, problems=found.errors)
    if federation is not None:
        if isinstance(federation, int):
            federation = Federation(federation)
        drawn = with_federates(drawn, program, cut_program(program, federation))
    return Graph(drawn, depth, expand_banks, title)


def svg(scene: Scene, *, depth: int | None = None, expand_banks: bool = False) -> str:
    """Return a scene as an SVG document, laid out by Graphviz.

    Raises:
        DrawingError: Graphviz is not installed, or fails.
    """
    return Graph(scene, depth, expand_banks).svg()
