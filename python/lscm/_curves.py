"""Effects as curves: what a cause adds to another node, by the value of the cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._nodes import Floats, Node
from ._problems import wrong

if TYPE_CHECKING:
    from ._run import Run

_PLACES = 41  # as in exports and reports


@dataclass(frozen=True)
class Curve:
    """What the parent adds to the child at each of its values `at`: mean and 90% band (5% to 95%).

    Over the draws that have the edge; 0 is the average over the rows. Of what several parents do
    together it is the average over the others. NaN where no draw has the edge.
    """

    parent: Any
    child: Any
    probability: float  # of the edge
    bends: float  # share of the draws with the edge in which the child's mechanism bends
    at: Floats
    lower: Floats
    mean: Floats
    upper: Floats
    seen: tuple[float, float]  # of the parent in the rows; beyond, curves go on straight


def curve_of(run: Run, parent: Node, child: Node, at: npt.ArrayLike | None) -> Curve:
    nodes = run._nodes()
    j, i = nodes.find(parent, "parent"), nodes.find(child, "child")
    if i == j:
        raise wrong(f"child: is {child!r}, the parent itself; an effect is on another node")
    places = np.empty(_PLACES)
    if at is None:
        run._core.places(j, places)
    else:
        places = np.array(at, np.float64, ndmin=1)
    if places.ndim != 1:
        raise wrong(f"at: has the shape {places.shape}; give values of the parent in a row")
    lower, mean, upper = np.empty((3, places.size))
    seen = run._core.curve(j, i, places, lower, mean, upper)
    p, bends = float(run.edge_probabilities[j, i]), run._core.bends(j, i)
    return Curve(nodes.labels[j], nodes.labels[i], p, bends, places, lower, mean, upper, seen)


def curves_of(run: Run) -> list[Curve]:
    """Of the edges over 1/2, both ways where nothing tells which; none where nothing bends."""
    if not run._core.any_bends or run.rows == 0:
        return []
    p = run.edge_probabilities
    shown = p + np.where(run.undirected, p.T, 0)
    pairs = np.argwhere(shown > 0.5)
    likeliest = np.argsort(-p[tuple(pairs.T)], kind="stable")
    return [curve_of(run, int(j), int(i), None) for j, i in pairs[likeliest]]
