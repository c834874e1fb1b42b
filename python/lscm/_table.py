"""A DataFrame with columns that say what do() did, as X, targets and values: the same layouts as of
a table on the command line (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from ._core import is_control
from ._do_columns import has_do_columns, read_do_columns
from ._frames import cells_of, choose, is_missing
from ._numbers import Names, column_names
from ._problems import hint, wrong, wrong_type

IsControl: TypeAlias = Callable[[str], bool]


class Table(NamedTuple):
    """What a frame holds; targets are None where no column names them."""

    x: Any
    targets: Any
    values: Any
    node_names: Names | None
    z: Any = None


def read_table(
    frame: Any,
    target_column: str | None,
    value_column: str | None,
    control: str | Sequence[str] | None,
) -> Table:
    """Columns by name; without any, columns do:NAME of a frame that has some, or its column
    `target`, and `value`."""
    names = column_names(frame, "X")
    asked = target_column is not None or value_column is not None or control is not None
    if names is None and not asked:
        return Table(frame, None, None, None)
    if names is None:
        raise wrong_type("target_column: X is no DataFrame with names; pass targets instead")
    target = _column(names, target_column, "target_column", "target")
    if has_do_columns(frame):
        other = target or (None if value_column == "none" else value_column)
        if other is not None:
            raise wrong(
                f"X: columns 'do:NAME' and column {other!r} both say what do() did; leave one out"
            )
        return Table(*read_do_columns(frame))
    if target is None and asked and target_column != "none":
        raise wrong("target_column: is missing; which column says what do() acted on?")
    if target is None:
        if target_column is None:
            _ask(frame, names)
        return Table(frame, None, None, None)
    value = _column(names, value_column, "value_column", "value")
    kept = [name for name in names if name not in (target, value)]
    none = _is_none(control)
    sets = [
        _members(cell, kept, none, control is not None, value is not None)
        for cell in cells_of(frame, target)
    ]
    if value is None:
        _all_columns(sets, kept, target)
        return Table(choose(frame, kept), sets, None, tuple(kept))
    values = _values(sets, cells_of(frame, value), kept, value)
    return Table(choose(frame, kept), sets, values, None)


_SOUNDS = ("target", "condition", "interv", "treat", "perturb", "guide", "grna", "knock", "crispr")


def _ask(frame: Any, names: Names) -> None:
    """A column of text may say what do() acted on: by its name, or since it names columns."""
    for name in names:
        texts = (cell for cell in cells_of(frame, name) if isinstance(cell, str))
        first = next(texts, None)
        if first is not None and (first in names or any(word in name.lower() for word in _SOUNDS)):
            raise wrong(
                f"X: column {name!r} holds text ({first!r}); is it the intervention column? "
                f"target_column={name!r}"
            )


def _column(names: Names, asked: str | None, argument: str, usual: str) -> str | None:
    name = usual if asked is None else asked
    if name in names:
        return name
    if asked is None or asked == "none":
        return None
    raise wrong(f"{argument}: X has no column {asked!r}{hint(asked, names)}")


def _is_none(control: str | Sequence[str] | None) -> IsControl:
    """Does a word say that nothing was set? As the library has it."""
    listed = control if control is None or isinstance(control, str) else ",".join(control)
    return cache(lambda word: is_control(word, listed))


def _members(cell: Any, columns: list[str], none: IsControl, said: bool, latent: bool) -> list[Any]:
    """The targets in a cell: nothing, -1 and words of control are none.

    >>> none = _is_none(None)
    >>> _members("raf;mek", [], none, False, True), _members("NT_3", [], none, False, True)
    (['raf', 'mek'], [])
    """
    if isinstance(cell, (list, tuple, set, frozenset)):
        return list(cell)
    if is_missing(cell) or cell == -1:
        return []
    if not isinstance(cell, str):
        return [int(cell)] if int(cell) == cell else [cell]
    if cell in columns and not latent and not (said and none(cell)):
        return [cell]
    words = [word.strip() for word in cell.split(";")]
    kept = [
        word
        for word in words
        if word not in ("", "-1")
        and (not none(word) or (word in columns and not said and not latent))
    ]
    return [int(word) if word.isdecimal() and word not in columns else word for word in kept]


def _all_columns(sets: list[list[Any]], columns: list[str], target: str) -> None:
    for row, listed in enumerate(sets):
        for word in listed:
            if isinstance(word, str) and word not in columns:
                near = hint(word, columns)
                raise wrong(
                    f"X: row {row} of column {target!r} has the target {word!r}, which is no other "
                    "column of X"
                    + (
                        near
                        or f"; if it says that nothing was set, pass control=[{word!r}]; if it is "
                        "a latent variable, name the column of values that do() set: value_column"
                    )
                )


def _values(
    sets: list[list[Any]], cells: list[Any], columns: list[str], value: str
) -> list[list[Any]]:
    values = []
    for row, (listed, cell) in enumerate(zip(sets, cells)):
        observed = [word for word in listed if word in columns]
        if observed:
            raise wrong(
                f"X: row {row} has the target {observed[0]!r}, which is a column of X: so the "
                f"variables are observed, and what do() set stands there; leave {value!r} out of X"
            )
        given = cell.split(";") if isinstance(cell, str) else [cell]
        given = list(cell) if isinstance(cell, (list, tuple)) else given
        try:
            numbers = [float(number) for number in given] if listed else []
        except (TypeError, ValueError):
            raise wrong(f"X: row {row} of column {value!r} holds {cell!r}, not a number") from None
        if len(numbers) != len(listed) or any(number != number for number in numbers):
            raise wrong(
                f"X: row {row} has {len(listed)} targets, but column {value!r} does not have as "
                "many values"
            )
        values.append(numbers)
    return values
