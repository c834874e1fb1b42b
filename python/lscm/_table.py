"""A DataFrame with columns that say what do() did, as X, targets and values: the same layouts as of
a table on the command line (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from ._column_words import parts, sounds_like_targets, sounds_like_values
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
    if value is None and value_column is None:
        value = _dose(names, target)
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


def _ask(frame: Any, names: Names) -> None:
    """A column of text may say what do() acted on: by its name, by all that stands in it."""
    for name in names:
        texts = {cell: None for cell in cells_of(frame, name) if isinstance(cell, str)}
        if texts and (
            sounds_like_targets(name)
            or any(text.strip() != "" and is_control(text, None) for text in texts)
            or any(part in names for text in texts for part in parts(text, names))
        ):
            raise wrong(
                f"X: column {name!r} holds text ({next(iter(texts))!r}); is it the intervention "
                f"column? target_column={name!r}"
            )


def _dose(names: Names, target: str) -> str | None:
    """Where no column is called value: the only one that sounds like it."""
    found = [name for name in names if name != target and sounds_like_values(name)]
    return found[0] if len(found) == 1 else None


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
    kept = [
        word
        for word in parts(cell, columns)
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
    met: dict[str, str] = {}
    for row, (listed, cell) in enumerate(zip(sets, cells)):
        observed = [word for word in listed if word in columns]
        for word in listed:
            _written_alike(word, row, columns, met)
        if observed:
            raise wrong(
                f"X: row {row} has the target {observed[0]!r}, which is a column of X: so the "
                f"variables are observed, and what do() set stands there; leave {value!r} out of X, or "
                "pass value_column='none' if it is a variable, too"
            )
        given = _given(cell)
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


def _given(cell: Any) -> list[Any]:
    """The values in a cell, joined as targets are."""
    if isinstance(cell, (list, tuple)):
        return list(cell)
    if not isinstance(cell, str):
        return [cell]
    try:
        return [float(cell)]  # "1e+05"
    except ValueError:
        return cell.split(";") if ";" in cell else parts(cell, ())


def _written_alike(word: Any, row: int, columns: list[str], met: dict[str, str]) -> None:
    """Latent nodes by name: no two, and no column, differ in case alone."""
    if not isinstance(word, str):
        return
    other = met.setdefault(word.lower(), word)
    near = [name for name in columns if name.lower() == word.lower()] if other == word else [other]
    if near and near[0] != word:
        raise wrong(f"X: row {row} has the target {word!r}, elsewhere {near[0]!r}; write it alike")
