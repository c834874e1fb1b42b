"""AnnData objects: the library reads them as the .h5ad file that they are written to, so obs means
what it means there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from ._arrow import Folder
from ._core import Error
from ._frames import anndata_x
from ._problems import wrong


@contextlib.contextmanager
def written(data: Any, columns: list[str]) -> Iterator[tuple[str, Folder]]:
    """A file with X, the names of genes and obs (of it `columns`, where any are told), and the
    folder to keep for as long as it is read. Sentences about it speak of X."""
    table = data.obs
    told = [name for name in columns if name in table.columns]
    slim = type(data)(
        anndata_x(data, "X"),
        obs=table[told] if told and len(told) == len(columns) else table,
        var=data.var[[]],
    )
    folder = tempfile.TemporaryDirectory(prefix="lscm-")
    path = os.path.join(folder.name, "X.h5ad")
    try:
        slim.write_h5ad(path)
    except Exception as why:  # of many kinds: a column of obs may hold anything
        raise wrong(
            f"X: anndata cannot write it to a file ({why}); name the columns of obs that are "
            "needed: target_column, value_column"
        ) from why
    try:
        yield path, folder
    except Error as problem:
        problem.args = (str(problem).replace(path, "X"), *problem.args[1:])
        raise
