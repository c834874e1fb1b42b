"""Parquet and Feather files through pyarrow: the library reads the same table as CSV, so columns
mean what they mean there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any, TypeAlias

from ._core import Error, FileProblem, MissingProblem
from ._problems import missing_package

Folder: TypeAlias = "tempfile.TemporaryDirectory[str]"

_FEATHER = (".feather", ".arrow", ".ipc")
_ENDINGS = (".parquet", ".pq", *_FEATHER)


@contextlib.contextmanager
def readable(path: str) -> Iterator[tuple[str, Folder | None]]:
    """A file that the library can read, and the folder to keep for as long as it does.

    Sentences about it name the file that was given.
    """
    if os.path.splitext(path)[1].lower() not in _ENDINGS:
        yield path, None
        return
    table = _read(path)
    folder = tempfile.TemporaryDirectory(prefix="lscm-")
    stem = os.path.splitext(os.path.basename(path))[0]
    copy = os.path.join(folder.name, stem + ".csv")
    _write(table, copy, path)
    try:
        yield copy, folder
    except Error as problem:
        problem.args = (str(problem).replace(copy, path), *problem.args[1:])
        raise


def _read(path: str) -> Any:
    try:
        from pyarrow import feather, parquet
    except ImportError as why:
        raise missing_package("pyarrow", f"{path}: reading it", why) from None
    if not os.path.exists(path):
        raise MissingProblem(f"{path}: there is no such file")
    reader = feather.read_table if path.lower().endswith(_FEATHER) else parquet.read_table
    try:
        return reader(path)
    except Exception as why:  # pyarrow has many kinds, and most are not its own
        raise FileProblem(f"{path}: pyarrow cannot read it: {why}") from why


def _write(table: Any, copy: str, path: str) -> None:
    import pyarrow
    from pyarrow import csv

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name.startswith("__index_level_"):
            continue  # names of rows, as pandas leaves them
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pyarrow.types.is_boolean(column.type):
            column = column.cast(pyarrow.int8())
        if pyarrow.types.is_nested(column.type):
            raise FileProblem(
                f"{path}: its column {name!r} holds lists, not numbers; give each entry a column"
            )
        if str(column.type) == "string_view":  # as polars writes texts; no CSV of pyarrow has them
            column = column.cast(pyarrow.string())
        columns[name] = column
    try:
        csv.write_csv(pyarrow.table(columns), copy, csv.WriteOptions(quoting_style="needed"))
    except pyarrow.ArrowException as why:
        raise FileProblem(f"{path}: pyarrow cannot write it as text: {why}") from why
