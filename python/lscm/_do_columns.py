"""Columns do:NAME of a table: what do() set a latent node to, and nothing where it did not; z:NAME is
the truth of that node. The layout of a table on the command line (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._frames import choose, is_missing
from ._nodes import Floats, Mask
from ._numbers import Names, column_names, numbers
from ._problems import wrong

_DO, _Z, _UNRECORDED = "do:", "z:", "set"
_NOTHING = ("", "na", "nan", "-nan", "n/a", "null", "none")  # in a column of text


class DoColumns(NamedTuple):
    """x with its names left in it, targets (N, d), values and z (N, d) or None, names of nodes."""

    x: Any
    targets: Mask
    values: Floats | None
    node_names: Names | None
    z: Floats | None


def has_do_columns(value: object) -> bool:
    """Does a column of the table say what do() set?"""
    return bool(_nodes(column_names(value, "X") or (), _DO))


def read_do_columns(frame: Any, fitted: Names | None = None) -> DoColumns:
    """A table that has such columns; all others but z:NAME are x. Nodes have the order of the
    columns, or that of those that were fitted."""
    names = column_names(frame, "X") or ()
    nodes, known = _nodes(names, _DO), _nodes(names, _Z)
    if fitted is not None:
        odd = sorted(set(nodes) ^ set(fitted))
        if odd:
            raise wrong(
                f"X: its columns 'do:NAME' are not the nodes of the fit; look at {odd[0]!r}"
            )
        nodes = list(fitted)
    kept = [name for name in names if not _is_of(name, _DO) and not _is_of(name, _Z)]
    if not kept:
        raise wrong("X: has columns do:NAME and none besides; which are the features?")
    _agree(nodes, known)
    columns = [_read(frame[_DO + node], _DO + node) for node in nodes]
    targets = np.column_stack([mask for mask, _, _ in columns]).astype(np.uint8)
    recorded = np.column_stack([said for _, _, said in columns])
    numbered = list(nodes) == [str(i) for i in range(len(nodes))]
    return DoColumns(
        choose(frame, kept),
        targets,
        np.column_stack([values for _, values, _ in columns])
        if _valued(targets, recorded)
        else None,
        None if numbered else tuple(nodes),
        numbers(choose(frame, [_Z + node for node in nodes]), "X") if known else None,
    )


def _is_of(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name != prefix


def _nodes(names: Sequence[str], prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in names if _is_of(name, prefix)]


def _agree(nodes: list[str], known: list[str]) -> None:
    """All nodes have a column z:NAME, or none."""
    for node in known:
        if node not in nodes:
            raise wrong(
                f"X: column 'z:{node}' is the truth of a node that has no column 'do:{node}'; add "
                "it, or leave the other out"
            )
    if known and len(known) < len(nodes):
        raise wrong(
            f"X: {len(nodes)} columns 'do:NAME' name nodes, but only {len(known)} columns 'z:NAME' "
            "hold their truth; give all, or leave these out"
        )


def _read(column: Any, name: str) -> tuple[Mask, Floats, Mask]:
    """Where do() acted, what it set there, and where that was recorded, each (N)."""
    array = np.asarray(column)
    if array.dtype.kind in "fiu":
        set_to = array.astype(np.float64)
        acted = ~np.isnan(set_to)
        return acted, np.where(acted, set_to, 0), acted
    cells = [None if _is_nothing(cell) else cell for cell in array.tolist()]
    acted = np.array([cell is not None for cell in cells])
    recorded = np.array([cell is not None and cell != _UNRECORDED for cell in cells])
    values = np.zeros(len(cells))
    for row in recorded.nonzero()[0]:
        try:
            values[row] = float(cells[row])
        except (TypeError, ValueError):
            raise wrong(
                f"X: row {row} of column {name!r} holds {cells[row]!r}, not a number"
            ) from None
    return acted, values, recorded


def _is_nothing(cell: Any) -> bool:
    return cell.strip().lower() in _NOTHING if isinstance(cell, str) else is_missing(cell)


def _valued(targets: Mask, recorded: Mask) -> bool:
    """Are the values there? All are, or none."""
    silent = (targets == 1) & ~recorded
    if silent.any() and recorded.any():
        raise wrong(
            f"X: row {np.argwhere(recorded)[0][0]} has a value that do() set, but row "
            f"{np.argwhere(silent)[0][0]} only says {_UNRECORDED!r}; give all values or none"
        )
    return not silent.any()
