"""Nodes by name or number, and what is said with them: an order, edges, tiers, do().

A node is given by its name, or by its number from 0; a text that is no name may be a number, as on
the command line. Whoever says something wrong is told which argument it was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._problems import hint, wrong, wrong_type

Node: TypeAlias = "int | str"
Edges: TypeAlias = "str | Iterable[str | tuple[Node, Node]] | npt.ArrayLike"
Tiers: TypeAlias = "str | Iterable[Node | Iterable[Node]]"
Do: TypeAlias = "Mapping[Node, float]"
Mask: TypeAlias = npt.NDArray[np.uint8]
Floats: TypeAlias = npt.NDArray[np.float64]


class Nodes:
    """The nodes of a data set or a run.

    >>> nodes = Nodes(3, ("raf", "mek", "erk"))
    >>> nodes.find("mek", "do"), nodes.find(2, "do"), nodes.find("0", "do")
    (1, 2, 0)
    >>> nodes.find("mekk", "do")
    Traceback (most recent call last):
    lscm.ValueProblem: do: there is no node 'mekk'; the nodes are 0 to 2 and have names; \
did you mean 'mek'?
    """

    def __init__(self, count: int, names: Sequence[str] | None = None) -> None:
        self.count = count
        self.names = tuple(names) if names is not None else None
        self._place = {name: i for i, name in enumerate(self.names or ())}

    @property
    def labels(self) -> tuple[Node, ...]:
        """Their names, or their numbers where they have none."""
        return self.names if self.names is not None else tuple(range(self.count))

    def find(self, node: object, argument: str) -> int:
        """The number of a node that `argument` names."""
        if isinstance(node, str):
            if node in self._place:
                return self._place[node]
            if node.isascii() and node.isdigit() and int(node) < self.count:
                return int(node)
        elif isinstance(node, (int, np.integer)) and not isinstance(node, (bool, np.bool_)):
            if 0 <= node < self.count:
                return int(node)
        else:
            raise wrong_type(f"{argument}: {node!r} is no node; name it, or give its number from 0")
        they_are = f"0 to {self.count - 1}{' and have names' if self.names is not None else ''}"
        near = hint(str(node), self.names or ())
        raise wrong(f"{argument}: there is no node {node!r}; the nodes are {they_are}{near}")

    def order(self, order: object) -> list[int]:
        """Each node once, causes first."""
        if not isinstance(order, Iterable):
            raise wrong_type(f"order: is {order!r}; say 'learned', 'given', or list the nodes")
        found = [self.find(node, "order") for node in order]
        if sorted(found) != list(range(self.count)):
            raise wrong(f"order: list each of the {self.count} nodes once, causes first")
        return found

    def do(self, do: Do | None) -> tuple[Mask, Floats]:
        """Targets (d) and values (d) of an intervention."""
        targets, values = np.zeros(self.count, np.uint8), np.zeros(self.count)
        if do is not None and not isinstance(do, Mapping):
            raise wrong_type("do: say which node gets which value, as in do={2: 1.5}")
        for node, value in (do or {}).items():
            i = self.find(node, "do")
            if targets[i]:
                raise wrong(f"do: sets node {node!r} twice")
            try:
                values[i] = float(value)
            except (TypeError, ValueError):
                values[i] = math.nan
            if not math.isfinite(values[i]):
                raise wrong(f"do: sets node {node!r} to {value!r}, which is not a number")
            targets[i] = 1
        return targets, values

    def edges(self, edges: Edges | None, argument: str) -> Mask | None:
        """Edges as a matrix (d, d), 1 at [j, i] for j -> i: from pairs, from texts "a->b", or from
        such a matrix."""
        if edges is None:
            return None
        if isinstance(edges, str):
            edges = edges.split(",")
        if hasattr(edges, "__array__"):
            return self._edge_matrix(np.asarray(edges), argument)
        if not isinstance(edges, Iterable):
            raise wrong_type(f"{argument}: list edges, as in {argument}=[('raf', 'mek')]")
        matrix = np.zeros((self.count, self.count), np.uint8)
        for edge in edges:
            parent, child = self._ends(edge, argument)
            if parent == child:
                raise wrong(f"{argument}: {edge!r}: no node causes itself")
            matrix[parent, child] = 1
        return matrix if matrix.any() else None

    def _edge_matrix(self, matrix: npt.NDArray[Any], argument: str) -> Mask:
        if matrix.shape != (self.count, self.count) or not np.isin(matrix, (0, 1)).all():
            raise wrong(
                f"{argument}: a matrix of edges is {self.count} x {self.count}, 1 at [j, i] for the"
                " edge j -> i and 0 elsewhere"
            )
        return np.ascontiguousarray(matrix, np.uint8)

    def _ends(self, edge: object, argument: str) -> tuple[int, int]:
        if isinstance(edge, str):
            return self._parse_edge(edge, argument)
        if isinstance(edge, (tuple, list)) and len(edge) == 2:
            return self.find(edge[0], argument), self.find(edge[1], argument)
        raise wrong_type(f"{argument}: takes edges ('a', 'b') or 'a->b', not {edge!r}")

    def _parse_edge(self, edge: str, argument: str) -> tuple[int, int]:
        """Names may have arrows in them: the first arrow between two nodes counts."""
        pieces = edge.split("->")
        if len(pieces) < 2:
            raise wrong(f"{argument}: takes edges ('a', 'b') or 'a->b', not {edge!r}")
        for k in range(1, len(pieces)):
            ends = "->".join(pieces[:k]).strip(), "->".join(pieces[k:]).strip()
            if all(end in self._place for end in ends):
                return self._place[ends[0]], self._place[ends[1]]
        parent, child = pieces[0].strip(), "->".join(pieces[1:]).strip()
        return self.find(parent, argument), self.find(child, argument)

    def tiers(self, tiers: Tiers | None) -> list[int | None] | None:
        """The tier of each node, None for a node in none: from lists of nodes, or "a,b;c"."""
        if tiers is None:
            return None
        if isinstance(tiers, str):
            tiers = [[word.strip() for word in tier.split(",")] for tier in tiers.split(";")]
        if not isinstance(tiers, Iterable):
            raise wrong_type("tiers: list the nodes of each tier, as in tiers=[['a', 'b'], ['c']]")
        found: list[int | None] = [None] * self.count
        for number, tier in enumerate(tiers):
            single = isinstance(tier, str) or not isinstance(tier, Iterable)
            members: list[Any] = [tier] if single else list(tier)  # type: ignore[arg-type]
            if not members:
                raise wrong(f"tiers: tier {number} is empty")
            for node in members:
                i = self.find(node, "tiers")
                if found[i] is not None:
                    raise wrong(f"tiers: names node {node!r} twice")
                found[i] = number
        return found
