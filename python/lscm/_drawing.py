"""Graphs drawn by Graphviz's program `dot`, as `lscm export` does."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable

from ._core import ExistsProblem, FileProblem, ToolProblem

_DRAWN = (".svg", ".pdf", ".png")


def drawn_graph(save: Callable[..., None], path: str, force: bool) -> bool:
    """Draws the graph that `save` writes as .dot; False where `path` has another ending."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in _DRAWN:
        return False
    if not force and os.path.lexists(path):
        raise ExistsProblem(f"{path} exists already; force=True replaces it")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path) or ".") as folder:
        text, drawing = os.path.join(folder, "graph.dot"), os.path.join(folder, "graph" + ending)
        save(text, force=True)
        try:
            done = subprocess.run(
                ["dot", f"-T{ending[1:]}", "-o", drawing, text], capture_output=True, check=False
            )
        except OSError:
            raise ToolProblem(
                "drawing needs Graphviz, which is not installed; install it (Debian: graphviz) or "
                "write a .dot file"
            ) from None
        if done.returncode != 0:
            raise FileProblem(f"{path}: Graphviz could not draw the graph")
        os.replace(drawing, path)
    return True
