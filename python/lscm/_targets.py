"""targets and values in their several forms, as a mask (N, d) and values (N, d): arrays of zeros
and ones, or a list of target sets with values beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._core import is_control
from ._nodes import Floats, Mask, Nodes
from ._numbers import Names, any_array, column_names, dimensions, numbers
from ._problems import wrong, wrong_type


def read_mask(targets: object) -> tuple[Mask, Names | None]:
    """Zeros and ones of any type (N, d), and the names of the columns."""
    array = any_array(targets, "targets")
    if array.ndim != 2:
        raise wrong(
            f"targets: has {dimensions(array)}; pass rows x nodes of zeros and ones, or a list of "
            "target sets: [[], [0], [0, 2], ...]"
        )
    names = column_names(targets, "targets")
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array).view(np.uint8), names
    if array.dtype.kind not in "iuf":
        array = numbers(targets, "targets")
    bad = ~((array == 0) | (array == 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise wrong(
            f"targets: is {array[row, column]} at row {row}, column {column} (0-based); it must be "
            "1 where do() acted and 0 elsewhere"
        )
    return np.ascontiguousarray(array, np.uint8), names


def read_values(values: object, names: Names | None) -> Floats:
    """What do() set (N, d); the columns of a DataFrame are put in the order of the names."""
    array: Floats = numbers(values, "values")
    if array.ndim != 2:
        raise wrong(
            f"values: has {dimensions(array)}; it needs rows x nodes, read where targets is 1"
        )
    columns = column_names(values, "values")
    if columns is None or names is None or columns == names or len(columns) != len(names):
        return array
    if sorted(columns) != sorted(names):
        odd = sorted(set(columns) ^ set(names))[0]
        raise wrong(f"values: its columns are not those of targets; look at {odd!r}")
    return np.ascontiguousarray(array[:, [columns.index(name) for name in names]])


# ---- Lists of target sets ------------------------------------------------------------------------


def is_sets(targets: object) -> bool:
    """A list of target sets, rather than a mask? Rows of zeros and ones of one length are a mask.

    >>> is_sets([[], [0, 2]]), is_sets([["raf"], []]), is_sets([[0, 0, 1], [1, 0, 0]])
    (True, True, False)
    """
    if hasattr(targets, "__array__"):  # a column of lists is a list of lists
        return getattr(targets, "ndim", 0) == 1 and str(getattr(targets, "dtype", "")) == "object"
    if not isinstance(targets, (list, tuple)) or all(np.isscalar(row) for row in targets):
        return False
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in targets]
    if not all(isinstance(row, (list, tuple)) for row in rows):
        return True
    lengths = {len(row) for row in rows}
    flat = [entry for row in rows for entry in row]
    bits = all(not isinstance(entry, str) and entry in (0, 1) for entry in flat)
    if len(lengths) > 1 or min(lengths) < 2 or not bits:
        return True
    pairs = lengths == {2} and all(row[0] != row[1] for row in rows)
    if pairs and all(type(entry) is int for entry in flat):
        raise wrong(
            "targets: could be a mask or a list of target sets; pass np.array(targets) if it is a "
            "mask, sets like {0, 1} if it is not"
        )
    return False


def read_sets(
    sets: list[Any], values: object, known: Nodes | None
) -> tuple[Mask, Floats | None, Nodes]:
    """Mask, values and nodes of target sets, each a list of nodes, or {node: value} itself.

    Nodes that are not known are those of the columns of values, or else of the sets.
    """
    if values is None and all(isinstance(row, Mapping) for row in sets):
        values = [list(row.values()) for row in sets]
        sets = [list(row) for row in sets]
    members = [_members(row, number) for number, row in enumerate(sets)]
    matrix = None
    if values is not None and not isinstance(values, (list, tuple)):
        matrix = read_values(values, known.names if known is not None else None)
        known = known or Nodes(matrix.shape[1], column_names(values, "values"))
    nodes = known or _nodes_of(members)
    mask = np.zeros((len(sets), nodes.count), np.uint8)
    for row, listed in enumerate(members):
        found = [nodes.find(node, f"targets[{row}]") for node in listed]
        if len(set(found)) < len(found):
            raise wrong(f"targets[{row}]: names a node twice")
        mask[row, found] = 1
    if values is None or matrix is not None:
        return mask, matrix, nodes
    return mask, _aligned(values, sets, members, nodes), nodes


def has_values(sets: list[Any], values: object) -> bool:
    """Do the target sets come with values, be it as {node: value}?"""
    return values is not None or all(isinstance(row, Mapping) for row in sets)


def _members(row: object, number: int) -> list[Any]:
    if isinstance(row, (list, tuple, set, frozenset, Mapping, np.ndarray)):
        return list(row)
    raise wrong_type(
        f"targets[{number}]: is {row!r}; a row is a list of nodes, [] for none, [{row!r}] for one"
    )


def _nodes_of(members: list[list[Any]]) -> Nodes:
    """Names in the order in which they appear first, or as many nodes as the numbers need."""
    nodes = [node for listed in members for node in listed]
    texts = [isinstance(node, str) for node in nodes]
    if not nodes:
        raise wrong("targets: no row has a target, so the nodes are not known; pass a mask")
    if all(texts):
        names = tuple(dict.fromkeys(nodes))
        _told_apart(names)
        return Nodes(len(names), names)
    if any(texts):
        raise wrong("targets: has names and numbers; list the names of all nodes as node_names")
    whole = [int(node) for node in nodes if isinstance(node, (int, np.integer))]
    return Nodes(1 + max(whole, default=0))


def _told_apart(names: tuple[str, ...]) -> None:
    """Names that nobody listed beforehand: none is a word for no target, or another in disguise."""
    met: dict[str, str] = {}
    for name in names:
        other = met.setdefault(name.strip().lower(), name)
        if other != name:
            raise wrong(f"targets: has nodes {other!r} and {name!r}; write them alike if they are one")
        if is_control(name.strip(), None):
            raise wrong(
                f"targets: {name!r} sounds like no target, which is []; list it in node_names if it "
                "is a node"
            )


def _aligned(values: Any, sets: list[Any], members: list[list[Any]], nodes: Nodes) -> Floats:
    """Values beside the target sets, a list for each, in its order."""
    if len(values) != len(sets):
        raise wrong(f"values: has {len(values)} rows but targets has {len(sets)}; they must match")
    out = np.zeros((len(sets), nodes.count))
    for row, listed in enumerate(members):
        if isinstance(sets[row], (set, frozenset)) and len(listed) > 1:
            raise wrong(f"targets[{row}]: is a set, which has no order for its values; use a list")
        given = values[row]
        if len(listed) == 1 and np.isscalar(given):
            given = [given]
        array = numbers(given, f"values[{row}]")
        if array.shape != (len(listed),):
            raise wrong(
                f"values[{row}]: has {array.size} numbers for {len(listed)} targets; they must "
                "match"
            )
        out[row, [nodes.find(node, "targets") for node in listed]] = array
    return out
