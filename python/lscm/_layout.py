"""Where a graph is drawn: layers from causes to effects, and edges that pass the nodes between
them (Sugiyama's method: a stop in each layer on the way, and barycentres against crossings)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._nodes import Floats

_SWEEPS = 24
_STOP = 0.45  # how wide a stop is, in nodes


class Layout(NamedTuple):
    """Nodes (d, 2), a unit apart or more, causes on top; the points of each edge, its ends
    included."""

    nodes: Floats
    edges: dict[tuple[int, int], Floats]


def layers(edges: npt.NDArray[np.bool_]) -> list[int]:
    """The layer of each node: one below the lowest of its causes. Edges (d, d), row = parent.

    Where edges that are likely one by one make a circle, who is left starts anew.

    >>> layers(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], bool))
    [0, 1, 2]
    """
    d = len(edges)
    found: dict[int, int] = {}
    while len(found) < d:
        ready = [
            i for i in range(d)
            if i not in found and all(j in found for j in np.flatnonzero(edges[:, i]))
        ]  # fmt: skip
        if not ready:
            ready = [min(set(range(d)) - set(found))]
        for i in ready:
            above = [found[j] for j in np.flatnonzero(edges[:, i]).tolist() if j in found]
            found[i] = 1 + max(above, default=-1)
    return [found[i] for i in range(d)]


def layout(edges: npt.NDArray[np.bool_]) -> Layout:
    """Places for the nodes and the ways of the edges.

    >>> chain = layout(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], bool))
    >>> chain.nodes[:, 1].tolist(), len(chain.edges[0, 2])
    ([0.0, -1.0, -2.0], 3)
    """
    d, layer = len(edges), layers(edges)
    ways = {}
    for j, i in np.argwhere(edges).tolist():
        stops = list(range(len(layer), len(layer) + max(layer[i] - layer[j] - 1, 0)))
        layer += [layer[j] + 1 + k for k in range(len(stops))]
        ways[j, i] = [j, *stops, i]
    links = [pair for way in ways.values() for pair in zip(way, way[1:], strict=False)]
    x = _across(layer, links, d)
    at = np.column_stack([x, np.subtract(0.0, layer)])
    return Layout(at[:d], {edge: at[way] for edge, way in ways.items()})


def _across(layer: list[int], links: list[tuple[int, int]], nodes: int) -> Floats:
    """x of nodes and stops: near those they are linked to, and none upon another."""
    count = len(layer)
    linked: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        linked[a].append(b)
        linked[b].append(a)
    rows = [[k for k in range(count) if layer[k] == depth] for depth in range(max(layer) + 1)]
    width = np.where(np.arange(count) < nodes, 1.0, _STOP)
    x = np.zeros(count)
    for row in rows:
        _stand_apart(row, np.zeros(len(row)), width, x)
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wish = {k: x[linked[k]].mean() if linked[k] else x[k] for k in row}
            if sweep < _SWEEPS // 2:  # first who stands beside whom, then where
                row.sort(key=lambda k, wish=wish: (wish[k], k))  # type: ignore[misc]
            _stand_apart(row, np.array([wish[k] for k in row]), width, x)
    return x


def _stand_apart(row: list[int], wish: Floats, width: Floats, x: Floats) -> None:
    """As near to where they wish to be as their widths let them, in their order."""
    for place, k in enumerate(row):
        x[k] = wish[place]
        if place > 0:
            before = row[place - 1]
            x[k] = max(x[k], x[before] + (width[before] + width[k]) / 2)
    x[row] += wish.mean() - x[row].mean()
